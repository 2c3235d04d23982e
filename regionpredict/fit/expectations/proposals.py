"""Writes fitted models as expectations, which are a baseline for later measurements."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from regionpredict.errors import InputError
from regionpredict.fit.expectations.expectation_file import SCHEMA, Check, Report, load_file
from regionpredict.fit.expectations.growth import ONE
from regionpredict.fit.expectations.verdict import doubt_about, fit_expected, growth_of
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.model.fitted_model import NO_MODEL, FittedModel


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed expectation file. `problems` are the series without an expectation, with the
    reasons.

    `doubts` are the reasons why measurements of a proposed growth may be disturbed.
    """

    text: str
    problems: tuple[InputError, ...]
    doubts: tuple[str, ...] = ()


def propose_from_file(path: Path, report: Report) -> Proposal:
    """Completes an expectation file: entries without an expectation get the growth of their
    model.
    """
    data = load_file(path)
    entries, problems = [], []
    for entry, check in zip(data["expectations"], report.checks, strict=True):
        if entry.get("expect") is not None:
            entries.append(entry)
            continue
        reason = check.problem.message if check.problem is not None else check.inconclusive
        if reason or check.growth is None:
            problems.append(_no_expectation(check.callpath, reason, str(path)))
            continue
        entries.append({**entry, "expect": check.growth.text(check.parameter)})
    return Proposal(
        _expectation_file_text({**data, "expectations": entries}, report.checks), tuple(problems)
    )


def propose_from_measurements(path: str, experiment: Experiment, target: str | None) -> Proposal:
    """Creates an expectation file with the growth of each series of one parameter.

    `path` is the file of measurements, and `target` the new file.
    """
    entries, problems, doubts = [], list(experiment.problems), []
    for series in experiment.series:
        try:
            if len(series.parameters) != 1:
                raise InputError(
                    f"an expectation has one parameter, the measurements have "
                    f"{', '.join(series.parameters)}",
                    remedy="fix the others",
                )
            model = fit_expected(ONE, series.points, series.values, parameters=series.parameters)
        except InputError as error:
            problems.append(_no_expectation(series.callpath, error.message, path))
            continue
        if model.law == NO_MODEL:
            problems.append(_no_expectation(series.callpath, doubt_about(model), path))
            continue
        doubts += _doubts_about_baseline(series.callpath or series.metric, model)
        entry = {"callpath": series.callpath, "metric": series.metric}
        named = {key: value for key, value in entry.items() if value}
        entries.append({**named, "expect": growth_of(model).text(series.parameters[0])})
    if not entries:
        raise InputError(
            "no series has a model to propose", remedy="measure more points", path=path
        )
    start = Path(target).resolve().parent if target is not None else Path.cwd()
    data = {
        "schema": SCHEMA,
        "measurements": os.path.relpath(Path(path).resolve(), start),
        "expectations": entries,
    }
    return Proposal(_expectation_file_text(data, ()), tuple(problems), tuple(doubts))


def _doubts_about_baseline(name: str, model: FittedModel) -> list[str]:
    """Returns the reasons not to use the model as a baseline."""
    return [
        f"{name}: {reason}; measure again on a quiet host before you rely on this baseline"
        for reason in dict.fromkeys((*model.warnings, doubt_about(model)))
        if reason
    ]


def _no_expectation(callpath: str, reason: str, path: str) -> InputError:
    return InputError(
        f"{callpath or 'the series'} has no expectation: {reason or 'it has no model'}",
        remedy="write one by hand, or leave it out",
        path=path,
    )


def _expectation_file_text(data: Mapping[str, Any], checks: Sequence[Check]) -> str:
    head = "# Proposed from measurements: read each expectation before relying on it.\n"
    shown = [f"#   {c.callpath or 'model'}: {c.model}\n" for c in checks if c.fitted is not None]
    body = yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=100)
    return head + "".join(shown) + body
