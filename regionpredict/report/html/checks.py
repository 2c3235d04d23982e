"""Grades a program by checks: what uses the machine well, and what would improve the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict import Advice, Point, Prediction, SaturationDerivation, TeamPrediction
from regionpredict.predict.program_advice import ByTeam, program_advice
from regionpredict.predict.teams import region_seconds
from regionpredict.report.document import Drawing
from regionpredict.report.html.constants import GRADES, LEAST_GOOD_GRADE, LEAST_SHARE_LISTED
from regionpredict.report.html.roofline import hinted_point
from regionpredict.report.loop_table import CONFLICTS
from regionpredict.report.quantities import plural

_OF = int(GRADES.value)
_TERMS = (
    ("Load balance", "imbalance", ("RP202", "RP203"), "threads rarely wait at the end"),
    ("Parallel regions and barriers", "overhead", ("RP205", "RP206", "RP207"),
     "constructs cost little"),
    ("Serial code in parallel regions", "serialization", (), "threads do not wait for each other"),
    ("Memory bandwidth", "memory-bandwidth", (), "memory does not slow the threads down"),
)  # fmt: skip
"""Checks of one time term: name, term, rules of changes, and the text for a small share."""


class _Part(NamedTuple):
    """The time of a region at its hint. `weight` is its time in the whole program, in seconds."""

    prediction: Prediction
    derivation: SaturationDerivation
    point: Point
    weight: float


def program_checks(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], machine: Machine,
    advice: ByTeam, spent: float | None = None,
) -> list[Drawing]:  # fmt: skip
    """Returns one check per question: its `name`, its `grade` out of `of` (-1: unknown) with its
    mark, and its evidence.

    Changes that save almost nothing of the `spent` seconds are left out.
    """
    parts = _region_parts(predictions, teams)
    changes = program_advice(advice, spent)
    checks = [_package_check(teams, machine)]
    if parts:
        serial = [part for part in parts if part.derivation.first_touch == "serial"]
        satisfied = "pages are near the threads that use them"
        share = _time_share(serial, lambda _: 1.0, parts)
        why = _worst_text(serial, lambda _: 1.0, parts, "first touch is serial for", satisfied)
        checks.append(_grade_of_share("NUMA placement", 1.0 - share, why, changes, "RP201"))
        for name, term, rules, good in _TERMS:
            share = _time_share(parts, _of_term(term), parts)
            why = _worst_text(parts, _of_term(term), parts, "most in", good)
            checks.append(_grade_of_share(name, 1.0 - share, why, changes, *rules))
    wrong = [
        note
        for prediction in predictions
        for note in prediction.diagnostics
        if note.id in CONFLICTS
    ]
    checks.append(_check_record("Correct on several threads", 0 if wrong else _OF,
                         f"{wrong[0]}" + (f", and {len(wrong) - 1} more" if wrong[1:] else "")
                         if wrong else ("no conflict was found, but some may exist")))  # fmt: skip
    known = sum(p.packages is not None and p.range is None for p in predictions)
    checks.append(_check_record(
        "Known sizes", int(_OF * known / len(predictions)) if predictions else None,
        f"{known} of {plural(len(predictions), 'loop')} have one hint at all sizes"))  # fmt: skip
    return checks


def _package_check(teams: Sequence[TeamPrediction], machine: Machine) -> Drawing:
    """Checks the mean number of packages in use, weighted by time."""
    timed = [(team.packages, seconds) for team in teams
             if team.packages is not None and (seconds := team.total_seconds)]  # fmt: skip
    whole = sum(seconds for _, seconds in timed)
    if not whole:
        return _check_record(
            "Packages in use", None, "no parallel region has a known time", machine.packages
        )
    mean = sum(packages * seconds for packages, seconds in timed) / whole
    least = sum(seconds for packages, seconds in timed if packages == 1) / whole
    return _check_record(
        "Packages in use", round(mean), _package_text(mean, least, machine), machine.packages
    )


def _package_text(mean: float, least: float, machine: Machine) -> str:
    """Describes the packages in use. `least` is the share of the time in regions that stop at one
    package.

    Shares of 0 % are left out, and a machine with one package has no such regions.
    """
    if machine.packages == 1:
        return "the machine has only one"
    use = f"parallel regions can use {mean:.1f} of {machine.packages} packages on average"
    if not least:
        return f"{use}, and none stops scaling at one package"
    share = "under 1 %" if least < 0.005 else f"{100 * least:.0f} %"
    return f"{use}; those with {share} of the time on one thread stop scaling at one package"


def _region_parts(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction]
) -> list[_Part]:
    times = region_seconds(predictions, teams)
    parts = []
    for prediction in predictions:
        point, derivation = hinted_point(prediction), prediction.derivation
        if point is None or not isinstance(derivation, SaturationDerivation):
            continue
        alone = derivation.points[0].seconds
        if alone > 0:
            weight = times.get(prediction.facts.region.id, alone) * point.seconds / alone
            parts.append(_Part(prediction, derivation, point, weight))
    return parts


def _of_term(term: str) -> Callable[[_Part], float]:
    return lambda part: part.point.terms.get(term, 0.0) / (part.point.seconds or 1.0)


def _time_share(
    some: Sequence[_Part], part: Callable[[_Part], float], parts: Sequence[_Part]
) -> float:
    whole = sum(candidate.weight for candidate in parts) or 1.0
    return sum(part(candidate) * candidate.weight for candidate in some) / whole


def _worst_text(
    some: Sequence[_Part], part: Callable[[_Part], float], parts: Sequence[_Part], begin: str,
    good: str,
) -> str:  # fmt: skip
    """Describes the region with the largest share of the time. `good` is for a small share."""
    whole = sum(candidate.weight for candidate in parts) or 1.0
    worst = max(some, key=lambda candidate: part(candidate) * candidate.weight, default=None)
    share = 0.0 if worst is None else part(worst) * worst.weight / whole
    if worst is None or share < LEAST_SHARE_LISTED.value:
        return good
    return f"{begin} {worst.prediction.facts.region.id}, {100 * share:.0f} % of the time"


def _grade_of_share(
    name: str, share: float, why: str, advice: Sequence[Advice], *rules: str
) -> Drawing:
    known = [change for change in advice if change.id in rules]
    if known:
        change = known[0]
        why += f"; {change.span.short}: {change}"
    return _check_record(name, min(_OF, max(0, round(_OF * share))), why)


def _check_record(name: str, grade: int | None, why: str, of: int = _OF) -> Drawing:
    mark = "none"
    if grade is not None:
        mark = "good" if grade >= of else "some" if grade >= LEAST_GOOD_GRADE.value * of else "poor"
    return {"name": name, "grade": -1 if grade is None else grade, "of": of, "mark": mark,
            "text": why}  # fmt: skip
