"""Which files of many are read, and that the others could not have told anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import files_to_read, requests_for
from regionpredict.frontend.text import Passage, passages
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict

LOOP = "#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 0.0;\n"


def chosen(folder: Path, files: dict[str, str]) -> set[str]:
    """The files that are read of a folder with these and twelve that nothing links."""
    for number in range(12):
        text = f"static int own{number}(int n) {{ return n + {number}; }}\n"
        Path(folder, f"other{number}.c").write_text(text)
    for name, text in files.items():
        Path(folder, name).parent.mkdir(exist_ok=True)
        Path(folder, name).write_text(text)
    selection = files_to_read(requests_for([str(folder)]))
    read = {str(Path(request.path).relative_to(folder)) for request in selection.read}
    left = {str(Path(path).relative_to(folder)) for path in selection.left}
    assert not read & left
    assert read | left == {str(path.relative_to(folder)) for path in folder.rglob("*.c*")}
    return read


def names_of(text: str) -> list[list[str]]:
    return [sorted(name.decode() for name in one.names) for one in passages(text.encode())]


def test_a_file_with_a_directive_alone_is_read(tmp_path: Path) -> None:
    assert chosen(tmp_path, {"sum.c": f"void f(int n, double *a) {{\n{LOOP}}}\n"}) == {"sum.c"}


def test_callers_and_what_they_call_are_read(tmp_path: Path) -> None:
    files = {
        "sum.c": f"void f(int n, double *a) {{\n{LOOP}}}\n",
        "caller.c": "void f(int, double *);\nvoid g(int n, double *a) { f(n, a); }\n",
        "main.c": "void g(int, double *); void init(double *);\n"
        "int main(void) { double a[9]; init(a); g(9, a); }\n",
        "init.c": "void init(double *a) { for (int i = 0; i < 9; i++) a[i] = 1.0; }\n",
    }
    assert chosen(tmp_path, files) == set(files)


def test_of_variants_the_one_with_directives_is_read(tmp_path: Path) -> None:
    """With what it calls in its own folder; a helper of another name belongs to all."""
    step = "void sum(int, double *); void log_it(void);\n"
    step += "void step(int n, double *a) { sum(n, a); log_it(); }\n"
    sum_up = "void sum(int n, double *a) {\n%s}\n"
    files = {
        "driver/main.c": "void step(int, double *); int main(void) { double a[9]; step(9, a); }\n",
        "driver/log.c": "void log_it(void) {}\n",
        "cuda/step.c": step,
        "cuda/sum.c": sum_up % "a[n - 1] = 0;",
        "omp/step.c": step,
        "omp/sum.c": sum_up % LOOP,
        "serial/step.c": step,
        "serial/sum.c": sum_up % "a[0] = 0;",
    }
    variant = {"driver/main.c", "driver/log.c", "omp/step.c", "omp/sum.c"}
    assert chosen(tmp_path, files) == variant


def test_what_a_loop_calls_is_read(tmp_path: Path) -> None:
    """By a name in a table of pointers, too."""
    files = {
        "sum.c": "void work(int);\nvoid f(int n) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) work(i);\n}\n",
        "work.c": "extern int (*table[])(int);\nvoid work(int i) { table[i](i); }\n",
        "table.c": "int one(int);\nint (*table[])(int) = { one };\n",
        "one.c": "int one(int i) { return i; }\n",
        "silent.c": "int h(void) { return 1; }\n",
    }
    assert chosen(tmp_path, files) == files.keys() - {"silent.c"}


def test_a_call_through_a_macro_of_a_header_is_one(tmp_path: Path) -> None:
    files = {
        "sum.c": f"void f(int n, double *a) {{\n{LOOP}}}\n",
        "run.h": "void f(int, double *);\n#define RUN(a) f(9, a)\n",
        "caller.c": '#include "run.h"\nvoid g(double *a) { RUN(a); }\n',
        "silent.c": '#include "run.h"\nint h(void) { return 1; }\n',
    }
    assert chosen(tmp_path, files) == {"sum.c", "caller.c"}


@pytest.mark.parametrize(
    "definition",
    [
        "#define JOIN(a, b) JOIN_(a, b)\n#define JOIN_(a, b) a##b\n"
        "double JOIN(scale_, f)(double x) { return 2.0 * x; }\n",
        "double one(void) { return 1.0; }\n"
        "#define ALL(NAME) double NAME##_f(double x) { return x + x; }\nALL(scale)\n",
        "#define FLOAT(NAME) double NAME##_f(double x) { return 2.0 * x; }\nFLOAT(scale)\n"
        "double one(void) { return 1.0; }\n",
    ],
    ids=["of a function", "at the end", "before a function"],
)
def test_a_definition_whose_name_a_macro_pastes_is_read(tmp_path: Path, definition: str) -> None:
    loop = LOOP.replace("0.0", "scale_f(a[i])")
    files = {
        "sum.c": f"double scale_f(double);\nvoid f(int n, double *a) {{\n{loop}}}\n",
        "scale.c": definition,
        "none.c": "#define JOIN(a, b) a##b\nint JOIN(own_, d)(int n) { return n; }\n",
    }
    assert chosen(tmp_path, files) == {"sum.c", "scale.c"}


@pytest.mark.parametrize(
    ("macro", "use"),
    [
        ('#define LOOP _Pragma("omp parallel for")', "LOOP"),
        ("#define DO(x) _Pragma(#x)", "DO(omp parallel for)"),
        ("#define DO(x) _Pragma(#x)\n#define LOOP DO(omp parallel for)", "LOOP"),
    ],
)
def test_a_directive_in_a_macro_is_one(tmp_path: Path, macro: str, use: str) -> None:
    files = {
        "macros.h": f"{macro}\n",
        "sum.c": '#include "macros.h"\nvoid f(int n, double *a) {\n'
        f"{use}\nfor (int i = 0; i < n; i++) a[i] = 0.0;\n}}\n",
        "silent.c": '#include "macros.h"\nint h(void) { return 1; }\n',
    }
    assert chosen(tmp_path, files) == {"sum.c"}


def test_a_header_with_a_loop_is_read_with_the_first_file_that_includes_it(tmp_path: Path) -> None:
    files = {
        "inner.h": f"static void f(int n, double *a) {{\n{LOOP}}}\n",
        "outer.h": '#include "inner.h"\n',
        "first.c": '#include "outer.h"\nint one(void) { return 1; }\n',
        "second.c": '#include "inner.h"\nint two(void) { return 2; }\n',
    }
    assert chosen(tmp_path, files) == {"first.c"}


def test_a_file_that_instantiates_a_template_with_a_loop_is_read(tmp_path: Path) -> None:
    """Other files that include the header have no loop of it."""
    files = {
        "fill.h": f"template <class T> void fill(int n, T *a) {{\n{LOOP}}}\n",
        "a_user.cpp": '#include "fill.h"\nint one(int n) { return n; }\n',
        "instances.cpp": '#include "fill.h"\n#include "instances.h"\n',
        "instances.h": "template void fill<double>(int, double *);\n",
        "other.cpp": "template <class T> T twice(T x) { return x + x; }\n"
        "template int twice<int>(int);\n",
    }
    read = chosen(tmp_path, files)
    assert "instances.cpp" in read
    assert "other.cpp" not in read


def test_a_header_that_all_include_under_conditions_is_read_with_each(tmp_path: Path) -> None:
    """The first one may be for another program, whose macro is not defined."""
    files = {
        "fill.h": f"#ifndef FILL_H\n#define FILL_H\nvoid fill(int n, double *a) {{\n{LOOP}}}\n"
        "#endif\n",
        "for_python.c": '#ifdef FOR_PYTHON\n#include "fill.h"\n#endif\n',
        "plain.c": '#if !defined(FOR_PYTHON)\n#include "fill.h"\n#endif\n',
    }
    assert chosen(tmp_path, files) == {"for_python.c", "plain.c"}
    Path(tmp_path, "always.c").write_text('#include "fill.h"\n')
    assert chosen(tmp_path, files) == {"always.c"}


def test_a_pragma_of_another_kind_or_in_a_comment_is_no_directive(tmp_path: Path) -> None:
    files = {
        "once.c": "#pragma once\nint omp_count(void) { return 1; }\n",
        "comment.c": "int f(void) { // #pragma omp parallel for\nreturn 1; }\n",
        "quoted.c": '#define WARN _Pragma("GCC diagnostic push")\nint g(void) { return 1; }\n',
    }
    assert chosen(tmp_path, files) == set()


def test_a_file_that_cannot_be_judged_is_read(tmp_path: Path) -> None:
    files = {"computed.c": "#define HEADER <stdio.h>\n#include HEADER\nint f(void) { return 1; }\n"}
    assert chosen(tmp_path, files) == {"computed.c"}


def test_few_files_are_all_read(tmp_path: Path) -> None:
    for name in ("a.c", "b.c", "c.c"):
        Path(tmp_path, name).write_text("int f(void) { return 1; }\n")
    requests = requests_for([str(tmp_path)])
    assert files_to_read(requests).read == requests


@pytest.mark.parametrize(
    ("suffix", "callers", "undecided"), [("cpp", 40, 0), ("cpp", 43, 3), ("c", 202, 2)]
)
def test_the_files_nearest_to_a_loop_are_read(
    tmp_path: Path, suffix: str, callers: int, undecided: int
) -> None:
    """A chain of callers: each file calls the function of the one before."""
    (tmp_path / f"sum.{suffix}").write_text(f"void g0(int n, double *a) {{\n{LOOP}}}\n")
    for number in range(1, callers + 1):
        before = f"g{number - 1}"
        text = (
            f"void {before}(int, double *);\nvoid g{number}(int n, double *a) {{ {before}(n, a); }}"
        )
        (tmp_path / f"call{callers - number:03}.{suffix}").write_text(f"{text}\n")
    selection = files_to_read(requests_for([str(tmp_path)]))
    left = {Path(path).name for path in selection.left}
    assert left == {f"call{number:03}.{suffix}" for number in range(undecided)}
    assert len(selection.read) == 1 + callers - undecided
    assert [remark.split(" files")[0] for remark in selection.remarks] == (
        [str(undecided)] if undecided else []
    )


def test_a_name_that_many_files_define_is_a_far_reference(tmp_path: Path) -> None:
    """The loop calls `norm` of one file, and `size` of 44 others, five of which are too many."""
    (tmp_path / "loop.cpp").write_text(
        f"double norm(double); int size();\nvoid g(int n, double *a) {{\nnorm(size());\n{LOOP}}}\n"
    )
    for number in range(44):
        (tmp_path / f"a{number:02}.cpp").write_text("static int size() { return 1; }\n")
    (tmp_path / "z.cpp").write_text("double norm(double x) { return x; }\n")
    selection = files_to_read(requests_for([str(tmp_path)]))
    left = {Path(path).name for path in selection.left}
    assert left == {f"a{number}.cpp" for number in range(39, 44)}


def test_headers_of_files_left_out_are_kept_in_mind(tmp_path: Path) -> None:
    files = {"own.c": '#include "own.h"\nint f(void) { return 1; }\n', "own.h": "int f(void);\n"}
    chosen(tmp_path, files)
    left = files_to_read(requests_for([str(tmp_path)])).left
    seen = {Path(path).name for lookups in left.values() for path in lookups.files}
    assert {"own.c", "own.h"} <= seen


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(int (*g)(int)) { return g(1); }", [["f"]]),
        ("int f(a) int a; { return a; }", [["f"]]),
        ("int f(int n);", []),
        ("struct s { int (*run)(int); };", []),
        ("struct s *make(void) { return 0; }", [["make"]]),
        ("static const struct s table[] = { f, g };", [["table"]]),
        ('extern "C" { int f(void) { return 1; } }', [["f"]]),
        ("namespace a { class B : public C { int size() const { return 1; } }; }", [["size"]]),
        ("template <class T> T A<T>::at(int i) const { return x[i]; }", [["at"]]),
        ("A::A(int n) : size(n) { fill(); }", [["A", "size"]]),
        ("#ifdef X\nint f(int a) {\n#else\nint f(void) {\n#endif\nreturn 1; }\nint g() {}",
         [["f"], ["g"]]),
        ("int f(void) { return '{'; } int g(void) { return 0; /* } */ }", [["f"], ["g"]]),
    ],
)  # fmt: skip
def test_what_a_text_defines(text: str, names: list[list[str]]) -> None:
    assert names_of(text) == names


def test_a_text_whose_braces_do_not_match_is_one_passage() -> None:
    (one,) = passages(b"int f(void) { g();\nint h(int n)\nint\nhere(int n)\n")
    assert one == Passage(False, one.names, one.used_names, False)
    assert {b"f", b"h", b"here"} <= one.names
    assert b"g" in one.used_names


@pytest.mark.parametrize("model", ["saturation", "density"])
def test_the_files_left_out_change_no_answer(tmp_path: Path, model: str) -> None:
    """The same program, once with every file given a loop of its own that nothing calls: so all
    are read, and the regions that were there before have the predictions that they had."""
    folders = [tmp_path / "chosen", tmp_path / "all"]
    program = {
        "sum.c": f"void f(int n, double *a) {{\n{LOOP}}}\n",
        "driver.c": "void f(int, double *);\n"
        "void g(int n, double *a) { for (int t = 0; t < 7; t++) f(n, a); }\n",
        "main.c": "#include <stdlib.h>\nvoid g(int, double *); void init(int, double *);\n"
        "int main(void) { double *a = malloc(8000000); init(1000000, a); g(1000000, a); }\n",
        "init.c": "void init(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1.0; }\n",
    }
    answers = []
    for folder in folders:
        folder.mkdir()
        read = chosen(folder, program)
        assert len(read) < 16
        if folder.name == "all":
            for path in folder.glob("*.c"):
                own = f"\nvoid only_{path.stem}(int n, double *a) {{\n{LOOP}}}\n"
                path.write_text(path.read_text() + own)
        machine = load("dunnington")
        analysis = analyse(requests_for([str(folder)]), {}, flows=model == "saturation")
        result = predict(analysis, machine, model)
        one = next(own for own in result.predictions if own.facts.region.function == "f")
        team = next(own for own in result.teams if own.facts.function == "f")
        past = result.pasts[result.predictions.index(one)]
        placed = [(array.kind, array.assumed) for array in past.placement.arrays]
        answers.append((one.speedup, one.threads, team.facts.executions.weight, placed))
    assert answers[0] == answers[1]
