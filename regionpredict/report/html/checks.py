"""Graded checks of a program: what of its predicted time is spent well, and what would mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict import Point, Prediction, SaturationDerivation, TeamPrediction
from regionpredict.report.advice import ByTeam, ProgramAdvice, program_advice
from regionpredict.report.html.blocks import Block
from regionpredict.report.html.constants import GRADES, HALF_GOOD, WORTH_TELLING
from regionpredict.report.program_summary import CONFLICTS
from regionpredict.report.quantities import plural
from regionpredict.report.view import region_seconds

_OF = int(GRADES.value)


class _Part(NamedTuple):
    """One region at its hint; `weight` is seconds in the whole program."""

    prediction: Prediction
    derivation: SaturationDerivation
    point: Point
    weight: float


def program_checks(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], machine: Machine,
    advice: ByTeam,
) -> list[Block]:  # fmt: skip
    """A check a question: `name`, `grade` of `of` (-1: not known) with its mark, and what it rests
    on."""
    parts = _parts(predictions, teams)
    found = program_advice(advice)
    checks = [_packages(teams, machine)]
    if parts:
        serial = [one for one in parts if one.derivation.first_touch == "serial"]
        told = "pages lie where the threads that use them run"
        checks.append(
            _graded(
                "NUMA placement",
                1.0 - _share(parts, serial),
                _worst(serial, lambda one: 1.0, parts, "first touch is serial for", told),
                found,
                "RP201",
            )
        )
        for name, term, rules, good in (
            ("Load balance", "imbalance", ("RP202", "RP203"), "threads wait little at the end"),
            ("Starting teams and barriers", "overhead", ("RP205",), "constructs cost little"),
            ("Serial parts", "serialization", (), "threads do not queue"),
            ("Memory bandwidth", "memory-bandwidth", (), "memory does not hold the threads up"),
        ):
            share = _term_share(parts, term)
            why = _worst(parts, _of_term(term), parts, "most in", good)
            checks.append(_graded(name, 1.0 - share, why, found, *rules))
    wrong = [note for one in predictions for note in one.diagnostics if note.id in CONFLICTS]
    checks.append(_check("Right on several threads", 0 if wrong else _OF,
                         f"{wrong[0]}" + (f", and {len(wrong) - 1} more" if wrong[1:] else "")
                         if wrong else "no conflict was found; none is no proof"))  # fmt: skip
    known = sum(one.packages is not None for one in predictions)
    checks.append(_check(
        "Known sizes", int(_OF * known / len(predictions)) if predictions else None,
        f"{known} of {plural(len(predictions), 'region')} have one hint"))  # fmt: skip
    return checks


def _packages(teams: Sequence[TeamPrediction], machine: Machine) -> Block:
    """Packages that the time reaches on average."""
    timed = [(one.packages, one.seconds * one.facts.executions.weight) for one in teams
             if one.packages is not None and one.seconds]  # fmt: skip
    whole = sum(seconds for _, seconds in timed)
    if not whole:
        return _check("Packages in use", None, "no team's time is known", machine.packages)
    mean = sum(packages * seconds for packages, seconds in timed) / whole
    least = sum(seconds for packages, seconds in timed if packages == 1) / whole
    return _check("Packages in use", round(mean),
                  f"teams can use {mean:.1f} on average over the time on one thread; "
                  f"{100 * least:.0f} % of it stop at one", machine.packages)  # fmt: skip


def _parts(predictions: Sequence[Prediction], teams: Sequence[TeamPrediction]) -> list[_Part]:
    times = region_seconds(predictions, teams)
    parts = []
    for one in predictions:
        if not isinstance(one.derivation, SaturationDerivation) or one.threads is None:
            continue
        points = {point.threads: point for point in one.derivation.points}
        point, alone = points.get(one.threads), one.derivation.points[0]
        if point is None or alone.seconds <= 0:
            continue
        weight = times.get(one.facts.region.id, alone.seconds) * point.seconds / alone.seconds
        parts.append(_Part(one, one.derivation, point, weight))
    return parts


def _of_term(term: str) -> Callable[[_Part], float]:
    return lambda one: one.point.terms.get(term, 0.0) / (one.point.seconds or 1.0)


def _term_share(parts: Sequence[_Part], term: str) -> float:
    whole = sum(one.weight for one in parts) or 1.0
    return sum(_of_term(term)(one) * one.weight for one in parts) / whole


def _share(parts: Iterable[_Part], some: Iterable[_Part]) -> float:
    return sum(one.weight for one in some) / (sum(one.weight for one in parts) or 1.0)


def _worst(
    some: Sequence[_Part], part: Callable[[_Part], float], parts: Sequence[_Part], begin: str,
    good: str,
) -> str:  # fmt: skip
    """Where most of it is, with its share of the whole time; `good` where there is little."""
    whole = sum(one.weight for one in parts) or 1.0
    worst = max(some, key=lambda one: part(one) * one.weight, default=None)
    share = 0.0 if worst is None else part(worst) * worst.weight / whole
    if worst is None or share < WORTH_TELLING.value:
        return good
    return f"{begin} {worst.prediction.facts.region.id}, {100 * share:.0f} % of the time"


def _graded(
    name: str, share: float, why: str, advice: Sequence[ProgramAdvice], *rules: str
) -> Block:
    """A share as quarters, with the best change that mends it."""
    known = [one for one in advice if one.id in rules]
    if known:
        one = known[0]
        why += f"; {one.message} at {one.span}: {100 * (one.gain - 1):+.0f} % ({one.id})"
    return _check(name, min(_OF, max(0, round(_OF * share))), why)


def _check(name: str, grade: int | None, why: str, of: int = _OF) -> Block:
    mark = "none"
    if grade is not None:
        mark = "good" if grade >= of else "some" if grade >= HALF_GOOD.value * of else "poor"
    return {"name": name, "grade": -1 if grade is None else grade, "of": of, "mark": mark,
            "text": why}  # fmt: skip
