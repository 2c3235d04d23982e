"""BT and SP at class S: they build, verify on one and on four threads, and can fail to verify.

The verification inside the programs compares with the published norms to a relative 1e-8. The
facts files are held against the source text: every worksharing loop, its function and the trip
counts of its perfectly nested loops.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

SAMPLES = Path(__file__).resolve().parents[2] / "npb_samples"
COMPILER = os.environ.get("CC") or "gcc"
PROGRAMS = ("bt", "sp")
PROBLEM_SIZE = 12  # class S, both programs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which(COMPILER.split()[0]) is None or shutil.which("make") is None,
        reason="needs a C compiler and make",
    ),
]

Build = Callable[[str, str], Path]


def run(program: Path, threads: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    environment |= {"OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(
        [program], env=environment, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_s_verifies(build: Build, program: str, threads: int) -> None:
    result = run(build(program, ""), threads)
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith("Verification: SUCCESSFUL\n")
    assert f"{threads} threads" in result.stdout
    assert "DIFFERS" not in result.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_another_time_step_fails_to_verify(build: Build, program: str) -> None:
    result = run(build(program, "-DDT_SCALE=1.0001 -O1"), 2)
    assert result.returncode == 1
    assert result.stdout.endswith("Verification: FAILED\n")
    assert "DIFFERS" in result.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_another_grid_is_taken_and_fails_to_verify(build: Build, program: str) -> None:
    result = run(build(program, "-DGRID_POINTS=14 -DGRID_STEPS=3"), 2)
    assert "grid 14 x 14 x 14, 3 steps" in result.stdout
    assert result.returncode == 1
    assert result.stdout.endswith("Verification: FAILED\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_timed_region_ran(build: Build, program: str) -> None:
    table = re.findall(r"^(\w+) +(\d+) +(\d+\.\d+) ", run(build(program, ""), 1).stdout, re.M)
    steps = {"bt": 60, "sp": 100}[program]
    calls = {name: int(count) for name, count, _ in table}
    assert calls["x_solve"] == calls["y_solve"] == calls["z_solve"] == calls["add"] == steps
    assert set(calls.values()) == {1, steps}  # set-up once, all else in every step


def worksharing_loops(program: str) -> list[tuple[str, str, list[int], int]]:
    """Read from the text: file, function, trip counts of the perfect nest, collapsed loops."""
    found = []
    for path in sorted((SAMPLES / program).glob("*.c")):
        function = ""
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if start := re.match(r"(?:static )?(?:inline )?\w+ (\w+)\(.*[^;]$", line):
                function = start[1]
            if not re.match(r"\s*#pragma omp (parallel )?for\b", line):
                continue
            collapse = re.search(r"collapse\((\d)\)", line)
            trips = []
            for below in lines[number + 1 :]:
                loop = re.match(r"\s*for \(int (\w) = (\w+); \1 < ([^;]+); \1\+\+\)", below)
                if not loop:
                    break
                trips.append(value(loop[3]) - value(loop[2]))
                if below.endswith("{"):
                    break
            found.append((path.name, function, trips, int(collapse[1]) if collapse else 1))
    return found


def value(expression: str) -> int:
    """An expression in PROBLEM_SIZE at class S."""
    assert re.fullmatch(r"(PROBLEM_SIZE|\d+|[-+*() ])+", expression), expression
    return int(eval(expression, {"PROBLEM_SIZE": PROBLEM_SIZE}))


@pytest.mark.parametrize("program", PROGRAMS)
def test_facts_name_every_worksharing_loop(program: str) -> None:
    facts = yaml.safe_load((SAMPLES / program / f"{program}.facts.yaml").read_text())
    regions = [(file["source"], region) for file in facts["sources"] for region in file["regions"]]
    loops = worksharing_loops(program)
    assert len(loops) >= 20
    assert [(source, region["function"]) for source, region in regions] == [
        loop[:2] for loop in loops
    ]
    for (_, region), (_, function, trips, collapsed) in zip(regions, loops, strict=True):
        expected = 1
        for trip in trips[:collapsed]:
            expected *= trip
        assert value(region["iterations"]) == expected, function
        stated = [value(trip) for trip in region["loops"]]
        assert stated[: len(trips)] == trips, function
        dims = {name: a["dims"] for name, a in region["arrays"].items() if a["counted"]}
        assert set(dims.values()) == {max(a["dims"] for a in region["arrays"].values())}, function


def test_enough_worksharing_loops() -> None:
    assert sum(len(worksharing_loops(program)) for program in PROGRAMS) >= 25
