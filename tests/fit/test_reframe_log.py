"""Performance logs of ReFrame 4 become series over the test's parameters and tasks."""

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.input import read

HEADER = "result|job_completion_time|name|num_tasks|jobid|time_value|time_unit|time_ref|bw_value"


def log(path, rows):
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def test_every_variable_is_a_series_over_the_tasks(tmp_path):
    rows = [
        f"pass|2024-05-0{r}T10:00:00|solver /ab12|{p}|{100 * p + r}|{3 + p + r / 100}|s|0|{p * 2.0}"
        for p in (1, 2, 4, 8, 16)
        for r in (1, 2)
    ]
    experiment = read(log(tmp_path / "solver.log", rows))
    time, bandwidth = experiment.series
    assert (time.callpath, time.metric, time.parameters) == ("solver", "time", ("num_tasks",))
    assert time.points == ((1.0,), (2.0,), (4.0,), (8.0,), (16.0,))
    assert list(time.values[1]) == [5.01, 5.02]
    assert (bandwidth.metric, list(bandwidth.values[4])) == ("bw", [32.0, 32.0])


def test_parameters_of_the_test_are_parameters(tmp_path):
    rows = [f"pass|t|sort %n={n} /x{n}|4|{n}|{n / 7}|s|0|1" for n in (10, 20, 40, 80, 160)]
    experiment = read(log(tmp_path / "sort.log", rows))
    assert {series.parameters for series in experiment.series} == {("n",)}


def test_a_run_that_failed_is_a_problem(tmp_path):
    rows = [f"pass|t|f|{p}|1|{p}|s|0|1" for p in (1, 2, 4, 8)] + ["fail|t|f|16|1||s|0|"]
    experiment = read(log(tmp_path / "f.log", rows))
    assert experiment.series[0].points == ((1.0,), (2.0,), (4.0,), (8.0,))
    assert "f ended with fail" in str(experiment.problems[0])
    with pytest.raises(InputError, match="ended with fail"):
        read(log(tmp_path / "g.log", rows[-1:]))
