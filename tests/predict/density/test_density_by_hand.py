"""The density model against numbers computed by hand, on a machine of round weights.

Chatzopoulos 2012: good and bad score of each statement (4.2.1), their averages, equation 4.1,
equation 4.2, decision areas in equal parts (6.3).
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import TO_THE_LETTER, DensityForm, Prediction
from regionpredict.predict.density import (
    combine_scores,
    equal_thresholds,
    miss_probability,
    packages_for,
)

RATIO = DensityForm(combination="ratio")
BY_EXECUTIONS = DensityForm(statement_weight="executions")
MACHINE = """
name: round
description: round weights, {packages} packages of two cores
source: made up for this test
evidence: assumed
node: {{packages: {packages}, cores_per_package: 2, clock: 1 GHz}}
caches:
  - {{level: 1, size: 32 KiB, cores: 1}}
  - {{level: 2, size: 1 MiB, cores: 2}}
memory:
  bandwidth:
    load: {{1: 4, 2: 6}}
density:
  hit: 2
  miss: {{read_streaming: 10, write_streaming: 20, read_latency: 6, write_latency: 12,
         read_irregular: 5, write_irregular: 11}}
  operation: {{fp_add: 3, fp_mul: 4, fp_div: 32, fp_compare: 3, int_add: 1, exp: 90, call: 50}}
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_of(tmp_path, 4)


def machine_of(tmp_path: Path, packages: int) -> Machine:
    path = tmp_path / f"round{packages}.yaml"
    path.write_text(MACHINE.format(packages=packages))
    return load(str(path))


def predicted(
    tmp_path: Path,
    machine: Machine,
    body: str,
    *,
    given: dict[str, int] | None = None,
    form: DensityForm = TO_THE_LETTER,
) -> Prediction:
    path = tmp_path / "case.c"
    path.write_text(body)
    analysis = analyse(requests_for([str(path)]), given or {})
    (one,) = predict(analysis, machine, "density", form).predictions
    return one


# Three square arrays of 8 bytes: with n = 512 the working set is 3 * 2 MiB = 6 MiB, P = 5/6.
PRODUCT = """
void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] = A[i][k] * B[j][k];
}
"""


def test_one_statement(tmp_path: Path, machine: Machine) -> None:
    one = predicted(tmp_path, machine, PRODUCT, given={"n": 512})
    assert one.working_set_bytes == 6 << 20
    p = Fraction(5, 6)
    # a multiplication, two hits, and the share of B's misses that hits
    good = 4 + 2 + 2 + (1 - p) * 2
    bad = p * 10
    assert one.derivation is not None
    assert one.miss_probability == pytest.approx(float(p))
    assert one.derivation.good == pytest.approx(float(good))  # 8.3333
    assert one.derivation.bad == pytest.approx(float(bad))  # 8.3333
    assert one.score == pytest.approx(0.0)
    assert (one.packages, one.threads, one.bottleneck) == (1, 2, "memory-bandwidth")


def test_a_working_set_inside_the_cache_has_no_misses(tmp_path: Path, machine: Machine) -> None:
    one = predicted(tmp_path, machine, PRODUCT, given={"n": 200})  # 960 kB < 1 MiB
    assert one.miss_probability == 0.0
    assert one.derivation is not None
    assert (one.derivation.good, one.derivation.bad) == (4 + 3 * 2, 0)
    assert (one.score, one.packages, one.threads) == (1.0, 4, 8)


def test_statements_are_averaged_not_added_nor_weighed_by_executions(
    tmp_path: Path, machine: Machine
) -> None:
    """The first statement runs n times, the second n*n times: each counts once."""
    one = predicted(
        tmp_path,
        machine,
        """
double A[512][512], B[512][512];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 512; i++) {
    A[i][i] = 1.0;
    for (int j = 0; j < 512; j++)
      B[i][j] = A[i][j] + 1.0;
  }
}
""",
    )
    # Working set: two arrays of 2 MiB: P = 3/4.
    p = Fraction(3, 4)
    first = ((1 - p) * 2, p * 12)  # A[i][i] moves both indices with i: a latency miss, written
    second = (3 + 2 * (1 - p) * 2, p * (20 + 10))  # B written, A read, both streaming
    assert one.derivation is not None
    scores = [(s.good, s.bad) for s in one.derivation.statements]
    assert scores == [pytest.approx(tuple(map(float, pair))) for pair in (first, second)]
    assert one.derivation.good == pytest.approx(float(first[0] + second[0]) / 2)
    assert one.derivation.bad == pytest.approx(float(first[1] + second[1]) / 2)
    assert one.score == 0.0  # more bad than good: eq. 4.1 cuts at 0


