"""Verdicts and success rates, by hand; the command on written files."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.compare.success import baselines, success, time_lost, wilson
from regionpredict.compare.verdicts import compare
from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Hint, Hints, Place, match_hint
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store
from regionpredict.measure.summary import RegionSummary, summarise
from regionpredict.report.comparison import comparison_document, comparison_table
from regionpredict.report.comparison_plot import comparison_svg

ROOT = Path(__file__).resolve().parents[2]
HOST = Host("here", "a processor", 2, 2, 1, 1)


def _hint(line: int, packages: int, threads: int | None = None, **changes: Any) -> Hint:
    values: dict[str, Any] = {
        "id": f"src/f.c:{line}", "file": "src/f.c", "line": line, "loop_line": line + 1,
        "function": "f", "status": "predicted", "packages": packages,
        "threads": 2 * packages if threads is None else threads, "score": 0.3,
        "bottleneck": "compute", "confidence": 0.9, "borderline": False,
        "speedup": {1: 1.0, 4: 2.0}, "assumed": ("n = 4",),
    }  # fmt: skip
    return Hint(**{**values, **changes})


def _hints(*regions: Hint, packages: int = 2, cores: int = 2) -> Hints:
    return Hints("hints.json", "twin", packages, cores, "density", regions)


def _runs(times: dict[int, dict[int, float]], file: str = "/build/src/f.c") -> Campaign:
    """A campaign from line -> threads -> seconds."""
    runs = []
    for threads in sorted({n for by in times.values() for n in by}):
        regions = tuple(
            RegionRun(
                file, line, line + 1, "f", "omp for", "gcc", 1, by[threads], 0.0, 0.0, 0.0, 1, 8, 8,
                8, threads, threads,
            )
            for line, by in times.items() if threads in by
        )  # fmt: skip
        runs.append(Run(threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "libgomp", regions))
    return Campaign(("./a",), HOST, {"places": "cores", "proc_bind": "close"}, "now", tuple(runs))


def _summaries(times: dict[int, dict[int, float]]) -> tuple[RegionSummary, ...]:
    return summarise(_runs(times))


# Region 10 scales to both packages, 20 saturates in one, 30 gets slower on the second.
TIMES = {
    10: {1: 8.0, 2: 4.0, 4: 2.0},
    20: {1: 4.0, 2: 2.1, 4: 2.0},
    30: {1: 2.0, 2: 1.0, 4: 1.5},
}


def test_verdicts_in_packages() -> None:
    result = compare(_hints(_hint(10, 2), _hint(20, 2), _hint(30, 1)), _summaries(TIMES))
    assert result.unit == "packages"
    assert [(v.hint.line, v.needed, v.right) for v in result.verdicts] == [
        (10, 2, True), (20, 1, False), (30, 1, True),
    ]  # fmt: skip
    assert [v.utilisation for v in result.verdicts] == [1.0, 0.5, pytest.approx(1 / 3)]
    assert [v.measured_speedup[4] for v in result.verdicts] == [4.0, 2.0, pytest.approx(4 / 3)]
    assert result.verdicts[0].speedup_error == -0.5
    assert [v.loss for v in result.verdicts] == [0.0, 0.0, 0.0]
    assert success(result)[:2] == (2, 3)
    assert {name: rate.right for name, rate in baselines(result).items()} == {
        "always 1": 2, "always 2": 1, "majority (1)": 2,
    }  # fmt: skip


def test_the_tolerance_decides() -> None:
    hints = _hints(_hint(20, 2))
    assert compare(hints, _summaries({20: TIMES[20]}), tolerance=0.1).verdicts[0].needed == 1
    assert compare(hints, _summaries({20: TIMES[20]}), tolerance=0.01).verdicts[0].needed == 2


def test_the_thesis_areas() -> None:
    result = compare(
        _hints(_hint(10, 2), _hint(20, 1), _hint(30, 1)), _summaries(TIMES),
        criterion="utilisation",
    )  # fmt: skip
    # Utilisations 1, 0.5 and 0.33: the first lies in the second area, the others in the first.
    assert [v.needed for v in result.verdicts] == [2, 1, 1]
    assert success(result)[:2] == (3, 3)


def test_too_few_packages_lose_time_and_stand_first() -> None:
    times = {10: TIMES[10], 20: TIMES[20], 40: {1: 9.0, 2: 3.0, 4: 2.0}}
    result = compare(_hints(_hint(10, 1), _hint(20, 2), _hint(40, 1)), _summaries(times))
    assert [v.hint.line for v in result.most_wrong] == [10, 40, 20]
    assert [v.loss for v in result.most_wrong] == [1.0, 0.5, 0.0]
    assert time_lost(result.judged) == pytest.approx((4 + 2 + 3) / (2 + 2 + 2) - 1)


def test_threads_where_packages_were_not_measured() -> None:
    hints = _hints(_hint(10, 1, threads=5), packages=1, cores=6)
    result = compare(hints, _summaries({10: TIMES[10]}))
    assert (result.unit, result.options) == ("threads", (1, 2, 4))
    assert (result.verdicts[0].hinted, result.verdicts[0].right) == (4, True)


def test_what_cannot_be_judged_is_not() -> None:
    hints = _hints(_hint(10, 2, status="skipped"), _hint(20, 1), _hint(50, 1))
    result = compare(hints, _summaries({10: TIMES[10], 20: {1: 4.0, 2: 3.0}, 60: TIMES[10]}))
    assert [v.right for v in result.verdicts] == [None, None]
    assert result.not_measured == ("src/f.c:50",)
    assert result.without_hint == ("/build/src/f.c:60",)
    assert success(result).share is None


def test_hints_of_another_program_are_said() -> None:
    with pytest.raises(InputError, match="hints for another program: none of their 1 regions"):
        compare(_hints(_hint(99, 1)), _summaries(TIMES))
    with pytest.raises(InputError, match="measured on 2 threads alone"):
        compare(_hints(_hint(10, 1)), _summaries({10: {2: 1.0}}))


def test_the_nearest_file_of_a_name_has_the_hint() -> None:
    one, other = _hint(7, 1, file="a/src/f.c"), _hint(7, 2, file="b/src/f.c")
    place = Place("/home/me/b/src/f.c", 7, 8)
    assert match_hint([one, other], place) is other
    assert match_hint([one, other], Place("/home/me/b/src/g.c", 7, 8)) is None
    assert match_hint([one], Place("/x/a/src/f.c", 6, 8)) is one  # by the loop's line


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_interval_solves_its_equation(right: int, wrong: int) -> None:
    rate = wilson(right, right + wrong)
    if right + wrong == 0:
        assert (rate.low, rate.high) == (0.0, 1.0)
        return
    share = right / (right + wrong)
    assert rate.low <= share + 1e-12
    assert rate.high >= share - 1e-12
    for end in (rate.low, rate.high):  # |share - p| = z sqrt(p (1 - p) / n)
        spread = 1.959964 * math.sqrt(end * (1 - end) / (right + wrong))
        assert abs(abs(share - end) - spread) < 1e-6


def test_the_plot_is_a_picture() -> None:
    result = compare(
        _hints(_hint(10, 2, score=0.9), _hint(20, 2, score=0.7), _hint(30, 1, score=0.2)),
        _summaries(TIMES),
    )
    root = ElementTree.fromstring(comparison_svg(result))
    by_class = [node.get("class") for node in root.iter() if node.get("class")]
    assert by_class.count("right") == 2
    assert by_class.count("wrong") == 1
    assert by_class.count("area") == 2
    assert by_class.count("trend") == 1


def test_text_and_json_agree() -> None:
    result = compare(_hints(_hint(10, 2), _hint(20, 2), _hint(30, 1)), _summaries(TIMES))
    text, document = comparison_table(result), comparison_document(result)
    assert "success 66.7 % (2 of 3" in text
    assert document["success"]["share"] == pytest.approx(2 / 3)
    assert "f.c:20 f" in next(line for line in text.splitlines() if line.endswith("wrong"))
    assert "assumed: n = 4" in text
    assert json.loads(json.dumps(document)) == document


def _written(folder: Path) -> None:
    store = Store(folder / "m.jsonl")
    campaign = _runs(TIMES)
    store.begin(campaign)
    for run in campaign.runs:
        store.add(run)
    regions = []
    for line, packages in ((10, 2), (20, 2), (30, 1)):
        regions.append(
            {"id": f"src/f.c:{line}", "file": "src/f.c", "line": line, "function": "f",
             "status": "predicted", "packages": packages, "threads": 2 * packages, "score": 0.5,
             "bottleneck": "compute", "confidence": 0.9, "borderline": False, "speedup": [],
             "assumed": []}
        )  # fmt: skip
    machine = {"name": "twin", "packages": 2, "cores_per_package": 2, "sha256": "0"}
    document = {"schema": "regionpredict/hints/1", "machine": machine, "model": "density",
                "regions": regions}  # fmt: skip
    (folder / "hints.json").write_text(json.dumps(document))


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "compare", *words], cwd=folder, text=True,
        capture_output=True, timeout=60, check=False, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip


@pytest.mark.parametrize(("least", "code"), [("66", 0), ("67", 1)])
def test_the_exit_code_follows_the_success(tmp_path: Path, least: str, code: int) -> None:
    _written(tmp_path)
    done = _command(
        tmp_path, "hints.json", "m.jsonl", "--min-success", least, "--format", "json",
        "--plot", "p.svg",
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["success"]["right"] == 2
    assert ("below --min-success 67" in done.stderr) == bool(code)
    assert (tmp_path / "p.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["m.jsonl", "m.jsonl"], "m.jsonl:2:1: not a hints file: Extra data;"),
        (["hints.json", "hints.json"], "hints.json: not a file of measurements;"),
        (["none", "m.jsonl"], "none: cannot be read: No such file or directory;"),
    ],
)
def test_wrong_files_are_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    _written(tmp_path)
    done = _command(tmp_path, *words)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
