"""Models by size and threads, with the prediction's terms, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from statistics import median
from typing import Any

from regionpredict.compare.term_models import GROUPS, TermModel
from regionpredict.errors import one_line
from regionpredict.report.quantities import plural, show_count

_NAME = 24


def term_models_table(models: Sequence[TermModel]) -> str:
    """A line a region: the factors of its terms, and the errors at the largest size, left out of
    the fit, beside those of a search that knows no terms and of the prediction alone."""
    heads = "".join(f"{name:>9}" for name in GROUPS)
    lines = [
        "measured over predicted time, by term; errors at the largest size, which was left out",
        "",
        f"{'region':<{_NAME}} {'iterations':>17}{heads} {'model':>7} {'search':>7} {'alone':>7}",
    ]
    lines += [_row(model) for model in models]
    known = [model.held_out for model in models if model.held_out is not None]
    if known:
        searched = [out.search for out in known if out.search is not None]
        lines += [
            "",
            f"median over {plural(len(known), 'region')}: model "
            f"{_percent(median(out.terms for out in known))}, search "
            f"{_percent(median(searched) if searched else None)}, prediction alone "
            f"{_percent(median(out.prediction for out in known))}",
        ]
    parted = [model for model in models if model.parts_at is not None]
    if parted:
        lines += ["", "prediction and measurement part:"]
    for model in parted:
        assert model.parts_at is not None
        iterations, threads = model.parts_at
        lines.append(
            f"  {model.region}: from {show_count(int(iterations))} iterations on "
            f"{plural(threads, 'thread')} on, most in {model.most_off} "
            f"({model.factors[model.most_off]:.2g}x)"
        )
    return "\n".join(map(one_line, lines)) + "\n"


def _row(model: TermModel) -> str:
    path, _, line = model.region.rpartition(":")
    name = f"{PurePath(path).name}:{line}"
    sizes = f"{show_count(int(model.sizes[0]))} to {show_count(int(model.sizes[-1]))}"
    factors = "".join(
        f"{f'{model.factors[name]:.2f}x' if name in model.factors else '-':>9}" for name in GROUPS
    )
    held_out = model.held_out
    errors = (None,) * 3 if held_out is None else held_out
    return f"{name[:_NAME]:<{_NAME}} {sizes:>17}{factors}" + "".join(
        f" {_percent(error):>7}" for error in errors
    )


def _percent(error: float | None) -> str:
    return "-" if error is None else f"{100 * error:.1f} %"


def term_models_document(models: Sequence[TermModel]) -> dict[str, Any]:
    """The models for `json.dumps`, schema `regionpredict/term-models/1`."""
    return {
        "schema": "regionpredict/term-models/1",
        "models": [
            {
                "region": model.region,
                "factors": dict(model.factors),
                "most_off": model.most_off,
                "error": model.error,
                "iterations": list(model.sizes),
                "parts_at": None
                if model.parts_at is None
                else {"iterations": model.parts_at[0], "threads": model.parts_at[1]},
                "held_out": None if model.held_out is None else model.held_out._asdict(),
            }
            for model in models
        ],
    }
