"""An answer given again is the answer that a run would give, to the byte; otherwise it is made.

Whether an answer came from the cache is told by a mark: the tests write it into every answer that
is kept, digest included, so that only a run that is made prints none.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from further_cases import further_slow

sys.path.append(str(Path(__file__).parents[1] / "readers"))
from spoilt_inputs import mutants

from regionpredict.cli import result_cache as cache_module
from regionpredict.file_dependencies import FileDependencies, Tree, dependency_fingerprint
from regionpredict.frontend import FRONTENDS

ROOT = Path(__file__).parents[2]
MARK = "from the cache\n"
MAIN = """#include "sizes.h"
#include "shared/kinds.h"
#include <math.h>
#if __has_include("extra.h")
#include "extra.h"
#endif
#ifndef FACTOR
#define FACTOR 1
#endif
real a[N], b[N];
void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < FACTOR * N / 4; i++) a[i] = sqrt(b[i]);
}
"""
OTHER = """void add(int n, double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += y[i];
}
"""
MACHINE = """name: small
description: two packages of two cores
source: made up for this test
evidence: assumed
node: {packages: 2, cores_per_package: 2, clock: 1 GHz}
caches:
  - {level: 1, size: 32 KiB, cores: 1}
memory:
  bandwidth:
    load: {1: 4, 2: 6}
"""
PREDICT = ("predict", "src", "-I", "first", "-I", "second", "-m", "small.yaml", "--all")


class Outcome(NamedTuple):
    code: int
    out: bytes
    err: bytes


class Project:
    """A small program in a folder, and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.cache = folder / "cache"
        self.package = ROOT
        self.allows_another_trial: dict[str, str] = {}
        for below in ("src", "first", "second/shared"):
            (self.folder / below).mkdir(parents=True)
        self.write("src/main.c", MAIN)
        self.write("src/other.c", OTHER)
        self.write("second/sizes.h", "#define N 4096\n")
        self.write("second/shared/kinds.h", "typedef double real;\n")
        self.write("small.yaml", MACHINE)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != cache_module.SWITCH}
        own = {"XDG_CACHE_HOME": str(self.cache), "PYTHONPATH": str(self.package)}
        return {**kept, **own, **self.allows_another_trial}

    def start(self, *words: str, cwd: str = ".") -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "regionpredict", *words], cwd=self.folder / cwd,
            env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *words: str, cwd: str = ".") -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", *words], cwd=self.folder / cwd,
            env=self.environment(), capture_output=True, check=False,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    def answers(self) -> list[Path]:
        return sorted((self.cache / "regionpredict" / "results").glob("*.answer"))

    def mark(self) -> None:
        """Puts the mark in front of every answer."""
        for path in self.answers():
            schema, printed = json.loads(path.read_bytes().partition(b"\n")[2])
            if not printed or printed[0] != [1, MARK]:
                rewrite(path, json.dumps([schema, [[1, MARK], *printed]]).encode())

    def is_kept(self, *words: str, cwd: str = ".") -> bool:
        """Whether the answer comes from the cache; if not, it must be the one of a run."""
        self.mark()
        given = self.run(*words, cwd=cwd)
        assert given.code == 0
        if given.out.startswith(MARK.encode()):
            return True
        assert given == self.run(*words, "--no-cache", cwd=cwd)
        return False


def rewrite(path: Path, body: bytes) -> None:
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


FORMS: tuple[tuple[str, ...], ...] = (
    PREDICT,
    (*PREDICT, "--format", "json"),
    (*PREDICT, "--format", "csv", "--model", "density", "-j", "1"),
    (*PREDICT, "--frontend", "pycparser", "--threads", "1,2"),
    (*PREDICT, "--dump", "facts"),
    ("predict", "src", "-m", "dunnington"),  # its headers are guessed: a note on standard error
    ("analyze", "src/other.c", "--set", "n=100"),
    ("analyze", "src", "-I", "second", "--format", "json"),
    ("explain", "src/other.c:3", "-m", "small.yaml"),
    ("explain", "src/main.c:12", "-I", "second", "-m", "dunnington", "--model", "density"),
)


