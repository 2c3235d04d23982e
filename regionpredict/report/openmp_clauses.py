"""Hints as the clauses to write behind each directive.

gemm.c
  39: #pragma omp parallel for   num_threads(6) proc_bind(close)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from regionpredict.ir import Region
from regionpredict.predict import Prediction


def clauses_of(prediction: Prediction) -> str | None:
    """`num_threads(6) proc_bind(close)`; None where there is no hint, or no team to size here.

    Close, one domain after the other, is how the predictions place the threads.
    """
    region = prediction.facts.region
    if prediction.status == "skipped" or not prediction.threads:
        return None
    if "parallel" not in region.directive.split():
        return None
    return f"num_threads({prediction.threads}) proc_bind(close)"


def openmp_clauses(predictions: Sequence[Prediction]) -> str:
    """One line a region, under its file; what has no clause says why."""
    lines: list[str] = []
    for file, group in groupby(
        predictions, key=lambda prediction: prediction.facts.region.span.file
    ):
        lines += ([""] if lines else []) + [file]
        for prediction in group:
            region = prediction.facts.region
            own = " ".join([region.directive, *_kept(region)])
            clauses = clauses_of(prediction) or _why_not(prediction)
            lines.append(f"{region.span.line:>6}: #pragma omp {own}   {clauses}")
    return "\n".join(lines) + "\n" if lines else ""


def _kept(region: Region) -> list[str]:
    """The clauses that stand there, but for those that the hint takes the place of."""
    return [
        clause.name if clause.text is None else f"{clause.name}({clause.text})"
        for clause in region.clauses
        if clause.name not in ("num_threads", "proc_bind")
    ]


def _why_not(prediction: Prediction) -> str:
    if prediction.status == "skipped" or not prediction.threads:
        return "// no hint"
    return (
        f"// {prediction.threads} threads: write num_threads({prediction.threads}) at the parallel "
        "directive around it"
    )
