"""A number of a model that does not depend on the machine or the program, with its source."""

from __future__ import annotations

from typing import Literal, NamedTuple

Evidence = Literal["measured", "derived", "assumed"]
"""measured: read in the source; derived: computed from such values, as the source explains;
assumed: not confirmed.
"""


class Constant(NamedTuple):
    """A number with its unit, its evidence, and its source (work, section, or the reasoning).

    >>> Constant(0.25, "1", "assumed", "half of a half").value
    0.25
    """

    value: float
    unit: str
    evidence: Evidence
    source: str
