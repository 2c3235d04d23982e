"""Headers that a build makes are generated from their templates with the build's defaults."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from reading import FRONTENDS, predicted_iterations

from regionpredict.frontend import requests_for
from regionpredict.frontend.build_files.cmake_files import interpret_cmake_files
from regionpredict.frontend.build_files.generated_headers import with_generated_headers
from regionpredict.frontend.build_files.header_templates import cmake_defaults, header_from

_CMAKE = """\
cmake_minimum_required(VERSION 3.15)
project(waves VERSION 1.2.3 LANGUAGES C)
# option(USE_FLOAT "left out" ON)
option(USE_FLOAT "single precision" OFF)
set(ORDER "4" CACHE STRING "order (2 or 4)")
find_package(OpenMP)
if(WIN32)
  set(COUNT 10)
elseif(OpenMP_C_FOUND AND NOT USE_FLOAT)
  set(COUNT "${ORDER}000")
else()
  set(COUNT 20)
endif()
include(CheckFunctionExists)
include(CheckTypeSize)
set(CMAKE_REQUIRED_LIBRARIES m)
check_function_exists(sqrt HAVE_SQRT)
check_function_exists(no_such_function HAVE_NOTHING)
check_type_size("void *" POINTER_BYTES)
"""
_TEMPLATE = """\
#pragma once
#cmakedefine USE_FLOAT
#cmakedefine01 HAVE_SQRT
#cmakedefine HAVE_NOTHING 1
#define COUNT @COUNT@
#define VERSION "${PROJECT_VERSION}"
#define BYTES @POINTER_BYTES@
"""
_SOURCE = """\
#include "config.h"
#ifdef USE_FLOAT
typedef float real;
#else
typedef double real;
#endif
real field[COUNT];
void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++)
    field[i] *= 0.5;
}
"""


@pytest.fixture
def waves(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "CMakeLists.txt").write_text(_CMAKE)
    (tmp_path / "src/config.h.in").write_text(_TEMPLATE)
    (tmp_path / "src/scale.c").write_text(_SOURCE)
    return tmp_path


def test_values_are_those_of_cmake() -> None:
    known = interpret_cmake_files(
        ["CMakeLists.txt"], lambda _: _CMAKE, lambda name: name == "sqrt", lambda _: False
    ).values
    assert (known["COUNT"], known["HAVE_SQRT"], known["HAVE_NOTHING"]) == ("4000", "1", "")
    assert (known["waves_VERSION_MINOR"], known["POINTER_BYTES"]) == ("2", "8")


def test_hostile_files_take_no_memory_and_end() -> None:
    doubled = "set(A 0123456789)\n" + 'set(A "${A}${A}")\n' * 60
    nested = f"if({'A AND ' * 5000}A)\nelseif({'NOT ' * 5000}A)\nendif()\nset(B 1)\n"
    known = interpret_cmake_files(
        ["CMakeLists.txt"], lambda _: doubled + nested, lambda _: False, lambda _: False
    ).values
    assert known["B"] == "1"
    assert len(known["A"]) <= 20_000


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_the_header_is_the_one_that_cmake_makes(waves: Path) -> None:
    text = _CMAKE + 'configure_file(src/config.h.in "${PROJECT_BINARY_DIR}/config.h")\n'
    (waves / "CMakeLists.txt").write_text(text)
    subprocess.run(["cmake", "-S", waves, "-B", waves / "made"], check=True, capture_output=True)
    values = cmake_defaults(["CMakeLists.txt"], lambda _: text).values
    own = [line for line in header_from(_TEMPLATE, values).splitlines() if line]
    assert own == [line for line in (waves / "made/config.h").read_text().splitlines() if line]


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("#undef HAVE_UNISTD_H", "#define HAVE_UNISTD_H 1"),
        ("#undef HAVE_SYS_TIME_H", "#define HAVE_SYS_TIME_H 1"),
        ("#undef HAVE_WINDOWS_H", "/* #undef HAVE_WINDOWS_H */"),
        ("# undef HAVE_STRDUP", "# define HAVE_STRDUP 1"),
        ("#undef SIZEOF_VOID_P", "#define SIZEOF_VOID_P 8"),
        ("#undef SIZEOF_UNSIGNED_INT", "#define SIZEOF_UNSIGNED_INT 4"),
        ("#undef SIZEOF_LONG_DOUBLE", "#define SIZEOF_LONG_DOUBLE 16"),
        ("#undef SIZEOF_WCHAR_T", "#define SIZEOF_WCHAR_T 4"),
        ("#undef SIZEOF_SIZE_T", "#define SIZEOF_SIZE_T 8"),
        ("#undef PACKAGE_NAME", '#define PACKAGE_NAME ""'),
        ("#undef ENABLE_DEBUG", "/* #undef ENABLE_DEBUG */"),
    ],
)
def test_a_template_of_autoconf_has_what_linux_has(line: str, made: str) -> None:
    assert header_from(line, {}) == made


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_program_is_read_as_built(waves: Path, frontend: str) -> None:
    iterations, said = predicted_iterations(waves, "--frontend", frontend)
    assert iterations == 4000
    assert "generated from templates with the build's defaults: config.h (" in said
    assert "not found" not in said


def test_another_default_changes_a_cached_answer(waves: Path) -> None:
    assert predicted_iterations(waves)[0] == 4000
    (waves / "CMakeLists.txt").write_text(_CMAKE.replace('ORDER "4"', 'ORDER "6"'))
    assert predicted_iterations(waves)[0] == 6000


def test_a_template_that_appears_changes_a_cached_answer(waves: Path) -> None:
    (waves / "src/config.h.in").rename(waves / "kept")
    assert "header 'config.h' not found" in predicted_iterations(waves)[1]
    (waves / "kept").rename(waves / "src/config.h.in")
    iterations, said = predicted_iterations(waves)
    assert iterations == 4000
    assert "not found" not in said


def test_a_header_that_exists_is_the_one(waves: Path) -> None:
    (waves / "built").mkdir()
    (waves / "built/config.h").write_text("#define COUNT 33\n")
    iterations, said = predicted_iterations(waves)
    assert iterations == 33
    assert "generated" not in said


def test_a_template_that_nobody_includes_is_left_alone(waves: Path) -> None:
    (waves / "src/scale.c").write_text(_SOURCE.replace('"config.h"', '"other.h"'))
    requests = requests_for([str(waves)])
    read = (str(waves / "CMakeLists.txt"),)
    assert with_generated_headers(requests) == (requests, (), read)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_template_that_autoheader_would_make_is_not_needed(tmp_path: Path, frontend: str) -> None:
    """`complex.h` is on every system, `no_such.h` on none, and a long has 8 bytes."""
    (tmp_path / "configure.ac").write_text(
        "AC_INIT([waves], [1.0])\nAC_CONFIG_HEADERS([include/config.h:include/config.h.in])\n"
        "AC_CHECK_HEADERS([complex.h no_such.h])\nAC_CHECK_SIZEOF(long)\n"
    )
    source = tmp_path / "waves.c"
    source.write_text("""\
