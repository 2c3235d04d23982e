"""`regionpredict isoefficiency`: which size, or how many processors, keep an efficiency."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.point_bindings import point_bindings

if TYPE_CHECKING:
    from collections.abc import Callable

    from regionpredict.fit.laws.efficiency_surface import EfficiencySurface


@click.command("isoefficiency")
@click.argument("path", type=click.Path(), required=False)
@click.option(
    "--formula", metavar="TEXT", help="A formula for the efficiency of p and n, instead of PATH."
)
@click.option(
    "--at",
    multiple=True,
    metavar="p=60",
    help="Value of one parameter, to solve for the other. Repeatable.",
)
@click.option(
    "--efficiency",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="The efficiency to keep.",
)
@click.option("--processors", metavar="NAME", help="The parameter that counts processors.")
@click.option("--metric", help="Metric of the table.  [default: the first]")
@result_options("table json")
def command(
    path: str | None, formula: str | None, at: tuple[str, ...], efficiency: float,
    output: str | None, form: str, **options: Any,
) -> None:  # fmt: skip
    """Solve an efficiency surface for the size, or the processors, that keep an efficiency.

    PATH is a table of p, n and time, or of p, n and efficiency, in any format that fit reads.
    """
    from regionpredict.errors import UsageError
    from regionpredict.fit.laws.efficiency_surface import (
        reason_to_withhold,
        size_for,
        threads_for,
    )

    if (path is None) == (formula is None):
        raise UsageError("give a table or --formula", remedy="one of both")
    points = point_bindings(at)
    for point in points:
        if len(point) != 1 or next(iter(point)) not in ("p", "n") or min(point.values()) <= 0:
            raise UsageError("--at names p or n, above zero", remedy="write --at p=60")
    if not points:
        raise UsageError("nothing to solve for", remedy="write --at p=60 or --at n=5000")
    surface, measured = (None, []) if path is None else _fit_surface(path, options)
    published = None if formula is None else _formula_surface(formula)
    rows: list[dict[str, Any]] = []
    for point in points:
        [(name, given)] = point.items()
        note = ""
        if surface is not None:
            solved = (size_for if name == "p" else threads_for)(surface, given, efficiency)
            value, low, high = solved.value, solved.low, solved.high
            if value is not None:
                place = (given, value) if name == "p" else (value, given)
                note = reason_to_withhold(surface, measured, *place)
        else:
            assert published is not None
            value = _solve(published, name, given, efficiency)
            low = high = value
        if note:
            value = low = high = None
        rows.append({"given": name, "at": given, "solved": "n" if name == "p" else "p",
                     "value": value, "low": low, "high": high, "withheld": note})  # fmt: skip
    model = surface.text() if surface is not None else formula
    error = surface.rrmse if surface is not None else None
    if form == "json":
        record = {"schema": "regionpredict/isoefficiency/1", "efficiency": efficiency,
                  "model": model, "rrmse": error, "solutions": rows}  # fmt: skip
        write_result(json.dumps(record, indent=1) + "\n", output)
        return
    from regionpredict.report.aligned_table import aligned_lines
    from regionpredict.report.quantities import show_size

    band = "90 % band" if surface is not None else "band"
    table = [("given", f"for efficiency {efficiency:g}", band)]
    table += [
        (
            f"{row['given']} = {show_size(row['at'])}",
            f"{row['solved']} {'withheld' if row['withheld'] else '= ' + _as_text(row['value'])}",
            "-"
            if surface is None or row["withheld"]
            else f"{_as_text(row['low'])} to {_as_text(row['high'])}",
        )
        for row in rows
    ]
    known = "" if error is None else f" (relative root mean square error {100 * error:.1f} %)"
    notes = [
        f"{row['solved']} for {row['given']} = {show_size(row['at'])} is withheld: "
        f"{row['withheld']}"
        for row in rows if row["withheld"]
    ]  # fmt: skip
    lines = [f"E(p, n) = {model}{known}", *aligned_lines(table), *notes]
    write_result("\n".join(lines) + "\n", output)


def _as_text(value: Any) -> str:
    from regionpredict.fit.laws.efficiency_surface import LARGEST
    from regionpredict.report.quantities import show_size

    return "none" if value is None else "any" if value >= LARGEST else show_size(value, 4)


def _fit_surface(
    path: str, options: dict[str, Any]
) -> tuple[EfficiencySurface, list[tuple[float, float]]]:
    """Returns the model of the table's efficiencies, and the measured processors and sizes."""
    from regionpredict.errors import InputError
    from regionpredict.fit.input import read
    from regionpredict.fit.laws.efficiency_surface import fit_efficiency
    from regionpredict.fit.laws.efficiency_table import efficiencies_of

    metric = options["metric"]
    known = [s for s in read(path).series if metric is None or s.metric == metric]
    if not known:
        raise InputError(f"there is no metric '{metric}'", remedy="check the name", path=path)
    if len({s.callpath for s in known}) > 1:
        raise InputError(
            "there are several call paths", remedy="give a table of one", path=path
        )  # fmt: skip
    points, efficiencies = efficiencies_of(known[0], options["processors"])
    return fit_efficiency(points, efficiencies), points


def _formula_surface(formula: str) -> Callable[[float, float], float]:
    from regionpredict.fit.laws.published_formula import published_formula

    return published_formula(formula)


def _solve(
    value: Callable[[float, float], float], name: str, given: float, efficiency: float
) -> float | None:
    """Returns the size, or the number of processors, at which the formula has this efficiency."""
    from regionpredict.fit.laws.efficiency_surface import most_threads, smallest_size

    def known(threads: float, size: float) -> float:
        result = value(threads, size)
        return -math.inf if math.isnan(result) else result

    if name == "p":
        return smallest_size(lambda n: known(given, n), efficiency)
    return most_threads(lambda p: known(p, given), efficiency)
