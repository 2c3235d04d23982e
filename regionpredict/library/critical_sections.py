"""Replaces calls of lock functions by OpenMP constructs: `critical`, `atomic` and `barrier`.

omp_set_lock(&lk);                     critical
tot += d;                becomes           tot += d
omp_unset_lock(&lk);

`__sync_fetch_and_add(&c, 1)` becomes an `atomic` update of `c`. If each iteration selects its lock,
as in `lock[idx[i]]`, only iterations with the same lock wait for each other. Such a lock costs an
atomic update of its element, and the protected code runs in parallel. A function that locks
internally becomes a critical section.
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
    STREAMS,
    action_of,
    hides_lock,
    is_atomic,
    is_synchronisation,
    may_acquire,
    may_release,
    swaps,
)

_LockKey = tuple[str, tuple[Expr, ...], str]
_ROOT = re.compile(r"\w+'*")


def with_critical_sections(region: Region) -> Region:
    """Replaces the code between lock and unlock by `critical` constructs."""
    if region.nest is None or not any(
        call.place is not None or is_synchronisation(call.name) or hides_lock(call.name)
        for statement, _ in region.statements() for call in statement.calls
    ):  # fmt: skip
        return region
    sections = _SectionBuilder(region)
    nest = replace(region.nest, body=sections.replaced(region.nest.body, conditional=False))
    notes = (n for n in region.diagnostics if (n.id, n.span) not in sections.spins)
    return replace(region, nest=nest, diagnostics=tuple(notes))


class _LockCall(NamedTuple):
    """A call that acquires a lock, and its statement without the call."""

    call: Call
    lock: Access
    rest: Statement


class _SectionBuilder:
    """Creates the OpenMP constructs of one region."""

    def __init__(self, region: Region) -> None:
        self._memory = {array.name for array in region.arrays}
        self.spins: set[tuple[str, object]] = set()
        self._moving = {loop.variable for loop in region.loops()}
        self._moving |= {name for statement, _ in region.statements() for name in statement.writes}

    def replaced(self, nodes: Sequence[Node], *, conditional: bool) -> tuple[Node, ...]:
        """Returns the nodes with constructs instead of calls. `conditional` says that a
        condition decides whether the nodes run.
        """
        made: list[Node] = []
        at = 0
        while at < len(nodes):
            acquired = self._acquired_lock(nodes[at])
            end = _end_of_section(nodes, at, acquired) if acquired is not None else None
            if acquired is None or end is None:
                made += self._replaced_node(nodes[at], conditional=conditional)
                at += 1
                continue
            self.spins |= {("RP105", loop.span) for loop in _loops_in(nodes[at])}
            inside = _without_release(nodes[at + 1 : end + 1], acquired.lock)
            made += self._construct(acquired, self.replaced(inside, conditional=conditional))
            at = end + 1
        return tuple(made)

    def _replaced_node(self, node: Node, *, conditional: bool) -> list[Node]:
        """Returns the replacement of a node that does not start a critical section."""
        if isinstance(node, Statement):
            return list(_with_waiting_calls(node, self._memory, conditional=conditional))
        if isinstance(node, Branch):
            sides = tuple(self.replaced(side, conditional=True) for side in node.sides)
            return [replace(node, sides=sides)]
        if isinstance(node, Loop) and _is_retry_loop(node):
            # The update usually succeeds at once. Its cost includes the wait for the cache line.
            self.spins.add(("RP105", node.span))
            return list(self.replaced(node.body, conditional=conditional))
        return [replace(node, body=self.replaced(node.body, conditional=conditional))]

    def _construct(self, acquired: _LockCall, body: tuple[Node, ...]) -> list[Node]:
        """Returns the construct that contains the protected nodes."""
        if action_of(acquired.call.name) == "share":  # readers update the lock, but do not wait
            change = _atomic_update(acquired.call, acquired.lock, self._memory)
            update = Synchronisation("atomic", (change,), acquired.call.span)
            return [update, *body, update]
        if not self._is_selected_lock(acquired.lock):
            before = [acquired.rest] if _has_effect(acquired.rest) else []
            return [
                *before,
                Synchronisation("critical", body, acquired.call.span, acquired.lock.text),
            ]
        write = acquired.rest._replace(accesses=(*acquired.rest.accesses, acquired.lock))
        update = Synchronisation("atomic", (write,), acquired.call.span)
        return [Synchronisation("lock", (update, *body), acquired.call.span)]

    def _is_selected_lock(self, lock: Access) -> bool:
        """Whether different iterations may acquire different locks."""
        if any(any(part.atoms()) or part.names & self._moving for part in lock.subscripts):
            return True
        if lock.array not in self._memory:  # one variable, even if the lock's release sets it
            return False
        root = _ROOT.search(lock.array)
        return root is not None and root.group() in self._moving

    def _acquired_lock(self, node: Node) -> _LockCall | None:
        """Returns the lock that a node acquires by a call, or by a loop that tries until it
        succeeds.
        """
        if isinstance(node, Loop):
            return self._spin_lock(node)
        if not isinstance(node, Statement):
            return None
        for call in node.calls:
            if call.place is not None and action_of(call.name) in ("take", "try", "share"):
                return _LockCall(call, call.place, _without_call(node, call))
        return None

    def _spin_lock(self, loop: Loop) -> _LockCall | None:
        """Returns the lock that a loop acquires, if the loop only repeats attempts."""
        if loop.trips is not None:
            return None
        tries = [call for call in _calls_in(loop) if call.place is not None]
        if not tries or not all(may_acquire(call.name) for call in tries):
            return None
        lock = tries[0].place
        if lock is None or any(call.place is None or _lock_key(call.place) != _lock_key(lock)
                               for call in tries):  # fmt: skip
            return None
        return _LockCall(tries[0], lock, Statement("", loop.span, (), ()))


def _is_retry_loop(loop: Loop) -> bool:
    """Whether a loop repeats an atomic update until no other thread interferes."""
    return loop.trips is None and any(
        swaps(call.name) and call.place is not None
        for node in loop.body if isinstance(node, Statement) for call in node.calls
    )  # fmt: skip


def _lock_key(lock: Access) -> _LockKey:
    return lock.array, lock.subscripts, lock.member


def _end_of_section(nodes: Sequence[Node], at: int, acquired: _LockCall) -> int | None:
    """Returns the index of the last node of the section that starts at a node. None if the lock is
    not released.

    If only one branch of a condition releases the lock, the section ends where the other branch
    releases it.
    """
    last = None
    for position in range(at + 1, len(nodes)):
        node = nodes[position]
        if last is not None and _acquires(node, acquired.lock):
            return last
        if _releases(node, acquired.lock):
            last = position
            if not isinstance(node, Branch) or _all_branches_release(node, acquired.lock):
                return position
    return last


def _acquires(node: Node, lock: Access) -> bool:
    return any(
        action_of(call.name) in ("take", "try")
        and call.place is not None
        and _lock_key(call.place) == _lock_key(lock)
        for call in _calls_in(node)
    )


def _all_branches_release(branch: Branch, lock: Access) -> bool:
    sides = [any(_releases(node, lock) for node in side) for side in branch.sides]
    return len(sides) > 1 and all(sides)


def _releases(node: Node, lock: Access) -> bool:
    return any(_is_release(call, lock) for call in _calls_in(node)) or any(
        _stores(statement, lock) for statement in _statements_in(node)
    )


def _is_release(call: Call, lock: Access) -> bool:
    return (
        may_release(call.name)
        and call.place is not None
        and _lock_key(call.place) == _lock_key(lock)
    )


def _stores(statement: Statement, lock: Access) -> bool:
    """Whether a statement sets the variable of a lock, as in `__sync_synchronize(); lock = 0;`."""
    return lock.array.lstrip("&") in statement.writes or any(
        access.kind == "write" and _lock_key(access) == _lock_key(lock)
        for access in statement.accesses
    )


def _statements_in(node: Node) -> Iterator[Statement]:
    if isinstance(node, Statement):
        yield node
        return
    for inner in _child_nodes(node):
        yield from _statements_in(inner)


def _loops_in(node: Node) -> Iterator[Loop]:
    if isinstance(node, Statement):
        return
    if isinstance(node, Loop):
        yield node
    for inner in _child_nodes(node):
        yield from _loops_in(inner)


def _calls_in(node: Node) -> Iterator[Call]:
    for statement in _statements_in(node):
        yield from statement.calls


def _child_nodes(node: Loop | Branch | Synchronisation) -> Iterator[Node]:
    if isinstance(node, Branch):
        for side in node.sides:
            yield from side
    else:
        yield from node.body


def _without_release(nodes: Sequence[Node], lock: Access) -> tuple[Node, ...]:
    """Returns the nodes without the calls that release the lock."""
    left: list[Node] = []
    for node in nodes:
        if isinstance(node, Statement):
            calls = [call for call in node.calls if _is_release(call, lock)]
            rest = node
            for call in calls:
                rest = _without_call(rest, call)
            if _stores(rest, lock):
                rest = _without_store(rest, lock)
            if rest is node or _has_effect(rest):
                left.append(rest)
        elif isinstance(node, Branch):
            sides = tuple(_without_release(side, lock) for side in node.sides)
            left.append(replace(node, sides=sides))
        else:
            left.append(replace(node, body=_without_release(node.body, lock)))
    return tuple(left)


def _without_store(statement: Statement, lock: Access) -> Statement:
    """The statement without its writes of a lock's variable."""
    return statement._replace(
        writes=statement.writes - {lock.array.lstrip("&")},
        accesses=tuple(
            access for access in statement.accesses
            if access.kind != "write" or _lock_key(access) != _lock_key(lock)
        ),
    )  # fmt: skip


