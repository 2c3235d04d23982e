r"""Directives as they stand in real text: continued, spaced oddly, commented out, from macros.

Every expectation is written by hand: which lines hold an active worksharing loop, with what
words and clauses. Both front ends go through the same cases.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of, program_of

pytestmark = pytest.mark.parametrize("frontend", FRONTENDS)

LOOP = "  for (int i = 0; i < n; i++) a[i] = 0.0;\n"


def function(body: str, before: str = "", after: str = "") -> str:
    """`body` in a function of `double *a, int n`; the body's first line is line 2 of the text."""
    return f"{before}void f(double *a, int n) {{\n{body}}}\n{after}"


def regions(tmp_path: Path, frontend: str, text: str, **options: object) -> list[tuple[int, str]]:
    """(line of the directive, its words) of every region; each must have its loop."""
    program = program_of(tmp_path, text, frontend, **options)
    for region in program.regions:
        assert region.nest is not None, f"the loop of {region.id} was not read"
    return [(region.span.line, region.directive) for region in program.regions]


SPELLINGS = {
    "plain": "#pragma omp parallel for\n",
    "indented": "    #pragma omp parallel for\n",
    "space after the hash": "#  pragma   omp   parallel   for\n",
    "tabs": "\t#\tpragma\tomp\tparallel\tfor\n",
    "commas between clauses": "#pragma omp parallel for, shared(a), schedule(static)\n",
    "comment behind": "#pragma omp parallel for // each thread its part\n",
    "comment inside": "#pragma omp parallel /* all of them */ for\n",
    "clause text with parentheses": "#pragma omp parallel for if((n > 10) && (n < 20))\n",
    "digraph": "%:pragma omp parallel for\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_one_directive(tmp_path: Path, frontend: str, spelling: str) -> None:
    assert regions(tmp_path, frontend, function(SPELLINGS[spelling] + LOOP)) == [
        (2, "parallel for")
    ]


def test_carriage_returns(tmp_path: Path, frontend: str) -> None:
    text = function("#pragma omp parallel for \\\n  schedule(static)\n" + LOOP)
    (tmp_path / "case.c").write_bytes(text.replace("\n", "\r\n").encode())
    from regionpredict.frontend import read, requests_for

    program = read(requests_for([str(tmp_path / "case.c")]), frontend)
    assert [(r.span.line, r.directive) for r in program.regions] == [(2, "parallel for")]
    assert program.regions[0].clause("schedule") is not None


def test_continuation_lines(tmp_path: Path, frontend: str) -> None:
    text = function(
        "#pragma omp parallel \\\n    for \\\n    schedule( static ,  4 ) \\\n    if(1)\n"
        + LOOP
        + "#pragma omp \\\nparallel for collapse(\\\n1)\n"
        + LOOP
    )
    program = program_of(tmp_path, text, frontend)
    first, second = program.regions
    assert (first.span.line, first.directive) == (2, "parallel for")
    assert first.clause("schedule") is not None
    assert first.clause("schedule").text == "static , 4"  # type: ignore[union-attr]
    assert first.nest is not None and first.nest.span.line == 6
    assert (second.span.line, second.directive, second.collapse) == (7, "parallel for", 1)
    assert second.nest is not None and second.nest.span.line == 10


def test_comments_and_strings_hold_no_directive(tmp_path: Path, frontend: str) -> None:
    text = (
        "// #pragma omp parallel for\n"
        "/* a block\n#pragma omp parallel for\n*/\n"
        'const char *text = "\\\n#pragma omp parallel for\\\n";\n'
        "char quote = '\"';\n"
        "// continued \\\n#pragma omp parallel for\n"
        "void f(double *a, int n) {\n" + LOOP + "#pragma omp parallel for\n" + LOOP + "}\n"
    )
    assert regions(tmp_path, frontend, text) == [(13, "parallel for")]


def test_text_under_a_false_condition_is_not_active(tmp_path: Path, frontend: str) -> None:
    text = function(
        "#if 0\n#pragma omp parallel for\n" + LOOP + "#endif\n"
        "#ifdef NEVER\n#pragma omp parallel for\n#else\n#pragma omp parallel for simd\n#endif\n"
        + LOOP
        + "#if defined(_OPENMP) && _OPENMP >= 200805\n#pragma omp parallel for\n#endif\n"
        + LOOP
    )
    assert regions(tmp_path, frontend, text) == [(9, "parallel for simd"), (13, "parallel for")]


def test_a_define_on_the_command_line_decides(tmp_path: Path, frontend: str) -> None:
    text = function("#ifdef FAST\n#pragma omp parallel for\n#endif\n" + LOOP)
    assert regions(tmp_path, frontend, text) == []
    assert regions(tmp_path, frontend, text, defines=(("FAST", "1"),)) == [(3, "parallel for")]


def test_other_pragmas_and_comments_between(tmp_path: Path, frontend: str) -> None:
    text = function(
        "#pragma omp parallel for\n/* first the easy part */\n\n#pragma GCC ivdep\n#ifdef NEVER\n"
        "  for (int i = 0; i < 3; i++)\n#endif\n" + LOOP
    )
    program = program_of(tmp_path, text, frontend)
    (region,) = program.regions
    assert region.nest is not None
    assert (region.span.line, region.nest.span.line) == (2, 9)


def test_other_directives_are_no_regions(tmp_path: Path, frontend: str) -> None:
    text = function(
        "#pragma omp parallel\n  {\n#pragma omp single\n    a[0] = 1.0;\n#pragma omp barrier\n"
        "#pragma omp for nowait\n" + LOOP + "#pragma omp critical\n    a[1] = 2.0;\n  }\n"
        "#pragma omp simd\n" + LOOP + "#pragma once_upon_a_time for\n" + LOOP
    )
    assert regions(tmp_path, frontend, text) == [(7, "for")]


OPERATORS = {
    "bare": ('  _Pragma("omp parallel for")\n', "", 2),
    "object-like macro": (
        "  PARALLEL\n", '#define PARALLEL _Pragma("omp parallel for")\n', 3,
    ),
    "macro of macros": (
        "  EACH\n",
        '#define INNER _Pragma("omp parallel for")\n#define EACH INNER\n', 4,
    ),
    "stringified argument": (
        "  OMP(parallel for)\n",
        "#define STR(x) #x\n#define OMP(x) _Pragma(STR(omp x))\n", 4,
    ),
    "variadic": (
        "  OMP(parallel for schedule(static, 4))\n",
        "#define STR(...) #__VA_ARGS__\n#define OMP(...) _Pragma(STR(omp __VA_ARGS__))\n", 4,
    ),
    "under a condition": (
        "  PARALLEL\n",
        '#ifdef _OPENMP\n#define PARALLEL _Pragma("omp parallel for")\n#else\n'
        "#define PARALLEL\n#endif\n", 7,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OPERATORS)
def test_pragma_operators(
    tmp_path: Path, frontend: str, case: str, request: pytest.FixtureRequest
) -> None:
    if frontend == "pycparser" and case in ("stringified argument", "variadic"):
        reason = "pycparser's preprocessor does not yet expand the argument of _Pragma"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    body, before, line = OPERATORS[case]
    assert regions(tmp_path, frontend, function(body + LOOP, before)) == [(line, "parallel for")]


def test_macro_defined_empty_is_no_directive(tmp_path: Path, frontend: str) -> None:
    before = (
        '#ifdef WITH_THREADS\n#define PARALLEL _Pragma("omp parallel for")\n#else\n'
        "#define PARALLEL\n#endif\n"
    )
    assert regions(tmp_path, frontend, function("  PARALLEL\n" + LOOP, before)) == []


def test_two_regions_of_one_macro_on_a_line(tmp_path: Path, frontend: str) -> None:
    before = (
        "#define ZERO(x) do { \\\n"
        '  _Pragma("omp parallel for") for (int i = 0; i < n; i++) x[i] = 0.0; \\\n'
        '  _Pragma("omp parallel for") for (int j = 1; j < n; j++) x[j] = 1.0; \\\n'
        "} while (0)\n"
    )
    program = program_of(tmp_path, function("  ZERO(a);\n", before), frontend)
    assert [region.span.line for region in program.regions] == [6, 6]
    assert len({region.id for region in program.regions}) == 2
    starts = [str(region.nest.start) for region in program.regions if region.nest is not None]
    assert starts == ["0", "1"]


def test_macros_in_clauses(tmp_path: Path, frontend: str) -> None:
    before = (
        "#define DEPTH 2\n#define SCHEDULE schedule(dynamic, CHUNK)\n#define CHUNK 8\n"
        "#define CLAUSES private(j) SCHEDULE\n"
    )
    text = before + (
        "double a[10][20];\nvoid f(void) {\n  int i, j;\n"
        "#pragma omp parallel for collapse(DEPTH) CLAUSES\n"
        "  for (i = 0; i < 10; i++)\n    for (j = 0; j < 20; j++)\n      a[i][j] = 0.0;\n}\n"
    )
    facts = facts_of(tmp_path, text, frontend)
    assert facts.region.collapse == 2
    assert facts.iterations.value == 200
    schedule = facts.region.clause("schedule")
    assert schedule is not None and schedule.text is not None
    assert schedule.text.replace(" ", "") == "dynamic,8"
    assert facts.region.clause("private") is not None


CLAUSES = {
    "schedule(guided)": ("schedule", "guided"),
    "schedule(runtime)": ("schedule", "runtime"),
    "schedule(monotonic:dynamic,1)": ("schedule", "monotonic:dynamic,1"),
    "reduction(+:s,t)": ("reduction", "+:s,t"),
    "reduction(max : s)": ("reduction", "max : s"),
    "private(s) firstprivate(t)": ("firstprivate", "t"),
    "lastprivate(s)": ("lastprivate", "s"),
    "num_threads(4)": ("num_threads", "4"),
    "if(n > 1000)": ("if", "n > 1000"),
    "ordered": ("ordered", None),
    "default(none) shared(a, n)": ("shared", "a, n"),
}


@pytest.mark.parametrize("clause", CLAUSES)
def test_clauses(tmp_path: Path, frontend: str, clause: str) -> None:
    text = f"double s, t;\n{function(f'#pragma omp parallel for {clause}' + chr(10) + LOOP)}"
    (region,) = program_of(tmp_path, text, frontend).regions
    name, argument = CLAUSES[clause]
    found = region.clause(name)
    assert found is not None and found.text == argument


@pytest.mark.parametrize(
    ("directive", "words", "context"),
    [
        ("parallel for", "parallel for", "combined"),
        ("parallel for simd", "parallel for simd", "combined"),
        ("for", "for", "orphaned"),
        ("for simd nowait", "for simd", "orphaned"),
        (
            "target teams distribute parallel for map(tofrom: a[0:n])",
            "target teams distribute parallel for",
            "combined",
        ),
        ("distribute parallel for simd", "distribute parallel for simd", "combined"),
        ("parallel loop", "parallel loop", "combined"),
    ],
)
def test_worksharing_directives(
    tmp_path: Path, frontend: str, directive: str, words: str, context: str
) -> None:
    (region,) = program_of(tmp_path, function(f"#pragma omp {directive}\n{LOOP}"), frontend).regions
    assert (region.directive, region.context) == (words, context)


def test_for_inside_parallel(tmp_path: Path, frontend: str) -> None:
    text = function(
        "#pragma omp parallel\n  {\n    if (n > 1) {\n#pragma omp for\n" + LOOP + "    }\n  }\n"
    )
    (region,) = program_of(tmp_path, text, frontend).regions
    assert (region.span.line, region.directive, region.context) == (5, "for", "inside")