@pytest.mark.parametrize("words", further_slow(5, [pytest.param(w, id=" ".join(w)) for w in FORMS]))
def test_the_answer_given_again_is_the_one_of_a_run(
    project: Project, words: tuple[str, ...]
) -> None:
    without = project.run(*words, "--no-cache")
    assert without.code == 0
    assert without.out
    assert project.answers() == []
    assert project.run(*words) == without
    assert len(project.answers()) == 1
    assert project.run(*words) == without
    assert project.is_kept(*words)


def edit(name: str, text: str) -> Callable[[Project], None]:
    return lambda project: project.write(name, text)


CHANGES: dict[str, Callable[[Project], None]] = {
    "a source": edit("src/other.c", OTHER.replace("i < n", "i < 2 * n")),
    "a header": edit("second/sizes.h", "#define N 8192\n"),
    "a header in a folder below": edit("second/shared/kinds.h", "typedef float real;\n"),
    "a header earlier in the path": edit("first/sizes.h", "#define N 64\n"),
    "a header in the source's own folder": edit("src/sizes.h", "#define N 64\n"),
    "a folder below, earlier in the path": edit("first/shared/kinds.h", "typedef float real;\n"),
    "a system header in front of the system's": edit("first/math.h", "#define FACTOR 2\n"),
    "a new source": edit("src/below/third.c", OTHER.replace("add", "more")),
    "a source less": lambda project: (project.folder / "src/other.c").unlink(),
    "the machine": edit("small.yaml", MACHINE.replace("1 GHz", "3 GHz")),
    "commands for the folder": lambda project: project.write(
        "src/compile_commands.json",
        json.dumps([{"directory": ".", "file": "main.c", "command": "cc -DFACTOR=3 main.c"}]),
    ),
}
_FIRST = ("a source", "a header", "a header earlier in the path", "a source less", "the machine",
          "commands for the folder")  # fmt: skip


@pytest.mark.parametrize(
    ("change", "frontend"),
    [
        pytest.param(change, frontend, marks=[pytest.mark.slow] if again or further else [])
        for further, change in [(change not in _FIRST, change) for change in CHANGES]
        for again, frontend in enumerate(FRONTENDS)
    ],
)
def test_a_change_of_what_it_depends_on_makes_a_run(
    project: Project, change: str, frontend: str
) -> None:
    words = (*PREDICT, "--frontend", frontend)
    before = project.run(*words)
    assert project.is_kept(*words)
    CHANGES[change](project)
    assert not project.is_kept(*words)
    assert project.run(*words, "--no-cache") != before  # the change is one that is seen


def test_a_header_that_the_text_asks_after(project: Project) -> None:
    before = project.run(*PREDICT)
    project.write("second/extra.h", "#define FACTOR 2\n")
    assert not project.is_kept(*PREDICT)
    assert project.run(*PREDICT, "--no-cache") != before


def test_a_header_that_was_missing_everywhere(project: Project) -> None:
    project.write("src/other.c", '#include <absent.h>\n#include "away/none.h"\n' + OTHER)
    words = ("predict", "src/other.c", "-m", "small.yaml")
    assert b"absent.h" in project.run(*words).err
    assert project.is_kept(*words)
    project.write("src/util/away/none.h", "#define n 100\n")  # a folder that would be guessed
    assert not project.is_kept(*words)


def test_other_words_another_folder_another_environment(project: Project) -> None:
    project.run(*PREDICT)
    assert project.is_kept(*PREDICT)
    assert not project.is_kept(*PREDICT, "--within", "1")
    shutil.copytree(project.folder, project.folder / "copy")
    assert not project.is_kept(*PREDICT, cwd="copy")
    project.allows_another_trial = {"COLUMNS": "40"}
    assert not project.is_kept(*PREDICT)
    project.allows_another_trial = {"CPATH": "first"}  # folders that the parser takes by itself
    kept = len(project.answers())
    assert not project.is_kept(*PREDICT)
    assert len(project.answers()) == kept


