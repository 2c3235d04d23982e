"""A defect costs the region it strikes its answer, and no other region, file or folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from further_cases import further_slow

from regionpredict.frontend import requests_for
from regionpredict.frontend.lowering import find_regions
from regionpredict.isolation import Limits
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.report.hints import facts_document, hints_document
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.rendered import rendered
from regionpredict.report.reuse import explain_reuse
from regionpredict.workload import reuse_facts

pytestmark = pytest.mark.isolated_defects

GOOD = """
void good(int n, double *a) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 0.0;
}
"""
BAD = """
void bad(int n, double *b) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] = 1.0;
}
"""
STAGES = (
    "regionpredict.frontend.lowering.find_regions._region_of_directive",
    "regionpredict.isolated_reading.checked_facts",
    "regionpredict.pipeline.region_workload",
    "regionpredict.pipeline.open_sizes",
)


def failing_on_bad(work: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*arguments: Any, **options: Any) -> Any:
        region = getattr(arguments[0], "facts", arguments[0])
        region = getattr(region, "region", region)
        if len(arguments) > 1 and getattr(arguments[1], "name", "") == "bad":
            raise KeyError("i1")
        if getattr(region, "function", "") == "bad" and region.nest is not None:
            raise KeyError("i1")
        return work(*arguments, **options)

    return wrapped


def predicted(folder: Path, **options: Any) -> Predictions:
    requests = requests_for([str(folder)])
    analysis = analyse(requests, {}, frontend="pycparser", **options)
    return predict(analysis, load("skylake-gold-6148"), "saturation")


@pytest.mark.parametrize("files", further_slow(1, [2, 1]))
@pytest.mark.parametrize("stage", STAGES)
def test_a_defect_in_one_stage_takes_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, files: int
) -> None:
    if files == 1:
        (tmp_path / "all.c").write_text(GOOD + BAD)
    else:
        (tmp_path / "good.c").write_text(GOOD)
        (tmp_path / "bad.c").write_text(BAD)
    module, name = stage.rsplit(".", 1)
    monkeypatch.setattr(stage, failing_on_bad(getattr(__import__(module, fromlist=[name]), name)))
    result = predicted(tmp_path)
    by_function = {p.facts.region.function: p for p in result.predictions}
    assert set(by_function) == {"good", "bad"}
    assert by_function["good"].status == "predicted"
    assert by_function["bad"].status == "skipped"
    [note] = by_function["bad"].diagnostics
    assert note.id == "RP120"
    assert "internal error, KeyError: 'i1'" in note.message
    shown = (result.predictions, result.teams, result.plans, result.machine, "saturation")
    assert "RP120" in str(hints_document(*shown, ()))
    assert "good" in rendered(program_document(ProgramResult(*shown)), "table")


def test_a_defect_in_reuse_distances_takes_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.c").write_text(GOOD + BAD)
    analysis = analyse(requests_for([str(tmp_path)]), {}, frontend="pycparser")
    counted = "regionpredict.report.reuse.reuse_facts"
    monkeypatch.setattr(counted, failing_on_bad(reuse_facts))
    regions = {one["function"]: one for one in facts_document(analysis.facts, ())["regions"]}
    (note,) = regions["bad"]["diagnostics"]
    assert note["id"] == "RP120" and note["message"].startswith("reuse distances: internal error")
    assert regions["bad"]["status"] == "predicted"
    for function, known in (("good", True), ("bad", False)):
        (access,) = regions[function]["arrays"][0]["accesses"]
        assert (access["reuse_distance"] is not None) is known
    (bad,) = (facts for facts in analysis.facts if facts.region.function == "bad")
    assert "RP120: internal error" in explain_reuse(bad, 64).entries[0]


def fail(*_: object, **__: object) -> None:
    raise AssertionError("never so")


@pytest.mark.parametrize("stage", ["_histories", "_predict_team", "whole_programs", "serial_code"])
def test_a_defect_in_what_is_between_regions_takes_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    (tmp_path / "all.c").write_text(GOOD + BAD)
    monkeypatch.setattr(f"regionpredict.pipeline.{stage}", fail)
    assert [p.status for p in predicted(tmp_path).predictions] == ["predicted", "predicted"]


@pytest.mark.parametrize("files", further_slow(1, [2, 1]))
def test_a_limit_that_strikes_leaves_a_row_for_every_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    (tmp_path / "all.c").write_text(GOOD + BAD)
    if files == 2:
        (tmp_path / "other.c").write_text(GOOD.replace("good", "other"))
    real = find_regions._region_of_directive

    def endless(unit: Any, function: Any, *rest: Any) -> Any:
        while function.name == "bad":
            pass
        return real(unit, function, *rest)

    monkeypatch.setattr(find_regions, "_region_of_directive", endless)
    result = predicted(tmp_path, limits=Limits(seconds=1))
    status = {p.facts.region.function: p.status for p in result.predictions}
    assert status == {"good": "skipped", "bad": "skipped"} | (
        {"other": "predicted"} if files == 2 else {}
    )
    said = [note for p in result.predictions for note in p.diagnostics if note.id == "RP120"]
    assert len(said) == 2
    assert all("took longer than 1 s" in note.message for note in said)
