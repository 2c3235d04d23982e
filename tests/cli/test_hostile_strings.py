"""Hostile strings in every field of every input, into every output: quoted, or refused in one line.

Each document gets the strings wherever its reader takes them. Each output is read as the program
reads that it is for: a shell runs it, a spreadsheet's cells are looked at, XML and HTML are parsed.
"""

from __future__ import annotations

import ast
import copy
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pytest
import yaml
from further_cases import further_slow

from regionpredict.errors import InputError
from regionpredict.fit.input import read
from regionpredict.fit.search.experiment_models import model_experiment
from regionpredict.frontend import FRONTENDS
from regionpredict.machine import load
from regionpredict.measure.hints_file import read_hints
from regionpredict.measure.store import read_campaign
from regionpredict.quoting import xml_text
from regionpredict.tasks import read_task_graph

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "readers"), str(ROOT / "tests" / "trace" / "paraver")]
import original_inputs as documents  # noqa: E402
import original_runs as runs  # noqa: E402
import two_ranks  # noqa: E402

RUNS = (
    "$(touch pwned)`touch pwned`;touch pwned;'\"<script>pwned()</script><img src=x onerror=pwned()>"
)
PRINTABLE = f"=1+{RUNS}|&\\{{}}[x](u)*#%"
CONTROL = f"{RUNS}\n#SBATCH --wrap=pwned\ntouch pwned\r\x1b]0;pwned\x07\x9b31m\u202e\u2028\\"
IN_A_NAME = PRINTABLE.replace("/", "")
SOURCE = r"""#include <stdlib.h>
extern void ext(const char *);
struct S { int n; };
double a[9000], b[9000], s;
int main(int argc, char **argv) {
  struct S q; q.n = atoi(argv[1]); struct S *p = &q;
#pragma omp parallel for num_threads(q.n > "EVIL"[0] ? 2 : 4) schedule(static, 1) private(argc)
  for (int i = 0; i < p->n; i++) a[i] = b[i];
#pragma omp parallel for if("\n\x1b\033[31m\ntouch pwned\n"[0])
  for (int i = -1 - atoi("$(touch pwned)\ntouch pwned\n\033[31m<script>|`x`"); i < 0; i++) {
    a[-i] += s; ext("<script>\n"); s += i;
  }
  return 0;
}
"""
HWLOC = """<topology><object type="Machine"><object type="Package" os_index="0">
<info name="CPUModel" value={0}/><info name="CPUVendor" value={0}/>
<object type="L1Cache" cache_size="32768" cache_type="1"><object type="Core">
<object type="PU" os_index="0"/></object></object></object></object></topology>
"""
STAGES = ("program", "facts", "workload", "prediction")
STUBS = ("srun", "taskset", "regionpredict", "numactl", "sbatch")


def called(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command, whose messages are one line each and say nothing to a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *map(str, words)], cwd=folder, text=True,
        capture_output=True, check=False, env={**os.environ, "XDG_CACHE_HOME": str(folder / "c")},
        errors="surrogateescape",
    )  # fmt: skip
    assert done.returncode in (0, 1, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert not _controls(done.stderr), done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith(("touch", "#SBATCH"))]
    if done.returncode in (1, 2) and not done.stdout:
        assert done.stderr.strip()
    return done


def _controls(text: str) -> set[str]:
    return {char for char in text if char not in "\n\t" and not char.isprintable()} - {"\xa0"}


def as_text(out: str, folder: Path) -> None:
    """Nothing that a terminal obeys, and no line of the string's own."""
    assert not _controls(out)
    assert not re.search(r"^(touch pwned|#SBATCH --wrap)$", out, re.MULTILINE)


def as_shell(out: str, folder: Path) -> None:
    as_text(out, folder)
    asked = [line for line in out.splitlines() if line.startswith("#SBATCH")]
    assert all(re.fullmatch(r"#SBATCH --[a-z-]+=[\w:]+", line) for line in asked)
    place = folder / "shell"
    (place / "bin").mkdir(parents=True, exist_ok=True)
    for name in STUBS:
        stub = place / "bin" / name
        stub.write_text("#!/bin/sh\n")
        stub.chmod(0o755)
    bare = {"PATH": f"{place / 'bin'}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-s"], input=out, text=True, cwd=place, env=bare, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in place.iterdir()] == ["bin"]


