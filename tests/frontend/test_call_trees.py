"""How far calls are followed: to the end where all is seen, and for a while where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from tests.frontend.reading import facts_of

FRONTENDS = ["libclang", pytest.param("pycparser", marks=pytest.mark.slow)]  # trees are long

HEAD = """
#include <stdlib.h>
#include <stdio.h>
extern void hidden(int i);
"""
LOOP = """
void f(int n, double *a) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {body}
  }}
}}
"""


def facts_of_calls(folder: Path, functions: str, body: str, frontend: str) -> RegionFacts:
    return facts_of(folder, HEAD + functions + LOOP.format(body=body), frontend)


def written(facts: RegionFacts) -> int:
    """How many places of the region's text, calls put in place, write the array."""
    return sum(
        access.kind == "write" and access.array == "a"
        for one in facts.statements
        for access in one.statement.accesses
    )


def ids(facts: RegionFacts) -> set[str]:
    return {note.id for note in facts.diagnostics}


def of_fifty(last: str = "") -> str:
    """A function of fifty statements that write, and what it does in the end."""
    lines = "\n".join(["  a[i] = 1.0;"] * 50)
    return f"static void fifty(int i, double *a) {{\n{lines}\n{last}}}\n"


def chain(length: int, last: str) -> str:
    """`step1()` calls `step2()`, and so on; the last does what is given."""
    functions = f"static void step{length}(int i, double *a) {{ {last} }}\n"
    for number in range(length - 1, 0, -1):
        inner = f"step{number + 1}(i, a);"
        functions += f"static void step{number}(int i, double *a) {{ {inner} }}\n"
    return functions


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_seen_to_its_end_is_followed_to_it(tmp_path: Path, frontend: str) -> None:
    # 30 calls of 50 statements; with the calls themselves 1,530.
    facts = facts_of_calls(tmp_path, of_fifty(), "fifty(i, a);\n" * 30, frontend)
    assert facts.status == "complete"
    assert written(facts) == 1500
    assert "RP108" not in ids(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_nobody_sees_leaves_the_region_partial_and_short(
    tmp_path: Path, frontend: str
) -> None:
    # 50 statements, the call that is not seen, and the call itself: the 20th begins with 988.
    functions = of_fifty("  hidden(i);\n")
    facts = facts_of_calls(tmp_path, functions, "fifty(i, a);\n" * 30, frontend)
    assert facts.status == "partial"
    assert written(facts) == 20 * 50
    assert ids(facts) >= {"RP108", "RP113"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_too_long_is_not_followed_to_its_end(tmp_path: Path, frontend: str) -> None:
    # 170 times 50 statements and a call are 8,670; the 20th call begins with 969, and is the last.
    facts = facts_of_calls(tmp_path, of_fifty(), "fifty(i, a);\n" * 170, frontend)
    assert facts.status == "partial"
    assert written(facts) == 20 * 50
    assert "RP108" in ids(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_way_that_ends_the_program_uses_nothing_up(tmp_path: Path, frontend: str) -> None:
    # Without the 100 calls that nobody gets to, 30 times 51 statements and a condition.
    report = 'static void fail(void) { fprintf(stderr, "bad"); exit(1); }\n'
    ending = "\n".join(["    fifty(i, a);"] * 100)
    last = f"if (i < 0) {{\n{ending}\n    hidden(i);\n    fail();\n  }}"
    functions = of_fifty() + report
    body = "fifty(i, a);\n" * 30 + last
    facts = facts_of_calls(tmp_path, functions, body, frontend)
    assert facts.status == "complete"
    assert written(facts) == 1500


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "length, last, status",
    [
        (20, "a[i] = 1.0;", "complete"),
        (20, "a[i] = 1.0; hidden(i);", "partial"),
        (32, "a[i] = 1.0;", "complete"),
        (33, "a[i] = 1.0;", "partial"),
    ],
)
def test_calls_inside_each_other(
    tmp_path: Path, frontend: str, length: int, last: str, status: str
) -> None:
    facts = facts_of_calls(tmp_path, chain(length, last), "step1(i, a);", frontend)
    assert facts.status == status
    assert written(facts) == (status == "complete")
    assert ("RP108" in ids(facts)) == (status == "partial")


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_call_of_itself_is_seen_to_its_end(tmp_path: Path, frontend: str) -> None:
    again = "static void again(int i, double *a) { if (i > 0) again(i - 1, a); a[i] = 2.0; }\n"
    body = "again(i, a);\n" + "fifty(i, a);\n" * 30
    facts = facts_of_calls(tmp_path, of_fifty() + again, body, frontend)
    assert facts.status == "complete"
    assert written(facts) == 1501


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_a_pointer_means_is_seen(tmp_path: Path, frontend: str) -> None:
    pointer = "static void (*chosen)(int, double *) = fifty;\n"
    body = "chosen(i, a);\n" * 30
    facts = facts_of_calls(tmp_path, of_fifty() + pointer, body, frontend)
    assert facts.status == "complete"
    assert written(facts) == 1500
