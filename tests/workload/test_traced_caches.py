"""Random traces of references, against caches that hold lists of lines."""

from __future__ import annotations

import random
from collections import Counter
from itertools import zip_longest

import numpy as np
import pytest
from further_cases import further_slow

from regionpredict.workload.reference_trace import ReferenceTrace
from regionpredict.workload.traced_traffic import TracedTraffic, thread_of_iterations

LINE = 64
ARRAYS = ("a", "b", "c")
Reference = tuple[int, int, int, bool, bool]
"""Iteration, array, byte, whether it is written, and whether each thread has its own array."""
Moved = dict[str, tuple[float, float]]
"""Lines brought in and written back, by array."""


def trace_of(references: list[Reference], iterations: int, *, aligned: bool) -> ReferenceTrace:
    iteration, array, byte, written, private = zip(*references, strict=True)
    return ReferenceTrace(
        iterations, ARRAYS, np.array(iteration), np.array(array), np.array(byte),
        np.array(written), np.array(private), (aligned,) * len(ARRAYS),
    )  # fmt: skip


def moved_by_lists(
    references: list[Reference], owner: list[int], sharers: int, held: float, begin: int
) -> tuple[Counter[str], Counter[str]]:
    """Lines that caches read and write back; arrays begin at a byte of a line."""
    read, back = Counter[str](), Counter[str]()
    by_thread: dict[int, list[Reference]] = {}
    for reference in references:
        by_thread.setdefault(owner[reference[0]], []).append(reference)
    for first in range(0, max(owner) + 1, sharers):
        team = range(first, first + sharers)
        lines: list[tuple[int, int, int]] = []  # array, thread or -1, line: the oldest first
        dirty: set[tuple[int, int, int]] = set()
        for turn in zip_longest(*[by_thread.get(thread, []) for thread in team]):
            for thread, reference in zip(team, turn, strict=True):
                if reference is None:
                    continue
                _, array, byte, written, private = reference
                line = (array, thread if private else -1, (byte + begin) // LINE)
                if line in lines:
                    lines.remove(line)
                else:
                    read[ARRAYS[array]] += 1
                lines.append(line)
                if written:
                    dirty.add(line)
                while len(lines) > max(1, int(held)):
                    gone = lines.pop(0)
                    back[ARRAYS[gone[0]]] += gone in dirty
                    dirty.discard(gone)
        back.update(ARRAYS[line[0]] for line in dirty)
    return read, back


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("seed", further_slow(25, range(60)))
def test_as_caches_that_are_lists(seed: int, aligned: bool) -> None:
    choose = random.Random(seed)
    iterations = choose.randint(1, 14)
    far = choose.choice([100, 400, 2000])
    private = [choose.random() < 0.3 for _ in ARRAYS]
    references = []
    for iteration in range(iterations):
        for _ in range(choose.randint(0, 12)):
            array = choose.randrange(len(ARRAYS))
            # Some stand before the array's begin, as a stencil's may.
            byte = 8 * (choose.randint(-20, far) // 8)
            references.append((iteration, array, byte, choose.random() < 0.3, private[array]))
    references.append((iterations - 1, 2, 0, True, private[2]))
    threads, sharers = choose.randint(1, 5), choose.randint(1, 4)
    chunk = choose.choice([None, 1, 2, 3])
    owner = thread_of_iterations(iterations, threads, chunk).tolist()
    traffic = TracedTraffic(trace_of(references, iterations, aligned=aligned), LINE)
    begins = [0] if aligned else [0, 16, 32, 48]
    for held in (0.5, 1.0, 2.9, 7.0, 20.0, 1000.0):
        expected: Moved = dict.fromkeys(ARRAYS, (0.0, 0.0))
        for begin in begins:
            read, back = moved_by_lists(references, owner, sharers, held, begin)
            for name in ARRAYS:
                so_far = expected[name]
                expected[name] = so_far[0] + read[name], so_far[1] + back[name]
        counted = traffic.volume(threads, sharers, chunk, held)
        assert counted == {
            name: (read / len(begins), back / len(begins))
            for name, (read, back) in expected.items()
        }


@pytest.mark.parametrize(
    ("iterations", "threads", "chunk"),
    [(1, 3, None), (7, 3, None), (8, 3, None), (9, 3, None), (2, 5, None), (10, 4, 3), (5, 2, 9)],
)
def test_iterations_are_dealt_out(iterations: int, threads: int, chunk: int | None) -> None:
    """Blocks whose lengths differ by one at most, the longer first; or chunks like cards."""
    owners: list[int] = []
    if chunk is None:
        for thread in range(threads):
            owners += [thread] * len(range(thread, iterations, threads))
    else:
        while len(owners) < iterations:
            owners += [len(owners) // chunk % threads] * chunk
    assert thread_of_iterations(iterations, threads, chunk).tolist() == owners[:iterations]
