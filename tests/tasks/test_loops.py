"""Chunks of worksharing loops are those of their schedule, on one thread and on several."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from further_cases import further_slow

from regionpredict.errors import InputError
from regionpredict.measure.ompt_run import recorded_run
from regionpredict.report.plots.task_graph import graph_figure
from regionpredict.tasks import TaskGraph, measure_graph, read_task_graph
from regionpredict.tasks.dot_file import dot_text
from regionpredict.tasks.iteration_range import IterationRange
from regionpredict.tasks.json_file import json_graph, json_text
from regionpredict.tasks.task_graph import CHUNK, IMPLICIT

THREADS = pytest.mark.parametrize("threads", further_slow(2, [1, 3, 2]))
PROGRAM = """
#include <stdlib.h>
static volatile double sink;
static void work(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 40;
    long sum = 0;
%s
    return 0;
}
"""


def loop(directive: str, header: str) -> str:
    return PROGRAM % f"#pragma omp {directive}\n    for ({header}) work(1);"


def ranges(graph: TaskGraph) -> list[IterationRange]:
    found = [graph.iterations_of(node) for node in np.flatnonzero(graph.node_kinds == CHUNK)]
    return sorted(known for known in found if known is not None)


def cut(count: int, size: int, step: int = 1) -> list[IterationRange]:
    """Chunks of so many iterations each, the rest in the last one."""
    firsts = range(0, count, size)
    sizes = [min(size, count - first) for first in firsts]
    return [IterationRange(f, s, s, 0, step) for f, s in zip(firsts, sizes, strict=True)]


def step(compiler: str, value: int) -> int:
    """clang counts all loops from 0 on by ones before it calls the runtime."""
    return value if compiler == "gcc" else 1


@pytest.mark.compiler
@THREADS
@pytest.mark.parametrize(
    ("directive", "header", "count", "size", "by"),
    further_slow(
        4,
        [
            ("parallel for schedule(dynamic, 5)", "int i = 0; i < n; i++", 40, 5, 1),
            ("parallel for schedule(dynamic)", "int i = 0; i < n; i++", 40, 1, 1),
            ("parallel for schedule(monotonic: dynamic, 7)", "int i = 2; i <= n; i++", 39, 7, 1),
            # Bounds that are constants: gcc begins the team and the loop by one call.
            ("parallel for schedule(dynamic, 5)", "int i = 0; i < 33; i++", 33, 5, 1),
            ("parallel for schedule(dynamic, 5)", "int i = 90; i > 0; i -= 3", 30, 5, -3),
            ("parallel for schedule(dynamic, 4)", "long i = n; i > 0; i -= 3", 14, 4, -3),
            ("parallel for schedule(dynamic, 4)", "int i = 1; i < n; i += 2", 20, 4, 2),
            ("parallel for schedule(dynamic, 3)", "unsigned long i = 0; i < n; i++", 40, 3, 1),
            ("parallel for schedule(dynamic, 3)", "unsigned long i = n; i > 4; i -= 4", 9, 3, -4),
            (
                "parallel for schedule(dynamic, 9) reduction(+: sum)",
                "int i = 0; i < n; i++",
                40,
                9,
                1,
            ),
        ],
    ),
)
def test_dynamic_chunks(record, compiler, threads, directive, header, count, size, by):
    name = f"dynamic{abs(hash((directive, header)))}"
    graph = record(name, threads=threads, text=loop(directive, header))
    assert ranges(graph) == cut(count, size, step(compiler, by))
    assert graph.notes == ()
    assert graph.undivided_s == 0
    assert {graph.places[graph.lines[n]].rpartition(":")[2] for n in chunks(graph)} <= {
        "8", "9", "10",  # gcc gives the call that begins a team and its loop the line before
    }  # fmt: skip
    metrics = measure_graph(graph)
    # Side by side: no path has two of them.
    assert sum(graph.node_kinds[node] == CHUNK for node in metrics.path) <= 1
    assert metrics.concurrency.high >= len(cut(count, size))


def chunks(graph: TaskGraph) -> list[int]:
    return np.flatnonzero(graph.node_kinds == CHUNK).tolist()


@pytest.mark.compiler
@THREADS
def test_the_schedule_that_the_environment_gives(record, monkeypatch, threads):
    monkeypatch.setenv("OMP_SCHEDULE", "dynamic,6")
    for header in ("int i = 0; i < n; i++", "unsigned long i = 0; i < n; i++",
                   "int i = 0; i < 40; i++"):  # fmt: skip
        text = loop("parallel for schedule(runtime)", header)
        graph = record(f"runtime{len(header)}", threads=threads, text=text)
        assert ranges(graph) == cut(40, 6)


@pytest.mark.compiler
@THREADS
def test_guided_chunks_shrink_with_what_is_left(record, threads):
    text = loop("parallel for schedule(guided, 3)", "int i = 0; i < n; i++")
    graph = record("guided", 200, threads=threads, text=text)
    found = ranges(graph)
    ends = np.cumsum([known.total for known in found]).tolist()
    assert [known.first for known in found] == [0, *ends[:-1]]
    assert ends[-1] == 200
    sizes = [known.total for known in found]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size >= 3 for size in sizes[:-1])
    # What is left over the number of threads, so that one thread has it all.
    assert sizes[0] <= -(-200 // threads)
    assert (len(found) == 1) == (threads == 1)
    assert bool(graph.notes) == (threads == 1)


@pytest.mark.compiler
@THREADS
@pytest.mark.parametrize("chunk", [None, 3, 7, 50])
def test_static_loops_have_a_node_a_thread(record, compiler, threads, chunk):
    schedule = "static" if chunk is None else f"static, {chunk}"
    text = loop(f"parallel for schedule({schedule})", "int i = 0; i < n; i += 2")
    graph = record(f"static{chunk}", 80, threads=threads, text=text)
    count = 40
    if compiler == "gcc":  # which computes them in the program: no tool sees what a thread runs
        assert chunks(graph) == []
        assert len(set(graph.tasks[graph.node_kinds == IMPLICIT].tolist())) == threads
    elif chunk is None or threads == 1:
        found = ranges(graph)
        ends = np.cumsum([known.total for known in found]).tolist()
        assert [known.first for known in found] == [0, *ends[:-1]]
        assert ends[-1] == count
        assert len(found) == threads
        assert max(known.total for known in found) - min(known.total for known in found) <= 1
    else:
        deal = {t: list(range(t * chunk, count, threads * chunk)) for t in range(threads)}
        assert ranges(graph) == [
            IterationRange(
                firsts[0],
                sum(min(chunk, count - first) for first in firsts),
                min(chunk, count - firsts[0]),
                threads * chunk if len(firsts) > 1 else 0,
            )
            for firsts in deal.values()
            if firsts
        ]
    assert graph.threads == threads
    assert bool(graph.notes) == (threads == 1)
    assert (graph.undivided_s > 0) == (threads == 1)


@pytest.mark.compiler
@THREADS
def test_loops_inside_chunks_keep_the_count_of_those_around_them(record, compiler, threads):
    text = (
        PROGRAM
        % """
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 10; i > 0; i--) {
#pragma omp parallel for schedule(dynamic, 3) num_threads(1)
        for (int j = 4; j < 10; j++) work(1);
    }
