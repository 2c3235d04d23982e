"""Conditions on hints, as `--fail-if` takes them.

packages<2              of any region gain<0.9*baseline       of any region, relative to its value
before program.threads<8       of the recommendation for the whole program
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.compare.hint_outline import ProgramOutline, RegionOutline
from regionpredict.errors import UsageError

Outline = RegionOutline | ProgramOutline

FIELDS: Mapping[str, Callable[[Outline], float | None]] = {
    "packages": lambda outline: outline.packages,
    "threads": lambda outline: outline.threads,
    "gain": lambda outline: outline.gain,
    "seconds": lambda outline: outline.hinted_seconds,
    "confidence": lambda outline: outline.confidence,
}
"""The fields of a hint that conditions can use."""

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_CONDITION = re.compile(
    rf"\s*(?P<program>program\.)?(?P<field>[a-z]+)\s*(?P<operator><=|>=|==|!=|<|>)\s*"
    rf"(?:(?P<number>{_NUMBER})(?P<times>\s*\*\s*baseline)?|(?P<bare>baseline))\s*"
)


class Condition(NamedTuple):
    """Compares the `field` of a hint with `number`, or with `number` times its previous value. The
    hint is that of each region, or of the whole `program`.
    """

    text: str
    field: str
    operator: str
    number: float
    baseline: bool
    program: bool = False

    def holds(self, new: Outline, old: Outline | None = None) -> bool:
        """Whether a hint meets the condition. False if the field is unknown."""
        value = FIELDS[self.field](new)
        bound: float | None = self.number
        if self.baseline:
            before = None if old is None else FIELDS[self.field](old)
            bound = None if before is None else self.number * before
        if value is None or bound is None:
            return False
        return _OPERATORS[self.operator](value, bound)

    def value(self, outline: Outline) -> float | None:
        """Returns the value of the condition's field in a hint."""
        return FIELDS[self.field](outline)


def parse_condition(text: str) -> Condition:
    """Parses a condition. Raises UsageError if it is invalid.

    >>> parse_condition("gain < 0.9*baseline")[1:]
    ('gain', '<', 0.9, True, False)
    >>> parse_condition("program.packages<baseline")[1:]
    ('packages', '<', 1.0, True, True)
    """
    parts = _CONDITION.fullmatch(text)
    if parts is None:
        raise UsageError(
            f"--fail-if {text}: not a condition",
            remedy="write FIELD<NUMBER or FIELD<NUMBER*baseline, such as 'gain<0.9*baseline'",
        )
    if parts["field"] not in FIELDS:
        raise UsageError(
            f"--fail-if {text}: no field {parts['field']}", remedy=f"there are {', '.join(FIELDS)}"
        )
    number = 1.0 if parts["bare"] else float(parts["number"])
    baseline = bool(parts["bare"] or parts["times"])
    return Condition(
        text.strip(), parts["field"], parts["operator"], number, baseline, bool(parts["program"])
    )
