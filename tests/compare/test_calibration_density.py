"""Boundaries against brute force; weights recovered; nothing leaks, nothing changes for nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.compare.calibration_density import (
    SHIFT,
    DensityCalibration,
    Fit,
    Region,
    best_thresholds,
    calibrate_density,
    fit_density,
    packages_of_region,
    with_density,
)
from regionpredict.compare.calibration_samples import Samples, gather_samples, hints_of
from regionpredict.compare.success import wilson
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.machine.amend import amended, uncorrected
from regionpredict.machine.corrections import Corrections
from regionpredict.machine.reader import read
from regionpredict.machine.shipped import file_of
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.summary import summarise
from regionpredict.pipeline import Analysis, analyse, predict, predict_region
from regionpredict.predict import Prediction
from regionpredict.predict.density import equal_thresholds, packages_for

MACHINE = "clovertown"

# Statements with ever more arithmetic for each streamed element: their scores spread over [0, 1].
STATEMENTS = (
    "a[i] = b[i];",
    "a[i] = b[i] + 1.0;",
    "a[i] = b[i] * 2.0 + 1.0;",
    "a[i] = b[i] / 3.0;",
    "a[i] = b[i] / 3.0 + b[i] * 2.0;",
    "a[i] = b[i] / (b[i] + 1.0) * 3.0 + 2.0;",
    "a[i] = b[i] / 3.0 / (b[i] + 1.0) / 7.0;",
)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Five programs of seven regions."""
    folder: Path = tmp_path_factory.mktemp("density")
    paths = []
    for place in range(5):
        own = folder / f"p{place}"
        own.mkdir()
        size = 800_000 + 400_000 * place
        loops = "\n".join(
            f"#pragma omp parallel for\n  for (int i = 0; i < {size}; i++) {{ {one} }}"
            for one in STATEMENTS
        )
        (own / "f.c").write_text(f"void f(double a[{size}], double b[{size}])\n{{\n{loops}\n}}\n")
        paths.append(str(own / "f.c"))
    return analyse(requests_for(paths, [], [], ""), {})


def predictions(analysis: Analysis, machine: Machine) -> Sequence[Prediction]:
    return predict(analysis, machine, "density").predictions


def measured(analysis: Analysis, needed: Sequence[int]) -> Samples:
    """Measurements on 1, 4 and 8 threads of a machine that needs these packages."""
    runs = []
    for count in (1, 4, 8):
        regions = []
        for facts, packages in zip(analysis.facts, needed, strict=True):
            span, nest = facts.region.span, facts.region.nest
            assert nest is not None
            total = 1.0 / min(count, 4 * packages)
            trips = facts.iterations.value or 0
            regions.append(
                RegionRun(span.file, span.line, nest.span.line, "f", "omp parallel for", "gcc", 1,
                          total, total, total, total, 1, trips, trips, trips, count, count)
            )  # fmt: skip
        runs.append(Run(count, 0, False, 1.0, "now", 0.1, "/a", "gcc", "g", tuple(regions)))
    made = Campaign(("./a",), Host("here", "p", 2, 4, 1, 1), {}, "now", tuple(runs))
    plain = predict(analysis, load(MACHINE), "saturation", threads=(1, 4, 8)).predictions
    return gather_samples(plain, hints_of(plain, load(MACHINE)), summarise(made))


TRUE = Fit((1.0, 0.5, 1.0), (0.4,))


def found_out(fit: Fit) -> DensityCalibration:
    return DensityCalibration(fit, wilson(5, 9), wilson(8, 9), {}, (), 1.0, 3)


def true_text() -> str:
    text = file_of(MACHINE)[0].read_text(encoding="utf-8")
    made = Corrections(date="2024-05-02", measurements="x", programs=1, regions=1, runs=1)
    return amended(text, with_density(made, found_out(TRUE)), "calibrate from x")


def true_machine() -> Machine:
    return read(true_text(), "m.yaml")


def needs(analysis: Analysis) -> list[int]:
    made = predictions(analysis, true_machine())
    return [one.packages or 0 for one in made]


def calibrated(analysis: Analysis, samples: Samples) -> DensityCalibration:
    found = calibrate_density(predictions(analysis, load(MACHINE)), load(MACHINE), samples)
    assert found is not None
    return found


def test_other_weights_are_found_out(analysis: Analysis) -> None:
    wanted = needs(analysis)
    plain = [one.packages for one in predictions(analysis, load(MACHINE))]
    assert set(wanted) == {1, 2}
    assert wanted != plain
    found = calibrated(analysis, measured(analysis, wanted))
    assert found.helps
    assert found.before.right == sum(a == b for a, b in zip(wanted, plain, strict=True))
    # One that lies between the programs a boundary is drawn from may fall on its wrong side.
    assert found.after.right >= len(wanted) - 1
    assert found.after.judged == len(wanted)
    assert found.folds == 5


