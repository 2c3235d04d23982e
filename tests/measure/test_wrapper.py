"""`regionpredict cc` as the compiler of builds that know nothing of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from further_cases import further_slow
from measured_programs import WRAPPER, environment, run_measured

LOOP = """#include <stdio.h>
#include "size.h"
double a[SIZE];
double work(void)
{
    double s = 0;
#pragma omp parallel for reduction(+:s)
    for (int i = 0; i < SIZE; i++) {
        a[i] = i;
        s += a[i];
    }
    return s;
}
"""
MAIN = """#include <stdio.h>
double work(void);
int main(void) { printf("%g\\n", work()); return 0; }
"""


def _project(folder: Path) -> None:
    (folder / "include").mkdir(parents=True)
    (folder / "loop.c").write_text(LOOP)
    (folder / "main.c").write_text(MAIN)
    (folder / "include" / "size.h").write_text("#define SIZE 50\n")


def _run(line: list[str], cwd: Path, *, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line, capture_output=True, text=True, cwd=cwd, timeout=600, env=environment(), check=False,
        input=stdin,
    )  # fmt: skip


def _cc(compiler: str, cwd: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return _run([*WRAPPER, compiler, *words], cwd, stdin=stdin)


def test_a_makefile_build(tmp_path: Path, compiler: str) -> None:
    _project(tmp_path)
    (tmp_path / "Makefile").write_text(
        "CFLAGS = -O2 -fopenmp -Wall -Werror -Iinclude -MD\n"
        "program: loop.o main.o\n\t$(CC) $(CFLAGS) -o $@ loop.o main.o\n"
        "-include loop.d main.d\n"
    )
    done = _run(["make", f"CC={' '.join(WRAPPER)} {compiler}"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "loop.c").read_text() == LOOP
    lines = run_measured([str(tmp_path / "program")])
    assert [(r["line"], r["trips"]) for r in lines[1:]] == [(7, 50)]
    assert lines[1]["file"] == str(tmp_path / "loop.c")
    assert f"{compiler} -O2 -fopenmp" in lines[1]["build"]
    rule = " ".join((tmp_path / "loop.d").read_text().replace("\\\n", " ").split())
    assert rule.startswith("loop.o: loop.c ")
    assert rule.endswith("include/size.h")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_a_cmake_build(tmp_path: Path, gcc: str) -> None:
    _project(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nfind_package(OpenMP REQUIRED)\n"
        "add_library(loop STATIC loop.c)\ntarget_include_directories(loop PRIVATE include)\n"
        "target_link_libraries(loop OpenMP::OpenMP_C)\n"
        "add_executable(program main.c)\ntarget_link_libraries(program loop)\n"
    )
    script = tmp_path / "measuring-cc"
    script.write_text(f'#!/bin/sh\nexec {" ".join(WRAPPER)} {gcc} "$@"\n')
    script.chmod(0o755)
    done = _run(["cmake", "-B", "build", f"-DCMAKE_C_COMPILER={script}"], tmp_path)
    assert done.returncode == 0, done.stderr
    done = _run(["cmake", "--build", "build"], tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert len(run_measured([str(tmp_path / "build" / "program")])) == 2


def test_several_sources_in_one_call(tmp_path: Path, compiler: str) -> None:
    _project(tmp_path)
    done = _cc(compiler, tmp_path, "-fopenmp", "-Iinclude", "-c", "loop.c", "main.c")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "loop.o").exists()
    assert (tmp_path / "main.o").exists()
    done = _cc(compiler, tmp_path, "-fopenmp", "-Iinclude", "loop.c", "main.c", "-o", "program")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(run_measured([str(tmp_path / "program")])) == 2


def test_objects_link_without_the_wrapper(tmp_path: Path, compiler: str) -> None:
    _project(tmp_path)
    _cc(compiler, tmp_path, "-fopenmp", "-Iinclude", "-fPIC", "-c", "loop.c")
    done = _run([compiler, "-fopenmp", "main.c", "loop.o", "-o", "program"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(run_measured([str(tmp_path / "program")])) == 2


def test_a_shared_library_is_measured(tmp_path: Path, compiler: str) -> None:
    _project(tmp_path)
    done = _cc(
        compiler,
        tmp_path,
        "-fopenmp",
        "-Iinclude",
        "-fPIC",
        "-shared",
        "loop.c",
        "-o",
        "libloop.so",
    )
    assert done.returncode == 0, done.stderr
    _run([compiler, "main.c", "./libloop.so", "-o", "program"], tmp_path)
    assert len(run_measured([str(tmp_path / "program")], cwd=tmp_path)) == 2


def test_link_time_optimisation(tmp_path: Path, gcc: str) -> None:
    _project(tmp_path)
    done = _cc(gcc, tmp_path, "-O2", "-flto", "-fopenmp", "-Iinclude", "-c", "loop.c", "main.c")
    assert (done.returncode, done.stderr) == (0, "")
    done = _cc(gcc, tmp_path, "-O2", "-flto", "-fopenmp", "loop.o", "main.o", "-o", "program")
    assert done.returncode == 0, done.stderr
    assert len(run_measured([str(tmp_path / "program")])) == 2


@pytest.mark.parametrize(
    "words",
    further_slow(
        4,
        [
            ["--version"],
            ["-dumpmachine"],
            ["-E", "-fopenmp", "-Iinclude", "loop.c"],
            ["-M", "-fopenmp", "-Iinclude", "loop.c"],
            ["-S", "-fopenmp", "-Iinclude", "loop.c", "-o", "-"],
            ["-fopenmp", "-Iinclude", "-fsyntax-only", "loop.c"],
            ["-E", "-"],
            ["-fopenmp", "missing.c"],
            ["-fopenmp", "-c", "broken.c"],
            ["-c", "-fopenmp", "broken.c", "-Wall"],
            [],
        ],
    ),
)
def test_other_calls_are_the_compilers_own(tmp_path: Path, gcc: str, words: list[str]) -> None:
    _project(tmp_path)
    (tmp_path / "broken.c").write_text(
        "int f(int n) { int q;\n#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) n = oops;\n}\n"
    )
    ours, theirs = (
        _cc(gcc, tmp_path, *words, stdin="int x;\n"),
        _run([gcc, *words], tmp_path, stdin="int x;\n"),
    )
    assert ours.stdout == theirs.stdout
    assert ours.stderr == theirs.stderr
    assert ours.returncode == theirs.returncode


def test_diagnostics_name_the_source(tmp_path: Path, compiler: str) -> None:
    text = (
        "int f(int n)\n{\n    int unused;\n#pragma omp parallel for\n"
        "    for (int i = 0; i < n; i++)\n"
        "        ;\n    int late;\n    return n;\n}\n"
    )
    (tmp_path / "warn.c").write_text(text)
    ours = _cc(
        compiler, tmp_path, "-fopenmp", "-Wall", "-Wextra", "-pedantic", "-std=c99", "-c", "warn.c"
    )
    theirs = _run(
        [compiler, "-fopenmp", "-Wall", "-Wextra", "-pedantic", "-std=c99", "-c", "warn.c"],
        tmp_path,
    )
    assert "warn.c:7:9" in ours.stderr
    assert ours.stderr == theirs.stderr


def test_debug_information_names_the_source(tmp_path: Path, gcc: str) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf")
    _project(tmp_path)
    _cc(gcc, tmp_path, "-g", "-fopenmp", "-Iinclude", "-c", "loop.c")
    info = _run(["readelf", "--debug-dump=info", "loop.o"], tmp_path).stdout
    assert "loop.c" in info
    assert str(tmp_path) in info
    assert "regionpredict-" not in info
    table = _run(["readelf", "--debug-dump=decodedline", "loop.o"], tmp_path).stdout
    assert any(row.split()[:2] == ["loop.c", "10"] for row in table.splitlines())


def test_code_that_takes_no_calls_is_compiled_as_it_is(tmp_path: Path, gcc: str) -> None:
    # A name of ours that means something else there.
    (tmp_path / "odd.c").write_text(
        "#define regionpredict_now 1\nstruct regionpredict_region { int x; };\n"
        "int main(void) { int s = 0;\n#pragma omp parallel for\nfor (int i = 0; i < 3; i++) ;\n"
        "return s; }\n"
    )
    done = _cc(gcc, tmp_path, "-fopenmp", "odd.c", "-o", "odd")
    assert done.returncode == 0
    assert done.stderr == (
        "regionpredict: odd.c: does not compile with measurement calls, so "
        "it is compiled without and not measured\n"
    )
    assert _run(["./odd"], tmp_path).returncode == 0


def test_a_missing_compiler_is_one_line(tmp_path: Path) -> None:
    _project(tmp_path)
    done = _cc("no-such-cc", tmp_path, "-fopenmp", "-c", "loop.c")
    assert done.returncode == 1
    assert done.stderr == (
        "regionpredict: no compiler 'no-such-cc'; name an installed one after --\n"
    )


@pytest.mark.parametrize(
    "ending",
    further_slow(
        3,
        [
            "abort()",
            "raise(SIGTERM)",
            "*(volatile int *)0 = 1",
            "exit(3)",
            "_exit(3)",
            "_Exit(3)",
            "quick_exit(3)",
        ],
    ),
)
def test_results_are_kept_however_the_program_ends(tmp_path: Path, gcc: str, ending: str) -> None:
    (tmp_path / "end.c").write_text(
        "#include <stdlib.h>\n#include <signal.h>\n#include <unistd.h>\nint main(void) {\n"
        f"#pragma omp parallel for\nfor (int i = 0; i < 30; i++) ;\n{ending};\nreturn 0; }}\n"
    )
    _cc(gcc, tmp_path, "-fopenmp", "end.c", "-o", "end")
    output = tmp_path / "out"
    done = subprocess.run(
        ["./end"], cwd=tmp_path, env=environment(REGIONPREDICT_OUTPUT=str(output)), timeout=600,
        check=False,
    )  # fmt: skip
    plain = {"abort()": -6, "raise(SIGTERM)": -15, "*(volatile int *)0 = 1": -11}.get(ending, 3)
    assert done.returncode == plain
    assert '"trips":30' in output.read_text()


def test_a_child_of_fork_writes_nothing_and_ends_as_it_does(tmp_path: Path, gcc: str) -> None:
    (tmp_path / "fork.c").write_text(
        "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint main(void) {\n"
        "int how = 0;\n#pragma omp parallel for\nfor (int i = 0; i < 30; i++) ;\n"
        "if (fork() == 0) _exit(7);\nwait(&how);\nreturn WEXITSTATUS(how) != 7; }\n"
    )
    _cc(gcc, tmp_path, "-fopenmp", "fork.c", "-o", "fork")
    assert [line["kind"] for line in run_measured([str(tmp_path / "fork")])] == ["run", "region"]
