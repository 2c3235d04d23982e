"""The tasks of a `taskloop` share its iterations like the chunks of a worksharing loop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict

TASKS = """#define N 4000000
double a[N], b[N];
void f(void) {{
#pragma omp parallel
#pragma omp single
  {{
#pragma omp taskloop
    for (int i = 0; i < N; i++) {{ a[i] = 0; b[i] = i; }}
#pragma omp taskloop {tasks}
    for (int i = 0; i < N; i++) a[i] += b[{subscript}];
  }}
}}
"""
CHUNKS = """#define N 4000000
double a[N], b[N];
void f(void) {{
#pragma omp parallel
  {{
#pragma omp for
    for (int i = 0; i < N; i++) {{ a[i] = 0; b[i] = i; }}
#pragma omp for {chunks}
    for (int i = 0; i < N; i++) a[i] += b[{subscript}];
  }}
}}
"""


def hint(path: Path, text: str, frontend: str) -> tuple[list[int | None], list[float]]:
    path.write_text(text)
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    result = predict(analysis, load("skylake-gold-6148"), "saturation")
    rows = sorted(result.predictions, key=lambda own: own.facts.region.span.line)
    (team,) = result.teams
    return [own.threads for own in rows], [point.value for point in team.speedup]


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(
    ("tasks", "chunks"), [("", ""), ("grainsize(1000)", "schedule(dynamic, 1000)")]
)
def test_a_taskloop_is_predicted_like_a_loop(
    tmp_path: Path, frontend: str, tasks: str, chunks: str
) -> None:
    own = hint(tmp_path / "t.c", TASKS.format(tasks=tasks, subscript="i"), frontend)
    loop = hint(tmp_path / "f.c", CHUNKS.format(chunks=chunks, subscript="i"), frontend)
    assert own[0] == loop[0]
    assert len(own[0]) == 2
    assert own[1] == pytest.approx(loop[1], rel=0.05)  # without the cost of `single`


def test_the_clause_format_adds_no_schedule(tmp_path: Path) -> None:
    """`schedule` is no clause of `taskloop`."""
    (tmp_path / "t.c").write_text(TASKS.format(tasks="", subscript="i % 64"))
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "t.c", "-m", "dunnington",
         "--format", "openmp"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "num_threads" in done.stdout
    assert "schedule" not in done.stdout