"""
    )
    graph = record("inside", threads=threads, text=text)
    # An inner loop of six iterations for each outer one.
    expected = cut(10, 2, step(compiler, -1)) + 10 * cut(6, 3)
    found = [known for known in ranges(graph) if known.step != 1 or known.total == 3]
    outer = [known for known in ranges(graph) if known.total == 2]
    assert outer == cut(10, 2, step(compiler, -1))
    assert len(found) + len(outer) >= len(expected)


@pytest.mark.compiler
@pytest.mark.parametrize("schedule", further_slow(1, ["static, 8", "static", "guided"]))
def test_loops_are_dealt_among_threads_that_take_turns(build, tmp_path, schedule):
    """Each thread's recorded processor time covers what it reads around its own iterations."""
    text = loop(f"parallel for schedule({schedule})", "int i = 0; i < n; i++")
    text = text.replace("#include", CLOCK + "#include", 1)
    text = text.replace("work(1);", "{ double b = cpu(); work(20); own[thread()] += cpu() - b; }")
    text = text.replace("    return 0;", "    told(words[2]);\n    return 0;")
    program = build(f"turns{len(schedule)}", text=text)
    folder, cache, file = tmp_path / "run", tmp_path / "cache", tmp_path / "own"
    folder.mkdir()
    cache.mkdir(mode=0o700)
    recorded_run(
        [str(program), "80", str(file)], program, folder, compiler=["gcc"], cache=cache,
        environment=os.environ, threads=4, silent=True, in_turns=True,
    )  # fmt: skip
    graph = read_task_graph(folder)
    assert (graph.threads, graph.undivided_s) == (4, 0)
    own = list(map(float, file.read_text().split()))
    assert len(own) == 4 and all(own)
    metrics = measure_graph(graph)
    assert metrics.work_s >= sum(own)
    assert metrics.depth_s >= max(own)
    # All on one thread would be a depth of the whole work.
    assert metrics.depth_s <= metrics.work_s - (sum(own) - max(own))


CLOCK = """
#include <omp.h>
#include <stdio.h>
#include <time.h>
static double own[4];
static int thread(void) { return omp_get_thread_num(); }
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void told(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int t = 0; t < 4; t++) fprintf(file, "%.9f\\n", own[t]);
    fclose(file);
}
"""


@pytest.mark.compiler
def test_iterations_are_in_graphs_tables_and_pictures(record):
    text = loop("parallel for schedule(dynamic, 5)", "int i = 0; i < n; i++")
    graph = record("shown", threads=1, text=text)
    metrics = measure_graph(graph)
    assert 'label="chunk 35-39 (' in dot_text(graph)
    nodes = json.loads(json_text(graph))["nodes"]
    assert [node["iterations"]["first"] for node in nodes if "iterations" in node] == [
        0, 5, 10, 15, 20, 25, 30, 35,
    ]  # fmt: skip
    again = json_graph(json_text(graph), "g.json")
    assert ranges(again) == ranges(graph)
    drawn = graph_figure(graph, metrics).findobj(lambda part: hasattr(part, "get_text"))
    said = [part.get_text() for part in drawn]
    assert any(text.startswith("shown.c:") and text.endswith(" 10-14") for text in said)


def test_ranges_as_people_write_them():
    node = {"id": "a", "seconds": 1, "iterations": {"first": 3, "total": 4}}
    text = json.dumps({"nodes": [node], "edges": []})
    assert ranges(replace(json_graph(text, "g"), node_kinds=np.array([CHUNK]))) == [
        IterationRange(3, 4, 4)
    ]
    with pytest.raises(InputError, match=r"iterations\.total"):
        json_graph(text.replace('"total": 4', '"total": 0'), "g")
