"""Tests whether loop bounds that contain the thread number distribute a range of iterations among
the threads.

    for (i = t * n / p; i < (t + 1) * n / p; i++)    [0, n) in blocks:   schedule(static)
    for (i = t; i < n; i += p)                       [0, n) cyclically:  schedule(static, 1)
    for (i = 0; i < count; i++) a[first + i] = 0;    in blocks, if the subscripts are
    for (i = 0; i < n; i++)                          the same range in every thread: no partition

Bounds are expressions of the thread number, the number of threads and the program's names. The
ranges of all threads are enumerated for several numbers of threads and several values of the names.
Each iteration must belong to exactly one thread, and all threads together must cover the serial
range. With `n / p` iterations per thread, a remainder would be omitted. Therefore `n` is assumed to
be a multiple of `p`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from regionpredict.frontend.lowering.invariant_values import with_values_in_loop
from regionpredict.ir import Expr, Loop
from regionpredict.ir.expr import ZERO, Atom
from regionpredict.ir.folding import Number
from regionpredict.ir.region import THREAD_NUMBER, statements_in

TEAM = "omp_get_num_threads()"

_TRIAL_THREADS = (2, 3, 4, 5, 7, 8)  # threads
_TRIALS = 24  # number of value assignments to the names, for arbitrary values and for multiples
_LEAST_USABLE_TRIALS = 3  # minimum number of trials with enough iterations per thread
_MULTIPLE = 840  # a common multiple of all _TRIAL_THREADS
_MOST_IMBALANCE = 1.25  # maximum ratio of the longest block to the mean block for schedule(static)


class ThreadBounds(NamedTuple):
    """The header of a loop in terms of `THREAD_NUMBER`, `TEAM` and the program's names."""

    start: Expr
    comparison: str
    bound: Expr
    step: Expr

    @property
    def names(self) -> frozenset[str]:
        """The names in the start, bound and step."""
        return self.start.names | self.bound.names | self.step.names

    @property
    def exponents(self) -> frozenset[str]:
        """The names in exponents, such as `k` in `n >> k`."""
        parts = (self.start, self.bound, self.step)
        atoms = (atom for part in parts for atom in part.atoms() if atom.kind == "exp2")
        return frozenset().union(*(atom.names for atom in atoms))

    def with_replacements(self, bindings: Mapping[str, Expr]) -> ThreadBounds:
        """Returns the header with names replaced and expressions simplified."""
        start, bound, step = (
            simplify_conditionals(part.substitute(bindings))
            for part in (self.start, self.bound, self.step)
        )
        return ThreadBounds(start, self.comparison, bound, step)

    def shifted(self, distance: Expr) -> ThreadBounds:
        """Returns the header after adding `distance` to the loop variable."""
        return self._replace(start=self.start + distance, bound=self.bound + distance)


class Partition(NamedTuple):
    """The schedule (`static` or `static,1`) that distributes the serial range `whole`."""

    whole: ThreadBounds
    schedule: str


def partition_of(bounds: ThreadBounds, team: int | None = None) -> Partition | None:
    """Returns the range that the threads share, and its schedule. Returns None if the bounds are
    not a partition.

    `team` is the number of threads if it is constant in the source.
    """
    teams = _TRIAL_THREADS if team is None else (team,)
    whole = _serial_range(bounds, team)
    if THREAD_NUMBER not in bounds.names or whole is None or {THREAD_NUMBER, TEAM} & whole.names:
        return None
    for multiple in (1, _MULTIPLE):
        names = sorted(bounds.names - {THREAD_NUMBER, TEAM})
        trials = list(_trial_bindings(names, multiple, bounds.exponents))
        schedules_of_trials = [
            _schedule_at(bounds, whole, threads, bindings)
            for bindings in trials
            for threads in teams
        ]
        schedules = {schedule for schedule in schedules_of_trials if schedule is not None}
        needed = min(_LEAST_USABLE_TRIALS, len(trials)) * len(teams)
        enough = sum(schedule is not None for schedule in schedules_of_trials) >= needed
        if enough and len(schedules) == 1 and schedules <= {"static", "static,1"}:
            return Partition(whole, schedules.pop())
    return None


def shared_loop(
    loop: Loop, bindings: Mapping[str, Expr], team: int | None = None
) -> tuple[Loop, Partition] | None:
    """Returns a loop and the partition of its iterations. Returns None if the threads do not share
    the loop.

    `bindings` gives the names in the header in terms of `THREAD_NUMBER` and `TEAM`. A loop such as
    `for (i = 0; i < count; i++) a[first + i] = 0;` is shifted, so that it counts from `first`.
    """
    written = thread_bounds(loop)
    if written is None:
        return None
    for offset in (ZERO, *_thread_offsets(loop)):
        bounds = written.shifted(offset)
        partition = partition_of(bounds.with_replacements(bindings), team)
        if partition is not None:
            here = Expr.name(loop.variable) - offset
            moved = with_values_in_loop(loop, {loop.variable: here}) if offset.terms else loop
            return replace(moved, start=bounds.start, bound=bounds.bound), partition
    return None


def thread_bounds(loop: Loop) -> ThreadBounds | None:
    """Returns the header of a loop. Returns None if start, bound or step is unknown."""
    if loop.start is None or loop.bound is None or loop.step is None:
        return None
    return ThreadBounds(loop.start, loop.comparison, loop.bound, loop.step)


def _thread_offsets(loop: Loop) -> list[Expr]:
    """Returns the terms with the thread number that subscripts add to the loop variable."""
    offsets = {
        offset
        for statement in statements_in(loop.body)
        for access in statement.accesses
        for subscript in access.subscripts
        if (offset := _thread_offset(subscript, loop.variable)) is not None
    }
    return sorted(offsets, key=str)


