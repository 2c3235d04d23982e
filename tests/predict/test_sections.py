"""`sections` share their blocks like the iterations of a loop: predicted by both front ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict

HEAD = """#define N 4000000
double a[N], b[N], c[N], first, second;
double sin(double);
void f(void) {
  int i; double s = 0, t = 0; (void)i; (void)s; (void)t;
"""
LONG = "for (i = 0; i < N; i++) {0}[i] = sin({0}[i]);"
SHORT = "for (i = 0; i < N / 2; i++) {0}[i] = sin({0}[i]);"
PLAIN = "for (i = 0; i < N; i++) {0}[i] = 2 * {0}[i];"


def sections(*blocks: str, directive: str = "parallel sections private(i)") -> str:
    inside = "".join(f"#pragma omp section\n{{ {block} }}\n" for block in blocks)
    return f"#pragma omp {directive}\n{{\n{inside}}}\n"


def predicted(folder: Path, body: str, frontend: str = "libclang") -> Predictions:
    path = folder / "f.c"
    path.write_text(f"{HEAD}\n{body}\n}}\n")
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    return predict(analysis, load("skylake-gold-6148"), "saturation")


def speedups(result: Predictions) -> dict[int, float]:
    (team,) = result.teams
    return {point.threads: point.value for point in team.speedup}


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(
    ("blocks", "most"),
    [
        ((LONG.format("a"), LONG.format("b")), 2.0),
        ((LONG.format("a"), LONG.format("b"), LONG.format("c")), 3.0),
        ((LONG.format("a"), LONG.format("b"), SHORT.format("c")), 2.5),
    ],
)
def test_the_longest_section_bounds_the_speedup(
    tmp_path: Path, frontend: str, blocks: tuple[str, ...], most: float
) -> None:
    curve = speedups(predicted(tmp_path, sections(*blocks), frontend))
    assert curve[4] == pytest.approx(most, rel=0.06)
    assert curve[40] <= 1.06 * most
    assert curve[2] <= 2.0


def test_sections_move_the_data_of_a_loop_over_them(tmp_path: Path) -> None:
    """Each section has its array, so no thread finds the data of another section in a cache."""
    own = speedups(predicted(tmp_path, sections(*map(PLAIN.format, "abc"))))
    loop = "#pragma omp parallel for private(i) schedule(dynamic, 1)\nfor (int k = 0; k < 3; k++) "
    rows = loop + "for (i = 0; i < N; i++) (k == 0 ? a : k == 1 ? b : c)[i] *= 2;"
    assert own[3] < 3.0
    assert own[3] == pytest.approx(speedups(predicted(tmp_path, rows))[3], rel=0.2)


def test_results_of_different_sections_are_no_race(tmp_path: Path) -> None:
    body = sections(
        "for (i = 0; i < N; i++) s += a[i]; first = s;",
        "for (i = 0; i < N; i++) t += b[i]; second = t;",
    )
    (team,) = predicted(tmp_path, body).teams
    notes = [note for member in team.facts.members for note in member.facts.diagnostics]
    assert [note.id for note in notes if note.id.startswith("RP22")] == []


def test_a_block_without_a_directive_is_the_first_section(tmp_path: Path) -> None:
    text = sections(LONG.format("a"), LONG.format("b")).replace("#pragma omp section\n", "", 1)
    assert speedups(predicted(tmp_path, text))[2] == pytest.approx(2.0, rel=0.06)


def test_sections_in_a_parallel_region_are_a_loop_of_it(tmp_path: Path) -> None:
    body = "#pragma omp parallel private(i)\n{\n"
    body += "#pragma omp for\nfor (int k = 0; k < N; k++) c[k] = k;\n"
    body += sections(LONG.format("a"), LONG.format("b"), directive="sections") + "}"
    result = predicted(tmp_path, body)
    (team,) = result.teams
    assert len(team.facts.members) == 2
    assert team.status != "skipped"


def test_the_clause_format_adds_no_schedule(tmp_path: Path) -> None:
    """`schedule` is no clause of `sections`, whose threads take one section after the other."""
    (tmp_path / "f.c").write_text(f"{HEAD}\n{sections(LONG.format('a'), LONG.format('b'))}\n}}\n")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington",
         "--format", "openmp"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "#pragma omp parallel sections private(i)" in done.stdout
    assert "schedule" not in done.stdout