def test_a_right_model_is_left_alone(analysis: Analysis) -> None:
    plain = [one.packages or 0 for one in predictions(analysis, load(MACHINE))]
    found = calibrated(analysis, measured(analysis, plain))
    assert not found.helps
    assert found.fitted == Fit((1.0, 1.0, 1.0), (0.5,))


def test_nothing_of_a_program_enters_its_own_hints(analysis: Analysis) -> None:
    wanted = needs(analysis)
    samples = measured(analysis, wanted)
    spoilt = list(wanted)
    mine = [i for i, one in enumerate(samples.samples) if one.program == samples.programs[1]]
    for place in mine:
        spoilt[samples.samples[place].index] = 3 - spoilt[samples.samples[place].index]
    clean = calibrated(analysis, samples)
    dirty = calibrated(analysis, measured(analysis, spoilt))
    assert [clean.predicted[i] for i in mine] == [dirty.predicted[i] for i in mine]


def test_one_package_or_threads_alone_decide_nothing(analysis: Analysis) -> None:
    samples = measured(analysis, needs(analysis))
    few = Samples(
        tuple(
            type(one)(one.index, one.program,
                      type(one.summary)(one.summary.last, {n: t for n, t in
                                        one.summary.timings.items() if n < 8}), one.seconds)
            for one in samples.samples
        ),
        {},
    )  # fmt: skip
    made = predictions(analysis, load(MACHINE))
    assert calibrate_density(made, load(MACHINE), few) is None


def test_the_written_weights_decide_as_the_fit_did(analysis: Analysis) -> None:
    machine = true_machine()
    plain = load(MACHINE)
    for (kind, pattern), weight in plain.density.miss.items():
        factor = 0.5 if pattern == "streaming" else 1.0
        new = machine.density.miss[kind, pattern]
        assert new.value == pytest.approx(factor * weight.value, rel=1e-3)
        if factor != 1:
            assert new.evidence == "measured"
    assert [bound.value for bound in machine.density.thresholds] == [0.4]
    for facts in analysis.facts:
        before, after = (predict_region(facts, one, "density") for one in (plain, machine))
        assert after.score is not None
        assert before.score is not None
        assert after.packages == packages_for(after.score, 2, (0.4,))
        assert after.score >= before.score
    assert machine.corrections.cross_validated["density_success"] == (
        pytest.approx(5 / 9, rel=1e-3), pytest.approx(8 / 9, rel=1e-3),
    )  # fmt: skip
    text = file_of(MACHINE)[0].read_text(encoding="utf-8")
    assert uncorrected(true_text()).rstrip() == text.rstrip()


def brute(scores: np.ndarray, needed: np.ndarray, packages: int) -> float:
    equal = equal_thresholds(packages)
    distinct = np.unique(scores)
    cuts = {*equal, *((distinct[1:] + distinct[:-1]) / 2).tolist()}
    best = -np.inf
    for bounds in itertools.combinations(sorted(cut for cut in cuts if cut > 0), packages - 1):
        right = sum(
            packages_for(float(s), packages, bounds) == n
            for s, n in zip(scores, needed, strict=True)
        )
        moved = sum(abs(a - b) for a, b in zip(bounds, equal, strict=True))
        best = max(best, right - SHIFT * moved)
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**31), st.integers(3, 12))
def test_the_best_boundaries_of_all(packages: int, seed: int, count: int) -> None:
    random.seed(seed)
    scores = np.array([random.choice((0.0, random.random())) for _ in range(count)])
    needed = np.array([random.randint(1, packages) for _ in range(count)])
    bounds, gained = best_thresholds(scores, needed, packages)
    assert len(bounds) == packages - 1
    assert list(bounds) == sorted(set(bounds))
    right = sum(packages_for(float(s), packages, bounds) == n
                for s, n in zip(scores, needed, strict=True))  # fmt: skip
    moved = sum(abs(a - b) for a, b in zip(bounds, equal_thresholds(packages), strict=True))
    assert gained == pytest.approx(right - SHIFT * moved)
    assert gained == pytest.approx(brute(scores, needed, packages))


def test_few_regions_change_nothing() -> None:
    # One region that is wrong by far does not pay for leaving the equal parts.
    regions = [Region(1.0, 1.0, 20.0, 0.0, 2)]
    assert fit_density(regions, 2) == Fit((1.0, 1.0, 1.0), (0.5,))
    assert packages_of_region(Fit((1.0, 1.0, 1.0), (0.5,)), regions[0], 2) == 1
