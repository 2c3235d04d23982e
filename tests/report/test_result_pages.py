"""Pages of traces, task graphs, fits, expectations, machines and comparisons: what they show by
hand, and all of them in a real browser, on a wide and on a narrow screen."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from html_pages import MOST_BYTES, Opened, blocks_of, needs_browser
from playwright.sync_api import Browser

from regionpredict.compare.verdicts import Comparison, compare
from regionpredict.machine import load
from regionpredict.measure.hints_file import Hint, Hints
from regionpredict.measure.records import RegionRun
from regionpredict.measure.summary import RegionSummary, Timing
from regionpredict.predict.roofline import memory_traffic, peak_operations
from regionpredict.report.comparison import comparison_document, wrong_term
from regionpredict.report.machine import machine_document
from regionpredict.report.rendered import rendered
from regionpredict.report.trace_results import result_document
from regionpredict.trace import Location, ProcessGrid
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.profile import Instance, Record, TraceResult
from regionpredict.trace.trace_builder import TraceBuilder
from tests.compare.test_calibrate_command import SOURCE as MEASURED
from tests.compare.test_calibrate_command import prepared

GRAPH = """digraph {
a [weight=7]; b [weight=4]; c [weight=9]; d [weight=10]; h [weight=8];
a -> c; b -> c; b -> d; c -> h; d -> h;
}
"""
"""Longest: a, c, h: 24 of 38 seconds."""
POINTS = (2, 4, 8, 16, 32)
DATA = "PARAMETER p\nPOINTS 2 4 8 16 32\n" + "\n".join(
    f"REGION {name}\nMETRIC time\n" + "\n".join(f"DATA {f(p)} {1.125 * f(p)}" for p in POINTS)
    for name, f in (("main", lambda p: 3 + 2 * p), ("main->solve", lambda p: 5 + p * p))
)  # fmt: skip
LOOPS = """void stream(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++) to[i] = 2.0 * from[i];
}
void all(double *x, double *y, long n)
{
#pragma omp task
    stream(y, x, n);
}
"""
EXPECTED = """schema: regionpredict/expectations/1
measurements: data.txt
expectations:
  - {callpath: main, expect: p}
  - {callpath: main->solve, expect: log p}
rules: ["main->solve <= main"]
"""


def write_prv(folder: Path, ranks: int) -> str:
    """Twice: work of 16 us shared evenly, a tenth more on rank 0, then a barrier of 1 us."""
    everyone = ",".join(["1:1"] * ranks)
    lines = [f"#Paraver (01/02/2020 at 10:11):0_ns:1({ranks}):1:{ranks}({everyone}),0"]
    share = 16000 // ranks
    now = 0
    for _ in range(2):
        end = now + share + share // 10 + 1000
        for rank in range(ranks):
            work = now + share + (share // 10 if rank == 0 else 0)
            place = f"1:1:{rank + 1}:1"
            lines += [f"1:{place}:{now}:{work}:1", f"1:{place}:{work}:{end}:5",
                      f"2:{place}:{work}:50000002:8", f"2:{place}:{end}:50000002:0"]  # fmt: skip
        now = end
    (folder / f"run{ranks}.prv").write_text("\n".join(lines) + "\n")
    (folder / f"run{ranks}.pcf").write_text(
        "EVENT_TYPE\n9 50000002 MPI Collective Comm\nVALUES\n8 MPI_Barrier\n0 Outside MPI\n"
    )
    return f"run{ranks}.prv"


def write_campaign(folder: Path) -> None:
    """20 + 0.01 n^2 tasks' parallelism; efficiencies fall by 2 and by 1 % a doubling."""
    lines = [{"schema": "regionpredict/isoefficiency-campaign/1", "command": ["./a", "{n}"],
              "host": "here"}]  # fmt: skip
    for n in (64.0, 128.0, 256.0, 512.0, 1024.0):
        depth = 1e-6 * n
        work = depth * (20 + 0.01 * n * n)
        lines.append({"kind": "graph", "size": n, "tasks": 10, "work_s": work, "depth_s": depth})
        for p in (1, 2, 4, 8):
            actual, free = (work / (p * (1 - loss * math.log2(p))) for loss in (0.02, 0.01))
            lines.append({"kind": "time", "size": n, "threads": p, "actual_s": [actual, actual],
                          "free_s": free, "how": "replayed"})  # fmt: skip
    (folder / "iso.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")


