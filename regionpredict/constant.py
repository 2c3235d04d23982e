"""A number of a model that belongs to no machine and no program, with where it comes from."""

from __future__ import annotations

from typing import Literal, NamedTuple

Evidence = Literal["measured", "derived", "assumed"]
"""measured: read in the source; derived: computed from such values, the source says how; assumed:
confirmed by nobody."""


class Constant(NamedTuple):
    """One number with its unit, how it is known, and its source (work, section, or the reasoning).

    >>> Constant(0.25, "1", "assumed", "half of a half").value
    0.25
    """

    value: float
    unit: str
    evidence: Evidence
    source: str
