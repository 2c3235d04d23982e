"""The page of `expect`: expectations of growth, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from regionpredict.fit.expectations.expectation_file import Report
from regionpredict.report.expectations import (
    INCONCLUSIVE,
    LITMUS,
    check_text,
    outcome,
    report_table,
    rule_text,
)
from regionpredict.report.fitted_models import PredictedValue
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    facts,
    items,
    table,
)
from regionpredict.report.html.fit import prediction_rows
from regionpredict.report.html.page import page
from regionpredict.report.quantities import plural

_VERDICTS = {"match": "as expected", "approximate": "about as expected", "none": "not as expected"}


def expectations_page(report: Report, predictions: Sequence[PredictedValue] = ()) -> str:
    """The page."""
    checked = [check for check in report.checks if check.verdict is not None]
    overview = [
        ("Outcome",
         "passed" if report.passed else INCONCLUSIVE if report.inconclusive else "failed"),
        ("Checked", plural(len(checked), "expectation")),
        *((_VERDICTS[match].capitalize(), str(number)) for match in _VERDICTS
          if (number := sum(check.verdict.match == match for check in checked if check.verdict))),
        *([("Rules", f"{sum(rule.passed for rule in report.rules)} of "
            f"{plural(len(report.rules), 'rule')} hold")] if report.rules else []),
    ]  # fmt: skip
    failed = [check_text(check) for check in report.checks if not check.passed]
    failed += [LITMUS] if report.litmus_failed else []
    failed += [str(problem) for problem in report.problems]
    sections = [
        Section("Overview", [facts(overview)]),
        Section("Expectations", _checks(report)),
        Section("Rules", _rules(report)),
        Section("What failed", [items(failed)] if failed else []),
        Section("Predictions", prediction_rows(predictions)),
        as_text(report_table(report, predictions)),
    ]
    return page(f"Expectations of {PurePath(report.path).name}", [], sections)


def _checks(report: Report) -> list[Block]:
    rows: list[list[Cell]] = []
    for check in report.checks:
        name, verdict = check.parameter, check.verdict
        growth = "" if check.growth is None else f"O({check.growth.text(name)})"
        state = outcome(check) if verdict is None else _VERDICTS[verdict.match]
        fitness = check.adjusted_r2
        rows.append([
            check.callpath + (" (litmus)" if check.litmus else ""), check.metric,
            "" if verdict is None else f"O({verdict.expected.text(name)})", check.model,
            ("" if fitness is None else f"{fitness:.3f}", fitness), growth,
            "" if verdict is None else f"O({verdict.divergence.text(name)})",
            "" if verdict is None else f"O({verdict.deviation.text(name)})", state,
        ])  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("Expected"),
        Column("Model", minor=True), Column("Adjusted R2", number=True, minor=True),
        Column("Growth"), Column("Divergence", minor=True),
        Column("Allowed", minor=True), Column("Verdict", choice=True),
    ]  # fmt: skip
    return [table("Expected growth, and the growth that was found", columns, rows)] if rows else []


def _rules(report: Report) -> list[Block]:
    rows: list[list[Cell]] = [
        [
            rule_text(rule),
            "holds" if rule.passed else INCONCLUSIVE if rule.inconclusive else "broken",
        ]
        for rule in report.rules
    ]
    columns = [Column("Rule"), Column("Verdict", choice=True)]
    return [table("Rules between growths", columns, rows)] if rows else []
