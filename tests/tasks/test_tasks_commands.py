"""The commands as processes: exit codes, streams, and one line for what cannot be."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from drawn_graphs import KNOWN, drawn

from regionpredict.measure.ompt_runtime import find_runtime
from regionpredict.tasks import read_task_graph
from regionpredict.tasks.dot_file import dot_text

SCHEMAS = Path(__file__).parents[2] / "regionpredict" / "report" / "schemas"
PROGRAMS = Path(__file__).parent / "programs"


def tasks(*words: object, **more) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", "tasks", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=600, **more)


def validate(text: str, name: str) -> dict:
    value = json.loads(text)
    jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text())).validate(
        value
    )
    return value


@pytest.mark.parametrize("name", ["tasks-1", "task-graph-1", "task-times-1", "isoefficiency-1"])
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(json.loads((SCHEMAS / f"{name}.json").read_text()))


@pytest.fixture
def figure(tmp_path) -> Path:
    path = tmp_path / "figure.dot"
    path.write_text(dot_text(drawn(*KNOWN[0][:2])))
    return path


def test_show_in_json(figure):
    done = tasks("show", figure, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    value = validate(done.stdout, "tasks-1")
    assert (value["tasks"], value["edges"]) == (8, 10)
    assert (value["work_s"], value["depth_s"], value["max_concurrency"]) == (45, 24, 4)
    assert value["average_parallelism"] == 45 / 24
    assert [entry["node"] for entry in value["critical_path"]] == ["a", "c", "h"]


def test_show_as_a_graph_and_a_picture(figure, tmp_path):
    done = tasks("show", figure, "--format", "graph")
    validate(done.stdout, "task-graph-1")
    (tmp_path / "again.json").write_text(done.stdout)
    again = tasks("show", tmp_path / "again.json", "--format", "dot", "-o", tmp_path / "x.dot")
    assert again.returncode == 0
    assert again.stdout == ""
    assert read_task_graph(tmp_path / "x.dot").edges == 10
    done = tasks("show", figure, "--plot", tmp_path / "graph.svg")
    assert (done.returncode, done.stderr) == (0, f"written: {tmp_path / 'graph.svg'}\n")
    picture = (tmp_path / "graph.svg").read_text()
    assert picture.startswith("<?xml")
    assert picture.count('<g id="node">') == 8
    assert picture.count('<g id="edge">') == 10


def test_simulate(figure):
    done = tasks("simulate", figure, "--threads", "1,2,60", "--format", "json")
    value = validate(done.stdout, "task-times-1")
    seconds = [row["seconds"] for row in value["times"]]
    assert seconds[0] == 45
    assert 24 <= seconds[1] <= 45 / 2 + 24
    assert seconds[2] == 24
    done = tasks("simulate", figure, "--threads", "1", "--overhead", "1e9")
    assert "53 s" in done.stdout  # 8 tasks of a second more


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "none.dot"], 1, "none.dot: cannot be read"),
        (["record"], 2, "no program"),
        (["record", "--", "./no-such-program"], 1, "no program './no-such-program'"),
        (["isoefficiency", "--sizes", "1,2", "--", "true"], 2, "no size in the command"),
        (["isoefficiency", "--", "true", "{n}"], 2, "no sizes"),
        (["isoefficiency", "--sizes", "1,x", "--", "true", "{n}"], 2, "'x' is not a size"),
        (["isoefficiency", "-o", "none.jsonl"], 1, "none.jsonl: cannot be read"),
        (["simulate", "none.dot", "--threads", "0"], 1, "none.dot"),
        (["dance"], 2, "No such command"),
    ],
)
def test_wrong_calls(tmp_path, words, code, said):
    done = tasks(*words, cwd=tmp_path)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "digraph g { a [seconds=1]; b [seconds=2]; a -> b; b -> a; }",
            "g.dot: there is a cycle: ",
        ),
        ("", "g.dot"),
        (None, "a folder without events"),
    ],
)
def test_files_that_are_no_graph(tmp_path, text, said):
    path = tmp_path / "g.dot"
    path.mkdir() if text is None else path.write_text(text)
    done = tasks("show", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def built(folder: Path, compiler: str, source: str, *options: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    path, program = folder / "code.c", folder / "program"
    path.write_text(source)
    line = [compiler, "-O1", "-g", *options, str(path), "-o", str(program), "-lm"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return program


TASK_A_SECOND = """\
#include <time.h>
int main(void)
{
    struct timespec second = {1, 0};
    #pragma omp parallel num_threads(1)
    #pragma omp task
    nanosleep(&second, 0);
    return 0;
}
"""


@pytest.mark.slow  # `test_campaign.py` has a busy host, too
@pytest.mark.compiler
@pytest.mark.usefixtures("busy_core")
def test_a_recording_on_a_busy_host_says_so(tmp_path):
    """As calibrate and measure do: what the tasks took is not what they would take alone."""
    if find_runtime() is None:
        pytest.skip("needs LLVM's OpenMP runtime")
    program = built(tmp_path, "gcc", TASK_A_SECOND, "-fopenmp")
    done = tasks("record", "-o", "run", "--", program, cwd=tmp_path)
    assert done.returncode == 0
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert re.match(r"warning: other processes kept \d+\.\d cores busy on average, ", said)
    assert said.endswith("; record again on an idle host")


FIBONACCI = (PROGRAMS / "fibonacci.c").read_text()


@pytest.mark.compiler
@pytest.mark.parametrize("compiler", ["clang-19", "gcc"])
def test_record_show_and_replay(tmp_path, compiler):
    if find_runtime() is None:
        pytest.skip("needs LLVM's OpenMP runtime")
    program = built(tmp_path, compiler, FIBONACCI, "-fopenmp")
    done = tasks("record", "-o", "run", "--threads", 1, "--", program, 10, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "55\n")
    written, *busy = done.stderr.splitlines()
    assert written == "written: run. Next: regionpredict tasks show run"
    assert all(
        line.startswith("warning: other processes kept ") for line in busy
    )  # as other tests do
    value = validate(tasks("show", "run", "--format", "json", cwd=tmp_path).stdout, "tasks-1")
    # Calls of fibonacci(10) but the first: 2 * F(11) - 2.
    assert value["tasks"] == 176
    assert {line["place"].rpartition(":")[0] for line in value["lines"]} == {
        str(tmp_path / "code.c")
    }
    again = tasks("record", "-o", "run", "--", program, 10, cwd=tmp_path)
    assert again.returncode == 1
    assert again.stderr == "regionpredict: run: there already; choose another -o FOLDER\n"
    grown = tasks("show", "run", "--against", "run", "--format", "json", cwd=tmp_path)
    rows = validate(grown.stdout, "tasks-1")["growth"]
    assert {row["factor"] for row in rows} == {1.0}
    done = tasks("replay", "run", "--threads", "1", "--format", "json", cwd=tmp_path)
    value = validate(done.stdout, "task-times-1")
    assert value["times"][0]["seconds"] >= value["work_s"] * 0.99
    assert value["times"][0]["starts"] == 176


@pytest.mark.compiler
def test_hardware_counters_or_one_line_that_there_are_none(tmp_path):
    program = built(tmp_path, "clang-19", FIBONACCI, "-fopenmp")
    done = tasks("record", "-o", "run", "--counters", "--", program, 8, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "21\n")
    value = validate(tasks("show", "run", "--format", "json", cwd=tmp_path).stdout, "tasks-1")
    if "no hardware counters" in done.stderr:
        told = [
            line for line in done.stderr.splitlines() if "record again on an idle host" not in line
        ]
        assert len(told) == 2  # beside what is said of a host that is not quiet
        assert value["counters"] == {}
    else:
        assert set(value["counters"]) == {"instructions", "cycles", "cache misses"}
        assert value["counters"]["instructions"] > 2 * 34 * 10
    assert value["tasks"] == 2 * 34 - 2


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("int main(void) { return 0; }", (), "used no OpenMP runtime with support for tools"),
        ("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }", ("-fopenmp",),
         "no parallel region ran"),
    ],
)  # fmt: skip
def test_programs_without_tasks(tmp_path, source, options, said):
    program = built(tmp_path, "clang-19", source, *options)
    done = tasks("record", "-o", "run", "--", program, cwd=tmp_path)
    if done.returncode == 0:
        done = tasks("show", "run", cwd=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.compiler
def test_gcc_programs_that_no_runtime_can_stand_in_for(tmp_path):
    program = built(tmp_path, "gcc", FIBONACCI, "-fopenmp")
    no_runtime = shutil.which("true") and next(
        (
            p
            for p in map(Path, ("/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/libm.so.6"))
            if p.exists()
        ),
        None,
    )
    if no_runtime is None:
        pytest.skip("needs some library that is no OpenMP runtime")
    done = tasks("record", "-o", "run", "--runtime", no_runtime, "--", program, 5, cwd=tmp_path)
    assert done.returncode == 1
    assert "built by gcc, and libm.so.6 does not know its call GOMP_" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.compiler
def test_the_runtime_of_the_wheel_stands_in_too(tmp_path):
    wheel = Path(sys.prefix, "lib", "libiomp5.so")
    if not wheel.exists():
        pytest.skip("needs the wheel intel-openmp")
    program = built(tmp_path, "gcc", FIBONACCI, "-fopenmp")
    line = ["record", "-o", "run", "--threads", 2, "--runtime", wheel, "--", program, 10]
    done = tasks(*line, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "55\n")
    assert json.loads(tasks("show", "run", "--format", "json", cwd=tmp_path).stdout)["tasks"] == 176


@pytest.mark.compiler
def test_the_exit_code_is_the_programs_and_what_it_did_is_kept(tmp_path):
    source = FIBONACCI.replace('printf("%ld\\n", result);', "exit(7);")
    program = built(tmp_path, "clang-19", source, "-fopenmp")
    done = tasks("record", "-o", "run", "--", program, 8, cwd=tmp_path)
    assert done.returncode == 7
    assert "the program ended with exit code 7" in done.stderr
    value = json.loads(tasks("show", "run", "--format", "json", cwd=tmp_path).stdout)
    assert value["tasks"] == 2 * 34 - 2


@pytest.mark.compiler
def test_a_killed_program_leaves_a_readable_prefix(tmp_path):
    source = """