def test_a_change_of_the_program_makes_a_run(project: Project, tmp_path: Path) -> None:
    project.package = tmp_path / "program"
    left_out = shutil.ignore_patterns("__pycache__")
    for name in ("regionpredict", "machines"):
        shutil.copytree(ROOT / name, project.package / name, ignore=left_out)
    project.run(*PREDICT)
    assert project.is_kept(*PREDICT)
    changed = project.package / "regionpredict" / "report" / "names.py"
    changed.write_text(changed.read_text() + "# a line more\n")
    assert not project.is_kept(*PREDICT)


def test_the_text_counts_and_not_its_time_and_an_old_text_is_still_known(project: Project) -> None:
    project.run(*PREDICT)
    os.utime(project.folder / "src/main.c", (1, 1))
    project.write("src/notes.txt", "of no interest\n")
    assert project.is_kept(*PREDICT)
    project.write("src/main.c", MAIN.replace("sqrt(b[i])", "b[i]"))
    assert not project.is_kept(*PREDICT)
    project.write("src/main.c", MAIN)
    assert project.is_kept(*PREDICT)


def test_what_is_not_kept(project: Project) -> None:
    for words in ((*PREDICT, "-o", "out.txt"), (*PREDICT, "--timings")):
        assert project.run(*words).code == 0
    (project.folder / "out.txt").unlink()
    assert project.run(*PREDICT, "-o", "out.txt").code == 0
    assert (project.folder / "out.txt").read_text().startswith("Use ")
    assert project.run("predict", "src", "-m", "absent.yaml").code == 1
    assert project.run("predict", "src").code == 2
    project.write("src/computed.c", '#define NAME "sizes.h"\n#include NAME\n' + OTHER)
    assert project.run(*PREDICT).code == 0
    assert project.answers() == []