UNEVEN = """
void f(int n, double A[n][n], double B[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    A[i][i] = 1.0;
    for (int j = 0; j <= i; j++)
      B[i][j] = A[i][j] + 1.0;
  }
}
"""


def test_statements_by_their_executions(tmp_path: Path, machine: Machine) -> None:
    """512 of the first statement, the triangle of 512*513/2 of the second."""
    one = predicted(tmp_path, machine, UNEVEN, given={"n": 512}, form=BY_EXECUTIONS)
    p = Fraction(3, 4)
    first, second = ((1 - p) * 2, p * 12), (3 + 2 * (1 - p) * 2, p * (20 + 10))
    runs = 512 * 513 // 2
    assert one.derivation is not None
    assert one.derivation.counts == (512, runs)  # type: ignore[union-attr]
    for told, place in ((one.derivation.good, 0), (one.derivation.bad, 1)):
        wanted = (512 * first[place] + runs * second[place]) / (512 + runs)
        assert told == pytest.approx(float(wanted))
    assert one.assumed == ()


def test_executions_of_open_sizes_are_those_of_ten_caches(tmp_path: Path, machine: Machine) -> None:
    """Two arrays of n * n doubles, the second half: by the size that makes them 10 MiB."""
    one = predicted(tmp_path, machine, UNEVEN, form=BY_EXECUTIONS)
    assert one.derivation is not None
    first, second = one.derivation.counts  # type: ignore[union-attr]
    assert second == first * (first + 1) // 2
    assert 10 << 20 <= 16 * first**2 < 10 << 21  # the bounding boxes are both n * n
    assert f"n = {first}" in one.assumed[0]


def test_gemm_beyond_the_cache_is_arithmetic(tmp_path: Path) -> None:
    """By hand on Dunnington, P = 0.9: 5.6 and 28.7 for the scaling, 22.3 and 5.77 for the update,
    which runs nk times as often: (22.3 - 5.77) / (22.3 + 5.77) = 0.59, three packages of four.
    Each alike: (27.9 - 34.5) < 0, one package."""
    source = tmp_path / "gemm.c"
    source.write_text("""
double A[2643][2643], B[2643][2643], C[2643][2643];
void gemm(double alpha, double beta) {
#pragma omp parallel for
  for (int i = 0; i < 2643; i++)
    for (int j = 0; j < 2643; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < 2643; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
""")
    analysis = analyse(requests_for([str(source)]), {})
    found = [
        predict(analysis, load("dunnington"), "density", form).predictions[0]
        for form in (TO_THE_LETTER, BY_EXECUTIONS)
    ]
    assert [(one.score, one.packages) for one in found] == [
        (0.0, 1), (pytest.approx(0.588, abs=5e-4), 3)
    ]  # fmt: skip


def test_weights_of_operations_by_name(tmp_path: Path, machine: Machine) -> None:
    one = predicted(
        tmp_path,
        machine,
        """
#include <math.h>
double a[1000];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++)
    a[i] = exp(a[i]) / 3.0 + expf(2.0f) * erf(a[i]);
}
""",
    )
    assert one.derivation is not None
    (score,) = one.derivation.statements
    weights = {t.what: t.value for t in score.terms if t.kind == "operation"}
    assert weights == {
        "call:exp": 90, "call:expf": 90, "call:erf": 50, "fp_add": 3, "fp_div": 32, "fp_mul": 4,
    }  # fmt: skip
    assert (score.good, score.bad) == (90 + 90 + 50 + 3 + 32 + 4 + 3 * 2, 0)


def test_irregular_misses_have_their_weight(tmp_path: Path, machine: Machine) -> None:
    one = predicted(
        tmp_path,
        machine,
        """
double x[262144], y[262144];
int idx[524288];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 262144; i++)
    y[idx[i]] = x[idx[i + 262144]];
}
""",
    )
    # 2 + 2 + 2 MiB: P = 5/6; misses: y written and x read irregularly, idx read twice in a stream.
    p = Fraction(5, 6)
    assert one.working_set_bytes == 6 << 20
    assert one.derivation is not None
    assert one.derivation.bad == pytest.approx(float(p * (11 + 5 + 10 + 10)))
    assert one.derivation.good == pytest.approx(float((1 - p) * 4 * 2))


