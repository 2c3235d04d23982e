"""Success per package boundary, by cases whose answers are known by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured import Case, DataSet
from package_boundaries import PAGE, RULES, boundaries_of, by_machine, main
from predictor import Code
from tables import block_of

SAMPLE = Path(__file__).parent / "sample"
FOUR = "opteron-4x12"
BEST, AREA = RULES.values()


def times(*speedups: float) -> dict[int, float]:
    """Seconds on one thread, and on one to four packages of 12 cores, by the speedups on these."""
    return {1: 1.0} | {12 * k: 1.0 / value for k, value in enumerate(speedups, 1)}


def data(*cases: Case) -> DataSet:
    return DataSet("d", "", "", cases, "packages", "out", "nothing")


def test_a_boundary_is_right_if_measurement_and_hint_are_on_one_side() -> None:
    # Needs 2 packages (within 10 % of the best time), and uses 18 of 48 cores: area 2 of 4.
    two = Case("two", Code(), FOUR, times(11.0, 18.0, 18.0, 18.0))
    # Needs 4, and uses 44 of 48: area 4.
    four = Case("four", Code(), FOUR, times(11.5, 23.0, 34.0, 44.0))
    hints = {"density": [4, 4], "saturation": [1, 3]}
    found = {(one.rule, one.below): one for one in boundaries_of(data(two, four), hints)}
    assert sorted(found) == sorted((rule, below) for rule in RULES.values() for below in (1, 2, 3))
    for rule in (BEST, AREA):
        assert found[rule, 1].needed == (True, True)
        assert found[rule, 2].needed == found[rule, 3].needed == (False, True)
        #                                    density, saturation, always more, always fewer
        assert found[rule, 1].right == [2, 1, 2, 0]
        assert found[rule, 2].right == [1, 2, 1, 1]
        assert found[rule, 3].right == [1, 1, 1, 1]


def test_regions_without_a_hint_of_every_model_do_not_count() -> None:
    case = Case("two", Code(), FOUR, times(11.0, 18.0, 18.0, 18.0))
    found = boundaries_of(data(case, case), {"density": [None, 2], "saturation": [2, 2]})
    assert [one.right for one in found if one.rule == BEST] == [
        [1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 0, 1]
    ]  # fmt: skip


def test_without_a_time_on_one_thread_the_utilization_is_unknown() -> None:
    case = Case("two", Code(), "clovertown", {4: 2.0, 8: 1.0})
    found = boundaries_of(data(case), {"density": [2], "saturation": [1]})
    assert [(one.rule, one.right) for one in found] == [(BEST, [1, 0, 1, 0])]


def test_only_whole_packages_with_close_threads_are_replayed() -> None:
    whole = {1: 4.0, 4: 1.0, 8: 0.5}
    kept = Case("kept", Code(), "clovertown", whole)
    others = (
        Case("spread", Code(binding="spread"), "clovertown", whole),
        Case("half", Code(), "clovertown", {1: 4.0, 8: 0.5}),
        Case("two per core", Code(), "clovertown", {**whole, 16: 0.5}),
        Case("one package", Code(), "broadwell-e5-2630v4", {1: 1.0, 10: 0.1}),
    )
    assert [own.cases for own in by_machine(data(kept, *others))] == [(kept,)]


def test_the_page_has_the_table_of_all_data() -> None:
    rows = (block_of(PAGE.read_text(), "packages") or "").splitlines()
    for what in ("lattice loops | 2 x 64", "LULESH | 2 x 36", "BT, SP and EP | 4 x 12"):
        assert any(row.startswith(f"| {what} cores") for row in rows), what


def test_the_command_prints_the_sample(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    assert main([str(SAMPLE), "--processes", "1"]) == 0
    assert "| game of life | 2 x 4 cores (clovertown) |" in capsys.readouterr().out
    assert main([str(tmp_path)]) == 2
