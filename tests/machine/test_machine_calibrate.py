"""Calibration: its plan, its statistics, its remarks, and a real run in little time."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.machine import load
from regionpredict.machine.calibrate import calibrate
from regionpredict.machine.calibrate.figures import figures, suspicious
from regionpredict.machine.calibrate.plan import (
    Measurement,
    core_counts,
    latency_sizes,
    memory_bytes,
    plan,
)
from regionpredict.machine.calibrate.run import _run
from regionpredict.machine.calibrate.samples import State, has_converged, relative_interval
from regionpredict.machine.detect.topology import CacheShape, Topology
from regionpredict.machine.writer import Figures, write

KIB, MIB, GIB = 1024, 1024**2, 1024**3

NODE = Topology(
    name="Made Up",
    source="a test",
    packages=2,
    cores_per_package=12,
    domains_per_package=2,
    threads_per_core=2,
    caches=(
        CacheShape(1, 32 * KIB, 64, 8, 1),
        CacheShape(2, 512 * KIB, 64, 8, 1),
        CacheShape(3, 24 * MIB, 64, 16, 6),
    ),
    threads=tuple(range(24)),
)


def test_each_latency_has_a_working_set_of_its_level_alone():
    sizes = latency_sizes(NODE, GIB)
    assert set(sizes) == {0, 1, 2, 3}
    above = 0
    for cache in NODE.caches:
        assert above < sizes[cache.level] < cache.size
        above = cache.size
    assert sizes[0] > NODE.caches[-1].size


def test_memory_is_beyond_every_cache_or_what_is_free_allows():
    # four L3 of 24 MiB in the node, four times
    assert memory_bytes(NODE, 100 * GIB) == 4 * 4 * 24 * MIB
    assert memory_bytes(NODE, 400 * MIB) == 100 * MIB
    shown = Topology(
        "vm", "a test", 1, 2, 1, 1, (CacheShape(1, 4 * MIB, 64, 16, 2, False, 480 * MIB),)
    )
    assert memory_bytes(shown, 100 * GIB) == 720 * MIB


VIRTUAL = Topology(
    "vm",
    "a test",
    1,
    2,
    1,
    1,
    (CacheShape(1, 2 * MIB, 64, 16, 1), CacheShape(2, 8 * MIB, 64, 16, 2, False, 480 * MIB)),
    threads=(0, 1),
)


def test_a_size_that_is_not_plausible_is_measured(tmp_path):
    keys = [m.key for m in plan(VIRTUAL, 64 * GIB, VIRTUAL.threads)]
    sizes = [int(key.split("/")[2]) // MIB for key in keys if key.startswith("capacity/2/")]
    assert sizes == [4, 8, 16, 32, 64, 128, 256]
    assert latency_sizes(VIRTUAL, GIB)[2] == 4 * MIB
    assert not any(m.key.startswith("capacity") for m in plan(NODE, 64 * GIB, NODE.threads))
    sweep = {4: 30.0, 8: 29.5, 16: 29.0, 32: 20.0, 64: 16.0}
    samples = {f"capacity/2/{size * MIB}": steady(rate) for size, rate in sweep.items()}
    found = figures(VIRTUAL, (), {**samples, "bandwidth/0/load/1": steady(15.0)})
    # the geometric mean of 30 and 15 is 21.2
    assert found.capacity == {2: 16 * MIB}
    path = tmp_path / "vm.yaml"
    path.write_text(write(VIRTUAL, "vm", found))
    size = load(path).caches[1].size_bytes
    assert (size.value, size.evidence) == (16 * MIB, "measured")
    # a working set that is no faster than memory is in no cache
    flat = {f"capacity/2/{size * MIB}": steady(15.5) for size in sweep}
    assert figures(VIRTUAL, (), {**flat, "bandwidth/0/load/1": steady(15.0)}).capacity == {}


def test_the_plan_covers_every_quantity_once_and_pins_within_the_node():
    measurements = plan(NODE, 64 * GIB, NODE.threads)
    keys = [m.key for m in measurements]
    assert len(keys) == len(set(keys))
    assert keys[0] == "clock"
    for key in (
        "latency/0",
        "latency/3",
        "operation/fp_sqrt/throughput",
        "bandwidth/0/triad/6",
        "bandwidth/1/load/1",
        "bandwidth/3/copy/6",
        "openmp/barrier/24",
        "openmp/dynamic_chunk/12",
        "openmp/first_touch/24",
        "openmp/first_touch_beyond/24",
        "openmp/line_transfer/2",
        "openmp/team_change/24",
        "openmp/first_team/24",
        "node/load/24",
        "link/load",
    ):
        assert key in keys
    # a sixteenth of the last cache in pages of 4 KiB over the threads that share it, and twice it
    pages = {m.key: m.arguments[1:] for m in measurements if "first_touch" in m.key}
    last = NODE.caches[-1]
    assert pages["openmp/first_touch/1"] == ("first_touch", str(last.size // 16 // 4096))
    assert pages["openmp/first_touch_beyond/24"] == (
        "first_touch", str(2 * last.size // last.cores // 4096)
    )  # fmt: skip
    # the cores of the first package on pages that the second has written
    (link,) = [m for m in measurements if m.key == "link/load"]
    first, second = (",".join(map(str, range(a, a + 12))) for a in (0, 12))
    assert (link.arguments[0], link.arguments[2:]) == (first, ("load", second))
    # inside one domain of six cores
    assert not any(key.startswith("bandwidth/0/") and int(key.split("/")[-1]) > 6 for key in keys)
    few = plan(NODE, 64 * GIB, (3, 5))
    used = {
        cpu
        for m in few
        if m.program in ("bandwidth", "openmp")
        for cpu in m.arguments[0].split(",")
    }
    assert used <= {"3", "5"}


def test_another_run_time_system_is_measured_for_what_it_decides():
    alone = plan(NODE, 64 * GIB, NODE.threads)
    both = plan(NODE, 64 * GIB, NODE.threads, "/lib/libomp.so")
    more = [m for m in both if m not in alone]
    assert {m.preload for m in alone} == {None}
    assert {m.preload for m in more} == {"/lib/libomp.so"}
    names = {m.key.split("/")[1] for m in more}
    assert names == {
        "fork_join", "barrier", "reduction", "dynamic_chunk", "team_change", "first_team"
    }  # fmt: skip
    assert all(m.key.startswith("llvm/") for m in more)


@given(st.integers(1, 300))
def test_core_counts_rise_from_one_to_all(most):
    counts = core_counts(most)
    assert counts[0] == 1
    assert counts[-1] == most
    assert list(counts) == sorted(set(counts))


def test_the_confidence_interval_by_hand():
    # mean 10, standard deviation sqrt(2.5), t(4) = 2.776
    samples = [8.0, 9.0, 10.0, 11.0, 12.0]
    assert relative_interval(samples) == pytest.approx(2.776 * math.sqrt(2.5) / math.sqrt(5) / 10)
    assert not has_converged(samples)
    assert has_converged([10.0, 10.1, 9.9, 10.0, 10.05])
    assert not has_converged([10.0, 10.0, 10.0])
    assert relative_interval([1.0]) == math.inf


@given(st.lists(st.floats(1, 2), min_size=2, max_size=30))
def test_the_interval_shrinks_with_the_spread(samples):
    interval = relative_interval(samples)
    assert interval >= 0
    assert interval <= 12.71 * stdev(samples) / fmean(samples) + 1e-12


def steady(value: float) -> list[float]:
    return [value] * 5


def test_times_become_cycles_of_the_measured_clock():
    samples = {
        "clock": steady(0.5),  # ns a cycle: 2 GHz
        "latency/1": steady(2.0),
        "latency/0": steady(100.0),
        "operation/fp_add/latency": steady(2.0),
        "operation/fp_add/throughput": steady(0.25),
        "bandwidth/0/load/1": steady(10.0),
        "bandwidth/0/load/6": steady(40.0),
        "openmp/barrier/1": steady(20.0),
        "openmp/barrier/12": steady(1000.0),
        "node/load/12": steady(41.0),
        "node/load/24": steady(45.0),
        "llvm/barrier/1": steady(10.0),
        "llvm/barrier/12": steady(500.0),
        "link/load": steady(20.0),
    }
    found = figures(NODE, (), samples)
    assert found.clock_hz == 2e9
    assert found.latency == {1: 4.0, 0: 200.0}
    assert found.operations == {"fp_add": (4.0, 0.5)}
    assert found.bandwidth[0]["load"] == {1: 10.0, 6: 40.0}
    assert found.openmp == {"barrier": {1: 40.0, 12: 2000.0}}
    # all packages get hardly more than one: they share their path
    assert found.node_traffic_gbps == 45.0
    assert found.link_gbps is None
    assert found.by_runtime == {"llvm": {"barrier": {1: 20.0, 12: 1000.0}}}
    apart = figures(NODE, (), {**samples, "node/load/24": steady(80.0)})
    assert apart.node_traffic_gbps is None
    assert apart.link_gbps == 20.0


def test_a_link_and_another_run_time_system_come_back_from_the_file(tmp_path):
    found = Figures(
        clock_hz=2e9,
        bandwidth={0: {"load": {1: 10.0, 6: 40.0}}},
        openmp={"barrier": {1: 40.0, 24: 2000.0}, "atomic": {1: 20.0, 24: 900.0}},
        by_runtime={"llvm": {"barrier": {1: 30.0, 24: 700.0}}},
        link_gbps=21.5,
    )
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m", found))
    machine = load(path)
    link = machine.memory.link_bytes_per_s
    assert link is not None
    assert (link.value, link.evidence) == (21.5e9, "measured")
    assert machine.overheads.barrier.at(24) == 2000.0
    llvm = machine.as_run(runtime="llvm").overheads
    assert llvm.barrier.at(24) == 700.0
    assert llvm.atomic.at(24) == 900.0
    assert machine.as_run(runtime="gcc").overheads is machine.overheads


def test_measured_figures_come_back_from_the_file(tmp_path):
    found = Figures(
        clock_hz=2e9,
        latency={1: 4.0, 2: 14.0, 3: 44.0, 0: 200.0},
        bandwidth={0: {"load": {1: 10.0, 6: 40.0, 24: 90.0}}, 1: {"copy": {1: 90.0, 6: 540.0}}},
        operations={"fp_add": (4.0, 0.5)},
        openmp={"barrier": {1: 40.0, 24: 2000.0}},
        node_traffic_gbps=45.0,
        remarks=("suspicious: something: {odd}",),
    )
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m", found))
    machine = load(path)
    assert machine.clock_hz == 2e9
    assert [c.latency_cycles.value for c in machine.caches] == [4.0, 14.0, 44.0]
    assert machine.memory.latency_cycles.value == 200.0
    assert machine.memory.latency_cycles.evidence == "measured"
    # a table of memory goes to the cores of one domain
    assert machine.memory.bandwidth["load"].x == (1, 6)
    assert machine.caches[0].bandwidth["copy"].at(6) == 540e9
    assert machine.operation("fp_add").throughput_cycles.value == 0.5
    assert machine.overheads.barrier.at(24) == 2000.0
    assert machine.memory.shared_path is not None
    assert "# suspicious: something: {odd}" in path.read_text()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Figures(latency={1: 5.0, 2: 4.0}), "L2 answers in 4 cycles, no slower than L1"),
        (Figures(latency={1: 5.0, 0: 4.0}), "memory answers in 4 cycles, no slower than L1"),
        (
            Figures(bandwidth={0: {"load": {1: 10.0, 2: 20.0, 4: 15.0}}}),
            "load from memory falls to 15 GB/s on 4 cores, from 20",
        ),
        (Figures(openmp={"barrier": {1: 50.0, 2: 900.0, 4: 90.0}}), "barrier costs 90 cycles on 4"),
        (Figures(operations={"fp_add": (3.0, 4.0)}), "fp_add has a throughput above its latency"),
    ],
)
def test_what_looks_wrong_is_flagged(found, said):
    assert any(said in remark for remark in suspicious(found))


def test_what_looks_right_is_not_flagged():
    assert (
        suspicious(
            Figures(
                latency={1: 4.0, 2: 14.0, 0: 200.0},
                bandwidth={0: {"load": {1: 10.0, 2: 19.0, 4: 18.5}}},
                openmp={"barrier": {1: 50.0, 2: 900.0, 4: 1000.0}},
                operations={"fp_add": (4.0, 0.5)},
            )
        )
        == ()
    )


def test_the_clock_is_measured_by_the_cores_of_one_package():
    clocks = {m.key: m for m in plan(NODE, GIB, NODE.threads) if m.program == "clock"}
    assert list(clocks)[:3] == ["clock", "clock/2", "clock/3"]
    assert list(clocks)[-1] == "clock/12"
    assert clocks["clock"].arguments == ("0",)
    assert clocks["clock/12"].arguments == (",".join(map(str, range(12))),)


def test_a_clock_that_falls_with_cores_at_work_comes_back_from_the_file(tmp_path):
    samples = {
        "clock": steady(0.25),  # 4 GHz
        "clock/2": [0.25, 0.25, 0.25, 0.3, 0.4],  # what others take of the host is not the clock
        "clock/6": steady(0.5),  # all the time disturbed: 12 cores are faster
        "clock/12": steady(0.4),  # 2.5 GHz
    }
    found = figures(NODE, (), samples)
    assert found.turbo_hz == {1: 4e9, 2: 4e9, 6: 2.5e9, 12: 2.5e9}
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m", found))
    turbo = load(path).node.turbo
    assert turbo is not None
    assert (turbo.at(1), turbo.at(4), turbo.at(12)) == (4e9, 3.25e9, 2.5e9)
    assert turbo.evidence == "measured"


@pytest.mark.parametrize(
    "clocks", [{1: 4e9, 2: 4.1e9, 12: 3.95e9}, {1: 4e9, 2: 3e9, 12: 4e9}, {2: 4e9, 12: 3e9}]
)
def test_one_clock_for_any_number_of_cores_is_no_table(tmp_path, clocks):
    """As far as a step of the clock tells, noise or not; nor is there one without one core's."""
    keys = {1: "clock", 2: "clock/2", 12: "clock/12"}
    samples = {keys[count]: steady(1e9 / rate) for count, rate in clocks.items()}
    found = figures(NODE, (), samples)
    assert found.turbo_hz == {}
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m", found))
    assert load(path).node.turbo is None


