"""Files of other tools, written by the tools themselves, and what is wrong with broken ones."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.fit.input import read
from regionpredict.fit.input.extrap_text import parse_text

REAL = Path(__file__).parent / "real_files"


def named(path, **choices):
    """The series of a file by call path and metric."""
    return {(s.callpath, s.metric): s for s in read(path, **choices).series}


def repetitions(series):
    return {point: list(values) for point, values in zip(series.points, series.values, strict=True)}


def test_an_archive_of_extra_p_without_repetitions_has_the_means():
    found = named(REAL / "summaries.extra-p")
    assert set(found) == {("main", "time"), ("main->solve", "time")}
    powers = (2.0, 4.0, 8.0, 16.0, 32.0)
    assert repetitions(found["main", "time"]) == {(p,): [3 + 2 * p + 1 / 16] for p in powers}
    assert repetitions(found["main->solve", "time"]) == {
        (p,): [5 + p * p / 2 + 1 / 16] for p in powers
    }


def test_an_archive_of_extra_p_with_its_repetitions():
    (series,) = named(REAL / "values.extra-p").values()
    assert series.parameters == ("p", "n")
    assert repetitions(series) == {
        (float(p), float(n)): [3.0 + 2 * p * n, 3.125 + 2 * p * n]
        for p in (2, 4, 8, 16, 32)
        for n in (10, 20, 40, 80, 160)
    }


def test_google_benchmark():
    entries = json.loads((REAL / "google_benchmark.json").read_text())["benchmarks"]
    found = named(REAL / "google_benchmark.json")
    assert set(found) == {
        (name, time) for name in ("sum_range", "sort_range") for time in ("real_time", "cpu_time")
    }
    assert found["sum_range", "cpu_time"].parameters == ("n",)
    assert found["sort_range", "cpu_time"].parameters == ("arg1",)  # the second is 8 throughout
    micro = [
        one["cpu_time"] for one in entries
        if one["name"] == "sum_range/n:512" and one["run_type"] == "iteration"
    ]  # fmt: skip
    assert len(micro) == 3
    assert repetitions(found["sum_range", "cpu_time"])[512.0,] == pytest.approx(
        [one * 1e-6 for one in micro]
    )


def test_pytest_benchmark():
    found = named(REAL / "pytest_benchmark.json")
    assert set(found) == {
        ("test_b.py::test_sum", "time"),
        ("test_b.py::test_sort kind=list", "time"),
        ("test_b.py::test_sort kind=tuple", "time"),
    }
    first = json.loads((REAL / "pytest_benchmark.json").read_text())["benchmarks"][0]
    assert first["params"] == {"n": 1000}
    assert repetitions(found["test_b.py::test_sum", "time"])[1000.0,] == first["stats"]["data"]
    for series in found.values():
        assert series.parameters == ("n",)
        assert [len(values) for values in series.values] == [5] * 5


def test_hyperfine():
    results = json.loads((REAL / "hyperfine.json").read_text())["results"]
    found = named(REAL / "hyperfine.json")
    assert set(found) == {("sleep {n}", "time")}
    assert repetitions(found["sleep {n}", "time"]) == {
        (float(one["parameters"]["n"]),): one["times"] for one in results
    }


def test_the_table_of_hyperfine_is_one_series():
    """Its commands differ at every point, which makes no series of them."""
    (series,) = named(REAL / "hyperfine.csv", parameters=["parameter_n"], values=["mean"]).values()
    assert [point[0] for point in series.points] == [0.01, 0.02, 0.03, 0.04, 0.05]


def test_likwid():
    found = named(REAL / "likwid.csv")
    assert {series.parameters for series in found.values()} == {("p",)}
    threads = (1, 2, 4, 8, 16)
    expected = {
        "INSTR_RETIRED_ANY": [1e6 * p * (p + 1) / 2 for p in threads],
        "CPU_CLK_UNHALTED_CORE": [2e6 * p for p in threads],
        "Runtime (RDTSC) [s]": [8 / p + 0.01 * p for p in threads],
        "Clock [MHz]": [2300.5] * 5,
        "CPI": [2.0] * 5,
        "Memory bandwidth [MBytes/s]": [1000.0 * p for p in threads],
    }
    assert {metric for _, metric in found} == set(expected)
    for metric, values in expected.items():
        series = found["", metric]
        assert [one for (one,) in series.points] == list(threads)
        assert [one[0] for one in series.values] == pytest.approx(values)


def test_a_folder_of_likwid_tells_sizes_by_its_names(tmp_path):
    table = "TABLE,Region solve,Group 1 Raw,MEM,1\nEvent,Counter,HWThread 0\nINSTR,FIXC0,{}\n"
    for n in (10, 20):
        for r in (1, 2):
            (tmp_path / f"triad.n{n}.r{r}.csv").write_text(table.format(n * n + r))
    (series,) = named(tmp_path).values()
    assert (series.callpath, series.metric, series.parameters) == ("solve", "INSTR", ("n",))
    assert repetitions(series) == {(10.0,): [101.0, 102.0], (20.0,): [401.0, 402.0]}


def caliper(p, repetition):
    """A profile of two ranks, as Hatchet's reader takes it: see real_files/README.md."""
    return {
        "data": [[0, rank, 1.0 + repetition / 8, 0] for rank in (0, 1)]
        + [[1, rank, 0.5 * p + repetition / 8, 1] for rank in (0, 1)]
        + [[2, rank, 0.25 * p * p + rank, 2] for rank in (0, 1)],
        "columns": ["Node order", "mpi.rank", "time", "path"],
        "column_metadata": [
            {"is_value": True, "attribute.alias": "Node order"},
            {"is_value": True},
            {"is_value": True, "attribute.alias": "time", "attribute.unit": "sec"},
            {"is_value": False},
        ],
        "nodes": [
            {"label": "main", "column": "path"},
            {"label": "solve", "column": "path", "parent": 0},
            {"label": "kernel", "column": "path", "parent": 1},
        ],
        "mpi.world.size": str(p),
        "jobsize": str(p),
        "launchdate": str(1685046480 + 100 * p + repetition),
        "problem_size": "30",
        "elapsed_time": str(1.5 + p + repetition / 7),
    }