#include "config.h"
#if defined(HAVE_COMPLEX_H) && !defined(HAVE_NO_SUCH_H) && SIZEOF_LONG == 8
#define COUNT 700
#else
#define COUNT 3
#endif
double field[COUNT];
void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++) field[i] *= 0.5;
}
""")
    iterations, notes = predicted_iterations(tmp_path, "--frontend", frontend)
    assert iterations == 700
    assert "generated from templates with the build's defaults: config.h" in notes


_TYPES = """set(WIDTH 32)
if (NOT SINGLE)
  set(WIDTH 64)
endif ()
configure_file(${CMAKE_SOURCE_DIR}/include/sizes.template "${CMAKE_BINARY_DIR}/made/sizes.h")
configure_file(../outside.in "${CMAKE_BINARY_DIR}/outside.h")
include(types)
include(../../outside)
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_file_that_cmake_includes_configures_a_header(tmp_path: Path, frontend: str) -> None:
    folder = tmp_path / "project"
    for name in ("cmake", "include", "src"):
        (folder / name).mkdir(parents=True)
    listed = "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)\ninclude(types)\n"
    (folder / "CMakeLists.txt").write_text(listed)
    (folder / "cmake/types.cmake").write_text(_TYPES)
    (folder / "include/sizes.template").write_text("#define COUNT (100 * @WIDTH@)\n")
    (tmp_path / "outside.in").write_text("#define COUNT 5\n")
    source = _SOURCE.replace("config.h", "made/sizes.h")
    (folder / "src/scale.c").write_text(source)
    iterations, said = predicted_iterations(folder, "--frontend", frontend)
    assert iterations == 6400
    assert "generated from templates with the build's defaults: made/sizes.h (" in said
    (folder / "src/scale.c").write_text(source.replace("made/sizes.h", "outside.h"))
    _, said = predicted_iterations(folder, "--frontend", frontend)
    assert "'outside.h' not found" in said
    # A change of these files may make it a header of the build.
    seen = with_generated_headers(requests_for([str(folder)])).sources
    assert {Path(path).name for path in seen} == {"CMakeLists.txt", "types.cmake"}