LOOP = """\
static double a[1000000];
void NAME(void)
{
#pragma omp parallel for
    for (int i = 0; i < 1000000; i++) a[i] = 2 * a[i];
}
"""
DEEP = "/".join(["long_name_of_a_folder"] * 4)  # wider than a narrow screen, and without a space
PAGES = {
    "deep": f"predict {DEEP}/one.c {DEEP}/two.c -m dunnington --format html -o PAGE",
    "factors": "trace factors run1.prv run2.prv run4.prv --extrapolate 64 --format html -o PAGE",
    "imbalance": "trace imbalance run4.prv --format html -o PAGE",
    "what-if": "trace what-if run4.prv --format html -o PAGE",
    "waits": "trace waits run4.prv --format html -o PAGE",
    "messages": "trace messages run4.prv --format html -o PAGE",
    "tasks": "tasks show g.dot --format html -o PAGE",
    "times": "tasks simulate g.dot --threads 1,2,4 --format html -o PAGE",
    "isoefficiency": "tasks isoefficiency -o iso.jsonl --format html --report PAGE",
    "fit": "fit data.txt --predict p=64 --suggest --tree --format html -o PAGE",
    "expect": "expect e.yaml --format html -o PAGE",
    "machine": "machines show dunnington --format html -o PAGE",
    "replay": "tasks replay quick.dot --threads 1,2 --format html -o PAGE",
    "memory": "tasks show loops.json --against before.json --source loops.c -m skylake-gold-6148 "
              "--threads 20 --set n=64000000 --format html -o PAGE",
    "calibration": "calibrate src -D N=5000 --from m.jsonl -m clovertown -o new.yaml --report PAGE",
}  # fmt: skip
_COMPILED = ("factors", "imbalance", "what-if", "waits", "messages", "replay")
EACH = [
    pytest.param(name, marks=pytest.mark.compiler if name in _COMPILED else ()) for name in PAGES
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    for ranks in (1, 2, 4):
        write_prv(made, ranks)
    (made / "g.dot").write_text(GRAPH)
    (made / "data.txt").write_text(DATA + "\n")
    (made / "e.yaml").write_text(EXPECTED)
    (made / "quick.dot").write_text(GRAPH.replace("]", "e-3]"))
    (made / "loops.c").write_text(LOOPS)
    (made / DEEP).mkdir(parents=True)
    for name in ("one", "two"):
        (made / DEEP / f"{name}.c").write_text(LOOP.replace("NAME", name))
    for name, seconds in (("before", 2.0), ("loops", 3.0)):
        nodes = [{"id": number, "seconds": seconds, "kind": "task", "place": "loops.c:7"}
                 for number in range(3)]  # fmt: skip
        (made / f"{name}.json").write_text(json.dumps(
            {"schema": "regionpredict/task-graph/1", "nodes": nodes, "edges": []}
        ))  # fmt: skip
    write_campaign(made)
    prepared(made, MEASURED)
    return made


def page_of(folder: Path, name: str) -> Path:
    """The page of a command, made once."""
    page = folder / f"{name}.html"
    if not page.exists():
        words = PAGES[name].replace("PAGE", page.name).split()
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True,
            text=True, check=False, timeout=600,
        )  # fmt: skip
        assert (done.stdout == "") == (name != "calibration")
        assert f"written: {page.name}" in done.stderr
        assert done.returncode == (1 if name == "expect" else 0), done.stderr
    return page


