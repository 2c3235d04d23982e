"""MPI_Probe waits for the sender of the message that it finds."""

from __future__ import annotations

import pytest

from regionpredict.trace import EventTrace, TraceBuilder
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.results import wait_states
from regionpredict.trace.what_if import what_if

pytestmark = pytest.mark.compiler


def probed(call: str = "MPI_Probe", sent: float = 3.0) -> EventTrace:
    """Rank 1 probes from 1 s to 3.5 s, and receives from 4 s. Rank 0 sends at `sent`.

    MPI_Mprobe has the message itself.
    """
    build = TraceBuilder(2)
    for rank in (0, 1):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "work")
    build.leave(0, sent)
    build.enter(0, sent, "MPI_Send")
    build.send(0, sent, 1, size=8)
    build.leave(0, sent + 0.25)
    build.leave(1, 1)
    build.enter(1, 1, call)
    if call == "MPI_Mprobe":
        build.receive(1, 3.5, 0, size=8)
    build.leave(1, 3.5)
    build.enter(1, 4, "MPI_Recv")
    if call != "MPI_Mprobe":
        build.receive(1, 4.5, 0, size=8)
    build.leave(1, 4.5)
    for rank in (0, 1):
        build.leave(rank, 5)
    return build.build()


def late_senders(analysis: Analysis) -> dict[str, float]:
    return {
        record.callpath: record.value
        for record in wait_states(analysis).records
        if record.metric == "late_sender" and record.value
    }


def test_a_probe_waits_for_a_late_sender(kernels: Kernels) -> None:
    analysis = analyse(probed(), kernels)
    assert late_senders(analysis) == {"main/MPI_Probe": pytest.approx(2.0)}
    assert analysis.not_analysed == {}
    costs = analysis.replay.short_term.sum(axis=(0, 1)) / 1e9
    assert dict(zip(analysis.names, costs.tolist(), strict=True))["main/work"] == pytest.approx(2.0)


def test_a_probe_gains_and_replays_like_a_matched_one(kernels: Kernels) -> None:
    """Without its delay, rank 0 sends at 1 s. Rank 1 computes 1 + 0.5 + 0.5 s around the calls."""
    (change,) = what_if(analyse(probed(), kernels), kernels).changes
    assert (change.callpath, change.gain_s) == ("main/work", pytest.approx(2.0))
    ends = []
    for call in ("MPI_Probe", "MPI_Mprobe"):
        analysis = analyse(probed(call), kernels)
        factors = run_factors(analysis.trace, analysis.matches, kernels)
        assert factors.not_analysed == {}
        ends.append(factors.ideal_runtime_s)
    assert ends == pytest.approx([4.75, 4.75])  # rank 0 computes 3 and 1.75 s


def test_a_message_that_is_sent_after_the_probe_is_another(kernels: Kernels) -> None:
    analysis = analyse(probed(sent=3.75), kernels)
    assert late_senders(analysis) == {}
    assert analysis.not_analysed == {"MPI_Probe": 1}


def test_a_sender_that_is_not_late(kernels: Kernels) -> None:
    analysis = analyse(probed(sent=0.5), kernels)
    assert late_senders(analysis) == {}
    assert analysis.not_analysed == {}
