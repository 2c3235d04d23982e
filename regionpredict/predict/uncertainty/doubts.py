"""The doubts that lower a hint's confidence, each with a factor.

The model was fitted to regions with completely readable code, known sizes and countable work. A
doubt is a difference from such regions. The factor of a doubt multiplies the confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from regionpredict.constant import Constant
from regionpredict.predict.uncertainty.constants import (
    CALIBRATION_CONFIDENCE,
    CONDITION_CONFIDENCE,
    CONTENTION_CONFIDENCE,
    IN_TURN_CONFIDENCE,
    LOST_WORK_CONFIDENCE,
    NESTED_CONFIDENCE,
    PARTIAL_CONFIDENCE,
    POSSIBLE_RACE_CONFIDENCE,
    RACE_CONFIDENCE,
    TASKS_CONFIDENCE,
    UNEVEN_CONFIDENCE,
    UNSEEN_CONFIDENCE,
    UNSEEN_COST_CONFIDENCE,
)
from regionpredict.workload import Diagnostic


class Doubt(NamedTuple):
    """A reason to trust a hint less. `factor` (0 to 1) multiplies the confidence."""

    id: str
    factor: float
    reason: str


FACTORS: Mapping[str, Constant] = {
    "unread": PARTIAL_CONFIDENCE,
    "calls": UNSEEN_CONFIDENCE,
    "call-cost": UNSEEN_COST_CONFIDENCE,
    "race": RACE_CONFIDENCE,
    "possible-race": POSSIBLE_RACE_CONFIDENCE,
    "in-turn": IN_TURN_CONFIDENCE,
    "condition": CONDITION_CONFIDENCE,
    "contention": CONTENTION_CONFIDENCE,
    "imbalance": UNEVEN_CONFIDENCE,
    "nested": NESTED_CONFIDENCE,
    "calibration": CALIBRATION_CONFIDENCE,
    "tasks": TASKS_CONFIDENCE,
    "lost-work": LOST_WORK_CONFIDENCE,
}
"""The factor of each doubt by id.

The factors of the doubts `figures` (uncertain machine figures) and `sizes` are computed for each
region.
"""
RULES: Mapping[str, str] = {
    "RP102": "unread", "RP106": "unread", "RP108": "unread", "RP111": "unread",
    "RP113": "calls", "RP119": "tasks", "RP122": "nested", "RP123": "calls",
    "RP221": "race", "RP222": "race", "RP224": "race", "RP225": "possible-race",
}  # fmt: skip
"""The id of the doubt that each diagnostic raises, by the id of the rule."""


def doubt_of_kind(kind: str, reason: str) -> Doubt:
    """Returns a doubt with the factor of its kind from `FACTORS`."""
    return Doubt(kind, FACTORS[kind].value, reason)


def doubts_of_notes(notes: Iterable[Diagnostic], *, partial: bool) -> tuple[Doubt, ...]:
    """Returns the doubts that diagnostics raise, one per kind. The reason is the message of the
    first diagnostic of this kind.

    `partial` says that a part of the region is not supported.
    """
    found: dict[str, list[str]] = {}
    for note in notes:
        if note.id in RULES:
            found.setdefault(RULES[note.id], []).append(f"{note.id}, {note.message}")
    if partial and not found.keys() & {"unread", "calls"}:
        found["unread"] = ["not all of the region is understood"]
    return tuple(
        doubt_of_kind(kind, first if not more else f"{first}, and {len(more)} more")
        for kind, (first, *more) in found.items()
    )


def remaining_confidence(doubts: Sequence[Doubt]) -> float:
    """Returns the product of the factors of all doubts, which are assumed to be independent."""
    return prod(known.factor for known in doubts)


def weighted_by_share(doubts: Iterable[Doubt], share: float) -> tuple[Doubt, ...]:
    """Returns the doubts about a part of the program, weakened to the part's share (0 to 1) of the
    time.
    """
    return tuple(known._replace(factor=1.0 - share * (1.0 - known.factor)) for known in doubts)


def merge_doubts(parts: Iterable[Iterable[Doubt]]) -> tuple[Doubt, ...]:
    """Merges the doubts about several parts by kind. Each merged doubt has the reason of its
    smallest factor.

    >>> merge_doubts([[Doubt("calls", 0.8, "f")], [Doubt("calls", 0.9, "g")]])
    (Doubt(id='calls', factor=0.7, reason='f, and 1 more'),)
    """
    by_kind: dict[str, list[Doubt]] = {}
    for part in parts:
        for known in part:
            by_kind.setdefault(known.id, []).append(known)
    made = []
    for kind, own in by_kind.items():
        first, *others = sorted(own, key=lambda known: known.factor)
        lost = round(sum(1.0 - known.factor for known in own), 6)
        reasons = {known.reason for known in others} - {first.reason}
        reason = f"{first.reason}, and {len(reasons)} more" if reasons else first.reason
        made.append(Doubt(kind, round(max(0.0, 1.0 - lost), 6), reason))
    return tuple(made)
