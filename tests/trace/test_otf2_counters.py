"""Counters of OTF2 archives: instructions and cycles in useful time."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.otf2_reader import read_otf2

otf2 = pytest.importorskip("otf2")
pytestmark = pytest.mark.compiler
RESOLUTION = 10**9
MS = 10**6


def counted(folder: Path, mode: str) -> Path:
    """Two ranks work 10 and 20 ms, meet in a barrier, and read two counters before each event.

    Rank r counts 1000 (r + 1) instructions in its work, 77 in the barrier, twice that in cycles.
    """
    from otf2.enums import MetricMode, MetricOccurrence, Paradigm, Type

    with otf2.writer.open(str(folder), timer_resolution=RESOLUTION) as archive:
        define = archive.definitions
        node = define.system_tree_node("node")
        regions = {
            name: define.region(
                name, paradigm=Paradigm.MPI if name[:3] == "MPI" else Paradigm.COMPILER
            )
            for name in ("main", "work", "MPI_Barrier")
        }
        members = tuple(
            define.metric_member(name, metric_mode=getattr(MetricMode, mode),
                                 value_type=Type.UINT64, unit="#")
            for name in ("PAPI_TOT_INS", "PAPI_TOT_CYC")
        )  # fmt: skip
        counters = define.metric_class(members, occurrence=MetricOccurrence.SYNCHRONOUS_STRICT)
        for rank in (0, 1):
            place = define.location(
                "Master thread",
                group=define.location_group(f"MPI Rank {rank}", system_tree_parent=node),
            )
            writer = archive.event_writer_from_location(place)
            work = 10 * (rank + 1) * MS
            total = 5_000_000  # counted before the first event
            for time, what, region, grown in (
                (0, "enter", "main", 0), (0, "enter", "work", 0),
                (work, "leave", "work", 1000 * (rank + 1)), (work, "enter", "MPI_Barrier", 0),
                (20 * MS, "leave", "MPI_Barrier", 77), (20 * MS, "leave", "main", 0),
            ):  # fmt: skip
                total += grown
                value = total if mode.startswith("ACCUMULATED") else grown
                writer.metric(time, counters, (value, 2 * value))
                getattr(writer, what)(time, regions[region])
    return folder


@pytest.mark.parametrize("mode", ["ACCUMULATED_START", "RELATIVE_NEXT"])
def test_instructions_and_cycles_of_useful_time(
    tmp_path: Path, kernels: Kernels, mode: str
) -> None:
    trace = read_otf2(counted(tmp_path / "t", mode), kernels)
    assert [counter.name for counter in trace.counters] == ["PAPI_TOT_INS", "PAPI_TOT_CYC"]
    assert [counter.unit for counter in trace.counters] == ["#", "#"]
    for counter, times in zip(trace.counters, (1, 2), strict=True):
        assert counter.increase.tolist() == [
            times * grown for grown in (0, 0, 1000, 0, 77, 0, 0, 0, 2000, 0, 77, 0)
        ]
        assert counter.event.tolist() == list(range(12))
    assert trace.findings == ()
    found = run_factors(trace, match_operations(trace, kernels), kernels)
    assert (found.instructions, found.cycles) == (3000, 6000)
    assert found.instruction_balance == pytest.approx(1500 / 2000)
    assert found.ipc == pytest.approx(0.5)
    assert found.frequency_hz == pytest.approx(6000 / 0.030)


def test_levels_are_no_counters(tmp_path: Path, kernels: Kernels) -> None:
    trace = read_otf2(counted(tmp_path / "t", "ABSOLUTE_POINT"), kernels)
    assert trace.counters == ()
