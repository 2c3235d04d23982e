"""Tables of a trace's results: values and names against a run derived by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.report.document_text import document_text
from regionpredict.report.metric_names import metric_name
from regionpredict.report.trace_results import result_document
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.profile import TraceResult
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.trace.trace_builder import TraceBuilder

pytestmark = pytest.mark.compiler


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Rank 0 works for 100 µs and sends. Rank 1 works twice, 20 µs each, and waits 60 µs."""
    build = TraceBuilder(2, ticks_per_second=10**9)
    for rank, works in ((0, (100e-6,)), (1, (20e-6, 40e-6))):
        build.enter(rank, 0, "main")
        begin = 0.0
        for end in works:
            build.enter(rank, begin, "work")
            build.leave(rank, end)
            begin = end
    build.enter(0, 100e-6, "MPI_Send")
    build.send(0, 100e-6, 1, size=8)
    build.leave(0, 100e-6)
    build.enter(1, 40e-6, "MPI_Recv")
    build.receive(1, 100e-6, 0, size=8)
    build.leave(1, 100e-6)
    for rank in (0, 1):
        build.leave(rank, 100e-6)
    return analyse(build.build(), Kernels(("cc",), tmp_path_factory.mktemp("kernels")))


def lines_of(result: TraceResult, analysis: Analysis) -> list[str]:
    text = document_text(result_document(result, analysis, 20))
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_flat_profile_has_time_visits_and_waits_by_region(late: Analysis) -> None:
    """Of 200 µs of both ranks, work has 140 in 3 visits, and MPI_Recv waits in all of its 60."""
    found = {one.region: one for one in wait_states(late).regions}
    work, receive = found["work"], found["MPI_Recv"]
    assert (work.kind, work.visits, work.waiting_s) == ("user", 3, 0)
    assert work.seconds == pytest.approx(140e-6)
    assert (receive.kind, receive.visits) == ("MPI", 1)
    assert (receive.seconds, receive.waiting_s) == pytest.approx((60e-6, 60e-6))
    lines = lines_of(wait_states(late), late)
    assert "work user 140 µs 70.0 3 46.7 µs" in lines
    assert "MPI_Recv MPI 60 µs 30.0 1 60 µs 60 µs" in lines


def test_waits_have_their_share_of_the_time_of_all_locations(late: Analysis) -> None:
    lines = lines_of(wait_states(late), late)
    assert "late sender 60 µs 30.0 1" in lines
    assert "late sender main/MPI_Recv 60 µs 1" in lines


def test_delays_are_ranked_by_the_call_path_that_causes_them(late: Analysis) -> None:
    lines = lines_of(delay_costs(late), late)
    assert "main/work makes others wait most: 60 µs in sum." in lines
    assert "main/work 60 µs 60 µs late sender 0" in lines
    assert "all 60 µs 0 s 0 s 60 µs" in lines


def test_the_critical_path_has_shares_excess_and_impact(late: Analysis) -> None:
    """The path is the 100 µs of work on rank 0, 30 more than the mean of 100 and 40."""
    lines = lines_of(critical_path(late), late)
    assert "main/work 100 µs 100.0 30 µs 60 µs 0" in lines


@pytest.mark.parametrize("command", [wait_states, delay_costs, critical_path])
def test_every_metric_of_the_package_has_a_name(late: Analysis, command: object) -> None:
    assert callable(command)
    assert [name for name in command(late).totals if "_" in metric_name(name)] == []


def test_text_has_no_exponents(late: Analysis) -> None:
    for result in (wait_states(late), delay_costs(late), critical_path(late)):
        assert "e-0" not in document_text(result_document(result, late, 20))


def test_time_between_calls_has_a_name(tmp_path: Path) -> None:
    """A rank without functions: 30 of its 100 µs are in MPI_Init."""
    build = TraceBuilder(1, ticks_per_second=10**9)
    build.enter(0, 0, "MPI_Init")
    build.leave(0, 30e-6)
    build.enter(0, 100e-6, "MPI_Finalize")
    build.leave(0, 100e-6)
    analysis = analyse(build.build(), Kernels(("cc",), tmp_path))
    assert "(between calls) user 70 µs 70.0 1 70 µs" in lines_of(wait_states(analysis), analysis)
