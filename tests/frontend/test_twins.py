"""Both front ends say the same of the same C.

Each case in `cases/` is about one construct and names, in its first line, how many regions it has;
the samples are whole programs. Compared is all that a region holds: directive, clauses, context,
loops, statements with their places, operations and accesses, arrays, and what names are worth.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from further_cases import further_slow
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.frontend import SourceRequest, read, requests_for
from regionpredict.frontend.headers import SHIPPED as SHIPPED_FOLDER
from regionpredict.frontend.libclang_reader import bindings
from regionpredict.frontend.pycparser_reader.unit_reader import parse_unit
from regionpredict.ir import Program, Region
from regionpredict.ir.pprint import dump_region

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(Path(__file__).with_name("cases").glob("*.c"))
POLYBENCH = sorted((ROOT / "polybench_samples").glob("*/*/*.c"))
NPB = sorted((ROOT / "npb_samples").glob("*/*.c"))
LISTINGS = sorted((ROOT / "tests" / "golden").glob("*.c"))
SHIPPED = sorted(Path(SHIPPED_FOLDER).rglob("*.h"))
OF_CPP = ("nanobind", "pybind11", "Rcpp.h")

pytestmark = pytest.mark.skipif(
    bindings.library_path() is None, reason="libclang has no build here"
)


def lines_of(region: Region) -> list[str]:
    """All that a region holds, as text."""
    lines = [f"{region.span} collapse {region.collapse}", *dump_region(region).splitlines()]
    for statement, loops in region.statements():
        lines.append(
            f"at {statement.span} {statement.text!r} in {[str(one.span) for one in loops]} "
            f"reads {sorted(statement.reads)} writes {sorted(statement.writes)} "
            f"calls {[(call.name, str(call.span)) for call in statement.calls]}"
        )
        lines += [f"    {a.text} at {a.span}: {a.bytes} bytes" for a in statement.accesses]
    lines += [f"declared {array.name} at {array.declared}" for array in region.arrays]
    return lines


def text_of(program: Program) -> list[str]:
    lines: list[str] = []
    for region in program.regions:
        lines += lines_of(region)
        lines += [f"where {d.name} = {d.value} ({d.span})" for d in program.definitions[region.id]]
    return lines


def read_both(path: Path, *includes: Path) -> tuple[Program, Program]:
    requests = requests_for([str(path)], includes=[str(folder) for folder in includes])
    return read(requests, "libclang"), read(requests, "pycparser")


def assert_twins(first: Program, second: Program) -> None:
    left, right = text_of(first), text_of(second)
    difference = difflib.unified_diff(left, right, "libclang", "pycparser", lineterm="", n=1)
    assert left == right, "\n".join(difference)


def ids(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


@pytest.mark.parametrize("path", CASES, ids=ids(CASES))
def test_case(path: Path) -> None:
    first, second = read_both(path)
    assert_twins(first, second)
    wanted = re.match(r"/\* regions: (\d+) \*/", path.read_text())
    assert wanted is not None
    assert len(second.regions) == int(wanted.group(1))
    assert all(region.nest is not None for region in second.regions)
    assert first.macros == second.macros


@pytest.mark.parametrize("path", further_slow(12, POLYBENCH), ids=ids(POLYBENCH))
def test_polybench_sample(path: Path) -> None:
    first, second = read_both(path, ROOT / "polybench_samples" / "common")
    assert second.regions
    assert_twins(first, second)


@pytest.mark.slow
@pytest.mark.parametrize("path", NPB, ids=[f"{path.parent.name}-{path.stem}" for path in NPB])
def test_npb_sample(path: Path) -> None:
    assert_twins(*read_both(path, ROOT / "npb_samples" / "common"))


@pytest.mark.parametrize("path", LISTINGS, ids=ids(LISTINGS))
def test_listing(path: Path) -> None:
    first, second = read_both(path)
    assert_twins(first, second)


# -- random loops ---------------------------------------------------------------------------------

NAMES = ("i", "j", "n", "m")
LEAVES = st.sampled_from(
    ["i", "j", "n", "m", "1", "7u", "0x1F", "2.5", "1.f", "s", "c", "'a'", "x[i]", "y[j + 1][i]",
     "p->v", "q[i].w[j]", "*x", "(*q).v", "z[idx[i]]", "x[i * n + j]", "sizeof(long)", "f(i)",
     "g(x[j], n)", "(&q[j])->v", "E", "r.w[2]"]
)  # fmt: skip
BINARY = st.sampled_from(
    ["+", "-", "*", "/", "%", "<<", "&", "|", "^", "<", "==", "&&", "||", ">="]
)
SHAPE = """
enum {{ E = 5 }};
struct t {{ char k; double v; float w[6]; }};
double f(int i);
static double g(double a, int b) {{ double h = a / b; return h * h - 1; }}
void kernel(int n, int m, double *x, double y[n][m], struct t *p, struct t *q, int *idx,
            float *z) {{
    double s = 0; char c = 3; struct t r; int i, j;
#pragma omp parallel for private(j)
    for (i = {start}; i < {bound}; {step})
        for (j = 0; j <= {inner}; ++j)
            {body}
}}
"""


def whole(depth: int) -> st.SearchStrategy[str]:
    """Integer expressions, which `%`, `<<` and `&` may take."""
    leaves = st.sampled_from(["n", "m", "3", "i", "idx[i]", "E", "sizeof(int)", "'b'"])
    return st.recursive(leaves, grown_whole, max_leaves=depth)


def grown_whole(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, BINARY, inner),
        st.builds("{} {} {}".format, inner, BINARY, inner),
        st.builds("-({})".format, inner),
        st.builds("(long){}".format, inner),
    )


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({}) {} ({})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "<", "||"]), inner),
        st.builds("(({}) ? {} : {})".format, inner, inner, inner),
        st.builds("(float)({})".format, inner),
        st.builds("- ({})".format, inner),
        st.builds("!({})".format, inner),
        st.builds("x[(int)({})]".format, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=6)
TARGETS = st.sampled_from(["x[i]", "y[i][j]", "s", "p->v", "q[j].w[i]", "*x", "z[idx[j]]", "r.v"])
ASSIGNMENTS = st.builds(
    "{} {} {};".format, TARGETS, st.sampled_from(["=", "+=", "-=", "*=", "/="]), EXPRESSIONS
)
BODIES = st.recursive(
    ASSIGNMENTS,
    lambda inner: st.one_of(
        st.builds("if ({}) {} else {}".format, EXPRESSIONS, inner, inner),
        st.builds("{{ {} {} }}".format, inner, inner),
        st.builds("for (int k = 0; k < {}; k++) {}".format, whole(2), inner),
        st.builds("{{ double s = {}; x[j] = s; {} }}".format, EXPRESSIONS, inner),
    ),
    max_leaves=4,
)


LOOPS = st.fixed_dictionaries(
    {
        "start": whole(2),
        "bound": whole(3),
        "step": st.sampled_from(["i++", "++i", "i += 3", "i = i + n", "i -= -2"]),
        "inner": whole(2),
        "body": BODIES,
    }
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(loop=LOOPS)
def test_random_loop(tmp_path_factory: pytest.TempPathFactory, loop: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("random") / "case.c"
    path.write_text(SHAPE.format(**loop))
    first, second = read_both(path)
    assert len(second.regions) == 1
    assert_twins(first, second)


# -- what only one of them does -------------------------------------------------------------------


def test_cpp_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "case.cpp"
    path.write_text("int main() {}\n")
    with pytest.raises(InputError, match="--frontend libclang"):
        parse_unit(SourceRequest(str(path)))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        parse_unit(SourceRequest(str(tmp_path / "none.c")))


def test_one_bad_function_loses_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        "int good(int n, int *a) {\n"
        "#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = 0;\n"
        "  return 0;\n"
        "}\n"
        "int bad(int n { return 0; }\n"
        "void last(int n, int *a) {\n"
        "#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = 1;\n"
        "}\n"
    )
    program = read([SourceRequest(str(path))], "pycparser")
    assert [region.function for region in program.regions] == ["good", "last"]
    assert all(region.nest is not None for region in program.regions)
    assert [(note.id, note.span.line) for note in program.diagnostics] == [("RP002", 6)]


def test_one_bad_statement_loses_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        "void f(int n, int *a) {\n"
        "  int k = n;\n"
        "  a[0] = = 3;\n"
        "#pragma omp parallel for\n"
        "  for (int i = 0; i < k; i++) a[i] = 0;\n"
        "}\n"
    )
    program = read([SourceRequest(str(path))], "pycparser")
    assert str(program.regions[0].nest.bound) == "k"  # type: ignore[union-attr]
    assert [(note.id, note.span.line) for note in program.diagnostics] == [("RP002", 3)]


def test_a_missing_header_is_named_at_the_same_place(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        '#include "nowhere.h"\n'
        "void f(int n, int *a) {\n"
        "#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = 0;\n"
        "}\n"
    )
    first, second = read_both(path)
    assert_twins(first, second)
    assert [(n.id, n.span) for n in first.diagnostics] == [
        (n.id, n.span) for n in second.diagnostics
    ]
    (note,) = second.diagnostics
    assert (note.id, note.span.line, note.span.column) == ("RP001", 1, 10)


def test_a_type_from_a_missing_header_keeps_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        '#include "nowhere.h"\n'
        "void f(Matrix *m, Index n, double *a) {\n"
        "  Index k = n - 1;\n"
        "#pragma omp parallel for\n"
        "  for (Index i = 0; i < k; i++) a[i] = sizeof(Matrix *);\n"
        "}\n"
    )
    program = read([SourceRequest(str(path))], "pycparser")
    (region,) = program.regions
    assert region.nest is not None
    assert region.array("a").element_bytes == 8
    assert {note.id for note in program.diagnostics} == {"RP001", "RP005"}


def _headers() -> list[Any]:
    """All shipped headers. Of libraries with many headers, `make test` reads the first three."""
    folders: Counter[Path] = Counter()
    cases = []
    for path in SHIPPED:
        name = path.relative_to(SHIPPED_FOLDER)
        folders[name.parent] += 1
        further = str(name.parent) in ("gsl", "R_ext") and folders[name.parent] > 3
        cases.append(pytest.param(path, marks=[pytest.mark.slow] * further, id=str(name)))
    return cases


@pytest.mark.parametrize("header", _headers())
def test_shipped_header_is_read_by_both(tmp_path: Path, header: Path) -> None:
    name = header.relative_to(SHIPPED_FOLDER)
    path = tmp_path / "case.c"
    path.write_text(f"#include <{name}>\n#include <{name}>\nint main(void) {{ return 0; }}\n")
    languages = [("c++", "gnu++17")]
    if name.parts[0] not in OF_CPP:
        languages.append(("c", "gnu11"))
        unit = parse_unit(SourceRequest(str(path)))
        assert unit.diagnostics == ()
    lib = bindings.load_libclang()
    for language, standard in languages:
        arguments = ["-nostdinc", "-x", language, f"-std={standard}", "-I", SHIPPED_FOLDER]
        index = lib.clang_createIndex(0, 0)
        code, handle = bindings.parse(index, str(path), arguments, 0)
        assert code == 0
        messages = []
        for number in range(lib.clang_getNumDiagnostics(handle)):
            diagnostic = lib.clang_getDiagnostic(handle, number)
            if lib.clang_getDiagnosticSeverity(diagnostic) >= 3:
                messages.append(bindings.string_text(lib.clang_getDiagnosticSpelling(diagnostic)))
        lib.clang_disposeTranslationUnit(handle)
        lib.clang_disposeIndex(index)
        assert messages == []
