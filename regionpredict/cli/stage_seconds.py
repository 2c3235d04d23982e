"""Prints the times of the stages to standard error, for `--timings`."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

import click

_SHOWN = 5
"""Number of the slowest regions shown."""


def show_seconds(seconds: Mapping[str, float]) -> None:
    """Prints a line per stage."""
    for stage, taken in seconds.items():
        click.echo(f"{stage}: {taken:.3f} s", err=True)


def show_regions(seconds: Mapping[str, float]) -> None:
    """Prints the median over regions, and the slowest of them."""
    if not seconds:
        return
    median = statistics.median(seconds.values())
    click.echo(f"regions: {len(seconds)}, median {median:.3f} s, slowest:", err=True)
    for region in sorted(seconds, key=lambda region: -seconds[region])[:_SHOWN]:
        click.echo(f"  {seconds[region]:.3f} s {region}", err=True)
