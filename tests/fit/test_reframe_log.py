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


# The columns of ReFrame's default configuration, as its documentation shows a log.
FULL = (
    "result|job_completion_time|descr|env_vars|environ|exclusive_access|jobid|modules|name|"
    "num_cpus_per_task|num_tasks|partition|copy_bw_value|copy_bw_unit|copy_bw_ref|"
    "copy_bw_lower_thres|copy_bw_upper_thres|short_name|system|unique_name"
)


def row(environ, name, tasks, value, partition="compute"):
    return (
        f"pass|2024-02-21T22:51:16||{{}}|{environ}|false|65||{name}|null|{tasks}|{partition}|"
        f"{value}|MB/s|0|None|None|stream_test|cluster|{name}"
    )


def test_environments_of_one_log_are_series_of_their_own(tmp_path):
    rows = [
        row(e, "stream_test", p, p * f)
        for p in (1, 2, 4, 8)
        for e, f in (("gnu", 10), ("clang", 7))
    ]
    (tmp_path / "stream_test.log").write_text("\n".join([FULL, *rows]) + "\n")
    gnu, clang = read(tmp_path / "stream_test.log").series
    assert (gnu.callpath, clang.callpath) == (
        "stream_test environ=gnu",
        "stream_test environ=clang",
    )
    assert [list(v) for v in clang.values] == [[7.0], [14.0], [28.0], [56.0]]


def test_parameters_that_are_texts_distinguish_series(tmp_path):
    rows = [
        row("gnu", f"stream_test %n={n} %bind={b}", 1, n * f)
        for n in (1, 2, 4, 8)
        for b, f in (("close", 3), ("spread", 5))
    ]
    (tmp_path / "stream_test.log").write_text("\n".join([FULL, *rows]) + "\n")
    close, spread = read(tmp_path / "stream_test.log").series
    assert (close.callpath, close.parameters) == ("stream_test bind=close", ("n",))
    assert [list(v) for v in spread.values] == [[5.0], [10.0], [20.0], [40.0]]


def test_a_folder_of_logs_is_read_by_partition(tmp_path):
    for partition, factor in (("cpu", 1), ("gpu", 2)):
        folder = tmp_path / "perflogs" / "cluster" / partition
        folder.mkdir(parents=True)
        rows = [row("gnu", "stream_test", p, p * factor, partition) for p in (1, 2, 4, 8)]
        (folder / "stream_test.log").write_text("\n".join([FULL, *rows]) + "\n")
        (folder / "reframe.log").write_text("[2024-02-21] info: reframe: started\n")
    cpu, gpu = read(tmp_path / "perflogs").series
    assert (cpu.callpath, gpu.callpath) == (
        "stream_test partition=cpu",
        "stream_test partition=gpu",
    )
    assert [list(v) for v in gpu.values] == [[2.0], [4.0], [8.0], [16.0]]
