"""`regionpredict bench`: synthetic loops as programs, and the page and CSV of them."""

from __future__ import annotations

import csv
import io
import re
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest

from regionpredict.cli import bench
from regionpredict.frontend import SourceRequest
from regionpredict.machine import load
from regionpredict.model_sweeps import (
    RANDOM,
    SyntheticLoop,
    loops_source,
    order_loops,
    sweep_loops,
)
from regionpredict.pipeline import analyse
from regionpredict.report.bench import BenchRow, bench_document
from regionpredict.report.rendered import rendered
from tests.cli.command_line import Outcome, call

SMALL = ("--working-set", "0.01", "--operations", "3")


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in a folder of its own. It does not wait until other tests have ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "_QUIET_WAIT_S", 0.0)
    return lambda *words: call(monkeypatch, capsys, "bench", *words)


@pytest.mark.parametrize(
    "loop",
    [
        SyntheticLoop("own", 1, 0.5),
        SyntheticLoop("own", 1, 0.5, stride=8),
        SyntheticLoop("own", 1, 0.5, order="ji"),
        SyntheticLoop("own", 1, 0.5, 2, order="kij"),
        SyntheticLoop("own", 1, 0.5, pattern=RANDOM),
    ],
)
def test_a_loop_has_the_knobs_that_were_asked_for(tmp_path: Path, loop: SyntheticLoop) -> None:
    machine = load("epyc-7451")
    source = tmp_path / "loops.c"
    source.write_text(loops_source(machine, [loop]))
    (facts,) = analyse([SourceRequest(str(source))], {}, flows=False).facts
    extents = loop.extents(machine)
    assert facts.iterations.value == extents["ijk".index(loop.order[0])] // loop.stride
    nest = [own.trips.constant for own in facts.region.loops() if own.trips is not None]
    assert prod(int(trips or 0) for trips in nest) == loop.iterations(machine)
    ((statement, _),) = facts.region.statements()
    multiplied = [count for own, count in statement.operations if own.kind == "fp_mul"]
    assert multiplied == [loop.operations]
    half = machine.largest_cache_bytes / 2
    assert loop.bytes_on(machine) == pytest.approx(half, rel=0.05)


@pytest.mark.compiler
def test_gcc_keeps_the_order_of_timed_loops(tmp_path: Path) -> None:
    """It interchanges the same nests without the statements between their loops."""
    machine = load("epyc-7451")
    orders = [
        SyntheticLoop("own", place, 0.5, 1, order) for place, order in enumerate(("ikj", "jki"))
    ]
    text = loops_source(machine, orders, timed=True)

    def interchanged(text: str) -> int:
        source = tmp_path / "loops.c"
        source.write_text(text)
        line = ["gcc", "-O3", "-fopenmp", "-fopt-info-loop", "-c", source.name, "-o", "loops.o"]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stderr.count("loops interchanged")

    assert interchanged(text.replace('__asm__ volatile("");', "")) == 2
    assert interchanged(text) == 0


def test_figures_have_names_of_their_own() -> None:
    names = [loop.name for loop in (*sweep_loops(), *order_loops())]
    assert len(names) == len(set(names)) == 40
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def row(x: float, seconds: float, predicted: float, alone: float, score: float) -> BenchRow:
    """A loop of 1000 iterations on 2 threads, predicted to take twice as long on one."""
    return BenchRow(
        figure="stride", x=x, loop=f"loop {x:g}", working_set_bytes=8000, iterations=1000,
        dimensions=1, order="i", operations=1, stride=int(x), pattern="streaming", threads=2,
        seconds=seconds, predicted_seconds=predicted, alone=alone, predicted_alone=2 * predicted,
        score=score,
    )  # fmt: skip