def as_csv(out: str, folder: Path) -> None:
    assert not _controls(out)
    rows = list(csv.reader(io.StringIO(out, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert "\n" not in cell
        assert not re.match(r"[=+\-@\t]", cell) or _is_number(cell), cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_json(out: str, folder: Path) -> None:
    assert not _controls(out)
    json.loads(out)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def as_html(out: str, folder: Path) -> None:
    assert not _controls(out)
    tags = _Tags()
    tags.feed(out)
    assert {"img", "iframe", "object"}.isdisjoint(tag for tag, _ in tags.seen)
    assert sum(tag == "script" for tag, _ in tags.seen) == 2
    for _, attributes in tags.seen:
        assert not [name for name in attributes if name.startswith("on")]


def as_xml(out: str, folder: Path) -> None:
    assert not _controls(out)
    names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(out).iter()}
    assert {"script", "img"}.isdisjoint(names)


def as_markdown(out: str, folder: Path) -> None:
    """GitHub's: no tags but our own, no links or pictures, and cells that stay cells."""
    as_text(out, folder)
    plain = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", out)  # without code
    plain = re.sub(r"\\.", "", plain)
    assert set(re.findall(r"</?\w+", plain)) <= {"<details", "<summary", "</summary", "</details"}
    assert not re.search(r"\]\(|`", plain)
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}) <= 1


def as_yaml(out: str, folder: Path) -> None:
    as_text(out, folder)
    assert isinstance(yaml.safe_load(out), dict)


def as_dot(out: str, folder: Path) -> None:
    as_text(out, folder)
    (folder / "again.dot").write_text(out)
    read_task_graph(folder / "again.dot")
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', out)
    assert "pwned" not in bare


def as_python(out: str, folder: Path) -> None:
    """The formulas are expressions of numbers and logarithms."""
    as_text(out, folder)
    for formula in re.findall(r"\s{2}(-?\d[^\s]*(?: [-+*] [^\s]+)*)\s{2}", out):
        tree = ast.parse(formula, mode="eval")
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert {ast.unparse(call) for call in calls} <= {"log2", "math.log2", "np.log2"}


JUDGES: dict[str, Callable[[str, Path], None]] = {
    "table": as_text, "openmp": as_text, "dump": as_text, "slurm": as_shell, "taskset": as_shell,
    "csv": as_csv, "data-csv": as_csv, "json": as_json, "sarif": as_json, "graph": as_json,
    "extrap-json": as_json, "html": as_html, "junit": as_xml, "markdown": as_markdown,
    "yaml": as_yaml, "dot": as_dot, "python": as_python, "latex": as_text, "extrap-text": as_text,
}  # fmt: skip


def judged(folder: Path, form: str, *words: str | Path, must: bool = True) -> str:
    """What a command writes in this form, read as it is meant to be."""
    done = called(folder, *words)
    if done.stdout or must:
        assert done.stdout, done.stderr
        JUDGES[form](done.stdout, folder)
    return done.stdout


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _leaves(part, (*path, number))
    elif isinstance(value, str):
        yield path


def poisoned(
    document: Any, evil: str, write: Callable[[Any], object], reads: Callable[[], object]
) -> int:
    """Writes the document with the string behind each text for which it is still read; how many."""
    taken = 0
    for path in list(_leaves(document)):
        other = copy.deepcopy(document)
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] += evil
        write(other)
        try:
            reads()
        except InputError as error:
            assert not _controls(str(error))
            assert "\n" not in str(error)
            continue
        document, taken = other, taken + 1
    write(document)
    return taken


