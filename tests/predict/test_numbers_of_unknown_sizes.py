"""Every region that was read has a number of packages and threads, whatever sizes are unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.analysis import bind_names
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import Prediction, TeamPrediction
from regionpredict.report.hints import hints_document

SAMPLES = Path(__file__).parents[2] / "polybench_samples"
CHOSEN = ("gemm", "jacobi-2d", "random_gather")
SOURCES = {
    "a length": "void f(int n, double *a) {\nPRAGMA\n  for (int i = 0; i < n; i++) a[i] += 1;\n}",
    "a range": "void f(int m, int n, double *a) {\n"
    "PRAGMA\n  for (int i = m; i < n; i++) a[i] = i;\n}",
    "a step": "void f(int n, int s, float *a) {\n"
    "PRAGMA\n  for (int i = 0; i < n; i += s) a[i] = 0;\n}",
    "a part": "void f(int n, int t, float *a) {\n"
    "PRAGMA\n  for (int i = 0; i < n / t; i++) a[i] = 0;\n}",
    "rows of a table": """void f(int n, int *row, double *a, double *y) {
PRAGMA
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++) y[i] += a[k];
}""",
    "a sum": """double f(int n, double *a, int *at) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[at[i]];
  return sum;
}""",
    "a pair of pointers": """struct Part { double *begin, *end; };
void f(struct Part p) {
PRAGMA
  for (int i = 0; i < p.end - p.begin; i++) p.begin[i] *= 2;
}""",
    "blocks of a pair of pointers": """struct Part { double *begin, *end; };
void f(struct Part p, double *sums) {
  long blocks = (p.end - p.begin + 1023) / 1024;
PRAGMA
  for (long b = 0; b < blocks; b++)
    for (long i = 1024 * b; i < (1024 * (b + 1) < p.end - p.begin ? 1024 * (b + 1)
                                                                  : p.end - p.begin); i++)
      sums[b] += p.begin[i];
}""",
    "a list": """struct Node { struct Node *next; double x; };
void f(int n, struct Node **heads) {
PRAGMA
  for (int i = 0; i < n; i++)
    for (struct Node *p = heads[i]; p; p = p->next) p->x += 1;
}""",
    "a team": """void f(int n, int m, double *a, double *b) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp for nowait
    for (int i = 0; i < m; i++) b[i] = 2 * a[i];
  }
}""",
    "a part of each thread": """#include <omp.h>
void f(int n, double *a) {
#pragma omp parallel
  {
    int t = omp_get_thread_num(), of = omp_get_num_threads();
    for (int i = t * n / of; i < (t + 1) * n / of; i++) a[i] += 1;
  }
}""",
    "never": "void f(int w, double *a) {\nPRAGMA\n  for (int k = w; k < 0; k++) a[k] += 1;\n}",
}


def checked(result: Predictions) -> int:
    """How many regions there are that were read; each has numbers, as JSON tells them."""
    document = hints_document(
        result.predictions, result.teams, result.plans, result.machine, result.model, ()
    )
    told = [*document["regions"], *document["teams"]]
    made: list[Prediction | TeamPrediction] = [*result.predictions, *result.teams]
    for one, estimate in zip(told, made, strict=True):
        if one["status"] == "skipped":
            continue
        assert 1 <= one["packages"] <= result.machine.packages
        assert one["packages"] <= one["threads"] <= result.machine.hardware_threads
        assert one["speedup"] and 0 < one["confidence"] <= 0.9
        assert one["sizes_from"] in ("large", "source")
        if one["range"] is not None:
            assert one["sizes_from"] == "large"
            least, most = one["range"]["packages"]
            assert least <= one["packages"] <= most
        assert estimate.range is None or estimate.deciding
    return sum(prediction.status != "skipped" for prediction in result.predictions)


@pytest.mark.parametrize(
    "name",  # pairs of pointers are predicted below as well
    [pytest.param(name, marks=[pytest.mark.slow] * ("pair" in name)) for name in SOURCES],
)
def test_unknown_sizes_leave_a_number(tmp_path: Path, name: str) -> None:
    path = tmp_path / "f.c"
    path.write_text(SOURCES[name].replace("PRAGMA", "#pragma omp parallel for") + "\n")
    analysis = analyse(requests_for([str(path)]), {})
    assert checked(predict(analysis, load("dunnington"), "saturation", advised=False)) >= 1


def test_a_difference_of_unknown_pointers_is_one_unknown_length(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    for name in ("a pair of pointers", "blocks of a pair of pointers"):
        path.write_text(SOURCES[name].replace("PRAGMA", "#pragma omp parallel for") + "\n")
        analysis = analyse(requests_for([str(path)]), {})
        (made,) = predict(analysis, load("dunnington"), "saturation", advised=False).predictions
        assert made.packages == 4 or made.threads != 1, name
        assert dict(made.speedup)[made.threads] > 1.5 and made.by_size[0].threads == 1, name


@pytest.mark.parametrize("name", further_slow(1, CHOSEN))
def test_samples_without_their_main_have_numbers(tmp_path: Path, name: str) -> None:
    """What calls the kernel is cut off, and with it all that tells how large its arrays are."""
    (source,) = SAMPLES.glob(f"**/{name}.c")
    text, main, _ = source.read_text().partition("int main(")
    assert main
    path = tmp_path / source.name
    path.write_text(text.replace("../../common/", f"{SAMPLES / 'common'}/"))
    analysis = analyse(requests_for([str(path)]), {})
    assert checked(predict(analysis, load("dunnington"), "saturation", advised=False)) >= 1


ARGUMENTS = """#include <stdlib.h>
static void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1;
}
double b[1000];
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 5000;
  f(n, malloc(n * sizeof(double)));
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) b[i] = i;
}
"""


@pytest.mark.parametrize(
    ("given", "arguments", "origin"),
    [
        ({}, None, "defaults"),
        ({"n": 40}, None, "given"),
        ({}, ["40"], "given"),
        ({}, [], "defaults"),
    ],
)
def test_where_the_sizes_of_a_region_are_from(
    tmp_path: Path, given: dict[str, int], arguments: list[str] | None, origin: str
) -> None:
    path = tmp_path / "f.c"
    path.write_text(ARGUMENTS)
    analysis = analyse(requests_for([str(path)]), given, arguments=arguments)
    result = predict(analysis, load("dunnington"), "saturation", advised=False)
    for made in (result.predictions, result.teams):
        assert [one.sizes_from for one in made] == [origin, "source"]


def test_what_a_run_tells_of_a_name_is_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(SOURCES["a length"].replace("PRAGMA", "#pragma omp parallel for") + "\n")
    (region,) = analyse(requests_for([str(path)]), {}).program.regions
    assert bind_names(region, (), {}, {"n": 4}).origin == "run"
    assert bind_names(region, (), {"n": 3}, {"n": 4}).origin == "given"
    assert bind_names(region, (), {"m": 3}, {"k": 4}).origin == "source"
