"""Call paths of Paraver traces by hand: callers of MPI, instrumented functions, phases, and idle
threads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.trace import EventTrace, Kind, Role
from regionpredict.trace.analysis import analyse
from regionpredict.trace.bursts import bursts_of, by_location
from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.paraver import read_paraver
from regionpredict.trace.region_split import region_splits
from regionpredict.trace.results import wait_states
from regionpredict.trace.run_part import part_of_region

HEAD = "#Paraver (01/02/2020 at 10:11):1000_ns:1(2):1:1(2:1),0\n"
PCF = """\
EVENT_TYPE
9   50000002    MPI Collective Comm
VALUES
8   MPI_Barrier
0   Outside MPI

EVENT_TYPE
0   70000001    Caller at level 1
0   70000002    Caller at level 2
VALUES
0   End
1   Unresolved
3   main
4   solve
5   __io_M..rite [__io_MOD_write]

EVENT_TYPE
0   80000001    Caller line at level 1
0   80000002    Caller line at level 2
VALUES
1   0 (Unresolved)
10  10 (main.f90, prog)
11  20 (main.f90, prog)
12  7 (solve.f90, prog)
13  9 (solve.f90, prog)
14  3 (io.f90, prog)

EVENT_TYPE
9   60000019    User function
VALUES
0   End
1   work
2   inner

EVENT_TYPE
9   1000   Phase of the program
VALUES
0   End
1   assemble
2   march

EVENT_TYPE
9   2000   Other

EVENT_TYPE
0   60000018   Executed OpenMP parallel function
VALUES
0   End
1   loop.omp_fn.0