def damaged(good: bytes) -> dict[str, bytes]:
    body = good.partition(b"\n")[2]

    def with_digest(text: bytes) -> bytes:
        return hashlib.sha256(text).hexdigest().encode() + b"\n" + text

    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    return {
        "empty": b"",
        "half": good[: len(good) // 2],
        "one byte less": good[:-1],
        "one bit": bytes(flipped),
        "no digest": body,
        "no JSON": with_digest(b"\x80\x04 no JSON"),
        "another schema": with_digest(b'[99,[[1,"x"]]]'),
        "another kind": with_digest(b'{"a":1}'),
        "wrong fields": with_digest(b'[1,[[3,"x"],[1,2]]]'),
        "deep": with_digest(b"[" * 100_000),
    }


@pytest.mark.parametrize("suffix", further_slow(1, ["answer", "questions"]))
def test_a_damaged_file_is_no_answer(project: Project, suffix: str) -> None:
    good = project.run(*PREDICT)
    (path,) = (project.cache / "regionpredict" / "results").glob(f"*.{suffix}")
    written = path.read_bytes()
    for name, content in damaged(written).items():
        path.write_bytes(content)
        assert project.run(*PREDICT) == good, name
        assert path.read_bytes() == written, name  # made anew
    assert project.is_kept(*PREDICT)


def test_a_damaged_text_with_its_digest_is_no_answer_and_no_error(tmp_path: Path) -> None:
    """Only its owner can write it. Paths of another run may have any characters."""
    known = FileDependencies(
        (str(tmp_path),), ("/etc/hosts",), ("a.h",), ((("/usr",), ("b.h",)),), ("/usr",),
        (Tree("/usr/include", ("c.h",), (".h",), ("x",), 4),),
    )  # fmt: skip
    questions = json.dumps(known).encode()
    assert cache_module._parse_dependencies(questions) == known
    answer = json.dumps([1, [[1, "table\n"], [2, "note \ud83d\ude00\n"]]]).encode()
    assert cache_module._parse_pieces(answer) == [(1, "table\n"), (2, "note \U0001f600\n")]
    texts = [*mutants(questions, 300, seed=1), questions.replace(b"a.h", b"\\u0000"),
             questions.replace(b"4]", b"1e999]")]  # fmt: skip
    for text in texts:
        found = cache_module._parse_dependencies(text)
        if found is not None:
            dependency_fingerprint(found._replace(trees=()))
    for text in (*mutants(answer, 300, seed=2), answer.replace(b"[1, ", b"[1e999, "),
                 answer.replace(b"\\ud83d", b"")):  # fmt: skip
        printed = cache_module._parse_pieces(text)
        assert printed is None or "".join(piece for _, piece in printed).encode() is not None


def as_file(cache: Path) -> None:
    cache.write_text("no folder")


def as_link(cache: Path) -> None:
    (cache / "regionpredict").mkdir(parents=True, mode=0o700)
    (cache / "elsewhere").mkdir()
    (cache / "regionpredict" / "results").symlink_to(cache / "elsewhere")


def open_to_others(cache: Path) -> None:
    (cache / "regionpredict" / "results").mkdir(parents=True, mode=0o700)
    (cache / "regionpredict" / "results").chmod(0o777)


@pytest.mark.parametrize("make", [as_file, as_link, open_to_others])
def test_without_a_folder_of_its_own_nothing_is_kept(
    project: Project, make: Callable[[Path], None]
) -> None:
    good = project.run(*PREDICT, "--no-cache")
    make(project.cache)
    assert project.run(*PREDICT) == good
    assert not list(project.cache.rglob("*.answer"))
    assert project.run("cache", "show").code == 1


def test_two_runs_at_once(project: Project) -> None:
    good = project.run(*PREDICT, "--no-cache")
    runs = [project.start(*PREDICT) for _ in range(3)]
    for process in runs:
        out, err = process.communicate()
        assert Outcome(process.returncode, out, err) == good
    assert len(project.answers()) == 1
    assert project.run(*PREDICT) == good
    assert not list(project.cache.rglob("*.part"))


def test_what_is_kept_is_text_for_its_owner_alone(project: Project) -> None:
    project.run(*PREDICT)
    files = [path for path in project.cache.rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in files) == [".answer", ".questions"]
    for path in files:
        digest, _, body = path.read_bytes().partition(b"\n")
        assert digest.decode() == hashlib.sha256(body).hexdigest()
        assert isinstance(json.loads(body), list)
        assert path.stat().st_mode & 0o777 == 0o600


def test_show_and_clear(project: Project) -> None:
    project.run(*PREDICT)
    shown = project.run("cache", "show")
    assert shown.code == 0
    assert b": 1 answer, 0.0 MiB of at most 256 MiB" in b" ".join(shown.out.split())
    assert project.run("cache", "clear") == Outcome(0, b"", b"")
    assert project.answers() == []
    assert not project.is_kept(*PREDICT)


def test_an_answer_loads_nothing_that_a_command_needs(project: Project) -> None:
    project.run(*PREDICT)
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "regionpredict", *PREDICT],
        cwd=project.folder, env=project.environment(), capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "regionpredict.cli.result_cache" in names
    heavy = {"click", "numpy", "yaml", "ctypes", "pickle", "pycparser", "regionpredict.frontend"}
    assert not names & heavy


def test_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_BYTES", 250)
    for age, name in enumerate(("new", "middle", "old")):
        path = tmp_path / f"{name}.answer"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    (tmp_path / "of-somebody-else.txt").write_bytes(b"x" * 1000)
    cache_module._remove_oldest(tmp_path)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["middle.answer", "new.answer", "of-somebody-else.txt"]


