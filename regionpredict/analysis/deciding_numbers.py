"""Finds the numeric arguments of a call that decide conditions in the called function.

void smooth(double *x, int red) { if (red) ... else ... }
smooth(x, 1); smooth(x, 0);       runs each branch once, not both branches twice
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.analysis.callees import Callees
from regionpredict.analysis.execution_counts import Guards
from regionpredict.constant import Constant
from regionpredict.ir import Span
from regionpredict.ir.flow import Block, CallEvent, Flow, every_event
from regionpredict.ir.folding import Number
from regionpredict.ir.reached import reached

_Key = tuple[Span, str]

Numbers = tuple[tuple[int, Number], ...]
"""The numeric arguments of a function as pairs (position of the parameter, value), in order."""

MOST_VARIANTS = Constant(
    64.0, "calls", "assumed", "flags are small numbers; larger numbers do not select a mode"
)


class DecidingNumbers:
    """Finds for each function the parameters that decide a condition in it, or in a function that
    receives them.
    """

    def __init__(self, flows: Sequence[Flow], callees: Callees, guards: Guards) -> None:
        self._callees = callees
        self._guards = guards
        self._variants: dict[_Key, set[Numbers]] = {}
        self._positions = {
            (flow.span, flow.function): self._parameters_in_conditions(flow) for flow in flows
        }
        self._propagate_through_calls(flows)
        if any(self._positions.values()):
            self._remove_unknown_in_recursion(flows)

    def deciding_arguments(
        self, caller: Flow, call: CallEvent, callee: Flow, given: Mapping[int, Number]
    ) -> Numbers:
        """Returns the numeric arguments of a call that decide a condition in the called function.
        `given` are the arguments that the caller received. Empty if the function has too many
        variants.
        """
        key = (callee.span, callee.function)
        deciding = self._positions.get(key)
        if not deciding:
            return ()
        numbers = {at: value for at, value in call.numbers if at in deciding}
        for passed in call.passed:
            value = passed.at(given) if passed.position in deciding else None
            if value is not None:
                numbers[passed.position] = value
        made = tuple(sorted(numbers.items()))
        variants = self._variants.setdefault(key, set())
        if made not in variants and len(variants) >= MOST_VARIANTS.value:
            return ()
        variants.add(made)
        return made

    def _parameters_in_conditions(self, flow: Flow) -> set[int]:
        """Returns the positions of parameters in the conditions of the function itself."""
        return {
            position
            for event in every_event(flow.body)
            if isinstance(event, Block) and (event.span, event.side) in self._guards
            for _, position in self._guards[event.span, event.side].parameters
        }

    def _propagate_through_calls(self, flows: Sequence[Flow]) -> None:
        """Adds parameters that are passed on to deciding parameters, until nothing changes."""
        passing_calls = [
            (flow, event) for flow in flows for event in every_event(flow.body)
            if isinstance(event, CallEvent) and event.passed
        ]  # fmt: skip
        changed = any(self._positions.values())
        while changed:
            changed = False
            for flow, call in passing_calls:
                callee = self._callees.of(flow, call.function, call.file)
                if callee is None:
                    continue
                deciding = self._positions.get((callee.span, callee.function), set())
                own = self._positions[flow.span, flow.function]
                more = {
                    mine for passed in call.passed if passed.position in deciding
                    for _, mine in passed.parameters
                } - own  # fmt: skip
                own |= more
                changed = changed or bool(more)

    def _remove_unknown_in_recursion(self, flows: Sequence[Flow]) -> None:
        """Removes parameters that a recursive call sets to unknown values. The argument of `f(n)`
        does not determine that of the inner call `f(n / 2)`.
        """
        calls = {(flow.span, flow.function): self._resolved_calls(flow) for flow in flows}
        reachable = {
            key: set(reached([key], lambda key: [callee for callee, _ in calls.get(key, ())]))
            for key, own in self._positions.items()
            if own
        }
        within = [
            (caller, callee, call) for caller, own in calls.items() for callee, call in own
            if caller in reachable.get(callee, ())
        ]  # fmt: skip
        changed = True
        while changed:
            changed = False
            for caller, callee, call in within:
                known = {position for position, _ in call.numbers}
                known |= {
                    passed.position
                    for passed in call.passed
                    if all(mine in self._positions[caller] for _, mine in passed.parameters)
                }
                unknown = self._positions[callee] - known
                self._positions[callee] -= unknown
                changed = changed or bool(unknown)

    def _resolved_calls(self, flow: Flow) -> list[tuple[_Key, CallEvent]]:
        """Returns the functions that a function calls, each with the call."""
        calls = []
        for event in every_event(flow.body):
            callee = (
                self._callees.of(flow, event.function, event.file)
                if isinstance(event, CallEvent) else None
            )  # fmt: skip
            if isinstance(event, CallEvent) and callee is not None:
                calls.append(((callee.span, callee.function), event))
        return calls
