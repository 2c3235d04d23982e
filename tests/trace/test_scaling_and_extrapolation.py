"""Runs side by side, and the laws that take their factors further."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError, UsageError
from regionpredict.trace.extrapolation import (
    FACTORS,
    LAWS,
    SCALED,
    dominating_factor,
    extrapolate_factors,
    fit_factor,
)
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.scaling import Study, study_of


def run(
    width: int,
    useful: float = 100.0,
    factors: tuple[float, float, float] = (1.0, 1.0, 1.0),
    counted: tuple[float, float] | None = None,
    regions: tuple[str, ...] = ("MPI_Send",),
) -> RunFactors:
    """A run whose ranks are useful for `useful` seconds together."""
    balance, serialisation, transfer = factors
    runtime = useful / (width * balance * serialisation * transfer)
    return RunFactors(
        name=f"run{width}",
        ranks=width,
        width=width,
        runtime_s=runtime,
        ideal_runtime_s=runtime * transfer,
        useful_s=useful,
        useful_maximum_s=useful / width / balance,
        own_maximum_s=useful / width / balance,
        load_balance=balance,
        serialisation=serialisation,
        transfer=transfer,
        definition="reference",
        serialisations={"reference": serialisation},
        eager=(),
        instructions=None if counted is None else counted[0],
        cycles=None if counted is None else counted[1],
        regions=frozenset(regions),
    )


def study(*values: tuple[int, float, float, float]) -> Study:
    return study_of([run(width, factors=(a, b, c)) for width, a, b, c in values])


def test_strong_scaling_by_hand() -> None:
    found = study_of(
        [
            run(8, 125.0, (0.5, 1.0, 1.0), counted=(3e9, 4e9)),
            run(2, 100.0, counted=(2e9, 2e9)),
        ]
    )
    first, second = found.runs
    assert (first.factors.width, found.scaling) == (2, "strong")
    assert (first.computation, first.speedup, first.global_efficiency) == (1, 1, 1)
    # U: 100 / 125; I: 2 / 3; IPC: 0.75 of 1; C/U: 4e9/125 of 2e9/100 = 1.6
    assert second.computation == pytest.approx(0.8)
    assert second.instructions == pytest.approx(2 / 3)
    assert second.ipc == pytest.approx(0.75)
    assert second.frequency == pytest.approx(1.6)
    assert second.instructions * second.ipc * second.frequency == pytest.approx(0.8)  # type: ignore[operator]
    assert second.global_efficiency == pytest.approx(0.4)
    assert second.speedup == pytest.approx(50.0 / 31.25)  # 100/2 s against 125/8/0.5 s


def test_weak_scaling_by_hand() -> None:
    found = study_of([run(2, 100.0), run(8, 500.0)])
    assert found.scaling == "weak"
    assert found.runs[1].computation == pytest.approx(4 * 100 / 500)
    assert found.runs[1].speedup == pytest.approx(4 * 50 / 62.5)


def test_instructions_say_how_the_work_grows() -> None:
    # four times the time for the same instructions: slower, not more work
    found = study_of([run(1, 100.0, counted=(1e9, 1e9)), run(4, 400.0, counted=(1e9, 1e9))])
    assert found.scaling == "strong"
    assert study_of([run(1, 100.0), run(4, 400.0)]).scaling == "weak"


def test_what_is_said_of_too_few_runs_and_counters() -> None:
    one = study_of([run(4)])
    assert one.runs[0].computation is None
    assert any("one run: factors, but no scalability" in note for note in one.notes)
    same = study_of([run(4), run(4)])
    assert any("all runs have 4 processes" in note for note in same.notes)
    part = study_of([run(1, counted=(1e9, 1e9)), run(4)])
    assert part.runs[1].instructions is None
    assert any("run4: no counters of instructions" in note for note in part.notes)
    none = study_of([run(1), run(4)])
    assert any("no run has counters" in note for note in none.notes)
    odd = study_of([run(1, 1.0), run(4, 64.0)])
    assert any("grows as P^3.00: neither" in note for note in odd.notes)


def test_runs_of_different_programs() -> None:
    with pytest.raises(InputError, match="run1 and run2 are runs of different programs: only"):
        study_of([run(1, regions=("sort", "merge")), run(2, regions=("solve", "spmv", "merge2"))])
    study_of([run(1, regions=("MPI_Init",)), run(2, regions=("MPI_Init", "MPI_Send", "MPI_Recv"))])
    set_up = ("MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Finalize")
    with pytest.raises(InputError, match="only the second has MPI_Bcast"):
        study_of([run(1, regions=(*set_up, "MPI_Send")), run(2, regions=(*set_up, "MPI_Bcast"))])


def test_runs_with_little_in_common_are_doubtful() -> None:
    """A ping-pong beside a solver that sends messages, too."""
    solver = ("MPI_Send", "MPI_Recv", *(f"MPI_{name}" for name in ("Bcast", "Barrier", "Scan")),
              "assemble", "solve", "spmv")  # fmt: skip
    small = run(2, regions=("main", "MPI_Send", "MPI_Recv"))
    for wide in (2, 4):
        notes = study_of([small, run(wide, regions=solver)]).notes
        assert any("share 2 of 9 regions: are they runs of one program?" in n for n in notes)
    alone = run(1, regions=("main", "MPI_Send", "MPI_Recv"))  # of one rank less is asked
    assert not any("share" in n for n in study_of([alone, run(4, regions=solver)]).notes)


LAW_VALUES = {
    "constant": lambda p: 0.9,
    "amdahl-efficiency": lambda p: 0.98 / (0.97 + 0.03 * p),
    "pipeline": lambda p: 0.99 * p / (0.4 + 0.6 * (2 * p - 1)),
    "logarithmic-efficiency": lambda p: 1 / (1 + 0.05 * (p.bit_length() - 1)),
    "root-efficiency": lambda p: 1 / (0.99 + 0.02 * p**0.5),
    "cube-root-efficiency": lambda p: 1 / (0.99 + 0.05 * p ** (1 / 3)),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_without_noise_is_found_and_extrapolated(law: str) -> None:
    value = LAW_VALUES[law]
    model = fit_factor("transfer", [(p, value(p)) for p in (2, 4, 8, 16, 32)])
    assert law in (model.law, "constant")
    # What errs by less than runs differ from each other counts a little, too.
    assert model.value(1024) == pytest.approx(min(value(1024), 1), rel=0.03)
    low, high = model.band(1024)
    assert low <= value(1024) <= high


def test_weights_by_hand() -> None:
    # On 1, 2, 4 processes 1, 0.8, 0.8: of two, every law but the constant and the pipeline meets
    # both; what each says of four, and so its error there, follows by hand.
    model = fit_factor("transfer", [(1, 1.0), (2, 0.8), (4, 0.8)])
    of_four = {
        "amdahl-efficiency": 1 / 1.75,  # 1/y = 1 + (p - 1) / 4
        "pipeline": 1 / 1.375,  # 1/y = 1.5 - 1 / 2p
        "constant": 2.25 / 2.5625,  # relative errors: mean of 1/y over mean of 1/y^2
        "logarithmic-efficiency": 1 / 1.5,
        "root-efficiency": 1 / (1 + 0.25 * (2 - 1) / (2**0.5 - 1)),
        "cube-root-efficiency": 1 / (1 + 0.25 * (4 ** (1 / 3) - 1) / (2 ** (1 / 3) - 1)),
    }
    errors = {law: abs(value - 0.8) for law, value in of_four.items()}
    assert {law: error for law, _, error in model.rivals} == pytest.approx(errors, rel=1e-6)
    least = min(errors.values())
    heavy = {law: exp(-((error / least) ** 2) / 2) for law, error in errors.items()}
    heavy["amdahl-efficiency"] *= 2
    whole = sum(heavy.values())
    assert model.weights == pytest.approx({law: w / whole for law, w in heavy.items()}, rel=1e-5)
    parts = [
        (model.weights[law], fit_factor("transfer", [(1, 1.0), (2, 0.8), (4, 0.8)], law).value(8))
        for law in LAWS
    ]
    assert model.value(8) == pytest.approx(sum(weight * value for weight, value in parts))


def test_laws_that_no_run_tells_apart_count_alike_but_amdahls_twice() -> None:
    model = fit_factor("transfer", [(p, 0.9) for p in (1, 2, 4, 8)])
    assert model.weights["amdahl-efficiency"] == pytest.approx(2 / (len(LAWS) + 1))
    assert model.weights["constant"] == pytest.approx(1 / (len(LAWS) + 1))
    assert model.value(1e6) == pytest.approx(0.9)


def test_laws_that_are_constant_are_one_number() -> None:
    for value, text in ((1.0, "1"), (0.9, "0.9")):
        model = fit_factor("transfer", [(p, value) for p in (1, 2, 4, 8)])
        assert (model.text, [part[1:] for part in model.parts]) == (text, [("constant", text)])
        assert model.parts[0][0] == pytest.approx(1.0)


@pytest.mark.parametrize(("far", "text"), [(8, "1"), (10**6, "1/(1 + 2e-06*p)")])
def test_a_term_is_shown_where_it_changes_the_factor(far: int, text: str) -> None:
    """With two millionths per process, 8 processes lose nothing, and a million two thirds."""
    pairs = [(p, 1 / (1 + 2e-6 * p)) for p in (1, 2, 4, 8)]
    assert fit_factor("transfer", pairs, "amdahl-efficiency", far).text == text


def test_computation_scalability_has_one_law() -> None:
    value = LAW_VALUES["logarithmic-efficiency"]
    three = fit_factor("computation_scalability", [(p, value(p)) for p in (1, 2, 4)])
    four = fit_factor("computation_scalability", [(p, value(p)) for p in (1, 2, 4, 8)])
    assert (three.weights, four.weights) == (
        {"amdahl-efficiency": 1.0},
        {"logarithmic-efficiency": 1.0},
    )
    assert three.error is not None


def test_a_given_law_and_wrong_ones() -> None:
    points = study((1, 1.0, 1.0, 1.0), (4, 0.9, 0.8, 0.95))
    found = extrapolate_factors(points, [16], {"serialisation": "pipeline"})
    assert found.models["serialisation"].law == "pipeline"
    assert found.models["load_balance"].law == "amdahl-efficiency"  # nothing could be held out
    assert found.models["load_balance"].error is None
    with pytest.raises(UsageError, match="unknown factor 'speed'"):
        extrapolate_factors(points, [16], {"speed": "pipeline"})
    with pytest.raises(UsageError, match="unknown law 'linear'"):
        extrapolate_factors(points, [16], {"transfer": "linear"})
    with pytest.raises(InputError, match="a single size cannot be extrapolated"):
        extrapolate_factors(study((4, 1.0, 1.0, 1.0)), [16])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0.01, 1)),
        min_size=2,
        max_size=6,
    )
)
@example([(0.4170100152133998, 1.0, 0.04545909098108346)] * 4)  # weights beyond 1 by rounding
def test_extrapolations_are_shares_within_their_bands(
    values: list[tuple[float, float, float]],
) -> None:
    runs = study(*((2**k, *three) for k, three in enumerate(values)))
    for point in extrapolate_factors(runs, [64, 1000, 10**6]).points:
        for factor in FACTORS:
            assert 0 <= point.low[factor] <= point.values[factor] <= point.high[factor] <= 1
        product = 1.0
        for factor in FACTORS:
            product *= point.values[factor]
        assert point.values["parallel"] == pytest.approx(product)
        assert point.values[point.dominating] == min(point.values[f] for f in FACTORS)


def test_where_the_dominating_factor_changes() -> None:
    # 1/LB = 5 always, 1/Ser = 1 + (p - 1)/25: equal at p = 101
    runs = study(*((p, 1 / 5, 25 / (24 + p), 1.0) for p in (1, 2, 4, 8, 16)))
    found = extrapolate_factors(runs, [1000])
    assert len(found.changes) == 1
    width, before, after = found.changes[0]
    assert (before, after) == ("load_balance", "serialisation")
    assert abs(width - 101) <= 1  # at 101 itself they are equal but for rounding
    assert found.points[0].dominating == "serialisation"


def test_speedup_follows_from_the_factors() -> None:
    runs = study(*((p, 0.9, 1.0, 0.9) for p in (2, 4, 8)))
    found = extrapolate_factors(runs, [32]).points[0]
    assert found.values["speedup"] == pytest.approx(16)  # constant factors: 32 of 2 processes
    assert set(SCALED) <= set(found.values)


def test_a_repeated_run_counts_as_one_size() -> None:
    pairs = [(1, 1.0), (2, 0.94), (2, 0.96), (4, 0.9)]
    assert fit_factor("transfer", pairs).widths == (1, 2, 4)


# Rosas 2014, tables 2 to 5: ranks, then LB, Ser, Trf and parallel efficiency, all extrapolated.
ROSAS = {
    "HACC": [
        (512, 0.952, 0.860, 0.517, 0.424),
        (1024, 0.948, 0.857, 0.452, 0.368),
        (2048, 0.943, 0.855, 0.391, 0.315),
        (4096, 0.937, 0.853, 0.333, 0.267),
    ],
    "Nekbone": [(256, 0.972, 0.985, 0.992, 0.950), (512, 0.950, 0.977, 0.989, 0.919)],
    "AMG2013": [(256, 0.921, 0.937, 0.941, 0.813), (384, 0.908, 0.908, 0.914, 0.754)],
    "AVBP": [
        (520, 0.907, 0.925, 0.973, 0.816),
        (768, 0.886, 0.893, 0.961, 0.761),
        (1024, 0.867, 0.862, 0.948, 0.709),
        (1536, 0.830, 0.807, 0.925, 0.620),
    ],
}


@pytest.mark.parametrize("code", ROSAS)
def test_the_products_of_the_published_tables(code: str) -> None:
    for ranks, *factors, parallel in ROSAS[code]:
        balance, serialisation, transfer = factors
        found = run(ranks, factors=(balance, serialisation, transfer))
        # three factors rounded to 0.0005, the product too: at most 0.002 apart
        assert found.parallel == pytest.approx(parallel, abs=0.002)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_the_table_of_avbp_lies_on_amdahls_law(place: int) -> None:
    pairs = [(row[0], row[place]) for row in ROSAS["AVBP"]]
    model = fit_factor("transfer", pairs, "amdahl-efficiency")
    for width, value in pairs:
        assert model.value(width) == pytest.approx(value, abs=0.0012)


@pytest.mark.parametrize("place", [1, 3])
def test_the_table_of_hacc_falls_slower_than_amdahls_law(place: int) -> None:
    # the text says eq. 5; what is printed grows as the cube root of P
    pairs = [(row[0], row[place]) for row in ROSAS["HACC"]]
    by_law = {
        law: max(abs(fit_factor("transfer", pairs, law).value(p) - v) for p, v in pairs)
        for law in LAWS
    }
    assert by_law["cube-root-efficiency"] < 0.002
    assert by_law["amdahl-efficiency"] > by_law["cube-root-efficiency"]


def test_the_pipeline_of_hacc_has_an_end() -> None:
    pairs = [(row[0], row[2]) for row in ROSAS["HACC"]]
    model = fit_factor("serialisation", pairs, "pipeline")
    for width, value in pairs:
        assert model.value(width) == pytest.approx(value, abs=0.002)
    assert model.value(1e6) == pytest.approx(0.853, abs=0.002)


def test_dominating_of_equals_is_the_first() -> None:
    assert (
        dominating_factor({"load_balance": 1.0, "serialisation": 1.0, "transfer": 1.0})
        == FACTORS[0]
    )


def test_a_superlinear_scalability_is_kept() -> None:
    runs = study_of([run(1, 100.0), replace(run(2), useful_s=80.0), run(4, 80.0)])
    found = extrapolate_factors(runs, [8]).points[0]
    assert 1 < found.values["computation_scalability"] <= 1.25
