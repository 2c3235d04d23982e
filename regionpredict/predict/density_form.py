"""The variants of the density model, by name."""

from __future__ import annotations

from typing import NamedTuple

COMBINATIONS = ("relative-difference", "ratio")
"""Equation 4.1, and the plain ratio in section 4.2.1 of Chatzopoulos 2012."""

STATEMENT_WEIGHTS = ("equal", "executions")
"""The weight of a statement in the averages: 1, or the number of executions."""

MISS_WEIGHTS = ("reference", "element-size")
"""The weight of a streaming miss: constant, or proportional to the bytes that it moves."""


class DensityForm(NamedTuple):
    """A variant of the density model. The defaults are the model of Chatzopoulos 2012."""

    combination: str = COMBINATIONS[0]
    statement_weight: str = STATEMENT_WEIGHTS[0]
    miss_weight: str = MISS_WEIGHTS[0]

    def __str__(self) -> str:
        """Returns the differences from the model of Chatzopoulos 2012 as text.

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
        """Whether statements are weighted by their number of executions."""
        return self.statement_weight == "executions"

    @property
    def by_element_size(self) -> bool:
        """Whether streaming misses are weighted by the bytes that they move."""
        return self.miss_weight == "element-size"


TO_THE_LETTER = DensityForm()
