"""Prints a stage of the pipeline as text, for --dump."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.patterns import LINE_BYTES
from regionpredict.errors import UsageError, plural
from regionpredict.ir.pprint import dump_program
from regionpredict.machine import Machine
from regionpredict.pipeline import Analysis, Predictions, region_workload
from regionpredict.predict import Prediction
from regionpredict.report.reuse import reuse_sentence
from regionpredict.report.size_hints import dependence_sentence
from regionpredict.workload import (
    CacheLevel,
    Execution,
    LoopBody,
    Work,
    Workload,
    largest_share,
    reuse_facts,
)
from regionpredict.workload.verify import verify

_TEAMS = (2, 4, 16)
"""Numbers of threads for which the largest share of the work is printed."""


def dump_stage(stage: str, analysis: Analysis, predictions: Predictions | None) -> str:
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


def dump_facts(facts: RegionFacts) -> str:
    """One region's facts: counts, statements, references, arrays."""
    region = facts.region
    reuse = iter(reuse_facts(facts, LINE_BYTES))
    lines = [f"region {region.id} in {region.function}: {facts.status}"]
    lines.append(f"  iterations {facts.iterations}")
    lines.append(f"  working set {facts.working_set} bytes")
    for fact in facts.statements:
        work = ", ".join(f"{op} x{n}" for op, n in fact.statement.operations)
        lines.append(
            f"  {fact.statement.text}  # runs {fact.executions}; {work or 'no arithmetic'}"
        )
        for access in fact.accesses:
            counted = "" if access.counted else ", not counted"
            what = f"{access.access.kind} {access.access.text}"
            lines.append(f"    {what}: {access.reuse}, {access.pattern}{counted}")
            far = next(reuse, None)
            lines += [f"      {reuse_sentence(far, LINE_BYTES)}"] if far is not None else []
    for array in facts.arrays:
        counted = "" if array.counted else ", not counted"
        lines.append(f"  array {array.name}: {plural(array.dims, 'dimension')}{counted}")
    lines += [f"  note {note}" for note in facts.diagnostics]
    return "\n".join(lines)


def dump_workload(workload: Workload, caches: Sequence[tuple[str, int]]) -> str:
    """One region's workload: work, loop bodies, synchronization, arrays, and traffic on one thread.

    `caches` are (name, bytes) from the first level on. Traffic is counted below these sizes, with
    empty caches at the start.
    """
    table, execution = workload.table, workload.execution
    lines = [f"region {table.region}: {table.status}"]
    for row in table.statements:
        counted = [reference for reference in row.references if reference.counted]
        hits = sum(row.reuse == "hit" for row in counted)
        operations = sum(number for _, number in row.operations)
        lines.append(
            f"  line {row.line}: {plural(operations, 'operation')}, "
            f"{plural(len(row.references), 'reference')}, "
            f"{len(counted)} counted, {hits} hit"
        )
    lines += [f"  guessed {line}" for line in workload.guessed]
    if execution is None:
        return "\n".join([*lines, "  no loop to execute"])
    limit = "no limit" if workload.team_limit is None else f"at most {workload.team_limit}"
    chunk = "" if workload.schedule.chunk is None else f", {workload.schedule.chunk:g} a piece"
    lines.append(f"  threads {limit}, schedule {workload.schedule.kind}{chunk}")
    lines += _execution_lines(execution)
    shares = ", ".join(
        f"{largest_share(execution.work.profile, threads, workload.schedule):.6g} of {threads}"
        for threads in _TEAMS
    )
    lines.append(f"  largest share {shares}")
    lines += _traffic_lines(workload, execution.work, caches)
    for work in execution.serial:
        lines.append(f"  {work.kind} {plural(work.visits, 'time')}, one thread at a time")
        lines += [f"  {line}" for body in work.work.bodies for line in _body_lines(body)]
    lines.append(f"  pages {workload.placement.kind} ({workload.placement.reason})")
    return "\n".join(lines)


def _execution_lines(execution: Execution) -> list[str]:
    lines = [f"  assumed {line}" for line in execution.assumed]
    for body in execution.work.bodies:
        lines += _body_lines(body)
    counts = execution.synchronisation
    start = "forks" if counts.forks else "in a team"
    end = "waits" if counts.waits else "nowait"
    inside = "".join(f", {name} {n:g}" for name, n in sorted(counts.by_construct.items()))
    lines.append(
        f"  {start}, {end}, iterations {counts.iterations:g}, "
        f"reductions {counts.reductions}{inside}"
    )
    lines += [
        f"  atomic {updates.text}: {updates.updates:g} updates anywhere in {updates.array}"
        for updates in counts.spread
    ]
    for array in execution.sharing:
        stride = "shared by all" if array.stride is None else f"{array.stride:g} bytes apart"
        written = "written" if array.written else "read"
        held = f", {plural(array.held_rank, 'dimension')} with others" if array.held_rank else ""
        lines.append(f"  array {array.name}: {written}, {stride}, rank {array.rank}{held}")
    return lines


def _body_lines(body: LoopBody) -> list[str]:
    work = ", ".join(f"{kind} x{number:g}" for kind, number in body.operations)
    lines = [
        f"  body of {body.variable} (line {body.line}) runs {body.executions:g}: "
        f"{work or 'no arithmetic'}; {plural(body.loads, 'load')}, "
        f"{plural(body.stores, 'store')} of {plural(body.element_bytes, 'byte')}"
        + (f"; {body.scalar_because}" if body.scalar_because else "")
    ]
    for chain in body.recurrences:
        apart = (
            "in place" if chain.distance is None else f"over {plural(chain.distance, 'iteration')}"
        )
        apart += ", in any order" if chain.unordered else ""
        lines.append(f"    {chain.name} {apart}")
    return lines


def _traffic_lines(workload: Workload, work: Work, caches: Sequence[tuple[str, int]]) -> list[str]:
    sizes = [CacheLevel(float(size), 1) for _, size in caches]
    levels = workload.traffic_of(work).traffic(sizes, 1)
    lines = []
    for (name, _), level in zip(caches, levels, strict=True):
        arrays = ", ".join(
            f"{array.array} {array.read:.6g}+{array.written:.6g}" for array in level.arrays
        )
        lines.append(f"  below {name} read+written bytes: {arrays or 'none'}")
    return lines


def dump_prediction(prediction: Prediction) -> str:
    """One region's prediction, one field per line."""
    lines = [f"region {prediction.facts.region.id}: {prediction.status} by {prediction.model}"]
    for field in ("score", "miss_probability", "working_set_bytes", "packages", "threads",
                  "bottleneck", "confidence", "borderline"):  # fmt: skip
        lines.append(f"  {field} {getattr(prediction, field)}")
    told = dependence_sentence(prediction, whole=True)
    lines += [f"  open {told}"] if told else []
    lines += [f"  assumed {line}" for line in prediction.assumed]
    lines += [f"  speedup {threads} {value:.4g}" for threads, value in prediction.speedup]
    return "\n".join(lines)
