"""`Model` and `Models`: fitted models that print, draw themselves, and compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regionpredict.atomic_file import write_file
from regionpredict.errors import InputError, UsageError
from regionpredict.fit.call_tree import Measured, call_trees
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel, Interval, growth_key
from regionpredict.fit.model.terms import FloatArray
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_point import NextPoint, next_point
from regionpredict.report.call_tree import call_shares, call_tree_table, growth_text, matches
from regionpredict.report.document import Document, Section
from regionpredict.report.fit_document import FitResult, fit_document, model_record
from regionpredict.report.model_curves import model_curves
from regionpredict.report.plots import figure_bytes
from regionpredict.report.plots.drawn import figure_of
from regionpredict.report.plots.maps import contour_figure, surface_figure
from regionpredict.report.rendered import rendered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_COLUMNS = (
    "callpath", "metric", "model", "growth", "law", "smape", "adjusted_r2",
    "cross_validated_error", "noise",
)  # fmt: skip

Drawing = Literal["curves", "contour", "surface"]


@dataclass(frozen=True, slots=True)
class Model:
    """A model and its measurements. `fitted` has all details."""

    series: Series
    fitted: FittedModel

    @property
    def name(self) -> str:
        """The call path or other name of the measured series. It may be empty."""
        return self.series.callpath

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of the coordinates of points."""
        return self.fitted.parameters

    @property
    def growth(self) -> str:
        """The fastest growing term without its coefficient, as `p*log2(p)`; `1` for constants."""
        return growth_text(self.fitted.leading_term, self.parameters)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the model."""
        return self.fitted.warnings

    def predict(self, *point: Any, **named: float) -> Any:
        """Predicts the value at a point, in the unit of the measurements.

        `predict(64)`, `predict(64, 1000)` and `predict(p=64, n=1000)` return a number.
        `predict([16, 64])` and `predict([[16, 1000], [64, 1000]])` return an array. Raises
        `InputError` if names or numbers do not match the parameters.
        """
        coordinates, single = self._coordinates(point, named)
        predictions = self.fitted.predict_many(coordinates)
        return float(predictions[0]) if single else predictions

    def interval(self, *point: float, level: float = 0.9, **named: float) -> Interval:
        """Returns the interval that contains the value at one point with probability `level`."""
        coordinates, _ = self._coordinates(point, named)
        return self.fitted.interval(coordinates[0].tolist(), level)

    def doubt(self, *point: float, **named: float) -> str:
        """Reasons not to trust a prediction at a point. Empty if there are none."""
        coordinates, _ = self._coordinates(point, named)
        return self.fitted.extrapolation_warning(coordinates[0].tolist())

    def _coordinates(
        self, point: Sequence[Any], named: Mapping[str, float]
    ) -> tuple[FloatArray, bool]:
        """Returns the points as an array `(k, m)`, and whether the caller passed a single point."""
        count = len(self.parameters)
        if named and not point and set(named) == set(self.parameters):
            return np.array([[float(named[name]) for name in self.parameters]]), True
        if (
            not named
            and len(point) == count
            and all(np.ndim(coordinate) == 0 for coordinate in point)
        ):
            return np.array([[float(coordinate) for coordinate in point]]), True
        if not named and len(point) == 1:
            coordinates = np.asarray(point[0], dtype=np.float64)
            coordinates = (
                coordinates[:, None]
                if coordinates.ndim == 1 and count == 1
                else np.atleast_2d(coordinates)
            )
            if coordinates.ndim == 2 and coordinates.shape[1] == count:
                return coordinates, np.ndim(point[0]) < 2 and count > 1
        raise InputError(
            f"the point does not fit the parameters {', '.join(self.parameters)}",
            remedy="give one number for each, or name them: predict(p=64)",
        )

    def next_point(self, *, processors: str | None = None, **target: float) -> NextPoint:
        """The point to measure next, which discriminates best between the remaining models.

        `processors` is the parameter that counts processors, for the cost in core hours (values in
        seconds). `target` is the point of interest, by default four times the largest values. Its
        `stop` gives the reason if no further point is needed.
        """
        index = self.parameters.index(processors) if processors in self.parameters else None
        goal = self._coordinates((), target)[0][0].tolist() if target else None
        return next_point(self.fitted, goal, processors=index)

    def formula(self, style: Literal["text", "python", "latex"] = "text") -> str:
        """The model as `text`, `python` or `latex`."""
        return self.fitted.formula(style)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        drawing: Drawing | None = None,
        fixed: Mapping[str, float] | None = None,
        until: float | None = None,
        level: float = 0.9,
    ) -> Figure:
        """A figure of matplotlib for notebooks. With `path`, it is also written to a file (PNG,
        PDF, SVG).

        By default, curves over one parameter, and a contour plot over two. `fixed` sets the other
        parameters. Raises `UsageError` if matplotlib is missing.
        """
        free = [name for name in self.parameters if name not in (fixed or {})]
        kind = drawing or ("contour" if len(free) == 2 else "curves")
        if kind == "curves":
            block = model_curves(
                [(self.series, self.fitted)], parameter=free[0] if free else None, fixed=fixed,
                until=until, level=level,
            )  # fmt: skip
            return _written_figure(figure_of(block), path)
        draw = contour_figure if kind == "contour" else surface_figure
        return _written_figure(draw(self.series, self.fitted, fixed), path)

    def compare(self, *others: Model, at: Sequence[Any] = ()) -> Comparison:
        """Compares this model with others: formulas, growth, errors, and values at the points
        `at`.
        """
        return Comparison((self, *others), tuple(at))

    def to_dict(self) -> dict[str, Any]:
        """The model in the JSON schema `regionpredict/models/1`."""
        return model_record(self.series, self.fitted)

    def __str__(self) -> str:
        return self.formula()

    def __repr__(self) -> str:
        return f"<Model {' '.join(filter(None, (self.name, str(self))))}>"

    def _repr_latex_(self) -> str:
        return f"${self.formula('latex')}$"

    def _repr_html_(self) -> str:
        return Models((self,))._repr_html_()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of models, which prints as a table and displays as a table in notebooks."""

    models: tuple[Model, ...]
    points: tuple[Any, ...] = ()

    def rows(self) -> list[tuple[str, ...]]:
        """The table with its heading: formula, growth, SMAPE and cross-validation error in %,
        values.
        """
        heads = ("name", "metric", "model", "growth", "SMAPE %", "left-out %")
        rows = [(*heads, *(f"at {point}" for point in self.points))]
        for model in self.models:
            fitted = model.fitted
            values = [
                model.predict(*(point if isinstance(point, tuple) else (point,)))
                for point in self.points
            ]
            rows.append(
                (
                    model.name or "-", model.series.metric or "-", model.formula(), model.growth,
                    f"{fitted.smape:.2f}", f"{fitted.cross_validated_error:.2f}",
                    *(f"{value:.4g}" for value in values),
                )
            )  # fmt: skip
        return rows

    def plot(self, path: str | Path | None = None, **options: Any) -> Figure:
        """The models' curves in one figure. Options are those of `Model.plot`."""
        pairs = [(model.series, model.fitted) for model in self.models]
        return _written_figure(figure_of(model_curves(pairs, **options)), path)

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        return _html_table(self.rows())


