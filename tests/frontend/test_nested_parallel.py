"""A `parallel` inside another one starts a team of one, unless the program asks for more."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import FRONTENDS, requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict

MACHINE = load("skylake-gold-6148")
INNER = """
#pragma omp parallel for
      for (int j = 0; j < 100000; j++) a[i][j] = 1.0 / (1.0 + a[i][j]);
"""
COMBINED = f"""double a[100][100000];
int main(void) {{
  SETTING
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {{{INNER}  }}
}}
"""
IN_A_TEAM = COMBINED.replace("#pragma omp parallel for\n  for", "#pragma omp parallel\n  for")
WORKSHARED = COMBINED.replace(INNER, INNER.replace("parallel for", "simd"))


def predicted(folder: Path, text: str, setting: str, frontend: str) -> Predictions:
    declared = "void omp_set_nested(int); void omp_set_max_active_levels(int);\n"
    (folder / "f.c").write_text(declared + text.replace("SETTING", setting))
    analysis = analyse(requests_for([str(folder / "f.c")]), {}, frontend=frontend)
    return predict(analysis, MACHINE, "saturation")


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("text", [COMBINED, IN_A_TEAM])
def test_an_inner_team_has_one_thread(tmp_path: Path, text: str, frontend: str) -> None:
    result = predicted(tmp_path, text, "", frontend)
    inner = result.predictions[-1]
    assert (inner.packages, inner.threads) == (1, 1)
    assert [note.id for note in inner.diagnostics] == ["RP121"]
    assert not result.advice.get(inner.facts.region.id)
    outer = result.predictions[:-1]
    assert all((region.threads or 0) > 10 and not region.diagnostics for region in outer)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("setting", ["omp_set_nested(1);", "omp_set_max_active_levels(2);"])
def test_a_program_that_nests_teams_has_them(tmp_path: Path, setting: str, frontend: str) -> None:
    result = predicted(tmp_path, COMBINED, setting, frontend)
    outer, inner = result.predictions
    assert outer.threads and (inner.threads or 0) > 1
    assert not result.advice.get(inner.facts.region.id)
    for region in (outer, inner):
        assert [note.id for note in region.diagnostics] == ["RP122"]
        assert region.confidence <= 0.5 and "nested" in {known.id for known in region.doubts}


CALLED = """void omp_set_nested(int);
double a[100][100000];
static void row(double *x) {
#pragma omp parallel for
  for (int j = 0; j < 100000; j++) x[j] = 1.0 / (1.0 + x[j]);
}
static void rows(double *x) { row(x); }
int main(void) {
  SETTING
#pragma omp parallel for
  for (int i = 0; i < 100; i++) { rows(a[i]); }
  ALSO
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_region_that_calls_reach_inside_another_one(tmp_path: Path, frontend: str) -> None:
    """Always: one thread. At some calls alone, or with teams inside teams: nobody knows."""
    alone = predicted(tmp_path, CALLED.replace("ALSO", ""), "", frontend)
    inner, outer = alone.predictions
    assert [note.id for note in inner.diagnostics] == ["RP121"]
    assert inner.threads == 1 and (outer.threads or 0) > 1 and not outer.diagnostics
    also = predicted(tmp_path, CALLED.replace("ALSO", "row(a[0]);"), "", frontend)
    inner, outer = also.predictions
    assert [note.id for note in inner.diagnostics] == ["RP122"] and not outer.diagnostics
    assert inner.confidence <= 0.5 and (inner.threads or 0) > 1
    nested = predicted(tmp_path, CALLED.replace("ALSO", ""), "omp_set_nested(1);", frontend)
    for region in nested.predictions:
        assert [note.id for note in region.diagnostics] == ["RP122"]
        assert region.confidence <= 0.5


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("text", [COMBINED, CALLED.replace("ALSO", "")])
def test_the_time_of_an_inner_team_is_in_that_of_the_outer_one(
    tmp_path: Path, text: str, frontend: str
) -> None:
    """The program's number is that of its one outermost team. Counted again, what one thread of
    the inner ones does would leave the program a few threads."""
    result = predicted(tmp_path, text, "", frontend)
    recommended = result.recommended.together
    assert recommended is not None and recommended.threads > 20
    assert recommended.regions == 1 and not recommended.left_out


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_small_teams_inside_others_are_not_worth_it(tmp_path: Path, frontend: str) -> None:
    """Each row takes a microsecond or two: less than making threads for it."""
    short = COMBINED.replace("100000", "1000").replace("SETTING", "omp_set_nested(1);")
    alone = predicted(tmp_path, short.replace("omp_set_nested(1);", ""), "", frontend)
    nested = predicted(tmp_path, short, "", frontend)
    assert (alone.predictions[0].threads or 0) > 4
    assert nested.predictions[0].threads == 1
    assert not nested.advice.get(nested.predictions[0].facts.region.id)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("setting", ["omp_set_nested(0);", "omp_set_max_active_levels(1);"])
def test_settings_that_leave_inner_teams_alone(tmp_path: Path, setting: str, frontend: str) -> None:
    inner = predicted(tmp_path, COMBINED, setting, frontend).predictions[-1]
    assert inner.threads == 1 and [note.id for note in inner.diagnostics] == ["RP121"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_simd_starts_no_team(tmp_path: Path, frontend: str) -> None:
    (only,) = predicted(tmp_path, WORKSHARED, "", frontend).predictions
    assert not only.diagnostics
