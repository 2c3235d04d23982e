"""How long the stages took, on standard error: what `--timings` shows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

import click

_SHOWN = 5
"""Regions, the slowest first."""


def show_seconds(seconds: Mapping[str, float]) -> None:
    """A line a stage."""
    for stage, taken in seconds.items():
        click.echo(f"{stage}: {taken:.3f} s", err=True)


def show_regions(seconds: Mapping[str, float]) -> None:
    """The median over regions, and the slowest of them."""
    if not seconds:
        return
    median = statistics.median(seconds.values())
    click.echo(f"regions: {len(seconds)}, median {median:.3f} s, slowest:", err=True)
    for region in sorted(seconds, key=lambda region: -seconds[region])[:_SHOWN]:
        click.echo(f"  {seconds[region]:.3f} s {region}", err=True)
