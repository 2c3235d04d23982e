"""The drawn programs: the same for a seed, read as a loop of `work`, and measured as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from doubtful_programs import KINDS, program
from judge_doubtful import judged
from measure_doubtful import KEYS, settled
from metrics import calibration_error

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

TIMES = {
    "doubtful_programs.csv": (1, 2),
    "doubtful_programs_16_cores.csv": (1, 2, 4, 8, 16),
}
"""Thread counts by file."""


@pytest.mark.parametrize("seed", range(len(KINDS)), ids=list(KINDS))
def test_each_kind_is_a_loop_that_is_read(tmp_path: Path, seed: int) -> None:
    drawn = program(seed)
    assert drawn == program(seed) and drawn.kind == list(KINDS)[seed]
    (tmp_path / "work.c").write_text(drawn.text)
    facts = analyse(requests_for([str(tmp_path / "work.c")]), {}).facts
    loops = [one for one in facts if one.region.function == "work"]
    assert loops and loops[0].status != "skipped"


@pytest.mark.parametrize("name", TIMES)
def test_measured_rows_are_of_drawn_programs(name: str) -> None:
    fields = [f"seconds_{threads}" for threads in TIMES[name]]
    with (Path(__file__).parent / name).open() as file:
        rows = list(csv.DictReader(file))
    assert rows and tuple(rows[0]) == (*KEYS, *fields)
    for row in rows:
        assert program(int(row["seed"])).kind == row["kind"]
        assert all(float(row[field]) > 0 for field in fields)


def test_two_runs_have_to_agree() -> None:
    assert not settled([1.0, 1.01])
    assert settled([1.2, 1.0, 1.04])
    assert not settled([1.2, 1.0, 1.1])


@pytest.mark.slow  # predicts 87 programs
def test_confidence_holds_on_16_cores() -> None:
    found = judged()
    assert {one.kind for one in found} == set(KINDS)
    sure = [one for one in found if one.confidence >= 0.8]
    assert len(sure) >= len(found) / 3
    assert sum(one.right for one in sure) >= 0.9 * len(sure)
    assert calibration_error([one.confidence for one in found], [one.right for one in found]) < 0.13
