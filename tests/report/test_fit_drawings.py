"""Drawings of models: what they hold is asked of the figure, and files of their bytes."""

from __future__ import annotations

import numpy as np
import pytest
from further_cases import further_slow

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb

from regionpredict.errors import InputError, UsageError
from regionpredict.fit.call_tree import call_trees
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.search.experiment_models import model_experiment
from regionpredict.report.call_tree import call_shares
from regionpredict.report.model_curves import model_curves
from regionpredict.report.plots import figure_bytes
from regionpredict.report.plots.canvas import COLOURS, DASHES, MARKERS
from regionpredict.report.plots.drawn import figure_of
from regionpredict.report.plots.maps import contour_figure, surface_figure


def curves_figure(models, **options):
    return figure_of(model_curves(models, **options))


def shares_figure(tree, **options):
    return figure_of(call_shares(tree, **options))


POWERS = (2.0, 4.0, 8.0, 16.0, 32.0)


def models_of(functions, spread=0.0):
    series = tuple(
        Series(
            name, "time", ("p",), tuple((p,) for p in POWERS),
            tuple([f(p) * (1 - spread), f(p), f(p) * (1 + spread)] for p in POWERS),
        )
        for name, f in functions.items()
    )  # fmt: skip
    return model_experiment(Experiment(series))


def model_of_two():
    places = tuple((p, n) for p in POWERS for n in (10.0, 20.0, 40.0, 80.0, 160.0))
    series = Series("main", "time", ("p", "n"), places, tuple([3 + 2 * p * n] for p, n in places))
    return model_experiment(Experiment((series,))).models[0]


TWO = {"main": lambda p: 3 + 2 * p, "main->solve": lambda p: 5 + p * p}


def test_curves_have_points_with_their_spread_curves_and_bands():
    figure = curves_figure(models_of(TWO, 0.1).models)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "p"
    assert axes.get_ylabel() == "time"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["main: 3 + 2*p", "main->solve: 5 + 1*p^2", "measured up to here"]
    curves = {line.get_label(): line for line in axes.get_lines()}
    x, y = curves["main: 3 + 2*p"].get_data()
    assert (x[0], x[-1]) == (2.0, pytest.approx(128.0))  # four times the largest measured value
    assert y == pytest.approx(3 + 2 * x)
    points, _, (bars,) = axes.containers[0]
    assert points.get_xdata().tolist() == list(POWERS)
    assert points.get_ydata() == pytest.approx([3 + 2 * p for p in POWERS])
    low, high = bars.get_segments()[0][:, 1]  # at p = 2: 7 and a tenth of it
    assert (low, high) == (pytest.approx(6.3), pytest.approx(7.7))
    bands = [one for one in axes.collections if one.get_label().startswith("_child")]
    assert len(bands) >= 2


def test_ticks_stand_at_what_was_measured():
    (axes,) = curves_figure(models_of(TWO).models).axes
    assert axes.get_xscale() == "log"
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks[:5] == ["2", "4", "8", "16", "32"]
    assert len(ticks) > 5  # and round ones beyond


def test_a_constant_is_seen_from_0_up_and_many_models_below():
    (axes,) = curves_figure(models_of({"a": lambda p: 5.0}).models).axes
    assert axes.get_ylim() == pytest.approx((0.0, 5.25))
    many = curves_figure(models_of({f"f{k}": lambda p, k=k: k + p for k in range(9)}).models)
    (legend,) = many.legends
    assert len(legend.get_texts()) == 6 + 1  # and where measurements end
    assert many.axes[0].get_legend() is None


def test_an_upright_stands_where_a_segment_ends():
    places = tuple(float(2**k) for k in range(12))
    series = Series(
        "a", "time", ("p",), tuple((p,) for p in places),
        tuple([f, f] for f in (10 + p if p <= 32 else 3 * p**2 for p in places)),
    )  # fmt: skip
    models = model_experiment(Experiment((series,))).models
    assert models[0][1].pieces
    (axes,) = curves_figure(models).axes
    uprights = [line for line in axes.get_lines() if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in uprights] == [48.0]  # between 32 and 64


