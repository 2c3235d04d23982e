"""Verdicts and success rates, by hand; the command on written files."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparison_text import shown_words
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.compare.comparable import size_difference
from regionpredict.compare.success import baselines, success, time_lost, wilson
from regionpredict.compare.verdicts import Comparison, compare
from regionpredict.errors import InputError
from regionpredict.measure.hints_file import BySize, Hint, Hints, Place, match_hint
from regionpredict.measure.records import Campaign, EntryCase, Host, RegionRun, Run
from regionpredict.measure.store import Store
from regionpredict.measure.summary import RegionSummary, summarise
from regionpredict.report.comparison import comparison_document, wrong_term
from regionpredict.report.plots.drawn import figure_of
from regionpredict.report.rendered import rendered
from regionpredict.report.verdict_scatter import utilisation_scatter

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


# Two of four packages of six cores: what the region can use lies in 1 to 12 cores.
HALF = {
    10: {1: 12.0, 6: 2.0, 12: 1.0},  # twice as fast on the second package
    20: {1: 4.5, 6: 1.05, 12: 1.0},  # utilisation 0.375 of twelve cores
}


def test_two_of_four_packages_are_judged_as_two() -> None:
    hints = _hints(
        _hint(10, 4, score=0.9), _hint(20, 2, score=0.4), packages=4, cores=6
    )  # fmt: skip
    # Figures 6.4 and 6.6: two areas, cut at a half; 0.375 is the first, a score of 0.4 too.
    areas = compare(hints, _summaries(HALF), criterion="utilisation")
    assert [v.utilisation for v in areas.verdicts] == [1.0, 0.375]
    assert [(v.hinted, v.needed, v.right) for v in areas.verdicts] == [(2, 2, True), (1, 1, True)]
    # By times: 4 packages are "at least 2" where 2 were measured; 2 packages are one too many.
    best = compare(hints, _summaries(HALF))
    assert [(v.hinted, v.needed, v.right) for v in best.verdicts] == [(2, 2, True), (2, 1, False)]
    assert (best.options, best.most, best.in_part) == ((1, 2), 4, True)
    text = rendered(comparison_document(best), "table")
    assert "2 of 4 packages were measured; 2+ means at least this number" in text
    row = next(line for line in text.splitlines() if line.startswith("f.c:10"))
    assert row.split()[-3:] == ["2+", "2+", "right"]


def _drawn(result: Comparison) -> tuple[dict[str, list[tuple[float, float]]], str]:
    """The points of each line by its name in the legend, and the title."""
    (axes,) = figure_of(utilisation_scatter(result)).axes
    marks = {str(line.get_label()): [(float(x), float(y)) for x, y in line.get_xydata()]
             for line in axes.get_lines()}  # fmt: skip
    return marks, axes.get_title(loc="left")


def test_half_a_machine_has_half_its_areas_in_the_plot() -> None:
    hints = _hints(_hint(10, 4, score=0.9), _hint(20, 2, score=0.4), packages=4, cores=6)
    (axes,) = figure_of(utilisation_scatter(compare(hints, _summaries(HALF)))).axes
    areas = [area.get_paths()[0].get_extents().get_points().tolist()
             for area in axes.collections if area.get_gid() == "area"]  # fmt: skip
    # Equal squares on the diagonal: each half of both axes.
    assert areas == [[[0, 0], [50, 50]], [[50, 50], [100, 100]]]


def test_what_is_not_judged_is_not_drawn_and_no_part_of_the_rate() -> None:
    hints = _hints(_hint(10, 2), _hint(20, 1, iterations=9), _hint(30, 1, iterations=8))
    result = compare(hints, _summaries(TIMES))
    assert [v.right for v in result.verdicts] == [True, None, True]
    assert result.verdicts[1].incomparable == "measured with 8 iterations, predicted for 9"
    assert result.verdicts[1].speedup_error is None
    marks, title = _drawn(result)
    assert len(marks["right"]) == 2
    assert "wrong" not in marks
    assert "2 of 2 regions right (100.0 %)" in title
    assert "Success 100.0 % (2 of 2;" in shown_words(result)
    assert "; 1 region not judged" in shown_words(result)
    assert comparison_document(result).record()["regions"][1]["incomparable"] is not None


def test_only_other_sizes_are_refused() -> None:
    hints = _hints(_hint(10, 2, iterations=64), _hint(20, 1, iterations=64))
    with pytest.raises(
        InputError, match=r"f.c:10 was measured with 8 iterations, predicted for 64"
    ):
        compare(hints, _summaries(TIMES))


@pytest.mark.parametrize(
    ("trips", "iterations", "same"),
    [
        # (all trips, executions, least, most), predicted iterations
        ((64, 1, 64, 64), 64, True),
        ((64, 1, 64, 64), 65, False),  # one size: just that
        ((300, 3, 50, 150), 100, True),  # several: the mean
        ((300, 3, 50, 150), 126, True),
        ((300, 3, 50, 150), 80, True),
        ((300, 3, 50, 150), 79, False),
        ((300, 3, 50, 150), 134, False),
        ((0, 0, 0, 0), 5, True),  # nobody counted
        ((64, 1, 64, 64), None, True),
    ],
)
def test_same_sizes(trips: tuple[int, int, int, int], iterations: int | None, same: bool) -> None:
    total, counted, least, most = trips
    run = RegionRun(
        "f.c", 1, 2, "f", "omp for", "gcc", 1, 1.0, 1.0, 1.0, 1.0, counted, total, least, most, 1, 1
    )
    assert (size_difference(iterations, run) == "") == same


@pytest.mark.parametrize(
    ("iterations", "same"), [(10, True), (27, True), (100, True), (1000, False), (60, False)]
)
def test_a_distribution_of_sizes(iterations: int, same: bool) -> None:
    """90 x 10, 10 x 100 and 1 x 1,000: most have 10, the mean is 29, half of the work is at 100."""
    cases = tuple(EntryCase(n, trips, {}) for n, trips in ((90, 10), (10, 100), (1, 1000)))
    run = RegionRun(
        "f.c", 1, 2, "f", "omp for", "gcc", 101, 1.0, 1.0, 1.0, 1.0, 101, 2900, 10, 1000, 1, 1,
        cases=cases,
    )  # fmt: skip
    assert (size_difference(iterations, run) == "") == same


@pytest.mark.parametrize(("trips", "team", "same"), [(4, 4, True), (4, 2, False), (100, 4, False)])
def test_a_loop_over_the_threads_counts_them(trips: int, team: int, same: bool) -> None:
    run = RegionRun(
        "f.c",
        1,
        2,
        "f",
        "omp for",
        "gcc",
        1,
        1.0,
        1.0,
        1.0,
        1.0,
        1,
        trips,
        trips,
        trips,
        team,
        team,
    )
    assert (size_difference(9000, run, over_threads=True) == "") == same
    assert size_difference(9000, run)


def test_a_hint_for_another_machine_is_refused_and_may_be_forced() -> None:
    hints = _hints(_hint(10, 2), packages=2, cores=2)
    elsewhere = Host("node7", "a processor", 1, 4, 1, 1)
    with pytest.raises(InputError, match="measured on node7, 1 x 4 cores, the hints are for twin"):
        compare(hints, _summaries(TIMES), host=elsewhere)
    assert compare(hints, _summaries(TIMES), host=HOST).other_machine == ""
    forced = compare(hints, _summaries(TIMES), host=elsewhere, other_machine=True)
    assert "another machine: measured on node7" in shown_words(forced)
    assert comparison_document(forced).record()["other_machine"] == forced.other_machine != ""


def test_hints_of_another_program_are_said() -> None:
    with pytest.raises(InputError, match="another program: none of their regions \\(1\\)"):
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
    marks, _ = _drawn(result)
    assert {name: len(points) for name, points in marks.items()} == {
        "right": 2, "wrong": 1, "trend": 2
    }  # fmt: skip
    right = {v.hint.line: (100 * v.hint.score, 100 * min(v.utilisation, 1)) for v in result.judged}
    assert sorted(marks["right"] + marks["wrong"]) == sorted(right.values())


def test_text_and_json_agree() -> None:
    result = compare(_hints(_hint(10, 2), _hint(20, 2), _hint(30, 1)), _summaries(TIMES))
    document = comparison_document(result).record()
    text = rendered(comparison_document(result), "table")
    assert "Success 66.7 % (2 of 3" in shown_words(result)
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
        capture_output=True, timeout=600, check=False, env={"PYTHONPATH": str(ROOT), "PATH": ""},
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
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["m.jsonl", "m.jsonl"], "m.jsonl: measurements, not a hints file; make hints:"),
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


def test_a_model_right_about_ratios_and_wrong_about_seconds_is_told_so() -> None:
    hints = _hints(_hint(10, 2, seconds=64.0), _hint(20, 1, seconds=32.0), _hint(30, 1))
    result = compare(hints, _summaries(TIMES))
    assert [v.time_ratio for v in result.verdicts] == [8.0, 8.0, None]
    assert success(result).share == 1.0
    text = shown_words(result)
    assert "Predicted time, 1 thread 8 times the measured one (median); the seconds are" in text
    near = compare(_hints(_hint(10, 2, seconds=9.0)), _summaries(TIMES))
    assert "1.12 times the measured one (median) Predicted" in shown_words(near)
    assert comparison_document(near).record()["median_time_ratio"] == 1.125


def test_a_hint_of_open_sizes_is_compared_with_nothing() -> None:
    """Its times are those of sizes that nobody gave, whatever its iterations."""
    known, opened = _hint(10, 2, seconds=1.0), _hint(20, 2, seconds=1000.0)
    opened = replace(opened, sizes=BySize(4, ()))
    result = compare(_hints(known, opened), _summaries(TIMES))
    alone = compare(_hints(known), _summaries({10: TIMES[10]}))
    assert result.median_speedup_error == alone.median_speedup_error
    assert result.median_time_ratio == alone.median_time_ratio
    assert result.verdicts[1].incomparable == "predicted with assumed sizes"
    assert wrong_term(result.verdicts[1]) == "predicted with assumed sizes"
    with pytest.raises(InputError, match=r"f.c:20 was predicted with assumed sizes"):
        compare(_hints(opened), _summaries({20: TIMES[20]}))
    steady = compare(
        _hints(known, replace(opened, sizes=BySize(4, (), steady=True))), _summaries(TIMES)
    )
    assert steady.verdicts[1].right is False  # region 20 needs one package
    assert steady.median_speedup_error == alone.median_speedup_error
    assert steady.median_time_ratio == alone.median_time_ratio
