"""Drawings of predictions, efficiencies, traces and task graphs: what they hold is asked of the
figure, against values that are known without it."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from further_cases import further_slow

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes

from regionpredict.api import predict
from regionpredict.errors import InputError
from regionpredict.machine import load
from regionpredict.report.html.timeline import timeline_block
from regionpredict.report.plots import figure_bytes
from regionpredict.report.plots.drawn import figure_of
from regionpredict.report.plots.efficiency_contours import isoefficiency_figure
from regionpredict.report.plots.task_graph import graph_figure
from regionpredict.report.speedup_chart import program_speedup
from regionpredict.report.verdict_scatter import speedup_scatter
from regionpredict.tasks import graph_of_tasks, measure_graph
from regionpredict.tasks.isoefficiency.measured_times import (
    IsoefficiencyData,
    SizeGraph,
    SizeTime,
)
from regionpredict.tasks.isoefficiency.models import isoefficiency
from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from tests.report.test_result_pages import comparison

ROOT = Path(__file__).resolve().parents[2]
CODE = """\
#define N 4000000
static double a[N], b[N];
void copy(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void again(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void work(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        double x = a[i];
        for (int k = 0; k < 500; k++) x = x * 0.999 + 1.0;
        a[i] = x;
    }
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plots") / "loops.c"
    path.write_text(CODE)
    return path


def named(axes: Axes, kind: str) -> list:
    return [one for one in axes.get_children() if one.get_gid() == kind]


def test_curves_are_those_of_the_hints_with_packages_behind_them(source: Path) -> None:
    hints = predict(source, "dunnington")
    (axes,) = figure_of(program_speedup(hints.result.teams, hints.machine)).axes
    curves = {str(line.get_label()): line for line in axes.get_lines()}
    names = [name for name in curves if name.startswith("loops.c:")]
    # copy and again are the same loop: one line.
    assert len(names) == 2
    for name in names:
        hint = hints[name.split()[1].rstrip(":")]
        assert dict(zip(*map(list, curves[name].get_data()), strict=True)) == hint.curve
        assert f"{hint.threads} threads" in name
    assert sum(" and 1 similar" in name for name in names) == 1
    marks = set(map(tuple, named(axes, "hint")[0].get_xydata().tolist()))
    assert marks == {(hint.threads, hint.speedup) for hint in hints}
    # Four packages of six: threads 1 to 6, 7 to 12, ...
    ends = [(p.get_x(), p.get_x() + p.get_width()) for p in named(axes, "zone")]
    assert ends == [(1.0, 6.5), (6.5, 12.5), (12.5, 18.5), (18.5, 24.0)]
    assert len(named(axes, "band")) == 2


def test_spread_threads_lie_in_no_package_first(source: Path) -> None:
    machine = load("dunnington").as_run(binding="spread")
    hints = predict(source, machine)
    (axes,) = figure_of(program_speedup(hints.result.teams, machine)).axes
    assert not named(axes, "zone")
    assert "over all packages" in axes.get_xlabel()


def test_nothing_to_draw_is_said(source: Path) -> None:
    hints = predict(source, "dunnington", model="density")
    with pytest.raises(InputError, match="no curve to draw"):
        program_speedup(hints.result.teams, hints.machine)


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("form", "begins"), further_slow(1, [("png", b"\x89PNG"), ("pdf", b"%PDF-"), ("svg", b"<?xml")])
)
def test_predict_draws_beside_its_table(source: Path, form: str, begins: bytes) -> None:
    folder = source.parent
    words = ("predict", "loops.c", "-m", "dunnington")
    table = run(folder, *words).stdout
    done = run(folder, *words, "--plot", f"curves.{form}")
    assert (done.returncode, done.stderr, done.stdout) == (0, f"written: curves.{form}\n", table)
    assert (folder / f"curves.{form}").read_bytes().startswith(begins)
    (folder / f"curves.{form}").unlink()
    run(folder, *words, "--plot", f"curves.{form}")  # not given from what is kept
    assert (folder / f"curves.{form}").exists()


def test_without_matplotlib_it_is_one_line_before_anything_is_done(source: Path) -> None:
    empty = source.parent / "without" / "matplotlib"
    done = run(source.parent, "predict", "loops.c", "-m", "dunnington", "--plot", "x.svg",
               "--no-cache", PYTHONPATH=f"{hidden(empty)}{os.pathsep}{ROOT}")  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "regionpredict: drawing needs matplotlib; python3 -m pip install 'regionpredict[plot]'\n"
    )


