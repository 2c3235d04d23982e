"""Nests, counters and workloads of short C texts, for tests that say what a loop does by source."""

from __future__ import annotations

import tempfile
from pathlib import Path

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.schedule import Schedule
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.workload import SizeTarget, TrafficCounter, Workload, workload_of
from regionpredict.workload.loop_nest import LoopNest, NestLoop, ReferenceGroup
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.work_distribution import work_profile

_FOLDER = tempfile.TemporaryDirectory()
STATIC = Schedule("static", None)
MEBIBYTE = SizeTarget(float(1 << 20), "a MiB")


def facts_of_text(text: str, **sizes: int) -> tuple[RegionFacts, ...]:
    """The facts of every region of a C text."""
    path = Path(_FOLDER.name, "case.c")
    path.write_text(text)
    return analyse(requests_for((str(path),)), sizes).facts


def facts_of(loops: str, parameters: str = "int n", clauses: str = "", **sizes: int) -> RegionFacts:
    """The facts of one parallel loop, whose text begins in line 3 of its file."""
    text = f"void f({parameters}) {{\n#pragma omp parallel for {clauses}\n{loops}\n}}\n"
    (facts,) = facts_of_text(text, **sizes)
    return facts


def nest_of(loops: str, parameters: str = "int n", clauses: str = "", **sizes: int) -> LoopNest:
    """The same loop in numbers."""
    facts = facts_of(loops, parameters, clauses, **sizes)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    return nest


def workload_in(loops: str, parameters: str = "int n", clauses: str = "", **sizes: int) -> Workload:
    """The workload of the loop, for lines of 64 bytes."""
    return workload_of(facts_of(loops, parameters, clauses, **sizes), MEBIBYTE, 64)


def counter_of(
    nest: LoopNest, schedule: Schedule = STATIC, line_bytes: int = 64, *, traced: bool = False
) -> TrafficCounter:
    """A counter of the nest's traffic; by closed forms, unless small nests are to be traced."""
    return TrafficCounter(nest, work_profile(nest), schedule, line_bytes, traced=traced)


def loop_named(nest: LoopNest, variable: str) -> NestLoop:
    """The only loop over a variable."""
    (loop,) = (loop for loop in nest.loops if loop.variable == variable)
    return loop


def group_of(nest: LoopNest, array: str) -> ReferenceGroup:
    """The only reference group of an array."""
    (group,) = (group for group in nest.groups() if group.array == array)
    return group
