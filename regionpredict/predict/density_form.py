"""The variants of the density model, by name."""

from __future__ import annotations

from typing import NamedTuple

COMBINATIONS = ("relative-difference", "ratio")
"""Equation 4.1, and the plain ratio from section 4.2.1 of Chatzopoulos 2012."""

STATEMENT_WEIGHTS = ("equal", "executions")
"""How a statement counts in the averages: each alike, or as often as it runs."""

MISS_WEIGHTS = ("reference", "element-size")
"""How a streaming miss weighs: each alike, or by the bytes that it moves."""


class DensityForm(NamedTuple):
    """A variant: one of each tuple above. The first ones are the original."""

    combination: str = COMBINATIONS[0]
    statement_weight: str = STATEMENT_WEIGHTS[0]
    miss_weight: str = MISS_WEIGHTS[0]

    def __str__(self) -> str:
        """The differences from the original, or empty.

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
        """Whether a statement counts as often as it runs."""
        return self.statement_weight == "executions"

    @property
    def by_element_size(self) -> bool:
        """Whether a streaming miss weighs by the bytes that it moves."""
        return self.miss_weight == "element-size"


TO_THE_LETTER = DensityForm()
