"""A few mutants of each kind through the HTML page, as `make fuzz` does with thousands."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_fuzz import BATCH, SMALL, findings, mutant

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