@needs_browser
@pytest.mark.parametrize("name", EACH)
def test_pages_hold_on_narrow_and_wide_screens(browser: Browser, folder: Path, name: str) -> None:
    page = page_of(folder, name)
    assert page.stat().st_size < MOST_BYTES
    for width, scheme in ((375, "dark"), (1280, "light")):
        opened = Opened(browser, page, width, scheme)
        opened.open_all()
        opened.hold()


@needs_browser
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("expect", "Expected growth"), ("memory", "Contention for memory"),
        ("calibration", "Regions, on the fewest threads"),
        pytest.param("replay", "Times over threads", marks=pytest.mark.compiler),
    ],
)  # fmt: skip
def test_controls_work(browser: Browser, folder: Path, name: str, title: str) -> None:
    """A column's head turns the rows, the filter leaves those with its text, colours change."""
    opened = Opened(browser, page_of(folder, name), scheme="dark")
    table = opened.page.locator("table", has=opened.page.locator("caption", has_text=title)).first
    before = [row[0] for row in opened.table(title)]
    assert before
    head = table.locator("th").first
    for order in ("ascending", "descending"):
        head.get_by_role("button").press("Enter")
        if head.get_attribute("aria-sort") != order:  # numbers begin with the largest
            head.get_by_role("button").press("Enter")
        shown = [row[0] for row in opened.table(title)]
        assert shown == sorted(before, reverse=order == "descending")
    section = opened.page.locator("section", has=table)
    if section.get_by_label("Filter").count():  # tables of many rows have one
        section.get_by_label("Filter").first.fill(before[0])
        assert {row[0] for row in opened.table(title)} == {before[0]}
    back = "getComputedStyle(document.body).backgroundColor"
    dark = opened.page.evaluate(back)
    opened.page.locator("#theme").click()
    assert opened.page.evaluate(back) == "rgb(255, 255, 255)" != dark
    opened.hold()


@pytest.mark.parametrize(
    ("places", "shown", "told"),
    [
        (("/home/me/code/src/a.c:3", "/home/me/code/b.c:4"), {"src/a.c:3", "b.c:4"}, True),
        (("/home/me/a.c:3", "/usr/b.c:4"), {"/home/me/a.c:3", "/usr/b.c:4"}, False),
    ],
)
def test_lines_of_tasks_are_named_from_the_folder_they_share(
    tmp_path: Path, places: tuple[str, str], shown: set[str], told: bool
) -> None:
    """Debug information has absolute paths: the page has the folder once, as the others do."""
    nodes = [{"id": at, "seconds": 1.0, "kind": "task", "place": place}
             for at, place in enumerate(places)]  # fmt: skip
    document = {"schema": "regionpredict/task-graph/1", "nodes": nodes, "edges": []}
    (tmp_path / "g.json").write_text(json.dumps(document))
    words = ["tasks", "show", "g.json", "--format", "html", "-o", "g.html"]
    subprocess.run([sys.executable, "-m", "regionpredict", *words], cwd=tmp_path, check=True)
    lines = [one for one in blocks_of(tmp_path / "g.html", "table") if "lines" in one["title"]]
    assert {row[0] for row in lines[0]["rows"]} == shown
    lead = "Files are below /home/me/code/"
    assert (lead in (tmp_path / "g.html").read_text()) == told


def test_what_memory_leaves_of_tasks_is_on_their_page(folder: Path) -> None:
    """3 s a task with others for 2 s alone; the prediction is that of the table in JSON."""
    page = page_of(folder, "memory")
    title = "Contention for memory, 20 tasks at once on skylake-gold-6148"
    (rows,) = [one["rows"] for one in blocks_of(page, "table") if one["title"] == title]
    words = PAGES["memory"].replace("html -o PAGE", "json").split()
    done = subprocess.run([sys.executable, "-m", "regionpredict", *words], cwd=folder, check=True,
                          capture_output=True, text=True)  # fmt: skip
    (known,) = json.loads(done.stdout)["contention"]
    ((place, kind, asked, _, predicted, measured),) = rows
    assert (place, kind, measured[1]) == ("loops.c:7", "task", pytest.approx(1.5))
    assert (asked[1], predicted[1]) == pytest.approx(
        (known["asked_bytes_per_s"], known["predicted_growth"]), rel=1e-3
    )
    assert predicted[1] > 2


