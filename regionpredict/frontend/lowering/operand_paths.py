"""Tracks dependency paths: the operations from a scalar that an expression reads to its value.

A value that one iteration passes to the next waits for the operations on its path in sequence.
Other operations of the expression run in parallel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from regionpredict.frontend.syntax import CallExpr, CType

Paths = Mapping[str, tuple[str, ...]]
"""For each scalar, the operation kinds on its longest dependency path, in order."""

_ELEMENT = "*"


def element_key(text: str) -> str:
    """Returns the key of the array element `text` in `Paths`, which differs from all scalar names.

    >>> element_key("a[i]"), element_text(element_key("a[i]")), element_text("s")
    ('*a[i]', 'a[i]', None)
    """
    return _ELEMENT + text


def element_text(name: str) -> str | None:
    """Returns the array element of a key in `Paths`. Returns None for a scalar."""
    return name.removeprefix(_ELEMENT) if name.startswith(_ELEMENT) else None


MOST_OPERATIONS = 64
"""Maximum number of operations on a dependency path. Further operations are dropped."""


def with_operation(paths: Paths, kind: str) -> Paths:
    """Returns the dependency paths with one operation appended to each."""
    return {
        name: path if len(path) == MOST_OPERATIONS else (*path, kind)
        for name, path in paths.items()
    }


def longest_paths(first: Paths = MappingProxyType({}), *others: Paths) -> Paths:
    """Returns the longest dependency path of each scalar."""
    longest = dict(first)
    for paths in others:
        for name, path in paths.items():
            if name not in longest or len(path) > len(longest[name]):
                longest[name] = path
    return longest


def with_conversion(paths: Paths, from_type: CType, to_type: CType) -> Paths:
    """Returns the dependency paths with an `fp_convert` appended, if a value is converted between
    integer and floating point.
    """
    kinds = {from_type.kind, to_type.kind}
    return with_operation(paths, "fp_convert") if kinds == {"int", "float"} else paths


class OperandPaths:
    """Tracks dependency paths through the arguments and return values of inlined functions.

    Paths start at scalars of the caller, as if the function were an expression.
    """

    def __init__(self) -> None:
        self._argument_paths: dict[str, Paths] = {}
        self._call_paths: dict[CallExpr, Paths] = {}
        self._results: list[Paths] = []

    def paths_of_scalar(self, name: str) -> Paths:
        """Returns the dependency paths to a variable that is read. For a parameter, they are the
        paths to its argument.
        """
        return self._argument_paths.get(name, {name: ()})

    def paths_of_call(self, call: CallExpr) -> Paths:
        """Returns the dependency paths to the result of an inlined call. The result is empty for
        other calls.
        """
        return self._call_paths.get(call, {})

    def forget_argument(self, name: str) -> None:
        """Records an assignment to a parameter, which ends the paths from its argument."""
        self._argument_paths.pop(name, None)

    def enter(self, argument_paths: Mapping[str, Paths]) -> None:
        """Starts an inlined function. `argument_paths` contains the dependency paths to each
        argument, by parameter.
        """
        self._argument_paths.update(argument_paths)
        self._results.append({})

    def add_result(self, paths: Paths) -> None:
        """Adds the dependency paths to a possible return value of the current function."""
        if self._results:
            self._results[-1] = longest_paths(self._results[-1], paths)

    def leave(self, call: CallExpr) -> None:
        """Ends the inlined function, and records the paths to the result of its call."""
        self._call_paths[call] = self._results.pop()
