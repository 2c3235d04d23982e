"""Writes measured series as CSV and as Extra-P's text and JSON, which `fit` can read."""

from __future__ import annotations

import json
import math
from typing import Any

from regionpredict.errors import one_line
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.csv_table import DISTURBED_BY
from regionpredict.quoting import csv_text


def measurements_csv(experiment: Experiment) -> str:
    """Writes measurements as a table with one repetition per row, which `read_csv` can read. The
    column `disturbed_by` has the reason why all values are unreliable, if there is one.
    """
    names = experiment.series[0].parameters if experiment.series else ()
    reason = (experiment.disturbed,) if experiment.disturbed else ()
    return csv_text(
        ("callpath", "metric", *names, "value", *(DISTURBED_BY for _ in reason)),
        (
            (series.callpath, series.metric, *point, float(value), *reason)
            for series in experiment.series
            for point, repetitions in zip(series.points, series.values, strict=True)
            for value in repetitions
        ),
    )


def measurements_extrap_text(experiment: Experiment) -> str:
    """Writes measurements in Extra-P's text format.

    All series have the same points in this format. Therefore, points that a series lacks are NaN.
    The JSON format has no such limit. Blanks in the name of a parameter become `_`, and line breaks
    in other names are escaped.
    """
    names = experiment.series[0].parameters if experiment.series else ("p",)
    points = list(dict.fromkeys(p for series in experiment.series for p in series.points))
    shown = [
        f"{p[0]:.17g}" if len(names) == 1 else "( " + " ".join(f"{v:.17g}" for v in p) + " )"
        for p in points
    ]
    words = ["_".join(one_line(name).split()) for name in names]
    lines = ["PARAMETER " + " ".join(words), "POINTS " + " ".join(shown)]
    for series in experiment.series:
        lines += [f"REGION {one_line(series.callpath)}", f"METRIC {one_line(series.metric)}"]
        where = dict(zip(series.points, series.values, strict=True))
        lines.extend(
            "DATA " + " ".join(repr(float(v)) for v in where.get(p, (math.nan,))) for p in points
        )
    return "\n".join(lines) + "\n"


def measurements_extrap_json(experiment: Experiment) -> str:
    """Writes measurements in Extra-P's short JSON form."""
    by_callpath: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for series in experiment.series:
        rows = by_callpath.setdefault(series.callpath, {}).setdefault(series.metric, [])
        rows.extend(
            {"point": list(p), "values": [float(x) for x in v]}
            for p, v in zip(series.points, series.values, strict=True)
        )
    names = list(experiment.series[0].parameters) if experiment.series else []
    return json.dumps({"parameters": names, "measurements": by_callpath}, indent=1)