def test_unmeasured_and_unsteady_keys_are_named():
    measurements = plan(NODE, GIB, NODE.threads)
    found = figures(NODE, measurements, {"clock": steady(0.5), "latency/1": [1.0, 9.0]})
    assert any("not measured within the budget" in remark for remark in found.remarks)
    assert any("latency/1" in remark and "95 %" in remark for remark in found.remarks)


PLANNED = plan(NODE, GIB, NODE.threads, "/lib/libomp.so")


@given(st.dictionaries(st.sampled_from([m.key for m in PLANNED]), st.floats(0.01, 1000)))
def test_whatever_was_measured_the_file_is_one(tmp_path_factory, medians):
    """However early the budget ends, and whichever programs gave nothing."""
    samples = {key: steady(value) for key, value in medians.items()}
    path = tmp_path_factory.mktemp("calibrated") / "m.yaml"
    path.write_text(write(NODE, "m", figures(NODE, PLANNED, samples)))
    assert load(path).packages == NODE.packages


def test_costs_of_teams_alone_are_no_table(tmp_path):
    """None of one thread was measured: neither run-time system has a table then."""
    samples = {"clock": steady(0.5), "openmp/barrier/12": steady(9.0), "llvm/barrier/12": steady(9)}
    found = figures(NODE, PLANNED, samples)
    assert (found.openmp, found.by_runtime) == ({}, {})
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m", found))
    assert load(path).as_run(runtime="llvm").overheads == load(path).overheads