def profiles(folder, **changes):
    for p in (2, 4, 8, 16, 32):
        for repetition in (0, 1):
            name = f"run.p{p}.r{repetition}.json"
            (folder / name).write_text(json.dumps({**caliper(p, repetition), **changes}))


def tree_of_profiles(found):
    names = ("main", "main->solve", "main->solve->kernel")
    assert set(found) == {(name, "time") for name in names}
    assert {series.parameters for series in found.values()} == {("mpi.world.size",)}
    solve = repetitions(found["main->solve", "time"])
    kernel = repetitions(found["main->solve->kernel", "time"])
    for p in (2.0, 4.0, 8.0, 16.0, 32.0):
        assert sorted(solve[p,]) == [p / 2, p / 2 + 1 / 8]
        assert kernel[p,] == [p * p / 4 + 0.5] * 2


def test_a_folder_of_caliper_profiles(tmp_path):
    profiles(tmp_path)
    tree_of_profiles(named(tmp_path))


def test_thicket(tmp_path):
    text = (REAL / "thicket.json").read_text()
    tree_of_profiles(named(REAL / "thicket.json"))
    data = json.loads(text)
    assert data.pop("profile_idx_name") == "profile"
    (tmp_path / "older.json").write_text(json.dumps(data))
    tree_of_profiles(named(tmp_path / "older.json"))


def test_other_globals_of_caliper_are_asked_for(tmp_path):
    profiles(tmp_path, **{"mpi.world.size": "1", "jobsize": "1"})
    with pytest.raises(InputError, match="--parameter: launchdate, elapsed_time change"):
        read(tmp_path)
    found = named(tmp_path, parameters=["elapsed_time"])
    assert {series.parameters for series in found.values()} == {("elapsed_time",)}


def test_a_broken_profile_is_one_problem(tmp_path):
    profiles(tmp_path)
    (tmp_path / "run.p2.r0.json").write_text("{")
    experiment = read(tmp_path)
    assert len(experiment.series) == 3
    assert len(experiment.problems) == 1
    assert "run.p2.r0.json:1:" in str(experiment.problems[0])