@dataclass(frozen=True, slots=True)
class Models:
    """Models in order. `problems` are series without a model, with the reasons."""

    models: tuple[Model, ...]
    problems: tuple[InputError, ...] = ()

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    def __getitem__(self, key: int | str) -> Model:
        """A model by its position, or by a unique name. Raises `InputError` otherwise."""
        if isinstance(key, int):
            return self.models[key]
        models = [model for model in self.models if model.name == key]
        if len(models) != 1:
            names = ", ".join(model.name or "''" for model in self.models[:20])
            raise InputError(
                f"{len(models)} models are called '{key}'", remedy=f"there are {names}"
            )
        return models[0]

    @property
    def only(self) -> Model:
        """Returns the only model. Raises `InputError` if there are several or none."""
        if len(self.models) != 1:
            raise InputError(
                f"there are {len(self.models)} models", remedy="take one by its name or position"
            )
        return self.models[0]

    def matching(self, pattern: str) -> Models:
        """The models whose call path, or its last part, matches a pattern with `*` and `?`."""
        kept = tuple(model for model in self.models if matches(model.name, pattern))
        return Models(kept, self.problems)

    def by_growth(self) -> Models:
        """Returns the models sorted by growth, fastest first."""
        ranked = sorted(
            self.models, key=lambda model: growth_key(model.fitted.leading_term), reverse=True
        )
        return Models(tuple(ranked), self.problems)

    def compare(self, at: Sequence[Any] = ()) -> Comparison:
        """Compares the models, with their values at the points `at`."""
        return Comparison(self.models, tuple(at))

    def tree(self, *points: Mapping[str, float], measured: Measured = "exclusive") -> str:
        """The call tree as text, with values and shares at each point. See `fit --tree`."""
        tables = [call_tree_table(tree, points) for tree in call_trees(self._model_set(), measured)]
        return rendered(Document("", [], [Section("", tables)]), "text").rstrip("\n")

    def plot(self, path: str | Path | None = None, **options: Any) -> Figure:
        """The curves of the first seven models. Options are those of `Model.plot`."""
        return Comparison(self.models).plot(path, **options)

    def plot_shares(
        self, path: str | Path | None = None, *, measured: Measured = "exclusive", **options: Any
    ) -> Figure:
        """The share of each call in the total of the first metric, stacked over a parameter."""
        tree = call_trees(self._model_set(), measured)[0]
        return _written_figure(figure_of(call_shares(tree, **options)), path)

    def to_json(self) -> str:
        """Returns the models as JSON text, schema `regionpredict/models/1`."""
        return rendered(fit_document("", FitResult(self._model_set())), "json")

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row per model. Raises UsageError without pandas."""
        try:
            import pandas as pd  # noqa: PLC0415
        except ModuleNotFoundError:
            raise UsageError(
                "to_frame needs pandas", remedy="python3 -m pip install pandas"
            ) from None
        rows = [
            (m.series.callpath, m.series.metric, m.formula(), m.growth, m.fitted.law,
             m.fitted.smape, m.fitted.adjusted_r2, m.fitted.cross_validated_error, m.fitted.noise)
            for m in self.models
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def _model_set(self) -> ModelSet:
        return ModelSet(tuple((m.series, m.fitted) for m in self.models), self.problems)

    def __str__(self) -> str:
        return rendered(fit_document("", FitResult(self._model_set())), "text").rstrip("\n")

    def __repr__(self) -> str:
        return f"<Models: {len(self.models)}, {len(self.problems)} series without>"

    def _repr_html_(self) -> str:
        said = [
            f"<p>{escape(' '.join(filter(None, (model.name, text))))}</p>"
            for model in self.models for text in model.warnings
        ]  # fmt: skip
        said += [f"<p>{escape(str(problem))}</p>" for problem in self.problems]
        return _html_table(self.compare().rows()) + "".join(said)


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _written_figure(figure: Figure, path: str | Path | None) -> Figure:
    if path is not None:
        form = Path(path).suffix.lower().lstrip(".")
        write_file(Path(path), figure_bytes(figure, form), "give another path")
    return figure
