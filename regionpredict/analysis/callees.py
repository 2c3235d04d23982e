"""Finds the called function if several programs in one folder have functions with equal names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from regionpredict.ir.flow import Block, Flow, called_functions, every_event
from regionpredict.ir.nearest_files import folder_of, nearest_files


class Callees:
    """Finds the target of each call: the function in the same file, otherwise the function in the
    nearest file.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._by_file: dict[tuple[str, str], Flow] = {}
        self._by_name: dict[str, list[Flow]] = {}
        self._near: dict[tuple[str, str], Flow] = {}
        self._directives = Counter[str]()
        for flow in flows:
            self._by_file[flow.span.file, flow.function] = flow
            self._by_name.setdefault(flow.function, []).append(flow)
            blocks = (event for event in every_event(flow.body) if isinstance(event, Block))
            regions = sum(block.kind in ("parallel", "share") for block in blocks)
            self._directives[folder_of(flow.span.file)] += regions

    def of(self, caller: Flow, name: str, file: str = "") -> Flow | None:
        """Returns the function that a call of `name` in `caller` calls. None if no file defines it.

        `file` is the file of the function, if another function passed it as an argument.
        """
        own = self._by_file.get((file or caller.span.file, name))
        known = self._by_name.get(name, ())
        if own is not None or len(known) < 2:
            return own or next(iter(known), None)
        here = caller.span.file
        if (here, name) not in self._near:
            by_file = {flow.span.file: flow for flow in known}
            nearest = nearest_files(here, list(by_file), self._directives)
            self._near[here, name] = by_file[nearest[0]]
        return self._near[here, name]

    def is_unique(self, name: str) -> bool:
        """Whether at most one file has a function with this name."""
        return len(self._by_name.get(name, ())) < 2


def main_of(flow: Flow, mains: Sequence[Flow]) -> Flow | None:
    """Returns the `main` to which a function without visible callers belongs. It is in the
    function's folder, or in the nearest enclosing folder. None if there is none or if there are
    several.
    """
    here = _folder_of_flow(flow)
    around = [main for main in mains if here[: len(_folder_of_flow(main))] == _folder_of_flow(main)]
    deepest = max((len(_folder_of_flow(main)) for main in around), default=0)
    nearest = [main for main in around if len(_folder_of_flow(main)) == deepest]
    return nearest[0] if len(nearest) == 1 else None


def without_uncalled(before: Sequence[Flow], after: Sequence[Flow]) -> tuple[Flow, ...]:
    """Removes functions that are no longer called after cloning. A function that always receives a
    function argument is never called in its original form.
    """
    entry_points = {flow.function for flow in before} - called_functions(before)
    kept = list(after)
    while True:
        called = entry_points | called_functions(kept)
        left = [flow for flow in kept if flow.function in called]
        if len(left) == len(kept):
            return tuple(kept)
        kept = left


def _folder_of_flow(flow: Flow) -> tuple[str, ...]:
    return PurePath(flow.span.file).parent.parts
