"""The doubts that lower a hint's confidence, and the factor of each.

The spreads of measured curves come from regions whose code was read completely, whose sizes are
known, and whose work is counted. A doubt is a difference from such regions. Its factor lowers the
confidence.
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
    NESTED_CONFIDENCE,
    PARTIAL_CONFIDENCE,
    POSSIBLE_RACE_CONFIDENCE,
    RACE_CONFIDENCE,
    UNEVEN_CONFIDENCE,
    UNSEEN_CONFIDENCE,
    UNSEEN_COST_CONFIDENCE,
)
from regionpredict.workload import Diagnostic


class Doubt(NamedTuple):
    """A doubt: its `id`, the `factor` (0 to 1) by which the confidence is multiplied, and the
    reason.
    """

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
}
"""The factor of each kind.

The factors of `figures` (of the machine) and `sizes` are computed for each region.
"""
RULES: Mapping[str, str] = {
    "RP102": "unread", "RP106": "unread", "RP108": "unread", "RP111": "unread",
    "RP113": "calls", "RP122": "nested", "RP123": "calls",
    "RP221": "race", "RP222": "race", "RP224": "race", "RP225": "possible-race",
}  # fmt: skip
"""The kind of doubt that each diagnostic raises. The key is the rule."""


def doubt(kind: str, reason: str) -> Doubt:
    """A doubt from the table."""
    return Doubt(kind, FACTORS[kind].value, reason)


def doubts_of_notes(notes: Iterable[Diagnostic], *, partial: bool) -> tuple[Doubt, ...]:
    """The doubts that diagnostics raise, one of each kind. The reason is the message of the first
    diagnostic.

    `partial` says that a part of the region is not supported, with or without a note.
    """
    found: dict[str, list[str]] = {}
    for note in notes:
        if note.id in RULES:
            found.setdefault(RULES[note.id], []).append(f"{note.id}, {note.message}")
    if partial and not found.keys() & {"unread", "calls"}:
        found["unread"] = ["not all of the region is understood"]
    return tuple(
        doubt(kind, first if not more else f"{first}, and {len(more)} more")
        for kind, (first, *more) in found.items()
    )


def remaining_confidence(doubts: Sequence[Doubt]) -> float:
    """The product of all factors, since doubts are independent."""
    return prod(known.factor for known in doubts)


def weighted_by_share(doubts: Iterable[Doubt], share: float) -> tuple[Doubt, ...]:
    """The doubts about a part that has a share (0 to 1) of the whole time."""
    return tuple(known._replace(factor=1.0 - share * (1.0 - known.factor)) for known in doubts)


def merged(parts: Iterable[Iterable[Doubt]]) -> tuple[Doubt, ...]:
    """The doubts about several parts, merged by kind. Each has the reason of its smallest factor.

    >>> merged([[Doubt("calls", 0.8, "f")], [Doubt("calls", 0.9, "g")]])
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
