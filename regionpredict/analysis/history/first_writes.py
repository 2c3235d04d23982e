"""Simulates the memory accesses of a program from `main`. Records the first and the last writer of
each memory block.

Arguments of calls are matched with parameters by position. A loop that contains worksharing is
simulated twice. The second time gives the state for repeated runs of a region. A memory block is a
variable, or the result of one call of `malloc`. Reading, allocating, and clearing by `calloc` place
no pages, while the construction of a container writes its elements. The kernel places a page at
its first write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

from regionpredict.analysis.callees import Callees
from regionpredict.analysis.history.effect_free_calls import EffectFreeCalls
from regionpredict.analysis.history.library_functions import FILLS, HARMLESS, NEW
from regionpredict.analysis.history.pointers import Pointers
from regionpredict.ir import Span
from regionpredict.ir.flow import (
    Block,
    CallEvent,
    Copied,
    Event,
    Flow,
    Link,
    Place,
    Write,
    called_functions,
    every_event,
    functions_reaching,
)
from regionpredict.library import FILLED_CONTAINER

_MAX_DEPTH = 40
"""Maximum depth of simulated calls. Only recursive programs exceed it."""
_MAX_EVENTS = 200_000
"""Maximum number of writes and calls that are simulated from one function. A function with ten
calls in each of ten functions, five levels deep, exceeds it. Its arrays are then unknown.
"""
_MAX_EVENTS_IN_ALL = 1_000_000
"""The limit for all functions without callers together, which takes seconds. A library has
hundreds of such functions.
"""


class FirstWrite(NamedTuple):
    """The first write of an array. `kind` is 'serial' or 'parallel', and `how` describes the write
    in words. `sure` is False if the write is only possible.

    `span` is the source location of the write, or None if no write is visible. `happens` is True if
    this write is certainly the first one for at least a part of the array.
    """

    kind: str
    how: str
    sure: bool
    span: Span | None = None
    happens: bool = False


class Before(NamedTuple):
    """The use of one array before a region runs.

    `fresh`: the region writes the array first. `last`: the worksharing loop that wrote the array
    last, and the array's name in this loop. `serial`: one thread wrote the array last. If neither
    `last` nor `serial` is set, the last writer is unknown, or nothing wrote the array since the
    region's last run. `since`: the worksharing loops that accessed the array after its last write.
    `touched`: the array was read or written before.
    """

    fresh: bool = False
    last: tuple[Span, str] | None = None
    serial: bool = False
    since: tuple[tuple[Span, str], ...] = ()
    touched: bool = False


Visits = dict[Span, list[dict[str, FirstWrite | None]]]
Pasts = dict[Span, list[dict[str, Before]]]
Between = dict[Span, Mapping[Place, tuple[Span, str]]]


class WriteHistory(NamedTuple):
    """The results of simulating a program.

    `first` and `before` contain a dictionary by array for each visit of a worksharing loop. `first`
    gives the first writer of the region's arrays, or None if there was no writer. `before` gives
    the use of the arrays before the region runs, in the steady state of loops. `repeats` are the
    worksharing loops that run again on memory that they have accessed. `steady` are the worksharing
    loops inside other loops, for which `before` describes the later runs. `between` gives the other
    arrays (by loop and name) accessed since the region's first array, for the visit with the most
    of them. These arrays occupy the cache between two uses.
    """

    first: Visits
    before: Pasts
    repeats: frozenset[Span] = frozenset()
    between: Mapping[Span, Mapping[Place, tuple[Span, str]]] = {}
    steady: frozenset[Span] = frozenset()


@dataclass(frozen=True, slots=True)
class _ExecutionState:
    """The state of execution. `mode` is 'serial', 'team' (every thread executes the code) or
    'share' (each thread executes a part). `branches` counts the undecided conditions around the
    code.
    """

    mode: str
    team: bool
    looped: bool
    branches: int
    at: Span | None = None  # the outermost loop of this function, or the worksharing loop


@dataclass(slots=True)
class _Frame:
    flow: Flow
    number: int
    result: Place | None = None
    by_value: bool = False
    called: tuple[str, Span] | None = None  # the calling function and the location of the call


@dataclass(slots=True)
class _Results:
    """The collected results. `steady` is `before` in the second pass through a loop. `globals` are
    the first writers of global variables. `known_from_main` are the memory locations whose first
    writer is known from `main`.
    """

    first: Visits = field(default_factory=dict)
    before: Pasts = field(default_factory=dict)
    steady: Pasts = field(default_factory=dict)
    repeats: set[Span] = field(default_factory=set)
    between: Between = field(default_factory=dict)
    steady_between: Between = field(default_factory=dict)
    globals: dict[Place, FirstWrite] = field(default_factory=dict)
    known_from_main: set[Place] = field(default_factory=set)
    elsewhere: list[_Visit] = field(default_factory=list)


class _Visit(NamedTuple):
    """A visit of a worksharing loop on a path that does not start at `main`. It contains the first
    writers and the memory of the loop's arrays.
    """

    first: dict[str, FirstWrite | None]
    memory: Mapping[str, Place]


class _Writer(NamedTuple):
    """The last write or access of a memory block: its time, and the worksharing loop with the
    block's name there. The loop is None for a single thread.
    """

    turn: int
    loop: Span | None
    name: str
    known: bool


def simulate_first_writes(flows: Sequence[Flow]) -> WriteHistory:
    """Simulates the program. The key of the results is the source location of a worksharing loop's
    directive.
    """
    notes = _Results()
    called = called_functions(flows)
    roots = [flow for flow in flows if flow.function == "main"]
    roots += [flow for flow in flows if flow.function != "main" and flow.function not in called]
    sharing = functions_reaching(flows, {"share"})
    whole = any(root.function == "main" for root in roots)
    roots = [
        root for root in roots
        if root.function in sharing or (not whole and _writes_globals(root))
    ]  # fmt: skip
    callees = Callees(flows)
    free = EffectFreeCalls(callees)
    most = min(_MAX_EVENTS, _MAX_EVENTS_IN_ALL // max(1, len(roots)))
    for root in roots:
        _Simulation(callees, free, notes, most, from_main=root.function == "main").run(root)
    for flow in flows:
        if any(isinstance(e, Block) and e.kind == "share" and e.span not in notes.first
               for e in every_event(flow.body)):  # fmt: skip
            _Simulation(callees, free, notes, most, from_main=False).run(flow)
    _unify_first_writers(notes)
    return WriteHistory(
        notes.first, {**notes.before, **notes.steady}, frozenset(notes.repeats),
        {**notes.between, **notes.steady_between}, frozenset(notes.steady),
    )  # fmt: skip


def _writes_globals(flow: Flow) -> bool:
    """Whether a function writes to global variables or sets global pointers."""
    for event in every_event(flow.body):
        place = (event.place if isinstance(event, Write) else
                 event.slot if isinstance(event, Link) else None)  # fmt: skip
        if place is not None and place[0].startswith("::"):
            return True
    return False


def _unify_first_writers(notes: _Results) -> None:
    """Makes the first writers of global variables consistent on all paths. The first writer on the
    path from `main` takes precedence. Otherwise, a write by one thread on any path is assumed for
    the other paths.
    """
    for visit in notes.elsewhere:
        for name, memory in visit.memory.items():
            known, own = notes.globals.get(memory), visit.first.get(name)
            if known is not None and (own is None or (not own.sure and own.kind != known.kind)):
                visit.first[name] = known._replace(sure=False)


class _Simulation:
    """One simulated execution that starts at a function. No memory was accessed before."""

    def __init__(
        self,
        callees: Callees,
        free: EffectFreeCalls,
        notes: _Results,
        most: int,
        *,
        from_main: bool,
    ) -> None:
        """Creates a simulation of at most `most` writes and calls."""
        self.callees = callees
        self.free = free
        self.notes = notes
        self.from_main = from_main
        self.pointers = Pointers()
        self.first: dict[Place, FirstWrite] = {}
        self.conditions_around: dict[Place, int] = {}  # number of conditions around a block
        self.doubts: dict[Place, str] = {}
        self.last: dict[Place, _Writer] = {}
        self.names: dict[tuple[Span, Place], str] = {}  # names of memory in worksharing loops
        self.since: dict[Place, dict[tuple[Span, str], None]] = {}  # loops after the last write
        self.last_run: dict[Span, int] = {}  # time of each worksharing loop's last run
        self.used: dict[Span, dict[Place, str]] = {}  # memory of each loop in its last run
        self.accessed_by: dict[Span, set[Place]] = {}  # memory that each loop accessed in any run
        # Blocks in the order of their last access, each with the loop that accessed it.
        self.touched: dict[Place, _Writer] = {}
        self.turn = 0
        self.second_pass = False  # the simulation is in the second pass of a loop
        self.share: Span | None = None
        self.frames = count()
        self.blocks = count()
        self.left = most
        self.stack: list[str] = []

    def run(self, root: Flow) -> None:
        """Simulates the function and everything it calls."""
        self._simulate_call(
            root, (), _ExecutionState("serial", team=False, looped=False, branches=0)
        )
        named = {
            (*slot, "*"): memory for slot, memory in self.pointers.targets_of_globals().items()
        }
        named.update({memory: memory for memory in self.first if memory[0].startswith("::")})
        for place, memory in named.items():
            write = self.first.get(memory)
            known = self.notes.globals.get(place)
            # Writes on the path from `main` take precedence. On other paths, writes of one thread
            # do.
            if write and place not in self.notes.known_from_main and (
                known is None or write.kind == "serial"
            ):  # fmt: skip
                self.notes.globals[place] = write
        if self.from_main:
            self.notes.known_from_main.update(self.notes.globals)

    def _simulate_call(
        self, flow: Flow, arguments: Sequence[Place | None], state: _ExecutionState,
        struct_arguments: Sequence[tuple[int, Place]] = (), called: tuple[str, Span] | None = None,
    ) -> _Frame:  # fmt: skip
        frame = _Frame(flow, next(self.frames), called=called)
        for at, value in struct_arguments:
            if at < len(flow.parameters):
                self.pointers.copy(self._memory_at(flow.parameters[at], frame), value)
        for slot, argument in zip(flow.parameters, arguments, strict=False):
            if argument is not None:
                self.pointers.point(self._memory_at(slot, frame), argument)
        self.stack.append(flow.function)
        self._simulate_events(flow.body, frame, state)
        self.stack.pop()
        return frame

    def _simulate_events(
        self, events: Sequence[Event], frame: _Frame, state: _ExecutionState
    ) -> None:
        for event in events:
            self.left -= 1
            if self.left < 0:
                return
            if isinstance(event, Block):
                self._simulate_block(event, frame, state)
            elif isinstance(event, Write):
                if state.looped:
                    place = self._memory_at(event.place, frame)
                    at = state.at or event.span
                    self._apply_write(place, "a loop", at, frame, state, sure=event.sure)
            elif isinstance(event, Link):
                slot = self._memory_at(event.slot, frame)
                if event.source is None:
                    self.pointers.forget(slot)
                else:
                    self.pointers.point(slot, self._memory_at(event.source, frame))
            elif isinstance(event, Copied):
                self.pointers.copy(
                    self._memory_at(event.target, frame), self._memory_at(event.source, frame)
                )
            elif isinstance(event, CallEvent):
                self._apply_call(event, frame, state)
            elif frame.result is None:
                frame.result = self._memory_at(event.source, frame)
                frame.by_value = event.by_value

    def _simulate_block(self, block: Block, frame: _Frame, state: _ExecutionState) -> None:
        mode, team, looped, branches = state.mode, state.team, state.looped, state.branches
        at = state.at
        if block.kind in ("loop", "turn"):
            looped, at = True, at or block.span
        elif block.kind in ("branch", "choice"):
            branches += 1
        elif block.kind == "parallel":
            mode, team = "team", True
        elif block.kind in ("share", "task"):
            mode, looped = ("share" if team else mode), True if block.kind == "share" else looped
        elif block.kind == "one":
            mode = "serial"
        elif block.kind == "elsewhere":
            mode, branches = "share", branches + 1
        if block.kind == "share":
            at = block.span
        inner = _ExecutionState(mode, team, looped, branches, at)
        if block.kind == "share":
            self._simulate_worksharing(block, frame, inner)
            return
        seen = self.turn
        self._simulate_events(block.body, frame, inner)
        if block.kind == "loop" and self.turn > seen and not self.second_pass:
            self.second_pass = True
            self._simulate_events(block.body, frame, inner)
            self.second_pass = False

    def _simulate_worksharing(self, block: Block, frame: _Frame, state: _ExecutionState) -> None:
        named = {
            name: self._block_with_pages(self._memory_at(place, frame))
            for name, place in block.names
        }
        past = {
            name: self._earlier_use(name, memory, block.span)._replace(
                touched=memory in self.touched
            )
            for name, memory in named.items()
        }
        self.names.update({(block.span, memory): name for name, memory in named.items()})
        before = dict(self.first)
        self._record_repetition(block.span, named)
        self.turn += 1
        outer, self.share = self.share, block.span
        self._simulate_events(block.body, frame, state)
        self.share, self.last_run[block.span] = outer, self.turn
        self.used[block.span] = {memory: name for name, memory in named.items()}
        self.accessed_by[block.span].update(named.values())
        for name, memory in named.items():
            self._record_access(memory, _Writer(self.turn, block.span, name, known=True))
        for name, memory in named.items():
            if memory not in self.last or self.last[memory].turn < self.turn:
                self.since.setdefault(memory, {})[block.span, name] = None
        first: dict[str, FirstWrite | None] = {}
        for name, memory in named.items():
            write = before.get(memory, self.first.get(memory))
            if write is not None and memory not in before:
                past[name] = past[name]._replace(fresh=write.happens)
                write = write._replace(how="first written here")
            if write is None and memory in self.doubts:
                write = FirstWrite("parallel", self.doubts[memory], sure=False)
            first[name] = write
        if self.second_pass:
            self.notes.steady.setdefault(block.span, []).append(past)
        else:
            self.notes.first.setdefault(block.span, []).append(first)
            if not self.from_main:
                self.notes.elsewhere.append(_Visit(first, named))
            self.notes.before.setdefault(block.span, []).append(past)

    def _record_repetition(self, loop: Span, named: Mapping[str, Place]) -> None:
        """Records whether a worksharing loop runs again on its memory, and which arrays were
        accessed since its last run.
        """
        memory = set(named.values())
        if not self.accessed_by.setdefault(loop, set()).isdisjoint(memory):
            self.notes.repeats.add(loop)
        last_touches = [self.touched[place].turn for place in memory if place in self.touched]
        between: dict[Place, tuple[Span, str]] = {}
        for place, last in reversed(self.touched.items()):
            if not last_touches or last.turn < min(last_touches):
                break
            # Arrays that are accessed together in one pass also lie in between.
            if place not in memory and last.loop is not None:
                between[place] = last.loop, last.name
        known = self.notes.steady_between if self.second_pass else self.notes.between
        if len(between) > len(known.get(loop, {})):
            known[loop] = between

    def _earlier_use(self, name: str, memory: Place, loop: Span) -> Before:
        writer = self.last.get(memory)
        since = tuple(self.since.get(memory, ()))
        if writer is None or not writer.known:
            return Before(since=since)
        # Swapped pointers give a block another name. The loop then accessed other parts of it.
        same_name = self.used.get(loop, {}).get(memory) == name
        if writer.turn < self.last_run.get(loop, 0) and same_name:
            return Before(since=since)
        if writer.loop is None:
            return Before(serial=True, since=since)
        return Before(last=(writer.loop, writer.name), since=since)

    def _record_access(self, memory: Place, touch: _Writer) -> None:
        self.touched.pop(memory, None)
        self.touched[memory] = touch

    # -- calls ----------------------------------------------------------------------------------

    def _apply_call(self, event: CallEvent, frame: _Frame, state: _ExecutionState) -> None:
        result = self._memory_at(event.result, frame)
        name = event.function
        flow = self.callees.of(frame.flow, name, event.file)
        if flow is not None:
            if name in self.stack or len(self.stack) > _MAX_DEPTH:
                return
            free = self.free.of(flow)
            if (
                free is not None and not free.returns and free.functions.isdisjoint(self.stack)
                and len(self.stack) + free.depth <= _MAX_DEPTH
            ):  # fmt: skip
                self.left -= free.events
                self.pointers.point(result, self._allocated_block(event, state))
                return
        arguments = [
            None if argument is None else self._memory_at(argument, frame)
            for argument in event.arguments
        ]
        if flow is not None:
            struct_arguments = [(at, self._memory_at(place, frame)) for at, place in event.values]
            inside = state if state.at is None else replace(state, at=None)
            called = frame.flow.function, event.span
            inner = self._simulate_call(flow, arguments, inside, struct_arguments, called)
            if inner.result is not None and inner.by_value:
                self.pointers.copy(result, inner.result)
            else:
                self.pointers.point(result, inner.result or self._allocated_block(event, state))
            return
        self.pointers.point(result, self._allocated_block(event, state))
        if name in FILLS:
            if FILLS[name] < len(arguments) and (to := arguments[FILLS[name]]) is not None:
                self._apply_write(to, f"{name}()", event.span, frame, state, sure=True)
                self.pointers.point(result, to)
        elif name == FILLED_CONTAINER:
            self._apply_write(self.pointers.target(result), "its constructor", event.span, frame,
                              state, sure=True)  # fmt: skip
        elif name == "realloc" and arguments and arguments[0] is not None:
            self.pointers.point(result, arguments[0])
        elif name == "posix_memalign" and arguments and arguments[0] is not None:
            self.pointers.point(arguments[0], self._allocated_block(event, state))
        elif name not in NEW and name not in HARMLESS:
            why = f"whether {name or 'a function called through a pointer'}() writes it is unknown"
            for argument in arguments:
                if argument is not None:
                    self.doubts.setdefault(self._block_with_pages(argument), why)
            self.doubts[self.pointers.target(result)] = why

    def _allocated_block(self, event: CallEvent, state: _ExecutionState) -> Place:
        """Returns the memory that a call allocates. Each call allocates a separate block."""
        block = (f"new {event.function}#{next(self.blocks)}",)
        self.conditions_around[block] = state.branches
        return block

    # -- memory ---------------------------------------------------------------------------------

    def _memory_at(self, place: Place, frame: _Frame) -> Place:
        """Returns the memory block that an access path currently refers to."""
        here: Place = (place[0] if place[0].startswith("::") else f"{frame.number}:{place[0]}",)
        for step in place[1:]:
            here = self.pointers.target(here) if step == "*" else (*here, step)
            if len(here) > _MAX_DEPTH:
                return here[:_MAX_DEPTH]
        return here

    @staticmethod
    def _block_with_pages(place: Place) -> Place:
        """Returns the block whose pages contain a memory location. Struct members share the block
        of their array of structs.
        """
        while place[-1].startswith("[]."):
            place = place[:-1]
        return place

    def _is_first_access_known(self, memory: Place) -> bool:
        """Whether no write before the simulation is possible."""
        if memory[0].startswith("new "):
            return True
        return "*" not in memory and (self.from_main or not memory[0].startswith("::"))

    def _apply_write(
        self,
        place: Place,
        written_by: str,
        span: Span,
        frame: _Frame,
        state: _ExecutionState,
        *,
        sure: bool,
    ) -> None:
        memory = self._block_with_pages(place)
        known = state.mode == "serial" or self.share is not None
        name = self.names.get((self.share, memory), "") if self.share is not None else ""
        self.last[memory] = _Writer(self.turn, self.share, name, known and sure)
        if self.share is None:
            self._record_access(memory, self.last[memory])
        self.since.pop(memory, None)
        if memory in self.first:
            return
        kind = "serial" if state.mode == "serial" else "parallel"
        who = {"serial": f"{written_by} of one thread", "team": f"{written_by} of all threads"}
        how = f"first written by {who.get(state.mode, 'all threads')} at {span.short}"
        how += f" in {frame.flow.function}()"
        if frame.called is not None:
            caller, call = frame.called
            how += f"; {caller}() calls {frame.flow.function}() at {call.short}"
        # If the same condition surrounds the allocation and the write, the write is certain.
        happens = state.branches <= self.conditions_around.get(memory[:1], 0)
        happens = happens and state.mode != "team" and memory not in self.doubts
        happens = happens and self._is_first_access_known(memory)
        self.first[memory] = FirstWrite(kind, how, sure and happens, span, happens)