def test_a_machine_is_drawn_as_packages_caches_and_cores(folder: Path) -> None:
    """4 packages of 6 cores, an L3 for all of them, an L2 for two."""
    (drawn,) = blocks_of(page_of(folder, "machine"), "topology")
    levels = [(one["name"], one["cores"], one["text"].partition(",")[0]) for one in drawn["levels"]]
    assert levels == [
        ("node", 24, "one memory path"), ("package", 6, "L3 16 MiB"), ("", 2, "L2 3 MiB"),
        ("core", 1, "L1 32 KiB"),
    ]  # fmt: skip


@needs_browser
def test_the_drawing_of_a_machine_with_256_cores_fits_two_narrow_screens(
    browser: Browser, tmp_path: Path
) -> None:
    """Two packages of 16 caches for 8 cores: a box for each cache, and if wide for each core."""
    page = tmp_path / "machine.html"
    page.write_text(rendered(machine_document(load("epyc-9755")), "html"))
    caches, cores = 2 * 16, 256
    for width, boxes in ((390, 1 + 2 + caches), (1280, 1 + 2 + caches + cores)):
        opened = Opened(browser, page, width)
        svg = opened.page.locator("figure", has_text="Packages, caches and cores").locator("svg")
        size = svg.bounding_box()
        assert size is not None
        assert size["height"] < 2 * size["width"]
        assert svg.locator("rect").count() == boxes


@pytest.mark.compiler
def test_factors_have_marks_on_curves_with_bands(folder: Path) -> None:
    (curve, *_) = blocks_of(page_of(folder, "factors"), "curve")
    lines = [one for one in curve["series"] if not one.get("alone")]
    marks = [one for one in curve["series"] if one.get("alone")]
    assert [one["name"] for one in lines[:3]] == ["load balance", "serialisation", "transfer"]
    # Rank 0 has a tenth more than the others: the mean over the most, of 1, 2 and 4 ranks.
    balance = {point[0]: point[1] for point in marks[0]["points"]}
    for ranks in (1, 2, 4):
        assert balance[ranks] == pytest.approx(100 * (1.1 + ranks - 1) / (1.1 * ranks), rel=1e-3)
    for line in lines:
        for (x, value), (at, low, high) in zip(line["points"], line["band"], strict=True):
            assert (x, low <= value <= high) == (at, True)
    assert curve["mark"]["x"] == 4


@pytest.mark.compiler
def test_imbalance_by_location(folder: Path) -> None:
    whole = blocks_of(page_of(folder, "imbalance"), "table")[0]
    # Two rounds of 4 us each, 0.4 us more on rank 0: the mean is 8.2 us.
    assert [row[1][1] for row in whole["rows"]] == pytest.approx([8.8e-6, 8e-6, 8e-6, 8e-6])
    assert [row[2][1] for row in whole["rows"]] == pytest.approx([0.6e-6, *[-0.2e-6] * 3])


def test_tasks_path_and_bound(folder: Path) -> None:
    page = page_of(folder, "tasks")
    (path,) = [one for one in blocks_of(page, "table") if "one after the other" in one["title"]]
    assert [(row[0][1], row[1], row[2][1], row[3][1]) for row in path["rows"]] == [
        (2, "c", 7, 9), (3, "h", 16, 8), (1, "a", 0, 7),
    ]  # fmt: skip
    (curve,) = blocks_of(page, "curve")
    parallelism = pytest.approx(38 / 24, rel=1e-4)
    assert curve["series"][0]["points"] == [[1, 1], [2, parallelism], [4, parallelism]]


