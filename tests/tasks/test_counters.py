"""Counters of the kernel beside the times of nodes: by hand, and the one that counts time."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.measure.counter_names import DEFAULT, PRESETS, Counter, named_counters
from regionpredict.measure.ompt_run import recorded_run, refused_counters
from regionpredict.tasks import measure_graph, read_task_graph
from regionpredict.tasks.json_file import json_text
from regionpredict.tasks.recording import (
    COUNTER_NAMES,
    COUNTERS,
    CREATE,
    FINISHED,
    HEADER,
    IMPLICIT_BEGIN,
    IMPLICIT_END,
    LINES,
    PARALLEL_BEGIN,
    PREEMPTED,
    SCHEDULE,
    SYNC_BEGIN,
    SYNC_END,
    counter_names_text,
    read_recording,
)
from regionpredict.tasks.task_events import REDUCTION

COMPLETE = 1  # of a schedule event: the prior task has ended
INITIAL, REGION, THREAD, CHILD = 1, 2, 3, 4


def event(kind: int, time: int, first: int, second: int = 0, aux: int = 0, site: int = 0):
    return [kind | aux << 8 | site << 32, time, first, second]


def written(folder: Path, rows: list[list[int]]) -> Path:
    folder.mkdir()
    table = np.array([*rows, event(FINISHED, 99, 0)], dtype="<u8")
    (folder / "events-7-0").write_bytes(table.tobytes())
    return folder


def test_what_a_task_counts_while_it_runs(tmp_path):
    """A thread's task counts 100 before its child begins, the child 30, then the first 5 more."""
    rows = [
        event(HEADER, 0, 0, 7, aux=1),
        event(IMPLICIT_BEGIN, 1, INITIAL, 0, site=1), [COUNTERS, 10, 1, 0],
        event(PARALLEL_BEGIN, 2, INITIAL, REGION), [COUNTERS, 20, 1, 0],
        event(IMPLICIT_BEGIN, 3, THREAD, REGION, site=1), [COUNTERS, 1000, 1, 0],
        event(CREATE, 4, THREAD, CHILD), [COUNTERS, 1060, 2, 0],
        event(SCHEDULE, 5, THREAD, CHILD), [COUNTERS, 1100, 3, 0],
        event(SCHEDULE, 6, CHILD, THREAD, aux=COMPLETE), [COUNTERS, 1130, 5, 0],
        event(IMPLICIT_END, 8, THREAD), [COUNTERS, 1135, 9, 0],
    ]  # fmt: skip
    folder = written(tmp_path / "run", rows)
    (folder / COUNTER_NAMES).write_text(counter_names_text(["instructions", "misses"]))
    graph = read_task_graph(folder)
    by_task = {
        task: graph.counted[graph.tasks == task].sum(0).tolist()
        for task in np.unique(graph.tasks).tolist()
    }
    assert by_task[CHILD - 1] == [30, 2]
    assert by_task[THREAD - 1] == [105, 6]
    assert by_task[INITIAL - 1] == [0, 0]  # outside parallel regions nothing counts
    assert measure_graph(graph).counters == {"instructions": 30, "misses": 2}
    assert '"counters": {"instructions": 30.0, "misses": 2.0}' in json_text(graph)


def test_waiting_for_a_processor_does_not_count(tmp_path):
    """The child runs for 15, 9 of them without a processor: 6. The thread's task runs for 2 and,
    from 20 to 50, for 30, of which 4 are lost around events that are not its own: 28.
    """
    rows = [
        event(HEADER, 0, 0, 7, aux=1),
        event(IMPLICIT_BEGIN, 1, INITIAL, 0, site=1),
        event(PARALLEL_BEGIN, 2, INITIAL, REGION),
        event(IMPLICIT_BEGIN, 3, THREAD, REGION, site=1),
        event(CREATE, 4, THREAD, CHILD),
        event(SCHEDULE, 5, THREAD, CHILD),
        event(SCHEDULE, 20, CHILD, THREAD, aux=COMPLETE), [PREEMPTED, 20, 9, 0],
        event(SYNC_BEGIN, 22, THREAD, aux=REDUCTION), [PREEMPTED, 22, 1, 0],
        event(SYNC_END, 30, THREAD, aux=REDUCTION), [PREEMPTED, 30, 3, 0],
        event(IMPLICIT_END, 50, THREAD),
    ]  # fmt: skip
    graph = read_task_graph(written(tmp_path / "run", rows))
    of_task = np.bincount(graph.tasks[graph.tasks >= 0], graph.seconds[graph.tasks >= 0])
    assert sorted((of_task * 1e9).round().astype(int).tolist()) == [0, 0, 6, 28]


def test_events_are_the_same_with_and_without_counters(tmp_path):
    rows = [
        event(HEADER, 0, 0, 7, aux=1), event(IMPLICIT_BEGIN, 1, INITIAL, 0, site=1),
        event(CREATE, 4, INITIAL, CHILD),
    ]  # fmt: skip
    counted = [part for row in rows for part in (row, [COUNTERS, 5, 6, 7])]
    plain = read_recording(written(tmp_path / "plain", rows))
    both = read_recording(written(tmp_path / "both", counted))
    assert both.threads[0].tolist() == plain.threads[0].tolist()
    assert plain.counters == both.counters == ()


