"""Predictions as SARIF 2.1.0, the format of code scanning.

A finding of a rule (RP221) is reported at its place, and a recommended change (RP202) with its
gain. Each hint is an informational result that opens no alert.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from regionpredict import __version__
from regionpredict.ir import Diagnostic, Span
from regionpredict.machine import Machine
from regionpredict.predict import NOTHING_RECOMMENDED, Prediction, Recommended
from regionpredict.predict.program_advice import ByTeam
from regionpredict.report.editor_notes import Finding, changes, hint_text, noted
from regionpredict.report.json_text import fields_of
from regionpredict.report.loop_table import CONFLICTS
from regionpredict.report.recommendation import program_documents
from regionpredict.report.rules import rule_page

VERSION = "2.1.0"
HINT_RULE = "hint"
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def sarif_document(
    predictions: Sequence[Prediction], advice: ByTeam, machine: Machine,
    notes: Sequence[Diagnostic], line_at: Callable[[Span], str | None],
    recommended: Recommended = NOTHING_RECOMMENDED,
) -> dict[str, Any]:  # fmt: skip
    """Returns the log of one run, for `json.dumps`.

    `notes` concern files that could not be read. The recommendation for the program is a property
    of the run. `line_at` returns the text of a source line, which a fix replaces.
    """
    findings = list(_all_findings(predictions, advice, machine, notes))
    rules = list(dict.fromkeys(finding.rule for finding, _ in findings))
    return {
        "$schema": _SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "regionpredict",
                        "semanticVersion": __version__,
                        "rules": [_rule_record(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "properties": {"machine": machine.name, **program_documents(recommended)},
                "results": list(_result_records(findings, rules, line_at)),
            }
        ],
    }


def _all_findings(
    predictions: Sequence[Prediction], advice: ByTeam, machine: Machine, notes: Sequence[Diagnostic]
) -> Iterator[tuple[Finding, dict[str, Any]]]:
    for note in notes:
        yield Finding(note.id, note.span, note.message), {}
    for prediction in predictions:
        region = prediction.facts.region
        text = f"{machine.name}: {hint_text(prediction)}"
        names = "packages threads bottleneck confidence status"
        yield (
            Finding(HINT_RULE, region.span, text, region.function),
            {"region": region.id, **fields_of(prediction, names)},
        )
        yield from ((finding, {}) for finding in noted(prediction))
    for change in changes(predictions, advice, machine):
        yield change, {"gain": round(change.gain or 0.0, 3)}


def _result_records(
    findings: Iterable[tuple[Finding, dict[str, Any]]], rules: Sequence[str],
    line_at: Callable[[Span], str | None],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    index = {rule: at for at, rule in enumerate(rules)}
    alike: Counter[tuple[str, str, str]] = Counter()
    for finding, properties in findings:
        mark = finding.rule, finding.span.file, finding.function
        alike[mark] += 1
        result: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": index[finding.rule],
            "level": _severity_level(finding.rule),
            "message": {"text": finding.text},
            "locations": [_location_record(finding)],
            "partialFingerprints": {"regionpredict/1": _fingerprint_of(*mark, str(alike[mark]))},
        }
        if finding.rule == HINT_RULE:
            result["kind"] = "informational"
        if finding.clause is not None and (fix := _fix_record(finding, line_at(finding.span))):
            result["fixes"] = [fix]
        yield result | ({"properties": properties} if properties else {})


def _fix_record(finding: Finding, line: str | None) -> dict[str, Any] | None:
    """Replaces the line by the line with the clause. None if it cannot be derived."""
    edited = finding.edited(line)
    if line is None or edited is None:
        return None
    whole = {"startLine": finding.span.line, "startColumn": 1, "endLine": finding.span.line,
             "endColumn": len(line) + 1}  # fmt: skip
    change = {
        "artifactLocation": {"uri": _file_uri(finding.span.file)},
        "replacements": [{"deletedRegion": whole, "insertedContent": {"text": edited}}],
    }
    return {"description": {"text": f"Write {finding.clause}"}, "artifactChanges": [change]}


def _location_record(finding: Finding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _file_uri(finding.span.file)}}
    if finding.span.line > 0:
        physical["region"] = {"startLine": finding.span.line}
        if finding.span.column > 0:
            physical["region"]["startColumn"] = finding.span.column
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.function:
        location["logicalLocations"] = [{"name": finding.function, "kind": "function"}]
    return location


def _file_uri(file: str) -> str:
    """Converts a path to a URI reference.

    >>> _file_uri("src/a b.c"), _file_uri("/tmp/x.c"), _file_uri("../x#1.c")
    ('src/a%20b.c', 'file:///tmp/x.c', '../x%231.c')
    """
    path = PurePath(file)
    text = quote(path.as_posix().encode("utf-8", "surrogateescape"))
    return "file://" + text if path.is_absolute() else text


def _fingerprint_of(*parts: str) -> str:
    """Returns a fingerprint that does not depend on the line of the finding in its function."""
    joined = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(joined).hexdigest()[:32]


def _severity_level(rule: str) -> str:
    if rule == HINT_RULE:
        return "none"
    return "warning" if rule in CONFLICTS else "note"


def _rule_record(rule: str) -> dict[str, Any]:
    if rule == HINT_RULE:
        text = "How many packages and threads a parallel loop can use"
        return {"id": rule, "shortDescription": {"text": text},
                "defaultConfiguration": {"level": "none"}}  # fmt: skip
    page = rule_page(rule)
    heading = page.partition("\n")[0].lstrip("# ").removeprefix(f"{rule}: ")
    return {
        "id": rule,
        "shortDescription": {"text": heading},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _severity_level(rule)},
    }