#include <signal.h>
#include <unistd.h>
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (int i = 0; i < 1000; i++) {
        if (i == 500) kill(getpid(), SIGKILL);
#pragma omp task if(i < 0)
        { volatile int x = i; (void)x; }
    }
    return 0;
}
"""
    program = built(tmp_path, "clang-19", source, "-fopenmp")
    done = tasks("record", "-o", "run", "--", program, cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGKILL
    shown = tasks("show", "run", "--format", "json", cwd=tmp_path)
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["tasks"] == 500
    assert "did not end by itself" in shown.stderr
    for second in (tmp_path / "run").glob("events-*-1"):  # killed before it wrote anything
        second.write_bytes(bytes(4096))
        shown = tasks("show", "run", "--format", "json", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert 0 < json.loads(shown.stdout)["tasks"] <= 500
        assert "did not end by itself" in shown.stderr


@pytest.mark.compiler
def test_broken_recordings_are_one_line(tmp_path):
    program = built(tmp_path, "clang-19", FIBONACCI, "-fopenmp")
    assert tasks("record", "-o", "run", "--", program, 6, cwd=tmp_path).returncode == 0
    events = next((tmp_path / "run").glob("events-*-0"))
    whole = events.read_bytes()
    for broken in (
        b"",
        b"x" * 100,
        whole[:32],
        whole[:-1][40:],
        whole.replace(b"\x01\x00", b"\xff\xff"),
    ):
        events.write_bytes(broken)
        done = tasks("show", "run", cwd=tmp_path)
        assert done.returncode in (0, 1)
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") <= 2
    events.unlink()
    done = tasks("show", "run", cwd=tmp_path)
    assert done.returncode == 1


LOOP = """\
#include <stdlib.h>
static volatile double sink;
int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 20;
    #pragma omp parallel for schedule(SCHEDULE)
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 200000; k++) sum += k * 0.5;
        sink = sum;
    }
    return 0;
}
"""


@pytest.mark.compiler
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_chunks_of_a_recorded_loop_are_those_of_its_schedule(tmp_path, threads):
    program = built(tmp_path, "clang-19", LOOP, "-fopenmp", "-DSCHEDULE=dynamic,6")
    done = tasks("record", "-o", "run", "--threads", threads, "--", program, 20, cwd=tmp_path)
    assert done.returncode == 0
    graph = validate(tasks("show", "run", "--format", "graph", cwd=tmp_path).stdout, "task-graph-1")
    ranges = [node["iterations"] for node in graph["nodes"] if "iterations" in node]
    assert sorted((r["first"], r["total"]) for r in ranges) == [(0, 6), (6, 6), (12, 6), (18, 2)]
    shown = tasks("show", "run", cwd=tmp_path).stdout
    assert re.search(r"code\.c:\d+ +chunk +4 ", shown)


@pytest.mark.compiler
@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["dynamic,5", "guided", "static", "static,3"])
def test_a_campaign_bounds_a_loop_by_its_chunks(tmp_path, schedule):
    """Both of two threads have chunks; if all were one, E_ub would be 0.5."""
    if find_runtime() is None:
        pytest.skip("needs LLVM's OpenMP runtime")
    program = built(tmp_path, "clang-19", LOOP, "-fopenmp", f"-DSCHEDULE={schedule}")
    line = ["isoefficiency", "--sizes", "20", "--threads", "1,2", "--quiet-wait", "none"]
    done = tasks(*line, "--format", "json", "--", program, "{n}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (point,) = validate(done.stdout, "isoefficiency-1")["points"]
    assert 0.5 < point["E_ub"] <= 1


@pytest.mark.compiler
@pytest.mark.slow
def test_a_campaign_goes_on_where_it_was_stopped(tmp_path):
    if find_runtime() is None:
        pytest.skip("needs LLVM's OpenMP runtime")
    program = built(tmp_path, "clang-19", FIBONACCI, "-fopenmp")
    line = ["isoefficiency", "--threads", "1", "-o", "c.jsonl", "--format", "json",
            "--quiet-wait", "none"]  # fmt: skip
    done = tasks(*line, "--sizes", "8", "--", program, "{n}", cwd=tmp_path)
    assert done.returncode == 0
    validate(done.stdout, "isoefficiency-1")
    first = (tmp_path / "c.jsonl").read_text()
    assert len(first.splitlines()) == 3
    again = tasks(*line, "--sizes", "8,9", "--", program, "{n}", cwd=tmp_path)
    assert again.returncode == 1
    assert "use --resume to continue it" in again.stderr
    more = tasks(*line, "--resume", "--sizes", "8,9", "--", program, "{n}", cwd=tmp_path)
    assert more.returncode == 0
    text = (tmp_path / "c.jsonl").read_text()
    assert text.startswith(first)
    assert len(text.splitlines()) == 5
    other = tasks(*line, "--resume", "--sizes", "8", "--", program, "{n}", "1", cwd=tmp_path)
    assert other.returncode == 1
    assert "a campaign of another program or host" in other.stderr
    report = tasks("isoefficiency", "-o", "c.jsonl", cwd=tmp_path)
    assert report.returncode == 0
    assert "4. Which n keeps E = 0.8 on 1 thread?" in report.stdout


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("busy_core")
def test_a_campaign_on_a_busy_host_is_inconclusive(tmp_path):
    if find_runtime() is None:
        pytest.skip("needs LLVM's OpenMP runtime")
    program = built(tmp_path, "gcc", FIBONACCI, "-fopenmp")
    line = ["isoefficiency", "--threads", "2", "--sizes", "14", "--quiet-wait", "none"]
    done = tasks(*line, "--format", "json", "--", program, "{n}", cwd=tmp_path)
    assert done.returncode == 0
    value = validate(done.stdout, "isoefficiency-1")
    assert value["verdicts"]["contention"].startswith("Inconclusive")
    (point,) = value["points"]
    assert point["host"]["disturbed"]
    assert point["host"]["others"] > 0.1
    assert point["cpu_s"] > 0
