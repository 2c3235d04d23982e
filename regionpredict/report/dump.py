"""Facts and predictions as plain text, for `--dump`."""

from __future__ import annotations

from regionpredict.analysis import RegionFacts
from regionpredict.predict import Prediction


def dump_facts(facts: RegionFacts) -> str:
    """One region's facts: counts, statements, references, arrays."""
    region = facts.region
    lines = [f"region {region.id} in {region.function}: {facts.status}"]
    lines.append(f"  iterations {facts.iterations}")
    lines.append(f"  working set {facts.working_set} bytes")
    for fact in facts.statements:
        work = ", ".join(f"{op.kind}.{op.bits} x{n}" for op, n in fact.statement.operations)
        lines.append(
            f"  {fact.statement.text}  # runs {fact.executions}; {work or 'no arithmetic'}"
        )
        for access in fact.accesses:
            counted = "" if access.counted else ", not counted"
            what = f"{access.access.kind} {access.access.text}"
            lines.append(f"    {what}: {access.reuse}, {access.pattern}{counted}")
    for array in facts.arrays:
        counted = "" if array.counted else ", not counted"
        lines.append(f"  array {array.name}: {array.dims} dimensions{counted}")
    lines += [f"  note {note}" for note in facts.diagnostics]
    return "\n".join(lines)


def dump_prediction(prediction: Prediction) -> str:
    """One region's prediction, a line a field."""
    lines = [f"region {prediction.facts.region.id}: {prediction.status} by {prediction.model}"]
    for field in ("score", "miss_probability", "working_set_bytes", "packages", "threads",
                  "bottleneck", "confidence", "borderline"):  # fmt: skip
        lines.append(f"  {field} {getattr(prediction, field)}")
    lines += [f"  assumed {line}" for line in prediction.assumed]
    lines += [f"  speedup {threads} {value:.4g}" for threads, value in prediction.speedup]
    return "\n".join(lines)
