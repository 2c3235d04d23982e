"""Replaces calls of lock functions by the constructs of OpenMP: `critical`, `atomic` and `barrier`.

omp_set_lock(&lk);            critical
tot += d;                is     tot += d
omp_unset_lock(&lk);

`__sync_fetch_and_add(&c, 1)` is an `atomic` update of `c`. If each iteration selects its lock, as
in `lock[idx[i]]`, only iterations with the same lock wait for each other. Such a lock costs an
atomic update of its element, and the guarded code runs in parallel. A function with a hidden lock
becomes a critical section.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.ir import (
    Access,
    Branch,
    Call,
    Expr,
    Loop,
    Node,
    Operation,
    Region,
    Statement,
    Synchronisation,
)
from regionpredict.library.functions import (
    BARRIERS,
    LOCK_CALLS,
    STREAMS,
    hides_lock,
    is_atomic,
    is_synchronisation,
    swaps,
)

_Lock = tuple[str, tuple[Expr, ...], str]
_ROOT = re.compile(r"\w+'*")


def with_critical_sections(region: Region) -> Region:
    """Replaces the code between lock and unlock by `critical` constructs."""
    if region.nest is None or not any(
        call.place is not None or is_synchronisation(call.name) or hides_lock(call.name)
        for statement, _ in region.statements() for call in statement.calls
    ):  # fmt: skip
        return region
    sections = _Sections(region)
    nest = replace(region.nest, body=sections.of(region.nest.body, perhaps=False))
    notes = (n for n in region.diagnostics if (n.id, n.span) not in sections.spins)
    return replace(region, nest=nest, diagnostics=tuple(notes))


class _LockCall(NamedTuple):
    """A lock that a node acquires: the call, and the other effects of its statement."""

    call: Call
    lock: Access
    rest: Statement


class _Sections:
    """The constructs of one region."""

    def __init__(self, region: Region) -> None:
        self._memory = {array.name for array in region.arrays}
        self.spins: set[tuple[str, object]] = set()
        self._moving = {loop.variable for loop in region.loops()}
        self._moving |= {name for statement, _ in region.statements() for name in statement.writes}

    def of(self, nodes: Sequence[Node], *, perhaps: bool) -> tuple[Node, ...]:
        """The nodes, in which constructs replace calls. `perhaps` says that they depend on a
        condition.
        """
        made: list[Node] = []
        at = 0
        while at < len(nodes):
            taken = self._acquired_lock(nodes[at])
            end = _released(nodes, at, taken) if taken is not None else None
            if taken is None or end is None:
                made += self._single(nodes[at], perhaps=perhaps)
                at += 1
                continue
            inside = _without_release(nodes[at + 1 : end + 1], taken.lock)
            made += self._section(taken, self.of(inside, perhaps=perhaps))
            at = end + 1
        return tuple(made)

    def _single(self, node: Node, *, perhaps: bool) -> list[Node]:
        """A node that does not start a critical section."""
        if isinstance(node, Statement):
            return list(_with_waiting_calls(node, self._memory, perhaps=perhaps))
        if isinstance(node, Branch):
            sides = tuple(self.of(side, perhaps=True) for side in node.sides)
            return [replace(node, sides=sides)]
        if isinstance(node, Loop) and _retries(node):
            # It usually succeeds at once. The update includes the wait for the line.
            self.spins.add(("RP105", node.span))
            return list(self.of(node.body, perhaps=perhaps))
        return [replace(node, body=self.of(node.body, perhaps=perhaps))]

    def _section(self, taken: _LockCall, body: tuple[Node, ...]) -> list[Node]:
        """The protected nodes as a construct."""
        if not self._is_selected_lock(taken.lock):
            before = [taken.rest] if _has_effect(taken.rest) else []
            return [*before, Synchronisation("critical", body, taken.call.span, taken.lock.text)]
        write = taken.rest._replace(accesses=(*taken.rest.accesses, taken.lock))
        update = Synchronisation("atomic", (write,), taken.call.span)
        return [Synchronisation("lock", (update, *body), taken.call.span)]

    def _is_selected_lock(self, lock: Access) -> bool:
        """Whether different iterations may acquire different locks."""
        if any(any(part.atoms()) or part.names & self._moving for part in lock.subscripts):
            return True
        root = _ROOT.search(lock.array)
        return root is not None and root.group() in self._moving

    def _acquired_lock(self, node: Node) -> _LockCall | None:
        """The lock that a node acquires, either by a call or by a loop that tries until it
        succeeds.
        """
        if isinstance(node, Loop):
            if node.trips is not None or len(node.body) != 1:
                return None
            taken = self._acquired_lock(node.body[0])
            if taken is not None and _action(taken.call) == "try":
                self.spins.add(("RP105", node.span))
                return taken
            return None
        if not isinstance(node, Statement):
            return None
        for call in node.calls:
            if call.place is not None and _action(call) in ("take", "try"):
                return _LockCall(call, call.place, _without_call(node, call))
        return None


def _retries(loop: Loop) -> bool:
    """Whether a loop repeats an update until no other thread interferes."""
    return loop.trips is None and any(
        swaps(call.name) and call.place is not None
        for node in loop.body if isinstance(node, Statement) for call in node.calls
    )  # fmt: skip


def _action(call: Call) -> str:
    known = LOCK_CALLS.get(call.name)
    return known.action if known is not None else ""


def _key(lock: Access) -> _Lock:
    return lock.array, lock.subscripts, lock.member


def _released(nodes: Sequence[Node], at: int, taken: _LockCall) -> int | None:
    """The end of the section that starts at a node. None if the lock is not released.

    If only one branch of a condition releases the lock, the section ends where the other branch
    releases it.
    """
    last = None
    for position in range(at + 1, len(nodes)):
        node = nodes[position]
        if last is not None and _takes(node, taken.lock):
            return last
        if _releases(node, taken.lock):
            last = position
            if not isinstance(node, Branch) or _on_all_sides(node, taken.lock):
                return position
    return last


def _takes(node: Node, lock: Access) -> bool:
    return any(
        _action(call) in ("take", "try")
        and call.place is not None
        and _key(call.place) == _key(lock)
        for call in _calls_in(node)
    )


def _on_all_sides(branch: Branch, lock: Access) -> bool:
    sides = [any(_releases(node, lock) for node in side) for side in branch.sides]
    return len(sides) > 1 and all(sides)


def _releases(node: Node, lock: Access) -> bool:
    return any(_is_release(call, lock) for call in _calls_in(node))


def _is_release(call: Call, lock: Access) -> bool:
    return _action(call) == "release" and call.place is not None and _key(call.place) == _key(lock)


def _calls_in(node: Node) -> Iterator[Call]:
    if isinstance(node, Statement):
        yield from node.calls
        return
    for inner in _inside(node):
        yield from _calls_in(inner)


def _inside(node: Loop | Branch | Synchronisation) -> Iterator[Node]:
    if isinstance(node, Branch):
        for side in node.sides:
            yield from side
    else:
        yield from node.body


def _without_release(nodes: Sequence[Node], lock: Access) -> tuple[Node, ...]:
    """The nodes without the calls that release the lock."""
    left: list[Node] = []
    for node in nodes:
        if isinstance(node, Statement):
            calls = [call for call in node.calls if _is_release(call, lock)]
            rest = node
            for call in calls:
                rest = _without_call(rest, call)
            if not calls or _has_effect(rest):
                left.append(rest)
        elif isinstance(node, Branch):
            sides = tuple(_without_release(side, lock) for side in node.sides)
            left.append(replace(node, sides=sides))
        else:
            left.append(replace(node, body=_without_release(node.body, lock)))
    return tuple(left)


def _with_waiting_calls(
    statement: Statement, memory: Collection[str], *, perhaps: bool
) -> Iterator[Node]:
    """The statement, preceded by those of its calls that make threads wait.

    `memory` are the arrays. Any other operand is a variable. Output in a branch is assumed to be a
    rare message.
    """
    rest = statement
    for call in statement.calls:
        if call.name in BARRIERS:
            rest = _without_call(rest, call)
            yield Synchronisation("barrier", (), call.span)
        elif _action(call) == "release":  # the acquisition counts for both
            rest = _without_call(rest, call)
        elif is_atomic(call.name) and call.place is not None:
            rest = _without_call(rest, call)
            yield Synchronisation("atomic", (_update(call, call.place, memory),), call.span)
        elif _waits(call, perhaps=perhaps):
            rest = _without_call(rest, call)
            own = Statement(
                f"{call.name}()", call.span, ((_operation(statement, call), 1),), (), (call,),
                role="call",
            )  # fmt: skip
            yield Synchronisation("critical", (own,), call.span, call.name)
    if rest is statement or _has_effect(rest):
        yield rest


def _update(call: Call, place: Access, memory: Collection[str]) -> Statement:
    """An atomic update of an element or of a variable."""
    work = ((Operation("int_add", 8 * place.bytes), 1),)
    if place.array in memory:
        accesses = (place._replace(kind="read"), place)
        return Statement(f"{call.name}({place.text})", call.span, work, accesses)
    name = frozenset((place.array.lstrip("&"),))
    return Statement(f"{call.name}({place.text})", call.span, work, (), reads=name, writes=name)


def _waits(call: Call, *, perhaps: bool) -> bool:
    """Whether threads queue for the lock of a call."""
    if call.name in STREAMS:
        return not perhaps
    return hides_lock(call.name) or _action(call) == "take"


def _without_call(statement: Statement, call: Call) -> Statement:
    """The statement without one call and its cost."""
    gone = _operation(statement, call)
    operations = tuple(
        (operation, count - (operation == gone)) for operation, count in statement.operations
    )
    calls = list(statement.calls)
    calls.remove(call)
    return statement._replace(
        operations=tuple(pair for pair in operations if pair[1] > 0), calls=tuple(calls)
    )


def _operation(statement: Statement, call: Call) -> Operation:
    kind = f"call:{call.name}"
    return next(operation for operation, _ in statement.operations if operation.kind == kind)


def _has_effect(statement: Statement) -> bool:
    return bool(statement.operations or statement.accesses or statement.writes or statement.calls)
