"""`compare` as a process, on a program measured for real: sizes and machines that differ."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
#include <stdlib.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64;
    double *a = malloc(n * sizeof *a);
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i % 64] += 1;
    printf("%g\\n", a[n / 2]);
    return 0;
}
"""


def _run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, a machine of this host's shape, and runs with 384 and 100 rows."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("measured")
    (folder / "p.c").write_text(PROGRAM)
    for words in (
        ("cc", "--", "gcc", "-O1", "-fopenmp", "-DN=100", "p.c", "-o", "p"),
        ("machines", "detect", "-o", "here.yaml"),
        ("measure", "--quiet-wait", "none", "--threads", "1,2", "--repeat", "1", "-o", "m.jsonl",
         "--", "./p", "384"),
        ("predict", "p.c", "-m", "here.yaml", "--set", "n=64", "-D", "N=50", "--format", "json",
         "-o", "hints.json"),
    ):  # fmt: skip
        done = _run(*words, folder=folder)
        assert done.returncode == 0, (words, done.stderr)
    return folder


def _compared(folder: Path, *words: str) -> tuple[dict[str, Any] | None, str]:
    done = _run("compare", *words, "m.jsonl", "--with-disturbed", "--format", "json", folder=folder)
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if done.stdout else 1)
    return (json.loads(done.stdout) if done.stdout else None), done.stderr


def test_hints_for_other_sizes_are_refused_in_one_line(measured: Path) -> None:
    document, said = _compared(measured, "hints.json")
    assert document is None
    assert said.count("\n") == 1
    assert "p.c:7 was measured with 384 iterations, predicted for 64" in said
    assert "compare takes --at-measured-sizes" in said


def test_at_measured_sizes_they_are_judged(measured: Path) -> None:
    document, said = _compared(measured, "hints.json", "--at-measured-sizes")
    assert document is not None, said
    assert [one["incomparable"] for one in document["regions"]] == [None, None]
    # The same as hints that were made for these sizes in the first place.
    again = _run(
        "predict", "p.c", "-m", "here.yaml", "--set", "n=384", "-D", "N=100", "--format", "json",
        "-o", "right.json", folder=measured,
    )  # fmt: skip
    assert again.returncode == 0
    right, _ = _compared(measured, "right.json")
    assert right is not None
    for anew, first in zip(document["regions"], right["regions"], strict=True):
        names = ("id", "bottleneck", "assumed", "hinted", "needed", "right", "loss", "seconds")
        assert [anew[name] for name in names] == [first[name] for name in names]
        # A hints file rounds to four places.
        assert anew["predicted_speedup"] == pytest.approx(first["predicted_speedup"], abs=1e-4)


def test_csv_has_times_utilization_and_score_by_threads(measured: Path) -> None:
    words = ("compare", "hints.json", "m.jsonl", "--at-measured-sizes", "--with-disturbed")
    done = _run(*words, "--format", "csv", folder=measured)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    document = json.loads(_run(*words, "--format", "json", folder=measured).stdout)
    known = {
        f"{own['id']} {threads}": (own, speedup)
        for own in document["regions"] for threads, speedup in own["predicted_speedup"].items()
    }  # fmt: skip
    assert [f"{row['region']} {row['threads']}" for row in rows] == list(known)
    summary = _run("measure", "--resume", "--quiet-wait", "none", "--threads", "1,2", "--repeat",
                   "1", "-o", "m.jsonl", "--format", "csv", "--", "./p", "384",
                   folder=measured)  # fmt: skip
    times = {f"{row['region'].split('/')[-1]} {row['threads']}": row
             for row in csv.DictReader(io.StringIO(summary.stdout))}  # fmt: skip
    for row, (own, predicted) in zip(rows, known.values(), strict=True):
        measured_row = times[f"{row['region']} {row['threads']}"]
        for column in ("seconds", "speedup", "utilization"):
            assert float(row[column]) == pytest.approx(float(measured_row[column])), column
        assert float(row["utilization"]) == pytest.approx(
            float(row["speedup"]) / int(row["threads"])
        )
        assert float(row["score"]) == pytest.approx(own["score"], abs=1e-4)
        assert float(row["predicted_speedup"]) == pytest.approx(predicted)
        assert (row["hinted"], row["needed"]) == (str(own["hinted"]), str(own["needed"]))


