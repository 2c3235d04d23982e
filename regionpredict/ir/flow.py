"""The memory effects of a function in program order, as needed for the first-touch analysis.

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
"""A memory location: a variable, followed by steps. `*` dereferences a pointer, and `.f` selects a
struct member.

For `double **p`, the pointer is ("p@3:9",), its target ("p@3:9", "*"), and the rows ("p@3:9", "*",
"*"). The name of a local variable contains its line and column, and that of a global variable
contains `::`. A member of the elements of an array of structs is `[].f`, and belongs to the array.
"""


class Write(NamedTuple):
    """A store to array elements in the memory at `place`, with at least one varying subscript.

    `sure` is False if only a part is known to be written (`a[0][i][j]`).
    """

    place: Place
    sure: bool
    span: Span


class Link(NamedTuple):
    """The pointer variable at `slot` receives the address `source`, or an unknown address
    (None).
    """

    slot: Place
    source: Place | None
    span: Span


class Copied(NamedTuple):
    """A struct assignment: `target` receives the value of `source`, including its pointers."""

    target: Place
    source: Place
    span: Span


FIRST_ELEMENT = 1_000_000
"""The value of `Block.side` for a call that always uses the first element of a table."""


class CallThroughTableParameter(NamedTuple):
    """A call through an element of a table that is a `parameter` of the function. It calls the
    `member` of the element with index `sign` * counter + `offset`.

    `length` is the parameter that bounds the loop counter, which starts at 0 with step 1. `ends` is
    the member that is null in the element at which the loop ends. If both are None, the loop header
    contains the range.
    """

    parameter: int
    member: str
    sign: int = 1
    offset: int = 0
    length: int | None = None
    ends: str | None = None


class Table(NamedTuple):
    """A table of functions that is passed as the argument at `position`. `rows` contains the
    functions of each element by member ("" for a null pointer). Alternatively, the table is a
    `parameter` of the caller.
    """

    position: int
    rows: tuple[tuple[tuple[str, str], ...], ...] = ()
    parameter: int | None = None


class Passed(NamedTuple):
    """A number that is passed as the argument at `position`. `value` is an expression in constant
    parameters of the caller. `parameters` contains their names and positions.
    """

    position: int
    value: Expr
    parameters: tuple[tuple[str, int], ...]

    def at(self, given: Mapping[int, Number]) -> Number | None:
        """Returns the value for known arguments of the caller, by position. None if unknown."""
        numbers = {name: given[own] for name, own in self.parameters if own in given}
        return self.value.evaluate(numbers)


class PassedArguments(NamedTuple):
    """The arguments of a call that affect the control flow of the called function: tables of
    functions, constants as (position, value), and numeric parameters of the caller.
    """

    tables: tuple[Table, ...]
    numbers: tuple[tuple[int, Number], ...]
    passed: tuple[Passed, ...]


class Choice(NamedTuple):
    """The possible targets of a call, or of a function pointer that is passed at `position`.

    `pointer` is the text of the function pointer. If the counter of a loop selects the target,
    `loop` is the location of the loop. `values` gives the counter's value for each function ("" for
    a null pointer). If the table is unknown, `values` is empty, and each function is called at most
    once. `whole` says that the loop executes exactly these functions. `sure` is False if an
    iteration may skip the call. `picked` says that each target is called under its own condition,
    such as a subscript. `others` are functions of the table that are never called here. `handed`
    says that the target depends on a table that the function receives as an argument.
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
    """A call of `function`: the addresses that it passes, by position (None for other values), and
    the location of the returned address.

    `functions` are functions passed as arguments: (position, name), or the position of the caller's
    own parameter. `parameter` is the caller's parameter through which the call goes. `values` are
    the structs passed by value: (position, location). `pointer` is the text of the function
    pointer, if the call goes through a pointer, and `choices` its possible targets. `file` is the
    file of the called function. "" means the function visible at the call. `tables` are tables of
    functions passed as arguments, `numbers` constants as (position, value), and `passed` numeric
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
    """A returned address (`return p;`), or a returned struct with its location `source`."""

    source: Place
    by_value: bool = False


BEHIND_RETURN = "return"
"""The `note` of code after `if (c) return;`, which usually handles an error."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a function.

    `kind` is 'loop', 'branch' (may not run), 'parallel' (all threads run it), 'share' (a
    worksharing loop), 'one' (one thread), 'exclusive' (one thread after the other), 'task',
    'elsewhere' (another device), 'turn' or 'choice'.
    A 'turn' is the iteration of a loop whose counter is `value`. A 'choice' is a possible target of
    a call. Its `note` gives the unknown condition, and its `span` the loop in which it runs at most
    once. For 'share', `names` maps the region's array names to memory locations. `side` numbers the
    branches of a condition: 0 for the first branch of an `if`, 1 for `else` or code after a
    `continue`, and the cases of a `switch` in order. The `note` of a loop says that it may end
    early. The note of a branch may be `BEHIND_RETURN`.
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
    """The memory effects of one function in order, with the locations of its parameters.

    `pointed` says that the function may be called through a pointer. `meant` says that all such
    calls are known. `partial` says that the function's file was only partly read, so that calls may
    be missing.
    """

    function: str
    parameters: tuple[Place, ...]
    body: tuple[Event, ...]
    span: Span
    pointed: bool = False
    meant: bool = False
    partial: bool = False


