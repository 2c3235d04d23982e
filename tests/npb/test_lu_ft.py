"""LU and FT at class S: they build, verify on one and on four threads, and can fail to verify.

The programs compare with the published figures themselves (LU: norms and surface integral to a
relative 1e-8; FT: checksums to 1e-12). FT's checksums are also computed anew with numpy's FFT.
The facts files are held against the loop headers of the source text, and the rows of LU's waves
against a count of the interior's rows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).resolve().parents[2] / "npb_samples"
COMPILER = os.environ.get("CC") or "gcc"
PROGRAMS = ("lu", "ft")

LU_WAVE = 5
CLASS_S: dict[str, dict[str, int]] = {  # what the macros of a program stand for at class S
    "lu": {"NX": 12, "NY": 12, "NZ": 12, "NCOMP": 5, "wave": LU_WAVE,
           "I_FIRST": 1, "I_LAST": 10, "J_FIRST": 1, "J_LAST": 9, "K_FIRST": 2, "K_LAST": 10,
           "first": 1, "last": LU_WAVE - 1},
    "ft": {"NX": 64, "NY": 64, "NZ": 64, "NXP": 65, "NMAX": 64, "FFTBLOCK": 16,
           "CHECKSUM_POINTS": 1024},
}  # fmt: skip

needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER.split()[0]) is None or shutil.which("make") is None,
    reason="needs a C compiler and make",
)

Build = Callable[[str, str], Path]


def run(program: Path, threads: int) -> subprocess.CompletedProcess[str]:
    # Passive waiting: with more threads than free cores, spinning at LU's barriers takes minutes.
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false",
                   "OMP_WAIT_POLICY": "passive"}  # fmt: skip
    return subprocess.run(
        [program], env=environment, capture_output=True, text=True, check=False, timeout=600
    )


@needs_compiler
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_s_verifies(build: Build, program: str, threads: int) -> None:
    result = run(build(program, ""), threads)
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith("Verification: SUCCESSFUL\n")
    assert f"{threads} threads" in result.stdout
    assert "DIFFERS" not in result.stdout


@needs_compiler
@pytest.mark.parametrize(
    ("program", "define"), [("lu", "-DOMEGA=1.2001"), ("ft", "-DFT_ALPHA=1.0001e-6")]
)
def test_a_wrong_constant_fails_to_verify(build: Build, program: str, define: str) -> None:
    result = run(build(program, define), 2)
    assert result.returncode == 1
    assert result.stdout.endswith("Verification: FAILED\n")
    assert "DIFFERS" in result.stdout


@needs_compiler
@pytest.mark.parametrize(
    ("program", "define", "told"),
    [
        ("lu", "-DGRID_POINTS=14 -DGRID_STEPS=3", "grid 14 x 14 x 14, 3 steps"),
        ("ft", "-DGRID_POINTS=32", "grid 32 x 32 x 32, 6 steps"),
    ],
)
def test_another_grid_is_taken_and_fails_to_verify(
    build: Build, program: str, define: str, told: str
) -> None:
    result = run(build(program, define), 2)
    assert told in result.stdout
    assert result.returncode == 1
    assert result.stdout.endswith("Verification: FAILED\n")


def calls(output: str) -> dict[str, int]:
    """The table of regions at the end of the output: name, and how often it was timed."""
    return {
        name: int(count) for name, count in re.findall(r"^(\w+) +(\d+) +\d+\.\d+ +\d", output, re.M)
    }


@needs_compiler
def test_lu_times_every_region(build: Build) -> None:
    steps, waves = 50, 12 + 12 - 4 - 2 + 1
    assert calls(run(build("lu", ""), 2).stdout) == {
        **dict.fromkeys(["boundary_zeta", "boundary_eta", "boundary_xi"], 1),
        **dict.fromkeys(["set_initial_values", "fill_exact", "residual_norm", "error_norm"], 1),
        **dict.fromkeys(["surface_zeta", "surface_eta", "surface_xi"], 1),
        # The forcing, the residual before the first step, and one residual in each step.
        **dict.fromkeys(["add_fluxes_xi", "add_fluxes_eta", "add_fluxes_zeta"], steps + 2),
        "start_residual": steps + 1,
        **dict.fromkeys(["scale_residual", "update_solution"], steps),
        **dict.fromkeys(["lower_blocks", "lower_solve"], steps * waves),
        **dict.fromkeys(["upper_blocks", "upper_solve"], steps * waves),
    }


@needs_compiler
def test_ft_times_every_region(build: Build) -> None:
    steps = 6
    assert calls(run(build("ft", ""), 2).stdout) == {
        **dict.fromkeys(["roots", "touch_arrays", "fill_twiddle", "initial_state"], 1),
        **dict.fromkeys(["fft_x", "fft_y", "fft_z"], steps + 1),
        **dict.fromkeys(["evolve", "checksum"], steps),
    }


def nas_random(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The first `count` numbers of x -> 5^13 x mod 2^46 from 314159265, as fractions of 2^46."""
    values = np.empty(count)
    seed, mask = 314159265, 2**46 - 1
    for index in range(count):
        seed = 5**13 * seed & mask
        values[index] = seed / 2**46
    return values