def test_fit_has_the_curve_the_points_and_their_spread(folder: Path) -> None:
    page = page_of(folder, "fit")
    curve, other, both = blocks_of(page, "curve")
    assert both["title"] == curve["title"] == other["title"]
    # The last picture has all models with their points.
    drawn = {one["name"]: one["points"] for one in both["series"]}
    for alone, points in (curve["series"], other["series"]):
        assert drawn[alone["name"]] == alone["points"]
        assert drawn[f"{alone['name'].partition(':')[0]}, measured"] == points["points"]
    curve = next(one for one in (curve, other) if one["series"][0]["name"].startswith("main:"))
    model, measured = curve["series"]
    assert measured["bars"][0] == [2, pytest.approx(7), pytest.approx(7 * 1.125)]
    assert model["points"][0][0] == 2
    assert model["points"][-1][0] == 4 * 32
    (predicted,) = [one for one in blocks_of(page, "table") if one["title"] == "Predicted values"]
    assert {row[0]: round(row[3][1], 1) for row in predicted["rows"]} == {
        "main": pytest.approx(1.0625 * 131, rel=1e-3),
        "main->solve": pytest.approx(1.0625 * (5 + 64**2), rel=1e-3),
    }  # fmt: skip


@needs_browser
def test_expectations_tell_what_failed(browser: Browser, folder: Path) -> None:
    opened = Opened(browser, page_of(folder, "expect"))
    assert opened.headings() == ["Expectations", "Rules", "Failures"]
    rows = opened.table("Expected growth")
    assert [(row[0], row[2], row[-1]) for row in rows] == [
        ("main", "O(p)", "as expected"), ("main->solve", "O(log(p))", "not as expected"),
    ]  # fmt: skip
    assert opened.table("Rules between growths")[0][-1] == "broken"


def test_isoefficiency_has_the_points_and_the_five_answers(folder: Path) -> None:
    page = page_of(folder, "isoefficiency")
    answers = blocks_of(page, "facts")[0]["items"]
    assert len(answers) == 5
    (points,) = [one for one in blocks_of(page, "table") if one["title"] == "Efficiencies"]
    row = next(row for row in points["rows"] if (row[0][1], row[1][1]) == (256, 4))
    assert [cell[1] for cell in row[4:7]] == pytest.approx([0.96, 0.98, 1.0])


def test_every_figure_of_a_machine_is_on_its_page(folder: Path) -> None:
    (figures,) = [one for one in blocks_of(page_of(folder, "machine"), "table")
                  if one["title"].startswith("All figures")]  # fmt: skip
    known = {row[0]: row[1] for row in figures["rows"]}
    assert known["node.clock"] == "2.66 GHz"
    assert known["caches[0].size"] == "32 KiB"
    assert {row[2] for row in figures["rows"]} == {"measured", "derived", "assumed"}


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
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
    for rank in (0, 1):
        build.leave(rank, 0.1)
    return analyse(build.build(), Kernels(("cc",), tmp_path_factory.mktemp("kernels")))


@pytest.mark.compiler
def test_a_timeline_has_waits_messages_and_the_path(late: Analysis, tmp_path: Path) -> None:
    page = tmp_path / "t.html"
    page.write_text(rendered(result_document(TraceResult((), {}, {}), late, 9), "html"))
    (timeline,) = blocks_of(page, "timeline")
    assert (timeline["x"], timeline["end"]) == ("time (ms)", 100)
    names = [one["name"] for one in timeline["kinds"]]
    first, second = (
        [(names[kind], *ends) for kind, *ends in row["bars"]] for row in timeline["rows"]
    )
    near = pytest.approx
    assert first == [("computation", 0, near(100, abs=0.2))]
    assert second == [("computation", 0, near(40, abs=0.2)),
                      ("waiting for another", near(40, abs=0.2), 100)]  # fmt: skip
    assert timeline["messages"] == [[0, 100, 1, 100]]
    assert timeline["path"][0] == [0, 0, 100]


