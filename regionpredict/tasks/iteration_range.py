"""Defines the iterations of a loop that a chunk executes."""

from __future__ import annotations

from typing import NamedTuple


class IterationRange(NamedTuple):
    """The iterations of a chunk. The loop has `total` iterations, counted from 0 in program order.
    The chunk executes `run` iterations starting at `first`. If `stride` is not 0, the chunk also
    executes `run` iterations after each further `stride`. `step` is the increment of the loop
    variable, or 1 if unknown.
    """

    first: int
    total: int
    run: int
    stride: int = 0
    step: int = 1

    def __str__(self) -> str:
        """
        >>> print(IterationRange(0, 5, 5))
        0-4
        >>> print(IterationRange(3, 7, 3, stride=6, step=-2))
        3-5 every 6 (7 iterations, step -2)
        """
        text = str(self.first)
        if self.run > 1:
            text += f"-{self.first + self.run - 1}"
        said = []
        if self.stride:
            text += f" every {self.stride}"
            said.append(f"{self.total} iterations")
        if self.step != 1:
            said.append(f"step {self.step}")
        return f"{text} ({', '.join(said)})" if said else text
