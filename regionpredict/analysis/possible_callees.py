"""Represents a call with several possible targets as alternatives of their effects.

If the counter of a loop selects from a table, the loop is replaced by its iterations, each with its
own call. If data select the function, any of the functions may be called each time, and its
frequency is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from regionpredict.analysis.bindings import Bindings
from regionpredict.constant import Constant
from regionpredict.ir import Loop, Span
from regionpredict.ir.flow import FIRST_ELEMENT, Block, CallEvent, Choice, Event, Flow, every_event

MOST_TURNS = Constant(
    64.0, "iterations", "assumed", "tables of functions have about ten elements; longer loops are "
                                   "over data"
)  # fmt: skip
MOST_MEANT = Constant(
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
    """The functions, with each call through a pointer replaced by calls of its possible targets.
    `loops` are the serial loops with known headers, by place.
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
        bodies.append(calls.events(flow.body))
        meant -= calls.dropped
    return tuple(
        replace(flow, body=body, meant=flow.function in meant)
        for flow, body in zip(flows, bodies, strict=True)
    )


class _CallTargets:
    """Resolves the calls of one function."""

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self._left = int(MOST_EVENTS.value)
        self._counters: dict[Span, int] = {}  # the counters of the divided loops
        self.dropped: set[str] = set()  # functions with too many variants

    def events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        made: list[Event] = []
        for event in events:
            self._left -= 1
            if isinstance(event, Block):
                made += self._block(event)
            elif isinstance(event, CallEvent) and event.choices:
                made += self._call(event)
            else:
                made.append(event)
        return tuple(made)

    def _block(self, block: Block) -> list[Block]:
        counter_values = self._counter_values(block) if block.kind == "loop" else None
        if counter_values is None:
            return [replace(block, body=self.events(block.body))]
        iterations = []
        for value in counter_values:
            self._counters[block.span] = value
            body = self.events(block.body)
            iterations.append(replace(block, kind="turn", body=body, value=value))
        self._counters.pop(block.span, None)
        return iterations

    def _counter_values(self, loop: Block) -> list[int] | None:
        """The values of a loop's counter, if it selects functions. None if they are unknown or too
        many.
        """
        picking = [
            choice for event in every_event(loop.body) if isinstance(event, CallEvent)
            for choice in event.choices if choice.loop == loop.span and choice.values
        ]  # fmt: skip
        if not picking:
            return None
        length = sum(1 for _ in every_event(loop.body))
        values = self._counted(loop.span, picking)
        if values is None or len(values) * length > self._left:
            return None
        return values

    def _counted(self, span: Span, picking: Sequence[Choice]) -> list[int] | None:
        whole = next((choice for choice in picking if choice.whole), None)
        if whole is not None:
            return list(whole.values)
        if span not in self._loops:
            return None
        loop, bindings = self._loops[span]
        start, step = bindings.number(loop.start), bindings.number(loop.step)
        trips = bindings.whole(loop.trips)
        if not isinstance(start, int) or not isinstance(step, int) or trips is None:
            return None
        if trips > MOST_TURNS.value:
            return None
        return [start + number * step for number in range(max(0, trips))]

    def _call(self, call: CallEvent) -> list[Event]:
        """The possible calls. Each is in a separate block if it may not happen."""
        plain = call._replace(choices=())
        picking = [choice for choice in call.choices if choice.picked]
        if picking:
            return self._functions_of_table(plain, picking[0], call.choices)
        meant = [self._any_function(choice, call) for choice in call.choices]
        for at, choice in enumerate(call.choices):
            if choice.position is not None and not meant[at][0]:
                meant[at] = [""], None  # a null pointer is passed
        number = 1
        for functions, _ in meant:
            number *= len(functions)
        if number > MOST_MEANT.value:
            self.dropped.update(name for functions, _ in meant for name in functions)
            return [plain]
        note = next((block for _, block in meant if block is not None), None)
        made: list[Event] = []
        for picked in product(*(functions for functions, _ in meant)):
            named = plain
            for choice, function in zip(call.choices, picked, strict=True):
                named = _naming(named, choice.position, function)
            made.append(named if note is None else replace(note, body=(named,)))
        return made

    def _functions_of_table(
        self, plain: CallEvent, picking: Choice, choices: Sequence[Choice]
    ) -> list[Event]:
        """The functions of a table, each under the condition on the subscript that selects it."""
        others = tuple(choice for choice in choices if choice is not picking)
        made: list[Event] = []
        for number, function in enumerate(picking.functions):
            if not function and picking.position is None:
                continue
            named = _naming(plain, picking.position, function)
            inside = self._call(named._replace(choices=others)) if others else [named]
            made.append(Block("branch", tuple(inside), plain.span, side=FIRST_ELEMENT + number))
        return made

    def _any_function(self, choice: Choice, call: CallEvent) -> tuple[list[str], Block | None]:
        """The functions, and a block with the unknown condition that selects one of them."""
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


def _naming(call: CallEvent, position: int | None, function: str) -> CallEvent:
    if not function:
        return call
    if position is None:
        return call._replace(function=function)
    return call._replace(functions=(*call.functions, (position, function)))