_PROCEDURES = """
macro(given NAME TYPE DEFAULT)
  cmake_parse_arguments(given "ADVANCED" "" "NEEDS" ${ARGN})
  set(met TRUE)
  foreach(each ${given_NEEDS})
    if(NOT ${each})
      set(met FALSE)
    endif()
  endforeach()
  if(met AND NOT DEFINED ${NAME})
    set(${NAME} "${DEFAULT}" CACHE ${TYPE} "")
  endif()
endmacro()
function(count_up NAME)
  set(local 7)
  set(${NAME} "${local}_${ARGC}" PARENT_SCOPE)
endfunction()
given(KIND STRING "double" ADVANCED)
given(SLOW BOOL ON)
given(WITH_SLOW STRING "yes" NEEDS SLOW)
given(WITHOUT STRING "yes" NEEDS ABSENT)
count_up(counted a b)
string(TOUPPER ${KIND} UPPER)
foreach(part IN ITEMS x y)
  string(APPEND JOINED "#define HAS_${part} 1\\n")
endforeach()
if((KIND MATCHES "^dou" OR ABSENT) AND NOT (4 LESS 3))
  set(MATCHED 1)
endif()
if(3.10 VERSION_GREATER 3.9 AND "b" IN_LIST LISTED)
  set(LATER 1)
endif()
"""
_USES = """#define @UPPER@_PRECISION 1
#define WITH "@WITH_SLOW@@WITHOUT@"
#define COUNTED @counted@@local@
@JOINED@#define MATCHED @MATCHED@
#define LATER @LATER@
"""
_MADE = """#define DOUBLE_PRECISION 1
#define WITH "yes"
#define COUNTED 7_3
#define HAS_x 1
#define HAS_y 1
#define MATCHED 1
#define LATER 1
"""


def test_macros_functions_and_loops_of_cmake_run() -> None:
    values = cmake_defaults(["CMakeLists.txt"], lambda _: 'set(LISTED "a;b")' + _PROCEDURES).values
    assert header_from(_USES, values) == _MADE


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_runs_them_the_same_way(tmp_path: Path) -> None:
    head = 'cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\nset(LISTED "a;b")\n'
    text = f"{head}{_PROCEDURES}configure_file(u.h.in ${{CMAKE_BINARY_DIR}}/u.h @ONLY)\n"
    (tmp_path / "CMakeLists.txt").write_text(text)
    (tmp_path / "u.h.in").write_text(_USES)
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "made"]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "made/u.h").read_text() == _MADE


@pytest.mark.parametrize("kind", ["macro", "function"])
def test_procedures_that_call_themselves_end(kind: str) -> None:
    own = f"{kind}(p)\np(${{ARGN}} ${{ARGN}})\np(1)\nend{kind}()\np(1)\n"
    texts = {"CMakeLists.txt": own, "next": "set(AFTER 1)\n"}
    assert cmake_defaults([*texts], lambda path: texts[path]).values["AFTER"] == "1"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_export_header_is_made(waves: Path, frontend: str) -> None:
    (waves / "CMakeLists.txt").write_text(_CMAKE + "generate_export_header(waves)\n")
    own = _SOURCE.replace("void scale", '#include "waves_export.h"\nWAVES_EXPORT void scale', 1)
    (waves / "src/scale.c").write_text(own)
    iterations, said = predicted_iterations(waves, "--frontend", frontend)
    assert iterations == 4000
    assert "not found" not in said
    assert "waves_export.h" in said