@pytest.mark.slow
def test_random_edits(project: Project) -> None:
    """Whatever is edited, with answers kept the program says what it says without."""
    choose = random.Random(20)
    texts = {
        "src/main.c": [MAIN, MAIN.replace("sqrt(b[i])", "b[i] + 1")],
        "src/new.c": [OTHER.replace("add", "new")],
        "src/deep/new.c": [OTHER.replace("add", "deep"), '#include "../sizes.h"\n' + OTHER],
        "second/sizes.h": ["#define N 4096\n", "#define N 128\n"],
        "first/sizes.h": ["#define N 64\n"],
        "src/sizes.h": ['#include_next "sizes.h"\n', "#define N 32\n"],
        "first/shared/kinds.h": ["typedef float real;\n"],
        "second/extra.h": ["#define FACTOR 2\n", "/* nothing */\n"],
        "small.yaml": [MACHINE, MACHINE.replace("1 GHz", "2 GHz")],
    }
    kept = 0
    for _ in range(14):
        name = choose.choice(sorted(texts))
        path = project.folder / name
        if path.exists() and name not in ("src/main.c", "second/sizes.h", "small.yaml"):
            path.unlink()
        else:
            project.write(name, choose.choice(texts[name]))
        without = project.run(*PREDICT, "--no-cache")
        before = len(project.answers())
        assert project.run(*PREDICT) == without, name
        kept += len(project.answers()) == before
    assert kept  # some states came again


def test_a_pipe_in_a_files_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.h")
    assert dependency_fingerprint(FileDependencies(contents=(str(tmp_path / "x.h"),))) is None
    assert dependency_fingerprint(FileDependencies(identities=(str(tmp_path / "x.h"),))) is None
    assert dependency_fingerprint(FileDependencies(contents=(str(tmp_path / "absent.h"),))) is None


def test_each_question_tells_its_own_change(tmp_path: Path) -> None:
    def asked(dependencies: FileDependencies) -> str:
        given = dependency_fingerprint(dependencies)
        assert given is not None
        return given.digest

    top = str(tmp_path)
    questions = {
        "presence": FileDependencies(presence=(f"{top}/a.h",)),
        "name": FileDependencies(searches=(((top,), ("a.h", "b/c.h")),)),
        "absent folder": FileDependencies(searches=(((f"{top}/b",), ("c.h",)),)),
        "up": FileDependencies(searches=(((f"{top}/b",), ("../a.h",)),)),
        "listing": FileDependencies(listings=(top,)),
        "tree": FileDependencies(trees=(Tree(top, suffixes=(".h",)),)),
        "named tree": FileDependencies(trees=(Tree(top, names=("c.h",)),)),
    }
    states = [{name: asked(question) for name, question in questions.items()}]

    def changed() -> set[str]:
        states.append({name: asked(question) for name, question in questions.items()})
        return {name for name in questions if states[-1][name] != states[-2][name]}

    (tmp_path / "a.h").touch()
    assert changed() == {"presence", "name", "listing", "tree"}
    (tmp_path / "b").mkdir()
    assert changed() == {"name", "absent folder", "up", "listing"}
    (tmp_path / "b" / "c.h").touch()
    assert changed() == {"name", "absent folder", "tree", "named tree"}
    (tmp_path / "b" / "d.h").touch()
    assert changed() == {"tree"}


@pytest.mark.parametrize(
    ("file", "text"),
    further_slow(
        2,
        [
            (
                "src/quiet3.c",
                "void add(int, double *, double *);\nint q3(void) { add(4, 0, 0); }\n",
            ),
            ("src/quiet3.c", OTHER.replace("add", "more")),
            ("second/quiet.h", "static " + OTHER.replace("add", "more")),
            ("second/later.h", "static " + OTHER.replace("add", "more")),
        ],
    ),
    ids=["a-call", "a-loop", "a-loop-in-its-header", "a-header-that-was-missing"],
)
def test_a_file_that_was_not_worth_reading_becomes_so(
    project: Project, file: str, text: str
) -> None:
    project.write("second/quiet.h", "int q(void);\n")
    include = '#include "quiet.h"\n#if __has_include("later.h")\n#include "later.h"\n#endif\n'
    for number in range(9):
        project.write(f"src/quiet{number}.c", f"{include}int q{number}(void) {{ return 1; }}\n")
    project.run(*PREDICT)
    assert project.is_kept(*PREDICT)
    project.write(file, text)
    assert not project.is_kept(*PREDICT)
