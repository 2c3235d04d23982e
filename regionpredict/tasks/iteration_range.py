"""Which iterations of its loop a chunk runs."""

from __future__ import annotations

from typing import NamedTuple


class IterationRange(NamedTuple):
    """`total` iterations of a loop, counted from 0 on in the order of the program: `run` of them
    from `first` on, as many again `stride` after each, unless that is 0. `step` is what the loop
    adds to its variable, 1 where it is not known."""

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
