"""What a function does to memory, in order: the light record behind first touch.

A `Flow` leaves out all arithmetic and keeps what decides where pages lie: loops that write arrays,
pointers that get a new value, calls that hand arrays on, and which of it several threads do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.ir.expr import Expr, Number
from regionpredict.ir.source import Span

Place = tuple[str, ...]
"""An address: a variable, then steps from it: `*` follows a pointer, `.f` is a struct's member.

`p` of `double **p` is ("p@3:9",); what it points to ("p@3:9", "*"), the rows ("p@3:9", "*", "*").
A local variable carries its line and column, a global one `::`. Members of the elements of an
array of structs are `[].f`: they lie in the array.
"""


class Write(NamedTuple):
    """A store to elements of the memory at `place`; `whole`: some dimension does not stand still.

    `sure` is False where only a part is known to be written (`a[0][i][j]`).
    """

    place: Place
    sure: bool
    span: Span


class Link(NamedTuple):
    """A pointer variable at `slot` gets the address `source`; None: an address nobody has seen."""

    slot: Place
    source: Place | None
    span: Span


class Copied(NamedTuple):
    """A struct at `target` gets the value of the one at `source`, with the pointers in it."""

    target: Place
    source: Place
    span: Span


FIRST_ELEMENT = 1_000_000
"""The number of the side of a call that means a table's first element (`Block.side`)."""


class OfHanded(NamedTuple):
    """A call by what its function is handed: the `member` of the elements of the table that is the
    `parameter`, the one of which the number is `sign` times a loop's counter plus `offset`.

    `length` is the parameter before which the counter ends, from 0 by 1; `ends` the member that is
    nothing in the element at which the loop ends. None: it is the loop's header that tells.
    """

    parameter: int
    member: str
    sign: int = 1
    offset: int = 0
    length: int | None = None
    ends: str | None = None


class Table(NamedTuple):
    """A table that a call hands over at `position`: of each element the functions in it by their
    members, "" for a null pointer; or the `parameter` of the caller that is one."""

    position: int
    rows: tuple[tuple[tuple[str, str], ...], ...] = ()
    parameter: int | None = None


class Passed(NamedTuple):
    """A number that a call hands over at `position`: a `value` in names that are numbers which the
    caller was handed and does not change, each with its position there."""

    position: int
    value: Expr
    parameters: tuple[tuple[str, int], ...]

    def at(self, given: Mapping[int, Number]) -> Number | None:
        """What it is where the caller was handed these, by their positions; None: nobody knows."""
        numbers = {name: given[own] for name, own in self.parameters if own in given}
        return self.value.evaluate(numbers)


class HandedOver(NamedTuple):
    """What a call hands over that tells what its callee does: tables of functions, constants, as
    (position, value), and numbers that the caller was handed."""

    tables: tuple[Table, ...]
    numbers: tuple[tuple[int, Number], ...]
    passed: tuple[Passed, ...]


class Choice(NamedTuple):
    """The functions of which a call means one: what it calls, or hands over at `position`.

    `pointer` is the text that leads to it. Where the counter of a loop picks it, `loop` is its
    place and `values` are the counter's, one a function, which is "" for a null pointer; there are
    none where the table is not told, any of some: each function is in it at most once. `whole`: the
    loop goes through just these. `sure` is False where an iteration may pass the call over.
    `picked`: each is what the call means under a condition of its own, as a subscript says; the
    `others` of the table it does not mean. `handed`: what it means where the table is known that
    the function is handed.
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
    handed: OfHanded | None = None


class Handed(NamedTuple):
    """A call: addresses by position (None: no address), and where the returned one is put.

    `functions` are functions that it hands over: (position, name), or the position of the caller's
    own parameter. `parameter`: what is called is that parameter of the caller. `values` are the
    structs that it is given by value: (position, where they lie). `pointer` is the text of what
    holds the function, where it is called through one, `choices` what that may be. `file`: where
    the function is that is meant; "": as seen from the caller's place. `tables` are tables of
    functions that it hands over, `numbers` constants: (position, value), `passed` numbers that
    the caller was handed.
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
    """`return p;`: an address, or the struct at `source` by its value."""

    source: Place
    by_value: bool = False


