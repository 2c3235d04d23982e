"""The page on accuracy says what the sample of the data gives, and how it is told otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from accuracy import PAGE, main, spread_over
from datasets import SOURCES, read_all
from measured import Case, DataSet
from predictor import Code
from tables import block_of, differing, updated

HERE = Path(__file__).parent
SAMPLE = HERE / "sample"


def test_the_page_prints_what_the_sample_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--processes", "1"]) == 0, "`make accuracy UPDATE=1` writes the page anew"
    printed = capsys.readouterr().out
    assert "this model" in printed
    assert "says otherwise" not in printed


def test_the_sample_has_every_kind_of_choice() -> None:
    assert {data.choice for data in read_all(SAMPLE)} == {"threads", "packages"}


def test_the_page_has_all_blocks_of_all_data() -> None:
    page = PAGE.read_text()
    for name in ("provenance", "errors", "choices", "worst", "ablation-times",
                 "ablation-speedups", "ablation-choices", "reliability", "doubts", "frontier",
                 "fitted", "density"):  # fmt: skip
        assert (block_of(page, name) or "").count("\n") > 2, name


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.read.__name__)
def test_the_page_names_every_file(source) -> None:
    assert source.file in (block_of(PAGE.read_text(), "provenance") or "")


def test_a_block_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- accuracy: a -->\n\nold\n\n<!-- end of a -->\nafter\n")
    assert differing(page, {"a": r"new \1", "b": ""}) == ["a", "b"]
    page.write_text(updated(page.read_text(), "a", r"new \1"))
    assert page.read_text() == (
        "before\n<!-- accuracy: a -->\n\nnew \\1\n\n<!-- end of a -->\nafter\n"
    )
    assert differing(page, {"a": r"new \1"}) == []


def test_the_ablation_takes_cases_from_all_over_the_file() -> None:
    cases = tuple(Case(str(n), Code(), "clovertown", {1: 1.0}) for n in range(100))
    data = DataSet("d", "", "", cases, "none", "out", "nothing")
    assert [case.label for case in spread_over(data, 4).cases] == ["0", "25", "50", "75"]
    assert spread_over(data, 200) is data


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--no-such-option"], 2, "unrecognized arguments"),
        (["no/such/folder"], 2, "is no folder"),
        ([str(HERE / "machines")], 2, "holds none of the files"),
    ],
)
def test_a_wrong_call_is_told_in_a_line(arguments: list[str], status: int, says: str) -> None:
    made = subprocess.run(
        [sys.executable, str(HERE / "accuracy.py"), *arguments],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert made.returncode == status
    assert says in made.stdout + made.stderr
    assert "Traceback" not in made.stderr
