"""The derivation of a parallel region's hint, for `regionpredict explain` at the line of a
`parallel`.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.errors import one_line
from regionpredict.predict import Advice, Bounds, Prediction, TeamPrediction
from regionpredict.report.advice import advice_lines
from regionpredict.report.curve import plot, team_hint
from regionpredict.report.doubts import why_this_confidence
from regionpredict.report.other_names import other_names
from regionpredict.report.page_width import wrapped
from regionpredict.report.quantities import plural, show_seconds


def explain_team(
    team: TeamPrediction, loops: Sequence[Prediction], advice: Sequence[Advice] = (),
    planned: Sequence[str] = (),
) -> str:  # fmt: skip
    """The loops of a parallel region, their executions, its curve and its hint.

    `loops` are its loops in order, `advice` source changes, and `planned` differences in a
    program's plan.
    """
    facts = team.facts
    lines = [f"{facts.id}  omp parallel in {facts.function}: "
             f"{plural(len(facts.members), 'loop')}"]  # fmt: skip
    lines += ["", f"The parallel region runs {_often(facts.executions.value)}. In each run:"]
    for member, loop in zip(facts.members, loops, strict=True):
        lines.append(f"  {loop.facts.region.id} in {loop.facts.region.function} runs "
                     f"{_often(member.runs.value)}: {_own(loop)}")  # fmt: skip
    lines += [f"  {construct.kind} (line {construct.line})" for construct in facts.constructs]
    if team.seconds is not None:
        lines.append(f"One run on one thread: {show_seconds(team.seconds)}")
    lines += [f"  assumed: {line}" for line in team.assumed]
    curve = [(point.threads, point.value) for point in team.speedup]
    band = [Bounds(point.low, point.high) for point in team.speedup]
    lines += ["", *plot(curve, band)] if curve else []
    lines += ["", *team_hint(team), *why_this_confidence(team), *planned]
    lines += advice_lines(advice)
    lines += other_names(loops, "\n".join(lines))
    lines += ["", "To explain one loop: regionpredict explain " + facts.members[0].facts.region.id]
    return "\n".join(wrapped(map(one_line, lines))) + "\n"


def _often(runs: int | None) -> str:
    return "an unknown number of times" if runs is None else plural(runs, "time")


def _own(loop: Prediction) -> str:
    if loop.threads is None:
        return "no hint alone"
    return (f"alone {plural(loop.packages or 0, 'package')}, {plural(loop.threads, 'thread')} "
            f"({loop.bottleneck})")  # fmt: skip