def ramble(n, status="SUCCESS", value="1.5"):
    """As `ramble workspace analyze --formats json` writes an experiment (schema of its results)."""
    return {
        "name": f"amg.problem1.scale_{n}",
        "RAMBLE_STATUS": status,
        "application_name": "amg",
        "workload_name": "problem1",
        "n_ranks": n,
        "n_nodes": 1,
        "RAMBLE_VARIABLES": {"n_ranks": str(n), "px": "2", "env_name": "amg"},
        "CONTEXTS": [
            {
                "name": "null",
                "display_name": "null",
                "foms": [
                    {"name": "Solve time", "value": value, "units": "s", "origin": "amg",
                     "origin_type": "application"},
                    {"name": "Version", "value": "none", "units": "", "origin": "amg",
                     "origin_type": "application"},
                ],
            }
        ],
    }  # fmt: skip


def test_benchpark(tmp_path):
    path = tmp_path / "results.json"
    experiments = [ramble(n, value=str(2.0 * n)) for n in (1, 2, 4, 8, 16)]
    path.write_text(json.dumps({"experiments": [*experiments, ramble(32, "FAILED")]}))
    experiment = read(path)
    (series,) = experiment.series
    assert (series.callpath, series.metric) == ("amg.problem1", "Solve time")
    assert series.parameters == ("n_ranks",)
    assert repetitions(series) == {(float(n),): [2.0 * n] for n in (1, 2, 4, 8, 16)}
    assert [str(one) for one in experiment.problems] == [
        f"{path}: amg.problem1.scale_32 ended with FAILED; run it again"
    ]


def test_tabs_divide_in_the_text_format():
    lines = ["PARAMETER\tp", "POINTS\t2\t4 8", "REGION\tmain", "METRIC\ttime",
             "DATA\t3\t4", "DATA 5\t6", "\tDATA\t7"]  # fmt: skip
    (series,) = parse_text(lines).series
    assert (series.callpath, series.metric) == ("main", "time")
    assert repetitions(series) == {(2.0,): [3, 4], (4.0,): [5, 6], (8.0,): [7]}


def test_columns_of_text_name_series(tmp_path):
    path = tmp_path / "a.csv"
    rows = [
        f"solve,{compiler},haswell,{p},{p * factor}"
        for compiler, factor in (("gcc", 2), ("clang", 3))
        for p in (1, 2, 4)
    ]
    path.write_text("\n".join(["region,compiler,host,p,time", *rows]) + "\n")
    found = named(path)
    assert set(found) == {("solve compiler=gcc", "time"), ("solve compiler=clang", "time")}
    assert repetitions(found["solve compiler=clang", "time"]) == {
        (1.0,): [3.0], (2.0,): [6.0], (4.0,): [12.0]
    }  # fmt: skip


def test_parameters_of_text_name_series_in_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(
            json.dumps({"params": {"p": p, "kind": kind}, "value": p}) + "\n"
            for kind in ("a", "b")
            for p in (1, 2)
        )
    )
    found = named(path)
    assert set(found) == {("kind=a", ""), ("kind=b", "")}
    assert {series.parameters for series in found.values()} == {("p",)}


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as made:
        for name, text in members.items():
            made.writestr(name.replace("_", "."), text)


