"""Ranks the source changes of all parallel regions of a program by the time that they save."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from regionpredict.predict.advice import Advice
from regionpredict.predict.constants import WORTHWHILE_SAVING
from regionpredict.workload import Span

ByTeam = Mapping[str, Sequence[Advice]]
"""The source changes of each parallel region, best first, by region id."""


def program_advice(advice: ByTeam, spent: float | None = None) -> list[Advice]:
    """Returns the best change of each parallel region, most saved seconds first. A change that
    several regions need is listed once.

    `spent` is the time of the program in seconds. Changes that save a negligible share of the time
    are excluded.
    """
    same: dict[tuple[str, Span], list[Advice]] = {}
    for ranked in advice.values():
        for best in ranked[:1]:
            same.setdefault((best.id, best.span), []).append(best)
    changes = [_combined_advice(ones) for ones in same.values()]
    if spent is not None:
        changes = [
            change._replace(saved=min(change.saved, (1.0 - 1.0 / change.gain) * spent))
            for change in changes
        ]
    changes = [best for best in changes if best.saved >= WORTHWHILE_SAVING.value * (spent or 0.0)]
    return sorted(changes, key=lambda best: -best.saved)


def _combined_advice(ones: Iterable[Advice]) -> Advice:
    known = list(ones)
    saved = sum(advice.saved for advice in known)
    before = sum(advice.saved / (1.0 - 1.0 / advice.gain) for advice in known)
    first = max(known, key=lambda advice: advice.saved)
    gain = before / (before - saved) if before > saved else first.gain
    return Advice(first.id, first.span, first.message, gain, saved)