@pytest.mark.parametrize("printed", ["inf", "nan", "0", "-2", "1e400"])
def test_what_a_program_prints_that_is_no_time_is_no_sample(tmp_path, printed):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho {printed}\necho 1.5\n")
    program.chmod(0o700)
    assert _run(program, Measurement("clock", "clock", ()), 0.1, 60.0) == [1.5]


def test_samples_survive_an_interruption(tmp_path):
    path = tmp_path / "samples.json"
    state = State.read(path, "host a")
    state.add("clock", [0.5, 0.6])
    state.add("clock", [0.7])
    again = State.read(path, "host a")
    assert again.samples == {"clock": [0.5, 0.6, 0.7]}
    assert again.resumed == 1
    assert State.read(path, "host b").samples == {}
    path.write_text("{")
    with pytest.raises(InputError, match="remove this file"):
        State.read(path, "host a")


SMALL = Topology(
    name="this host, small",
    source="a test",
    packages=1,
    cores_per_package=2,
    domains_per_package=1,
    threads_per_core=1,
    caches=(CacheShape(1, 32 * KIB, 64, 8, 1), CacheShape(2, 512 * KIB, 64, 8, 2)),
    threads=(min(os.sched_getaffinity(0)),) * 2 if hasattr(os, "sched_getaffinity") else (0, 0),
)
"""Two threads on one processor: every host has it, but not every container the first one. The
figures mean nothing; that they come out does."""
PATIENCE_S = 300


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_real_calibration_in_little_time_loads_and_goes_on(tmp_path):
    state = tmp_path / "samples.json"
    seen = []

    def measure(budget: float):
        return calibrate(
            SMALL,
            compiler="gcc",
            budget_s=budget,
            state_path=state,
            free_bytes=64 * MIB,
            progress=seen.append,
        )

    class Stop(Exception):
        pass

    def stop_after_three(progress):
        seen.append(progress)
        if len(seen) == 3:
            raise Stop

    with pytest.raises(Stop):
        calibrate(
            SMALL,
            compiler="gcc",
            budget_s=30,
            state_path=state,
            free_bytes=64 * MIB,
            progress=stop_after_three,
        )
    kept = json.loads(state.read_text())["samples"]
    assert len(kept) == 3
    result = measure(6.0)
    assert result.resumed == 3
    after = json.loads(state.read_text())["samples"]
    for key, samples in kept.items():
        assert after[key][: len(samples)] == samples
    deadline = time.monotonic() + PATIENCE_S
    while not {"clock", "latency/0", "latency/1"} <= set(after):  # a busy host takes more budgets
        assert time.monotonic() < deadline
        result = measure(2.0)
        after = json.loads(state.read_text())["samples"]
    found = result.figures
    assert found.clock_hz is not None
    assert found.latency[1] < found.latency[0]
    assert all(value > 0 for samples in after.values() for value in samples)
    assert all(p.done <= p.total for p in seen)
    path = tmp_path / "m.yaml"
    path.write_text(write(SMALL, "m", found))
    assert load(path).clock_hz == pytest.approx(found.clock_hz, rel=1e-3)


@pytest.mark.compiler
def test_a_compiler_that_fails_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match="no compiler 'nosuchcc'") as caught:
        calibrate(SMALL, compiler="nosuchcc", budget_s=1, state_path=tmp_path / "s", free_bytes=MIB)
    assert "\n" not in str(caught.value)
    false = shutil.which("false")
    assert false is not None
    with pytest.raises(InputError, match="cannot compile"):
        calibrate(SMALL, compiler=false, budget_s=1, state_path=tmp_path / "s", free_bytes=MIB)