def every_event(events: Iterable[Event]) -> Iterator[Event]:
    """Yields all events, including nested ones. Each block precedes its contents."""
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
    """Applies `change` to each event, inner events first, and returns the new events."""
    return tuple(
        change(replace(event, body=changed_events(event.body, change)))
        if isinstance(event, Block)
        else change(event)
        for event in events
    )


def changed_flow(flow: Flow, change: Callable[[Event], Event]) -> Flow:
    """Applies `change` to all events of a function, and returns the new flow."""
    return replace(flow, body=changed_events(flow.body, change))


def called_functions(flows: Iterable[Flow]) -> set[str]:
    """Returns the names of all functions that are called."""
    events = (event for flow in flows for event in every_event(flow.body))
    return {event.function for event in events if isinstance(event, CallEvent)}


def calls_through_pointers(flows: Iterable[Flow]) -> bool:
    """Whether any function calls through a variable, a member or a table."""
    events = (event for flow in flows for event in every_event(flow.body))
    return any(isinstance(event, CallEvent) and event.pointer for event in events)


def loops_with_calls(flows: Sequence[Flow]) -> frozenset[Span]:
    """Returns the locations of loops with calls. Worksharing loops and their contents are
    excluded.
    """
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


def serial_nests(flows: Sequence[Flow], has_loops: Callable[[str], bool]) -> frozenset[Span]:
    """Returns the locations of the outermost serial loops without a parallel region inside, in all
    functions that `main` reaches. They include loops in a parallel region that one thread runs, or
    that every thread repeats. Without a `main`, all functions without a caller are entry points.

    Calls of library functions for which `has_loops` is true count as loops, such as `memset`.
    """
    by_name: dict[str, list[Flow]] = {}
    for flow in flows:
        by_name.setdefault(flow.function, []).append(flow)
    with_teams = functions_reaching(flows, _TEAM_BLOCKS)
    spans: set[Span] = set()
    seen: set[str] = set()
    waiting = ["main"] if "main" in by_name else sorted(by_name.keys() - called_functions(flows))

    def starts_team(event: Event) -> bool:
        if isinstance(event, CallEvent):
            return event.function in with_teams or bool(event.pointer)
        return isinstance(event, Block) and event.kind in _TEAM_BLOCKS

    def search(events: Sequence[Event], *, parallel: bool = False) -> None:
        for event in events:
            if isinstance(event, CallEvent):
                if event.function not in by_name and has_loops(event.function):
                    spans.add(event.span)
                elif not parallel:
                    waiting.append(event.function)
            elif not isinstance(event, Block):
                continue
            elif event.kind in _WITH_SERIAL_LOOPS:
                search(event.body, parallel=event.kind == "parallel")
            elif event.kind not in _TEAM_BLOCKS:
                if event.kind == "loop" and not any(map(starts_team, every_event(event.body))):
                    spans.add(event.span)
                else:
                    search(event.body, parallel=parallel)

    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for flow in by_name.get(name, ()):
                search(flow.body)
    return frozenset(spans)


_WITH_SERIAL_LOOPS = ("parallel", "one", "exclusive")
_TEAM_BLOCKS = frozenset(("parallel", "share", "one", "task", "elsewhere"))


def functions_reaching(flows: Iterable[Flow], kinds: Collection[str]) -> set[str]:
    """Returns the names of the functions that contain a block of one of these kinds, and of their
    direct and indirect callers.
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
    """Returns the locations of the conditions that decide whether a function is called or a
    parallel region starts.
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
