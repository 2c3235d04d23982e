"""Conditions on hints, as `--fail-if` takes them: `packages<2`, `gain<0.9*baseline`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.compare.hint_outline import RegionOutline
from regionpredict.errors import UsageError

FIELDS: Mapping[str, Callable[[RegionOutline], float | None]] = {
    "packages": lambda outline: outline.packages,
    "threads": lambda outline: outline.threads,
    "gain": lambda outline: outline.gain,
    "seconds": lambda outline: outline.hinted_seconds,
    "confidence": lambda outline: outline.confidence,
}
"""What a condition may ask of a hint: its packages and threads, the speedup and the seconds of one
execution that they are to give, and how sure it is."""

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_CONDITION = re.compile(
    rf"\s*(?P<field>[a-z]+)\s*(?P<operator><=|>=|==|!=|<|>)\s*"
    rf"(?:(?P<number>{_NUMBER})(?P<times>\s*\*\s*baseline)?|(?P<bare>baseline))\s*"
)


class Condition(NamedTuple):
    """`field` of a hint against `number`, or against `number` times what it was before."""

    text: str
    field: str
    operator: str
    number: float
    baseline: bool

    def holds(self, new: RegionOutline, old: RegionOutline | None = None) -> bool:
        """Whether a hint meets it; not where what it asks for is not known."""
        value = FIELDS[self.field](new)
        bound: float | None = self.number
        if self.baseline:
            before = None if old is None else FIELDS[self.field](old)
            bound = None if before is None else self.number * before
        if value is None or bound is None:
            return False
        return _OPERATORS[self.operator](value, bound)

    def value(self, outline: RegionOutline) -> float | None:
        """What it asks of a hint."""
        return FIELDS[self.field](outline)


def parse_condition(text: str) -> Condition:
    """A condition; UsageError where it is none.

    >>> parse_condition("gain < 0.9*baseline")[1:]
    ('gain', '<', 0.9, True)
    >>> parse_condition("packages<baseline")[1:]
    ('packages', '<', 1.0, True)
    """
    parts = _CONDITION.fullmatch(text)
    if parts is None:
        raise UsageError(
            f"--fail-if {text}: not a condition",
            remedy="write FIELD<NUMBER or FIELD<NUMBER*baseline, as 'gain<0.9*baseline'",
        )
    if parts["field"] not in FIELDS:
        raise UsageError(
            f"--fail-if {text}: no field {parts['field']}", remedy=f"there are {', '.join(FIELDS)}"
        )
    number = 1.0 if parts["bare"] else float(parts["number"])
    baseline = bool(parts["bare"] or parts["times"])
    return Condition(text.strip(), parts["field"], parts["operator"], number, baseline)