@needs_compiler
def test_ft_checksums_are_those_of_numpy(build: Build) -> None:
    n = 64
    numbers = nas_random(2 * n**3)
    state = np.fft.fftn((numbers[::2] + 1j * numbers[1::2]).reshape(n, n, n))  # [z][y][x]
    wave = np.fft.fftfreq(n, 1 / n) ** 2
    square = wave[:, None, None] + wave[None, :, None] + wave[None, None, :]
    q = np.arange(1, 1025)
    output = run(build("ft", ""), 4).stdout
    printed = [float(x) for x in re.findall(r"computed (\S+)", output)]
    for step in range(1, 7):
        u = np.fft.ifftn(state * np.exp(-4e-6 * np.pi**2 * square * step))
        expected = u[5 * q % n, 3 * q % n, q % n].sum()
        assert printed[2 * step - 2] == pytest.approx(expected.real, rel=1e-12)
        assert printed[2 * step - 1] == pytest.approx(expected.imag, rel=1e-12)


def value(program: str, expression: str) -> int:
    """An expression in the macros of a program, at class S."""
    assert re.fullmatch(r"(\w+|[-+*/(), ])+", expression), expression
    names = {**CLASS_S[program], "min": min, "max": max}
    return int(eval(expression.replace("/", "//"), {"__builtins__": {}}, names))


def trip_count(program: str, header: str) -> int | None:
    """Of a `for` header: first and last value, a step of one or of a named amount."""
    loop = re.match(
        r"\s*for \(int (\w+) = ([^;]+); \1 (<|<=|>=) ([^;]+); \1(\+\+|--| \+= (\w+))\)", header
    )
    if not loop:
        return None
    start, stop = value(program, loop[2]), value(program, loop[4])
    step = value(program, loop[6]) if loop[6] else 1
    return (abs(stop - start) + (loop[3] != "<") + step - 1) // step


def worksharing_loops(program: str) -> list[tuple[str, str, list[int], int]]:
    """Read from the text: file, function, trip counts of the perfect nest, collapsed loops."""
    found = []
    for path in sorted((SAMPLES / program).glob("*.c")):
        function = ""
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if start := re.match(r"(?:static )?\w+ (\w+)\([^;]*$", line):
                function = start[1]
            if not re.match(r"\s*#pragma omp (parallel )?for\b", line):
                continue
            collapse = re.search(r"collapse\((\d)\)", line)
            trips = []
            for below in lines[number + 1 :]:
                trips_here = trip_count(program, below)
                if trips_here is None:
                    break
                trips.append(trips_here)
            found.append((path.name, function, trips, int(collapse[1]) if collapse else 1))
    return found


def facts(program: str) -> list[dict[str, Any]]:
    text = (SAMPLES / program / f"{program}.facts.yaml").read_text()
    regions: list[dict[str, Any]] = yaml.safe_load(text)["regions"]
    return regions


@pytest.mark.parametrize(("program", "count"), [("lu", 19), ("ft", 9)])
def test_facts_name_every_worksharing_loop(program: str, count: int) -> None:
    loops = worksharing_loops(program)
    regions = facts(program)
    assert len(loops) == count
    assert [(r["source"], r["function"]) for r in regions] == [loop[:2] for loop in loops]
    for region, (_, function, trips, collapsed) in zip(regions, loops, strict=True):
        assert trips, function
        assert value(program, region["iterations"]) == int(np.prod(trips[:collapsed])), function
        stated = [value(program, trip) for trip in region["loops"]]
        assert stated[: len(trips)] == trips, function
        largest = max(array["dims"] for array in region["arrays"].values())
        counted = {array["dims"] for array in region["arrays"].values() if array["counted"]}
        assert counted == {largest}, function


@pytest.mark.parametrize("n", [5, 12, 33])
def test_lu_waves_cover_the_interior_once(n: int) -> None:
    rows = dict.fromkeys(range(2, 2 * n - 3), 0)
    for k in range(1, n - 1):
        for j in range(1, n - 1):
            rows[j + k] += 1
    [trips] = {r["iterations"] for r in facts("lu") if r["source"] == "lu_sweep.c"}
    names = {"NY": n, "NZ": n, "min": min, "max": max}
    assert rows == {wave: eval(trips, {}, {**names, "wave": wave}) for wave in rows}
