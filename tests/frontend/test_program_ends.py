"""Ways on which the program ends: they are not part of a region, and leave nothing behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of, facts_of

from regionpredict.ir import Statement

HEAD = """\
extern void hidden(double *p);
extern void tell(const char *text);
void exit(int);
extern void quit(int) __attribute__((noreturn));
extern __attribute__((__noreturn__)) void leave(int);
extern _Noreturn void halt(double *p);
extern void after(int);
extern void longjmp(int *target, int value);
static int target[40], reason;
#define THROW(code) for (;; longjmp(target, 1)) reason = (code)
static int lines;
static void fail(const char *text) { tell(text); exit(1); }
static void die(const char *text) { lines++; fail(text); }
static void warn(const char *text, int fatal) { if (fatal) exit(1); tell(text); }
static void stop(int code) { switch (code) { case 1: tell("one"); break; default: exit(code); } }
static int checked(int k) { if (k < 0) { tell("below zero"); exit(2); return 0; } return k; }
void f(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
"""

ENDS = {
    "exit": 'if (b[i] < 0) { tell("negative"); hidden(b); exit(1); } a[i] = b[i];',
    "abort": "if (b[i] < 0) { hidden(b); abort(); } a[i] = b[i];",
    "behind it": "if (b[i] < 0) { exit(1); hidden(b); } a[i] = b[i];",
    "other side": "if (b[i] >= 0) a[i] = b[i]; else { hidden(b); exit(1); }",
    "a function": 'if (b[i] < 0) die("negative"); a[i] = b[i];',
    "both ways": "if (b[i] < 0) { if (i) { hidden(b); exit(1); } else abort(); } a[i] = b[i];",
    "by the second": 'b[i] >= 0 || (die("negative"), 0); a[i] = b[i];',
    "in a callee": "if (b[i] < checked(1)) { hidden(b); abort(); } a[i] = b[i];",
    "one that says so": "if (b[i] < 0) { hidden(b); quit(1); } a[i] = b[i];",
    "one that says so in front": "if (b[i] < 0) leave(1); a[i] = b[i];",
    "one that says so in C11": "if (b[i] < 0) halt(b); a[i] = b[i];",
    "one that says so, in an expression": "b[i] >= 0 || (quit(i), 0); a[i] = b[i];",
    "leaves the region": "if (b[i] < 0) { hidden(b); longjmp(target, 1); } a[i] = b[i];",
    "throws": "if (b[i] < 0) { hidden(b); THROW(3); } a[i] = b[i];",
    "in a critical":
        "if (b[i] < 0) {\n#pragma omp critical\n{ hidden(b); abort(); }\n}\na[i] = b[i];",
}  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", ENDS)
def test_what_ends_the_program_is_no_part(tmp_path: Path, name: str, frontend: str) -> None:
    """Each reads b[i], and writes a[i] in each iteration that goes on, which are all."""
    facts = facts_of(tmp_path, HEAD + ENDS[name] + "\n  }\n}\n", frontend)
    assert facts.status == "complete", facts.diagnostics
    touched = {(access.array, access.kind) for one in facts.statements
               for access in one.statement.accesses}  # fmt: skip
    assert touched == {("a", "write"), ("b", "read")}
    assert facts.region.nest is not None
    always = [node for node in facts.region.nest.body if isinstance(node, Statement)]
    written = {
        access.array for node in always for access in node.accesses if access.kind == "write"
    }
    assert written == {"a"}


GOES_ON = {
    "it may return": 'if (b[i] < 0) warn("negative", i); a[i] = b[i];',
    "the one behind it says so": "if (b[i] < 0) after(i); a[i] = b[i];",
    "one case goes on": "if (b[i] < 0) stop(i); a[i] = b[i];",
    "it leaves before": "if (b[i] < 0) { hidden(b); if (i) continue; exit(1); } a[i] = b[i];",
    "one way alone": "if (b[i] < 0) { if (i) exit(1); hidden(b); } a[i] = b[i];",
    "a loop that is left": "if (b[i] < 0) for (;; exit(1)) { hidden(b); break; } a[i] = b[i];",
    "a loop with an end": "if (b[i] < 0) for (int k = 0; k < i; exit(1)) hidden(b); a[i] = b[i];",
    "jumped to": "if (b[i] < 0) { if (i) goto on; exit(1); on: hidden(b); } a[i] = b[i];",
}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", GOES_ON)
def test_a_way_that_goes_on_counts(tmp_path: Path, name: str, frontend: str) -> None:
    facts = facts_of(tmp_path, HEAD + GOES_ON[name] + "\n  }\n}\n", frontend)
    assert facts.status == "partial"
    assert "RP113" in {note.id for note in facts.diagnostics}


CPLUSPLUS = """\
#include <stdexcept>
#include <string>
struct Log {
  [[noreturn]] void one(const std::string &text, int line);
  template <class... More> void one(const std::string &text, int line, More... more) {
    failed(text, line, sizeof...(more));
  }
  [[noreturn]] void failed(const std::string &text, int line, int more);
  void warn(const std::string &text, int line);
};
template <class... Parts> std::string put(const char *text, Parts &&...parts);
void hidden(double *p);
void f(Log *log, int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
"""
CPLUSPLUS_ENDS = {
    "a method that says so": 'if (b[i] < 0) log->one("negative", i); a[i] = b[i];',
    "a template that calls it": 'if (b[i] < 0) log->one("row " + std::to_string(i), i, n);'
                                " a[i] = b[i];",
    "what it says is made of sizes": 'if (b[i] < 0) log->one(put("row", i, n), i); a[i] = b[i];',
    "an exception": 'if (b[i] < 0) { hidden(b); throw std::runtime_error("none"); } a[i] = b[i];',
    "an exception made of sizes":
        'if (b[i] < 0) throw std::runtime_error(put("row", i, n)); a[i] = b[i];',
    "an exception that is caught":
        "try { if (b[i] < 0) throw 1; a[i] = b[i]; } catch (int) { hidden(b); }",
}  # fmt: skip
CPLUSPLUS_GOES_ON = {
    "a method that does not": 'if (b[i] < 0) log->warn("negative", i); a[i] = b[i];',
}  # fmt: skip


@pytest.mark.parametrize("name", CPLUSPLUS_ENDS)
def test_what_ends_a_program_of_cplusplus_is_no_part(tmp_path: Path, name: str) -> None:
    text = CPLUSPLUS + CPLUSPLUS_ENDS[name] + "\n  }\n}\n"
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    assert facts.status == "complete", facts.diagnostics
    touched = sorted(
        (access.array, access.kind) for one in facts.statements for access in one.statement.accesses
    )
    assert touched == [("a", "write"), ("b", "read"), ("b", "read")]


@pytest.mark.parametrize("name", CPLUSPLUS_GOES_ON)
def test_a_way_of_cplusplus_that_goes_on_counts(tmp_path: Path, name: str) -> None:
    text = CPLUSPLUS + CPLUSPLUS_GOES_ON[name] + "\n  }\n}\n"
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    assert "warn" in {call.name for one in facts.statements for call in one.statement.calls}


OWN_EXIT = """\
extern void hidden(void);
static void exit(int code) { hidden(); }
void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { if (a[i] < 0) exit(1); a[i] = 1; }
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_that_name_is_its_own(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, OWN_EXIT, frontend)
    assert facts.status == "partial"


SIZE = """\
extern int wanted(void);
void exit(int);
void f(double *a, int given) {
  int n = 100;
  if (given) { n = wanted(); exit(given); }
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_size_set_on_the_way_out_is_not_the_loops(tmp_path: Path, frontend: str) -> None:
    assert facts_of(tmp_path, SIZE, frontend).iterations.value == 100
