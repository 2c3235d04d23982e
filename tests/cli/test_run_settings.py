"""`--pages`, `--bind` and `--runtime`: what they change, where it is told, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import call

TRIAD = """\
void triad(int n, double *a, double *b, double *c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
}
"""
CHAINS = """\
double chains(int n, double *a)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 1000; k++) a[i] = 0.5 * a[i] + 1.0;
    return a[0];
}
"""
NODE = "skylake-gold-6148"


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "f.c"
    path.write_text(TRIAD + CHAINS)
    return str(path)


def hints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: str, *words: str
) -> dict[str, Any]:
    done = call(monkeypatch, capsys, "predict", source, "-m", NODE, "--set", "n=20000000",
                "--format", "json", "--no-cache", *words)  # fmt: skip
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def speed(document: dict[str, Any], threads: int) -> float:
    return float({p["threads"]: p["value"] for p in document["regions"][0]["speedup"]}[threads])


def test_interleaved_pages_are_told_and_slow_a_package(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = hints(monkeypatch, capsys, source)
    assert usual["run"] == {"pages": "first-touch", "binding": "close", "runtime": None}
    dealt = hints(monkeypatch, capsys, source, "--pages", "interleave")
    assert dealt["run"]["pages"] == "interleave"
    assert dealt["request"]["pages"] == "interleave"
    assert speed(dealt, 40) < speed(usual, 40)
    there = hints(monkeypatch, capsys, source, "--pages", "1")
    assert there["run"]["pages"] == 1
    assert hints(monkeypatch, capsys, source, "--pages", "first-touch")["run"] == usual["run"]


def test_spread_threads_have_both_memories_from_the_second_on(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    close, spread = (
        hints(monkeypatch, capsys, source, "--bind", how) for how in ("close", "spread")
    )
    assert spread["run"]["binding"] == "spread"
    assert speed(spread, 20) > 1.5 * speed(close, 20)
    assert speed(spread, 40) == pytest.approx(speed(close, 40), rel=0.01)
    assert spread["regions"][0]["packages"] == 2


def test_places_are_predicted_and_said_everywhere(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cores 0, 20, 1, 21, ...: as spread threads on two packages, and no more than 20 of them."""
    places = ",".join(f"{{{core}}},{{{core + 20}}}" for core in range(10))
    spread, placed = (hints(monkeypatch, capsys, source, "--bind", how)
                      for how in ("spread", places))  # fmt: skip
    assert placed["run"]["binding"] == placed["request"]["binding"] == places
    assert speed(placed, 20) == pytest.approx(speed(spread, 20), rel=0.01)
    assert placed["regions"][0]["speedup"][-1]["threads"] == 20
    assert [region["packages"] for region in placed["regions"]] == [2, 2]
    words = [source, "-m", NODE, "--set", "n=20000000", "--no-cache", "--bind", places]
    assert f"OMP_PLACES='{places}'" in call(monkeypatch, capsys, "predict", *words).out
    job = call(monkeypatch, capsys, "predict", *words, "--format", "slurm").out
    assert f"export OMP_PLACES='{places}'\nexport OMP_PROC_BIND=close\n" in job
    told = call(monkeypatch, capsys, "explain", f"{source}:3", *words[1:]).out
    assert f"OMP_PLACES='{places}'" in told


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ("{0", "--bind '{0' is not a list of places"),
        (
            "{79},{80}",
            "'{79},{80}' names hardware thread 80; the hardware threads of the machine are 0 to 79",
        ),
    ],
)
def test_wrong_places_are_one_line(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    places: str, said: str,
) -> None:  # fmt: skip
    done = call(monkeypatch, capsys, "predict", source, "-m", NODE, "--bind", places)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_hints_say_cores_and_threads_a_core(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    streams, chains = hints(monkeypatch, capsys, source)["regions"]
    assert streams["threads_per_core"] == 1
    assert streams["cores"] == streams["threads"]
    assert (chains["threads"], chains["cores"], chains["threads_per_core"]) == (80, 40, 2)


def test_the_table_and_the_job_say_how_to_run_it(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", source, "-m", NODE, "--set", "n=20000000", "--no-cache",
             "--pages", "interleave", "--bind", "spread"]  # fmt: skip
    table = call(monkeypatch, capsys, *words).out
    assert "run with numactl --interleave=all" in table
    assert "run with OMP_PROC_BIND=spread" in table
    assert "80h" in table and "h hardware threads: 2 on each core" in table
    job = call(monkeypatch, capsys, *words, "--format", "slurm").out
    assert "export OMP_PROC_BIND=spread\n" in job
    assert "numactl --interleave=all ./program" in job
    assert "#SBATCH --distribution=block:cyclic" in job
    clauses = call(monkeypatch, capsys, *words, "--format", "openmp").out
    assert "num_threads(37) proc_bind(spread)" in clauses, "no more than the program has"
    told = call(monkeypatch, capsys, "explain", f"{source}:3", *words[2:6], *words[7:]).out
    assert "Pages: interleaved" in told
    assert "OMP_PROC_BIND=spread" in told
    assert "All hardware threads, 80 on 40 cores" in told


def test_a_run_time_system_without_costs_of_its_own_is_said(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(monkeypatch, capsys, "predict", source, "-m", NODE, "--no-cache", "--runtime",
                "llvm")  # fmt: skip
    assert done.code == 0
    assert f"note: {NODE} has no separate costs for the llvm runtime" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pages", "2"], "--pages 2: no such place on skylake-gold-6148; choose first-touch"),
        (["--pages", "all"], "--pages all: no such place"),
        (["--pages", "-1"], "--pages -1: no such place"),
        (["--pages", "1", "--first-touch", "serial"], "--first-touch serial with --pages 1"),
        (["--pages", "1", "--model", "density"], "--pages belongs to the saturation model"),
        (["--bind", "spread", "--model", "density"], "--bind belongs to the saturation model"),
        (["--runtime", "gcc", "--model", "density"], "--runtime belongs to the saturation model"),
        (["--threads", "81"], "81 threads"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line(
    source: str, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    done = call(monkeypatch, capsys, "predict", source, "-m", NODE, "--no-cache", *words)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_hardware_threads_may_be_asked_for(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = hints(monkeypatch, capsys, source, "--threads", "40,80")
    assert [point["threads"] for point in found["regions"][0]["speedup"]] == [40, 80]
    assert found["regions"][0]["threads"] == 40
    assert found["regions"][1]["threads"] == 80
