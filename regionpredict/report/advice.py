"""Recommended source changes as sentences, per region and for a program.

1.5x: start its threads once, in a parallel around the loop at line 42 (RP205)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.ir import Span
from regionpredict.predict import Advice

ByTeam = Mapping[str, Sequence[Advice]]


class ProgramAdvice(NamedTuple):
    """A source change with its effect on all regions that need it: total gain and seconds saved."""

    id: str
    span: Span
    message: str
    gain: float
    saved: float


def advice_sentence(advice: Advice | ProgramAdvice) -> str:
    """`1.5x: write collapse(2) (RP203)`."""
    return f"{advice.gain:.1f}x: {advice.message} ({advice.id})"


_WORTH = 0.01  # share of the program's time: changes that save less are not listed


def program_advice(advice: ByTeam, spent: float | None = None) -> list[ProgramAdvice]:
    """The best change of each parallel region, the most seconds saved first; a change that several
    regions need is listed once.

    If the program takes `spent` seconds, changes that save almost nothing are left out.
    """
    same: dict[tuple[str, Span], list[Advice]] = {}
    for ranked in advice.values():
        for best in ranked[:1]:
            same.setdefault((best.id, best.span), []).append(best)
    changes = [_together(ones) for ones in same.values()]
    changes = [best for best in changes if best.saved >= _WORTH * (spent or 0.0)]
    return sorted(changes, key=lambda best: -best.saved)


def _together(ones: Iterable[Advice]) -> ProgramAdvice:
    known = list(ones)
    saved = sum(advice.saved for advice in known)
    before = sum(advice.saved / (1.0 - 1.0 / advice.gain) for advice in known)
    first = max(known, key=lambda advice: advice.saved)
    gain = before / (before - saved) if before > saved else first.gain
    return ProgramAdvice(first.id, first.span, first.message, gain, saved)