@needs_browser
@pytest.mark.compiler
def test_a_timeline_can_be_zoomed(late: Analysis, browser: Browser, tmp_path: Path) -> None:
    """Half of 100 ms, moved by a tenth of it: 30 to 80 ms. Twice that is the whole run again."""
    page = tmp_path / "t.html"
    page.write_text(rendered(result_document(TraceResult((), {}, {}), late, 9), "html"))
    opened = Opened(browser, page)
    frame = opened.page.get_by_role("group", name="arrow keys move it")
    bars = frame.locator("g[clip-path] rect")
    assert bars.count() == 3
    opened.page.get_by_role("button", name="Zoom in").click()
    frame.press("ArrowRight")
    opened.page.get_by_text("Details of this span: --time 0.03-0.08").wait_for()
    frame.press("+")  # 42.5 to 67.5 ms, where rank 1 only waits
    assert bars.count() == 2
    frame.press("0")
    assert bars.count() == 3
    opened.hold()


@needs_browser
@pytest.mark.compiler
def test_metrics_lie_on_the_process_grid(
    late: Analysis, browser: Browser, tmp_path: Path
) -> None:  # fmt: skip
    """Two ranks on a grid of three: row 0 has rank 1, then rank 0; nobody is on the last place."""
    grid = ProcessGrid("ring", (3,), (True,), {0: (1,), 1: (0,)})
    records = tuple(Record("m", "main", Location(rank), rank + 0.5, "s") for rank in (0, 1))
    result = TraceResult(records, {"m": 2.0}, {})
    told = replace(late, trace=replace(late.trace, grids=(grid,)))
    page = tmp_path / "grid.html"
    page.write_text(rendered(result_document(result, told, 9), "html"))
    (heat,) = blocks_of(page, "heat")
    assert (heat["rows"], heat["unit"]) == ([[1.5, 0.5, ""]], "s")
    opened = Opened(browser, page)
    opened.open_all()
    opened.page.get_by_text("1 place has no rank in the trace.").wait_for()  # drawn when opened
    opened.hold()


@needs_browser
@pytest.mark.compiler
def test_counts_are_exact_and_long_call_paths_break(
    late: Analysis, browser: Browser, tmp_path: Path
) -> None:
    """A table with two long call paths per row is as wide as the page, and 1,241 is not 1,240."""
    path = "/".join(["main", *(f"module_of_the_program::step_number_{k}" for k in range(4))])
    records = (
        Record("instances.late_sender", path, Location(0), 1241, ""),
        Record("bytes_sent", path, Location(0), 1536 * 1024, "B"),
    )
    totals = {record.metric: record.value for record in records}
    worst = (Instance("late_sender", 0.06, 0.06, 0.1, path, (Location(1),), Location(0), path),)
    page = tmp_path / "long.html"
    result = TraceResult(records, totals, {}, worst=worst)
    page.write_text(rendered(result_document(result, late, 9), "html"))
    opened = Opened(browser, page)
    panes = opened.page.locator(".panes").first.inner_text()
    assert "1241" in panes
    assert "1.5 MiB" in panes
    wider = "all => all.map(e => e.scrollWidth - e.clientWidth)"
    assert max(opened.page.locator(".wide").evaluate_all(wider)) <= 1
    opened.hold()


