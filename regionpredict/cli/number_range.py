"""Numeric ranges of options, without `nan`, and with `inf` where it is meaningful."""

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
        """The number. Anything else is a usage error."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number) or (math.isinf(number) and not self.infinite):
            self.fail(f"{value} is not a number.", param, ctx)
        return number
