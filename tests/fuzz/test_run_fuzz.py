"""A few mutants of each kind through the HTML page, as `make fuzz` does with thousands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from source_mutants import BATCH, SMALL, findings, mutant

from regionpredict.frontend import FRONTENDS
from regionpredict.machine import load

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("first", [1, 101, 201, 301])
def test_no_mutant_costs_an_answer(tmp_path: Path, frontend: str, first: int) -> None:
    numbers = range(first, first + BATCH)
    found = list(findings(numbers, frontend, tmp_path, load(str(SMALL))))
    assert not found, mutant(found[0][0])


def test_a_number_is_a_mutant() -> None:
    assert mutant(7) == mutant(7) != mutant(8)


def test_a_run_tries_each_reader_and_sums_up() -> None:
    words = ("--mutants", "0", "--inputs", "2", "--jobs", "2", "--only", "sizes", "--only", "DOT")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("run_fuzz.py"), *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "sizes                          2 of 2 tried, 0 findings\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("4 mutants in ")
