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


def advice_sentence(one: Advice | ProgramAdvice) -> str:
    """`1.5x: write collapse(2) (RP203)`."""
    return f"{one.gain:.1f}x: {one.message} ({one.id})"


def program_advice(advice: ByTeam) -> list[ProgramAdvice]:
    """The best change of each team, one that several need told once, the most seconds first."""
    same: dict[tuple[str, Span], list[Advice]] = {}
    for told in advice.values():
        for one in told[:1]:
            same.setdefault((one.id, one.span), []).append(one)
    found = [_together(ones) for ones in same.values()]
    return sorted(found, key=lambda one: -one.saved)


def _together(ones: Iterable[Advice]) -> ProgramAdvice:
    known = list(ones)
    saved = sum(one.saved for one in known)
    before = sum(one.saved / (1.0 - 1.0 / one.gain) for one in known)
    first = max(known, key=lambda one: one.saved)
    gain = before / (before - saved) if before > saved else first.gain
    return ProgramAdvice(first.id, first.span, first.message, gain, saved)
