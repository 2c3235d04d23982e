"""Replays: which runs count, and the bounds that hold however busy the host is."""

from __future__ import annotations

import os

import pytest
from drawn_graphs import KNOWN, drawn
from further_cases import further_slow

from regionpredict.errors import InputError
from regionpredict.tasks import measure_graph
from regionpredict.tasks.replay import QUIET, _is_converged, _Run, _runs_that_count, replay
from regionpredict.tasks.task_graph import graph_of_tasks

QUIET_RUN, TAKEN = _Run(1.0, QUIET.value), _Run(3.0, 1.5)


def test_runs_that_others_disturbed_do_not_count():
    assert _runs_that_count([QUIET_RUN, TAKEN] * 5) == [QUIET_RUN] * 5
    assert _is_converged(_runs_that_count([QUIET_RUN, TAKEN] * 5))


def test_too_few_quiet_runs_are_no_sample():
    runs = [TAKEN, QUIET_RUN, TAKEN, TAKEN, TAKEN, TAKEN]
    assert _runs_that_count(runs) == runs
    assert not _is_converged(_runs_that_count(runs))
    assert not _is_converged([TAKEN] * 60)


def test_quiet_runs_that_differ_want_more():
    assert not _is_converged([_Run(1.0, 0.0), _Run(2.0, 0.0)] * 4)


@pytest.mark.compiler
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("known", further_slow(2, map(pytest.param, KNOWN)))
def test_no_replay_is_faster_than_work_and_depth_allow(recorders, known, threads):
    figure = drawn(*known[:2])
    edges = list(zip(figure.sources.tolist(), figure.targets.tolist(), strict=True))
    graph = graph_of_tasks([1e-5 * second for second in figure.seconds.tolist()], edges)
    run = replay(
        graph, threads, compiler=["gcc"], cache=recorders, environment=os.environ, most_runs=10
    )
    metrics = measure_graph(graph, concurrency=False)
    # Times are whole nanoseconds there.
    assert run.least_s >= max(metrics.depth_s, metrics.work_s / threads) - 1e-8 * graph.nodes
    assert run.starts == graph.nodes
    assert run.runs >= 5
    assert 0 <= run.overhead_s * run.starts / threads <= run.seconds


@pytest.mark.compiler
def test_a_time_limit_ends_a_replay_with_the_runs_made_until_then(recorders):
    setting = {"compiler": ["gcc"], "cache": recorders, "environment": os.environ}
    # A run takes 0.4 s, and the first one does not count if there is another: one is too few.
    heard: list[int] = []
    run = replay(graph_of_tasks([0.4], []), 1, limit_s=1.0, on_run=heard.append, **setting)
    assert run.runs == 1
    assert not run.in_time
    assert run.seconds >= 0.4
    assert heard[:1] == [0]
    with pytest.raises(InputError, match=r"no run on 1 thread has ended after 0 s: .* 60 s of"):
        replay(graph_of_tasks([60.0], []), 1, limit_s=0.3, **setting)