BENCHMARKS = {"context": {}, "benchmarks": []}
FAILED = {"error_occurred": True, "error_message": "e"}
GOOGLE = {"name": "f/8", "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "ns"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"context": {"json_schema_version": 2}, "benchmarks": []}, "1 can be read"),
        (BENCHMARKS, "no measurements found"),
        ({**BENCHMARKS, "benchmarks": [{**GOOGLE, "time_unit": "weeks"}]}, "is 'weeks'"),
        ({**BENCHMARKS, "benchmarks": [{**GOOGLE, "real_time": "x"}]}, "must be a number"),
        ({**BENCHMARKS, "benchmarks": [{**GOOGLE, "name": 3}]}, "must be a string"),
        ({**BENCHMARKS, "benchmarks": [GOOGLE]}, "f: no number changes from run to run"),
        (
            {**BENCHMARKS, "benchmarks": [{**GOOGLE, **FAILED}]},
            "f/8 failed: e",
        ),
        ({"machine_info": {}, "benchmarks": [{"name": "a"}]}, "'benchmarks[0].stats' is missing"),
        ({"results": [{"command": "a"}]}, "'results[0].times' is missing"),
        ({"results": {}}, "must be a list"),
        ({"columns": ["a"], "nodes": [], "data": []}, "has no 'path'"),
        ({**caliper(2, 0), "data": [[0, 0, 1.0]]}, "must be a list of 4"),
        ({**caliper(2, 0), "data": [[0, 0, 1.0, 7]]}, "names the node 7"),
        (
            {**caliper(2, 0), "nodes": [{"label": "a", "column": "path", "parent": 0}]},
            "is not an earlier node",
        ),
        ({"dataframe": [], "graph": []}, "'metadata' is missing"),
        ({"experiments": [{}]}, "'experiments[0].name' is missing"),
        ({"experiments": [ramble(2, "FAILED")]}, "ended with FAILED"),
    ],
)  # fmt: skip
def test_broken_json_is_one_line(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_broken_archives_are_one_line(tmp_path):
    path = tmp_path / "a.extra-p"
    archive(path, other_json="{}")
    with pytest.raises(InputError, match=r"no experiment\.json in it"):
        read(path)
    archive(path, experiment_json="{")
    with pytest.raises(InputError, match="not an experiment of Extra-P"):
        read(path)
    whole = (REAL / "values.extra-p").read_bytes()
    for length in (10, len(whole) // 2, len(whole) - 8):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_an_encrypted_archive_is_one_line(tmp_path):
    path = tmp_path / "a.extra-p"
    archive(path, experiment_json="{}")
    data = bytearray(path.read_bytes())
    for flags in (6, data.index(b"PK\x01\x02") + 8):  # of the member, and of the directory
        data[flags] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"not an experiment of Extra-P: .*encrypted"):
        read(path)


@pytest.mark.parametrize("name", ["values.extra-p", "summaries.extra-p", "likwid.csv"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    """One line or measurements, whatever bytes are changed or missing."""
    whole = (REAL / name).read_bytes()
    chance = random.Random(1)
    path = tmp_path / name
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 2, 8])):
            at = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[at] = chance.randrange(256)
            else:
                del data[at : at + chance.randrange(1, 20)]
        path.write_bytes(data)
        try:
            read(path)
        except InputError as error:
            assert "\n" not in str(error)


def test_an_archive_that_names_missing_repetitions(tmp_path):
    path = tmp_path / "a.extra-p"
    place = {"coordinate": [1.0], "mean": 2.0, "values": [0, 0]}
    content = {"parameters": ["p"], "measurements": {"main": {"time": [place]}}}
    archive(path, experiment_json=json.dumps(content))
    with pytest.raises(InputError, match=r"no values/0\.indx in it"):
        read(path)


def test_a_table_of_likwid_with_too_few_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("TABLE,Group 1 Raw,MEM,1\nEvent,Counter,HWThread 0,HWThread 1\nINSTR,F,1\n")
    with pytest.raises(InputError, match=r"a\.csv:3: 3 cells, the table has 4"):
        read(path)


def test_names_of_parameters_where_the_format_has_its_own():
    with pytest.raises(UsageError, match="--parameter has no meaning for extra-p"):
        read(REAL / "values.extra-p", parameters=["p"])
    with pytest.raises(UsageError, match="--value has no meaning for json"):
        read(REAL / "hyperfine.json", values=["mean"])


def test_a_negative_parameter_is_one_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("PARAMETER t\nPOINTS -2 -1 0 3 4\nREGION a\n" + "DATA 1\n" * 5)
    with pytest.raises(InputError, match=r"a\.txt:3: a: t = -2 is below zero"):
        read(path)


def test_a_parameter_that_is_not_there():
    with pytest.raises(InputError, match="no variable 'm'; the variables are n"):
        read(REAL / "hyperfine.json", parameters=["m"])
