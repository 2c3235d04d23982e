"""Each program's recorded graph is that of its definition, on one thread and on two."""

from __future__ import annotations

import re

import pytest
from further_cases import further_slow
from program_definitions import (
    cholesky,
    dependence_edges,
    fibonacci,
    halves,
    nqueens,
    sparse_lu,
    strassen,
)
from recorded_shape import creations, depending, edges, explicit, forest, joins

from regionpredict.tasks import measure_graph
from regionpredict.tasks.task_graph import CREATE, DEPENDENCE, IMPLICIT, TASK

pytestmark = pytest.mark.compiler
THREADS = pytest.mark.parametrize("threads", [1, 2])


def count(tree) -> int:
    return len(tree) + sum(map(count, tree))


@THREADS
@pytest.mark.parametrize(
    ("name", "words", "tree"),
    further_slow(
        3,
        [
            ("fibonacci", (10,), fibonacci(10, 1)),
            ("fibonacci", (12, 8), fibonacci(12, 8)),
            ("nqueens", (6,), nqueens(6, 6)),
            ("nqueens", (7, 3), nqueens(7, 3)),
            ("mergesort", (20000, 1000), halves(20000, 1000)),
            ("strassen", (64, 16), strassen(64, 16)),
            ("fft", (1024, 64), halves(1024, 64)),
        ],
    ),
)
def test_trees_of_tasks(record, name, words, tree, threads):
    graph = record(name, *words, threads=threads)
    metrics = measure_graph(graph)
    assert metrics.tasks == count(tree)
    assert forest(graph) == tree
    # Who created a task waits for it, and nobody else does.
    parents = {child: parent for parent, row in creations(graph).items() for child in row}
    assert joins(graph) == sorted(parents.items())
    assert metrics.edge_kinds["dependence"] == 0
    # Beside the tasks' own edges only those to and from the threads of the region.
    assert metrics.edge_kinds["create"] == metrics.tasks + threads
    assert metrics.depth_s <= metrics.work_s
    assert metrics.average_parallelism <= metrics.concurrency.high


@THREADS
@pytest.mark.parametrize(
    ("name", "words", "tasks"),
    [
        ("cholesky", (5, 8), cholesky(5)),
        ("sparse_lu", (6, 8), sparse_lu(6)),
    ],
)
def test_dependences(record, name, words, tasks, threads):
    graph = record(name, *words, threads=threads)
    assert len(explicit(graph)) == len(tasks)
    assert depending(graph) == sorted(dependence_edges(tasks))
    # All are waited for at the barrier behind them.
    assert [waits for _, waits in joins(graph)] == [-1] * len(tasks)
    assert graph.places and all(place.count(":") == 1 for place in graph.places)


def test_tasks_are_told_by_their_lines(record):
    graph = record("cholesky", 4, 8)
    counts = {
        line.place.rpartition("/")[2]: line.count
        for line in measure_graph(graph).lines
        if line.kind == "task"
    }
    # Below a diagonal of 4 blocks: 4 factors, 3 + 2 + 1 solutions, 6 + 3 + 1 products.
    assert sorted(counts.values()) == [4, 6, 10]
    assert all(place.startswith("cholesky.c:") for place in counts)


CONSTRUCTS = """
#include <stdlib.h>
static volatile double sink;
static void work(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
int main(void)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
%s
    }
    return x != 0;
}
"""


def constructs(body: str) -> str:
    return CONSTRUCTS % body


@THREADS
def test_a_taskgroup_waits_for_descendants_a_taskwait_for_children(record, threads):
    text = constructs("""
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                work(1);
                work(1);
            }
        }
#pragma omp task
        {
#pragma omp task
            work(1);
        }
#pragma omp taskwait
    """)
    graph = record("groups", threads=threads, text=text)
    implicit = set(graph.tasks[graph.node_kinds == IMPLICIT].tolist())
    found = joins(graph)
    assert len(found) == 4
    # The group's two, and the child waited for, by the thread; the last one's child by a barrier.
    assert [waits in implicit for _, waits in found].count(True) == 3
    assert [waits for _, waits in found].count(-1) == 1


