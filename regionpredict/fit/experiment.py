"""Defines measurements: an `Experiment` has one `Series` per call path and metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regionpredict.errors import InputError

Coordinates = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The repetitions of one metric of one call path.

    `points` are the parameters' values, and `values` the repetitions at each point in `unit` (empty
    if unknown). `line` is the line of the file where the series begins, if known.
    """

    callpath: str
    metric: str
    parameters: tuple[str, ...]
    points: tuple[Coordinates, ...]
    values: tuple[Sequence[float], ...]
    unit: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """The measurements from one source. `problems` are the reasons for lines or series that could
    not be used. `disturbed` is the reason why all values are unreliable, or "".
    """

    series: tuple[Series, ...]
    problems: tuple[InputError, ...] = ()
    disturbed: str = ""


class SeriesBuilder:
    """Collects single values into series, in the order of call paths, metrics and points."""

    def __init__(self, parameters: Iterable[str]) -> None:
        self.parameters = tuple(parameters)
        self._repetitions: dict[tuple[str, str], dict[Coordinates, list[float]]] = {}
        self._line: dict[tuple[str, str], int | None] = {}

    def add(
        self,
        callpath: str,
        metric: str,
        point: Coordinates,
        values: Iterable[float],
        line: int | None = None,
    ) -> None:
        """Adds repetitions of one metric of one call path at one point."""
        key = (callpath, metric)
        points = self._repetitions.get(key)
        if points is None:
            points = self._repetitions[key] = {}
            self._line[key] = line
        repetitions = points.get(point)
        if repetitions is None:
            points[point] = list(values)
        else:
            repetitions.extend(values)

    def series(self) -> tuple[Series, ...]:
        """Returns the series of all values added so far."""
        return tuple(
            Series(
                callpath,
                metric,
                self.parameters,
                tuple(points),
                tuple(points.values()),
                line=self._line[callpath, metric],
            )
            for (callpath, metric), points in self._repetitions.items()
        )
