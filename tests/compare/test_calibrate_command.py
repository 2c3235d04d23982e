"""`regionpredict calibrate --from`, from measurements in a file to a machine file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.machine import load
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """void f(double a[SIZE])
{
#pragma omp parallel for
  for (int i = 0; i < SIZE; i++) a[i] = a[i] / 3.0;
#pragma omp parallel for
  for (int i = 0; i < 10; i++) a[i] += 1.0;
#pragma omp parallel for
  for (int i = 0; i < SIZE; i += 2) a[i] *= a[i] + 4.0;
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] *= 2.0;
}
"""
FIRST = (
    "#include <stdlib.h>\nint main(void)\n{\n"
    + "".join(f"  double *{name} = malloc(SIZE * sizeof *{name});\n" for name in "abcd")
    + "".join(
        f"#pragma omp parallel for\n  for (int i = 0; i < SIZE; i++) {name}[i] = 1.0;\n"
        for name in "abcd"
    )
    + "}\n"
)
"""Every region is the first to write its array, which only the whole program tells."""
MACHINE = "clovertown"


def call(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *arguments]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)


def predicted_seconds(folder: Path) -> dict[str, dict[int, float]]:
    """id -> threads -> seconds, out of the model itself."""
    from regionpredict.compare.calibration_factors import predicted_seconds as seconds_of
    from regionpredict.frontend import requests_for
    from regionpredict.pipeline import analyse, predict

    analysis = analyse(requests_for([str(folder)], [("N", "5000")], [], ""), {})
    made = predict(
        analysis, load(MACHINE), "saturation", threads=(1, 4, 8), advised=False
    ).predictions
    return {one.facts.region.id: seconds_of(one) for one in made}


def prepared(
    folder: Path, source: str, costs: tuple[float, float, float] = (3.0, 3.0, 3.0)
) -> Path:
    """Three programs, and measurements in which forking and joining costs so many times as much."""
    for place in range(3):
        own = folder / "src" / f"p{place}"
        own.mkdir(parents=True)
        (own / "f.c").write_text(source.replace("SIZE", str(40_000 * (place + 1))))
    overheads = load(MACHINE).overheads
    store = Store(folder / "m.jsonl")
    host = Host("here", "a processor", 2, 4, 1, 1)
    store.begin(Campaign(("./a",), host, {"places": "cores"}, "2024-05-02T10:00:00+00:00"))
    times = predicted_seconds(folder / "src")
    for threads in (1, 4, 8):
        border = 2 * overheads.atomic.at(2) if threads > 1 else 0.0
        once = (overheads.fork_join.at(threads) + border) / load(MACHINE).clock_hz
        regions = []
        for name, by_threads in times.items():
            file, line = name.rsplit(":", 1)
            program = int(Path(file).parent.name[1:])
            total = by_threads[threads] + (costs[program] - 1) * once
            regions.append(
                RegionRun(file, int(line), int(line) + 1, "f", "omp parallel for", "gcc", 1, total,
                          total, total, total, 0, 0, 0, 0, threads, threads)
            )  # fmt: skip
        run = Run(threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "libgomp", tuple(regions))
        store.add(run)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of four regions."""
    return prepared(tmp_path_factory.mktemp("calibrate"), SOURCE)


