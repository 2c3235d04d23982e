"""The density model on statement tables made up by hand, with round weights.

The largest cache has 1 MiB, the working set mostly 2: P = 1/2 (eq. 4.2). A streaming read miss
weighs 10, a hit 2, an addition 3: such a miss gives 5 bad and 1 good.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.constant import Constant
from regionpredict.ir import Diagnostic, Span
from regionpredict.machine import Machine
from regionpredict.machine.reader.machine_file import read
from regionpredict.predict import DensityForm, Estimate, StatementScore, Term
from regionpredict.predict.density import (
    area_boundaries,
    boundary_distance,
    constants,
    operation_weight,
    predict_density,
    success_rate,
)
from regionpredict.workload import ReferenceRow, StatementRow, StatementTable

MIB = 1 << 20
TEXT = """
name: round
sources: {{test: "round numbers"}}
source: test
node: {{packages: {packages}, cores_per_package: 2, clock: 1 GHz}}
caches:
  - {{level: 1, size: 32 KiB, cores: 1}}
  - {{level: 2, size: 1 MiB, cores: 2}}
memory: {{bandwidth: {{load: {{1: 4, 2: 6}}}}{memory}}}
density:
  hit: 2
  miss: {{read_streaming: 10, write_streaming: 20, read_latency: 6, write_latency: 12,
         read_irregular: 5, write_irregular: 11}}
  operation: {{fp_add: 3, fp_mul: 4, exp: 90, call: 50}}
{more}
"""


def machine(packages: int = 4, more: str = "", *, memory: str = "") -> Machine:
    return read(TEXT.format(packages=packages, more=more, memory=memory), "round.yaml")


FOUR = machine()
RATIO = DensityForm(combination="ratio")
BY_EXECUTIONS = DensityForm(statement_weight="executions")
BY_BYTES = DensityForm(miss_weight="element-size")


def reference(
    kind: str = "read", reuse: str = "miss", pattern: str = "streaming", *, counted: bool = True
) -> ReferenceRow:
    return ReferenceRow("a[i]", kind, reuse, pattern, counted, 8)


MISS, HIT = reference(), reference(reuse="hit")


def row(*references: ReferenceRow, **operations: int) -> StatementRow:
    return StatementRow(3, "s", tuple(operations.items()), references)


def table(
    *rows: StatementRow, size: int | None = 2 * MIB, iterations: int | None = 1000,
    status: str = "complete", unbound: tuple[str, ...] = (), assumed: tuple[str, ...] = (),
    diagnostics: tuple[Diagnostic, ...] = (),
) -> StatementTable:  # fmt: skip
    return StatementTable(
        "t.c:2", Span("t.c", 2), status, iterations, size, unbound, rows, assumed, diagnostics
    )


def derived(made: Estimate) -> tuple[float, float]:
    """(good, bad)."""
    assert made.derivation is not None
    return made.derivation.good, made.derivation.bad  # type: ignore[union-attr]


# -- scores ---------------------------------------------------------------------------------------


def test_a_miss_is_bad_by_its_probability_and_good_by_the_rest() -> None:
    made = predict_density(table(row(MISS, fp_add=3)), FOUR)
    assert made.miss_probability == 0.5
    assert derived(made) == (3 * 3 + 1, 5)
    assert made.score == pytest.approx((10 - 5) / (10 + 5))
    assert predict_density(table(row(MISS, fp_add=3)), FOUR, RATIO).score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("kind", "pattern", "weight"),
    [("read", "streaming", 10), ("write", "streaming", 20), ("read", "latency", 6),
     ("write", "latency", 12), ("read", "irregular", 5), ("write", "irregular", 11)],
)  # fmt: skip
def test_weights_of_misses(kind: str, pattern: str, weight: float) -> None:
    made = predict_density(table(row(reference(kind, "miss", pattern))), FOUR)
    assert derived(made) == (1, weight / 2)
    (score,) = made.derivation.statements  # type: ignore[union-attr]
    assert score.terms == (
        Term(f"{pattern} miss", f"{kind} a[i]", 0.5, weight),
        Term("miss that hits", f"{kind} a[i]", 0.5, 2),
    )


def test_hits_are_good_and_what_does_not_count_is_nothing() -> None:
    left_out = reference(counted=False)
    made = predict_density(table(row(HIT, left_out, fp_add=1)), FOUR)
    assert derived(made) == (3 + 2, 0)
    assert made.score == 1.0


def test_in_the_cache_every_miss_hits() -> None:
    made = predict_density(table(row(MISS), size=MIB), FOUR)
    (score,) = made.derivation.statements  # type: ignore[union-attr]
    assert score.terms == (Term("miss that hits", "read a[i]", 1.0, 2),)


def test_statements_are_averaged() -> None:
    made = predict_density(table(row(MISS, fp_add=3), row(fp_mul=1), row(HIT)), FOUR)
    assert derived(made) == (pytest.approx((10 + 4 + 2) / 3), pytest.approx(5 / 3))


def test_a_score_has_its_sums() -> None:
    terms = (Term("operation", "fp_add", 2, 3), Term("hit", "a", 1, 2),
             Term("miss that hits", "b", 0.25, 2), Term("latency miss", "b", 0.75, 6))  # fmt: skip
    score = StatementScore(3, "s", terms)
    assert [term.good for term in terms] == [True, True, True, False]
    assert (score.good, score.bad) == (6 + 2 + 0.5, 4.5)


@pytest.mark.parametrize(
    ("kind", "weight"),
    [("fp_add", 3), ("call:exp", 90), ("call:expf", 90), ("call:expl", 90), ("call:odd", 50)],
)
def test_a_function_weighs_by_its_name_or_as_any_call(kind: str, weight: float) -> None:
    assert operation_weight(kind, FOUR) == weight


# -- packages and threads -------------------------------------------------------------------------


def test_areas_threads_and_what_limits() -> None:
    # a third lies between a quarter and a half: two packages of two cores
    made = predict_density(table(row(MISS, fp_add=3)), FOUR)
    assert (made.packages, made.threads, made.bottleneck) == (2, 4, "memory-bandwidth")
    assert (made.status, made.model, made.speedup) == ("predicted", "density", ())


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ((row(HIT, fp_add=1),), "compute"),  # 3 of arithmetic, 2 of the cache
        ((row(HIT, HIT, fp_add=1),), "cache"),
        ((row(HIT, HIT, fp_mul=1),), "compute"),  # 4 and 4
        ((row(HIT, HIT), row(fp_mul=2)), "compute"),
    ],
)
def test_on_all_packages_it_is_named_after_its_work(rows: tuple[StatementRow, ...], name: str):
    made = predict_density(table(*rows), FOUR)
    assert (made.packages, made.bottleneck) == (4, name)


@pytest.mark.parametrize(
    ("iterations", "threads", "noted"),
    [(8, 8, False), (7, 7, True), (1, 1, True), (0, 8, False), (None, 8, False)],
)
def test_no_more_threads_than_iterations(iterations: int | None, threads: int, noted: bool) -> None:
    before = Diagnostic("RP101", Span("t.c", 2), "before")
    found = table(row(fp_add=1), iterations=iterations, diagnostics=(before,))
    made = predict_density(found, FOUR)
    assert (made.packages, made.threads) == (4, threads)
    assert [note.id for note in made.diagnostics] == ["RP101", "RP109"][: 1 + noted]
    if noted:
        few = "1 iteration" if iterations == 1 else f"{iterations} iterations"
        assert made.diagnostics[1].message == f"only {few} for 8 threads"


# -- how sure -------------------------------------------------------------------------------------


BUS = ", shared_path: {traffic: 25}"


@pytest.mark.parametrize(("path", "fewer", "every"), [
    ("", constants.FEWER_OF_DOMAINS, constants.ALL_OF_DOMAINS),
    (BUS, constants.FEWER_OF_ONE_PATH, constants.ALL_OF_ONE_PATH),
])  # fmt: skip
def test_confidence_is_what_such_hints_have_earned(
    path: str, fewer: Constant, every: Constant
) -> None:
    """Wherever the score lies in its area, also at its ends."""
    one = machine(4, memory=path)
    for rows, packages in ((row(MISS), 1), (row(MISS, fp_add=3), 2), (row(fp_add=1), 4)):
        made = predict_density(table(rows), one)
        assert made.packages == packages
        assert made.confidence == (every if packages == 4 else fewer).value < 1.0


def test_one_package_is_no_choice() -> None:
    assert predict_density(table(row(MISS)), machine(1)).confidence == 1.0


def test_assumptions_and_what_is_not_understood_cost_confidence() -> None:
    def confidence(**more: object) -> float:
        return predict_density(table(row(fp_add=1), **more), FOUR).confidence  # type: ignore[arg-type]

    sure = success_rate(4, FOUR, 4)  # three digits of it are told
    assert confidence() == sure
    assert confidence(assumed=("n",)) == round(0.9 * sure, 3)
    assert confidence(assumed=("n", "m")) == round(0.81 * sure, 3)
    assert confidence(status="partial") == round(0.7 * sure, 3)
    assert confidence(status="partial", assumed=("n",)) == round(0.63 * sure, 3)


def test_boundaries_of_the_machine_file() -> None:
    own = machine(4, "  thresholds: [0.3, 0.6, 0.9]")
    assert area_boundaries(own) == (0.3, 0.6, 0.9)
    assert area_boundaries(FOUR) == (0.25, 0.5, 0.75)
    made = predict_density(table(row(MISS, fp_add=3)), own)
    assert (made.packages, made.borderline) == (2, True)  # 1/30 from 0.3
    assert boundary_distance(0.7, 4, (0.3, 0.6, 0.9)) == pytest.approx(0.1)
    assert boundary_distance(0.4, 4) == pytest.approx(0.1)
    assert boundary_distance(0.4, 1) == 1.0


def test_a_twentieth_off_is_not_borderline() -> None:
    low = machine(4, "  thresholds: [0.05, 0.5, 0.9]")
    assert not predict_density(table(row(MISS)), low).borderline  # a score of 0
    lower = machine(4, "  thresholds: [0.049, 0.5, 0.9]")
    assert predict_density(table(row(MISS)), lower).borderline


def test_a_calibrated_machine_has_a_success_rate_of_its_own() -> None:
    """The one of the weights that it has: those from before, or the corrected ones."""
    text = """