def test_the_plain_ratio(tmp_path: Path, machine: Machine) -> None:
    """r = good/bad = 1 lies in the middle: r/(1 + r) = 0.5, on the boundary."""
    one = predicted(tmp_path, machine, PRODUCT, given={"n": 512}, form=RATIO)
    assert one.score == pytest.approx(0.5)
    assert one.borderline


def test_unbound_sizes_are_ten_times_the_largest_cache(tmp_path: Path, machine: Machine) -> None:
    one = predicted(tmp_path, machine, PRODUCT)
    assert one.working_set_bytes is None, "what is assumed is not called known"
    assert one.derivation is not None
    assert one.derivation.data_bytes == 10 << 20
    assert one.miss_probability == pytest.approx(0.9)
    assert any("working set" in line and "n" in line for line in one.assumed)
    assert one.facts.working_set.value is None, "what is assumed is not called known"


def test_fewer_iterations_than_threads(tmp_path: Path, machine: Machine) -> None:
    text = PRODUCT.replace("i < n", "i < 5")
    one = predicted(tmp_path, machine, text, given={"n": 100})
    assert (one.packages, one.threads) == (4, 5)
    assert "RP109" in {note.id for note in one.diagnostics}


def test_a_region_without_a_loop_is_skipped_with_its_reason(
    tmp_path: Path, machine: Machine
) -> None:
    one = predicted(
        tmp_path, machine, "void f(int n) {\n#pragma omp parallel for\n  while (n) n--;\n}\n"
    )
    assert (one.status, one.score, one.packages, one.threads) == ("skipped", None, None, None)
    assert next(note.id for note in one.diagnostics) == "RP101"


def test_an_empty_body_gives_no_claim_to_certainty(tmp_path: Path, machine: Machine) -> None:
    one = predicted(
        tmp_path, machine, "void f(int n) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) ;\n}\n",
    )  # fmt: skip
    assert one.status == "partial"


# -- the equations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("good", "bad", "score"),
    [(3, 1, 0.5), (1, 0, 1.0), (0, 1, 0.0), (1, 3, 0.0), (2, 2, 0.0), (7, 1, 0.75), (0, 0, 0.0)],
)
def test_equation_4_1(good: float, bad: float, score: float) -> None:
    assert combine_scores(good, bad) == score


@pytest.mark.parametrize(
    ("size", "cache", "probability"),
    [(16, 16, 0.0), (15, 16, 0.0), (32, 16, 0.5), (160, 16, 0.9), (1600, 16, 0.99), (0, 16, 0.0)],
)
def test_equation_4_2(size: int, cache: int, probability: float) -> None:
    assert miss_probability(size, cache) == pytest.approx(probability)


def test_decision_areas() -> None:
    assert equal_thresholds(2) == (0.5,)
    assert equal_thresholds(4) == (0.25, 0.5, 0.75)
    assert equal_thresholds(1) == ()
    assert [packages_for(s, 2) for s in (0.0, 0.499, 0.5, 1.0)] == [1, 1, 2, 2]
    assert [packages_for(s, 4) for s in (0.0, 0.249, 0.25, 0.5, 0.75, 1.0)] == [1, 1, 2, 3, 4, 4]
    assert [packages_for(s, 1) for s in (0.0, 1.0)] == [1, 1]
    assert [packages_for(s, 8) for s in (0.0, 0.124, 0.125, 0.99)] == [1, 1, 2, 8]


def test_borderline_is_within_a_twentieth(tmp_path: Path) -> None:
    """Two packages: the boundary at 0.5. Without misses the score is 1: far from it."""
    two = machine_of(tmp_path, 2)
    far = predicted(tmp_path, two, PRODUCT, given={"n": 200})
    assert not far.borderline
    near = predicted(tmp_path, two, PRODUCT, given={"n": 512}, form=RATIO)
    assert near.borderline


@pytest.mark.parametrize("kind", further_slow(1, ["stencils", "linear_algebra"]))
def test_misses_and_hits_add_up_to_the_accesses(kind: str, machine: Machine) -> None:
    """Conservation: of counted references, hits and misses together are as many as accesses."""
    root = Path(__file__).resolve().parents[3] / "polybench_samples"
    for one in predict(analyse(requests_for([str(root / kind)]), {}), machine).predictions:
        assert one.derivation is not None
        for score, statement in zip(one.derivation.statements, one.facts.statements, strict=True):
            counted = sum(access.counted for access in statement.accesses)
            terms = sum(term.number for term in score.terms if term.kind != "operation")
            assert terms == pytest.approx(counted), one.facts.region.id