def test_pairs_that_a_model_orders_as_measured_are_counted() -> None:
    """Times on one thread are 2, 3, 4; utilizations 1, 0.75, 0.97, of which 1 and 0.97 are equal.

    Predicted times are 2, 6, 4, so that the last two are in the wrong order. All predicted speedups
    are 2, which is no order.
    """
    rows = [row(1, 1.0, 1.0, 2.0, 0.9), row(2, 2.0, 3.0, 3.0, 0.5), row(4, 4 / 1.94, 2.0, 4.0, 0.5)]
    text = rendered(bench_document("m", {"stride": "stride"}, rows), "table")
    (found,) = [line.split("  ") for line in text.splitlines() if line.startswith("stride")]
    assert [cell.strip() for cell in found if cell] == ["stride", "2 of 3", "0 of 2", "1 of 2"]


@pytest.mark.compiler
def test_csv_has_a_row_per_loop_and_thread_count(run: Run) -> None:
    done = run("-m", "epyc-7451", *SMALL, "--threads", "1,2", "--format", "csv")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["threads"] for row in rows] == ["1", "2"]
    for row in rows:
        assert float(row["seconds"]) > 0.0
        speedup = float(rows[0]["seconds"]) / float(row["seconds"])
        assert float(row["speedup"]) == pytest.approx(speedup)
        assert float(row["utilization"]) == pytest.approx(speedup / int(row["threads"]))
        assert 0.0 <= float(row["score"]) <= 1.0
        assert float(row["predicted_seconds"]) > 0.0


@pytest.mark.compiler
def test_figures_that_did_not_converge_are_a_warning(run: Run, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "machines" / "epyc-7451.yaml").read_text()
    text += "\nspread: {'caches[1].bandwidth.load': 0.4, 'caches[1].latency': 0.01}\n"
    (tmp_path / "noisy.yaml").write_text(text)
    done = run("-m", "noisy.yaml", *SMALL, "--threads", "1", "--format", "csv")
    assert done.code == 0, done.err
    assert "warning: 1 figure of " in done.err
    assert "did not converge: caches[1].bandwidth.load (±40 %); recalibrate" in done.err


@pytest.mark.compiler
def test_the_page_has_both_models_beside_the_measurement(run: Run, tmp_path: Path) -> None:
    done = run("-m", "epyc-7451", *SMALL, "--order", "ji", "--format", "html", "-o",
                "bench.html")  # fmt: skip
    assert done.code == 0, done.err
    page = (tmp_path / "bench.html").read_text()
    for line in ("measured utilization", "saturation: efficiency", "density: score"):
        assert line in page


@pytest.mark.compiler
@pytest.mark.usefixtures("busy_core")
def test_on_a_busy_host_the_wait_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_QUIET_WAIT_S", 0.9)
    done = call(monkeypatch, capsys, "bench", "-m", "epyc-7451", *SMALL)
    told = [line for line in done.err.splitlines() if "waiting" in line]
    assert told == ["note: host: other processes use this host: waiting, 1 s at most"]


@pytest.mark.compiler
def test_a_budget_that_ends_leaves_predictions(run: Run) -> None:
    done = run("-m", "epyc-7451", "--working-set", "8", "--operations", "900",
                "--time-budget", "0.1s")  # fmt: skip
    assert done.code == 0, done.err
    assert "2 of 2 times are missing" in done.err
    assert "?" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--order", "ik"), "give ij, ji"),
        (("--order", "i", "--dimensions", "2"), "give ij, ji"),
        (("--pattern", "random", "--order", "ij"), "--pattern random needs one dimension"),
        (("--operations", "0"), "0 is not in the range"),  # compilers leave nothing of that loop
        (("--working-set", "nan"), "nan is not a number"),
        ((*SMALL, "--cc", "nosuchcc"), "no compiler 'nosuchcc'"),
        ((*SMALL, "--cc", "true"), "'true' cannot compile loops.c: no program"),
    ],
)
def test_wrong_knobs_are_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("-m", "epyc-7451", *words)
    assert done.code == (1 if "--cc" in words else 2)
    assert said in done.err
    assert "Traceback" not in done.err
