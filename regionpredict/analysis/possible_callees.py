"""Replaces a call with several possible targets by alternative calls.

If the counter of a loop selects functions from a table, the loop is replaced by its iterations,
each with its own call. If data select the function, any of the functions may be called each time,
and their frequency is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from regionpredict.analysis.bindings import Bindings
from regionpredict.constant import Constant
from regionpredict.ir import Loop, Span
from regionpredict.ir.flow import FIRST_ELEMENT, Block, CallEvent, Choice, Event, Flow, every_event

MOST_ITERATIONS = Constant(
    64.0, "iterations", "assumed", "tables of functions have about ten elements; longer loops are "
                                   "over data"
)  # fmt: skip
MOST_TARGETS = Constant(
    200.0,
    "functions",
    "assumed",
    "maximum targets of one call; the commands of an interpreter exceed this",
)
MOST_EVENTS = Constant(
    20_000.0, "events", "assumed", "limits nested alternatives of one function to a few seconds"
)
_NAMED = 3

Loops = Mapping[Span, tuple[Loop, Bindings]]


def with_choices(flows: Sequence[Flow], loops: Loops) -> tuple[Flow, ...]:
    """Replaces each call through a pointer by calls of its possible targets. `loops` are the serial
    loops with known headers, by location.
    """
    meant = {
        name for flow in flows for event in every_event(flow.body) if isinstance(event, CallEvent)
        for choice in event.choices for name in (*choice.functions, *choice.others)
    }  # fmt: skip
    if not meant:
        return tuple(flows)
    bodies = []
    for flow in flows:
        calls = _CallTargets(loops)
        bodies.append(calls.replaced_events(flow.body))
        meant -= calls.dropped
    return tuple(
        replace(flow, body=body, meant=flow.function in meant)
        for flow, body in zip(flows, bodies, strict=True)
    )


class _CallTargets:
    """Replaces the calls of one function by calls of their possible targets."""

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self._left = int(MOST_EVENTS.value)
        self._counters: dict[
            Span, int
        ] = {}  # current counters of the loops that are replaced by iterations
        self.dropped: set[str] = set()  # functions of calls with too many targets

    def replaced_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        made: list[Event] = []
        for event in events:
            self._left -= 1
            if isinstance(event, Block):
                made += self._replaced_block(event)
            elif isinstance(event, CallEvent) and event.choices:
                made += self._possible_calls(event)
            else:
                made.append(event)
        return tuple(made)

    def _replaced_block(self, block: Block) -> list[Block]:
        counter_values = self._counter_values(block) if block.kind == "loop" else None
        if counter_values is None:
            return [replace(block, body=self.replaced_events(block.body))]
        iterations = []
        for value in counter_values:
            self._counters[block.span] = value
            body = self.replaced_events(block.body)
            iterations.append(replace(block, kind="turn", body=body, value=value))
        self._counters.pop(block.span, None)
        return iterations

    def _counter_values(self, loop: Block) -> list[int] | None:
        """Returns the values of a loop's counter, if it selects functions. None if they are unknown
        or too many.
        """
        selecting = [
            choice for event in every_event(loop.body) if isinstance(event, CallEvent)
            for choice in event.choices if choice.loop == loop.span and choice.values
        ]  # fmt: skip
        if not selecting:
            return None
        length = sum(1 for _ in every_event(loop.body))
        values = self._values_from_header(loop.span, selecting)
        if values is None or len(values) * length > self._left:
            return None
        return values

    def _values_from_header(self, span: Span, selecting: Sequence[Choice]) -> list[int] | None:
        whole = next((choice for choice in selecting if choice.whole), None)
        if whole is not None:
            return list(whole.values)
        if span not in self._loops:
            return None
        loop, bindings = self._loops[span]
        start, step = bindings.number(loop.start), bindings.number(loop.step)
        trips = bindings.whole(loop.trips)
        if not isinstance(start, int) or not isinstance(step, int) or trips is None:
            return None
        if trips > MOST_ITERATIONS.value:
            return None
        return [start + number * step for number in range(max(0, trips))]

    def _possible_calls(self, call: CallEvent) -> list[Event]:
        """Returns the possible calls. A call that may not happen is in a separate block."""
        plain = call._replace(choices=())
        selecting = [choice for choice in call.choices if choice.picked]
        if selecting:
            return self._functions_of_table(plain, selecting[0], call.choices)
        meant = [self._possible_functions(choice, call) for choice in call.choices]
        for at, choice in enumerate(call.choices):
            if choice.position is not None and not meant[at][0]:
                meant[at] = [""], None  # a null pointer is passed
        number = 1
        for functions, _ in meant:
            number *= len(functions)
        if number > MOST_TARGETS.value:
            self.dropped.update(name for functions, _ in meant for name in functions)
            return [plain]
        note = next((block for _, block in meant if block is not None), None)
        made: list[Event] = []
        for picked in product(*(functions for functions, _ in meant)):
            named = plain
            for choice, function in zip(call.choices, picked, strict=True):
                named = _with_function(named, choice.position, function)
            made.append(named if note is None else replace(note, body=(named,)))
        return made

    def _functions_of_table(
        self, plain: CallEvent, selecting: Choice, choices: Sequence[Choice]
    ) -> list[Event]:
        """Returns the functions of a table, each under the condition of its subscript."""
        others = tuple(choice for choice in choices if choice is not selecting)
        made: list[Event] = []
        for number, function in enumerate(selecting.functions):
            if not function and selecting.position is None:
                continue
            named = _with_function(plain, selecting.position, function)
            inside = self._possible_calls(named._replace(choices=others)) if others else [named]
            made.append(Block("branch", tuple(inside), plain.span, side=FIRST_ELEMENT + number))
        return made

    def _possible_functions(
        self, choice: Choice, call: CallEvent
    ) -> tuple[list[str], Block | None]:
        """Returns the possible functions, and a block with the unknown condition that selects
        one.
        """
        where = call.span.short
        if choice.loop is not None and choice.loop in self._counters and choice.values:
            value = self._counters[choice.loop]
            picked = dict(zip(choice.values, choice.functions, strict=True))
            functions = [name for name in [picked.get(value, "")] if name]
            note = f"{choice.pointer}() at {where} may be skipped, and is assumed to be called"
            return functions, None if choice.sure else Block("choice", (), call.span, note=note)
        functions = [name for name in dict.fromkeys(choice.functions) if name]
        if choice.loop is not None and len(functions) == len([f for f in choice.functions if f]):
            note = f"{choice.pointer}() at {where} is assumed to call each function of the table"
            return functions, Block("choice", (), choice.loop, note=note)
        if len(functions) == 1 and choice.loop is None:
            return functions, None
        shown = ", ".join(f"{name}()" for name in functions[:_NAMED])
        if len(functions) > _NAMED:
            shown += f" and {len(functions) - _NAMED} more"
        note = f"{choice.pointer} at {where} may mean {shown}, and each is assumed every time"
        return functions, Block("choice", (), call.span, note=note)


def _with_function(call: CallEvent, position: int | None, function: str) -> CallEvent:
    if not function:
        return call
    if position is None:
        return call._replace(function=function)
    return call._replace(functions=(*call.functions, (position, function)))
