"""Macros of a program's build files are defined as `make` and `cmake` would define them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from reading import FRONTENDS, predict, predicted_iterations

from regionpredict.frontend import as_built, requests_for
from regionpredict.frontend.build_files.makefiles import makefile_macros
from regionpredict.pipeline import analyse

_MAKEFILE = """\
include config.mk
# CC = other
SIZE  ?= 1000
KIND   = LARGE
OPTION = -DREAL=double \\
         -DCOUNT=$(SIZE)
CFLAGS = -O2 $(OPTION) -D$(KIND)_SET
ifeq ($(MPI), yes)
  CFLAGS += -DUSE_MPI
else ifdef EMPTY
  CFLAGS += -DEMPTY
else ifdef THREADS
  CFLAGS += -DUSE_THREADS
else
  CFLAGS += -DSERIAL
endif
ifneq "$(shell uname -s)" "Darwin"
CFLAGS += -DON_LINUX
endif
ifeq ($(shell hostname),node)
CFLAGS += -DON_NODE
endif
debug: CFLAGS += -DDEBUG
TEXT := $(CFLAGS) '-DNAME="a b"' -DWHEN=$(shell date) # -DCOMMENT
CFLAGS += -DLATER
define HELP
CFLAGS += -DNOT_THIS
endef

all: scale.o
.PHONY: all

%.o: %.c
\t@echo -DNOISE compiling
\t$(CC) $(TEXT) -c -o $@ $<

special.o: special.c ; $(CC) $(TEXT) -USERIAL -DSPECIAL -c $^

clean:
\trm -f *.o
"""
_CONFIG = "THREADS := $(strip on )\nEMPTY =\nMPI = no\n"
_SOURCE = """\
REAL field[COUNT];
#ifdef UNDER_TEST
#pragma omp parallel for
for (;;)
#endif
void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++)
    field[i] *= 0.5;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "Makefile").write_text(_MAKEFILE)
    (tmp_path / "config.mk").write_text(_CONFIG)
    (tmp_path / "src/scale.c").write_text(_SOURCE)
    return tmp_path


def _macros(folder: Path, text: str) -> dict[str, str]:
    (folder / "Makefile").write_text(text)
    found, _ = makefile_macros(str(folder / "Makefile"), lambda path: Path(path).read_text())
    return {name: macro.value for name, macro in found.items()}


_EXPECTED = {"REAL": "double", "COUNT": "1000", "LARGE_SET": "1", "USE_THREADS": "1",
             "ON_LINUX": "1", "NAME": '"a b"'}  # fmt: skip