def comparison() -> Comparison:
    """Three regions of f.c on 1 and 2 threads: all right; scaling and time wrong; other sizes."""
    hints, summaries = [], []
    for line, predicted, measured, seconds, alone, iterations in (
        (3, 1.9, 2.0, 0.9, 1.0, 10), (5, 2.0, 1.0, 1.0, 3.0, 10), (7, 1.5, 1.5, 1.0, 1.0, 99),
    ):  # fmt: skip
        hints.append(Hint(
            id=f"src/f.c:{line}", file="src/f.c", line=line, loop_line=line + 1, function="f",
            status="predicted", packages=1, threads=2, score=None, bottleneck="cache",
            confidence=0.9, borderline=False, speedup={1: 1.0, 2: predicted}, assumed=(),
            iterations=iterations, seconds=seconds, band={1: (1.0, 1.0), 2: (1.0, predicted)},
        ))  # fmt: skip
        last = RegionRun("src/f.c", line, line + 1, "f", "omp parallel for", "gcc", 1, alone, alone,
                         alone, alone, 1, 10, 10, 10, 1, 1)  # fmt: skip
        summaries.append(RegionSummary(last, {
            1: Timing(alone, alone, 0.0, 3), 2: Timing(alone / measured, alone / measured, 0.0, 3),
        }))  # fmt: skip
    known = Hints("h.json", "here", 1, 2, "saturation", tuple(hints))
    return compare(known, summaries, tolerance=0.1, criterion="best", statistic="median")


@needs_browser
def test_each_line_shows_predicted_measured_and_what_was_wrong(
    browser: Browser, tmp_path: Path
) -> None:
    found = comparison()
    assert [wrong_term(one) for one in found.verdicts][:2] == [
        "", "scales too well (cache); time on one thread too short",
    ]  # fmt: skip
    page = tmp_path / "c.html"
    source = "".join(f"line {number}\n" for number in range(1, 10))
    document = comparison_document(found, sources=lambda _: {"src/f.c": source})
    page.write_text(rendered(document, "html"))
    opened = Opened(browser, page)
    rows = opened.table("Predicted and measured")
    assert [row[:6] for row in rows[:2]] == [
        ["f.c:3 f", "1.90", "2.00", "-5 %", "900 ms", "1 s"],
        ["f.c:5 f", "2.00", "1.00", "+100 %", "1 s", "3 s"],
    ]  # fmt: skip
    assert [row[9] for row in rows] == ["right", "wrong", "not comparable"]
    assert rows[2][10] == "measured with 10 iterations, predicted for 99"
    opened.open_all()
    told = opened.page.locator(".source .hint").all_inner_texts()
    assert told[1].startswith("predicted 2.00x, measured 1.00x; threads: 2 hinted, 1 needed, wrong")
    opened.page.get_by_label("why: line 5").click()
    assert opened.page.evaluate("document.activeElement.textContent") == "f.c:5 f"
    opened.hold()
    (first, *_) = blocks_of(page, "curve")
    assert first["series"][0]["band"] == [[1, 1, 1], [2, 1, 1.9]]


def test_the_ceilings_of_the_roofline_by_hand() -> None:
    """The pipes: 4 packages of 6 cores at 2.66 GHz, which add and multiply two doubles a cycle
    each, and have no fused ones. Memory: what all packages' one path moves."""
    dunnington = load("dunnington")
    assert (dunnington.cores, dunnington.clock_hz, dunnington.simd_bits) == (24, 2.66e9, 128)
    assert peak_operations(dunnington) == pytest.approx(24 * 2.66e9 * 4)
    path = dunnington.memory.shared_path
    assert path is not None
    assert memory_traffic(dunnington) == path.traffic_bytes_per_s.value
    # Two packages of 20 cores at 2.4 GHz, two pipes of eight doubles that multiply and add at once.
    skylake = load("skylake-gold-6148")
    assert peak_operations(skylake) == pytest.approx(40 * 2.4e9 * 2 * 8 * 2)
    best = max(
        curve.at(20) * {"load": 1, "copy": 1.5, "update": 1, "triad": 1.25, "daxpy": 1,
                        "stream_triad": 4 / 3}[kernel]
        for kernel, curve in skylake.memory.bandwidth.items()
    )  # fmt: skip
    assert memory_traffic(skylake) == pytest.approx(2 * best)
