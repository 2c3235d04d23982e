"""Reads expectation files in YAML and checks them.

```yaml
schema: regionpredict/expectations/1
measurements: results.txt       # relative to this file; --measurements replaces it
parameter: p
metric: time
statistic: first-quartile
deviation: sqrt(p)              # default: half the exponent of the expectation
search: p log p                 # default: a range around each expectation
exponents: 0..3..1/4:0..2       # or these exponents of the parameter and of its logarithm
terms: [p^3*log2(p)^2]          # or these terms
max_terms: 2
better: deviation               # or match: slower growth than expected is a success
expectations:
  - {callpath: MPI_Bcast, expect: log p}
  - {callpath: MPI_Gather, expect: p, model: p^1.25}   # a model instead of measurements
  - {callpath: solve}           # no expectation: the model is proposed as expectation
  - {expect: p}                 # for measurements with a single call path, such as a table
litmus: [tree_bcast]            # call paths with known growth, which test the machine
rules:
  - MPI_Allreduce <= MPI_Reduce + MPI_Bcast
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from regionpredict.documents import (
    MOST_YAML_BYTES,
    input_errors_while_reading,
    load_yaml,
    read_text,
)
from regionpredict.errors import InputError
from regionpredict.fit.expectations.growth import ONE, Growth, compare, parse
from regionpredict.fit.expectations.search_spaces import FINEST_STEPS, space_of
from regionpredict.fit.expectations.verdict import (
    Verdict,
    doubt_about,
    fit_expected,
    growth_of,
    judge_growth,
)
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.input import read
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.terms import SearchSpace
from regionpredict.fit.search.options import NEEDED_POINTS

SCHEMA = "regionpredict/expectations/1"
_KEYS = {
    "schema", "source", "measurements", "parameter", "metric", "statistic", "deviation",
    "search", "steps", "better", "expectations", "litmus", "rules", "min_points", "exponents",
    "terms", "max_terms",
}  # fmt: skip
_ENTRY_KEYS = {
    "callpath", "metric", "parameter", "expect", "model", "deviation", "search", "better", "source",
    "exponents", "terms", "max_terms",
}  # fmt: skip
_WHOLE_NUMBERS = {"steps": (0, FINEST_STEPS), "min_points": (2, 10_000), "max_terms": (1, 8)}


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation of the growth of a call path, and the result of its check.

    `verdict` is None if the model or the expectation is missing. `problem` gives the reason for a
    missing model. Without an expectation, `expected` is None and `model` is the proposed
    expectation. `model` is a formula, or the growth in the file. `fitted` is the measured series
    with its model. `inconclusive` is the reason why the measurements neither confirm nor refute the
    expectation, or "".
    """

    callpath: str
    metric: str
    parameter: str
    model: str
    growth: Growth | None
    verdict: Verdict | None
    litmus: bool = False
    problem: InputError | None = None
    adjusted_r2: float | None = None
    inconclusive: str = ""
    fitted: tuple[Series, FittedModel] | None = None
    expected: Growth | None = None

    @property
    def failed(self) -> bool:
        """Whether the expectation does not hold, or could not be checked."""
        return self.problem is not None or (self.verdict is not None and not self.verdict.passed)

    @property
    def passed(self) -> bool:
        """Whether the expectation holds."""
        return not self.failed and not self.inconclusive


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule such as `a <= b + c` with the growths of its sides, and whether it holds.

    `inconclusive` is the reason why the measurements of one side are inconclusive, or "".
    """

    text: str
    left: Growth | None
    right: Growth | None
    problem: InputError | None = None
    inconclusive: str = ""

    @property
    def failed(self) -> bool:
        """Whether the rule does not hold, or could not be checked."""
        return not self.inconclusive and not self.passed

    @property
    def passed(self) -> bool:
        """Whether the left side of the rule grows no faster than the fastest growing summand of the
        right side.
        """
        if self.inconclusive or self.problem is not None:
            return False
        if self.left is None or self.right is None:
            return False
        return compare(self.left, self.right) <= 0


@dataclass(frozen=True, slots=True)
class Report:
    """The checks of one expectation file, in the order of the file."""

    path: str
    checks: tuple[Check, ...]
    rules: tuple[RuleCheck, ...] = ()
    problems: tuple[InputError, ...] = field(default=())

    @property
    def checked(self) -> bool:
        """Whether there is at least one verdict, or one rule with models."""
        return any(c.verdict is not None or c.inconclusive for c in self.checks) or any(
            r.problem is None for r in self.rules
        )

    @property
    def failed(self) -> bool:
        """Whether an expectation or a rule does not hold, or the file contains nothing to check."""
        broken = any(c.failed for c in self.checks) or any(r.failed for r in self.rules)
        return broken or not self.checked

    @property
    def inconclusive(self) -> bool:
        """Whether no check fails, but some measurements are inconclusive."""
        return not self.failed and not self.passed

    @property
    def passed(self) -> bool:
        """Whether all expectations and rules hold, and there is at least one."""
        held = all(c.passed for c in self.checks) and all(r.passed for r in self.rules)
        return held and self.checked

    @property
    def litmus_failed(self) -> bool:
        """Whether a litmus test fails. In this case, the machine may be the cause of other
        failures.
        """
        return any(c.litmus and c.failed for c in self.checks)


def check_file(path: str | Path, measurements: str | Path | Experiment | None = None) -> Report:
    """Checks the expectations of a YAML file. The module's docstring shows the format.

    `measurements` replaces the measurements in the file. It is a path, or an experiment in memory.

    An expectation with a syntax error, or for an unmeasured call path or metric, is a failed check.
    The other expectations are still checked. Raises `InputError` if the file is not an expectation
    file.
    """
    with input_errors_while_reading(path, "a file of expectations", "docs/fit.md shows one"):
        return _check_all(Path(path), measurements)


def _check_all(path: Path, measurements: str | Path | Experiment | None) -> Report:
    data = load_file(path)
    source = measurements
    if source is None and data.get("measurements") is not None:
        source = Path(path).parent / str(data["measurements"])
    experiment = read(source) if isinstance(source, (str, Path)) else source
    litmus = {str(name) for name in data.get("litmus") or ()}
    checks = tuple(
        _check_entry(data, entry, experiment, litmus, str(path)) for entry in data["expectations"]
    )
    rules = tuple(_check_rule(str(text), checks, str(path)) for text in data.get("rules") or ())
    problems = experiment.problems if experiment is not None else ()
    return Report(str(path), checks, rules, problems)


def load_file(path: Path) -> dict[str, Any]:
    """Reads the keys of an expectation file. Raises `InputError` if the file has another format."""
    text = read_text(path, "check the name", most=MOST_YAML_BYTES)
    data = load_yaml(text, str(path), "fix the line")
    if not isinstance(data, dict) or not isinstance(data.get("expectations"), list):
        raise InputError(
            "there is no list of expectations",
            remedy="begin with 'expectations:' and a list",
            path=str(path),
        )
    for key, (least, most) in _WHOLE_NUMBERS.items():
        _require_whole_number(data, key, least, most, str(path))
    if data.get("schema", SCHEMA) != SCHEMA:
        raise InputError(
            f"unknown schema '{data['schema']}'", remedy=f"use {SCHEMA}", path=str(path)
        )
    unknown = sorted(str(key) for key in set(data) - _KEYS)
    if unknown:
        raise InputError(
            f"unknown key '{unknown[0]}'",
            remedy=f"use {', '.join(sorted(_KEYS))}",
            path=str(path),
        )
    for entry in data["expectations"]:
        unknown = sorted(map(str, set(entry) - _ENTRY_KEYS)) if isinstance(entry, dict) else []
        if not isinstance(entry, dict) or not entry or unknown:
            what = f"has no key '{unknown[0]}'" if unknown else "is not a set of keys"
            raise InputError(
                f"the expectation {repr(entry)[:60]} {what}",
                remedy=f"use {', '.join(sorted(_ENTRY_KEYS))}",
                path=str(path),
            )
        _require_whole_number(entry, "max_terms", *_WHOLE_NUMBERS["max_terms"], str(path))
    return data


def _require_whole_number(
    data: Mapping[str, Any], key: str, least: int, most: int, path: str
) -> None:
    """Raises InputError unless the value of the key is a whole number from `least` to `most`."""
    value = data.get(key, least)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            f"{key}: {str(value)[:40]!r} is not a whole number from {least} to {most}",
            remedy=f"write one, such as '{key}: {max(least, 2)}'",
            path=path,
        )


def _check_entry(
    data: Mapping[str, Any],
    entry: Mapping[str, Any],
    experiment: Experiment | None,
    litmus: set[str],
    path: str,
) -> Check:
    settings = {**{k: v for k, v in data.items() if k != "expectations"}, **entry}
    callpath = str(entry.get("callpath") or "")
    metric = str(settings.get("metric", ""))
    name = str(settings["parameter"]) if settings.get("parameter") is not None else None
    expected: Growth | None = None
    try:
        if settings.get("expect") is not None:
            expected, name = parse(str(settings["expect"]), name, path)
        check = _judge_growth(settings, callpath, metric, name, experiment, expected, path)
        return replace(check, litmus=callpath in litmus)
    except InputError as error:
        message = f"{callpath}: {error.message}" if callpath else error.message
        placed = InputError(message, remedy=error.remedy, path=error.path or path)
        return Check(
            callpath, metric, name or "p", "", None, None, callpath in litmus, placed,
            expected=expected,
        )  # fmt: skip


def _judge_growth(
    settings: Mapping[str, Any],
    callpath: str,
    metric: str,
    name: str | None,
    experiment: Experiment | None,
    expected: Growth | None,
    path: str,
) -> Check:
    limits = {
        key: parse(str(settings[key]), None, path)[0] if settings.get(key) is not None else None
        for key in ("deviation", "search")
    }
    better = settings.get("better", "deviation")
    if better not in ("deviation", "match"):
        raise InputError(f"better: '{better}' is unknown", remedy="use deviation or match")
    adjusted, measured, inconclusive = None, None, ""
    if settings.get("model") is not None:
        growth, name = parse(str(settings["model"]), name, path)
        model = growth.text(name)
    else:
        series = _series_of_call_path(experiment, callpath, metric, path)
        if len(series.parameters) != 1:
            raise InputError(
                f"an expectation has one parameter, the measurements have "
                f"{', '.join(series.parameters)}",
                remedy="fix the others",
            )
        if name is not None and name not in series.parameters:
            raise InputError(
                f"the measurements have no parameter '{name}'",
                remedy=f"they have {', '.join(series.parameters)}",
            )
        name = series.parameters[0]
        fitted = fit_expected(
            expected if expected is not None else ONE,
            series.points,
            series.values,
            search=limits["search"],
            steps=settings.get("steps", 2),
            statistic=settings.get("statistic", "mean"),
            parameters=series.parameters,
            min_points=settings.get("min_points", NEEDED_POINTS),
            space=_search_space(settings),
            max_terms=settings.get("max_terms", 2),
        )
        growth, model = growth_of(fitted), fitted.formula()
        adjusted = fitted.adjusted_r2 if fitted.terms and isfinite(fitted.adjusted_r2) else None
        metric = metric or series.metric
        measured = (series, fitted)
        assert experiment is not None
        inconclusive = experiment.disturbed or doubt_about(fitted)
    verdict = None
    if expected is not None and not inconclusive:
        verdict = judge_growth(expected, growth, deviation=limits["deviation"], better=better)
    return Check(
        callpath, metric, name or "p", model, growth, verdict, adjusted_r2=adjusted,
        inconclusive=inconclusive, fitted=measured, expected=expected,
    )  # fmt: skip


def _search_space(settings: Mapping[str, Any]) -> SearchSpace | None:
    """Returns the search space in the file, or None for the default space around the
    expectation.
    """
    terms = settings.get("terms") or ()
    if isinstance(terms, str) or not isinstance(terms, Sequence):
        raise InputError("terms: is not a list", remedy="write [p^3*log2(p)^2]")
    exponents = settings.get("exponents")
    return space_of(None if exponents is None else str(exponents), [str(term) for term in terms])


def _series_of_call_path(
    experiment: Experiment | None, callpath: str, metric: str, path: str
) -> Series:
    if experiment is None:
        raise InputError(
            "there are no measurements",
            remedy="name them with 'measurements:' or --measurements, or give a 'model'",
            path=path,
        )
    named = [s for s in experiment.series if s.callpath == callpath]
    if not named and not callpath:
        return _only_series(experiment, metric, path)
    if not named:
        named = [s for s in experiment.series if s.callpath.split("->")[-1] == callpath]
    if not named:
        known = ", ".join(dict.fromkeys(s.callpath for s in experiment.series))
        raise InputError("it was not measured", remedy=f"there are {known}", path=path)
    return _series_of_metric(named, metric, path)


def _only_series(experiment: Experiment, metric: str, path: str) -> Series:
    """Returns the series of an expectation without a call path. Raises InputError if several call
    paths were measured.
    """
    known = list(dict.fromkeys(s.callpath for s in experiment.series))
    if len(known) != 1:
        raise InputError(
            "an expectation names no call path",
            remedy=f"add callpath: one of {', '.join(known)}" if known else "add measurements",
            path=path,
        )
    return _series_of_metric(experiment.series, metric, path)


def _series_of_metric(named: Sequence[Series], metric: str, path: str) -> Series:
    kept = [s for s in named if not metric or s.metric == metric]
    if not kept:
        known = ", ".join(dict.fromkeys(s.metric for s in named))
        raise InputError(f"unknown metric '{metric}'", remedy=f"there are {known}", path=path)
    return kept[0]


def _check_rule(text: str, checks: Sequence[Check], path: str) -> RuleCheck:
    growths = {check.callpath: check.growth for check in checks if check.growth is not None}
    left, sign, right = text.partition("<=")
    parts = [part.strip() for part in right.split("+")]
    if not sign or not left.strip() or not all(parts):
        return RuleCheck(
            text, None, None,
            InputError(
                f"the rule '{text}' does not parse",
                remedy="write it like a <= b + c",
                path=path,
            ),
        )  # fmt: skip
    missing = [name for name in (left.strip(), *parts) if name not in growths]
    if missing:
        return RuleCheck(
            text, None, None,
            InputError(
                f"the rule '{text}' names '{missing[0]}', which has no model",
                remedy="add it to the expectations",
                path=path,
            ),
        )  # fmt: skip
    doubts = [c.inconclusive for c in checks if c.callpath in (left.strip(), *parts)]
    biggest = growths[parts[0]]
    for name in parts[1:]:
        if compare(growths[name], biggest) > 0:
            biggest = growths[name]
    why = next(filter(None, doubts), "")
    return RuleCheck(text, growths[left.strip()], biggest, inconclusive=why)
