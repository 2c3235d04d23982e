"""The tasks that the programs beside this file imply, from their definitions and not from a run.

A tree of tasks is `()` for a task without children, else its children's trees in the order in which
they are made. Programs with dependences give (reads, writes) of each task, in that order.
"""

from __future__ import annotations

from itertools import combinations

Tree = tuple["Tree", ...]
Access = tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]


def fibonacci(n: int, cutoff: int) -> Tree:
    """What one call creates: two calls, if n is above the cutoff."""
    if n < 2 or n <= cutoff:
        return ()
    return (fibonacci(n - 1, cutoff), fibonacci(n - 2, cutoff))


def nqueens(size: int, depth: int, placed: tuple[int, ...] = ()) -> Tree:
    if len(placed) >= min(size, depth):
        return ()
    safe = [
        column
        for column in range(size)
        if all(
            column != other and abs(column - other) != len(placed) - row
            for row, other in enumerate(placed)
        )
    ]
    return tuple(nqueens(size, depth, (*placed, column)) for column in safe)


def halves(n: int, cutoff: int) -> Tree:
    """Merge sort and FFT: two halves above the cutoff."""
    if n <= cutoff:
        return ()
    return (halves(n // 2, cutoff), halves(n - n // 2, cutoff))


def strassen(n: int, cutoff: int) -> Tree:
    if n <= cutoff:
        return ()
    return (strassen(n // 2, cutoff),) * 7


def cholesky(blocks: int) -> list[Access]:
    tasks = []
    for k in range(blocks):
        tasks.append(touch([], (k, k)))
        tasks += [touch([(k, k)], (i, k)) for i in range(k + 1, blocks)]
        tasks += [
            touch([(i, k), (j, k)], (i, j))
            for i in range(k + 1, blocks)
            for j in range(k + 1, i + 1)
        ]
    return tasks


def sparse_lu(blocks: int) -> list[Access]:
    there = {
        (i, j)
        for i in range(blocks)
        for j in range(blocks)
        if i == j or (i + 2 * j) % 3 == 0 or abs(i - j) == 1
    }
    tasks = []
    for k in range(blocks):
        tasks.append(touch([], (k, k)))
        tasks += [touch([(k, k)], (k, j)) for j in range(k + 1, blocks) if (k, j) in there]
        tasks += [touch([(k, k)], (i, k)) for i in range(k + 1, blocks) if (i, k) in there]
        for i in range(k + 1, blocks):
            for j in range(k + 1, blocks):
                if (i, k) in there and (k, j) in there:
                    there.add((i, j))
                    tasks.append(touch([(i, k), (k, j)], (i, j)))
    return tasks


def touch(reads: list[tuple[int, int]], writes: tuple[int, int]) -> Access:
    """One task, which also reads what it writes."""
    return frozenset(reads), frozenset([writes])


def dependence_edges(tasks: list[Access]) -> set[tuple[int, int]]:
    """Pairs of tasks that touch the same block, one of them writing, with no other such task on
    that block between them: what the order of the accesses to each block implies directly."""
    edges = set()
    for first, second in combinations(range(len(tasks)), 2):
        for block in (tasks[first][0] | tasks[first][1]) & (tasks[second][0] | tasks[second][1]):
            first_writes, second_writes = block in tasks[first][1], block in tasks[second][1]
            if not (first_writes or second_writes):
                continue
            between = tasks[first + 1 : second]
            if any(block in writes for _, writes in between):
                continue
            if first_writes and second_writes and any(block in reads for reads, _ in between):
                continue
            edges.add((first, second))
    return edges
