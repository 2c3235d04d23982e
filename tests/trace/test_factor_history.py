"""Factors over versions: what `trace factors` wrote for each, in a table, a page and a badge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "regionpredict" / "report" / "schemas" / "factor-history-1.json"


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", *words], cwd=folder, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """Two versions of one program on 2 and 4 processes, from POP's tables by `trace factors`.

    Parallel is LB x communication: 0.9 x 0.8 = 0.72 and 0.8 x 0.75 = 0.6, then 0.9 and 0.8.
    """
    for name, rows in (
        ("2026-01-01-aaa", "2;4\nLoad balance;0.9;0.8\nCommunication;0.8;0.75\nRuntime;6;4\n"),
        ("2026-01-02-bbb", "2;4\nLoad balance;0.9;0.8\nCommunication;1;1\nRuntime;5;3\n"),
    ):
        (tmp_path / "table.csv").write_text(f"Number of processes;{rows}")
        done = call(tmp_path, "factors", "table.csv", "--format", "json", "-o", f"{name}.json")
        assert done.returncode == 0, done.stderr
    return tmp_path


def test_a_table_for_each_number_of_processes(versions: Path) -> None:
    names = ["2026-01-01-aaa", "2026-01-02-bbb"]
    shown = call(versions, "history", *(f"{name}.json" for name in names)).stdout
    assert " ".join(shown.split()).startswith(
        "2026-01-02-bbb: parallel efficiency 80.0 % on 4 processes, +20.0 percentage points "
        "against 2026-01-01-aaa."
    )
    cells = [line.split() for line in shown.splitlines() if line.strip().startswith("2026")][-4:]
    # Version, parallel, LB, communication, Ser, Trf, run time: first on 4 processes, then on 2.
    assert cells == [
        [names[0], "60.00", "80.00", "75.00", "-", "-", "4", "s"],
        [names[1], "80.00", "80.00", "100.00", "-", "-", "3", "s"],
        [names[0], "72.00", "90.00", "80.00", "-", "-", "6", "s"],
        [names[1], "90.00", "90.00", "100.00", "-", "-", "5", "s"],
    ]


def test_json_has_the_schema_and_the_order_of_the_files(versions: Path) -> None:
    done = call(versions, "history", "2026-01-02-bbb.json", "2026-01-01-aaa.json", "--format",
                "json")  # fmt: skip
    record = json.loads(done.stdout)
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    assert [version["name"] for version in record["versions"]] == [
        "2026-01-02-bbb", "2026-01-01-aaa"
    ]  # fmt: skip
    assert record["versions"][1]["runs"][1]["parallel"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("name", "value", "colour"),
    [("2026-01-02-bbb", "80 % on 4", "#2e7d32"), ("2026-01-01-aaa", "60 % on 4", "#8a6d00")],
)
def test_the_badge_is_of_the_last_version(
    versions: Path, name: str, value: str, colour: str
) -> None:
    done = call(versions, "history", f"{name}.json", "--badge", "b.svg", "--format", "html", "-o",
                "page.html")  # fmt: skip
    assert done.returncode == 0, done.stderr
    badge = ElementTree.parse(versions / "b.svg").getroot()
    assert [text.text for text in badge.iter("{http://www.w3.org/2000/svg}text")] == [
        "parallel efficiency", value
    ]  # fmt: skip
    assert colour in (versions / "b.svg").read_text()
    assert (versions / "page.html").read_text().startswith("<!")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.json"], "none.json: cannot be read: No such file"),
        (["table.csv"], "table.csv:1:1: not a result of trace factors"),
        (["other.json"], "other.json: not a result of trace factors: 'schema' is not"),
        (["2026-01-01-aaa.json", "2026-01-01-aaa.json"], "2026-01-01-aaa has several runs on 2"),
    ],
)
def test_what_is_no_result_is_one_line(versions: Path, words: list[str], said: str) -> None:
    (versions / "other.json").write_text('{"schema": "regionpredict/hints/1"}')
    done = call(versions, "history", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr
