"""JSON against the shipped schemas and the rules between fields; CSV against the JSON.

All samples go through, and a file of everything that can be missing: no loop, no sizes, no
arrays, a body that is not seen.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.report.document import Document, Section, Table
from regionpredict.report.hints import facts_document, hints_document, schema
from regionpredict.report.json_text import as_json
from regionpredict.report.loop_table import fact_rows, hint_rows
from regionpredict.report.rendered import rendered

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = Path(__file__).with_name("awkward.c")
SOURCES = {
    "polybench": (str(ROOT / "polybench_samples"),),
    "npb": (str(ROOT / "npb_samples"),),
    "listings": (str(ROOT / "tests" / "golden"),),
    "awkward": (str(AWKWARD),),
}
SUITES = ("polybench", "npb")
MACHINES = ("clovertown", "dunnington", "epyc-7451")
each_source = pytest.mark.parametrize(
    "source",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SUITES else []) for name in SOURCES],
)
each_machine = pytest.mark.parametrize(
    "machine",
    [
        pytest.param(name, marks=[pytest.mark.slow] if at else [])
        for at, name in enumerate(MACHINES)
    ],
)


@cache
def result_of(source: str, machine: str) -> tuple[Predictions, Machine]:
    analysis = analyse(requests_for(SOURCES[source], (), [str(ROOT / "npb_samples/common")]), {})
    loaded = load(machine)
    return predict(analysis, loaded), loaded


def hints_of(source: str, machine: str) -> dict[str, Any]:
    result, loaded = result_of(source, machine)
    notes = result.analysis.program.diagnostics
    document = hints_document(
        result.predictions, result.teams, result.plans, loaded, "density", notes
    )
    parsed: dict[str, Any] = json.loads(as_json(document))
    return parsed


@pytest.mark.parametrize("name", ["hints-1", "facts-1"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@each_machine
@each_source
def test_hints_keep_the_schema(source: str, machine: str) -> None:
    jsonschema.Draft202012Validator(schema("hints-1")).validate(hints_of(source, machine))


@each_source
def test_facts_keep_the_schema(source: str) -> None:
    analysis = result_of(source, "clovertown")[0].analysis
    document = facts_document(analysis.facts, analysis.program.diagnostics)
    parsed = json.loads(as_json(document))
    jsonschema.Draft202012Validator(schema("facts-1")).validate(parsed)
    assert parsed["regions"], "an empty document proves nothing"


@each_machine
@each_source
def test_fields_agree_with_each_other(source: str, machine: str) -> None:
    document = hints_of(source, machine)
    packages = document["machine"]["packages"]
    cores = packages * document["machine"]["cores_per_package"]
    ids = [region["id"] for region in document["regions"]]
    assert len(ids) == len(set(ids)), "an id names one region"
    for region in document["regions"]:
        assert region["id"].startswith(f"{region['file']}:{region['line']}")
        if region["status"] == "skipped":
            for name in ("score", "packages", "threads", "miss_probability", "bottleneck"):
                assert region[name] is None
            assert region["diagnostics"], "what is skipped says why"
            assert region["confidence"] == 0
            continue
        assert 1 <= region["packages"] <= packages
        assert 1 <= region["threads"] <= cores
        assert 0 <= region["score"] <= 1
        size = region["working_set"]["bytes"]
        if size is None:
            assert any("working set" in line for line in region["assumed"])
        if region["status"] == "partial":
            assert region["diagnostics"], "what is partial says why"
        kinds = {access["kind"] for array in region["arrays"] for access in array["accesses"]}
        assert kinds <= {"read", "write"}
        for array in region["arrays"]:
            if not array["counted"]:
                assert {a["reuse"] for a in array["accesses"]} <= {"hit"}


@each_source
def test_an_expression_and_its_value_agree(source: str) -> None:
    """Where nothing is left to bind, the printed expression is worth the printed number."""
    for region in hints_of(source, "clovertown")["regions"]:
        for field, key in (("iterations", "value"), ("working_set", "bytes")):
            text = region[field]["expr"]
            if text is not None and not re.search(r"[A-Za-z?]", text):
                worth = eval(text.replace("/", "//"))
                assert max(0, worth) == region[field][key]


def csv_rows(table: Table) -> csv.DictReader:
    text = rendered(Document("", [], [Section("Rows", [table])]), "csv")
    return csv.DictReader(io.StringIO(text))


@each_source
def test_csv_has_a_row_a_region_and_the_same_numbers(source: str) -> None:
    result, _ = result_of(source, "dunnington")
    document = hints_of(source, "dunnington")
    rows = list(csv_rows(hint_rows(result.predictions)))
    assert [row["id"] for row in rows] == [region["id"] for region in document["regions"]]
    for row, region in zip(rows, document["regions"], strict=True):
        for name in ("packages", "threads", "bottleneck", "status", "function"):
            assert row[name] == ("" if region[name] is None else str(region[name]))
        bytes_ = region["working_set"]["bytes"]
        assert row["working_set_bytes"] == ("" if bytes_ is None else str(bytes_))
        score = row["score"]
        assert (score == "") == (region["score"] is None)
        if score:
            assert float(score) == pytest.approx(region["score"], abs=5e-5)
        assert row["assumed"] == "; ".join(region["assumed"])
    facts = list(csv_rows(fact_rows(result.analysis.facts)))
    assert [row["id"] for row in facts] == [row["id"] for row in rows]
    assert all(None not in row and None not in row.values() for row in (*rows, *facts))


def test_conditions_of_a_count_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        "void f(int n, int m, double a[n][n]) {\n"
        "#pragma omp parallel for collapse(2)\n"
        "  for (int i = 0; i < n; i++)\n"
        "    for (int j = i; j < m; j++) a[i][j] = 0;\n"
        "}\n"
    )
    analysis = analyse(requests_for([str(path)]), {})
    (region,) = facts_document(analysis.facts, ())["regions"]
    # sum of m - i for i < n, as long as no term is below zero
    assert region["iterations"]["conditions"] == "m + 1 >= n"
    assert region["iterations"]["expr"] == "(2*m*n - n*n + n)/2"


def test_json_needs_no_numpy() -> None:
    code = "import sys, regionpredict.report.json_text; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
