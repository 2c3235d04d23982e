"""The drawn programs: the same for a seed, read as a loop of `work`, and measured as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from doubtful_programs import KINDS, program
from measure_doubtful import KEYS, settled

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

MEASURED = Path(__file__).parent / "doubtful_programs.csv"


@pytest.mark.parametrize("seed", range(len(KINDS)), ids=list(KINDS))
def test_each_kind_is_a_loop_that_is_read(tmp_path: Path, seed: int) -> None:
    drawn = program(seed)
    assert drawn == program(seed) and drawn.kind == list(KINDS)[seed]
    (tmp_path / "work.c").write_text(drawn.text)
    facts = analyse(requests_for([str(tmp_path / "work.c")]), {}).facts
    loops = [one for one in facts if one.region.function == "work"]
    assert loops and loops[0].status != "skipped"


def test_measured_rows_are_of_drawn_programs() -> None:
    with MEASURED.open() as file:
        rows = list(csv.DictReader(file))
    assert rows and tuple(rows[0]) == (*KEYS, "seconds_1", "seconds_2")
    for row in rows:
        assert program(int(row["seed"])).kind == row["kind"]
        assert float(row["seconds_1"]) > 0 and float(row["seconds_2"]) > 0


def test_two_runs_have_to_agree() -> None:
    assert not settled([1.0, 1.01])
    assert settled([1.2, 1.0, 1.04])
    assert not settled([1.2, 1.0, 1.1])
