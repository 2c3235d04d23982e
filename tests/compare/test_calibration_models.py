"""Factors of a machine from the coefficients of regions' models: those that made the times."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.compare.calibration_factors import predicted_seconds
from regionpredict.compare.calibration_models import Coefficient, common_coefficient
from regionpredict.machine import load
from regionpredict.machine.shipped import file_of
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "clovertown"
COUNTS = (1, 4, 8)
SIZES = (20_000, 400_000, 4_000_000)
SOURCE = """void f(double a[SIZE], double b[SIZE])
{
#pragma omp parallel for
  for (int i = 0; i < SIZE; i++) a[i] = b[i] / 3.0 / (b[i] + OWN);
#pragma omp parallel for
  for (int i = 0; i < SIZE; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < SIZE; i++) a[i] = 2.0 * a[i];
#pragma omp parallel for
  for (int i = 0; i < SIZE / 100; i++) b[i] += 1.0;
}
"""


def call(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *arguments]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)


def campaign_of(folder: Path, size: int, factors: dict[str, float]) -> None:
    """What a machine would measure whose figures are so many times off."""
    from regionpredict.compare.calibration_factors import with_factors
    from regionpredict.frontend import requests_for
    from regionpredict.pipeline import analyse, predict

    requests = requests_for([str(folder / "src")], [("SIZE", str(size))], [], "")
    analysis = analyse(requests, {})
    off = predict(analysis, with_factors(load(MACHINE), factors), "saturation", threads=COUNTS,
                  advised=False)  # fmt: skip
    store = Store(folder / f"m{size}.jsonl")
    host = Host("here", "a processor", 2, 4, 1, 1)
    store.begin(Campaign(("./a",), host, {"places": "cores"}, "2024-05-02T10:00:00+00:00"))
    for threads in COUNTS:
        regions = []
        for one in off.predictions:
            region = one.facts.region
            assert region.nest is not None
            seconds = predicted_seconds(one)[threads]
            trips = one.facts.iterations.value or 0
            regions.append(
                RegionRun(region.span.file, region.span.line, region.nest.span.line, "f",
                          "omp parallel for", f"gcc -DSIZE={size}", 1, seconds, seconds, seconds,
                          seconds, 1, trips, trips, trips, threads, threads)
            )  # fmt: skip
        store.add(Run(threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "libgomp", tuple(regions)))


def prepared(folder: Path, factors: dict[str, float]) -> Path:
    for place in range(4):
        own = folder / "src" / f"p{place}"
        own.mkdir(parents=True)
        (own / "f.c").write_text(SOURCE.replace("OWN", f"{place + 1}.0"))
    for size in SIZES:
        campaign_of(folder, size, factors)
    return folder


FILES = [word for size in SIZES for word in ("--from", f"m{size}.jsonl")]


def test_factors_that_made_the_times_come_back(tmp_path: Path) -> None:
    known = {"compute": 2.0, "memory": 1.6, "cache": 1.6, "overhead": 2.5}
    prepared(tmp_path, known)
    done = call("calibrate", "src", *FILES, "--from-models", "-m", MACHINE, "-o", "new.yaml",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "48 regions of 4 programs on 1, 4, 8 threads, 9 runs" in done.stdout
    corrections = load(tmp_path / "new.yaml").corrections
    for name, factor in known.items():
        assert corrections.factor(name) == pytest.approx(factor, rel=0.25), name
    scores = corrections.cross_validated
    assert scores["time_error"].after < 0.5 * scores["time_error"].before
    assert "--from-models" in next(iter(corrections.factors.values())).source


@pytest.mark.slow
def test_right_figures_are_left_alone(tmp_path: Path) -> None:
    prepared(tmp_path, {})
    done = call("calibrate", "src", *FILES, "--from-models", "-m", MACHINE, "-o", "new.yaml",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no factor is written" in done.stdout
    assert not load(tmp_path / "new.yaml").corrections.factors


@pytest.mark.slow  # `test_calibrate_command.py` has a dry run, too
def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    prepared(tmp_path, {"compute": 2.0})
    done = call("calibrate", "src", *FILES, "--from-models", "-m", MACHINE, "--dry-run",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "nothing written: --dry-run" in done.stderr
    assert not list(tmp_path.glob("*.yaml"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("calibrate", "src", "--from", "m.jsonl", "--from-models", "-m", MACHINE, "-o", "n.yaml"),
         "--from-models with one size"),
        (("calibrate", "--from-models", "-o", "n.yaml"), "--from-models needs --from"),
    ],
)  # fmt: skip
def test_wrong_calls(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = call(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_other_thread_counts_are_refused(tmp_path: Path) -> None:
    prepared(tmp_path, {})
    path = tmp_path / f"m{SIZES[0]}.jsonl"
    kept = [line for line in path.read_text().splitlines() if json.loads(line).get("threads") != 8]
    path.write_text("".join(f"{line}\n" for line in kept))
    done = call("calibrate", "src", *FILES, "--from-models", "-m", MACHINE, "--dry-run",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1
    assert "measured on 1, 4 and on 1, 4, 8 threads" in done.stderr


@pytest.mark.slow
def test_a_machine_file_stays_as_it_was(tmp_path: Path) -> None:
    prepared(tmp_path, {"compute": 2.0})
    call("calibrate", "src", *FILES, "--from-models", "-m", MACHINE, "-o", "new.yaml", cwd=tmp_path)
    original = file_of(MACHINE)[0].read_text().rstrip()
    assert (tmp_path / "new.yaml").read_text().startswith(original)


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0.01, 1)), min_size=1, max_size=12),
    st.floats(-2, 2),
)
def test_the_common_factor_lies_among_them_or_nearer_to_one(
    known: list[tuple[float, float]], other: float
) -> None:
    values = [one for one, _ in known]
    found = common_coefficient([Coefficient(*one) for one in known])
    assert min(*values, 0.0) - 1e-9 <= found <= max(*values, 0.0) + 1e-9
    # What makes no part of a region's time says nothing.
    same = common_coefficient([*(Coefficient(*one) for one in known), Coefficient(other, 0.0)])
    assert same == pytest.approx(found, abs=1e-9)


def test_one_region_far_off_does_not_drag_the_factor() -> None:
    many = [Coefficient(math.log(1.5), 1.0)] * 20
    assert math.exp(common_coefficient(many)) == pytest.approx(1.5, rel=0.02)
    assert math.exp(common_coefficient([*many, Coefficient(math.log(8.0), 1.0)])) == pytest.approx(
        1.5, rel=0.1
    )
