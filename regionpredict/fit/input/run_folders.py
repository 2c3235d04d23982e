"""Reads folders of runs whose names contain the parameters and the repetition.

A run's folder is named like `prefix.p4.n100.r1`: the parameters with their values, the repetition,
and an optional postfix (`ms2_p4_r1_weak`). Different postfixes distinguish series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, SeriesBuilder

_REPETITION = re.compile(r"(.*)[._]r[0-9]+(?![0-9])(.*)")
_NAME = re.compile(r"([A-Za-z_]+)([0-9]+(?:[.,][0-9]+)?)")


class Run(NamedTuple):
    """The name of a run's folder, and a profile in it."""

    name: str
    path: Path


def read_runs(
    runs: Sequence[Run], values_of: Callable[[Path], Iterable[tuple[str, str, float]]]
) -> Experiment:
    """Groups the profiles of at least one run to series. `values_of` returns the call paths,
    metrics and values of a profile.

    An unreadable profile becomes a problem, and other profiles are read. Raises `InputError` if a
    name has no parameters, or not those of the first name.
    """
    named = [(run, _parse_parameters(run)) for run in runs]
    names = tuple(name for name, _ in named[0][1])
    values: dict[str, set[float]] = {name: set() for name in names}
    for run, pairs in named:
        if tuple(name for name, _ in pairs) != names:
            raise InputError(
                f"the parameters differ from those of {runs[0].name}",
                remedy=f"name the folder with {', '.join(names)} in this order",
                path=str(run.path),
            )
        for name, value in pairs:
            values[name].add(value)
    varying = [name for name in names if len(values[name]) > 1] or list(names[:1])
    builder = SeriesBuilder(varying)
    problems = []
    several = len({_text_after_repetition(run.name) for run in runs}) > 1
    for run, pairs in named:
        where = dict(pairs)
        point = tuple(where[name] for name in varying)
        postfix = _text_after_repetition(run.name)
        kind = f"{postfix}->" if several and postfix else ""
        try:
            for callpath, metric, value in values_of(run.path):
                builder.add(f"{kind}{callpath}", metric, point, (value,))
        except InputError as error:
            problems.append(error)
    return Experiment(builder.series(), tuple(problems))


def _parse_parameters(run: Run) -> list[tuple[str, float]]:
    before, after = _split_at_repetition(run.name)
    start = before.find(".") + 1
    found = _NAME.findall(f"{before[start:]} {after}")
    pairs = [(n, float(v.replace(",", "."))) for n, v in found]
    if not pairs:
        raise InputError(
            f"no parameter in the folder's name '{run.name}'",
            remedy="name it like run.p4.r1",
            path=str(run.path),
        )
    return [(name.strip("_"), value) for name, value in pairs]


def _split_at_repetition(name: str) -> tuple[str, str]:
    """Splits a folder's name at the repetition (Shudler 2018, fig. 2.5).

    >>> _split_at_repetition("ms2_p8_r1_weak"), _split_at_repetition("run.r4.p8")
    (('ms2_p8', '_weak'), ('run.r4.p8', ''))
    """
    match = _REPETITION.fullmatch(name)
    if match is None or not _NAME.search(match[1]):  # otherwise, r is a parameter
        return name, ""
    return match[1], match[2]


def _text_after_repetition(name: str) -> str:
    """Returns the part of a folder's name after the repetition, without separators. The result is
    empty if this part has parameters.
    """
    after = _split_at_repetition(name)[1]
    return "" if _NAME.search(after) else after.strip("._-")
