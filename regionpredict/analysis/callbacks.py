"""Resolves calls through a parameter if the caller passes a known function.

A function that calls its argument is cloned for each argument. For example, `repeat(7, step)` calls
`repeat(_, step)`, which calls `step` (procedure cloning: Cooper, Hall and Kennedy 1993). The
location of the call determines which `step` is called, because two programs in one folder may share
`repeat`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.analysis.callees import Callees, without_uncalled
from regionpredict.constant import Constant
from regionpredict.ir.flow import CallEvent, Flow, changed_flow, every_event

MOST_CLONES = Constant(
    2000.0, "functions", "assumed", "enough for a table of hundreds of tasks; limits a recursion"
)


class NamedFunction(NamedTuple):
    """A function with its name and file. The file is "" if no file defines it."""

    function: str
    file: str


Given = Mapping[int, NamedFunction]
"""The functions that a call passes as arguments, by the position of the parameter."""


def with_callbacks(flows: Sequence[Flow]) -> tuple[Flow, ...]:
    """Adds a clone of each function for the functions that it receives as arguments."""
    events = (event for flow in flows for event in every_event(flow.body))
    passed = (
        name for event in events if isinstance(event, CallEvent) for _, name in event.functions
    )
    if not any(isinstance(name, str) for name in passed):
        return tuple(flows)
    return _CallbackCloner(flows).all()


class _CallbackCloner:
    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = flows
        self.callees = Callees(flows)
        self.clones: dict[tuple[str, str], Flow | None] = {}  # by file and name
        self.calling: dict[tuple[str, str], frozenset[int]] = {}

    def all(self) -> tuple[Flow, ...]:
        own = [self._clone_for(flow, {}) for flow in self.flows]
        made = [*own, *(clone for clone in self.clones.values() if clone is not None)]
        return without_uncalled(self.flows, made)

    def _clone_for(self, flow: Flow, given: Given) -> Flow:
        """Returns a function that receives these functions as arguments."""
        return changed_flow(
            flow,
            lambda event: (
                self._resolve_call(flow, event, given) if isinstance(event, CallEvent) else event
            ),
        )

    def _resolve_call(self, flow: Flow, call: CallEvent, given: Given) -> CallEvent:
        if call.parameter is not None and call.parameter in given:
            called = given[call.parameter]
            call = call._replace(function=called.function, file=called.file)
        passed = {at: self._passed_function(flow, name)
                  for at, name in call.functions if isinstance(name, str)}  # fmt: skip
        passed |= {at: given[name] for at, name in call.functions
                   if isinstance(name, int) and name in given}  # fmt: skip
        callee = self.callees.of(flow, call.function, call.file) if passed else None
        if callee is None:
            return call
        used = {at: name for at, name in passed.items() if at in self._called_parameters(callee)}
        if not used:
            return call
        return call._replace(function=self.name_of_clone(callee, used), file=callee.span.file)

    def _passed_function(self, flow: Flow, name: str) -> NamedFunction:
        """Returns the function with this name that `flow` passes."""
        function = self.callees.of(flow, name)
        return NamedFunction(name, "" if function is None else function.span.file)

    def _called_parameters(self, flow: Flow) -> frozenset[int]:
        """Returns the parameters that a function calls or passes on."""
        key = (flow.span.file, flow.function)
        if key not in self.calling:
            calls = [event for event in every_event(flow.body) if isinstance(event, CallEvent)]
            self.calling[key] = frozenset(
                [call.parameter for call in calls if call.parameter is not None]
                + [name for call in calls for _, name in call.functions if isinstance(name, int)]
            )
        return self.calling[key]

    def name_of_clone(self, flow: Flow, given: Given) -> str:
        """Returns the name of the clone of `flow` for these arguments: `run(_, step)`."""
        shown = ", ".join(
            self._display_name(given[at]) if at in given else "_" for at in range(max(given) + 1)
        )
        name = f"{flow.function}({shown})"
        key = (flow.span.file, name)
        if key not in self.clones:
            if len(self.clones) >= MOST_CLONES.value:
                return flow.function
            self.clones[key] = (
                None  # set during the construction, since the function may be recursive
            )
            self.clones[key] = replace(self._clone_for(flow, given), function=name)
        return name

    def _display_name(self, meant: NamedFunction) -> str:
        if self.callees.is_unique(meant.function):
            return meant.function
        return f"{meant.function} of {meant.file}"
