"""The table of factors says of teams, phases and definitions what the run has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regionpredict.report.rendered import rendered
from regionpredict.report.run_factors import factors_document
from regionpredict.trace.factors import EagerPoint, Initialized, RunFactors
from regionpredict.trace.iterations import Iterations
from regionpredict.trace.scaling import study_of
from regionpredict.trace.team_split import TeamSplit

RUN = RunFactors(
    name="heat",
    ranks=2,
    width=8,
    runtime_s=10.0,
    ideal_runtime_s=8.0,
    useful_s=40.0,
    useful_maximum_s=6.0,
    own_maximum_s=6.4,
    load_balance=40 / 48,
    serialisation=0.8,
    transfer=0.75,
    definition="reference",
    serialisations={"reference": 0.8, "useful": 0.75, "ideal-run": 0.9},
    eager=(EagerPoint(0.0, 16.0, 0.4), EagerPoint(float(2**62), 6.4, 1.0)),
    team=TeamSplit(4, 100, 0.5, 0.9, 0.8, 3.0),
)


def cells(table: str, head: str) -> list[str]:
    """The values of the row whose first cell is `head`."""
    line = next(line for line in table.splitlines() if line.strip().startswith(head))
    return line.strip().removeprefix(head).split()


def test_a_table_of_one_run() -> None:
    table = rendered(factors_document(study_of([RUN]), None), "table")
    assert cells(table, "parallel efficiency") == ["50.00"]  # 5/6 * 0.8 * 0.75
    assert cells(table, "communication") == ["60.00"]
    assert "speedup" not in table  # rows without any value are left out
    assert not [line for line in table.splitlines() if line.endswith(" -")]
    assert cells(table, "Ser, 'useful'") == ["75.00"]
    assert cells(table, "Ser, any eager limit") == ["40.00", "to", "100.00"]
    assert cells(table, "threads") == ["8", "(4", "a", "rank)"]
    assert cells(table, "efficiency of threads outside MPI, %") == ["36.00"]  # 0.5 * 0.9 * 0.8
    assert "serial part  " not in table  # 99.99 would read as nearly all serial


def test_iterations_are_told() -> None:
    found = Iterations(np.zeros((8, 4), dtype=np.int64), np.array([1.0, 1.0, 4.0]), 12)
    study = study_of([replace(RUN, iterations=found)])
    table = rendered(factors_document(study, None), "table")
    # mean 2, deviation sqrt((1 + 1 + 4) / 3) = sqrt(2): 70.7 % of 2
    assert "heat: 3 iterations, whose duration differs by 70.7 %" in table


def test_an_unlimited_eager_limit_is_null() -> None:
    text = rendered(factors_document(study_of([RUN]), None), "json")
    assert '"bytes": null' in text
    assert "Infinity" not in text


def test_the_first_line_names_a_long_initialization() -> None:
    """The whole run has 50.0 %. Without 40 % outside, 0.9 * 0.95 * 0.99 = 84.6 %."""
    part = Initialized(
        useful_s=30.0, left_out=0.4, load_balance=0.9, serialisation=0.95, transfer=0.99
    )
    run = replace(RUN, initialized=part)
    lead = factors_document(study_of([run]), None).lead[0]
    assert lead == (
        "Parallel efficiency on 8 processes: 50.0 %, or 84.6 % between MPI_Init and MPI_Finalize, "
        "where load balance loses most (efficiency 90.0 %)."
    )
    short = replace(run, initialized=replace(part, left_out=0.01))
    lead = factors_document(study_of([short]), None).lead[0]
    assert lead.endswith("8 processes: 50.0 %. Transfer loses most (efficiency 75.0 %).")
