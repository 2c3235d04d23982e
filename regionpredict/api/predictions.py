"""`predict`: packages and threads for every parallel loop, as values in a notebook or a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from regionpredict.errors import InputError, UsageError, plural
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import Predictions, analyse
from regionpredict.pipeline import predict as predict_regions
from regionpredict.predict import Prediction, Recommendation, points_of
from regionpredict.report.editor_notes import hint_text
from regionpredict.report.hints import hints_document
from regionpredict.report.json_text import as_json
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.rendered import rendered
from regionpredict.report.run_settings import run_settings
from regionpredict.workers import allowed_cores

if TYPE_CHECKING:
    import pandas as pd

Paths = str | Path | Sequence[str | Path]
_COLUMNS = ("region", "function", "status", "iterations", "bytes", "packages", "threads",
            "speedup", "seconds", "bottleneck", "confidence")  # fmt: skip


@dataclass(frozen=True, slots=True)
class RegionHint:
    """The hint of one parallel loop. `prediction` has all of its data. Unknown values are None.
    `seconds` is the time of one execution on one thread.
    """

    prediction: Prediction

    def __repr__(self) -> str:
        return f"<RegionHint {self.id} {self.function}: {hint_text(self.prediction)}>"

    @property
    def id(self) -> str:
        """The place of the loop's directive, as `FILE:LINE`."""
        return self.prediction.facts.region.id

    @property
    def function(self) -> str:
        """The name of the function that contains the loop."""
        return self.prediction.facts.region.function

    @property
    def status(self) -> str:
        """How far the loop is predicted: `predicted`, `partial` or `skipped`."""
        return self.prediction.status

    @property
    def iterations(self) -> int | None:
        """The number of iterations that the threads share."""
        return self.prediction.facts.iterations.value

    @property
    def bytes(self) -> int | None:
        """The working set of the region, in bytes."""
        return self.prediction.facts.working_set.value

    @property
    def packages(self) -> int | None:
        """The number of packages (sockets) that the loop can use."""
        return self.prediction.packages

    @property
    def threads(self) -> int | None:
        """The number of threads that the loop can use."""
        return self.prediction.threads

    @property
    def curve(self) -> dict[int, float]:
        """The speedup by number of threads. Empty for the density model."""
        return dict(self.prediction.speedup)

    @property
    def band(self) -> dict[int, tuple[float, float]]:
        """The interval of the speedup by number of threads."""
        pairs = zip(self.prediction.speedup, self.prediction.band, strict=True)
        return {threads: (low, high) for (threads, _), (low, high) in pairs}

    @property
    def speedup(self) -> float | None:
        """The speedup at the hinted number of threads."""
        return None if self.threads is None else self.curve.get(self.threads)

    @property
    def seconds(self) -> float | None:
        """Seconds of one execution on one thread. None for the density model."""
        points = points_of(self.prediction)
        return points[0].seconds if points else None

    @property
    def bottleneck(self) -> str | None:
        """The limiting factor: `memory-bandwidth`, `compute`, ..."""
        return self.prediction.bottleneck

    @property
    def confidence(self) -> float:
        """The confidence of the hint, from 0 to 1."""
        return self.prediction.confidence

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions of the prediction, one sentence each."""
        return tuple(self.prediction.assumed)

    def row(self) -> dict[str, Any]:
        """Returns the loop's row in a data frame."""
        return {name: self.id if name == "region" else getattr(self, name) for name in _COLUMNS}


