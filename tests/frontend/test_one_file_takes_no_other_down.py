"""A file that no parser survives is one RP004, and the files beside it keep their answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow
from reading import FRONTENDS

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for
from regionpredict.isolation import LIMITS
from regionpredict.pipeline import Analysis, analyse

LOW = LIMITS._replace(seconds=1, memory=256 << 20)
LOOP = """double a[10];
void f(void) {
#pragma omp parallel for
    for (int i = 0; i < 10; i++) a[i] = %s;
}
"""


def folder_of(tmp_path: Path, text: str, name: str | bytes = "bad.c") -> Path:
    for good in ("aa.c", "zz.c"):
        (tmp_path / good).write_text(LOOP % "1")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + os.fsencode(name))).write_text(text)
    return tmp_path


def lines_of(analysis: Analysis, name: str) -> list[int]:
    return [r.span.line for r in analysis.program.regions if Path(r.span.file).name == name]


def doubling(depth: int) -> str:
    """Macros of which each holds the one before twice."""
    lines = ["#define M0 1 +"]
    lines += [f"#define M{n} M{n - 1} M{n - 1}" for n in range(1, depth + 1)]
    return "\n".join(lines) + "\n" + LOOP % f"M{depth} 0"


CRASHES = LOOP % ("(int)" * 1500 + "0")
ENDLESS = "void g(int *p) { int x = (::p); }\n" + LOOP % "0"


@pytest.mark.parametrize("processes", further_slow(1, [1, 3]))
@pytest.mark.parametrize("text", [CRASHES, ENDLESS, doubling(26)], ids=["crash", "hang", "memory"])
def test_libclang_dies_of_one_file(tmp_path: Path, text: str, processes: int) -> None:
    requests = requests_for([str(folder_of(tmp_path, text))])
    analysis = analyse(requests, {}, frontend="libclang", processes=processes, limits=LOW)
    assert lines_of(analysis, "aa.c") == lines_of(analysis, "zz.c") == [3]
    (note,) = analysis.program.diagnostics
    assert (note.id, Path(note.span.file).name) == ("RP004", "bad.c")
    assert note.message.endswith("file left out")


def test_alone_it_is_the_one_error(tmp_path: Path) -> None:
    folder_of(tmp_path, CRASHES)
    with pytest.raises(InputError, match=r"bad\.c: crashed the parser"):
        analyse(requests_for([str(tmp_path / "bad.c")]), {}, frontend="libclang", limits=LOW)


@pytest.mark.parametrize("word", ["crash", "llvm_fatal_error", "overflow_stack", "parser_crash"])
def test_pragmas_that_crash_clang_on_purpose_do_nothing(tmp_path: Path, word: str) -> None:
    text = f"#pragma clang __debug {word}\n{LOOP % '1'}"
    requests = requests_for([str(folder_of(tmp_path, text))])
    analysis = analyse(requests, {}, frontend="libclang", limits=LIMITS)
    assert lines_of(analysis, "bad.c") == [4]


def test_pycparser_stops_at_macros_without_end(tmp_path: Path) -> None:
    requests = requests_for([str(folder_of(tmp_path, doubling(26)))])
    analysis = analyse(requests, {}, frontend="pycparser", limits=LIMITS)
    (note,) = analysis.program.diagnostics
    assert note.id == "RP004"
    assert "its macros expand to more than" in note.message
    assert lines_of(analysis, "aa.c") == lines_of(analysis, "zz.c") == [3]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("header", ["/dev/zero", "pipe.h", "/dev/tty", "/proc/kmsg", "long.h"])
@pytest.mark.parametrize("marks", further_slow(1, ['""', "<>"]))
def test_a_header_that_is_no_file_is_left_out(
    tmp_path: Path, frontend: str, header: str, marks: str
) -> None:
    os.mkfifo(tmp_path / "pipe.h")
    with (tmp_path / "long.h").open("wb") as file:
        file.truncate(1 << 40)
    text = f"#include {marks[0]}{header}{marks[1]}\n" + LOOP % "0"
    requests = requests_for([str(folder_of(tmp_path, text))], (), [str(tmp_path)])
    analysis = analyse(requests, {}, frontend=frontend, limits=LOW)
    assert lines_of(analysis, "bad.c") == [4]
    assert [note.id for note in analysis.program.diagnostics] == ["RP001"]


@pytest.mark.parametrize("option", ["-include", "-imacros"])
def test_a_pipe_in_an_option_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe.h")
    (tmp_path / "a.c").write_text(LOOP % "0")
    call = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", option, "pipe.h"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([call]))
    requests = requests_for(["compile_commands.json"])
    analysis = analyse(requests, {}, frontend="libclang", limits=LOW)
    assert lines_of(analysis, "a.c") == [3]
    assert [note.id for note in analysis.program.diagnostics] == ["RP001"]


def test_a_parser_that_waits_for_a_pipe_is_ended(tmp_path: Path) -> None:
    """However the file names it."""
    os.mkfifo(tmp_path / "pipe.h")
    text = f'#if __has_include("pipe.h")\n#endif\n{LOOP % "0"}'
    requests = requests_for([str(folder_of(tmp_path, text))])
    analysis = analyse(requests, {}, frontend="libclang", limits=LIMITS._replace(idle_seconds=3.0))
    (note,) = analysis.program.diagnostics
    assert (note.id, Path(note.span.file).name) == ("RP004", "bad.c")
    assert "waited 3 s for a file" in note.message
    assert lines_of(analysis, "aa.c") == lines_of(analysis, "zz.c") == [3]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_source_is_not_read_beyond_its_limit(tmp_path: Path, frontend: str) -> None:
    with (folder_of(tmp_path, LOOP % "0") / "long.c").open("wb") as file:
        file.truncate(1 << 40)
    analysis = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend, limits=LOW)
    (note,) = analysis.program.diagnostics
    assert (note.id, note.message) == ("RP004", "has more than 64 MiB: file left out")
    assert len(analysis.program.regions) == 3


@pytest.mark.parametrize("header", ["pipe.h", "./pipe.h", "sub/pipe.h"])
@pytest.mark.parametrize("folder", [".", "./sub", "sub"])
def test_a_pipe_below_the_current_folder_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, header: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub" / "sub").mkdir(parents=True)
    for place in (".", "sub", "sub/sub"):
        os.mkfifo(tmp_path / place / "pipe.h")
    (tmp_path / folder / "bad.c").write_text(f'#include "{header}"\n' + LOOP % "0")
    requests = requests_for([f"{folder}/bad.c"], (), [folder])
    analysis = analyse(requests, {}, frontend="libclang", limits=LOW)
    assert [region.span.line for region in analysis.program.regions] == [4]
    assert {note.id for note in analysis.program.diagnostics} == {"RP001"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_include_name_of_thousands_of_letters(tmp_path: Path, frontend: str) -> None:
    text = f'#include "{"a" * 5000}.h"\n' + LOOP % "0"
    analysis = analyse(requests_for([str(folder_of(tmp_path, text))]), {}, frontend=frontend)
    assert lines_of(analysis, "bad.c") == [4]
    (note,) = analysis.program.diagnostics
    assert note.id == "RP001"
    assert len(str(note)) < 400


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_name_that_looks_like_an_option_is_a_file(
    tmp_path: Path, frontend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "-x.c").write_text(LOOP % "1")
    monkeypatch.chdir(tmp_path)
    analysis = analyse(requests_for(["-x.c"]), {}, frontend=frontend)
    assert lines_of(analysis, "-x.c") == [3]
    assert not analysis.program.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_source_that_is_a_pipe(tmp_path: Path, frontend: str) -> None:
    folder_of(tmp_path, LOOP % "0")
    os.mkfifo(tmp_path / "pipe.c")
    analysis = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend, limits=LOW)
    (note,) = analysis.program.diagnostics
    assert note.id == "RP004"
    assert "not a regular file" in note.message
    assert len(analysis.program.regions) == 3
    with pytest.raises(InputError, match="not a regular file"):
        requests_for([str(tmp_path / "pipe.c")])


@pytest.mark.parametrize("frontend", further_slow(1, FRONTENDS))
@pytest.mark.parametrize("name", [b"caf\xe9.c", b"two\nlines.c"], ids=["latin-1", "newline"])
@pytest.mark.parametrize("form", further_slow(2, ["table", "json", "csv"]))
def test_odd_file_names_are_one_line(tmp_path: Path, frontend: str, name: bytes, form: str) -> None:
    folder = folder_of(tmp_path, LOOP % "0", os.fsdecode(name))
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", str(folder), "-m", "dunnington",
         "--frontend", frontend, "--format", form],
        capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.returncode == 0
    notes = [line for line in done.stderr.decode().splitlines() if "RP004" in line]
    assert len(notes) == 1
    assert "rename it" in notes[0] or "not one line of UTF-8 text" in notes[0]
    assert "Traceback" not in done.stderr.decode()
    assert b"aa.c" in done.stdout or form == "table"


def test_an_odd_name_alone_is_an_error_in_one_line(tmp_path: Path) -> None:
    folder_of(tmp_path, LOOP % "0", "two\nlines.c")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", str(tmp_path / "two\nlines.c"),
         "-m", "dunnington"], capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    assert rb"two\nlines.c" in done.stderr
