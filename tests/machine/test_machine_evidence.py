"""Every figure of a machine by its key, and which of those that a prediction took are assumed."""

from __future__ import annotations

import pytest

from regionpredict.machine import assumed_figures, load, shipped_names
from regionpredict.machine.evidence import evidence_counts, figures, weights
from regionpredict.machine.reader import read

TEXT = """\
name: m
source: a made up data sheet
node: {packages: 1, cores_per_package: 4, clock: 2 GHz}
processor: {family: haswell, prefetched_streams: {assumed: 8, source: a guess}}
caches:
  - {level: 1, size: 32 KiB, cores: 1, latency: 4}
memory:
  latency: {assumed: 100 ns, source: as its sister part}
  bandwidth:
    load: {assumed: {1: 10, 4: 20}, source: read off a graph}
    copy: {1: 8, 4: 16}
"""


@pytest.mark.parametrize("name", sorted(shipped_names()))
def test_each_figure_has_one_key_and_is_counted_once(name):
    machine = load(name)
    keys = [key for key, _ in (*figures(machine), *weights(machine))]
    assert len(keys) == len(set(keys))
    assert sum(evidence_counts(machine).values()) == len(list(figures(machine)))
    for key in ("node.clock", "processor.issue_width", "caches[0].line", "memory.page",
                "operations.fp_add.latency", "openmp.barrier", "density.hit"):  # fmt: skip
        assert key in keys


def test_a_figure_says_how_it_is_known():
    machine = read(TEXT, "m")
    known = dict(figures(machine))
    assert known["memory.bandwidth.copy"].evidence == "measured"
    assert known["memory.bandwidth.load"].evidence == "assumed"
    assert known["processor.divider_bits"].evidence == "derived"
    assert "memory.bandwidth.triad" not in known


def test_the_assumed_among_those_that_were_used():
    machine = read(TEXT, "m")
    used = ["memory.latency", "memory.bandwidth.load", "node.clock", "processor.prefetched_streams",
            "memory.latency", "memory.bandwidth.triad", "caches[0].ways"]  # fmt: skip
    # 100 ns at 2 GHz; the copy of a key and the one that there is not a figure for say nothing
    assert assumed_figures(machine, used) == (
        "memory.latency = 200 cycles (assumed: as its sister part)",
        "memory.bandwidth.load (assumed: read off a graph)",
        "processor.prefetched_streams = 8 streams (assumed: a guess)",
    )
    assert assumed_figures(machine, []) == ()