@pytest.mark.parametrize("text", ["{}", '["a", 1]', '["a", "b", "c", "d"]', "["])
def test_names_that_are_none(tmp_path, text):
    folder = written(tmp_path / "run", [event(HEADER, 0, 0, 7, aux=1)])
    (folder / COUNTER_NAMES).write_text(text)
    with pytest.raises(InputError, match=COUNTER_NAMES):
        read_recording(folder)


@pytest.mark.compiler
def test_the_counter_of_time_counts_the_time(tmp_path, build):
    cache, folder = tmp_path / "cache", tmp_path / "run"
    cache.mkdir(mode=0o700)
    folder.mkdir()
    program = build("mergesort")
    clock = Counter("task clock", 1, 1)  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, in ns
    recorded_run(
        [str(program), "300000", "30000"], program, folder, compiler=["gcc"], cache=cache,
        environment=os.environ, threads=2, silent=True, counters=(clock,),
    )  # fmt: skip
    if refused_counters(folder):
        pytest.skip("the kernel gives no counters here")
    (folder / COUNTER_NAMES).write_text(counter_names_text([clock.name]))
    graph = read_task_graph(folder)
    metrics = measure_graph(graph)
    # No node has more processor time than time, but for what reading the counter takes; together
    # the tasks have some.
    assert 0 < metrics.counters["task clock"] / 1e9 <= metrics.tasks_s * 1.05 + 1e-3
    assert (graph.counted >= 0).all()


@pytest.mark.compiler
def test_a_counter_that_there_is_not_is_refused(tmp_path, build):
    cache, folder = tmp_path / "cache", tmp_path / "run"
    cache.mkdir(mode=0o700)
    folder.mkdir()
    program = build("fibonacci")
    recorded_run(
        [str(program), "8"], program, folder, compiler=["gcc"], cache=cache,
        environment=os.environ, silent=True, counters=(Counter("none", 1, 1), Counter("no", 1, 99)),
    )  # fmt: skip
    assert refused_counters(folder)
    assert read_task_graph(folder).task_count == 2 * 34 - 2


def test_counters_by_the_names_of_papi_and_perf():
    """By perf_event_open(2): of caches, the cache, the operation << 8, the result << 16."""
    assert named_counters(()) == DEFAULT
    assert named_counters(("PAPI_TOT_INS", "papi_l1_dcm", "PAPI_L1_STM")) == (
        ("PAPI_TOT_INS", 0, 1), ("papi_l1_dcm", 3, 0x10000), ("PAPI_L1_STM", 3, 0x10100),
    )  # fmt: skip
    assert named_counters(("task-clock", "r1a2B", "task-clock")) == (
        ("task-clock", 1, 1), ("r1a2B", 4, 0x1A2B),
    )  # fmt: skip
    assert set(PRESETS) >= {"PAPI_TOT_CYC", "PAPI_L3_TCM", "PAPI_BR_MSP"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("PAPI_NONE",), "no hardware counter 'PAPI_NONE' is known; choose from PAPI_TOT_INS"),
        (("r",), "no hardware counter 'r'"),
        (("cycles", "branches", "instructions", "page-faults"), "4 counters; at most 3"),
    ],
)
def test_names_of_no_counters(names, said):
    with pytest.raises(UsageError, match=said):
        named_counters(names)


def test_names_of_libpfm():
    try:
        ctypes.CDLL("libpfm.so.4")
    except OSError:
        pytest.skip("needs libpfm4")
    # Its events of the kernel are known on each machine.
    assert named_counters(("perf::PERF_COUNT_SW_TASK_CLOCK",))[0][1:] == (1, 1)


@pytest.mark.compiler
def test_a_counter_is_chosen_on_the_command_line(tmp_path, build):
    program = build("fibonacci")
    line = [sys.executable, "-m", "regionpredict", "tasks"]
    done = subprocess.run(
        [*line, "record", "-o", "run", "--counter", "page-faults", "--", str(program), "8"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0
    shown = subprocess.run([*line, "show", "run", "--format", "json"], cwd=tmp_path,
                           capture_output=True, text=True, check=True)  # fmt: skip
    known = json.loads(shown.stdout)["counters"]
    if "this machine has no counters page-faults" in done.stderr:
        assert known == {}
    else:
        assert set(known) == {"page-faults"}


@pytest.mark.parametrize("site", ["9" * 30, "\u00b2", "-1", "1.5", ""])
def test_numbers_of_lines_that_no_event_has(tmp_path, site):
    """A line of a place that no event can name is left out."""
    folder = written(tmp_path / "run", [event(HEADER, 0, 0, 7, aux=1)])
    (folder / LINES).write_text(json.dumps({site: "f.c:3", "1": "f.c:4"}))
    assert read_recording(folder).lines == {1: "f.c:4"}
