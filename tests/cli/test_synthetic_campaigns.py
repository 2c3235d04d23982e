"""Campaigns whose right answers are known, each through the commands as a process: what is measured
of a machine in part, at other sizes, on another machine, or of programs that disagree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "dunnington"  # 4 packages of 6 cores
HOST = Host("node7", "a processor", 4, 6, 1, 1)
COMPUTES, STREAMS, BRIEF = 7, 10, 13
PROGRAM = """\
#include <math.h>
#include <stdlib.h>
int main(void)
{
    int n = N;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = exp(sin(exp(sin(exp(sin(exp(sin(1.0 * i))))))));
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] += a[i];
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
        a[i] += 1.0;
}
"""
SIZES = {COMPUTES: 4_000_000, STREAMS: 4_000_000, BRIEF: 8}
Times = Mapping[int, Mapping[int, float]]  # line -> threads -> seconds
# By threads: the first is faster on every core, the second on the cores of the first package
# alone, the third never.
WHOLE = {
    COMPUTES: {1: 24.0, 6: 4.0, 12: 2.0, 18: 4 / 3, 24: 1.0},
    STREAMS: {1: 2.0, 6: 1.0, 12: 0.98, 18: 0.97, 24: 0.97},
    BRIEF: {1: 1e-6, 6: 2e-6, 12: 3e-6, 18: 4e-6, 24: 5e-6},
}
NEEDED = {COMPUTES: 4, STREAMS: 1, BRIEF: 1}


def _call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def _refusal(folder: Path, *words: str) -> str:
    """What the one line says by which it is refused."""
    done = _call(folder, *words)
    assert done.returncode == 1 and done.stdout == "", done.stdout
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("regionpredict:")]
    assert "Traceback" not in done.stderr
    return line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program and the hints of both models."""
    made = tmp_path_factory.mktemp("synthetic")
    (made / "p.c").write_text(PROGRAM)
    for model in ("saturation", "density"):
        done = _call(made, "predict", "p.c", "-m", MACHINE, "-D", "N=4000000", "--model", model,
                     "--format", "json", "-o", f"{model}.json")  # fmt: skip
        assert done.returncode == 0, done.stderr
    return made


def _measured(
    folder: Path, times: Times, threads: tuple[int, ...], host: Host = HOST,
    sizes: Mapping[int, int] = SIZES,
) -> None:  # fmt: skip
    """A campaign of `p.c` on these threads, as m.jsonl."""
    (folder / "m.jsonl").unlink(missing_ok=True)
    store = Store(folder / "m.jsonl")
    store.begin(Campaign(("./p",), host, {"places": "cores"}, "2024-05-02T10:00:00+00:00"))
    for count in threads:
        regions = tuple(
            RegionRun(str(folder / "p.c"), line, line + 1, "main", "omp parallel for", "gcc", 1,
                      by[count], by[count], by[count], by[count], 1, sizes[line], sizes[line],
                      sizes[line], count, count)
            for line, by in times.items()
        )  # fmt: skip
        store.add(Run(count, 0, False, 1.0, "now", 0.1, "/p", "gcc", "libgomp", regions))