@THREADS
def test_a_taskloop_is_a_group_of_tasks(record, threads):
    text = constructs("""
#pragma omp taskloop num_tasks(5)
        for (int i = 0; i < 20; i++)
            work(1);
    """)
    graph = record("taskloops", threads=threads, text=text)
    assert len(explicit(graph)) == 5
    implicit = set(graph.tasks[graph.node_kinds == IMPLICIT].tolist())
    assert all(waits in implicit for _, waits in joins(graph))


@THREADS
def test_reads_and_sets_wait_for_writers_alone(record, threads):
    text = constructs("""
#pragma omp task depend(out: x)
        work(1);
#pragma omp task depend(in: x)
        work(1);
#pragma omp task depend(in: x)
        work(1);
#pragma omp task depend(inout: x)
        work(1);
#pragma omp task depend(mutexinoutset: x)
        work(1);
#pragma omp task depend(mutexinoutset: x)
        work(1);
#pragma omp task depend(in: x)
        work(1);
    """)
    graph = record("sets", threads=threads, text=text)
    assert depending(graph) == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]


@THREADS
def test_regions_inside_tasks_and_behind_each_other(record, threads):
    text = """
#include <omp.h>
static volatile double sink;
int main(void)
{
    omp_set_max_active_levels(1);
    for (int k = 0; k < 3; k++) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            {
#pragma omp parallel num_threads(2)
#pragma omp single
                {
#pragma omp task
                    sink += 1;
                }
            }
        }
    }
    return 0;
}
"""
    graph = record("nested", threads=threads, text=text)
    assert len(explicit(graph)) == 6
    # Regions follow each other: three tasks in a row are on the longest chain of edges.
    assert measure_graph(graph).concurrency is not None
    created = edges(graph, CREATE)
    # Tasks, outer threads, and inner ones: a region of one thread leaves the inner one its two.
    assert len(created) == 6 + 3 * threads + 3 * (2 if threads == 1 else 1)
    assert edges(graph, DEPENDENCE) == []


@THREADS
def test_tasks_of_a_taskloop_are_those_of_its_line(record, threads):
    text = constructs("""
#pragma omp taskloop num_tasks(5)
        for (int i = 0; i < 20; i++)
            work(5);
    """)
    graph = record("of_a_line", threads=threads, text=text)
    (line,) = (line for line in measure_graph(graph).lines if line.kind == "task")
    assert line.count == 5
    # The work is theirs, not that of who waits for them.
    tasks = graph.seconds[graph.node_kinds == TASK]
    assert line.work_s == pytest.approx(tasks.sum())


@THREADS
def test_tasks_of_one_line_are_told_apart_by_their_bodies(record, threads):
    text = constructs("""
#define TWO _Pragma("omp task") work(1); _Pragma("omp task") work(9);
        for (int i = 0; i < 3; i++) { TWO }
    """)
    graph = record("one_line", threads=threads, text=text)
    lines = [line for line in measure_graph(graph).lines if line.kind == "task"]
    assert [line.count for line in lines] == [3, 3]
    assert len({line.place for line in lines}) == 2
    assert all(re.fullmatch(r".*/one_line\.c:\d+ \(0x[0-9a-f]+\)", line.place) for line in lines)


def test_tasks_that_a_compiler_puts_on_one_line_have_those_of_their_bodies(build, record):
    """gcc gives the calls that make them one line; the bodies begin with inlined code."""
    text = """#include <stdio.h>
static volatile int sum;
static inline void one(void) { sum += 1; }
static inline void two(void) { sum += 2; }
int main(void)
{
    char place = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task depend(inout : place)
        one();
#pragma omp task depend(inout : place)
        two();
    }
    return sum != 9;
}
"""
    build("bodies", "-O2", text=text)
    graph = record("bodies", text=text)
    lines = [line.place for line in measure_graph(graph).lines if line.kind == "task"]
    numbers = sorted(int(line.rpartition(":")[2]) for line in lines)
    assert numbers[0] in (11, 12)
    assert numbers[1] in (13, 14)
