"""Documents models by size and threads with the terms of the prediction, also as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from statistics import median
from typing import Any

from regionpredict.compare.term_models import GROUPS, TermModel
from regionpredict.report.document import Cell, Column, Document, Facts, Items, Section, Table
from regionpredict.report.json_text import fields_of
from regionpredict.report.quantities import plural, show_count, show_factor, show_percent

_TITLE = "Measured over predicted time, by term; errors at the largest size, left out of the fit"


def term_models_document(models: Sequence[TermModel]) -> Document:
    """Returns the factors of each region's terms, and the errors at the largest size, which is left
    out of the fit.

    A search without terms and the prediction alone are shown for comparison.
    """
    columns = [
        Column("Region", cut=True, key="region"), Column("Iterations", str, key="iterations"),
        *(Column(name.capitalize(), show_factor, minor=True, key=name) for name in GROUPS),
        Column("Model", show_percent, key="model"), Column("Search", show_percent, key="search"),
        Column("Alone", show_percent, key="alone"),
    ]  # fmt: skip
    known = [model.held_out for model in models if model.held_out is not None]
    searched = [out.search for out in known if out.search is not None]
    medians: list[tuple[str, str]] = []
    if known:
        medians = [
            ("Median over", plural(len(known), "region")),
            ("Model", show_percent(median(out.terms for out in known))),
            ("Search", show_percent(median(searched)) if searched else "-"),
            ("Prediction alone", show_percent(median(out.prediction for out in known))),
        ]
    parted = [part for model in models for part in _difference_text(model)]
    sections = [
        Section("Errors", [Facts(medians)]),
        Section("Regions", [Table(_TITLE, columns, [_model_row(model) for model in models])]),
        Section("Differences", [Items(parted, "Where prediction and measurement differ")]),
    ]
    return Document("Models by size", [], sections, lambda: _json_record(models))


def _model_row(model: TermModel) -> list[Cell]:
    path, _, line = model.region.rpartition(":")
    sizes = f"{show_count(int(model.sizes[0]))} to {show_count(int(model.sizes[-1]))}"
    errors = (None,) * 3 if model.held_out is None else model.held_out
    return [f"{PurePath(path).name}:{line}", (sizes, model.sizes[-1]),
            *map(model.factors.get, GROUPS), *errors]  # fmt: skip


def _difference_text(model: TermModel) -> list[str]:
    if model.parts_at is None:
        return []
    iterations, threads = model.parts_at
    return [
        f"{model.region}: at {show_count(int(iterations))} or more iterations on "
        f"{plural(threads, 'thread')}, most in {model.most_off} "
        f"({model.factors[model.most_off]:.2g}x)"
    ]


def _json_record(models: Sequence[TermModel]) -> dict[str, Any]:
    return {
        "schema": "regionpredict/term-models/1",
        "models": [
            {
                **fields_of(model, "region factors most_off error held_out", iterations="sizes"),
                "parts_at": model.parts_at and dict(
                    zip(("iterations", "threads"), model.parts_at, strict=True)
                ),
            }
            for model in models
        ],
    }  # fmt: skip
