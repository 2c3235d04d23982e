"""What was measured, as values: one `Case` a curve or a time, many cases a `DataSet`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from predictor import Code, Times

Choice = Literal["packages", "threads", "none"]
Sample = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class Case:
    """One curve: seconds by threads, of one program and size on one machine.

    `measured` may be in any unit that is proportional to seconds where `absolute` is False. The
    least number of threads is what speedups are over. `published` are curves that another tool
    printed for the same case, by its name.
    """

    label: str
    code: Code
    machine: str
    measured: Times
    absolute: bool = False
    published: Mapping[str, Times] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Cases of one file.

    `choice`: what is chosen in them. `cores`: how many are in question, for what counts as
    saturating (None: no curves inside one domain). `sample`: whether figures of the same file
    stand in machine models or decided between variants of the model, and `chosen_on_it` which.
    `common_factor`: times are compared after one factor for all (runs of unknown length).
    `tabulated`: its figures are tables of machine files, so that how near predictions are tells
    nothing of any others.
    """

    name: str
    what: str
    source: str
    cases: tuple[Case, ...]
    choice: Choice
    sample: Sample
    chosen_on_it: str
    saturates: bool = True
    common_factor: bool = False
    tabulated: bool = False

    @property
    def file(self) -> str:
        """The file that it is from: sets of one file err alike, and are left out together."""
        return self.source.split(" ")[0]


Reader = Callable[[Path], DataSet]


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV file, by the names in its first line."""
    with path.open() as file:
        yield from csv.DictReader(file)
