"""Changes to the source that are worth it, in words: below a row, and the best of a program.

1.5x: start its threads once, in a parallel around the loop at line 42 (RP205)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.ir import Span
from regionpredict.predict import Advice

ByTeam = Mapping[str, Sequence[Advice]]


class ProgramAdvice(NamedTuple):
    """One change with what it does to all its teams: gain together, seconds saved."""

    id: str
    span: Span
    message: str
    gain: float
    saved: float


def advice_sentence(advice: Advice | ProgramAdvice) -> str:
    """`1.5x: write collapse(2) (RP203)`."""
    return f"{advice.gain:.1f}x: {advice.message} ({advice.id})"


def program_advice(advice: ByTeam) -> list[ProgramAdvice]:
    """The best change of each team, one that several need told once, the most seconds first."""
    same: dict[tuple[str, Span], list[Advice]] = {}
    for ranked in advice.values():
        for best in ranked[:1]:
            same.setdefault((best.id, best.span), []).append(best)
    changes = [_together(ones) for ones in same.values()]
    return sorted(changes, key=lambda best: -best.saved)


def _together(ones: Iterable[Advice]) -> ProgramAdvice:
    known = list(ones)
    saved = sum(advice.saved for advice in known)
    before = sum(advice.saved / (1.0 - 1.0 / advice.gain) for advice in known)
    first = max(known, key=lambda advice: advice.saved)
    gain = before / (before - saved) if before > saved else first.gain
    return ProgramAdvice(first.id, first.span, first.message, gain, saved)
