"""Profiles of TAU and reports of TALP, written by hand after their formats."""

import json

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.input import read

RUNS = [(p, repetition) for p in (2, 4, 8, 16, 32) for repetition in (0, 1)]


def series(path):
    return {(s.callpath, s.metric): s for s in read(path).series}


def values(one):
    return {point: list(seen) for point, seen in zip(one.points, one.values, strict=True)}


def tau(functions, metric="MULTI_TIME"):
    """A profile of functions with calls and exclusive value."""
    lines = [f"{len(functions)} templated_functions_{metric}"]
    lines.append("# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>")
    lines += [
        f'"{name}" {calls} 0 {value} {value} 0 GROUP="TAU_USER"' for name, calls, value in functions
    ]
    return "\n".join([*lines, "0 aggregates", "1 userevents", '"Memory" 1 2 3 4 5'])


def test_a_folder_of_tau_profiles(tmp_path):
    for p, repetition in RUNS:
        run = tmp_path / f"run.p{p}.r{repetition}"
        run.mkdir()
        solve = ("main => solve [{solve.c} {3,1}-{9,2}]", 2, 1e6 * p * p + repetition)
        (run / "profile.0.0.0").write_text(tau([("main", 1, 3e6), solve, ("solve", 2, 7e6)]))
        (run / "profile.1.0.0").write_text(tau([("main", 1, 5e6)]))
    found = series(tmp_path)
    # The flat entry of solve repeats the call path; rank 1 does not call it.
    names = {(name, metric) for name in ("main", "main->solve") for metric in ("time", "calls")}
    assert set(found) == names
    assert values(found["main", "time"])[4.0,] == [4.0, 4.0]
    assert values(found["main->solve", "time"])[4.0,] == pytest.approx([8.0, 8.0 + 0.5e-6])
    assert values(found["main->solve", "calls"])[4.0,] == [1.0, 1.0]


def test_tau_profiles_without_call_paths_and_with_counters(tmp_path):
    for p, repetition in RUNS:
        run = tmp_path / f"ms2_p{p}_r{repetition}"
        for metric, value in (("TIME", 2e6), ("PAPI_TOT_INS", 100 * p)):
            folder = run / f"MULTI__{metric}"
            folder.mkdir(parents=True)
            text = tau([("int f(int) C", 1, value)], f"MULTI_{metric}")
            (folder / "profile.0.0.0").write_text(text)
    found = series(tmp_path)
    assert set(found) == {("int f(int) C", m) for m in ("time", "calls", "PAPI_TOT_INS")}
    assert values(found["int f(int) C", "PAPI_TOT_INS"])[8.0,] == [800.0, 800.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "not a TAU profile"), ("2 templated_functions\n#\nwrong\n", "not a line of a function")],
)
def test_a_broken_tau_profile_is_a_problem(tmp_path, text, message):
    for p in (2, 4):
        (tmp_path / f"run.p{p}").mkdir()
    (tmp_path / "run.p2" / "profile.0.0.0").write_text(tau([("main", 1, 1.0)]))
    (tmp_path / "run.p4" / "profile.0.0.0").write_text(text)
    found = read(tmp_path)
    assert len(found.problems) == 1
    assert message in str(found.problems[0])


def report(p, repetition, place):
    """A report of TALP: `solve` takes `p` seconds and an eighth of one in odd repetitions."""
    region = {"elapsedTime": int(1e9 * (p + repetition / 8)), "parallelEfficiency": 1 - p / 64}
    return {
        "dlbVersion": "3.5.0",
        "timestamp": "2026-01-01T00:00:00",
        place: {"Global": {"elapsedTime": 5 * 10**9}, "solve": {"name": "solve", **region}},
        "resources": {"numCpus": 2 * p, "numMpiRanks": p},
    }


@pytest.mark.parametrize("place", ["Application", "popMetrics"])
def test_a_folder_of_talp_reports(tmp_path, place):
    for p, repetition in RUNS:
        (tmp_path / f"{p}_{repetition}.json").write_text(json.dumps(report(p, repetition, place)))
    found = series(tmp_path)
    assert set(found) == {
        ("Global", "elapsedTime"),
        ("solve", "elapsedTime"),
        ("solve", "parallelEfficiency"),
    }
    solve = found["solve", "elapsedTime"]
    assert solve.parameters == ("numMpiRanks",)
    assert sorted(values(solve)[8.0,]) == pytest.approx([8.0, 8.125])
    assert values(found["solve", "parallelEfficiency"])[32.0,] == [0.5, 0.5]


def test_a_report_of_talp_without_regions_is_one_line(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"dlbVersion": "3.5.0"}')
    with pytest.raises(InputError, match=r"'Application' is missing"):
        read(path)
