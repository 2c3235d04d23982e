"""Traffic of a nest in numbers, by running it: every reference of every thread, LRU caches.

Threads that share a cache take turns, access by access; each has its contiguous piece of the
parallel loop, as `schedule(static)` deals it, or every so many iterations with a chunk. Caches are
fully associative, write-allocate and write-back, empty at first and flushed at the end. Arrays
begin at every element of a line in turn; what is given is the mean.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from regionpredict.workload.loop_nest import LoopNest, NestLoop

Access = tuple[str, float, bool]
"""(array, byte, whether it is written); private arrays have the thread in their name."""
Counted = dict[str, tuple[float, float]]
"""By array: bytes brought in, bytes written back."""


def values_of(loop: NestLoop, env: Mapping[str, float]) -> list[int]:
    assert loop.first is not None and loop.limit is not None
    first, limit = loop.first.at(env), loop.limit.at(env)
    return list(range(round(first), math.ceil(limit) if loop.step > 0 else round(limit), loop.step))


def accesses(loop: NestLoop, env: dict[str, float], thread: int) -> Iterator[Access]:
    """The references of one iteration of `loop`, whose variable is in `env`."""
    for group in loop.groups:
        name = f"{group.array}/{thread}" if group.private else group.array
        place = sum(slope * env[variable] for variable, slope in group.slopes.items())
        for offset in group.offsets:
            yield name, place + offset, offset in group.written
    for child in loop.children:
        for value in values_of(child, env):
            yield from accesses(child, {**env, child.variable: value}, thread)


def traces(nest: LoopNest, threads: int, chunk: int | None = None) -> list[list[Access]]:
    """What each thread refers to, in order."""
    root = nest.root
    points: list[tuple[NestLoop, dict[str, float]]] = [
        (root, {root.variable: float(value)}) for value in values_of(root, {})
    ]
    for loop in nest.parallel[1:]:
        points = [
            (loop, {**env, loop.variable: float(value)})
            for _, env in points
            for value in values_of(loop, env)
        ]
    size = chunk or -(-len(points) // threads)
    dealt: list[list[Access]] = [[] for _ in range(threads)]
    for number, (loop, env) in enumerate(points):
        thread = number // size % threads
        dealt[thread] += accesses(loop, env, thread)
    return dealt


def lru(trace: list[Access], lines: int, begin: int, line_bytes: int) -> Counted:
    """One cache of so many lines; arrays begin at a place in a line, and lie far from another."""
    held: OrderedDict[tuple[str, int], bool] = OrderedDict()
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    for array, byte, written in trace:
        line = (array, int(byte + begin) // line_bytes)
        dirty = held.pop(line, None)
        if dirty is None:
            reads[array] = reads.get(array, 0) + 1
            if len(held) >= lines:
                (lost, _), was_dirty = held.popitem(last=False)
                writes[lost] = writes.get(lost, 0) + was_dirty
        held[line] = bool(dirty) or written
    for (array, _), dirty in held.items():
        writes[array] = writes.get(array, 0) + dirty
    return {a: (line_bytes * n, line_bytes * writes.get(a, 0)) for a, n in reads.items()}


def simulated(
    nest: LoopNest, capacity: float, threads: int = 1, sharers: int = 1, *,
    chunk: int | None = None, line_bytes: int = 64, alignments: int = 4,
) -> Counted:  # fmt: skip
    """Bytes below caches of `capacity`, `sharers` threads to one, all caches together."""
    total: dict[str, tuple[float, float]] = {}
    dealt = traces(nest, threads, chunk)
    for first in range(0, threads, sharers):
        turns = zip_longest(*dealt[first : first + sharers])
        trace = [access for turn in turns for access in turn if access is not None]
        for number in range(alignments):
            begin = number * line_bytes // alignments
            lines = max(1, int(capacity // line_bytes))
            for array, (read, written) in lru(trace, lines, begin, line_bytes).items():
                name = array.partition("/")[0]
                before = total.get(name, (0.0, 0.0))
                total[name] = (before[0] + read / alignments, before[1] + written / alignments)
    return total


def stack_distances(
    nest: LoopNest, *, line_bytes: int = 64, alignments: int = 4
) -> dict[int | None, float]:
    """How many references of one thread find their line so many other lines away; None: never used.

    The mean over places of the arrays in a line.
    """
    found: dict[int | None, float] = {}
    (trace,) = traces(nest, 1)
    for number in range(alignments):
        begin = number * line_bytes // alignments
        stack: list[tuple[str, int]] = []
        for array, byte, _ in trace:
            line = (array, int(byte + begin) // line_bytes)
            distance = None
            if line in stack:
                place = stack.index(line)
                distance = len(stack) - 1 - place
                del stack[place]
            stack.append(line)
            found[distance] = found.get(distance, 0.0) + 1 / alignments
    return found
