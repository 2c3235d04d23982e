"""Reads Extra-P's text format (Shudler 2018, fig. 2.3), and its later form with METRIC and REGION.

```
PARAMETER p
POINTS 8 16 32 64 128
REGION main->solve
METRIC time
DATA 0.283169 0.285326 0.289267
```

Points may be missing at the end of a series, and repetitions may be `nan` or differ in number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Coordinates, Experiment, Series

_REMEDY = "give measurements, not a program"


@dataclass(slots=True)
class _ParserState:
    """The state of the parser between two lines, such as the region and metric of the next DATA
    line.
    """

    path: str
    parameters: list[str] = field(default_factory=list)
    points: list[Coordinates] = field(default_factory=list)
    region: str = ""
    metric: str = ""
    line: int = 0
    values: list[Sequence[float]] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    is_invalid: bool = False

    def finish_series(self) -> None:
        """Adds the current series to the result and starts a new one."""
        if self.values and not self.is_invalid:
            kept = [(p, v) for p, v in zip(self.points, self.values, strict=False) if len(v)]
            self.series.append(
                Series(
                    self.region,
                    self.metric,
                    tuple(self.parameters) or ("p",),
                    tuple(self.points)
                    if len(kept) == len(self.points)
                    else tuple(p for p, _ in kept),
                    tuple(self.values)
                    if len(kept) == len(self.values)
                    else tuple(v for _, v in kept),
                    line=self.line,
                )
            )
        self.values = []
        self.is_invalid = False

    def fail(self, message: str, remedy: str, line: int) -> None:
        """Adds a problem. The current series is dropped, and other series are read."""
        self.problems.append(InputError(message, remedy=remedy, path=self.path, line=line))
        self.is_invalid = True


def read_extrap_text(path: Path) -> Experiment:
    """Reads Extra-P's text format.

    An invalid line becomes a problem with its line number, and other series are read. Raises
    `InputError` if the file contains no valid series.
    """
    return parse_text(read_text(path, _REMEDY).split("\n"), str(path))


def parse_text(lines: Iterable[str], path: str = "") -> Experiment:
    """Parses lines in Extra-P's text format.

    >>> e = parse_text(["POINTS 1 2", "METRIC time", "REGION main", "DATA 3 4", "DATA 5"])
    >>> e.series[0].points, e.series[0].values
    (((1.0,), (2.0,)), ([3.0, 4.0], [5.0]))
    """
    state = _ParserState(path)
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if line.startswith("DATA") and not line[4:5].strip():  # tabs are separators, too
            arguments = line[4:]
            try:
                state.values.append([float(v) for v in arguments.split()])
            except ValueError:
                _reject_data(state, arguments, number)
            if not state.line:
                state.line = number
            if len(state.values) == len(state.points) + 1:
                state.fail(
                    f"more DATA lines than the {len(state.points)} POINTS",
                    "begin a new REGION or METRIC, or add the point",
                    number,
                )
            continue
        _parse_keyword(state, line, number)
    state.finish_series()
    if not state.series and not state.problems:
        raise InputError("no measurements found", remedy="add DATA lines", path=path)
    return Experiment(tuple(state.series), tuple(state.problems))


def _reject_data(state: _ParserState, arguments: str, number: int) -> None:
    bad = next(v for v in arguments.split() if not _is_number(v))
    state.values.append([])
    state.fail(f"'{bad}' is not a number", "write the repetition as a number or nan", number)


def _parse_keyword(state: _ParserState, text: str, number: int) -> None:
    if not text or text.startswith("#"):
        return
    parts = text.split(None, 1)
    word, arguments = parts[0], parts[1] if len(parts) > 1 else ""
    if word == "PARAMETER":
        state.parameters.extend(arguments.split())
    elif word == "POINTS":
        _parse_points(state, arguments, number)
    elif word in ("METRIC", "REGION", "EXPERIMENT"):
        state.finish_series()
        state.line = number
        if word == "METRIC":
            state.metric = arguments
        elif word == "REGION":
            state.region = arguments
        else:
            metric, _, region = arguments.partition("/")
            state.metric, state.region = metric, region
    else:
        raise InputError(
            f"unknown keyword '{word}'",
            remedy="use PARAMETER, POINTS, REGION, METRIC, DATA or EXPERIMENT",
            path=state.path,
            line=number,
        )


def _parse_points(state: _ParserState, arguments: str, number: int) -> None:
    groups = re.findall(r"\(([^)]*)\)", arguments) if "(" in arguments else arguments.split()
    try:
        points = [tuple(float(v) for v in group.replace(",", " ").split()) for group in groups]
    except ValueError as error:
        raise InputError(
            f"a point is not a number: {error}",
            remedy="write points as numbers, several parameters in parentheses",
            path=state.path,
            line=number,
        ) from error
    width = len(state.parameters) or 1
    wrong = next((p for p in points if len(p) != width), None)
    if wrong is not None:
        raise InputError(
            f"a point has {len(wrong)} numbers, there are {width} parameters",
            remedy="name every parameter with PARAMETER before POINTS",
            path=state.path,
            line=number,
        )
    state.points.extend(points)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