def _with_waiting_calls(
    statement: Statement, memory: Collection[str], *, conditional: bool
) -> Iterator[Node]:
    """Yields the statement, preceded by a construct for each of its calls that makes threads wait.

    `memory` are the names of arrays. Any other operand is a variable. Output in a branch is assumed
    to be a rare message.
    """
    rest = statement
    for call in statement.calls:
        if call.name in BARRIERS:
            rest = _without_call(rest, call)
            yield Synchronisation("barrier", (), call.span)
        elif action_of(call.name) == "release":  # the cost of the acquisition includes the release
            rest = _without_call(rest, call)
        elif call.place is not None and (is_atomic(call.name) or action_of(call.name) == "share"):
            rest = _without_call(rest, call)
            yield Synchronisation("atomic", (_atomic_update(call, call.place, memory),), call.span)
        elif _makes_threads_wait(call, conditional=conditional):
            rest = _without_call(rest, call)
            own = Statement(
                f"{call.name}()", call.span, ((_call_operation(statement, call), 1),), (), (call,),
                role="call",
            )  # fmt: skip
            yield Synchronisation("critical", (own,), call.span, call.name)
    if rest is statement or _has_effect(rest):
        yield rest


def _atomic_update(call: Call, place: Access, memory: Collection[str]) -> Statement:
    """Returns the statement for an atomic update of an element or of a variable."""
    work = ((Operation("int_add", 8 * place.bytes), 1),)
    if place.array in memory:
        accesses = (place._replace(kind="read"), place)
        return Statement(f"{call.name}({place.text})", call.span, work, accesses)
    name = frozenset((place.array.lstrip("&"),))
    return Statement(f"{call.name}({place.text})", call.span, work, (), reads=name, writes=name)


def _makes_threads_wait(call: Call, *, conditional: bool) -> bool:
    """Whether threads queue for the lock of a call."""
    if call.name in STREAMS:
        return not conditional
    return hides_lock(call.name) or action_of(call.name) == "take"


def _without_call(statement: Statement, call: Call) -> Statement:
    """Returns the statement without one call and its cost."""
    removed = _call_operation(statement, call)
    operations = tuple(
        (operation, count - (operation == removed)) for operation, count in statement.operations
    )
    calls = list(statement.calls)
    calls.remove(call)
    return statement._replace(
        operations=tuple(pair for pair in operations if pair[1] > 0), calls=tuple(calls)
    )


def _call_operation(statement: Statement, call: Call) -> Operation:
    kind = f"call:{call.name}"
    return next(operation for operation, _ in statement.operations if operation.kind == kind)


def _has_effect(statement: Statement) -> bool:
    return bool(statement.operations or statement.accesses or statement.writes or statement.calls)
