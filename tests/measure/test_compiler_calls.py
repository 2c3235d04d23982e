"""A call through the wrapper leaves what the compiler's own leaves: words, files, exit code."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from further_cases import further_slow
from measured_programs import WRAPPER, environment

ONE = """#include <stdio.h>
#include "size.h"
#define MORE(a, b) ((a) > (b) ? (a) : (b))
double a[SIZE];
int main(void)
{
    double s = 0;
    unsigned limit = SIZE;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < SIZE; i++) {
        a[i] = MORE(i, limit);
        s += a[i];
    }
    printf("%g %d\\n", s, SIDE);
    return 0;
}
"""
SIDE = "int side(n, a) int n; double *a;\n{\n    int i, unused;\n#pragma omp parallel for\n" + (
    "    for (i = 0; i < n; i++)\n        a[i] = n; int late;\n    return n;\n}\n"
)
ASSEMBLER = '.globl em\nem: ret\n.section .note.GNU-stack,"",@progbits\n'

# Words of the call, and the program that it makes, if any.
COMPILED = [
    "-c one.c",
    "-c one.c -MD",
    "-c one.c -o sub/q.lo -MMD",
    "-c one.c -o sub/q -MD -MP",
    "-c one.c -o q.o -MMD -MF sub/q.Tpo -MT odd.o",
    "-c one.c -o q.o -MD -MFsub/q.Tpo -MQodd.o",
    "-c one.c -o q.o -Wp,-MD,sub/z.d",
    "-c one.c -o q.o -Wp,-MMD,sub/z.d -Wp,-MT,zz.o",
    "-c one.c side.c -MD",
    "-c one.c side.c -o both.o",
    "-c -x c++ one.c",
    "-c one.c -save-temps",
    "-c one.c -o sub/q.o --coverage",
    "-c one.c -o sub/q.o -fstack-usage",
    "-c one.c -o sub/q.o -g -gsplit-dwarf",
    "-c one.c -P",
    "-c one.c -o /dev/null",
    "-c side.c -Wall -Wextra",
    "-c one.c -Wall -Wextra",
    "-c one.c -Wall -Wextra -Werror",
    "-S one.c",
    "--compile one.c",
]
LINKED = [
    "one.c -o program -MD",
    "one.c side.c -o program -MD",
    "one.c -MMD -MF one.dep -o program",
    "one.c em.s -o program",
    "-x c one.txt -o program",
    "-xc one.txt -xnone side.o -o program",
    "@words -o program",
    "-include pre.h one.c -o program",
    "-save-temps one.c -o program",
    "-O2 -flto one.c -o program",
    "-pipe one.c -o program",
    "-fno-openmp -fopenmp one.c -o program",
]


def _project(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "size.h").write_text("#define SIZE 50\n#ifndef SIDE\n#define SIDE 7\n#endif\n")
    (folder / "one.c").write_text(ONE)
    (folder / "one.txt").write_text(ONE)
    (folder / "side.c").write_text(SIDE)
    (folder / "em.s").write_text(ASSEMBLER)
    (folder / "words").write_text('"one.c" -I .\n')
    (folder / "pre.h").write_text("#define SIDE 9\n")
    subprocess.run(["gcc", "-c", "side.c", "-w"], cwd=folder, check=True, timeout=600)
    return folder


def _left(folder: Path) -> dict[str, str]:
    """The files and, of those that are text, what stands in them."""
    return {
        str(path.relative_to(folder)): path.read_text()
        if path.suffix in (".d", ".Tpo", ".dep", ".su")
        else ""
        for path in folder.rglob("*")
        if path.is_file()
    }


def _call(folder: Path, line: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(
        line, cwd=folder, capture_output=True, text=True, timeout=600, env=environment(),
        check=False, input="",
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def _both(tmp_path: Path, compiler: str, words: str) -> tuple[Path, Path]:
    """The call without and with the wrapper, in two folders; what they left and said is equal."""
    folders = _project(tmp_path / "plain" / "here"), _project(tmp_path / "ours" / "here")
    line = [compiler, "-fopenmp", *words.split()]
    plain, ours = _call(folders[0], line), _call(folders[1], [*WRAPPER, *line])
    assert ours == plain
    assert _left(folders[1]) == _left(folders[0])
    return folders


def _measures(file: Path) -> bool:
    return b"regionpredict_end" in file.read_bytes()


@pytest.mark.parametrize("words", further_slow(6, COMPILED))
def test_a_compilation(tmp_path: Path, gcc: str, words: str) -> None:
    plain, ours = _both(tmp_path, gcc, words)
    objects = [one for one in ours.rglob("*") if one.suffix in (".o", ".lo") or one.name == "q"]
    made = [one for one in objects if _measures(one)]
    aside = ("-S", "--compile", "/dev/null", "both.o", "-Werror")
    assert bool(made) != any(word in aside for word in words.split())
    assert not any(_measures(one) for one in plain.rglob("*") if one.is_file())


@pytest.mark.parametrize("words", further_slow(2, LINKED))
def test_a_program(tmp_path: Path, gcc: str, words: str) -> None:
    plain, ours = _both(tmp_path, gcc, words)
    results = tmp_path / "results"
    said = [
        subprocess.run(
            ["./program"], cwd=folder, capture_output=True, text=True, timeout=600, check=True,
            env=environment(REGIONPREDICT_OUTPUT=str(results)),
        ).stdout
        for folder in (plain, ours)
    ]  # fmt: skip
    assert said[0] == said[1] == f"2500 {9 if 'pre.h' in words else 7}\n"
    assert results.read_text().count('"trips":50,"least_trips"') == 1


@pytest.mark.parametrize(
    "words",
    further_slow(
        1,
        [
            "-c one.c -o q.o -MMD -MF sub/q.Tpo -MT odd.o",
            "-c one.c -o q.o -Wp,-MD,sub/z.d",
            "-c one.c -o sub/q.o --coverage",
            "-c side.c one.c -Weverything",
            "-c one.c -MJ sub/words.json",
            "one.c -o program -MD",
            "-c one.c -C",
        ],
    ),
)
def test_clang(tmp_path: Path, words: str) -> None:
    if shutil.which("clang-19") is None or shutil.which("gcc") is None:
        pytest.skip("needs clang-19 and gcc")
    _both(tmp_path, "clang-19", words)


def test_a_profiled_program_in_one_call_is_left_alone(tmp_path: Path, gcc: str) -> None:
    folder = _project(tmp_path / "here")
    line = [*WRAPPER, gcc, "-fopenmp", "--coverage", "one.c", "-o", "program"]
    note = "regionpredict: one.c: profiled and linked in one call: not measured\n"
    assert _call(folder, line) == (0, "", note)
    assert (folder / "program-one.gcno").exists()


def test_clang_with_a_precompiled_header(tmp_path: Path) -> None:
    if shutil.which("clang-19") is None or shutil.which("gcc") is None:
        pytest.skip("needs clang-19 and gcc")
    folder = _project(tmp_path / "here")
    made = ["clang-19", "-fopenmp", "-x", "c-header", "pre.h", "-o", "pre.pch"]
    assert _call(folder, made)[0] == 0
    words = [f"-Xclang {word}" for word in ("-include-pch", "pre.pch", "-include", "pre.h")]
    line = ["clang-19", "-fopenmp", *" ".join(words).split(), "-c", "one.c"]
    assert _call(folder, [*WRAPPER, *line]) == (0, "", "")
    assert _measures(folder / "one.o")
