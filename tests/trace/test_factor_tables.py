"""Factors that other tools have computed: tables by row and by column, and TALP's reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.report.rendered import rendered
from regionpredict.report.run_factors import factors_document
from regionpredict.trace.extrapolation import extrapolate_factors
from regionpredict.trace.factor_tables import read_factor_table
from regionpredict.trace.scaling import study_of

BY_ROW = """\
Number of processes;1;2;4
Parallel efficiency;100;72;60
Load balance;100;90;80
Communication efficiency;100;80;75
Serialization efficiency;100;100;93.75
Transfer efficiency;100;80;80
#
#Runtime (us);8000000;5000000;3000000
#Runtime (ideal);8000000;4000000;2400000
#Useful duration (total);8000000;7200000;7200000
#Useful instructions (total);1e9;1e9;1.1e9
#Useful cycles (total);2e9;2e9;2e9
"""
BY_COLUMN = """\
Number of Processes,Threads per Process,MPI Load Balance,MPI Communication Efficiency,Speedup
1,2,0.9,1,1
2,2,0.8,0.75,1.5
"""

HYBRID = """\
"Number of processes",4(1),8(2)
"Global efficiency",60.00,28.00
"-- Parallel efficiency",60.00,56.00
"   -- MPI Load balance",100.00,100.00
"   -- Load balance",75.00,80.00
"   -- Communication efficiency",80.00,70.00
"-- Computation scalability",100.00,50.00
"   -- IPC scalability",NaN,NaN
"   -- MPI Communication efficiency",90.00,87.50
"      -- Serialization efficiency",100.00,Non-Avail
"      -- Transfer efficiency",90.00,0.00
"""

REST = "Load balance;1\nCommunication;1\nRuntime;1\n"


def talp(folder: Path, ranks: int, cpus: int, **more: float) -> Path:
    """A report of one region whose ranks compute 6 s of 10, the busiest one 8."""
    region = {
        "numCpus": cpus,
        "numMpiRanks": ranks,
        "elapsedTime": 10_000_000_000,
        "usefulTime": 6_000_000_000 * cpus,
        "maxUsefulNormdProc": 8_000_000_000,
        "mpiLoadBalance": 0.9,
        "ompLoadBalance": 0.8,
        **more,
    }
    path = folder / f"talp{ranks}x{cpus}.json"
    path.write_text(json.dumps({"Application": {"solve": region, "Global": region}}))
    return path


def test_a_column_a_run(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(BY_ROW)
    study = study_of(read_factor_table(tmp_path / "f.csv"))
    last = study.runs[-1].factors
    assert (last.name, last.width, last.runtime_s) == ("f, 4", 4, 3)
    assert last.parallel == pytest.approx(0.6)
    assert (last.serialisation, last.transfer) == (pytest.approx(0.9375), pytest.approx(0.8))
    assert last.useful_s == pytest.approx(7.2)
    assert last.ideal_runtime_s == pytest.approx(2.4)
    assert study.runs[-1].computation == pytest.approx(8 / 7.2)
    assert study.runs[-1].instructions == pytest.approx(1 / 1.1)
    assert study.notes == ()
    assert "Ser is 'given'" in rendered(factors_document(study, None), "table")


def test_a_row_a_run_without_serialisation(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(BY_COLUMN)
    study = study_of(read_factor_table(tmp_path / "f.csv"))
    assert study.widths == (2, 4)
    second = study.runs[1]
    assert second.factors.parallel == pytest.approx(0.6)
    assert second.factors.transfer is None
    assert second.speedup == pytest.approx(1.5)
    found = extrapolate_factors(study, [8])
    assert "communication" in found.models and "transfer" not in found.models
    with pytest.raises(UsageError, match="unknown factor 'transfer'"):
        extrapolate_factors(study, [8], {"transfer": "pipeline"})
    assert found.points[0].dominating == "communication"
    table = rendered(factors_document(study, found), "table")
    assert "comm" in table
    assert '"serialisation": null' in rendered(factors_document(study, found), "json")


def test_a_report_of_talp(tmp_path: Path) -> None:
    (run,) = read_factor_table(talp(tmp_path, 4, 4))
    assert (run.ranks, run.width, run.runtime_s) == (4, 4, 10)
    assert run.load_balance == pytest.approx(6 / 8)
    assert run.communication == pytest.approx(8 / 10)
    assert run.instructions is None
    # with threads, the balances that TALP gives; parallel efficiency is 60 % all the same
    (hybrid,) = read_factor_table(talp(tmp_path, 2, 8, instructions=5e9), "solve")
    assert (hybrid.ranks, hybrid.width) == (2, 8)
    assert hybrid.load_balance == pytest.approx(0.72)
    assert hybrid.parallel == pytest.approx(0.6)
    assert hybrid.instructions == 5e9


def test_a_hybrid_table_without_run_times(tmp_path: Path) -> None:
    """Ser x Trf is communication of MPI alone. The speedup is 0.5 x (8 x 56 %) / (4 x 60 %)."""
    (tmp_path / "f.csv").write_text(HYBRID)
    study = study_of(read_factor_table(tmp_path / "f.csv"))
    first, second = study.runs
    assert [run.factors.communication for run in study.runs] == pytest.approx([0.8, 0.7])
    assert (first.factors.serialisation, second.factors.transfer) == (None, None)
    assert second.factors.parallel == pytest.approx(0.56)
    assert second.computation == pytest.approx(0.5)
    assert second.global_efficiency == pytest.approx(0.28)
    assert second.speedup == pytest.approx(0.5 * 4.48 / 2.4)
    assert study.notes[0].startswith("no run times: speedups and scalabilities count as")
    table = rendered(factors_document(study, None), "table")
    assert "run time" not in table
    assert "Efficiency of 2 runs: f, 4 to f, 8" in rendered(factors_document(study, None), "html")
    (tmp_path / "g.csv").write_text(BY_ROW)
    with pytest.raises(InputError, match="f, 4 has no run time, but other runs have"):
        study_of(read_factor_table(tmp_path / "f.csv") + read_factor_table(tmp_path / "g.csv"))


def test_a_parallel_efficiency_with_the_losses_of_threads(tmp_path: Path) -> None:
    """Half of the 80 % that MPI leaves: communication is 40 % / 100 %."""
    (tmp_path / "f.csv").write_text(
        "Number of processes;2\nHybrid Parallel Efficiency;0.4\nMPI Parallel Efficiency;0.8\n"
        "MPI Load Balance;1\nMPI Communication Efficiency;0.8\nRuntime (s);2;\n"
    )
    (run,) = read_factor_table(tmp_path / "f.csv")
    assert (run.parallel, run.communication, run.runtime_s) == (0.4, 0.4, 2)
    assert "x load balance has another value" in run.notes[0]


def test_counters_of_0_were_not_read(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"Number of processes;1\nInstructions;0\n{REST}")
    (run,) = read_factor_table(tmp_path / "f.csv")
    assert run.instructions is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1;2\n", "has no numbers of processes"),
        ("Number of processes;1;2\nLoad balance;1\n", "not as many values of 'load_balance'"),
        ("Number of processes;1\nLoad balance;x\n", "'x' is not a number"),
        ("Number of processes;1\nLoad balance;1\nRuntime;1\n", "has no communication efficiency"),
        ("Number of processes;1\nLoad balance;1\nParallel efficiency;1\n", "has no run time"),
        (
            "Number of processes;1\nLoad balance;-1\nCommunication;1\nRuntime;1\n",
            "load balance of 1 processes: -1 is out of range",
        ),
        ("", "has no numbers of processes"),
        ("Number of processes;1\n", "has no numbers of processes"),
        ("Number of processes;nan\n" + REST, "'nan' is not a number"),
        ("Number of processes;inf\n" + REST, "'inf' is not a number"),
        ("Number of processes;0\n" + REST, "number of 0 processes: 0 is out of range"),
        ("Number of processes;1e30\n" + REST, "number of 1e\\+30 processes: 1e\\+30 is out"),
        ("Number of processes;1\nThreads per process;0\n" + REST, "threads of 1 processes: 0 is"),
        ("Number of processes;1\nSpeedup;1e-320\n" + REST[:-10], "run time of 1 processes: inf is"),
        ("Number of processes;1\nInstructions;-1\n" + REST, "instructions of 1 processes: -1 is"),
        ("Number of processes;1\nx;" + "9" * 200_000, "not a table of POP metrics"),
    ],
)
def test_tables_that_lack_something(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_factor_table(tmp_path / "f.csv")


NAMES = ("popMetrics", "list", "Application")


@pytest.mark.parametrize("place", NAMES)
def test_reports_of_several_versions(tmp_path: Path, place: str) -> None:
    """2 ranks compute 5 s and 9 s of 10, which TALP prints as 0.78 and 0.90."""
    region = {"name": "Global", "numCpus": 2, "numMpiRanks": 2, "elapsedTime": 10_000_000_000,
              "usefulTime": 14_000_000_000, "mpiTime": 6_000_000_000, "instructions": -3,
              "minMpiNormdProc": 1_000_000_000, "mpiLoadBalance": 0.78}  # fmt: skip
    regions = [region] if place == "list" else {"Global": region}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({NAMES[0] if place == "list" else place: regions}))
    (run,) = read_factor_table(path)
    assert run.load_balance == pytest.approx(7 / 9)
    assert run.communication == pytest.approx(0.9)
    assert run.instructions is None


def test_a_report_of_ranks_with_threads(tmp_path: Path) -> None:
    """Of 40 s on 2 x 2 CPUs, 24 s are useful, 8 s in MPI and 8 s imbalance of threads. A CPU is in
    MPI for 2 s on average, and for 1 s on the busiest rank.
    """
    region = {"numCpus": 4, "numMpiRanks": 2, "elapsedTime": 10_000_000_000,
              "usefulTime": 24_000_000_000, "mpiTime": 8_000_000_000,
              "ompLoadImbalanceTime": 8_000_000_000, "minMpiNormdProc": 1_000_000_000,
              "mpiLoadBalance": 0.89, "ompLoadBalance": 0.80}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"Application": {"Global": region}}))
    (run,) = read_factor_table(path)
    assert run.load_balance == pytest.approx(8 / 9 * 32 / 40)
    assert run.parallel == pytest.approx(0.6)
    # another model: the printed balance counts
    region["mpiLoadBalance"] = 0.95
    path.write_text(json.dumps({"Application": {"Global": region}}))
    (run,) = read_factor_table(path)
    assert run.load_balance == pytest.approx(0.95 * 32 / 40)


def test_reports_that_lack_something(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no region 'x'; there are: solve, Global"):
        read_factor_table(talp(tmp_path, 1, 1), "x")
    (tmp_path / "a.json").write_text('{"Application": {}}')
    with pytest.raises(InputError, match="there are: none"):
        read_factor_table(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"popMetrics": [{"name": "MPI Execution"}]}')
    with pytest.raises(InputError, match=r"'popMetrics\[0\].numCpus' is missing"):
        read_factor_table(tmp_path / "b.json")
    with pytest.raises(InputError, match="usefulTime' is not positive"):
        read_factor_table(talp(tmp_path, 1, 1, usefulTime=0))
