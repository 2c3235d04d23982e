"""Documents verdicts of `expect`, also as JSON and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree

from regionpredict.fit.expectations.expectation_file import Check, Report, RuleCheck
from regionpredict.fit.model.predicted_value import PredictedValue
from regionpredict.quoting import xml_text
from regionpredict.report.document import Cell, Column, Document, Items, Section, Table
from regionpredict.report.fit_document import fitness_text, prediction_blocks
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import plural

SCHEMA = "regionpredict/verdicts/1"
LITMUS = "a litmus test also diverges; the machine may be the cause of the other failures"
INCONCLUSIVE = "inconclusive"
_VERDICTS = {"match": "as expected", "approximate": "about as expected", "none": "not as expected"}
_OUTCOMES = ("not as expected", INCONCLUSIVE, "not checked", "about as expected", "as expected",
             "proposed")  # fmt: skip


def outcome(check: Check) -> str:
    """Describes the result of a check in two or three words."""
    if check.verdict is not None:
        return _VERDICTS[check.verdict.match]
    if check.problem is not None:
        return "not checked"
    return INCONCLUSIVE if check.inconclusive else "proposed"


def check_text(check: Check) -> str:
    """Describes the reason why a check failed, in one line."""
    if check.problem is not None:
        return str(check.problem)
    verdict = check.verdict
    assert verdict is not None
    name = check.parameter
    return (
        f"{check.callpath or '-'}: expected O({verdict.expected.text(name)}), "
        f"found O({verdict.growth.text(name)}), "
        f"diverges by O({verdict.divergence.text(name)}), "
        f"allowed O({verdict.deviation.text(name)})"
    )


def rule_text(rule: RuleCheck) -> str:
    """Formats a rule with the growth functions of its sides."""
    if rule.problem is not None:
        return str(rule.problem)
    if rule.inconclusive:
        return f"{rule.text}: {rule.inconclusive}"
    assert rule.left is not None
    assert rule.right is not None
    return f"{rule.text}: O({rule.left.text()}) against O({rule.right.text()})"


def expectations_document(
    report: Report, predictions: Sequence[PredictedValue] = ()
) -> Document:  # fmt: skip
    """Returns the verdicts, the rules, the failures, and predictions."""
    rows: list[list[Cell]] = []
    for check in report.checks:
        name, verdict = check.parameter, check.verdict
        rows.append([
            (check.callpath or "-") + (" (litmus)" if check.litmus else ""), check.metric,
            None if check.expected is None else f"O({check.expected.text(name)})",
            check.model or None,
            check.adjusted_r2, None if check.growth is None else f"O({check.growth.text(name)})",
            None if verdict is None else f"O({verdict.divergence.text(name)})",
            None if verdict is None else f"O({verdict.deviation.text(name)})",
            outcome(check),
        ])  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True, only="page"),
        Column("Expected"), Column("Model", minor=True),
        Column("Adj. R2", fitness_text, minor=True), Column("Growth"),
        Column("Divergence", minor=True), Column("Allowed", minor=True, only="page"),
        Column("Verdict", choice=True),
    ]  # fmt: skip
    rules = Table(
        "Rules between growths", [Column("Rule"), Column("Verdict", choice=True)],
        [[rule_text(rule), "holds" if rule.passed else INCONCLUSIVE if rule.inconclusive
          else "broken"] for rule in report.rules],
    )  # fmt: skip
    failed = [f"failed: {check_text(check)}" for check in report.checks if check.failed]
    doubts: dict[str, list[str]] = {}
    for check in report.checks:
        if check.inconclusive:
            doubts.setdefault(check.inconclusive, []).append(check.callpath or "-")
    failed += [f"{INCONCLUSIVE}: {', '.join(names)}: {why}" for why, names in doubts.items()]
    failed += [f"note: {LITMUS}"] if report.litmus_failed else []
    problems = [str(problem) for problem in report.problems]
    sections = [
        Section("Expectations", [Table("Expected growth, and the growth that was found",
                                       columns, rows)]),
        Section("Rules", [rules]),
        Section("Failures", [Items(failed)]),
        Section("Problems", [Items(problems)], "page"),
        Section("Predictions", prediction_blocks(predictions)),
    ]  # fmt: skip
    title = f"Expectations of {PurePath(report.path).name}"
    return Document(
        title, [_summary_text(report)], sections, lambda: _json_record(report, predictions)
    )


def _summary_text(report: Report) -> str:
    """Summarizes checks: `Failed: 1 of 2 expectations is not as expected, 1 is as expected; 1 of 1
    rule is broken`.
    """
    state = "Passed" if report.passed else INCONCLUSIVE.title() if report.inconclusive else "Failed"
    counts = Counter(outcome(check) for check in report.checks)
    of = f" of {plural(len(report.checks), 'expectation')}"
    parts: list[str] = []
    for words in _OUTCOMES:
        if counts[words]:
            parts.append(
                f"{counts[words]}{'' if parts else of} {_count_verb(counts[words])} {words}"
            )
    broken = sum(not rule.passed and not rule.inconclusive for rule in report.rules)
    rules = f"{broken} of {plural(len(report.rules), 'rule')} {_count_verb(broken)} broken"
    return f"{state}: {', '.join(parts)}{f'; {rules}' if report.rules else ''}"


def _count_verb(count: int) -> str:
    return "is" if count == 1 else "are"


def _json_record(report: Report, predictions: Sequence[PredictedValue]) -> dict[str, Any]:
    verdicts = []
    for check in report.checks:
        name, verdict = check.parameter, check.verdict
        growths = {
            key: None if growth is None else growth.text(name)
            for key, growth in (
                ("expectation", check.expected),
                ("divergence", verdict.divergence if verdict else None),
                ("deviation", verdict.deviation if verdict else None),
                ("growth", check.growth),
            )
        }
        verdicts.append({
            **fields_of(check, "callpath metric parameter adjusted_r2 litmus passed problem"),
            **growths, "model": check.model or None,
            "match": verdict.match if verdict else INCONCLUSIVE if check.inconclusive else None,
            "inconclusive": check.inconclusive or None,
        })  # fmt: skip
    rules = [
        {
            **fields_of(rule, "passed problem", rule="text"),
            "left": rule.left.text() if rule.left is not None else None,
            "right": rule.right.text() if rule.right is not None else None,
            "inconclusive": rule.inconclusive or None,
        }
        for rule in report.rules
    ]
    return {
        "schema": SCHEMA, **fields_of(report, "passed inconclusive"), "verdicts": verdicts,
        "rules": rules, **({"predictions": plain(predictions)} if predictions else {}),
    }  # fmt: skip


def report_junit(report: Report) -> str:
    """Returns the verdicts as JUnit XML, with one test case per expectation and per rule."""
    failures = sum(c.failed and c.problem is None for c in report.checks)
    errors = sum(c.problem is not None for c in report.checks)
    broken = sum(rule.failed for rule in report.rules)
    skipped = sum(bool(check.inconclusive) for check in report.checks)
    skipped += sum(bool(rule.inconclusive) for rule in report.rules)
    suite = ElementTree.Element(
        "testsuite",
        name=xml_text(f"expectations of {report.path}"),
        tests=str(len(report.checks) + len(report.rules)),
        failures=str(failures + broken),
        errors=str(errors),
        skipped=str(skipped),
    )

    def add_case(kind: str, name: str, outcome: str, message: str, text: str | None = None) -> None:
        """Adds a test case. It passed if the outcome is empty."""
        case = ElementTree.SubElement(suite, "testcase", classname=kind, name=xml_text(name))
        if outcome:
            ElementTree.SubElement(case, outcome, message=xml_text(message)).text = text

    for check in report.checks:
        kind = xml_text(check.metric or "metric")
        if check.problem is not None:
            add_case(kind, check.callpath, "error", check_text(check))
        elif check.inconclusive:
            add_case(kind, check.callpath, "skipped", check.inconclusive)
        elif check.failed:
            add_case(kind, check.callpath, "failure", check_text(check), xml_text(check.model))
        else:
            add_case(kind, check.callpath, "", "")
    for rule in report.rules:
        outcome = "skipped" if rule.inconclusive else "failure" if rule.failed else ""
        add_case("rule", rule.text, outcome, rule_text(rule))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
