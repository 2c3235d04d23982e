"""Programs on one node: closed forms of a small machine, and laws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine import Machine, load
from regionpredict.predict.coschedule import (
    CoscheduledProgram,
    Phase,
    PhaseLoad,
    coschedule,
)


def _program(name: str, seconds: float, cores: int = 24) -> CoscheduledProgram:
    """A program that scales perfectly and asks memory for nothing."""
    loads = {n: PhaseLoad(seconds / n, 0.0, 0.0, 0.0, 0.0) for n in range(1, cores + 1)}
    return CoscheduledProgram(name, (Phase(f"{name}.c:1", loads, loads),))


def _saturating(name: str, seconds: float, peak: float, cores: int = 24) -> CoscheduledProgram:
    """A program that one core keeps memory busy with."""
    loads = {n: PhaseLoad(seconds, 0.0, seconds, float(n), peak) for n in range(1, cores + 1)}
    return CoscheduledProgram(name, (Phase(f"{name}.c:1", loads, loads),))


def free_of_threads(machine: Machine) -> Machine:
    """The machine on which the first team costs no more than any other."""
    costs = machine.overheads
    nothing = replace(costs.first_team, x=(1,), y=(0.0,))
    return replace(machine, overheads=replace(costs, first_team=nothing))


@pytest.fixture(scope="module")
def machine() -> Machine:
    """One package and one domain, whose memory gives 80 GB/s; making threads costs nothing."""
    known = free_of_threads(load("epyc-7451"))
    curve = known.memory.curve("load")
    flat = replace(curve, x=(1,), y=(80e9,))
    one = replace(known.node.packages, value=1)
    node = replace(known.node, packages=one, domains_per_package=one)
    return replace(known, node=node, memory=replace(known.memory, bandwidth={"load": flat}))


def test_compute_with_compute_gains_nothing(machine: Machine) -> None:
    # Both scale perfectly: on half the cores each takes twice as long, as long as turns.
    result = coschedule([_program("a", 48.0), _program("b", 48.0)], machine)
    cores = machine.cores
    assert result.sequential_seconds == pytest.approx(2 * 48.0 / cores)
    assert result.allocations[0].seconds == pytest.approx(2 * 48.0 / cores)
    assert not result.shares


def test_memory_bound_beside_compute_bound_share(machine: Machine) -> None:
    # `a` needs one core and all the bandwidth for 10 s, `b` all other cores and none of it.
    cores = machine.cores
    a, b = _saturating("a", 10.0, 80e9), _program("b", 10.0 * (cores - 1))
    result = coschedule([a, b], machine)
    best = result.allocations[0]
    assert result.shares
    assert best.kind == "cores"
    assert [part.cores for part in best.parts] == [1, cores - 1]
    assert best.seconds == pytest.approx(10.0)
    assert result.sequential_seconds == pytest.approx(10.0 + 10.0 * (cores - 1) / cores)
    assert best.parts[0].slowdown == pytest.approx(1.0)
    assert best.parts[1].slowdown == pytest.approx(cores / (cores - 1))


def test_memory_bound_with_its_like_takes_twice_as_long(machine: Machine) -> None:
    result = coschedule([_saturating("a", 10.0, 80e9), _saturating("b", 10.0, 80e9)], machine)
    best = result.allocations[0]
    assert best.seconds == pytest.approx(20.0) == pytest.approx(result.sequential_seconds)
    assert [part.slowdown for part in best.parts] == [pytest.approx(2.0)] * 2


def test_what_one_gets_alone_two_get_in_turns(machine: Machine) -> None:
    # Streams that write: alone they draw 100 GB/s, more than the 80 that loads get. In turns each
    # takes 10 s; together each has half of the 100.
    result = coschedule([_saturating("a", 10.0, 100e9), _saturating("b", 10.0, 100e9)], machine)
    assert (
        result.allocations[0].seconds
        == pytest.approx(20.0)
        == pytest.approx(result.sequential_seconds)
    )


def test_who_goes_on_alone_has_all_of_it(machine: Machine) -> None:
    # Each asks for 80 of 80 GB/s: together 40 each. `a` moves 400 GB, done at 10 s; `b` has moved
    # 400 of its 1200 GB by then and moves 800 more at 80 GB/s: done at 20 s.
    result = coschedule([_saturating("a", 5.0, 80e9), _saturating("b", 15.0, 80e9)], machine)
    first, second = result.allocations[0].parts
    assert first.seconds == pytest.approx(10.0)
    assert second.seconds == pytest.approx(20.0)


def test_two_packages_keep_memory_bound_programs_apart() -> None:
    known = free_of_threads(load("skylake-gold-6148"))
    peak = known.memory.curve("load").peak
    cores = known.cores_per_package
    a = _saturating("a", 10.0, peak, cores)
    b = _saturating("b", 10.0, peak, cores)
    result = coschedule([a, b], known)
    best = result.allocations[0]
    assert known.packages == 2
    assert best.kind == "packages"
    assert [part.packages for part in best.parts] == [1, 1]
    assert [part.slowdown for part in best.parts] == [1.0, 1.0]
    assert best.seconds < result.sequential_seconds


def test_three_programs(machine: Machine) -> None:
    programs = [_program(name, 30.0) for name in "abc"]
    result = coschedule(programs, machine)
    assert all(len(one.parts) == 3 for one in result.allocations)
    assert all(sum(part.cores for part in one.parts) == machine.cores
               for one in result.allocations)  # fmt: skip


TAKES, WAITS = st.floats(0.1, 50.0), st.floats(0.0, 1.0)


@given(TAKES, TAKES, WAITS, WAITS)
def test_nobody_is_faster_beside_others(
    machine: Machine, first: float, second: float, waiting: float, other: float
) -> None:
    def program(name: str, seconds: float, share: float) -> CoscheduledProgram:
        loads = {n: PhaseLoad(seconds / n, 0.0, share * seconds / n, share * n, 4e9 * n)
                 for n in range(1, 25)}  # fmt: skip
        return CoscheduledProgram(name, (Phase(f"{name}.c:1", loads, loads),))

    programs = [program("a", first, waiting), program("b", second, other)]
    for allocation in coschedule(programs, machine).allocations:
        for known, part in zip(programs, allocation.parts, strict=True):
            undisturbed = known.phases[0].alone[part.cores].seconds
            assert part.seconds >= undisturbed * (1 - 1e-9)
            assert part.slowdown >= 1 - 1e-9
