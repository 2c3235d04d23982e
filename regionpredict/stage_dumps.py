"""Prints a stage of the pipeline as text, for --dump."""

from __future__ import annotations

from regionpredict.errors import UsageError
from regionpredict.ir.pprint import dump_program
from regionpredict.machine import Machine
from regionpredict.pipeline import Analysis, Predictions, region_workload
from regionpredict.report.dump import dump_facts, dump_prediction, dump_workload
from regionpredict.workload import Workload
from regionpredict.workload.verify import verify


def dump(stage: str, analysis: Analysis, predictions: Predictions | None) -> str:
    """One stage's value as text."""
    if stage == "program":
        return dump_program(analysis.program)
    if stage == "facts":
        return "\n".join(dump_facts(facts) for facts in analysis.facts)
    if predictions is None:
        raise UsageError(f"--dump {stage} needs a machine", remedy="use predict -m MACHINE")
    if stage == "workload":
        return "\n".join(
            _workload_text(region_workload(facts, predictions.machine, *past), predictions.machine)
            for facts, past in zip(analysis.facts, predictions.pasts, strict=True)
        )
    return "\n".join(dump_prediction(prediction) for prediction in predictions.predictions)


def _workload_text(workload: Workload, machine: Machine) -> str:
    caches = [(f"L{cache.level}", cache.size_bytes.whole) for cache in machine.caches]
    verify(workload, threads=(1, machine.cores), caches=[size for _, size in caches])
    return dump_workload(workload, caches)