BEHIND_RETURN = "return"
"""The `note` of what stands behind `if (c) return;`: most often `c` tells an error."""


@dataclass(frozen=True, slots=True)
class Block:
    """Part of a function.

    `kind` is 'loop', 'branch' (may not run), 'parallel' (all threads run it), 'share' (a
    worksharing loop), 'one' (one thread of a team), 'task', 'elsewhere' (another device), 'turn'
    (the iteration of a loop in which its counter is `value`) or 'choice' (what a call may mean:
    `note` says what is not known; at the place of a loop it is called in at most one of its
    iterations). For 'share', `names` are the places of the arrays by the names that the region has
    for them. `side` numbers what a condition decides between: that of an `if` 0, what is behind
    `else` or a `continue` 1, the cases of a `switch` in their order. `note` of a loop says that it
    may end early, that of a branch that it is `BEHIND_RETURN`.
    """

    kind: str
    body: tuple[Event, ...]
    span: Span
    names: tuple[tuple[str, Place], ...] = ()
    value: int | None = None
    note: str = ""
    side: int = 0


Event = Write | Link | Copied | Handed | Returned | Block


@dataclass(frozen=True, slots=True)
class Flow:
    """One function: its parameters as places, and what it does in order.

    `pointed`: it may be called through a pointer; `meant`: a call through one is seen to mean it,
    as far as the pointer goes.
    """

    function: str
    parameters: tuple[Place, ...]
    body: tuple[Event, ...]
    span: Span
    pointed: bool = False
    meant: bool = False


def every_event(events: Iterable[Event]) -> Iterator[Event]:
    """The events and those inside them, each block before what is in it."""
    for event in events:
        yield event
        if isinstance(event, Block):
            yield from every_event(event.body)


def called_functions(flows: Iterable[Flow]) -> set[str]:
    """The names of all functions that are called."""
    events = (event for flow in flows for event in every_event(flow.body))
    return {event.function for event in events if isinstance(event, Handed)}


def calls_through_pointers(flows: Iterable[Flow]) -> bool:
    """Whether any function calls what a variable, a member or a table holds."""
    events = (event for flow in flows for event in every_event(flow.body))
    return any(isinstance(event, Handed) and event.pointer for event in events)


def loops_with_calls(flows: Sequence[Flow]) -> frozenset[Span]:
    """The places of the loops that call a function, those inside worksharing loops left out."""
    spans: set[Span] = set()

    def search(events: Sequence[Event]) -> bool:
        calls = False
        for event in events:
            if isinstance(event, Handed):
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
    """The places of the outermost loops that one thread runs alone and that lead to no parallel
    region, in all functions that `main` reaches. Without a `main`, in those that no other calls,
    and in what they call.
    """
    by_name: dict[str, list[Flow]] = {}
    for flow in flows:
        by_name.setdefault(flow.function, []).append(flow)
    leading = functions_reaching(flows, _TEAM_BLOCKS)
    spans: set[Span] = set()
    seen: set[str] = set()
    waiting = ["main"] if "main" in by_name else sorted(by_name.keys() - called_functions(flows))

    def leads(event: Event) -> bool:
        if isinstance(event, Handed):
            return event.function in leading or bool(event.pointer)
        return isinstance(event, Block) and event.kind in _TEAM_BLOCKS

    def search(events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Handed):
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
    """The functions with a block of one of these kinds, and those that call one by its name."""
    callers: dict[str, set[str]] = {}
    reaching: set[str] = set()
    for flow in flows:
        for event in every_event(flow.body):
            if isinstance(event, Handed):
                callers.setdefault(event.function, set()).add(flow.function)
            elif isinstance(event, Block) and event.kind in kinds:
                reaching.add(flow.function)
    waiting = list(reaching)
    while waiting:
        new = callers.get(waiting.pop(), set()) - reaching
        reaching |= new
        waiting += new
    return reaching


def branches_with_calls(flows: Sequence[Flow]) -> frozenset[Span]:
    """The places of the conditions that decide whether a function is called, or a team begins."""
    spans: set[Span] = set()

    def search(events: Sequence[Event]) -> bool:
        busy = False
        for event in events:
            if isinstance(event, Handed):
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
