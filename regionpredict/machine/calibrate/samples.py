"""Evaluates and stores the samples of microbenchmarks."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from regionpredict.atomic_file import replace_file
from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.json_records import json_record

SCHEMA = "regionpredict/calibration/1"
ENOUGH = 0.05
"""The relative 95 % confidence interval (half-width) below which a measurement has converged."""
LEAST_SAMPLES = 5
MOST_SAMPLES = 200

_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t for a two-sided 95 % interval, for 1 to 10 degrees of freedom."""


_SMALLEST, _LARGEST = 1e-15, 1e15
"""The range of a valid measurement in its unit. The range keeps products of measurements finite."""


def is_sample(value: Any) -> bool:
    """Whether a value is a valid measurement."""
    return type(value) in (int, float) and _SMALLEST < value < _LARGEST


def student_t(degrees: int) -> float:
    """Returns Student's t for a two-sided 95 % interval.

    >>> student_t(4), round(student_t(20), 2)
    (2.776, 2.09)
    """
    if degrees <= len(_T95):
        return _T95[max(degrees, 1) - 1]
    return 1.96 + 2.6 / degrees


def relative_interval(samples: list[float]) -> float:
    """Returns half of the 95 % confidence interval divided by the mean. Infinite for fewer than two
    samples.
    """
    if len(samples) < 2:
        return math.inf
    mean = fmean(samples)
    if mean <= 0:
        return math.inf
    return student_t(len(samples) - 1) * stdev(samples) / math.sqrt(len(samples)) / mean


def has_converged(samples: list[float]) -> bool:
    """Whether a measurement needs no more samples."""
    if len(samples) >= MOST_SAMPLES:
        return True
    return len(samples) >= LEAST_SAMPLES and relative_interval(samples) <= ENOUGH


def typical(samples: list[float]) -> float:
    """Returns the median of the samples, which other processes affect least."""
    return median(samples)


@dataclass(slots=True)
class State:
    """All samples of a calibration by measurement, stored in the file `path`."""

    path: Path
    host: str
    samples: dict[str, list[float]] = field(default_factory=dict)
    resumed: int = 0

    @classmethod
    def read(cls, path: Path, host: str) -> State:
        """Reads the samples of an earlier run on the same host. A missing file gives no samples.

        Raises InputError for an unreadable file.
        """
        state = cls(path, host)
        remedy = "remove this file to start over"
        if not path.exists():
            return state
        what = "the samples of an interrupted run"
        data = json_record(read_text(path, remedy), what, path, remedy)
        if data.text("schema") == SCHEMA and data.text("host") == host:
            kept = data.inner("samples")
            for key in kept.value:
                state.samples[key] = kept.items(key)
                if not all(map(is_sample, state.samples[key])):
                    raise kept.error(key, "must be positive numbers of plausible size")
            state.resumed = len(state.samples)
        return state

    def add(self, key: str, samples: list[float]) -> None:
        """Adds samples of a measurement and stores the file."""
        if samples:
            self.samples.setdefault(key, []).extend(samples)
            self.save()

    def save(self) -> None:
        """Writes the complete file. Raises InputError if it cannot be written."""
        text = json.dumps({"schema": SCHEMA, "host": self.host, "samples": self.samples})
        try:
            replace_file(self.path, text.encode())
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}",
                remedy="give -o a path in a folder that exists and is yours",
                path=str(self.path),
            ) from None