def _thread_offset(subscript: Expr, variable: str) -> Expr | None:
    """Returns the offset `first` in `(first + i)*width + j`.

    >>> first, i, j = Expr.name(THREAD_NUMBER) * 8, Expr.name("i"), Expr.name("j")
    >>> str(_thread_offset((first + i) * Expr.name("width") + j, "i"))
    '8*omp_get_thread_num()'
    """
    width = subscript.coefficient(variable)
    of_thread = subscript - subscript.without((THREAD_NUMBER,))
    return of_thread.divided(width) if width is not None and of_thread.terms else None


def _serial_range(bounds: ThreadBounds, team: int | None) -> ThreadBounds | None:
    """Returns the iteration range of one thread that runs alone. For a constant number of threads,
    it extends from the first thread's start to the last thread's end.
    """
    first = bounds.with_replacements({THREAD_NUMBER: Expr.const(0), TEAM: Expr.const(team or 1)})
    if team is None:
        return first
    last = bounds.with_replacements({THREAD_NUMBER: Expr.const(team - 1), TEAM: Expr.const(team)})
    second = bounds.with_replacements({THREAD_NUMBER: Expr.const(1), TEAM: Expr.const(team)})
    between = (second.start - first.start).constant
    step = first.step.constant
    if isinstance(between, int) and isinstance(step, int) and between and step == between * team:
        return ThreadBounds(first.start, bounds.comparison, last.bound, Expr.const(between))
    return ThreadBounds(first.start, bounds.comparison, last.bound, first.step)


def _trial_bindings(
    names: Sequence[str], multiple: int, exponents: Collection[str]
) -> Iterator[dict[str, Number]]:
    """Yields reproducible pseudo-random values for the names, all multiples of `multiple` except
    those of `exponents`, which are small.
    """
    draw = Random(0)
    for _ in range(_TRIALS if names else 1):
        if multiple > 1:
            values = {name: multiple * draw.randint(1, 4) for name in names}
        else:
            values = {name: draw.choice((draw.randint(1, 9), draw.randint(40, 999)))
                      for name in names}  # fmt: skip
        yield {**values, **{name: draw.randint(0, 3) for name in names if name in exponents}}


def _schedule_at(
    bounds: ThreadBounds, whole: ThreadBounds, threads: int, bindings: Mapping[str, Number]
) -> str | None:
    """Returns the schedule for these values: 'static', 'static,1', or 'other' for an unknown one.
    Returns None if there are too few iterations.
    """
    everything = _iteration_range(whole, bindings)
    parts = [
        _iteration_range(bounds, {**bindings, THREAD_NUMBER: at, TEAM: threads})
        for at in range(threads)
    ]
    if everything is None or None in parts:
        return "other"
    if len(everything) < 2 * threads:
        return None
    if all(part == everything[at::threads] for at, part in enumerate(parts)):
        return "static,1"
    blocks = [part for part in parts if part]
    even = max(map(len, blocks), default=0) <= _MOST_IMBALANCE * len(everything) / threads + threads
    return "static" if even and _are_blocks(blocks, everything) else "other"


def _are_blocks(parts: Sequence[range], everything: range) -> bool:
    """Returns whether the parts divide all iterations into contiguous blocks, in any order."""
    end = 0
    for part in sorted(parts, key=lambda part: (part[0] - everything.start) * everything.step):
        if part != everything[end : end + len(part)]:
            return False
        end += len(part)
    return end == len(everything)


def _iteration_range(bounds: ThreadBounds, bindings: Mapping[str, Number]) -> range | None:
    """Returns the values of the loop variable as a range. Returns None if they are unknown."""
    numbers = [part.evaluate(bindings) for part in (bounds.start, bounds.bound, bounds.step)]
    if any(not isinstance(number, int) for number in numbers):
        return None
    start, bound, step = (int(number) for number in numbers if number is not None)
    upward = {"<": True, "<=": True, ">": False, ">=": False}.get(bounds.comparison, step > 0)
    if not step or (step > 0) != upward:
        return None
    if bounds.comparison in ("<=", ">="):
        bound += 1 if step > 0 else -1
    if bounds.comparison == "!=" and (bound - start) % step:
        return None
    return range(start, bound, step)


def simplify_conditionals(expression: Expr) -> Expr:
    """Simplifies conditional expressions with constant conditions: `n < n ? a : b` is `b`, and
    `min(n, n - 1)` is `n - 1`.

    >>> n = Expr.name("n")
    >>> str(simplify_conditionals(Expr.atom("select", Expr.atom("lt", n, n - 1), n, n - 2)))
    'n - 2'
    """
    return expression.replace_atoms(_simplified_atom)


def _simplified_atom(atom: Atom) -> Expr | None:
    args = tuple(simplify_conditionals(arg) for arg in atom.args)
    if atom.kind == "mod" and args[1] == 1:
        return Expr.const(0)
    if atom.kind == "select":
        test = args[0].constant
        if args[1] == args[2] or test:
            return args[1]
        if test == 0:
            return args[2]
    if atom.kind in ("lt", "le", "eq", "ne", "min", "max"):
        distance = (args[1] - args[0]).constant
        if distance is not None:
            if atom.kind in ("min", "max"):
                return args[0] if (distance >= 0) == (atom.kind == "min") else args[1]
            return Expr.atom(atom.kind, Expr.const(0), Expr.const(distance))
    return Expr.atom(atom.kind, *args, label=atom.label, over=atom.over) if args else None
