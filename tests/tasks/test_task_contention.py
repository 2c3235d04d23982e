"""Bodies of tasks as regions, and what memory leaves of tasks at once, beside measurements."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from regionpredict.frontend import requests_for
from regionpredict.ir import Region
from regionpredict.machine import Machine, file_of
from regionpredict.machine.shipped import load_file
from regionpredict.pipeline import Analysis, analyse
from regionpredict.report.task_contention import BodyContention, PredictedBodies
from regionpredict.task_bodies import predicted_bodies

SCHEMAS = Path(__file__).parents[2] / "regionpredict" / "report" / "schemas"
SOURCE = """
void stream(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = 2.0 * from[i];
}
double series(double x, long n)
{
    double sum = 0.0;
    for (long i = 0; i < n; i++)
        sum = sum * x + 1.0;
    return sum;
}
long fibonacci(long n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
void unseen(double *);
void all(double *x, double *y, double *z, long n, long block)
{
    for (int t = 0; t < 10; t++) {
        for (long i = 0; i < n; i += block) {
            double *to = y + i;
#pragma omp task
            stream(to, x + i, block);
        }
        for (long i = 0; i < n; i += block) {
#pragma omp task
            z[i] = series(z[i], block);
        }
#pragma omp taskwait
    }
#pragma omp task
    unseen(x);
#pragma omp taskloop grainsize(100)
    for (long i = 0; i < n; i++)
        y[i] += x[i];
#pragma omp task
    stream(y, x, n);
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        x[i] = 0.0;
}
"""
LINES = {
    text: number
    for number, text in enumerate(SOURCE.splitlines(), 1)
    if text.strip() and SOURCE.count(text) == 1
}
STREAM = LINES["            stream(to, x + i, block);"] - 1
SERIES = LINES["            z[i] = series(z[i], block);"] - 1
FIBONACCI = LINES["    a = fibonacci(n - 1);"] - 1
UNSEEN = LINES["    unseen(x);"] - 1
TASKLOOP = LINES["#pragma omp taskloop grainsize(100)"]
ALONE = LINES["    stream(y, x, n);"] - 1
SHARED = LINES["#pragma omp parallel for"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "all.c"
    path.write_text(SOURCE)
    return path


def analysed(source: Path, *, frontend: str | None = None) -> Analysis:
    sizes = {"n": 64_000_000, "block": 1_000_000}
    return analyse(requests_for([str(source)], [], (), "", ()), sizes, frontend=frontend)


@pytest.fixture(scope="module")
def machine() -> Machine:
    path, shown = file_of("skylake-gold-6148")
    return load_file(path, shown)


def by_line(regions: tuple[Region, ...]) -> dict[int, Region]:
    return {region.span.line: region for region in regions}


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_tasks_are_regions(source: Path, frontend: str) -> None:
    found = by_line(analysed(source, frontend=frontend).program.regions)
    assert set(found) == {STREAM, SERIES, FIBONACCI, UNSEEN, TASKLOOP, ALONE, SHARED}
    noted = {line for line, region in found.items()
             if "RP119" in [note.id for note in region.diagnostics]}  # fmt: skip
    assert noted == {STREAM, SERIES, FIBONACCI, UNSEEN, ALONE}


def test_an_iteration_is_a_task(source: Path) -> None:
    facts = {one.region.span.line: one for one in analysed(source).facts}
    assert facts[STREAM].iterations.value == 64
    assert [loop.variable for loop in facts[STREAM].region.enclosing] == ["t"]
    assert str(facts[ALONE].region.nest.trips) == "all_tasks"  # how often `all` runs is unknown
    assert str(facts[FIBONACCI].region.nest.trips) == "fibonacci_tasks"
    assert facts[TASKLOOP].iterations.value == 64_000_000
    # 16 bytes of each of n elements, whichever way they are cut into tasks
    for line in (STREAM, ALONE, TASKLOOP):
        assert facts[line].working_set.value == 16 * 64_000_000


def test_what_memory_leaves(source: Path, machine: Machine) -> None:
    analysis = analysed(source)
    one = predicted_bodies(analysis, machine, 1)
    full = predicted_bodies(analysis, machine, machine.cores_per_domain)
    assert (full.machine, full.threads) == (machine.name, machine.cores_per_domain)
    place = f"{source}:%d"
    for line in (STREAM, TASKLOOP, ALONE, SERIES):
        alone = one.at(place % line)
        assert alone is not None
        assert alone.contention is not None
        assert alone.contention.growth == 1.0
        assert alone.contention.share <= 1.0
    for line in (STREAM, TASKLOOP):
        body = full.at(place % line)
        assert body is not None
        assert body.contention is not None
        # all cores of a domain stream: its memory gives less than they ask for, and each takes
        # as many times as long as all ask for more than there is
        assert body.contention.share > 2.0
        assert body.contention.growth == pytest.approx(body.contention.share, rel=0.15)
    compute = full.at(place % SERIES)
    assert compute is not None
    assert compute.contention is not None
    assert compute.contention.share < 0.1
    assert compute.contention.growth == pytest.approx(1.0, abs=0.02)


def test_bodies_that_are_not_read(source: Path, machine: Machine) -> None:
    found = predicted_bodies(analysed(source), machine, 2)
    body = found.at(f"{source}:{UNSEEN}")
    assert body is not None
    assert body.contention is None
    recursive = found.at(f"{source}:{FIBONACCI}")
    assert recursive is not None
    assert recursive.contention is not None
    assert recursive.contention.growth == 1.0  # without memory, tasks do not disturb each other
    assert found.at(f"{source}:1") is None
    assert found.at("other.c:12") is None
    assert found.at("no place") is None


def test_a_place_is_found_by_its_line_and_the_end_of_its_path() -> None:
    bodies = tuple(
        BodyContention(file, line, None, None, ())
        for file, line in (("a/f.c", 3), ("b/f.c", 3), ("b/f.c", 9))
    )
    found = PredictedBodies("m", 2, bodies)
    assert found.at("/home/me/b/f.c:3") is bodies[1]
    assert found.at("/home/me/b/f.c:9") is bodies[2]
    assert found.at("/home/me/b/f.c:4") is None


def graph(source: Path) -> str:
    places = [(STREAM, "task")] * 2 + [(FIBONACCI, "task"), (SERIES, "task"), (3, "implicit")]
    nodes = [
        {"id": number, "seconds": 2.0, "kind": kind, "place": f"{source}:{line}"}
        for number, (line, kind) in enumerate(places)
    ]
    return json.dumps({"schema": "regionpredict/task-graph/1", "nodes": nodes, "edges": []})


def show(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", "tasks", "show", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)


def test_both_stand_side_by_side(source: Path, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(graph(source))
    slow = graph(source).replace("2.0", "3.0")
    (tmp_path / "slow.json").write_text(slow)
    given = (tmp_path / "slow.json", "--against", tmp_path / "g.json", "--source", source,
             "-m", "skylake-gold-6148", "--threads", 20, "--set", "n=64000000",
             "--set", "block=1000000")  # fmt: skip
    done = show(*given, "--format", "json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    schema = json.loads((SCHEMAS / "tasks-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(value)
    rows = {int(row["place"].rpartition(":")[2]): row for row in value["contention"]}
    assert set(rows) == {STREAM, FIBONACCI, SERIES}
    assert {row["measured_growth"] for row in rows.values()} == {1.5}
    assert {row["threads"] for row in rows.values()} == {20}
    assert rows[FIBONACCI]["predicted_growth"] == 1.0
    assert rows[STREAM]["predicted_growth"] > 2.0
    assert rows[STREAM]["unread"] is None
    text = show(*given).stdout
    table = [line.split() for line in text.splitlines()]
    rows_of_text = [cells for cells in table if cells[:1] == [f"all.c:{FIBONACCI}"]]
    assert [f"all.c:{FIBONACCI}", "task", "0", "GB/s", "0", "%", "1.00x", "1.50x"] in rows_of_text
    assert "Contention for memory, 20 tasks at once on skylake-gold-6148" in text


def test_sizes_that_nobody_gave_are_said(source: Path, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(graph(source))
    done = show(tmp_path / "g.json", "--source", source, "-m", "skylake-gold-6148", "--threads", 2)
    assert "assumed: n = " in done.stdout
    assert "assumed: block = " in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "host"), "-m has no effect without --source"),
        (("--threads", 2), "--threads has no effect without --source"),
        (("--source", "SOURCE"), "no machine"),
        (("--source", "SOURCE", "-m", "skylake-gold-6148"), "the number of concurrent tasks"),
        (("--source", "SOURCE", "-m", "skylake-gold-6148", "--threads", 999), "999 threads on"),
    ],
)
def test_wrong_calls(source: Path, tmp_path: Path, words: tuple[object, ...], said: str) -> None:
    (tmp_path / "g.json").write_text(graph(source))
    done = show(tmp_path / "g.json", *(source if word == "SOURCE" else word for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