@dataclass(frozen=True, slots=True)
class Hints(Sequence[RegionHint]):
    """The hints of all loops, in the order of files and lines."""

    result: Predictions

    def __repr__(self) -> str:
        return f"<Hints: {plural(len(self), 'region')} on {self.machine.name}>"

    def __len__(self) -> int:
        return len(self.result.predictions)

    def __getitem__(self, index: Any) -> Any:
        """Returns a loop's hint by index, by id (`gemm.c:41`, or the end of an id), or by
        function.
        """
        if isinstance(index, str):
            return self._find_by_name(index)
        if isinstance(index, slice):
            return [RegionHint(prediction) for prediction in self.result.predictions[index]]
        return RegionHint(self.result.predictions[index])

    def __iter__(self) -> Iterator[RegionHint]:
        return (RegionHint(prediction) for prediction in self.result.predictions)

    def _find_by_name(self, name: str) -> RegionHint:
        known = [hint for hint in self if name in (hint.id, hint.function)]
        known = known or [hint for hint in self if hint.id.endswith(f"/{name}")]
        if len(known) != 1:
            raise InputError(
                f"{len(known)} loops are '{name}'" if known else f"no loop is '{name}'",
                remedy=f"choose one of {', '.join(hint.id for hint in known or self)}",
            )
        return known[0]

    @property
    def machine(self) -> Machine:
        """The machine model that the hints apply to."""
        return self.result.machine

    @property
    def recommendation(self) -> Recommendation | None:
        """The recommendation for the whole program: packages, threads, speedup and confidence."""
        return self.result.recommended.together

    def to_dict(self) -> dict[str, Any]:
        """The document of `predict --format json`, schema `regionpredict/hints/1`."""
        known = self.result
        return hints_document(
            known.predictions, known.teams, known.plans, known.machine, known.model,
            known.analysis.program.diagnostics, known.advice,
            run=run_settings(known.machine, known.pages), recommended=known.recommended,
        )  # fmt: skip

    def to_json(self) -> str:
        """Returns the same document as JSON text."""
        return as_json(self.to_dict())

    def to_frame(self) -> pd.DataFrame:
        """Returns a pandas frame with one row per loop. Raises UsageError without pandas."""
        try:
            import pandas as pd  # noqa: PLC0415
        except ModuleNotFoundError:
            raise UsageError(
                "to_frame needs pandas", remedy="python3 -m pip install pandas"
            ) from None
        return pd.DataFrame([hint.row() for hint in self], columns=list(_COLUMNS))

    def __str__(self) -> str:
        known = self.result
        result = ProgramResult(
            known.predictions, known.teams, known.plans, known.machine, known.model, known.advice,
            run_settings(known.machine, known.pages), recommended=known.recommended,
        )  # fmt: skip
        return rendered(program_document(result), "text")

    def _repr_html_(self) -> str:
        """An HTML table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        rows = [
            "<tr>"
            + "".join(f"<td>{_cell_text(value)}</td>" for value in hint.row().values())
            + "</tr>"
            for hint in self
        ]
        title = f"{escape(self.machine.name)}, {self.result.model} model"
        return (
            f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )


def _cell_text(value: Any) -> str:
    if value is None:
        return "?"
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def predict(
    paths: Paths, machine: str | Path | Machine, *,
    sizes: Mapping[str, float] | None = None, defines: Mapping[str, Any] | None = None,
    includes: Sequence[str | Path] = (), standard: str = "", exclude: Sequence[str] = (),
    model: Literal["saturation", "density"] = "saturation", threads: Sequence[int] = (),
    within: float = 0.05, processes: int | None = None, arguments: Sequence[str] | None = None,
) -> Hints:  # fmt: skip
    """Predicts packages and threads of a machine for every parallel loop in some sources.

    `paths` are files, folders or a compile_commands.json. `machine` is a shipped name, a file, or a
    machine. `sizes` are values of names as in `--set`. The share of an `if` is a number between 0
    and 1. `arguments` are the command-line arguments of the program, as in `--args`. `defines` are
    macros. `within` is the share of the best speed that a hint may lose. Raises InputError for
    invalid input, and UsageError for a name that no loop depends on.

    >>> hints = predict("polybench_samples/linear_algebra/2mm", "dunnington")
    >>> hints["2mm.c:49"].packages
    4
    """
    sources = [paths] if isinstance(paths, (str, Path)) else list(paths)
    macros = [(name, str(value)) for name, value in (defines or {}).items()]
    requests = requests_for(
        [str(place) for place in sources],
        macros,
        [str(include) for include in includes],
        standard,
        exclude,
    )
    known = machine if isinstance(machine, Machine) else load(str(machine))
    workers = processes or allowed_cores()
    analysis = analyse(
        requests, dict(sizes or {}), processes=workers, flows=model == "saturation",
        arguments=arguments,
    )  # fmt: skip
    return Hints(
        predict_regions(analysis, known, cast(str, model), threads=tuple(threads), within=within,
                        processes=workers)
    )  # fmt: skip
