"""Corrections are recovered from measurements made with known ones, and scored without leaks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.compare.calibration import (
    Provenance,
    SaturationCalibration,
    calibrate_saturation,
    check_enough,
    corrections_of,
    folds_of,
)
from regionpredict.compare.calibration_factors import predicted_seconds, with_factors
from regionpredict.compare.calibration_samples import Samples, gather_samples, hints_of
from regionpredict.errors import InputError
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.machine.amend import amended
from regionpredict.machine.reader import read
from regionpredict.machine.shipped import file_of
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.summary import summarise
from regionpredict.pipeline import Analysis, analyse, predict
from regionpredict.predict import Prediction
from regionpredict.report.calibration import saturation_blocks
from regionpredict.report.document_text import block_lines

MACHINE = "skylake-gold-6148"
COUNTS = (1, 4, 20)

# Each region's time is mostly made of one term: arithmetic, lines from the caches, lines from
# memory, waiting for scattered lines, fork and join.
PROGRAM = """
void compute(double *restrict a)
{
#pragma omp parallel for
  for (long i = 0; i < %(n)d; i++) a[i] = 1.0 / (2.0 / (3.0 / (a[i] + 1.0) + 4.0) + 5.0);
}
void cached(double *restrict a, double *restrict b)
{
#pragma omp parallel for
  for (long k = 0; k < 4000; k++)
    for (long i = 0; i < %(m)d; i++) b[i] = a[i];
}
void streamed(double *restrict a, double *restrict b)
{
#pragma omp parallel for
  for (long i = 0; i < %(s)d; i++) a[i] = b[i];
}
void gathered(long p[%(s)d], double a[%(s)d], double b[%(s)d])
{
#pragma omp parallel for
  for (long i = 0; i < %(s)d; i++) a[i] += b[p[i]];
}
void brief(double *restrict a)
{
#pragma omp parallel for
  for (long i = 0; i < 100; i++) a[i] += 1.0;
}
"""


def _shown(calibration: SaturationCalibration) -> str:
    """The words of the text."""
    lines = [line for block in saturation_blocks(calibration) for line in block_lines(block)]
    return " ".join(" ".join(lines).split())


@cache
def programs(folder: Path, number: int = 4) -> Analysis:
    """Four programs in a folder each, alike but for their sizes."""
    paths = []
    for place in range(number):
        own = folder / f"p{place}"
        own.mkdir()
        source = own / "all.c"
        sizes = {"n": 40_000 + 9000 * place, "m": 9000 + 700 * place,
                 "s": 20_000_000 + 3_000_000 * place}  # fmt: skip
        source.write_text(PROGRAM % sizes)
        paths.append(str(source))
    return analyse(requests_for(paths, [], [], ""), {})


def predictor(analysis: Analysis) -> Callable[[Machine], Sequence[Prediction]]:
    return lambda machine: (
        predict(analysis, machine, "saturation", threads=COUNTS, advised=False).predictions
    )


def campaign(
    predictions: Sequence[Prediction], noise: Callable[[str], float] = lambda _: 1.0
) -> Campaign:
    """Measurements that a machine would give whose regions take the predicted times."""
    runs = []
    for count in COUNTS:
        regions = []
        for one in predictions:
            region, seconds = one.facts.region, predicted_seconds(one)
            assert region.nest is not None
            total = 3 * seconds[count] * noise(region.span.file)
            trips = one.facts.iterations.value or 0
            regions.append(
                RegionRun(
                    region.span.file, region.span.line, region.nest.span.line, region.function,
                    "omp parallel for", "gcc", 3, total, total / 3, total / 3, total / 3, 3,
                    3 * trips, trips, trips, count, count,
                )
            )  # fmt: skip
        runs.append(Run(count, 0, False, 1.0, "now", 0.1, "/a", "gcc", "gomp", tuple(regions)))
    host = Host("here", "a processor", 2, 20, 1, 1)
    return Campaign(("./a",), host, {"places": "cores"}, "2024-05-02T10:00:00", tuple(runs))


def measured(analysis: Analysis, made: Campaign) -> Samples:
    plain = predictor(analysis)(load(MACHINE))
    return gather_samples(plain, hints_of(plain, load(MACHINE)), summarise(made))


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return programs(tmp_path_factory.mktemp("programs"))


def fitted(analysis: Analysis, factors: Mapping[str, float]) -> SaturationCalibration:
    predictions = predictor(analysis)(with_factors(load(MACHINE), factors))
    samples = measured(analysis, campaign(predictions))
    return calibrate_saturation(predictor(analysis), load(MACHINE), samples)


@pytest.fixture(scope="module")
def known(analysis: Analysis) -> tuple[Samples, SaturationCalibration]:
    """Measurements made with known factors, and what is fitted to them."""
    predictions = predictor(analysis)(with_factors(load(MACHINE), KNOWN))
    samples = measured(analysis, campaign(predictions))
    return samples, calibrate_saturation(predictor(analysis), load(MACHINE), samples)


# Scattered lines wait for what their latency exceeds their bandwidth by: here, with twelve misses
# at once, nothing is left to be seen of a factor below 0.7.
KNOWN = {"compute": 1.4, "cache": 0.7, "memory": 1.3, "scattered": 1.6, "overhead": 2.5}


def test_known_factors_are_recovered(known: tuple[Samples, SaturationCalibration]) -> None:
    _, result = known
    assert result.helps
    assert result.factors == result.fitted
    for name, factor in KNOWN.items():
        assert result.factors[name] == pytest.approx(factor, rel=0.1), name
    # Programs that no fit saw are then predicted almost as they were measured.
    assert result.after.speedup_error < 0.5 * result.before.speedup_error
    assert result.after.time_error < 0.02
    assert result.before.time_error > 0.2
    assert result.folds == 4


@pytest.mark.slow
def test_one_factor_alone_leaves_the_others_at_one(analysis: Analysis) -> None:
    result = fitted(analysis, {"overhead": 3.0})
    assert result.factors["overhead"] == pytest.approx(3.0, rel=0.1)
    assert all(value == pytest.approx(1.0, abs=0.1)
               for name, value in result.fitted.items() if name != "overhead")  # fmt: skip


@pytest.mark.slow
def test_a_right_model_gets_no_factors(analysis: Analysis) -> None:
    random.seed(4)
    plain = predictor(analysis)(load(MACHINE))
    made = campaign(plain, lambda _: random.lognormvariate(0.0, 0.2))
    samples = measured(analysis, made)
    result = calibrate_saturation(predictor(analysis), load(MACHINE), samples)
    assert not result.helps
    assert result.factors == {}
    assert "rises" in result.against or "do not fall" in result.against
    text = _shown(result)
    assert "does not help" in text
    assert "no factor is written" in text
    corrections = corrections_of(result, samples, Provenance("a.jsonl", "2024-05-02", 3))
    assert corrections.factors == {}
    assert "speedup_error" in corrections.cross_validated


def test_a_factor_at_its_bound_is_a_finding_and_no_correction(
    known: tuple[Samples, SaturationCalibration],
) -> None:
    _, result = known
    for bound in (8.0, 1 / 8.0):
        stuck = replace(result, fitted={**result.fitted, "overhead": bound})
        assert stuck.at_bound == ("overhead",)
        assert not stuck.helps
        assert "overhead at the bound of 8 times" in stuck.against
        assert "check this figure of the machine" in _shown(stuck)
    assert replace(result, fitted={**result.fitted, "overhead": 7.8}).helps


@pytest.mark.slow
def test_times_alone_may_be_what_is_mended(analysis: Analysis) -> None:
    # Everything takes three times as long: no speedup changes but for rounding, all seconds do.
    slow = dict.fromkeys(KNOWN, 3.0)
    result = fitted(analysis, slow)
    assert result.before.time_ratio == pytest.approx(1 / 3, rel=0.05)
    assert result.before.speedup_error < 0.05
    assert result.helps
    assert result.after.time_ratio == pytest.approx(1.0, rel=0.1)
    assert result.sure_times == 1.0


@pytest.mark.slow
def test_what_helps_one_program_and_harms_another_is_not_written(analysis: Analysis) -> None:
    # Two of four programs on a memory twice as slow, two on one twice as fast, and so on with all
    # that times are made of: what one half teaches is wrong for the other by a factor of four.
    slow = measured(
        analysis,
        campaign(predictor(analysis)(with_factors(load(MACHINE), dict.fromkeys(KNOWN, 2.0)))),
    )
    fast = measured(
        analysis,
        campaign(predictor(analysis)(with_factors(load(MACHINE), dict.fromkeys(KNOWN, 0.5)))),
    )
    first = slow.programs[:2]
    mixed = Samples(
        tuple(
            a if a.program in first else b for a, b in zip(slow.samples, fast.samples, strict=True)
        ),
        {},
    )
    result = calibrate_saturation(predictor(analysis), load(MACHINE), mixed)
    assert not result.helps
    assert result.factors == {}


@pytest.mark.slow
def test_nothing_of_a_program_enters_what_is_predicted_of_it(
    analysis: Analysis, known: tuple[Samples, SaturationCalibration]
) -> None:
    # Spoil one program's measurements: what is predicted of it must stay as it was, digit for
    # digit; what is predicted of the others must not.
    samples, clean = known
    spoilt_name = samples.programs[2]
    predictions = predictor(analysis)(with_factors(load(MACHINE), {"compute": 6, "overhead": 7}))
    other = measured(analysis, campaign(predictions))
    mixed = Samples(
        tuple(
            bad if good.program == spoilt_name else good
            for good, bad in zip(samples.samples, other.samples, strict=True)
        ),
        {},
    )
    dirty = calibrate_saturation(predictor(analysis), load(MACHINE), mixed)
    changed = set()
    for one, before, after in zip(samples.samples, clean.predicted, dirty.predicted, strict=True):
        if before != after:
            changed.add(one.program)
    assert changed == set(samples.programs) - {spoilt_name}


@given(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=4, max_size=60))
def test_no_program_is_on_both_sides(names: list[str]) -> None:
    if len(set(names)) < 2:
        return
    seen: list[int] = []
    for train, test in folds_of(names):
        assert not {names[i] for i in train} & {names[i] for i in test}
        assert sorted(train + test) == list(range(len(names)))
        seen += test
    assert sorted(seen) == list(range(len(names)))


def test_the_written_machine_has_the_factors(
    known: tuple[Samples, SaturationCalibration],
) -> None:
    samples, result = known
    corrections = corrections_of(result, samples, Provenance("a.jsonl", "2024-05-02", 3))
    path, _ = file_of(MACHINE)
    text = path.read_text(encoding="utf-8")
    once = amended(text, corrections, "calibrate --from a.jsonl")
    machine = read(once, "m.yaml")
    assert machine.corrections.programs == 4
    assert machine.corrections.regions == 20
    assert machine.corrections.runs == 3
    assert machine.corrections.date == "2024-05-02"
    for name, factor in result.factors.items():
        assert machine.corrections.factor(name) == pytest.approx(factor, rel=1e-3)
        assert machine.corrections.factors[name].evidence == "measured"
    score = machine.corrections.cross_validated["speedup_error"]
    assert score.after == pytest.approx(result.after.speedup_error, rel=1e-3)
    # Written again it replaces itself, and the rest of the file is as it was.
    assert amended(once, corrections, "calibrate --from a.jsonl") == once
    assert once.startswith(text.rstrip())


@pytest.mark.slow
def test_corrections_are_fitted_anew_not_on_top(
    analysis: Analysis, known: tuple[Samples, SaturationCalibration]
) -> None:
    samples, once = known
    corrected = with_factors(load(MACHINE), {"overhead": 9.0})
    again = calibrate_saturation(predictor(analysis), corrected, samples)
    assert again.fitted == once.fitted


def test_too_little_is_refused_in_one_line(analysis: Analysis) -> None:
    made = campaign(predictor(analysis)(load(MACHINE)))
    samples = measured(analysis, made)
    two = samples.programs[:2]
    few = Samples(tuple(one for one in samples.samples if one.program in two), {"x": 3})
    with pytest.raises(InputError) as caught:
        check_enough(few)
    assert "10 regions of 2 programs" in str(caught.value)
    assert "3 x" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_compared_is_left_out_and_told(analysis: Analysis) -> None:
    made = campaign(predictor(analysis)(load(MACHINE)))
    first = made.runs[0].regions[0]
    changed = []
    for run in made.runs:
        regions = list(run.regions)
        regions[0] = RegionRun(*(
            {**{name: getattr(first, name) for name in RegionRun.__slots__},
             **{name: 2 * getattr(first, name) for name in ("trips", "least_trips", "most_trips")},
             }.values()
        ))  # fmt: skip
        regions[1] = RegionRun(*(
            {**{name: getattr(regions[1], name) for name in RegionRun.__slots__},
             "nowait": True}.values()
        ))  # fmt: skip
        changed.append(Run(run.threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "g",
                           tuple(regions)))  # fmt: skip
    samples = measured(analysis, Campaign(made.command, made.host, made.binding, "now",
                                          tuple(changed)))  # fmt: skip
    assert samples.left_out == {
        "measured with another size than predicted": 1,
        "without a barrier at its end (nowait)": 1,
    }
    assert len(samples.samples) == 18
