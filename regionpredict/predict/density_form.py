"""The variants of the density model, by name."""

from __future__ import annotations

from typing import NamedTuple

COMBINATIONS = ("relative-difference", "ratio")
"""Equation 4.1, and the plain ratio in section 4.2.1 of Chatzopoulos 2012."""

STATEMENT_WEIGHTS = ("equal", "executions")
"""How statements count in the averages: equally, or by number of executions."""

MISS_WEIGHTS = ("reference", "element-size")
"""How streaming misses count: equally, or by the bytes that they move."""


class DensityForm(NamedTuple):
    """A variant: one value of each tuple above. The defaults are those of the thesis."""

    combination: str = COMBINATIONS[0]
    statement_weight: str = STATEMENT_WEIGHTS[0]
    miss_weight: str = MISS_WEIGHTS[0]

    def __str__(self) -> str:
        """The differences from the thesis as text. Empty if there are none.

        >>> str(DensityForm()), str(DensityForm(statement_weight="executions"))
        ('', 'by executions')
        """
        parts = (
            ("ratio" if self.combination == "ratio" else ""),
            ("by executions" if self.by_executions else ""),
            ("by element size" if self.by_element_size else ""),
        )
        return ", ".join(part for part in parts if part)

    @property
    def by_executions(self) -> bool:
        """Whether statements count by number of executions."""
        return self.statement_weight == "executions"

    @property
    def by_element_size(self) -> bool:
        """Whether streaming misses count by the bytes that they move."""
        return self.miss_weight == "element-size"


TO_THE_LETTER = DensityForm()
