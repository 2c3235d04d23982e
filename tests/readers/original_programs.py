"""What a program is read with: build files, an input file, a recorded run, an editor's requests."""

from __future__ import annotations

import json

SCALED = b"""#include "config.h"
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
MAKEFILE = b"""\
-include config.mk
SIZE  ?= 1000
KIND   = LARGE
OPTION = -DREAL=double \\
         -DCOUNT=$(SIZE)
SOURCES := $(wildcard *.c) $(patsubst %.o,%.c,$(OBJECTS:.o=.c))
CFLAGS = -O2 $(OPTION) -D$(KIND)_SET -DWORDS=$(words $(SOURCES))
ifeq ($(MPI), yes)
  CFLAGS += -DUSE_MPI
else ifdef THREADS
  CFLAGS += -DUSE_THREADS
else
  CFLAGS += -DSERIAL
endif
define HELP
CFLAGS += -DNOT_THIS
endef
$(foreach n,1 2 3,$(eval V$(n) := $(n)))
debug: CFLAGS += -DDEBUG
%.o: %.c
\t$(CC) $(CFLAGS) -c -o $@ $<
scale.o: scale.c ; $(CC) $(CFLAGS) -USERIAL -DSPECIAL -c $^
"""
CMAKE = b"""\
cmake_minimum_required(VERSION 3.15)
project(waves VERSION 1.2.3 LANGUAGES C)
option(USE_FLOAT "single precision" OFF)
set(ORDER "4" CACHE STRING "order (2 or 4)")
if(WIN32)
  set(COUNT 10)
elseif(OpenMP_C_FOUND AND NOT USE_FLOAT)
  set(COUNT "${ORDER}000")
else()
  set(COUNT 20)
endif()
foreach(n 1 2 3)
  math(EXPR SUM "${n} * 4")
endforeach()
string(TOUPPER "${ORDER}x" UPPER)
check_function_exists(sqrt HAVE_SQRT)
check_type_size("void *" POINTER_BYTES)
configure_file(config.h.in config.h)
add_executable(scale scale.c)
target_compile_definitions(scale PRIVATE LEVEL=${ORDER})
"""
CMAKE_HEADER = b"""\
#cmakedefine USE_FLOAT
#cmakedefine01 HAVE_SQRT
#cmakedefine HAVE_NOTHING 1
#define COUNT @COUNT@
#define VERSION "${PROJECT_VERSION}"
#define BYTES @POINTER_BYTES@
"""
CONFIGURE = b"""\
AC_INIT([waves], [1.2.3], [a@b.org])
AC_CONFIG_HEADERS([config.h])
AC_ARG_ENABLE([float], [AS_HELP_STRING([--enable-float], [single])], [use=$enableval], [use=no])
AC_DEFINE([COUNT], [4000], [The size.])
AC_DEFINE_UNQUOTED([ORDER], [$order], [The order.])
AC_CHECK_FUNCS([sqrt floor])
AC_CHECK_SIZEOF([void *])
AC_OUTPUT
"""
AUTOCONF_HEADER = b"""\
#undef USE_FLOAT
#undef HAVE_SQRT
/* The size. */
#undef COUNT
#undef SIZEOF_VOID_P
#undef PACKAGE_VERSION
"""
_CMAKE = {"scale.c": SCALED, "CMakeLists.txt": CMAKE, "config.h.in": CMAKE_HEADER}
_AUTOCONF = {"scale.c": SCALED, "configure.ac": CONFIGURE, "config.h.in": AUTOCONF_HEADER}
_MAKE = {"scale.c": SCALED, "Makefile": MAKEFILE, "config.h": b"", "config.mk": b"MPI = no\n"}
BUILDS = {
    "Makefile": ("Makefile", MAKEFILE, _MAKE),
    "CMake": ("CMakeLists.txt", CMAKE, _CMAKE),
    "template of CMake": ("config.h.in", CMAKE_HEADER, _CMAKE),
    "configure.ac": ("configure.ac", CONFIGURE, _AUTOCONF),
    "template of autoconf": ("config.h.in", AUTOCONF_HEADER, _AUTOCONF),
}
"""By kind: the build file, its text, and all files of the program."""

INPUT_FILE = b"# a comment\ngrid 40 x 25\nrows = 700\n columns=12\nlast 96 1.5e3 0x20\n"
READS_A_FILE = b"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double *a;
int main(int argc, char **argv) {
  char line[80], word[80];
  int n = 3, x = 1, y = 1;
  FILE *f = fopen(argv[1], "r");
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "grid %d x %d", &x, &y) == 2) n = x * y;
    else if (sscanf(line, " %s = %d", word, &x) == 2 && !strcmp(word, "rows")) n += x;
    else { char *key = strtok(line, " =\\n"); if (key && !strcmp(key, "last")) n += atoi(key + 5); }
  }
  fclose(f);
  a = malloc(n * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
}
"""


def recorded_run() -> bytes:
    """What an instrumented program writes at its end: a run, a region, sizes and cases."""
    place = {"pid": 7, "file": "src/good.c", "line": 5, "ordinal": 1}
    region = {
        **place, "kind": "region", "loop_line": 6, "function": "main",
        "directive": "omp parallel for", "build": "-O2 -DN=4", "executions": 2, "total_ns": 100,
        "least_ns": 40, "most_ns": 60, "first_ns": 60, "counted": 2, "trips": 1200,
        "least_trips": 600, "most_trips": 600, "least_team": 2, "most_team": 2, "flags": 0,
        "text": "", "lines": 0,
    }  # fmt: skip
    case = {**place, "kind": "case", "entries": 1, "trips": 600, "values": {"n": 600}}
    entries = (
        {"kind": "run", "pid": 7, "program": "p", "compiler": "gcc", "runtime": "gomp"}, region,
        {**region, "kind": "team"},
        {**place, "kind": "size", "name": "n", "entries": 2, "first": 600, "least": 600,
         "most": 601},
        case, {**case, "trips": 601, "values": {"n": 601}},
    )  # fmt: skip
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in entries).encode()


def editor_session() -> bytes:
    """A session of the language server, from its beginning to its end."""
    document = {"uri": "file:///tmp/fuzz-editor/good.c"}
    text = "void f(double *a) {\n#pragma omp parallel for\nfor (int i = 0; i < 9; i++) a[i] = i;\n}"
    at = {"line": 1, "character": 2}
    messages = (
        {"id": 1, "method": "initialize", "params": {
            "processId": None, "rootUri": "file:///tmp/fuzz-editor", "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {
            **document, "languageId": "c", "version": 1, "text": text}}},
        {"id": 2, "method": "textDocument/codeLens", "params": {"textDocument": document}},
        {"id": 3, "method": "textDocument/hover", "params": {
            "textDocument": document, "position": at}},
        {"method": "textDocument/didChange", "params": {
            "textDocument": {**document, "version": 2},
            "contentChanges": [{"range": {"start": at, "end": at}, "text": "x"}]}},
        {"method": "textDocument/didSave", "params": {"textDocument": document}},
        {"id": "4", "method": "textDocument/codeAction", "params": {
            "textDocument": document, "range": {"start": at, "end": at},
            "context": {"diagnostics": []}}},
        {"method": "textDocument/didClose", "params": {"textDocument": document}},
        {"id": 5, "method": "shutdown"},
        {"method": "exit"},
    )  # fmt: skip
    out = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        out += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return out
