"""`regionpredict.api`: the same measurements in every shape give the same models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regionpredict.api import fit, fit_file, fit_table
from regionpredict.errors import InputError, UsageError

POWERS = [2, 4, 8, 16, 32]
REAL = Path(__file__).parents[1] / "fit" / "real_files"


def repeated():
    return [[3 + 2 * p - 0.5, 3 + 2 * p + 0.5] for p in POWERS]


@pytest.mark.parametrize(
    "points", [POWERS, [(p,) for p in POWERS], np.array(POWERS), np.array(POWERS)[:, None],
               {"p": POWERS}, {"p": np.array(POWERS)}]
)  # fmt: skip
@pytest.mark.parametrize("values", [repeated(), np.array(repeated()), [3 + 2 * p for p in POWERS]])
def test_arrays(points, values):
    model = fit(points, values)
    assert model.parameters == ("p",)
    assert model.predict(100) == pytest.approx(203.0)
    assert str(model) == "3 + 2*p"
    assert model.growth == "p"


def test_repetitions_of_different_number():
    model = fit(POWERS, [[7.0], [11.0, 11.0], [19.0], [35.0] * 3, [67.0, float("nan")]])
    assert model.predict(100) == pytest.approx(203.0)


def test_several_parameters():
    grid = [(p, n) for p in POWERS for n in (10, 20, 40, 80, 160)]
    times = [3 + 2 * p * n for p, n in grid]
    for model in (
        fit(grid, times, parameters=["p", "n"]),
        fit({"p": [p for p, _ in grid], "n": [n for _, n in grid]}, times),
    ):
        assert model.parameters == ("p", "n")
        assert model.predict(64, 100) == model.predict(n=100, p=64) == pytest.approx(12803)
        assert model.predict([[64, 100], [2, 10]]) == pytest.approx([12803, 43])
        assert model.predict([64, 100]) == pytest.approx(12803)
    assert fit(grid, times).parameters == ("x1", "x2")


def test_predictions_of_one_parameter():
    model = fit(POWERS, repeated())
    assert model.predict(p=100) == pytest.approx(203.0)
    assert model.predict([1, 100]) == pytest.approx([5.0, 203.0])
    assert model.predict(np.array([[1], [100]])) == pytest.approx([5.0, 203.0])
    band = model.interval(100)
    assert band.low <= 203.0 <= band.high
    assert "times the largest" in model.doubt(1e6)
    for wrong in ((1, 2), ()):
        with pytest.raises(InputError, match="does not fit the parameters p"):
            model.predict(*wrong)
    with pytest.raises(InputError, match="does not fit the parameters p"):
        model.predict(n=3)


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (POWERS, [1.0, 2.0], "2 values for 5 points"),
        (["a", "b"], [1.0, 2.0], "'a' is not all numbers"),
        (POWERS[:3], [1, 2, 3], "3 different points, at least 5 are needed"),
        ([-1, *POWERS], [1] * 6, "p = -1 is below zero"),
        (POWERS, [1e80] * 5, "a measured value is not 0 or between 1e-60 and 1e+60"),
        (POWERS, [1e-80] * 5, "a measured value is not 0 or between 1e-60 and 1e+60"),
        (POWERS, ["x"] * 5, "'x' is not all numbers"),
        (np.zeros((2, 2, 2)), [1, 2], "points of 3 dimensions"),
    ],
)
def test_wrong_arrays_are_one_line(points, values, message):
    with pytest.raises(InputError) as caught:
        fit(points, values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def columns():
    """Two kernels over p, two repetitions each: 3 + 2p and 5 + p^2/2, half apart."""
    rows = [
        (kernel, p, r, f(p) + r - 0.5)
        for kernel, f in (("copy", lambda p: 3 + 2 * p), ("sort", lambda p: 5 + p * p / 2))
        for p in POWERS
        for r in (0, 1)
    ]
    names = ("kernel", "p", "rep", "time")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def as_frame():
    return pytest.importorskip("pandas").DataFrame(columns())


def as_series():
    frame = as_frame()
    return frame.set_index(["kernel", "p", "rep"])["time"]


def as_array():
    xarray = pytest.importorskip("xarray")
    values = np.array(columns()["time"]).reshape(2, 5, 2)
    places = {"kernel": ["copy", "sort"], "p": POWERS}
    return xarray.DataArray(values, places, ("kernel", "p", "rep"), name="time")


def as_rows():
    table = columns()
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


SHAPES = {
    "columns": columns,
    "rows": as_rows,
    "pandas": as_frame,
    "pandas index": lambda: as_frame().set_index(["kernel", "p"]),
    "pandas series": as_series,
    "xarray": as_array,
    "xarray dataset": lambda: as_array().to_dataset(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_tables(shape):
    models = fit_table(SHAPES[shape]())
    assert [model.name for model in models] == ["kernel=copy", "kernel=sort"]
    assert [model.series.metric for model in models] == ["time", "time"]
    assert models["kernel=copy"].series.points == tuple((float(p),) for p in POWERS)
    assert [list(v) for v in models["kernel=copy"].series.values] == repeated()
    assert models["kernel=sort"].predict(100) == pytest.approx(5005)


def test_chosen_columns():
    table = {"size": POWERS, "threads": [1, 1, 2, 1, 1], "a": POWERS, "b": [9.0] * 5}
    models = fit_table(table, values=["a", "b"], parameters="size")
    assert [(model.series.metric, str(model)) for model in models] == [("a", "1*size"), ("b", "9")]
    by = fit_table({**columns(), "node": [f"n{k}" for k in range(20)]}, by="kernel")
    assert [model.name for model in by] == ["kernel=copy", "kernel=sort"]


@pytest.mark.parametrize(
    ("data", "choices", "message"),
    [
        ({"p": [1, 2], "time": [1]}, {}, "the columns differ in length: p has 2, time has 1"),
        ({"p": [1, 2], "joules": [1, 2]}, {}, "no column has a known name for measured values"),
        ({"p": [1, 2], "time": [1, 2]}, {"values": "x"}, "no column 'x'; the columns are p, time"),
        ({"p": [1, 2], "time": [1, 2]}, {"by": "x"}, "no column 'x'"),
        ({"p": [1, 2], "time": [1, 2]}, {"parameters": "x"}, "no variable 'x'"),
        ({"p": [1, 2], "time": ["a", "b"]}, {}, "'a' is not a number"),
        ({"p": [1, 1], "time": [1, 2]}, {}, "no number changes"),
        ({"p": [], "time": []}, {}, "no measurements found"),
        (7, {}, "a table cannot be a int"),
    ],
)
def test_wrong_tables_are_one_line(data, choices, message):
    with pytest.raises(InputError) as caught:
        fit_table(data, **choices)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files():
    models = fit_file(REAL / "summaries.extra-p")
    assert [model.name for model in models] == ["main", "main->solve"]
    assert models["main->solve"].predict(64) == pytest.approx(5 + 1 / 16 + 64 * 64 / 2)
    assert [model.name for model in models.matching("sol*")] == ["main->solve"]
    assert models.by_growth()[0].name == "main->solve"
    assert "Most is spent in main->solve" in models.tree({"p": 1e6})
    assert json.loads(models.to_json())["schema"] == "regionpredict/models/1"
    with pytest.raises(InputError, match="there are 2 models"):
        _ = models.only
    with pytest.raises(InputError, match="0 models are called 'x'; there are main, main->solve"):
        _ = models["x"]


def test_series_without_a_model_are_said():
    models = fit_table({"p": [*POWERS, 1, 2], "k": ["a"] * 5 + ["b"] * 2, "time": [1.0] * 7})
    assert [model.name for model in models] == ["k=a"]
    assert "k=b, time: 2 different points" in str(models.problems[0])
    assert "k=b, time: 2 different points" in models._repr_html_()
    assert models.only.name == "k=a"


def test_a_notebook_shows_tables_and_formulas():
    model = fit(POWERS, repeated(), name="<b>")
    html = model._repr_html_()
    assert "<td>&lt;b&gt;</td>" in html
    assert "<td>3 + 2*p</td>" in html
    assert "<b>" not in html
    assert model._repr_latex_() == "$3 + 2 \\cdot p$"
    assert repr(model) == "<Model <b> 3 + 2*p>"


def test_models_are_compared():
    first, second = (
        fit(POWERS, repeated(), name="a"),
        fit(POWERS, [p * p for p in POWERS], name="b"),
    )
    lines = str(first.compare(second, at=[100])).splitlines()
    assert lines[0].split() == [
        "name", "metric", "model", "growth", "SMAPE", "%", "left-out", "%", "at", "100"
    ]  # fmt: skip
    assert lines[1].endswith("203")
    assert lines[2].endswith("1e+04")
    assert "<th>at 100</th>" in first.compare(second, at=[100])._repr_html_()


def test_models_draw_themselves(tmp_path):
    pytest.importorskip("matplotlib")
    model = fit(POWERS, repeated())
    figure = model.plot(tmp_path / "a.png")
    assert figure.axes
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    models = fit_table(columns())
    models.plot(tmp_path / "b.pdf")
    models.plot_shares(tmp_path / "c.svg")
    assert (tmp_path / "b.pdf").stat().st_size > 1000
    assert (tmp_path / "c.svg").stat().st_size > 1000
    grid = [(p, n) for p in POWERS for n in (10, 20, 40, 80, 160)]
    two = fit(grid, [p * n for p, n in grid])
    assert two.plot().axes[0].get_ylabel() == "x2"
    assert two.plot(drawing="surface").axes
    assert two.plot(fixed={"x1": 2}).axes[0].get_xlabel() == "x2"
    with pytest.raises(UsageError, match="no drawing can be 'gif'"):
        model.plot(tmp_path / "a.gif")


def test_nothing_of_other_libraries_is_imported():
    code = (
        "import sys, regionpredict.api as api; print(api.fit([1,2,3,4,5], [1,2,3,4,5]));"
        "print([m for m in ('pandas', 'xarray', 'matplotlib', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"