# Machines and sources, below, get the printable string.
@pytest.fixture(params=further_slow(1, [CONTROL, PRINTABLE]), ids=["control", "printable"])
def evil(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def machine_file(folder: Path, evil: str) -> Path:
    path = folder / "m.yaml"
    original = yaml.safe_load((ROOT / "machines" / "epyc-7452.yaml").read_text())
    poisoned(
        original, evil, lambda d: path.write_text(yaml.safe_dump(d, allow_unicode=False)),
        lambda: load(str(path)),
    )  # fmt: skip
    return path


def hints_file(folder: Path, evil: str, name: str = "h.json") -> Path:
    path = folder / name
    if not (folder / "plain.json").exists():
        source = folder / "plain.c"
        source.write_text(SOURCE.replace("EVIL", "x"))
        called(folder, "predict", source, "-m", "dunnington", "--args", "5", "--format", "json",
               "-o", folder / "plain.json")  # fmt: skip
    document = json.loads((folder / "plain.json").read_text())
    poisoned(document, evil, lambda d: path.write_text(json.dumps(d)), lambda: read_hints(path))
    return path


# With either string: the source has control characters of its own.
@pytest.mark.parametrize(
    "evil", [PRINTABLE, pytest.param(CONTROL, marks=pytest.mark.slow)],
    ids=["printable", "control"], indirect=True,
)  # fmt: skip
def test_machines_and_sources(tmp_path: Path, evil: str) -> None:
    machine = machine_file(tmp_path, evil)
    folder = tmp_path / IN_A_NAME
    folder.mkdir()
    source = (folder / f"-{IN_A_NAME}.c").relative_to(tmp_path)
    text = SOURCE.replace("EVIL", evil.replace("\\", "\\\\").replace('"', '\\"').replace("\n", ""))
    (tmp_path / source).write_text(f'#line 1 "e\\nvil\\ntouch pwned"\n{text}')
    (tmp_path / "listed.json").write_text(json.dumps(
        [{"directory": str(tmp_path), "file": str(source), "arguments": ["cc", f"-D{evil}", "-c"]}]
    ))  # fmt: skip
    arguments = f"5 {shlex.quote(CONTROL)}"
    for form in ("table", "csv", "json", "sarif", "slurm", "openmp", "html"):
        judged(tmp_path, form, "predict", source, "-m", machine, "--args", arguments,
               "--format", form, "--all")  # fmt: skip
    for form in ("table", "csv", "json"):
        judged(tmp_path, form, "analyze", source, "--format", form)
    for form in ("table", "json", "yaml"):
        judged(tmp_path, form, "sizes", source, "-m", machine, "--format", form)
    for stage, frontend in zip(STAGES, FRONTENDS * 2, strict=True):
        judged(tmp_path, "dump", "predict", source, "-m", machine, "--dump", stage, "--frontend",
               frontend)  # fmt: skip
    for line in (7, 9):
        judged(tmp_path, "table", "explain", f"{source}:{line + 1}", "-m", machine)
    judged(tmp_path, "table", "predict", "listed.json", "-m", machine, must=False)
    for form in ("table", "html"):
        judged(tmp_path, form, "machines", "show", machine, "--format", form)
    judged(tmp_path, "table", "machines", "check", machine)
    (tmp_path / "host.xml").write_text(HWLOC.format(quoteattr(xml_text(evil))))
    judged(tmp_path, "yaml", "machines", "detect", "--hwloc", "host.xml", "--name", evil)


def test_settings_and_sizes(tmp_path: Path, evil: str) -> None:
    (tmp_path / "f.c").write_text(SOURCE.replace("EVIL", "x"))
    (tmp_path / "s.yaml").write_text(json.dumps({evil: 5, "n": 7}))
    predict = ("predict", "f.c", "-m", "dunnington")
    judged(tmp_path, "table", *predict, "--sizes", "s.yaml", must=False)
    judged(tmp_path, "table", *predict, "--set", f"{evil}=5", must=False)
    judged(tmp_path, "table", *predict, "--args", f"{evil}", must=False)
    judged(tmp_path, "table", *predict, "--only", evil, must=False)
    judged(tmp_path, "table", *predict, "-D", evil, must=False)
    for key in ("machine", "sizes", "include", "frontend", "std", "model", evil):
        (tmp_path / "regionpredict.toml").write_text(f"{json.dumps(key)} = {json.dumps(evil)}\n")
        judged(tmp_path, "table", "predict", "f.c", must=False)
        (tmp_path / "regionpredict.toml").write_text(
            f"[predict]\n{json.dumps(key)} = {json.dumps(evil)}\n"
        )
        judged(tmp_path, "table", *predict, must=False)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_macros_that_are_not_utf8(tmp_path: Path, frontend: str) -> None:
    """Bytes of a Makefile and of the command line are no text, and the loop keeps its row."""
    (tmp_path / "f.c").write_text(
        "double a[9];\nvoid f(void) {\n#pragma omp parallel for\n"
        "for (int i = 0; i < N; i++) a[i] = 1;\n}\n"
    )
    predict = ("predict", ".", "-m", "dunnington", "--frontend", frontend, "--format", "json")
    given = called(tmp_path, *predict, "-D", "N=\udcff")
    (tmp_path / "Makefile").write_bytes(b"N = \xff\nf.o: f.c\n\tcc -DN=$(N) -c f.c\n")
    for done in (given, called(tmp_path, *predict)):
        assert len(json.loads(done.stdout)["regions"]) == 1
        assert "RP002" in done.stderr
        assert "internal error" not in done.stderr


def test_hints_and_measurements(tmp_path: Path, evil: str) -> None:
    hints = hints_file(tmp_path, evil)
    for form in ("table", "json", "markdown"):
        judged(tmp_path, form, "diff", tmp_path / "plain.json", hints, "--format", form)
        judged(tmp_path, form, "diff", hints, tmp_path / "plain.json", "--format", form)
    other = hints.rename(tmp_path / f"{IN_A_NAME}.json")
    for form in ("table", "json", "slurm", "taskset"):
        judged(tmp_path, form, "coschedule", other, "plain.json", "-m", "dunnington",
               "--format", form, must=False)  # fmt: skip
    lines = [json.loads(line) for line in documents.campaign(tmp_path).splitlines()]
    runs = tmp_path / "m.jsonl"
    assert poisoned(
        lines, evil, lambda all_of: runs.write_text("".join(json.dumps(d) + "\n" for d in all_of)),
        lambda: (read_campaign(runs), model_experiment(read(runs), path=str(runs))),
    )  # fmt: skip
    for form in ("table", "json", "html"):
        judged(tmp_path, form, "compare", other, runs, "--other-machine", "--format", form,
               must=False)  # fmt: skip
    for form in ("table", "json", "csv", "html"):
        judged(tmp_path, form, "fit", runs, "--format", form, must=False)
    called(tmp_path, "run", "--hints", other, "--", "true")


@pytest.mark.slow
def test_points_and_expectations(tmp_path: Path, evil: str) -> None:
    line = evil.replace("\n", " ").replace("\r", " ")
    texts: dict[str, str] = {
        "p.txt": documents.TEXT.decode().replace("main", f"main{line}").replace("time", f"t{line}"),
        "q.txt": documents.TEXT.decode().replace(" p", f" p{line.replace(' ', '')}"),
        "t.csv": _table(f"main{evil}", f"time{evil}", "p"),
        "u.csv": _table("main", "time", evil),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for name, make in (("s.json", documents.short_json), ("l.json", documents.legacy_json)):
        path = tmp_path / name
        poisoned(
            json.loads(make()), evil, lambda d, path=path: path.write_text(json.dumps(d)),
            lambda path=path: read(path),
        )  # fmt: skip
    text = json.dumps(json.loads(documents.short_json())).replace('"p"', json.dumps(evil))
    (tmp_path / "k.json").write_text(
        text.replace('"main"', json.dumps(f"main{evil}")).replace('"time"', json.dumps(evil))
    )
    forms = ("table", "json", "csv", "html", "python", "latex", "extrap-text", "extrap-json",
             "data-csv")  # fmt: skip
    for name in (*texts, "s.json", "l.json", "k.json"):
        for form in forms:
            judged(tmp_path, form, "fit", name, "--format", form, must=False)
        if called(tmp_path, "fit", name, "--plot", f"{name}.svg").returncode == 0:
            as_xml((tmp_path / f"{name}.svg").read_text(), tmp_path)
    for drawing in ("contour", "surface"):
        words = ("fit", "q.txt", "--drawing", drawing, "--plot", "d.svg")
        if called(tmp_path, *words).returncode == 0:
            as_xml((tmp_path / "d.svg").read_text(), tmp_path)
    expected = yaml.safe_load(documents.EXPECTATIONS)
    (tmp_path / "m.txt").write_bytes(
        documents.MEASURED.replace(b"REGION g", f"REGION g{line}".encode())
    )
    expected["expectations"][1]["callpath"] += line
    expected["rules"] = []
    path = tmp_path / "e.yaml"
    from regionpredict.fit.expectations.expectation_file import check_file

    assert poisoned(
        expected, evil, lambda d: path.write_text(yaml.safe_dump(d)), lambda: check_file(path)
    )
    for form in ("table", "json", "html", "junit"):
        judged(tmp_path, form, "expect", path, "--format", form)


def _table(callpath: str, metric: str, parameter: str) -> str:
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["callpath", "metric", parameter, "value"])
    rows.writerows([callpath, metric, p, p + 0.5] for p in documents.P)
    return out.getvalue()


def test_task_graphs(tmp_path: Path, evil: str) -> None:
    quoted = '"' + evil.replace("\\", "\\\\").replace('"', '\\"') + '"'
    (tmp_path / "g.dot").write_text(f"digraph {quoted} {{ {quoted} [seconds=1]; b [label={quoted}, "
                                    f"seconds=2]; {quoted} -> b }}")  # fmt: skip
    graph = {"nodes": [{"id": evil, "seconds": 1, "task": 0, "place": f"{evil}.c:3"},
                       {"id": "b", "seconds": 2, "task": 0, "place": evil}],
             "edges": [{"source": evil, "target": "b"}]}  # fmt: skip
    (tmp_path / "g.json").write_text(json.dumps(graph))
    for name in ("g.dot", "g.json"):
        for form in ("table", "json", "html", "dot", "graph"):
            judged(tmp_path, form, "tasks", "show", name, "--format", form)
        judged(tmp_path, "table", "tasks", "simulate", name)
        called(tmp_path, "tasks", "show", name, "--plot", "g.svg")
        as_xml((tmp_path / "g.svg").read_text(), tmp_path)


@pytest.mark.slow
def test_traces(tmp_path: Path, evil: str) -> None:
    line = evil.replace("\n", " ").replace("\r", " ")
    name = f"{IN_A_NAME}.prv"
    (tmp_path / name).write_text(two_ranks.HEAD + two_ranks.BODY)
    labels = re.sub(r"(?m)(Writing|Outside MPI|MPI_Send|counter|Instr completed)$",
                    lambda m: m[0] + line, two_ranks.PCF)  # fmt: skip
    (tmp_path / f"{IN_A_NAME}.pcf").write_text(labels)
    (tmp_path / f"{IN_A_NAME}.row").write_text(two_ranks.ROW.replace("THREAD 1.1", f"{line} 1.1"))
    archive = otf2_archive(tmp_path, evil)
    for trace in (name, archive):
        if trace is None:
            continue
        for command in ("waits", "delays", "critical-path", "what-if"):
            for form in ("table", "json", "csv", "html"):
                judged(tmp_path, form, "trace", command, trace, "--format", form)
        for form in ("table", "json", "html"):
            judged(tmp_path, form, "trace", "imbalance", trace, "--format", form)
            judged(tmp_path, form, "trace", "factors", trace, "--format", form)
        called(tmp_path, "trace", "export", trace, "-o", "timeline.json")
        as_json((tmp_path / "timeline.json").read_text(), tmp_path)
        called(tmp_path, "trace", "waits", trace, "--plot", "t.svg")
        as_xml((tmp_path / "t.svg").read_text(), tmp_path)


def test_versions(tmp_path: Path, evil: str) -> None:
    """Names of versions are names of files."""
    name = f"-{IN_A_NAME}.json"
    (tmp_path / name).write_bytes(runs.VERSION)
    (tmp_path / "b.json").write_text(runs.VERSION.decode().replace("r2", json.dumps(evil)[1:-1]))
    for form in ("table", "json", "html"):
        words = ("trace", "history", "--format", form, "--badge", "b.svg", "--", name, "b.json")
        judged(tmp_path, form, *words)
        as_xml((tmp_path / "b.svg").read_text(), tmp_path)


def otf2_archive(folder: Path, evil: str) -> Path | None:
    """An archive whose names are hostile; none where OTF2 is not installed."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import synthetic_trace as s; "
        "from pathlib import Path; "
        "s.REGIONS = tuple(n if n.startswith('MPI') else n + sys.argv[3] for n in s.REGIONS); "
        "s.write_archive(Path(sys.argv[2]), 2, 3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "tests" / "benchmarks"), str(folder / "otf2"),
         evil], capture_output=True, text=True, check=False,
    )  # fmt: skip
    return folder / "otf2" / "traces.otf2" if done.returncode == 0 else None
