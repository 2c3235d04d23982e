"""The derivation of one region's hint by the density model, for `regionpredict explain
FILE:LINE`.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.errors import one_line
from regionpredict.ir import Loop
from regionpredict.machine import Machine
from regionpredict.predict import (
    Advice,
    DensityDerivation,
    Prediction,
    StatementScore,
    TeamPrediction,
)
from regionpredict.predict.curve import SaturationDerivation
from regionpredict.report.curve import explain_curve
from regionpredict.report.page_width import wrapped
from regionpredict.report.quantities import plural, show_bytes
from regionpredict.report.reuse import explain_reuse
from regionpredict.report.unconverged import convergence_sentence
from regionpredict.report.working_set import working_set_line


def explain_prediction(
    prediction: Prediction, machine: Machine, team: TeamPrediction | None = None,
    advice: Sequence[Advice] = (), planned: Sequence[str] = (),
) -> str:  # fmt: skip
    """The complete derivation as text: loops, arrays, statements, averages, P, score, threshold.

    `team` is the region's parallel region if it has several loops. `advice` are source changes, and
    `planned` are the differences in a program's plan.
    """
    if isinstance(prediction.derivation, SaturationDerivation):
        explanation = explain_curve(
            prediction, prediction.derivation, machine, team, advice, planned
        )
        return explanation + "".join(f"{line}\n" for line in convergence_sentence(machine))
    region = prediction.facts.region
    lines = [f"{region.id}  omp {region.directive} in {region.function}"]
    if prediction.status == "skipped" or prediction.derivation is None:
        lines += [f"  {note}" for note in prediction.diagnostics]
        return "\n".join(map(one_line, lines)) + "\n"
    lines += ["", _hint(prediction), *_loops(prediction), *_arrays(prediction)]
    lines += _working_set(prediction, prediction.derivation, machine)
    lines += explain_reuse(prediction.facts, machine.line_bytes)
    lines += ["", "Statements (weights in cycles)"]
    derivation = prediction.derivation
    for score, count in zip(derivation.statements, derivation.counts, strict=True):
        lines += _statement(score, count if derivation.form.by_executions else None)
    lines += _conclusion(prediction, derivation)
    lines += convergence_sentence(machine)
    return "\n".join(wrapped(map(one_line, lines))) + "\n"


def _loops(prediction: Prediction) -> list[str]:
    facts = prediction.facts
    lines = ["", f"Iterations shared among the threads: {facts.iterations}"]
    shown = -1
    for _, loops, positions in facts.region.placed_statements():
        for depth, (loop, position) in enumerate(zip(loops, positions, strict=True)):
            if position > shown:
                shown = position
                lines.append("  " * (depth + 1) + _loop(loop))
    return lines


def _loop(loop: Loop) -> str:
    trips = loop.trips
    if trips is None:
        return f"{loop.variable}: iterations not known  (line {loop.span.line})"
    most = "at most " if loop.exits else ""
    unit = "iteration" if str(trips) == "1" else "iterations"
    return f"{loop.variable}: {most}{trips} {unit}  (line {loop.span.line})"


def _arrays(prediction: Prediction) -> list[str]:
    arrays = prediction.facts.arrays
    if not arrays:
        return []
    most = max(array.dims for array in arrays)
    lines = ["", f"Arrays: those that move in {plural(most, 'dimension')} count"]
    for array in arrays:
        counted = "counted" if array.counted else "left out"
        lines.append(f"  {array.name}: {plural(array.dims, 'dimension')}, {counted}")
    return lines


def _working_set(
    prediction: Prediction, derivation: DensityDerivation, machine: Machine
) -> list[str]:
    lines = ["", working_set_line(prediction.facts)]
    lines += [f"  assumed: {line}" for line in prediction.assumed]
    largest = f"the largest cache of {machine.name} holds {show_bytes(derivation.cache_bytes)}"
    if derivation.data_bytes:
        lines.append(
            f"Miss probability (eq. 4.2): max(0, 1 - {show_bytes(derivation.cache_bytes)} / "
            f"{show_bytes(derivation.data_bytes)}) = {prediction.miss_probability:.3f}"
        )
        lines.append(f"  {largest}")
    else:
        lines.append(f"Miss probability (eq. 4.2): 0, nothing to miss ({largest})")
    return lines


def _statement(score: StatementScore, executions: int | None) -> list[str]:
    place = f"line {score.line}"
    lines = [f"  {place}: {score.text}"]
    if executions is not None:
        lines.append(f"    counts {plural(executions, 'time')}")
    for term in score.terms:
        sign = "good" if term.good else " bad"
        label = term.what if term.kind == "operation" else f"{term.what}: {term.kind}"
        lines.append(
            f"    {sign} {term.value:8.2f} = {term.number:5.3g} x {term.weight:5.4g}  {label}"
        )
    lines.append(f"    sum  good {score.good:.2f}, bad {score.bad:.2f}")
    return lines


def _conclusion(prediction: Prediction, derivation: DensityDerivation) -> list[str]:
    good, bad = derivation.good, derivation.bad
    count = len(derivation.statements)
    over = f"Average over {plural(count, 'statement')}"
    over += ", by their executions" if derivation.form.by_executions else ""
    lines = ["", f"{over}: good {good:.3f}, bad {bad:.3f}"]
    if derivation.form.combination == "ratio":
        lines.append(f"Score (ratio r = good/bad, as r/(1+r)): {prediction.score:.3f}")
    else:
        lines.append(f"Score (eq. 4.1): max(0, (good - bad)/(good + bad)) = {prediction.score:.3f}")
    areas = ", ".join(f"{100 * bound:.0f} %" for bound in derivation.thresholds) or "none"
    lines.append(f"Thresholds for {plural(len(derivation.thresholds) + 1, 'package')}: {areas}")
    if prediction.diagnostics:
        lines += ["", "Notes"] + [f"  {note}" for note in prediction.diagnostics]
    return lines


def _hint(prediction: Prediction) -> str:
    packages = plural(prediction.packages or 0, "package")
    threads = plural(prediction.threads or 0, "thread")
    limit = prediction.bottleneck or "nothing limits it"
    borderline = ", borderline" if prediction.borderline else ""
    confidence = f"{100 * prediction.confidence:.0f} % confidence{borderline}"
    return f"Hint: {packages}, {threads} ({limit}), {confidence}"
