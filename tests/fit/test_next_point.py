"""What to measure next."""

import json
import subprocess
import sys

import numpy as np
import pytest

from regionpredict.errors import InputError
from regionpredict.fit import fit
from regionpredict.fit.search.next_point import next_point

P = [4, 8, 16, 32, 64]


def noisy(truth, points, noise, seed=0):
    rng = np.random.default_rng(seed)
    return [(truth(p) * (1 + noise * rng.normal(size=5))).tolist() for p in points]


def test_the_point_parts_the_candidates_and_costs_what_it_costs():
    model = fit(P, noisy(lambda p: 10 + 0.1 * np.sqrt(p), P, 0.05))
    found = next_point(model)
    assert found.point[0] in (128, 256)  # the next two of the series
    assert 0.05 < found.decides <= 1
    assert len(found.between) == 2
    assert not found.stop
    expected = 5 * found.point[0] * model.predict(found.point) / 3600
    assert found.core_hours == pytest.approx(expected)


def test_evenly_spaced_series_go_on_evenly():
    sizes = [10, 20, 30, 40, 50]
    model = fit(sizes, noisy(lambda n: 10 + 0.1 * n, sizes, 0.05))
    assert next_point(model).point[0] in (60, 70)


def test_no_price_without_processors_or_time():
    model = fit(P, noisy(lambda p: 10 + 0.1 * np.sqrt(p), P, 0.05))
    assert next_point(model, processors=None).core_hours is None
    assert next_point(model, seconds=None).core_hours is None


def test_lines_alone_do_not_tell_a_sum_from_a_product():
    points = [(p, 100.0) for p in P] + [(4.0, n) for n in (200.0, 300.0, 400.0, 500.0)]
    model = fit(points, noisy(lambda x: 3 + 0.002 * x[0] * x[1], points, 0.02))
    p, n = next_point(model).point
    assert p > 4 and n > 100  # off both lines


def test_it_says_when_to_stop():
    points = [2**k for k in range(1, 13)]
    model = fit(points, noisy(lambda p: 5 + 0.2 * p * p, points, 0.001))
    assert next_point(model).stop


def test_the_target_has_a_number_for_each_parameter():
    model = fit(P, noisy(lambda p: 10 + p, P, 0.05))
    with pytest.raises(InputError, match="the point has 2 numbers"):
        next_point(model, (1.0, 2.0))


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from regionpredict.cli.main import program; program()", "fit"]
        + [str(a) for a in arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def table(tmp_path):
    rows = noisy(lambda p: 10 + 0.1 * np.sqrt(p), P, 0.05)
    lines = ["PARAMETER p", "POINTS " + " ".join(f"( {p} )" for p in P), "REGION main"]
    lines += ["METRIC time", *("DATA " + " ".join(map(str, row)) for row in rows)]
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_suggests(table):
    found = run(table, "--suggest")
    assert (found.returncode, found.stderr) == (0, "")
    assert "measure next" in found.stdout
    assert "core hours" in found.stdout
    data = json.loads(run(table, "--suggest", "--format", "json").stdout)
    [point] = data["next_points"]
    assert point["point"]["p"] in (128, 256)
    assert point["core_hours"] > 0


def test_wrong_calls_of_it_say_what_is_wrong(table):
    found = run(table, "--suggest", "--format", "csv")
    assert (found.returncode, found.stdout) == (2, "")
    assert "--suggest has no CSV form" in found.stderr
    found = run(table, "--suggest", "--processors", "cores")
    assert (found.returncode, found.stdout) == (1, "")
    assert "no parameter 'cores'" in found.stderr


def test_segments_belong_to_the_command(tmp_path):
    points = [2**k for k in range(1, 13)]
    rows = noisy(lambda p: 3 + 0.5 * p if p < 100 else 200 + 40 * np.log2(p), points, 0.02)
    lines = ["p,time", *(f"{p},{v}" for p, row in zip(points, rows, strict=True) for v in row)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    options = ("--parameter", "p", "--value", "time", "--format", "json")
    [model] = json.loads(run(path, *options).stdout)["models"]
    assert [(piece["first"], piece["last"]) for piece in model["pieces"]] == [(2, 64)]
    [model] = json.loads(run(path, *options, "--segments", "1").stdout)["models"]
    assert model["pieces"] == []
