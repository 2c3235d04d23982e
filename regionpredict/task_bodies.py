"""`predicted_bodies` predicts how concurrent tasks slow each other down.

A task body is read as a region whose iterations are the tasks. The prediction is the slowdown of
its work on several threads.
"""

from __future__ import annotations

from regionpredict.analysis import RegionFacts
from regionpredict.machine import Machine
from regionpredict.pipeline import Analysis, region_workload
from regionpredict.predict import contention_slowdown
from regionpredict.report.task_contention import BodyContention, PredictedBodies


def predicted_bodies(analysis: Analysis, machine: Machine, threads: int) -> PredictedBodies:
    """The slowdown of each task body of an analysis, on `threads` threads of the machine."""
    bodies = tuple(_predict_body(facts, machine, threads) for facts in analysis.facts)
    return PredictedBodies(machine.name, threads, bodies)


def _predict_body(facts: RegionFacts, machine: Machine, threads: int) -> BodyContention:
    region = facts.region
    loop = region.nest.span.line if region.nest is not None else None
    workload = region_workload(facts, machine)
    slowdown = contention_slowdown(workload, machine, threads)
    assumed = () if slowdown is None else (*workload.table.assumed, *workload.guessed)
    return BodyContention(
        region.span.file,
        region.span.line,
        loop,
        slowdown,
        assumed,
    )
