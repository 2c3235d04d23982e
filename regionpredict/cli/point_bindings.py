"""Parses points on the command line, such as `p=1024,n=50`."""

from __future__ import annotations

import math

import click


def point_bindings(texts: tuple[str, ...]) -> list[dict[str, float]]:
    """Parses repeated options `p=1024` or `p=1024,n=50` into one dictionary per point."""
    points = []
    for text in texts:
        point = {}
        for part in text.split(","):
            name, equals, value = part.partition("=")
            try:
                if not equals:
                    raise ValueError
                point[name.strip()] = number = float(value)
                if not math.isfinite(number):
                    raise ValueError
            except ValueError:
                raise click.BadParameter(f"'{part}' is not NAME=NUMBER") from None
        points.append(point)
    return points