def test_curves_reach_as_far_as_asked():
    (axes,) = curves_figure(models_of(TWO).models, until=1e6).axes
    assert axes.get_lines()[0].get_xdata()[-1] == pytest.approx(1e6)
    with pytest.raises(InputError, match="curves from p = 2 to 1 are empty"):
        curves_figure(models_of(TWO).models, until=1.0)


def test_a_model_of_two_parameters_along_one_says_the_other():
    (axes,) = curves_figure([model_of_two()], parameter="n", fixed={"p": 4}).axes
    label, _ = (text.get_text() for text in axes.get_legend().get_texts())
    assert label == "main p = 4: 3 + 2*p*n"
    points, *_ = axes.containers[0]
    assert points.get_ydata() == pytest.approx([3 + 8 * n for n in (10, 20, 40, 80, 160)])
    with pytest.raises(InputError, match="no parameter 'q'; the parameters are p, n"):
        curves_figure([model_of_two()], parameter="q")


@pytest.mark.parametrize("draw", [contour_figure, surface_figure])
def test_maps_of_two_parameters(draw):
    figure = draw(*model_of_two())
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("p", "n")
    assert "3 + 2*p*n" in axes.get_title()
    with pytest.raises(InputError, match="needs two free parameters, there are n"):
        draw(*model_of_two(), {"p": 2.0})


def test_all_labels_of_a_surface_are_in_the_picture():
    figure = surface_figure(*model_of_two())
    figure.draw_without_rendering()
    axes = figure.axes[0]
    picture = figure.bbox
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        label = axis.label.get_window_extent()
        assert label.width > 0
        assert picture.x0 <= label.x0 and label.x1 <= picture.x1
        assert picture.y0 <= label.y0 and label.y1 <= picture.y1


def test_a_contour_shows_where_it_was_measured():
    axes = contour_figure(*model_of_two()).axes[0]
    (points,) = (line for line in axes.get_lines() if line.get_marker() == "o")
    assert len(points.get_xdata()) == 25


def test_shares_are_stacked_to_a_hundred():
    functions = {f"main->f{k}": lambda p, k=k: (k + 1) * p for k in range(9)}
    (tree,) = call_trees(models_of(functions))
    (axes,) = shares_figure(tree, until=1000.0).axes
    tops = [bar.get_y() + bar.get_height() for bar in axes.patches]
    assert max(tops) == pytest.approx(100.0)
    assert len(axes.patches) == 13 * 6
    figure = shares_figure(tree)
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[0] == "main->f8"  # the largest, with 9 of 45 parts
    assert labels[-1] == "the others"
    with pytest.raises(InputError, match="no parameter 'n'"):
        shares_figure(tree, fixed={"n": 3.0})


def seen(colour, matrix):
    return np.clip(matrix @ np.array(to_rgb(colour)), 0, 1)


# Linear approximations of what dichromats see (Viénot, Brettel and Mollon 1999, in sRGB).
PROTAN = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])
DEUTAN = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])


def test_models_differ_in_colour_for_all_eyes_and_in_print():
    for matrix in (np.eye(3), PROTAN, DEUTAN):
        colours = [seen(colour, matrix) for colour in COLOURS[:6]]
        apart = [np.linalg.norm(a - b) for k, a in enumerate(colours) for b in colours[:k]]
        assert min(apart) > 0.1
    assert len(set(MARKERS)) == len(set(DASHES)) == len(COLOURS)


@pytest.mark.parametrize(
    ("form", "begins"),
    further_slow(1, [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF-")]),
)
def test_bytes_are_of_the_format_and_always_the_same(form, begins):
    first, second = (figure_bytes(curves_figure(models_of(TWO).models), form) for _ in range(2))
    assert first.startswith(begins)
    assert first == second


def test_odd_names_and_formats():
    odd = {"_a$b": lambda p: p, "operator<<\n": lambda p: 3.0}
    assert figure_bytes(curves_figure(models_of(odd).models), "svg")
    with pytest.raises(UsageError, match="no drawing can be 'gif'"):
        figure_bytes(curves_figure(models_of(TWO).models), "gif")
    with pytest.raises(InputError, match="no model to draw"):
        curves_figure([])