def test_a_makefile_is_followed(project: Path) -> None:
    assert _macros(project, _MAKEFILE) == _EXPECTED


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_macros_are_those_that_make_gives(project: Path) -> None:
    (project / "scale.c").touch()
    text = _MAKEFILE.replace(" -DWHEN=$(shell date)", "")
    (project / "Makefile").write_text(text)
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    said = subprocess.run(
        ["make", "-n", "scale.o"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
        env=alone,
    ).stdout
    (command,) = [line for line in said.splitlines() if " -c " in line]
    given = dict(re.findall(r"-D(\w+)(?:=(\"[^\"]*\"|[^\s']+))?", command))
    assert {name: value or "1" for name, value in given.items()} == _macros(project, text)


@pytest.mark.parametrize(
    ("text", "macros"),
    [
        # make's own rules compile
        ("CFLAGS = -DA\nCPPFLAGS = -DB\n", {"A": "1", "B": "1"}),
        # one of two precisions is not the build's
        ("a.o: a.c\n\tcc -DN=4 -c a.c\nb.o: a.c\n\tcc -DSINGLE -DN=4 -c a.c\n", {"N": "4"}),
        # a variable that nothing compiles with
        ("X = -DA\nall: a.c\n\tcc -o all a.c\n", {}),
        ("A = $(A)\nCFLAGS = -DB=$(A) -DC $(if x,-DD) $(\n", {"C": "1"}),
        ("CFLAGS = '-DA\n", {}),
    ],
)
def test_other_makefiles(tmp_path: Path, text: str, macros: dict[str, str]) -> None:
    assert _macros(tmp_path, text) == macros


def test_hostile_makefiles_take_no_memory_and_end(tmp_path: Path) -> None:
    doubled = "A = 0123456789\n" + "".join(f"A{n} = $(A{n - 1})$(A{n - 1})\n" for n in range(1, 60))
    nested = "ifdef X\n" * 5000 + f"CFLAGS = $(A59) {'$(' * 5000}\ninclude Makefile\n"
    assert _macros(tmp_path, "A0 = -DX\n" + doubled + nested + "\nendif" * 5000) == {}


@pytest.mark.parametrize(
    "flags",
    [
        "A0 = -DX\n"
        + "".join(f"A{n} = $(A{n - 1})\n" for n in range(1, 3000))
        + "CFLAGS = $(A2999)",
        "CFLAGS = " + "$(strip " * 900 + "-DX" + ")" * 900,
    ],
    ids=["a long chain", "nested functions"],
)
def test_deep_references_are_unknown(tmp_path: Path, flags: str) -> None:
    assert _macros(tmp_path, flags + "\n") == {}


def test_included_files_that_do_not_exist(project: Path) -> None:
    """The answer is cached all the same, and changes with the file."""
    (project / "Makefile").write_text("include $(shell x).mk\n-include local.mk\n" + _MAKEFILE)
    assert predicted_iterations(project)[0] == 1000
    analysis = analyse(requests_for([str(project)]), {})
    assert analysis.inputs.unread == (str(project / "local.mk"),)
    assert str(project / "config.mk") in analysis.inputs.read
    (project / "local.mk").write_text("SIZE = 20\n")
    assert predicted_iterations(project)[0] == 20


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_program_is_read_as_make_builds_it(project: Path, frontend: str) -> None:
    iterations, said = predicted_iterations(project, "--frontend", frontend)
    assert iterations == 1000
    assert "Makefile defines REAL=double, COUNT=1000; -D overrides this" in said


def test_a_given_macro_replaces_that_of_the_build(project: Path) -> None:
    iterations, said = predicted_iterations(project, "-D", "COUNT=500")
    assert iterations == 500
    assert "Makefile defines REAL=double; -D" in said


def test_a_given_macro_replaces_its_alternative(project: Path) -> None:
    (project / "src/sets.c").write_text("int large = LARGE_SET, small = SMALL_SET;\n")
    names = {name for each in as_built(requests_for([str(project)])).requests
             for name, _ in each.defines}  # fmt: skip
    assert names == {"REAL", "COUNT", "LARGE_SET"}
    requests = requests_for([str(project)], [("SMALL_SET", "1")])
    names = {name for each in as_built(requests).requests for name, _ in each.defines}
    assert names == {"REAL", "COUNT", "SMALL_SET"}


def test_another_makefile_changes_a_cached_answer(project: Path) -> None:
    assert predicted_iterations(project)[0] == 1000
    (project / "Makefile").write_text(_MAKEFILE.replace("?= 1000", "?= 6000"))
    assert predicted_iterations(project)[0] == 6000
    (project / "src/Makefile").write_text("CFLAGS = -DCOUNT=70\n")
    assert predicted_iterations(project)[0] == 70


def test_a_compilation_database_has_precedence(project: Path) -> None:
    entry = {"directory": str(project), "file": "src/scale.c",
             "arguments": ["cc", "-DREAL=float", "-DCOUNT=77", "-c", "src/scale.c"]}  # fmt: skip
    (project / "compile_commands.json").write_text(json.dumps([entry]))
    iterations, said = predicted_iterations(project)
    assert iterations == 77
    assert "defines" not in said


def test_a_database_of_another_machine_does_not_hide_the_sources(project: Path) -> None:
    entry = {"directory": "/elsewhere", "file": "scale.c", "command": "cc -c scale.c"}
    database = project / "compile_commands.json"
    database.write_text(json.dumps([entry]))
    assert predicted_iterations(project)[0] == 1000
    (project / "Makefile").write_text(_MAKEFILE.replace("?= 1000", "?= 50"))
    assert predicted_iterations(project)[0] == 50
    done = predict(database)
    assert done.returncode == 1
    assert done.stderr.endswith("no C or C++ file listed that exists; write it again\n")


def test_a_part_of_a_project_has_the_headers_of_the_others(project: Path) -> None:
    (project / "common").mkdir()
    (project / "common/sizes.h").write_text("#undef COUNT\n#define COUNT 9\n")
    (project / "src/scale.c").write_text(f'#include "sizes.h"\n{_SOURCE}')
    assert predicted_iterations(project / "src")[0] == 9
    (project / "src/Makefile").touch()
    assert predicted_iterations(project / "src")[0] == 9


def test_a_folder_that_everybody_can_write_is_no_project(project: Path) -> None:
    project.chmod(0o777)
    done = predict(project / "src")
    assert "Makefile defines" not in done.stderr
    assert "declarations guessed" in done.stderr


def test_cmake_files_define_macros_for_all_targets(project: Path) -> None:
    (project / "Makefile").unlink()
    (project / "CMakeLists.txt").write_text("""\
option(USE_FLOAT "single precision" OFF)
set(SIZE 300 CACHE STRING "elements")
add_definitions(-DREAL=double)
if(USE_FLOAT)
  add_compile_definitions(UNDER_TEST)
endif()
add_library(scale src/scale.c)
add_executable(check src/check.c)
target_compile_definitions(scale PUBLIC COUNT=${SIZE})
target_compile_definitions(check PRIVATE COUNT=${SIZE} UNDER_TEST "$<1:ODD>")
""")
    iterations, said = predicted_iterations(project)
    assert iterations == 300
    assert "CMakeLists.txt defines REAL=double, COUNT=300; -D overrides this" in said


def test_a_makefile_beside_the_sources_gives_its_macros(tmp_path: Path) -> None:
    """It names their folder by a path; one that names another folder does not count."""
    for folder in ("src", "profile", "other"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src/scale.c").write_text(_SOURCE)
    makefile = "CFLAGS = -DCOUNT={0} -DREAL=float\n%.o: {1}/%.c\n\t$(CC) $(CFLAGS) -c $<\n"
    (tmp_path / "profile/Makefile").write_text(makefile.format(77, "../src"))
    (tmp_path / "other/Makefile").write_text(makefile.format(88, "../profile"))
    iterations, said = predicted_iterations(tmp_path)
    assert iterations == 77
    assert "profile/Makefile defines COUNT=77, REAL=float" in said
    # A change of either may change the answer.
    sources = as_built(requests_for([str(tmp_path)])).sources
    assert {str(tmp_path / name / "Makefile") for name in ("profile", "other")} <= {*sources}
