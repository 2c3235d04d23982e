"""Mutated inputs of every other reader, each given to a command in a process of its own.

An input is refused in one line, or the command answers.
"""

from __future__ import annotations

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
import two_ranks  # noqa: E402
from forked_command import load_program, run  # noqa: E402
from spoilt_inputs import mutants  # noqa: E402

GOOD = """#include <stdlib.h>
double a[640][640];
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) a[i][j] += 1.5;
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
SANITIZED = ("trace records", "trace labels", "trace threads")
"""Inputs that C parts of the package read or analyse."""


class Kind(NamedTuple):
    """One reader: its file, a text that it takes, and the commands that read it, in turns.

    `others` are files beside it, by name.
    """

    file: str
    original: bytes
    commands: Sequence[Sequence[str]]
    others: Mapping[str, bytes] = {}


@cache
def kinds() -> dict[str, Kind]:
    """Every reader by name."""
    here = Path(os.environ.get("FUZZ_FOLDER", "."))
    campaign = documents.campaign(here)
    hints = _hints(here)
    good = {"good.c": GOOD.encode()}
    predict = ("predict", "good.c", "-m", "dunnington")
    fit = (("fit", "a"), ("fit", "a", "--format", "html"))
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
        "trace records": Kind("t.prv", records, _TRACE_COMMANDS, trace),
        "trace labels": Kind("t.pcf", two_ranks.PCF.encode(), _TRACE_COMMANDS, trace),
        "trace threads": Kind("t.row", two_ranks.ROW.encode(), _TRACE_COMMANDS, trace),
        "profile": Kind("runs/run.p2.r1/p.cubex", documents.profile(), (
            ("fit", "runs"), ("fit", "runs", "--format", "html")),
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
    return made


def _hints(folder: Path) -> bytes:
    """What the command predicts for the good file."""
    (folder / "good.c").write_text(GOOD)
    words = ("predict", "good.c", "-m", "dunnington", "--threads", "1-8", "--format", "json")
    return run(words, folder).shown.encode()


def findings(
    name: str, numbers: range, folder: Path, done: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, str]]:
    """The mutants of a kind that are not got over, each with what went wrong."""
    load_program()
    kind = kinds()[name]
    for number in numbers:
        place = folder / "work"
        shutil.rmtree(place, ignore_errors=True)
        for file, data in {**kind.others, kind.file: mutant(name, number)}.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_bytes(data)
        words = kind.commands[number % len(kind.commands)]
        wrong = run(words, place).wrong
        if wrong:
            yield number, f"{' '.join(words)}: {wrong}"
        done()


def mutant(name: str, number: int) -> bytes:
    """The bytes of one mutant of a kind."""
    return mutants(kinds()[name].original, 1, seed=number)[0]