EVENT_TYPE
0   60000118   Executed OpenMP parallel function line and file
VALUES
1   5 (loop.c, prog)
"""


def barrier(begin: int, end: int, *callers: tuple[int, int]) -> str:
    """A call of MPI_Barrier whose callers are (function, line), the innermost first."""
    noted = "".join(
        f":{70000001 + level}:{function}:{80000001 + level}:{line}"
        for level, (function, line) in enumerate(callers)
    )
    return f"2:1:1:1:1:{begin}:50000002:8{noted}\n2:1:1:1:1:{end}:50000002:0\n"


def state(begin: int, end: int, number: int = 1, thread: int = 1) -> str:
    return f"1:1:1:1:{thread}:{begin}:{end}:{number}\n"


def event(time: int, kind: int, value: int, thread: int = 1) -> str:
    return f"2:1:1:1:{thread}:{time}:{kind}:{value}\n"


def read(folder: Path, kernels: Kernels, records: Iterable[str]) -> EventTrace:
    (folder / "a.prv").write_text(HEAD + "".join(records))
    (folder / "a.pcf").write_text(PCF)
    return read_paraver(folder / "a.prv", kernels)


def spans(trace: EventTrace, location: int = 0) -> dict[str, int]:
    """Ticks on each call path by itself; fails where events do not nest."""
    stack: list[str] = []
    ticks: dict[str, int] = {}
    rows = range(int(trace.starts[location]), int(trace.starts[location + 1]))
    for row, following in pairwise([*rows, None]):
        assert row is not None
        name = trace.regions[trace.region[row]].name if trace.region[row] >= 0 else ""
        if trace.kind[row] == Kind.ENTER:
            stack.append(name)
        elif trace.kind[row] == Kind.LEAVE:
            assert stack.pop() == name
        if following is not None:
            path = "/".join(stack[1:])
            ticks[path] = ticks.get(path, 0) + int(trace.time[following] - trace.time[row])
    assert not stack
    return {path: length for path, length in ticks.items() if length}


def test_callers_are_the_path_and_lines_enclose_computation(
    tmp_path: Path, kernels: Kernels
) -> None:
    trace = read(tmp_path, kernels, [
        state(0, 1000),
        barrier(100, 110, (4, 12), (3, 10)),  # solve:7, called by main:10
        barrier(200, 220, (4, 13), (3, 10)),  # solve:9, of the same call
        barrier(300, 330, (5, 14), (3, 11)),  # write:3, called by main:20
        barrier(400, 440, (5, 14), (3, 11)),
    ])  # fmt: skip
    assert spans(trace) == {
        "": 100 + 560,
        "main/solve/solve.f90:7/MPI_Barrier": 10,
        "main/solve/solve.f90:7-9": 90,
        "main/solve/solve.f90:9/MPI_Barrier": 20,
        "main/main.f90:10-20": 80,
        "main/io::write/io.f90:3/MPI_Barrier": 30 + 40,
        "main/io::write/io.f90:3-3": 70,
    }
    lines = {region.name: (region.file, region.line) for region in trace.regions}
    assert lines["solve.f90:7-9"] == ("solve.f90", 7)
    assert lines["main"] == ("main.f90", None)


def test_a_stack_that_was_cut_off_goes_on_where_others_do(tmp_path: Path, kernels: Kernels) -> None:
    """Two levels are noted: `write`, called by `solve`, is known to be called by `main`."""
    trace = read(tmp_path, kernels, [
        state(0, 500),
        barrier(100, 110, (4, 12), (3, 10)),
        barrier(200, 220, (5, 14), (4, 13)),
    ])  # fmt: skip
    assert spans(trace)["main/solve/io::write/io.f90:3/MPI_Barrier"] == 20
    assert spans(trace)["main/solve/solve.f90:7-9"] == 90


def test_deep_stacks_without_a_common_function_still_have_lines(
    tmp_path: Path, kernels: Kernels
) -> None:
    """Of two levels: `main` calls `solve` (whole), a stack that no other one completes follows."""
    trace = read(tmp_path, kernels, [
        state(0, 500),
        barrier(50, 60, (3, 10)),
        barrier(100, 110, (4, 12), (3, 10)),
        barrier(200, 220, (1, 1), (5, 14)),
        barrier(300, 330, (4, 12), (5, 14)),
    ])  # fmt: skip
    found = spans(trace)
    assert found["main/main.f90:10-10"] == 40
    assert found["solve:7-io::write:3"] == 90
    assert found["io::write/io.f90:3-3"] == 80


def test_unknown_callers_are_left_out(tmp_path: Path, kernels: Kernels) -> None:
    trace = read(tmp_path, kernels, [
        state(0, 500),
        barrier(100, 110, (1, 1), (3, 10)),
        barrier(200, 220),
        barrier(300, 330, (1, 1), (1, 1)),
    ])  # fmt: skip
    assert spans(trace) == {
        "": 440, "main/main.f90:10/MPI_Barrier": 10, "MPI_Barrier": 50
    }  # fmt: skip


def test_phases_without_names_have_factors_of_their_own(tmp_path: Path, kernels: Kernels) -> None:
    """Type 3000 is not in the .pcf. Type 3001 has too many values to be a phase."""
    trace = read(tmp_path, kernels, [
        state(0, 1000), state(0, 200, thread=2), state(200, 500, 0, 2), state(500, 1000, 1, 2),
        *(event(time, 3000, value, thread) for thread in (1, 2)
          for time, value in ((100, 1), (500, 2), (900, 0))),
        *(event(time, 3001, time % 100) for time in range(100, 200)),
    ])  # fmt: skip
    assert spans(trace) == {"": 200, "3000: 1": 400, "3000: 2": 400}
    balances = []
    for phase in ("3000: 1", "3000: 2"):
        part = part_of_region(trace, phase)
        factors = run_factors(
            part.trace, match_operations(part.trace, kernels), kernels, inside=part.inside
        )
        balances.append(factors.load_balance)
    assert balances == [pytest.approx((400 + 100) / 2 / 400), 1]


def test_functions_and_phases_enclose_calls(tmp_path: Path, kernels: Kernels) -> None:
    """A phase that ends inside a function goes on in the next; callers give lines alone then."""
    trace = read(tmp_path, kernels, [
        state(0, 1000),
        event(50, 1000, 1), event(100, 60000019, 1), event(150, 60000019, 2),
        barrier(200, 210, (4, 12), (3, 10)),
        event(250, 60000019, 0), event(300, 1000, 2),
        barrier(400, 430, (4, 13), (3, 10)),
        event(500, 60000019, 0), event(600, 1000, 0), event(700, 60000019, 0),
        event(800, 2000, 7),
    ])  # fmt: skip
    assert spans(trace) == {
        "": 50 + 400,
        "assemble": 50,
        "assemble/work": 50 + 0,
        "assemble/work/inner": 50,
        "assemble/work/inner/solve.f90:7/MPI_Barrier": 10,
        "assemble/work/inner/solve.f90:7-9": 40,
        "assemble/work/solve.f90:7-9": 50,
        "march/work/solve.f90:7-9": 100,
        "march/work/solve.f90:9/MPI_Barrier": 30,
        "march/work": 70,
        "march": 100,
    }
    assert [str(finding) for finding in trace.findings] == [
        "an end of a function or phase without its start"
    ]


def test_time_without_a_state_is_idle(tmp_path: Path, kernels: Kernels) -> None:
    """The second thread runs from 100 to 300 and from 600 to 700 of its life from 100 to 900."""
    trace = read(tmp_path, kernels, [
        state(0, 1000),
        state(0, 100, 2, 2), state(100, 300, 1, 2), state(600, 700, 1, 2), state(800, 900, 5, 2),
    ])  # fmt: skip
    bursts = bursts_of(trace)
    useful = by_location(trace, np.where(bursts.useful, bursts.length, 0))
    assert useful.tolist() == [1000, 300]
    roles = {region.name: region.role for region in trace.regions}
    assert roles["Idle"] is Role.IDLE
    assert spans(trace, 1) == {"": 300, "Idle": 300 + 100, "Synchronization": 100}


def test_a_worker_that_runs_outside_of_constructs_is_idle(tmp_path: Path, kernels: Kernels) -> None:
    """The construct is from 400 to 800. The worker computes in it until 600, and then waits."""
    trace = read(tmp_path, kernels, [
        state(0, 1000), state(0, 1000, 1, 2),
        event(400, 60000001, 3), event(410, 60000018, 1), event(410, 60000018, 1, 2),
        event(600, 60000018, 0, 2), event(800, 60000018, 0), event(800, 60000001, 0),
    ])  # fmt: skip
    bursts = bursts_of(trace)
    useful = by_location(trace, np.where(bursts.useful, bursts.length, 0))
    assert useful.tolist() == [1000, 10 + 190]
    assert spans(trace, 1)["Idle"] == 400 + 200


def test_a_trace_of_waits_alone_computes_between_them(tmp_path: Path, kernels: Kernels) -> None:
    trace = read(tmp_path, kernels, [state(200, 300, 3), state(400, 450, 3), event(500, 7, 0)])
    assert spans(trace) == {"": 150, "Waiting a message": 150}


def test_threads_wait_at_the_end_of_a_construct(tmp_path: Path, kernels: Kernels) -> None:
    """Two constructs of two threads: the second thread is 150 ns earlier in the one, 30 in the
    other, in which it also waits 15 ns at a barrier."""
    text = [state(0, 1000), state(0, 1000, 1, 2)]
    for fork, ends, join in ((100, (400, 250), 410), (500, (700, 670), 700)):
        text += [event(fork, 60000001, 3), event(join, 60000001, 0)]
        for thread, end in enumerate(ends, 1):
            text += [event(fork + thread, 60000018, 1, thread), event(end, 60000018, 0, thread)]
    for thread in (1, 2):
        text += [event(580 - 15 * thread, 60000005, 1, thread), event(570, 60000005, 0, thread)]
    trace = read(tmp_path, kernels, text)
    assert spans(trace, 1) == {
        "": 2 + 2,
        "Idle": 100 + 90 + 300,
        "loop.omp_fn.0": 148 + 168 - 20,
        "loop.omp_fn.0/implicit barrier": 160 + 30,
        "loop.omp_fn.0/barrier": 20,
    }
    (region,) = [region for region in trace.regions if region.role is Role.PARALLEL]
    assert (region.file, region.line) == ("loop.c", 5)
    found = wait_states(analyse(trace, kernels))
    assert found.totals["omp_implicit_barrier"] == pytest.approx(150e-9 + 30e-9)
    assert found.totals["omp_explicit_barrier"] == pytest.approx(15e-9)
    (first,) = region_splits(trace, bursts_of(trace))
    assert (first.threads, first.executions) == (2, 2)


def test_a_call_splits_the_state_around_it(tmp_path: Path, kernels: Kernels) -> None:
    trace = read(
        tmp_path, kernels, [state(0, 100), state(100, 400, 12), barrier(200, 230), state(400, 500)]
    )
    assert spans(trace) == {"": 200, "I/O": 270, "MPI_Barrier": 30}


times = st.integers(0, 12)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_events_nest_whatever_coincides(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, kernels: Kernels
) -> None:
    """Calls, states, functions and phases that begin and end at the same few times."""
    folder = tmp_path_factory.mktemp("nest")
    records = [state(0, 13)]
    now = 0
    for _ in range(data.draw(st.integers(0, 5))):
        begin = data.draw(st.integers(now, 12))
        now = data.draw(st.integers(begin, 12))
        callers = data.draw(st.lists(st.tuples(st.integers(1, 5), st.integers(10, 14)), max_size=2))
        records.append(barrier(begin, now, *callers))
    for time in sorted(data.draw(st.lists(times, max_size=6))):
        kind, values = data.draw(st.sampled_from([(60000019, 2), (1000, 2)]))
        records.append(event(time, kind, data.draw(st.integers(0, values))))
    for _ in range(data.draw(st.integers(0, 3))):
        begin, end = sorted((data.draw(times), data.draw(times)))
        records.append(state(begin, end, data.draw(st.sampled_from([0, 1, 5, 12]))))
    trace = read(folder, kernels, records)
    assert sum(spans(trace).values()) == 13
    assert (np.diff(trace.time[: int(trace.starts[1])]) >= 0).all()