def hidden(module: Path) -> Path:
    module.parent.mkdir(exist_ok=True)
    module.with_suffix(".py").write_text("raise ImportError\n")
    return module.parent


def made(actual) -> IsoefficiencyData:
    graphs, times = [], []
    for n in (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0):
        work, depth = 1e-6 * n * (20 + 0.01 * n**2), 1e-6 * n
        graphs.append(SizeGraph(n, 10, work, depth))
        for p in (1, 2, 4, 8, 16):
            seconds = work / (p * actual(p, n))
            times.append(SizeTime(n, p, (seconds, seconds), work / p, "replayed"))
    return IsoefficiencyData(("./program", "{n}"), "host", tuple(graphs), tuple(times))


def test_the_line_of_the_bound_is_where_the_parallelism_keeps_it() -> None:
    result = isoefficiency(made(lambda p, n: 1.0 - 0.02 * math.log2(p)))
    figure = isoefficiency_figure(result, 0.8, 64)
    left, right = figure.axes[0], figure.axes[5]
    measured = next(line for line in left.get_lines() if line.get_label() == "measured")
    assert len(measured.get_xdata()) == 6 * 4
    bound = next(line for line in right.get_lines() if str(line.get_label()).startswith("E_ub"))
    p, n = map(np.array, bound.get_data())
    beyond = n > 1.0  # below, any size suits
    assert beyond.any()
    # (20 + 0.01 n^2) / p = 0.8
    assert n[beyond] == pytest.approx(np.sqrt((0.8 * p[beyond] - 20) / 0.01), rel=0.01)


def test_efficiencies_and_discrepancies_have_a_panel_each() -> None:
    result = isoefficiency(made(lambda p, n: 1.0 - 0.1 * math.log2(p)))
    titles = [axes.get_title(loc="left") for axes in isoefficiency_figure(result, 0.8, 64).axes]
    names = [title.split(",")[0] for title in titles if title]
    assert names == ["E_ac", "E_cf", "E_ub", "delta_con", "delta_str",
                     "size that keeps an efficiency of 0.8"]  # fmt: skip


def test_a_program_without_a_model_of_its_efficiency_is_not_drawn() -> None:
    few = made(lambda p, n: 1.0)
    alone = IsoefficiencyData(few.command, few.host, few.graphs[:1], few.times[:1])
    with pytest.raises(InputError, match="E_ac has no model"):
        isoefficiency_figure(isoefficiency(alone), 0.8, 4)


def test_a_graph_has_its_nodes_edges_and_path() -> None:
    graph = graph_of_tasks([7.0, 4.0, 9.0, 1.0], [(0, 2), (1, 2), (1, 3)], ["a", "b", "c", "d"])
    (axes,) = graph_figure(graph, measure_graph(graph)).axes
    assert (len(named(axes, "node")), len(named(axes, "edge"))) == (4, 3)
    thick = [one for one in named(axes, "edge") if one.get_linewidth() > 1]
    assert len(thick) == 1  # a -> c, 16 s
    written = {text.get_text() for text in axes.texts}
    assert {"a", "7 s", "c", "9 s"} <= written
    assert "4 tasks, work 21 s, depth 16 s" in axes.get_title()


def test_a_large_graph_is_drawn_by_lines_within_what_a_page_holds() -> None:
    graph = graph_of_tasks([1.0] * 2001, [(0, k) for k in range(1, 2001)])
    (axes,) = graph_figure(graph, measure_graph(graph)).axes
    assert len(named(axes, "node")) == 1
    wide = graph_of_tasks([1.0] * 400, [(0, k) for k in range(1, 400)])
    figure = graph_figure(wide, measure_graph(wide))
    assert figure.get_size_inches().max() <= 41
    assert figure_bytes(figure, "pdf").startswith(b"%PDF-")