corrections:
  {{source: test, date: 2024-05-02, measurements: runs.jsonl, programs: 5, regions: 20, runs: 9,
    {factors} cross_validated: {{density_success: {{before: 0.6, after: 0.8}}}}}}
"""
    for factors, rate in (("", 0.6), ("density: {streaming: 2},", 0.8)):
        own = machine(4, text.format(factors=factors))
        for rows in (row(MISS), row(fp_add=1)):  # scores of 0 and of 1
            assert predict_density(table(rows), own).confidence == rate


# -- by its name ----------------------------------------------------------------------------------


def ran(one: StatementRow, executions: int | None) -> StatementRow:
    return one._replace(executions=executions)


def test_statements_by_their_executions() -> None:
    rows = (ran(row(MISS, fp_add=3), 1), ran(row(fp_mul=1), 3))
    made = predict_density(table(*rows), FOUR, BY_EXECUTIONS)
    assert derived(made) == (pytest.approx((10 + 3 * 4) / 4), pytest.approx(5 / 4))
    assert made.score == pytest.approx((22 - 5) / (22 + 5))
    assert predict_density(table(*rows), FOUR).score == pytest.approx((14 - 5) / (14 + 5))


def test_executions_beyond_any_float() -> None:
    rows = (ran(row(MISS), 10**400), ran(row(fp_mul=1), 3 * 10**400))
    made = predict_density(table(*rows), FOUR, BY_EXECUTIONS)
    assert derived(made) == (pytest.approx((1 + 3 * 4) / 4), pytest.approx(5 / 4))


def test_executions_that_are_not_known_count_alike_and_are_told() -> None:
    rows = (ran(row(MISS, fp_add=3), 7), ran(row(fp_mul=1), None))
    made = predict_density(table(*rows), FOUR, BY_EXECUTIONS)
    assert made.score == predict_density(table(*rows), FOUR).score
    assert made.assumed == ("all statements run equally often (the number for line 3 is unknown)",)


def test_what_never_runs_counts_alike() -> None:
    rows = (ran(row(MISS, fp_add=3), 0), ran(row(fp_mul=1), 0))
    made = predict_density(table(*rows), FOUR, BY_EXECUTIONS)
    assert (made.score, made.assumed) == (predict_density(table(*rows), FOUR).score, ())


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=5))
def test_executions_are_as_if_each_were_written_out(parts: list[tuple[int, int]]) -> None:
    rows = [ran(row(MISS, fp_mul=work), count) for count, work in parts]
    if not any(count for count, _ in parts):
        return
    written = [one for one in rows for _ in range(one.executions or 0)]
    made = predict_density(table(*rows), FOUR, BY_EXECUTIONS)
    assert made.score == pytest.approx(predict_density(table(*written), FOUR).score)


@pytest.mark.parametrize(
    ("pattern", "size", "weight"),
    [("streaming", 4, 5), ("streaming", 8, 10), ("streaming", 16, 20), ("streaming", 1, 1.25),
     ("streaming", 4096, 80), ("latency", 4, 6), ("irregular", 4, 5)],
)  # fmt: skip
def test_streaming_misses_by_what_they_move(pattern: str, size: int, weight: float) -> None:
    """Of a line at most: 64 bytes. What waits for its line fetches all of it."""
    one = reference(pattern=pattern)._replace(bytes=size)
    assert derived(predict_density(table(row(one)), FOUR, BY_BYTES)) == (1, weight / 2)
    letter = {"streaming": 10, "latency": 6, "irregular": 5}[pattern]
    assert derived(predict_density(table(row(one)), FOUR)) == (1, letter / 2)


# -- counts of threads to choose from -------------------------------------------------------------


@pytest.mark.parametrize(
    ("allowed", "low", "high"),
    [  # hints of the lowest and the highest score as (packages, threads)
        ((1, 2, 3, 4), (1, 2), (2, 4)),
        ((4,), (2, 4), (2, 4)),  # what is least is too much for one package
        ((1, 3), (1, 1), (2, 3)),
        ((1, 2), (1, 2), (1, 2)),
        ((1, 2, 4, 8), (1, 2), (4, 8)),
        ((2, 5), (1, 2), (3, 5)),  # three packages, the third in part
        ((3, 8), (2, 3), (4, 8)),  # the least of what is too much
    ],
)
def test_only_counts_that_may_be_used(
    allowed: tuple[int, ...], low: tuple[int, int], high: tuple[int, int]
) -> None:
    for rows, hint in ((row(MISS), low), (row(fp_add=1), high)):
        made = predict_density(table(rows), FOUR, threads=allowed)
        assert (made.packages, made.threads) == hint


def test_the_areas_are_those_of_the_packages_that_may_be_used() -> None:
    """A score of 1/3: the second of four areas, and the first of two."""
    rows = row(MISS, fp_add=3)
    assert predict_density(table(rows), FOUR).packages == 2
    made = predict_density(table(rows), FOUR, threads=(1, 2, 3, 4))
    assert made.packages == 1
    assert made.derivation.thresholds == (0.5,)  # type: ignore[union-attr]
    assert made.bottleneck == "memory-bandwidth"
    one = predict_density(table(rows), FOUR, threads=(1, 2))
    assert (one.packages, one.confidence) == (1, 1.0)  # nothing to choose


def test_boundaries_of_a_file_are_those_of_all_packages() -> None:
    own = machine(4, "  thresholds: [0.3, 0.6, 0.9]")
    made = predict_density(table(row(MISS, fp_add=3)), own, threads=(1, 2, 3, 4))
    assert made.derivation.thresholds == (0.5,)  # type: ignore[union-attr]
    assert [line.partition(":")[0] for line in made.assumed] == ["equal areas for 2 of 4 packages"]


def test_few_iterations_among_the_counts_that_may_be_used() -> None:
    made = predict_density(table(row(fp_add=1), iterations=5), FOUR, threads=(1, 2, 4, 8))
    assert made.threads == 4
    assert [note.id for note in made.diagnostics] == ["RP109"]


# -- what is not known ----------------------------------------------------------------------------


def test_an_unknown_working_set_is_ten_caches() -> None:
    made = predict_density(
        table(row(MISS), size=None, unbound=("m", "n"), assumed=("k = 3",)), FOUR
    )
    assert (made.working_set_bytes, made.miss_probability) == (None, pytest.approx(0.9))
    assert made.derivation is not None
    assert made.derivation.data_bytes == 10 * MIB
    assert made.assumed == ("k = 3", "working set = 10 x largest cache (no value for m, n)")
    # two assumptions
    assert made.confidence == pytest.approx(0.81 * success_rate(1, FOUR, 4), abs=5e-4)
    other = predict_density(table(row(MISS), size=None), FOUR)
    assert other.assumed == ("working set = 10 x largest cache (sizes not known from the source)",)


@pytest.mark.parametrize("rows", [(), (row(),), (row(reference(counted=False)),)])
def test_no_terms_are_no_prediction(rows: tuple[StatementRow, ...]) -> None:
    made = predict_density(table(*rows), FOUR)
    assert (made.status, made.score, made.bottleneck) == ("partial", 0.0, None)
    assert made.confidence == pytest.approx(0.7 * success_rate(1, FOUR, 4), abs=5e-4)


def test_a_partial_table_is_a_partial_prediction() -> None:
    assert predict_density(table(row(fp_add=1), status="partial"), FOUR).status == "partial"


def test_only_bad_is_a_prediction() -> None:
    """P close to one: hardly a cycle is good."""
    made = predict_density(table(row(MISS), size=MIB << 30), FOUR)
    assert (made.status, made.score, made.packages) == ("predicted", 0.0, 1)


def test_a_skipped_table() -> None:
    note = Diagnostic("RP101", Span("t.c", 2), "no loop")
    made = predict_density(table(status="skipped", diagnostics=(note,)), FOUR)
    assert (made.model, made.status, made.confidence) == ("density", "skipped", 0.0)
    assert (made.score, made.packages, made.threads, made.bottleneck) == (None,) * 4
    assert (made.diagnostics, made.borderline, made.assumed) == ((note,), False, ())
