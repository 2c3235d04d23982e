"""Mutated inputs of every other reader, each given to a command in a process of its own.

An input is refused in one line, or the command answers.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("readers", "trace/paraver", "benchmarks")]
import original_inputs as documents  # noqa: E402
import original_programs as programs  # noqa: E402
import original_runs as runs  # noqa: E402
import original_task_graphs as graphs  # noqa: E402
import two_ranks  # noqa: E402
from forked_command import Call, Ended, load_program, run, run_all  # noqa: E402
from spoilt_inputs import mutants  # noqa: E402

GOOD = """#include <stdlib.h>
double a[6400];
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1.5;
  return 0;
}
"""
DOT = """digraph g { node [shape=box]; // times in seconds
  a [seconds=7, label="a"]; b [time=2.5e-1]; "c d" [label="0.25 * 17"]; e [seconds=1];
  a -> {b "c d"} -> e; subgraph x { f [work=1] } f:n -> e; }
"""
GRAPH = {
    "schema": "regionpredict/task-graph/1",
    "nodes": [
        {"id": "a", "seconds": 1, "kind": "task", "task": 0, "place": "f.c:3"},
        {"id": "b", "seconds": 2, "task": 1, "place": "f.c:4"},
        {
            "id": "c",
            "seconds": 0.5,
            "task": 1,
            "place": "f.c:4",
            "iterations": {"first": 0, "total": 4},
        },
    ],
    "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
}
SETTINGS = """machine = "dunnington"
model = "saturation"
set = {n = 60, "grid[0]" = 4}
defines = ["N=4"]
includes = ["."]
exclude = ["tests/*"]
args = "60"
within = 5.0
"""
SIZES = "n: 600\n"
SETS = "small: {n: 60}\nlarge:\n  n: 6000\n"
HWLOC = """<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
<object type="Machine"><info name="CPUModel" value="X"/><object type="Package" os_index="0">
<object type="NUMANode" os_index="0" local_memory="68719476736"/>
<object type="L3Cache" cache_size="33554432" depth="3" cache_type="0"><object type="L1Cache"
cache_size="32768" cache_type="1"><object type="Core"><object type="PU" os_index="0"/><object
type="PU" os_index="1"/></object></object></object></object></object></topology>
"""
TRACE = ("t.prv",)
_TRACE_COMMANDS = tuple(
    ("trace", command, *TRACE, "--format", form)
    for command, form in (
        ("waits", "table"), ("critical-path", "html"), ("delays", "csv"), ("what-if", "json"),
        ("imbalance", "table"), ("factors", "table"),
    )
)  # fmt: skip
BATCH = 20
"""Inputs that one process reads."""


class Kind(NamedTuple):
    """One reader: its file, a text that it takes, and the commands that read it, in turns.

    `others` are files beside it, by name. A file that is `fed` is the standard input. A command
    that is run `alone` becomes another program or closes its streams. One that is `silent` has no
    result on its standard output. `native` inputs are read or analysed by C parts of the package.
    """

    file: str
    original: bytes
    commands: Sequence[Sequence[str]]
    others: Mapping[str, bytes] = {}
    fed: bool = False
    alone: bool = False
    silent: bool = False
    fails_without_words: bool = False
    native: bool = False


@cache
def kinds() -> dict[str, Kind]:
    """Every reader by name."""
    here = Path(os.environ.get("FUZZ_FOLDER", "."))
    campaign = documents.campaign(here)
    hints = _hints(here)
    good = {"good.c": GOOD.encode()}
    predict = ("predict", "good.c", "-m", "dunnington")
    fit = _fit("a")
    records = (two_ranks.HEAD + two_ranks.BODY).encode()
    trace = {"t.prv": records, "t.pcf": two_ranks.PCF.encode(), "t.row": two_ranks.ROW.encode()}
    made = {
        "machine": Kind("m.yaml", (ROOT / "machines/epyc-7452.yaml").read_bytes(), (
            ("machines", "show", "m.yaml", "--format", "html"), ("machines", "check", "m.yaml"),
            ("predict", "good.c", "-m", "m.yaml", "--format", "slurm"),
            ("predict", "good.c", "-m", "m.yaml", "--format", "html")), good),
        "settings": Kind("regionpredict.toml", SETTINGS.encode(), (("predict", "good.c"),), good),
        "sizes": Kind("s.yaml", SIZES.encode(), ((*predict, "--sizes", "s.yaml"),), good),
        "sets of sizes": Kind("s.yaml", SETS.encode(), (
            (*predict, "--sizes", "s.yaml:large"), (*predict, "--sizes", "s.yaml:small")), good),
        "hints": Kind("h.json", hints, (
            ("diff", "h.json", "g.json", "--format", "markdown"), ("diff", "g.json", "h.json"),
            ("compare", "h.json", "m.jsonl", "--other-machine"),
            ("coschedule", "h.json", "g.json", "-m", "dunnington", "--format", "slurm")),
            {"g.json": hints, "m.jsonl": campaign, **good}),
        "measurements": Kind("m.jsonl", campaign, (
            ("compare", "g.json", "m.jsonl", "--other-machine"), ("fit", "m.jsonl"),
            (*predict, "--sizes-from", "m.jsonl")), {"g.json": documents.hints(), **good}),
        "expectations": Kind("e.yaml", documents.EXPECTATIONS, (
            ("expect", "e.yaml"), ("expect", "e.yaml", "--format", "junit")),
            {"m.txt": documents.MEASURED}),
        "DOT": Kind("g.dot", DOT.encode(), (
            ("tasks", "show", "g.dot", "--format", "dot"), ("tasks", "simulate", "g.dot"))),
        "task graph": Kind("g.json", json.dumps(GRAPH).encode(), (
            ("tasks", "show", "g.json", "--format", "html"), ("tasks", "simulate", "g.json"))),
        "hwloc": Kind("h.xml", HWLOC.encode(), (("machines", "detect", "--hwloc", "h.xml"),)),
        "compiler calls": Kind("compile_commands.json", json.dumps([
            {"directory": ".", "file": "good.c", "arguments": ["cc", "-DN=4", "-I", "x", "-c",
             "good.c"]}, {"directory": ".", "file": "good.c", "command": "cc -O2 good.c"},
            ]).encode(), (("analyze", "compile_commands.json"),), good),
        "trace records": Kind("t.prv", records, _TRACE_COMMANDS, trace, native=True),
        "trace labels": Kind("t.pcf", two_ranks.PCF.encode(), _TRACE_COMMANDS, trace, native=True),
        "trace threads": Kind("t.row", two_ranks.ROW.encode(), _TRACE_COMMANDS, trace, native=True),
        "compressed trace": Kind("t.prv.gz", gzip.compress(records, mtime=0), (
            ("trace", "waits", "t.prv.gz"),),
            {name: data for name, data in trace.items() if name != "t.prv"}, native=True),
        "profile": Kind("runs/run.p2.r1/p.cubex", documents.profile(), _fit("runs"),
            {f"runs/run.p{p}.r1/p.cubex": documents.profile() for p in (4, 8, 16, 32)}),
    }  # fmt: skip
    texts = {
        "short JSON": documents.short_json(), "legacy JSON": documents.legacy_json(),
        "JSON lines": documents.lines(), "TALPas": documents.lines(";", "parameters"),
        "text": documents.TEXT, "table": documents.TABLE,
    }  # fmt: skip
    for path in sorted((ROOT / "tests/fit/real_files").glob("[a-z]*")):
        texts[path.name] = path.read_bytes()
    for name, text in texts.items():
        made[name] = Kind("a", text, fit)
    return {**made, **_runs(), **_task_graphs(), **_programs(here),
            **_written_by_programs(), **_archives(here)}  # fmt: skip


def _fit(path: str) -> tuple[tuple[str, ...], ...]:
    """Seldom a page: its curves take fifty times as long as all else."""
    return (("fit", path),) * 49 + (("fit", path, "--format", "html"),)


def _runs() -> dict[str, Kind]:
    """What other tools write of several runs: a folder for `fit`, or tables of factors."""
    fit = _fit("runs")
    folders = {
        "TAU": runs.tau_profiles(), "Caliper": runs.caliper_profiles(),
        "Caliper JSON": runs.caliper_documents(), "TALP": runs.talp_reports(),
    }  # fmt: skip
    made = {}
    for name, files in folders.items():
        (file, original), *others = ((f"runs/{path}", data) for path, data in files.items())
        made[name] = Kind(file, original, fit, dict(others))
    factors = ("trace", "factors", "f.json", "g.json", "--extrapolate", "64")
    first, second = runs.talp_factors(2), runs.talp_factors(4)
    return {
        **made,
        "ReFrame": Kind("r.log", runs.REFRAME, (("fit", "r.log"),)),
        "factors by TALP": Kind("f.json", first, (
            factors, (*factors, "--format", "html")), {"g.json": second}),
        "factors by row": Kind("f.csv", runs.FACTORS_BY_ROW, (
            ("trace", "factors", "f.csv", "--extrapolate", "64"),
            ("trace", "factors", "f.csv", "--format", "html"))),
        "factors by column": Kind("f.csv", runs.FACTORS_BY_COLUMN, (
            ("trace", "factors", "f.csv", "--format", "json"),)),
        "factors of a version": Kind("a.json", runs.VERSION, (
            ("trace", "history", "a.json", "b.json"),
            ("trace", "history", "b.json", "a.json", "--format", "html", "--badge", "b.svg")),
            {"b.json": runs.VERSION}),
        "isoefficiency": Kind("i.jsonl", runs.ISOEFFICIENCY, tuple(
            ("tasks", "isoefficiency", "-o", "i.jsonl", "--format", form)
            for form in ("table", "html", "json"))),
        "efficiency table": Kind("e.csv", runs.EFFICIENCIES, (
            ("isoefficiency", "e.csv", "--at", "p=8"),)),
    }  # fmt: skip


def _task_graphs() -> dict[str, Kind]:
    """Task graphs of other programs, and recordings."""
    show = ("tasks", "show")
    made = {
        name: Kind("g", text, (
            (*show, "g", "--format", "html"), (*show, "g"), (*show, "g", "--format", "dot"),
            ("tasks", "simulate", "g"), ("tasks", "simulate", "g", "--threads", "1-4")))
        for name, text in graphs.TEXTS.items()
    }  # fmt: skip
    files = graphs.recording()
    for name, file in (
        ("recorded tasks", "events-7-0"), ("recorded sites", "sites-7"),
        ("recorded lines", "lines.json"), ("counters", "counters.json"),
    ):  # fmt: skip
        others = {f"run/{other}": data for other, data in files.items() if other != file}
        made[name] = Kind(f"run/{file}", files[file], (
            (*show, "run", "--format", "html"), (*show, "run", "--format", "json"),
            ("tasks", "simulate", "run")), others)  # fmt: skip
    return made


def _programs(here: Path) -> dict[str, Kind]:
    """What a program is read with: build files, a recorded run, an input file, an editor."""
    predict = ("predict", "src", "-m", "dunnington")
    analyze = (("analyze", "src"),) * 49 + ((*predict, "--format", "html"),)
    made = {
        name: Kind(f"src/{file}", text, analyze, {
            f"src/{other}": data for other, data in files.items() if other != file})
        for name, (file, text, files) in programs.BUILDS.items()
    }  # fmt: skip
    good = {"src/good.c": GOOD.encode()}
    return {
        **made,
        "recorded run": Kind("out.jsonl", programs.recorded_run(), (
            (*predict, "--sizes-from", "out.jsonl"),
            ("sizes", "src", "-m", "dunnington", "--sizes-from", "out.jsonl")), good),
        "input file": Kind("src/grid.txt", programs.INPUT_FILE, (
            (*predict, "--args", "src/grid.txt"),), {"src/main.c": programs.READS_A_FILE}),
        "hints to run": Kind("h.json", _hints(here), (("run", "--hints", "h.json", "--", "true"),),
            alone=True, silent=True),
        "calibration": Kind(".m.yaml.samples.json", runs.calibration(here / "cc"), (
            ("calibrate", "-o", "m.yaml", "--cc", str(here / "cc"), "--quiet-wait", "none",
             "--time-budget", "1s"),), silent=True),
        "editor": Kind("messages", programs.editor_session(), (
            ("lsp", "-m", "dunnington"),), good, fed=True, alone=True, fails_without_words=True),
    }  # fmt: skip


def _written_by_programs() -> dict[str, Kind]:
    """What a program that a command has started writes. It copies this from a folder."""
    made = {}
    recorders = runs.recorded_ranks()
    for name, file in (
        ("recorded rank", "0-0.events"), ("recorded names", "1.names"),
        ("recorded team", "events-7-0"), ("recorded functions", "names-7"),
        ("recorded places", "sites-7"),
    ):  # fmt: skip
        made[name] = Kind(f"from/{file}", recorders[file], (
            ("trace", "record", "-o", "out", "--", *_copy("from/*", "TRACE")),),
            {f"from/{other}": data for other, data in recorders.items() if other != file},
            silent=True)  # fmt: skip
    tasks = graphs.recording()
    for name, file in (("tasks of a run", "events-7-0"), ("places of a run", "sites-7")):
        made[name] = Kind(f"from/{file}", tasks[file], (
            ("tasks", "record", "-o", "out", "--", *_copy("from/*", "OMPT")),),
            {f"from/{other}": data for other, data in tasks.items()
             if other != file and other.partition("-")[0] in ("events", "sites")},
            silent=True)  # fmt: skip
    made["times of a run"] = Kind("from.jsonl", programs.recorded_run(), (
        ("measure", "--threads", "1", "--repeat", "1", "--quiet-wait", "none", "--",
         *_copy("from.jsonl", "OUTPUT")),))  # fmt: skip
    return made


def _copy(files: str, where: str) -> tuple[str, ...]:
    return "sh", "-c", f'exec cp {files} "$REGIONPREDICT_{where}"'


def _archives(here: Path) -> dict[str, Kind]:
    """Each file of a trace in OTF2 and of a store in Parquet, where their packages are there."""
    archive, store = here / "otf2", here / "store"
    try:
        from synthetic_trace import write_archive

        write_archive(archive, 2, 3)
    except ImportError:
        return {}
    made = {}
    for name, top, shown in (
        ("OTF2", archive, "archive/traces.otf2"), ("Parquet", store, "archive")
    ):  # fmt: skip
        if top is store:
            run(("trace", "convert", str(archive), "-o", str(store)), here)
        files = {
            f"archive/{path.relative_to(top)}": path.read_bytes()
            for path in sorted(top.rglob("*")) if path.is_file()
        }  # fmt: skip
        commands = tuple(
            tuple(shown if word == TRACE[0] else word for word in words)
            for words in _TRACE_COMMANDS
        )
        for file, data in files.items():
            others = {other: kept for other, kept in files.items() if other != file}
            made[f"{name} {Path(file).name}"] = Kind(file, data, commands, others, native=True)
    return made


def _hints(folder: Path) -> bytes:
    """What the command predicts for the good file."""
    (folder / "good.c").write_text(GOOD)
    words = ("predict", "good.c", "-m", "dunnington", "--threads", "1-8", "--format", "json")
    return run(words, folder).shown.encode()


def findings(
    name: str, numbers: range, folder: Path, done: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, str]]:
    """The mutants of a kind that are not got over, each with what went wrong.

    One process tries several. What is wrong there is tried again alone.
    """
    load_program()
    kind = kinds()[name]
    size = 1 if kind.alone else BATCH
    for begin in range(numbers.start, numbers.stop, size):
        batch = range(begin, min(begin + size, numbers.stop))
        commands = [kind.commands[number % len(kind.commands)] for number in batch]
        calls = [
            call(kind, mutant(name, number), words, folder / "work" / str(number))
            for number, words in zip(batch, commands, strict=True)
        ]
        for number, words, ended in zip(batch, commands, run_all(calls), strict=True):
            wrong = ended.wrong
            if wrong and size > 1:
                wrong = tried(kind, mutant(name, number), words, folder / "work" / "alone").wrong
            if wrong:
                yield number, f"{' '.join(words)}: {wrong}"
            done()
        shutil.rmtree(folder / "work", ignore_errors=True)


def call(kind: Kind, data: bytes, words: Sequence[str], place: Path) -> Call:
    """A command with this text in place of the original, in a new folder."""
    shutil.rmtree(place, ignore_errors=True)
    for file, content in {**kind.others, kind.file: data}.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(content)
    fed = place / kind.file if kind.fed else None
    return Call(words, place, fed, kind.fails_without_words)


def tried(kind: Kind, data: bytes, words: Sequence[str], place: Path) -> Ended:
    """How a command with this text in place of the original ends."""
    return next(run_all([call(kind, data, words, place)]))


def mutant(name: str, number: int) -> bytes:
    """The bytes of one mutant of a kind."""
    return mutants(kinds()[name].original, 1, seed=number)[0]