@pytest.mark.compiler
def test_a_timeline_has_waits_and_the_path(tmp_path: Path) -> None:
    """Rank 0 works for 100 ms and sends; rank 1 works for 40 ms, and waits 60."""
    build = TraceBuilder(2)
    for rank, end in ((0, 0.1), (1, 0.04)):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "work")
        build.leave(rank, end)
    build.enter(0, 0.1, "MPI_Send")
    build.send(0, 0.1, 1, size=8)
    build.leave(0, 0.1)
    build.enter(1, 0.04, "MPI_Recv")
    build.receive(1, 0.1, 0, size=8)
    build.leave(1, 0.1)
    build.enter(1, 0.1, "work")
    build.leave(1, 0.12)
    build.leave(0, 0.1)
    build.leave(1, 0.12)
    analysis = analyse(build.build(), Kernels(("cc",), tmp_path))
    (axes,) = figure_of(timeline_block(analysis, 2000)).axes
    assert axes.get_xlabel() == "time (ms)"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1"]
    handles, labels = axes.get_legend_handles_labels()
    colours = {
        label: tuple(handle.get_facecolor()[0]) if label != "critical path" else None
        for handle, label in zip(handles, labels, strict=True)
    }
    assert set(labels) == {"computation", "waiting for another", "critical path"}
    spans = {}
    for bars in axes.collections:
        for path, colour in zip(bars.get_paths(), bars.get_facecolor(), strict=False):
            (x0, y0), (x1, y1) = path.get_extents().get_points()
            spans[tuple(colour), round((y0 + y1) / 2)] = (x0, x1)
    waiting = spans[colours["waiting for another"], 1]
    assert waiting == pytest.approx((40, 100), abs=0.1)
    (path,) = named(axes, "critical-path")
    pieces = [piece.tolist() for piece in path.get_segments()]
    assert pieces[0] == [[0, 0], [pytest.approx(100), 0]]
    assert pieces[-1][0][1] == 1
    assert pieces[-1][1] == [pytest.approx(120), 1]


def test_the_picture_of_the_readme_is_that_of_today(tmp_path: Path) -> None:
    """By what it says: versions of matplotlib draw the same with other bytes."""
    shown = ROOT / "docs" / "pictures" / "speedup.svg"
    assert f"({shown.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
    sample = "polybench_samples/linear_algebra/2mm"
    done = run(ROOT, "predict", sample, "-m", "dunnington", "--plot", str(tmp_path / "now.svg"))
    assert done.returncode == 0, done.stderr
    texts = [
        [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", file.read_text())
         if ":" in text or "package" in text]
        for file in (shown, tmp_path / "now.svg")
    ]  # fmt: skip
    assert texts[0] == texts[1]
    assert any("kernel_2mm" in text for text in texts[0])


def test_predicted_against_measured_speedup_by_hand() -> None:
    """Of f.c: 1.9 predicted and 2 measured, right; 2 and 1, wrong; 1.5 and 1.5, not comparable."""
    (axes,) = figure_of(speedup_scatter(comparison())).axes
    marks = {str(line.get_label()): line.get_xydata().tolist() for line in axes.get_lines()}
    assert marks["right"] == [[2.0, 1.9]]
    assert marks["wrong"] == [[1.0, 2.0]]
    assert marks["not judged"] == [[1.5, 1.5]]
    assert all(x == y for x, y in marks["as predicted"])
    # The band of each hint reaches from 1 to what was predicted.
    bands = [
        segment[:, 1].tolist() for one in named(axes, "band") for segment in one.get_segments()
    ]
    assert bands == [[1, 1.9], [1, 2], [1, 1.5]]
    # Named is what lies a tenth off and more, and nothing else.
    assert [text.get_text() for text in axes.texts] == ["f.c:5"]
    assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0
    assert "3 regions on 2 threads" in axes.get_title(loc="left").replace("\n", " ")


def test_the_kind_of_a_drawing_needs_a_file(tmp_path: Path) -> None:
    done = run(tmp_path, "compare", "h.json", "m.jsonl", "--drawing", "speedups")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--drawing needs --plot FILE" in done.stderr
