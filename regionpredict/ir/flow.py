"""The memory effects of a function in program order, as needed for first touch.

A `Flow` omits arithmetic. It contains loops that write arrays, assignments to pointers, and calls
with arrays as arguments. It also says which parts run on several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.ir.expr import Expr
from regionpredict.ir.folding import Number
from regionpredict.ir.reached import reached
from regionpredict.ir.source import Span

Place = tuple[str, ...]
"""An address: a variable, followed by steps. `*` dereferences a pointer, and `.f` selects a struct
member.

For `double **p`, the pointer is ("p@3:9",), its target ("p@3:9", "*"), and the rows ("p@3:9", "*",
"*"). The name of a local variable contains its line and column, and that of a global variable
contains `::`. Members of the elements of an array of structs are `[].f`, and belong to the array.
"""


class Write(NamedTuple):
    """A store to elements of the memory at `place`. `whole` says that at least one subscript
    varies.

    `sure` is False if only a part is known to be written (`a[0][i][j]`).
    """

    place: Place
    sure: bool
    span: Span


class Link(NamedTuple):
    """The pointer variable at `slot` receives the address `source`. None is an unknown address."""

    slot: Place
    source: Place | None
    span: Span


class Copied(NamedTuple):
    """The struct at `target` receives the value of the struct at `source`, including its
    pointers.
    """

    target: Place
    source: Place
    span: Span


FIRST_ELEMENT = 1_000_000
"""The branch (`Block.side`) of a call that means the first element of a table."""


class CallThroughTableParameter(NamedTuple):
    """A call through an element of a table that is a `parameter` of the function. It calls the
    `member` of the element with index `sign` * counter + `offset`.

    `length` is the parameter that bounds the counter, which starts at 0 with step 1. `ends` is the
    member that is null in the element at which the loop ends. If both are None, the range is in the
    header of the loop.
    """

    parameter: int
    member: str
    sign: int = 1
    offset: int = 0
    length: int | None = None
    ends: str | None = None


class Table(NamedTuple):
    """A table of functions that is passed as the argument at `position`. It contains the functions
    of each element by member ("" for a null pointer), or is a `parameter` of the caller.
    """

    position: int
    rows: tuple[tuple[tuple[str, str], ...], ...] = ()
    parameter: int | None = None


class Passed(NamedTuple):
    """A number that is passed as the argument at `position`. `value` is an expression in parameters
    of the caller that it never modifies. Their positions are included.
    """

    position: int
    value: Expr
    parameters: tuple[tuple[str, int], ...]

    def at(self, given: Mapping[int, Number]) -> Number | None:
        """The value for given arguments of the caller, by position. None if unknown."""
        numbers = {name: given[own] for name, own in self.parameters if own in given}
        return self.value.evaluate(numbers)


class PassedArguments(NamedTuple):
    """The arguments of a call that affect what the called function does: tables of functions,
    constants as (position, value), and numeric parameters of the caller.
    """

    tables: tuple[Table, ...]
    numbers: tuple[tuple[int, Number], ...]
    passed: tuple[Passed, ...]


class Choice(NamedTuple):
    """The possible targets of a call, or of a function pointer that is passed at `position`.

    `pointer` is the text of the function pointer. If the counter of a loop selects the target,
    `loop` is the place of the loop. `values` gives the counter's value for each function ("" for a
    null pointer). `values` is empty if the table is unknown. Each function then occurs at most
    once. `whole` says that the loop executes exactly these functions. `sure` is False if an
    iteration may skip the call. `picked` says that each target is called under its own condition,
    such as a subscript. `others` are functions of the table that are never called here. `handed`
    says that the target depends on a table that the function receives.
    """

    functions: tuple[str, ...]
    pointer: str
    position: int | None = None
    loop: Span | None = None
    values: tuple[int, ...] = ()
    whole: bool = False
    sure: bool = True
    picked: bool = False
    others: tuple[str, ...] = ()
    handed: CallThroughTableParameter | None = None


class CallEvent(NamedTuple):
    """A call: the addresses that it passes, by position, and the place where the returned address
    is stored. None is an argument that is not an address.

    `functions` are functions passed as arguments: (position, name), or the position of the caller's
    own parameter. `parameter` says that the call goes through this parameter of the caller.
    `values` are the structs passed by value: (position, address). `pointer` is the text of the
    function pointer, if the call goes through one, and `choices` its possible targets. `file` is
    the file of the called function. "" means the function visible at the call. `tables` are tables
    of functions passed as arguments, `numbers` constants as (position, value), and `passed` numeric
    parameters of the caller.
    """

    function: str
    arguments: tuple[Place | None, ...]
    result: Place
    span: Span
    functions: tuple[tuple[int, str | int], ...] = ()
    parameter: int | None = None
    values: tuple[tuple[int, Place], ...] = ()
    pointer: str = ""
    choices: tuple[Choice, ...] = ()
    file: str = ""
    tables: tuple[Table, ...] = ()
    numbers: tuple[tuple[int, Number], ...] = ()
    passed: tuple[Passed, ...] = ()


class Returned(NamedTuple):
    """A returned address (`return p;`), or the returned value of the struct at `source`."""

    source: Place
    by_value: bool = False


BEHIND_RETURN = "return"
"""The `note` of code after `if (c) return;`, where `c` usually means that an error occurred."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a function.

    `kind` is 'loop', 'branch' (may not run), 'parallel' (all threads run it), 'share' (a
    worksharing loop), 'one' (one thread), 'task', 'elsewhere' (another device), 'turn' or 'choice'.
    A 'turn' is the iteration of a loop whose counter is `value`. A 'choice' is a possible target of
    a call: its `note` gives the unknown condition, and its place the loop in which it runs at most
    once. For 'share', `names` maps the region's array names to addresses. `side` numbers the sides
    of a condition: 0 for the first side of an `if`, 1 for `else` or code after a `continue`, and
    the cases of a `switch` in order. The `note` of a loop says that it may end early. The note of a
    branch may be `BEHIND_RETURN`.
    """

    kind: str
    body: tuple[Event, ...]
    span: Span
    names: tuple[tuple[str, Place], ...] = ()
    value: int | None = None
    note: str = ""
    side: int = 0


Event = Write | Link | Copied | CallEvent | Returned | Block


@dataclass(frozen=True, slots=True)
class Flow:
    """One function: the addresses of its parameters, and its effects in order.

    `pointed` says that the function may be called through a pointer. `meant` says that all such
    calls are known. `partial` says that its file was read only in part, so that calls may be
    missing.
    """

    function: str
    parameters: tuple[Place, ...]
    body: tuple[Event, ...]
    span: Span
    pointed: bool = False
    meant: bool = False
    partial: bool = False


def every_event(events: Iterable[Event]) -> Iterator[Event]:
    """All events, including nested ones. Each block precedes its contents."""
    waiting = [iter(events)]
    while waiting:  # a loop instead of recursion, since blocks may nest thousands deep
        event = next(waiting[-1], None)
        if event is None:
            waiting.pop()
            continue
        yield event
        if isinstance(event, Block):
            waiting.append(iter(event.body))


def changed_events(events: Iterable[Event], change: Callable[[Event], Event]) -> tuple[Event, ...]:
    """The events after a change to each of them, inner ones first."""
    return tuple(
        change(replace(event, body=changed_events(event.body, change)))
        if isinstance(event, Block)
        else change(event)
        for event in events
    )


def changed_flow(flow: Flow, change: Callable[[Event], Event]) -> Flow:
    """The record of a function after a change to all of its events."""
    return replace(flow, body=changed_events(flow.body, change))


def called_functions(flows: Iterable[Flow]) -> set[str]:
    """The names of all functions that are called."""
    events = (event for flow in flows for event in every_event(flow.body))
    return {event.function for event in events if isinstance(event, CallEvent)}


def calls_through_pointers(flows: Iterable[Flow]) -> bool:
    """Whether any function calls through a variable, a member or a table."""
    events = (event for flow in flows for event in every_event(flow.body))
    return any(isinstance(event, CallEvent) and event.pointer for event in events)


def loops_with_calls(flows: Sequence[Flow]) -> frozenset[Span]:
    """The places of the loops that call a function. Loops inside worksharing loops are excluded."""
    spans: set[Span] = set()

    def search(events: Sequence[Event]) -> bool:
        calls = False
        for event in events:
            if isinstance(event, CallEvent):
                named = event.function or event.pointer
                calls = calls or bool(named) or event.parameter is not None
            elif isinstance(event, Block) and event.kind != "share":
                inside = search(event.body)
                if inside and event.kind == "loop":
                    spans.add(event.span)
                calls = calls or inside
        return calls

    for flow in flows:
        search(flow.body)
    return frozenset(spans)


def serial_nests(flows: Sequence[Flow]) -> frozenset[Span]:
    """The places of the outermost serial loops that lead to no parallel region, in all functions
    that `main` reaches. If there is no `main`, all functions without a caller are starting points.
    """
    by_name: dict[str, list[Flow]] = {}
    for flow in flows:
        by_name.setdefault(flow.function, []).append(flow)
    leading = functions_reaching(flows, _TEAM_BLOCKS)
    spans: set[Span] = set()
    seen: set[str] = set()
    waiting = ["main"] if "main" in by_name else sorted(by_name.keys() - called_functions(flows))

    def leads(event: Event) -> bool:
        if isinstance(event, CallEvent):
            return event.function in leading or bool(event.pointer)
        return isinstance(event, Block) and event.kind in _TEAM_BLOCKS

    def search(events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, CallEvent):
                waiting.append(event.function)
            elif isinstance(event, Block) and event.kind not in _TEAM_BLOCKS:
                if event.kind == "loop" and not any(map(leads, every_event(event.body))):
                    spans.add(event.span)
                else:
                    search(event.body)

    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for flow in by_name.get(name, ()):
                search(flow.body)
    return frozenset(spans)


_TEAM_BLOCKS = frozenset(("parallel", "share", "one", "task", "elsewhere"))


def functions_reaching(flows: Iterable[Flow], kinds: Collection[str]) -> set[str]:
    """The functions that contain a block of one of these kinds, with their callers. Both are
    names.
    """
    callers: dict[str, set[str]] = {}
    reaching: set[str] = set()
    for flow in flows:
        for event in every_event(flow.body):
            if isinstance(event, CallEvent):
                callers.setdefault(event.function, set()).add(flow.function)
            elif isinstance(event, Block) and event.kind in kinds:
                reaching.add(flow.function)
    return set(reached(reaching, lambda name: callers.get(name, ())))


def branches_with_calls(flows: Sequence[Flow]) -> frozenset[Span]:
    """The places of the conditions that decide whether a function is called or a parallel region
    starts.
    """
    spans: set[Span] = set()

    def search(events: Sequence[Event]) -> bool:
        busy = False
        for event in events:
            if isinstance(event, CallEvent):
                named = event.function or event.pointer
                busy = busy or bool(named) or event.parameter is not None
            elif isinstance(event, Block):
                inside = event.kind in ("share", "parallel")
                inside = (event.kind != "share" and search(event.body)) or inside
                if inside and event.kind == "branch":
                    spans.add(event.span)
                busy = busy or inside
        return busy

    for flow in flows:
        search(flow.body)
    return frozenset(spans)
