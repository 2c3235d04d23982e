"""Makes the drawings of `regionpredict fit --plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regionpredict.fit.call_tree import CallTree
    from regionpredict.fit.search.experiment_models import ModelSet


def drawing(
    kind: str | None,
    models: ModelSet,
    trees: Sequence[CallTree],
    *,
    fixed: Mapping[str, float],
    until: float | None,
    level: float,
) -> Figure:
    """The requested drawing. With `kind` None, a contour if a model has two free parameters, else
    curves. Omissions are reported on standard error."""
    from regionpredict.errors import InputError
    from regionpredict.report.call_tree import call_shares
    from regionpredict.report.model_curves import MOST_CURVES, model_curves
    from regionpredict.report.plots.drawn import figure_of
    from regionpredict.report.plots.maps import contour_figure, surface_figure

    if kind == "shares":
        if len(trees) != 1:
            raise UsageError(
                f"shares need a single metric, but there are {', '.join(t.metric for t in trees)}",
                remedy="choose one with --metric",
            )
        return figure_of(call_shares(trees[0], fixed=fixed, until=until))
    if not models.models:
        raise InputError("no model to draw", remedy="measure more points")
    parameters = models.models[0][1].parameters
    for name in fixed:
        if name not in parameters:
            raise UsageError(
                f"--fix: there is no parameter '{name}'",
                remedy=f"the parameters are {', '.join(parameters)}",
            )
    free = [name for name in parameters if name not in fixed]
    if kind is None:
        kind = "contour" if len(models.models) == 1 and len(free) == 2 else "curves"
    if kind != "curves":
        if len(models.models) > 1:
            raise UsageError(
                f"a {kind} shows one model, there are {len(models.models)}",
                remedy="choose one with --filter and --metric",
            )
        draw = contour_figure if kind == "contour" else surface_figure
        return draw(*models.models[0], fixed)
    if not free:
        raise UsageError("--fix leaves no parameter to draw over", remedy="fix fewer")
    alike = [item for item in models.models if free[0] in item[1].parameters]
    shown = alike[:MOST_CURVES]
    if len(shown) < len(models.models):
        click.echo(
            f"drawn: {len(shown)} of {len(models.models)} models. Use --filter to choose.", err=True
        )
    return figure_of(model_curves(shown, parameter=free[0], fixed=fixed, until=until, level=level))
