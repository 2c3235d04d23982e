"""Numeric ranges of options, without `nan`, and with `inf` where it is meaningful."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A `click.FloatRange` that rejects `nan`. `infinite`: infinity is allowed."""

    def __init__(
        self, least: float | None = None, most: float | None = None, *, infinite: bool = False,
        **options: bool,
    ) -> None:  # fmt: skip
        super().__init__(least, most, **options)
        self.infinite = infinite

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Returns the number. Raises a usage error for anything else."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number) or (math.isinf(number) and not self.infinite):
            self.fail(f"{value} is not a number.", param, ctx)
        return number