def test_corrections_are_written_and_used(folder: Path) -> None:
    done = call("calibrate", "src", "-D", "N=5000", "--from", "m.jsonl", "-m", MACHINE,
                "-o", "new.yaml", "--report", "report.html", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "written: report.html" in done.stderr
    page = (folder / "report.html").read_text()
    assert "12 regions of 3 programs on 1, 4, 8 threads, 3 runs" in page
    assert page.count("by a fit without this program") == 12
    assert "12 regions of 3 programs on 1, 4, 8 threads, 3 runs" in done.stdout
    assert "Saturation model, cross-validated over 3 folds" in done.stdout
    assert "Density model, cross-validated over 3 folds" in done.stdout
    machine = load(folder / "new.yaml")
    assert machine.corrections.factor("overhead") == pytest.approx(3.0, rel=0.15)
    assert machine.corrections.measurements == "m.jsonl"
    assert machine.corrections.date == "2024-05-02"
    assert (machine.corrections.programs, machine.corrections.regions) == (3, 12)
    checked = call("machines", "check", "new.yaml", cwd=folder)
    assert checked.returncode == 0
    assert "corrections" not in checked.stdout
    # The corrected model predicts less speedup for the last, brief regions than the uncorrected.
    speedups = []
    for name in (MACHINE, "new.yaml"):
        made = call("predict", "src", "-D", "N=5000", "-m", name, "--format", "json", cwd=folder)
        regions = json.loads(made.stdout)["regions"]
        speedups.append([one["speedup"][-1]["value"] for one in regions if one["line"] == 9])
    assert all(new < old for old, new in zip(*speedups, strict=True))


@pytest.mark.slow
def test_a_factor_that_helps_one_program_and_harms_another_is_not_written(tmp_path: Path) -> None:
    """Teams cost the first 3 times as much, the second as much as predicted, the third the half."""
    prepared(tmp_path, SOURCE, (3.0, 1.0, 0.5))
    words = ("calibrate", "src", "-D", "N=5000", "--from", "m.jsonl", "-m", MACHINE)
    tried = call(*words, "--dry-run", cwd=tmp_path)
    done = call(*words, "-o", "new.yaml", cwd=tmp_path)
    for said in (tried, done):
        assert said.returncode == 0, said.stderr
        assert "the correction does not help, the error of the speedup rises" in said.stdout
    assert load(tmp_path / "new.yaml").corrections.factors == {}


# A whole suite, fitted again to compare one number.
@pytest.mark.slow
def test_the_uncorrected_model_is_the_one_that_predict_uses(tmp_path: Path) -> None:
    # The same error as that of the hints that predict writes, held against the same file.
    prepared(tmp_path, FIRST)
    hints = call("predict", "src", "-m", MACHINE, "--threads", "1,4,8", "--format", "json",
                 "-o", "hints.json", cwd=tmp_path)  # fmt: skip
    assert hints.returncode == 0, hints.stderr
    held = call("compare", "hints.json", "m.jsonl", "--format", "json", cwd=tmp_path)
    done = call("calibrate", "src", "--from", "m.jsonl", "-m", MACHINE, "-o", "new.yaml",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    score = load(tmp_path / "new.yaml").corrections.cross_validated["speedup_error"]
    error = json.loads(held.stdout)["median_speedup_error"]
    assert error > 0
    assert score.before == pytest.approx(error, rel=2e-3)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["src", "-o", "x.yaml"], 2, "src: nothing to compare it with; give --from MEASUREMENTS"),
        (["--from", "m.jsonl", "-o", "x.yaml", "src"], 2, "--from needs a model to correct"),
        (["--from", "m.jsonl", "-o", "x.yaml", "-m", MACHINE], 2, "needs the measured sources"),
        (["-D", "N=3", "-o", "x.yaml"], 2, "-D needs --from"),
        (["-m", MACHINE, "-o", "x.yaml"], 2, "-m needs --from"),
        (["src", "--from", "m.jsonl", "-m", MACHINE, "--time-budget", "3m", "-o", "x.yaml"], 2,
         "--time-budget cannot be combined with --from"),
        (["src", "--from", "none.jsonl", "-m", MACHINE, "-o", "x.yaml"], 1,
         "none.jsonl: cannot be read"),
        (["src", "--from", "src/p0/f.c", "-m", MACHINE, "-o", "x.yaml"], 1,
         "src/p0/f.c:1: not a line of measurements"),
        (["src", "--from", "m.jsonl", "-m", "dunnington", "-o", "x.yaml"], 1,
         "m.jsonl: measured on 2 x 4 cores, dunnington has 4 x 6"),
        (["src/p0", "-D", "N=5000", "--from", "m.jsonl", "-m", MACHINE, "-o", "x.yaml"], 1,
         "too few data to calibrate: 4 regions of 1 program (left out: 8 not in the given"),
        (["src", "--from", "m.jsonl", "-m", MACHINE, "-o", "x.yaml", "--statistic", "mean"], 2,
         "mean"),
    ],
)  # fmt: skip
def test_wrong_calls_are_one_line(
    folder: Path, arguments: list[str], code: int, message: str
) -> None:
    done = call("calibrate", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len([ln for ln in done.stderr.splitlines() if ln.startswith("regionpredict:")]) == 1
    assert not (folder / "x.yaml").exists()