def test_changed_sources_are_not_predicted_anew(measured: Path) -> None:
    kept = (measured / "p.c").read_text()
    try:
        (measured / "p.c").write_text(kept.replace("a[i] = i", "a[i] = 2 * i"))
        document, said = _compared(measured, "hints.json", "--at-measured-sizes")
    finally:
        (measured / "p.c").write_text(kept)
    assert document is None
    assert said.count("\n") == 1
    assert "recorded from other sources" in said


def test_hints_that_do_not_say_what_was_asked_for(measured: Path) -> None:
    old = json.loads((measured / "hints.json").read_text())
    del old["request"]
    (measured / "old.json").write_text(json.dumps(old))
    document, said = _compared(measured, "old.json", "--at-measured-sizes")
    assert document is None
    assert "old.json: does not contain the options of the prediction; predict again" in said


def test_a_request_of_null_is_none(measured: Path) -> None:
    old = json.loads((measured / "hints.json").read_text())
    (measured / "null.json").write_text(json.dumps({**old, "request": None}))
    document, said = _compared(measured, "null.json", "--at-measured-sizes")
    assert document is None
    assert "null.json: does not contain the options of the prediction; predict again" in said


@pytest.mark.parametrize(
    "words",
    [("--plot", "p.svg"), ("--min-success", "50"), ("--at-measured-sizes",), ("--tolerance", "10"),
     ("--criterion", "best")],
)  # fmt: skip
def test_by_size_judges_no_hints(measured: Path, words: tuple[str, ...]) -> None:
    done = _run("compare", "hints.json", "m.jsonl", "--by-size", *words, folder=measured)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"{words[0]} cannot be combined with --by-size" in done.stderr
    assert not (measured / "p.svg").exists()


def test_another_machine_is_refused_or_named(measured: Path) -> None:
    done = _run(
        "predict", "p.c", "-m", "dunnington", "--set", "n=384", "-D", "N=100", "--format", "json",
        "-o", "other.json", folder=measured,
    )  # fmt: skip
    assert done.returncode == 0
    document, said = _compared(measured, "other.json")
    assert document is None
    assert said.count("\n") == 1
    assert "the hints are for dunnington, 4 x 6 cores" in said
    document, _ = _compared(measured, "other.json", "--other-machine")
    assert document is not None
    assert "dunnington" in document["other_machine"]
    assert document["most"] == 24


def test_disturbed_runs_alone_are_refused(measured: Path) -> None:
    lines = [json.loads(line) for line in (measured / "m.jsonl").read_text().splitlines()]
    for line in lines:
        if line["kind"] == "run":
            line["beside"] = {"others": 1.0, "stolen": 0.0}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (measured / "loud.jsonl").write_text(text)
    done = _run("compare", "hints.json", "loud.jsonl", folder=measured)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "2 of 2 runs were disturbed: other processes kept up to 1.0 cores busy" in done.stderr
    assert "--with-disturbed" in done.stderr
    page = _run("compare", "hints.json", "loud.jsonl", "--at-measured-sizes", "--format", "html",
                "-o", "loud.html", folder=measured)  # fmt: skip
    assert page.returncode == 1
    assert "2 of 2 runs were disturbed" in page.stderr
    assert "their hints are judged anyway" in (measured / "loud.html").read_text()


def test_disturbed_runs_that_are_judged_are_told(measured: Path) -> None:
    lines = [json.loads(line) for line in (measured / "m.jsonl").read_text().splitlines()]
    for line in lines:
        if line["kind"] == "run":
            line["beside"] = {"others": 1.5, "stolen": 0.25}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (measured / "noisy.jsonl").write_text(text)
    told = ("2 of 2 runs were disturbed: other processes kept up to 1.5 cores busy, "
            "up to 25 % of the time was stolen")  # fmt: skip
    words = ("compare", "hints.json", "noisy.jsonl", "--with-disturbed", "--at-measured-sizes")
    done = _run(*words, folder=measured)
    assert done.returncode == 0, done.stderr
    assert f"{told}; their hints are judged anyway" in " ".join(done.stdout.split())
    done = _run(*words, "--format", "json", folder=measured)
    assert json.loads(done.stdout)["disturbed"] == [told]
    done = _run(*words, "--format", "html", folder=measured)
    assert "their hints are judged anyway" in done.stdout
    done = _run(*words, "noisy.jsonl", folder=measured)
    assert f"noisy.jsonl: {told}; their hints are judged anyway" in " ".join(done.stdout.split())