def _verdicts(folder: Path, *words: str) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    done = _call(folder, "compare", *words, "m.jsonl", "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return document, {region["line"]: region for region in document["regions"]}


def _hinted(folder: Path) -> dict[int, int]:
    document = json.loads((folder / "saturation.json").read_text())
    return {region["line"]: region["packages"] for region in document["regions"]}


@pytest.mark.parametrize("threads", [(1, 6, 12, 18, 24), (1, 6, 12), (1, 6, 12, 18)])
def test_packages_of_a_machine_in_part(folder: Path, threads: tuple[int, ...]) -> None:
    """What needs four packages needs at least as many as were measured."""
    most = threads[-1] // 6
    _measured(folder, WHOLE, threads)
    document, verdicts = _verdicts(folder, "saturation.json")
    assert (document["options"], document["most"]) == (list(range(1, most + 1)), 4)
    for line, hint in _hinted(folder).items():
        needed, hinted = min(NEEDED[line], most), min(hint, most)
        assert (verdicts[line]["needed"], verdicts[line]["hinted"]) == (needed, hinted)
        assert verdicts[line]["right"] == (needed == hinted)
    rate = document["success"]
    assert rate["judged"] == 3
    assert rate["right"] == sum(verdict["right"] for verdict in verdicts.values())


@pytest.mark.parametrize("model", ["saturation", "density"])
def test_areas_of_a_machine_in_part(folder: Path, model: str) -> None:
    """Utilisations of 12 cores: all, 2.04 / 12 and 1 / 36, the second and twice the first area."""
    _measured(folder, WHOLE, (1, 6, 12))
    document, verdicts = _verdicts(folder, f"{model}.json", "--criterion", "utilisation")
    assert {line: verdict["needed"] for line, verdict in verdicts.items()} == {
        COMPUTES: 2, STREAMS: 1, BRIEF: 1,
    }  # fmt: skip
    known = json.loads((folder / f"{model}.json").read_text())["regions"]
    for region in known:
        hinted = min(region["packages"], 2)
        if model == "density":  # the score is one of the two areas' itself
            hinted = 1 if region["score"] <= 0.5 else 2
        assert verdicts[region["line"]]["hinted"] == hinted
    assert document["success"]["judged"] == 3


def test_a_package_count_between_those_measured_is_not_judged(folder: Path) -> None:
    """One and four packages were measured: whether two would do is not known where four are needed;
    where one is enough, two are wrong."""
    hints = json.loads((folder / "saturation.json").read_text())
    for region in hints["regions"]:
        region["packages"] = 2
    (folder / "two.json").write_text(json.dumps(hints))
    _measured(folder, WHOLE, (1, 6, 24))
    document, verdicts = _verdicts(folder, "two.json")
    assert document["options"] == [1, 4]
    assert {line: verdict["right"] for line, verdict in verdicts.items()} == {
        COMPUTES: None, STREAMS: False, BRIEF: False,
    }  # fmt: skip
    assert verdicts[COMPUTES]["incomparable"] == "hinted 2 packages, which were not measured"
    assert document["success"]["judged"] == 2


def test_fewer_packages_than_measured_are_at_most_so_many(folder: Path) -> None:
    _measured(folder, WHOLE, (1, 12, 24))
    _, verdicts = _verdicts(folder, "saturation.json")
    assert (verdicts[STREAMS]["needed"], verdicts[BRIEF]["needed"]) == (2, 2)
    assert verdicts[BRIEF]["right"] is True


def test_other_sizes_are_refused(folder: Path) -> None:
    _measured(folder, WHOLE, (1, 6, 12), sizes=dict.fromkeys(SIZES, 384))
    line = _refusal(folder, "compare", "saturation.json", "m.jsonl")
    assert "p.c:7 was measured with 384 iterations, predicted for 4000000" in line


def test_one_other_size_is_not_judged(folder: Path) -> None:
    _measured(folder, WHOLE, (1, 6, 12), sizes={**SIZES, COMPUTES: 384})
    document, verdicts = _verdicts(folder, "saturation.json")
    assert verdicts[COMPUTES]["right"] is None
    assert document["success"]["judged"] == 2
    assert verdicts[COMPUTES]["speedup_error"] is verdicts[COMPUTES]["time_ratio"] is None


@pytest.mark.parametrize("shape", [(2, 6), (4, 4), (1, 24)])
def test_another_machine_is_refused(folder: Path, shape: tuple[int, int]) -> None:
    packages, cores = shape
    host = replace(HOST, packages=packages, cores_per_package=cores)
    _measured(folder, WHOLE, (1, 6, 12), host=host)
    line = _refusal(folder, "compare", "saturation.json", "m.jsonl")
    assert f"measured on node7, {packages} x {cores} cores, the hints are for dunnington" in line
    document, _ = _verdicts(folder, "saturation.json", "--other-machine")
    assert document["other_machine"].startswith("measured on node7")
    line = _refusal(folder, "calibrate", "p.c", "-D", "N=4000000", "--from", "m.jsonl", "-m",
                    MACHINE, "-o", "new.yaml")  # fmt: skip
    assert f"measured on {packages} x {cores} cores, dunnington has 4 x 6" in line
    assert not (folder / "new.yaml").exists()
