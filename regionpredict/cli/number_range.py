"""Numbers of options in a range, in which `nan` lies never and `inf` where that means something."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A `click.FloatRange` for numbers only. `infinite`: infinity is allowed."""

    def __init__(
        self, least: float | None = None, most: float | None = None, *, infinite: bool = False,
        **options: bool,
    ) -> None:  # fmt: skip
        super().__init__(least, most, **options)
        self.infinite = infinite

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; a wrong call where it is none."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number) or (math.isinf(number) and not self.infinite):
            self.fail(f"{value} is not a number.", param, ctx)
        return number
