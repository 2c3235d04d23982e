"""Calls that may mean several functions: the most expensive stands for all, where all touch the
same memory; a few others are sides of a condition; else the region stays partial, and the note
names them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region
from regionpredict.workload.nest_lowering import loop_nest

KERNELS = """\
typedef double (*kernel)(double);
static double square(double x) { return x * x; }
static double cube(double x) { return x * x * x; }
static double table[100], state;
static double look(double x) { return table[(int)x]; }
static double count(double x) { state = state + 1.0; return x; }
double unseen(double x);
struct ops { const char *name; kernel apply; };
double a[1000];
"""


def loop(call: str) -> str:
    return f"#pragma omp parallel for\nfor (int i = 0; i < 1000; i++) a[i] = {call}(a[i]);\n"


def kinds(facts: RegionFacts) -> list[str]:
    return [kind.kind for one in facts.statements for kind, count in one.statement.operations
            for _ in range(count)]  # fmt: skip


# How one of two functions, `cube` and the other one, comes to be called.
WAYS = {
    "a variable": ("k", "static kernel k = cube;\nvoid set(void) {{ k = {other}; }}\n", "void"),
    "a condition": ("k", "static kernel k;\nvoid set(int n) {{ k = n ? cube : {other}; }}\n",
                    "void"),
    "a parameter": ("k", "", "kernel k"),
    "a table": ("op[n]", "static double (*const op[])(double) = {{cube, {other}}};\n", "int n"),
    "a table by numbers": ("op[n]", "static kernel op[4] = {{[2] = cube, [0] = {other}}};\n",
                           "int n"),
    "a table that is set": ("op[n]", "kernel op[8];\nvoid set(void) {{ op[0] = cube;"
                            " op[5] = &{other}; }}\n", "int n"),
    "an element of a table": ("k", "static kernel op[] = {{cube, {other}}}, k;\n"
                              "void set(int n) {{ k = op[n]; }}\n", "void"),
    "followed by a star": ("(*op[n])", "static kernel op[] = {{cube, {other}}};\n", "int n"),
    "structs in a table": ("all[n].apply", "static const struct ops all[] = {{{{\"c\", cube}},"
                           " {{.apply = {other}}}}};\n", "int n"),
    "behind a pointer": ("o->apply", "struct ops one = {{\"c\", cube}}, two;\n"
                         "void set(void) {{ two.apply = {other}; }}\n", "struct ops *o"),
    "set through a parameter": ("o->apply", "void put(struct ops *o, kernel k) {{ o->apply = k; }}"
                                "\nvoid set(struct ops *o) {{ put(o, cube); put(o, {other}); }}\n",
                                "const struct ops *o"),
    "a table of pointers to structs": (
        "all[n]->apply", "static struct ops one = {{0, cube}}, two = {{0, {other}}};\n"
        "static struct ops *all[] = {{&one, &two}};\n", "int n"),
    "a table in a struct": ("s->op[n]", "struct many {{ kernel op[2]; }};\n"
                            "struct many first = {{{{cube, {other}}}}};\n",
                            "struct many *s, int n"),
    "a struct in a struct": (
        "s->in.apply", "struct outer {{ int n; struct ops in; }};\n"
        "struct outer x = {{1, {{\"c\", cube}}}};\n"
        "void set(struct outer *s) {{ s->in.apply = {other}; }}\n", "struct outer *s"),
}  # fmt: skip


def read(folder: Path, way: str, other: str, frontend: str) -> RegionFacts:
    call, setting, parameters = WAYS[way]
    calls = "" if way != "a parameter" else f"void g(void) {{ f(cube); f({other}); }}\n"
    text = KERNELS + setting.format(other=other)
    return facts_of(folder, f"{text}static void f({parameters}) {{\n{loop(call)}}}\n{calls}"
                    "void go(void) { (void)f; }\n", frontend)  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("way", WAYS)
def test_the_most_expensive_stands_for_all_and_is_told(
    tmp_path: Path, way: str, frontend: str
) -> None:
    """`cube` multiplies twice, `square` once."""
    facts = read(tmp_path, way, "square", frontend)
    assert facts.status == "complete", facts.diagnostics
    assert kinds(facts) == ["fp_mul", "fp_mul"]
    (note,) = [note for note in facts.diagnostics if note.id == "RP117"]
    assert "counts as cube()" in note.message
    assert "cube(), square()" in note.message
    assert note.message in facts.bindings.assumed


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_is_not_seen_leaves_the_region_partial_and_all_are_named(
    tmp_path: Path, way: str, frontend: str
) -> None:
    facts = read(tmp_path, way, "unseen", frontend)
    assert facts.status == "partial"
    (note,) = [note for note in facts.diagnostics if note.id == "RP113"]
    assert "any of cube(), unseen()" in note.message
    assert not [note for note in facts.diagnostics if note.id == "RP117"]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("other", ["look", "count"])
@pytest.mark.parametrize("way", WAYS)
def test_those_that_differ_in_memory_are_sides_of_a_condition(
    tmp_path: Path, way: str, other: str, frontend: str
) -> None:
    """`look` reads a table, `count` adds to a variable that all share: beside what `cube` does."""
    facts = read(tmp_path, way, other, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert sorted(kinds(facts)) == [*(["fp_add"] if other == "count" else []), "fp_mul", "fp_mul"]
    arrays = {access.access.array for one in facts.statements for access in one.accesses}
    assert arrays == {"a", *(["table"] if other == "look" else [])}
    (note,) = [note for note in facts.diagnostics if note.id == "RP117"]
    assert f"any of {', '.join(sorted(['cube()', f'{other}()']))}: all are" in note.message
    assert note.message in facts.bindings.assumed


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_sides_are_as_likely_as_each_other_and_three_of_many_are_followed(
    tmp_path: Path, frontend: str
) -> None:
    """Each function reads a table of its own: of three, a call costs what one of them does."""

    def text(count: int) -> str:
        functions = "".join(f"static double t{k}[100];\nstatic double f{k}(double x)"
                            f" {{ return t{k}[(int)x]; }}\n" for k in range(count))  # fmt: skip
        table = ", ".join(f"f{k}" for k in range(count))
        return (f"{KERNELS}{functions}static const kernel op[] = {{{table}}};\n"
                f"void f(int n) {{\n{loop('op[n]')}}}\n")  # fmt: skip

    few = facts_of(tmp_path, text(3), frontend)
    assert few.status == "complete"
    assert len([array for array in few.arrays if array.name.startswith("t")]) == 3
    nest = loop_nest(few.region, {"n": 1})
    assert nest is not None
    shares = sorted(share for _, share in nest.root.statements)
    assert shares == pytest.approx([1 / 3] * 6 + [1.0])  # a[i] and what it is used for
    many = facts_of(tmp_path, text(7), frontend)
    assert len([array for array in many.arrays if array.name.startswith("t")]) == 3
    (note,) = [note for note in many.diagnostics if note.id == "RP123"]
    assert "may reach other functions than f0(), f1(), f2(), which are assumed" in note.message
    assert note.message in many.bindings.assumed


OPEN = {
    "its address is given away": "void load(kernel *);\nvoid set(void) { load(&two.apply); }\n",
    "the struct is handed to what is not seen": "void load(struct ops *);\n"
    "void set(void) { load(&two); }\n",
    "it is seen as bytes": "void set(void) { ((char *)&two)[8] = 1; }\n",
    "a function that nobody hands over": "void set(kernel k) { two.apply = k; }\n",
    "what another function gives": "kernel given(void);\nvoid set(void) { two.apply = given(); }\n",
}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("setting", OPEN)
def test_a_member_that_anybody_may_set_may_be_another_function(
    tmp_path: Path, setting: str, frontend: str
) -> None:
    text = ('struct ops one = {"c", cube}, two = {"s", square};\n'
            f"{OPEN[setting]}void f(struct ops *o) {{\n{loop('o->apply')}}}\n")  # fmt: skip
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    assert [note.id for note in facts.diagnostics] == ["RP123"]
    assert kinds(facts) == ["fp_mul", "fp_mul"]  # cube costs more than square


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_table_that_is_handed_on_may_have_another_function(tmp_path: Path, frontend: str) -> None:
    text = ("static kernel op[] = {cube, square};\nvoid load(kernel *);\n"
            f"void set(void) {{ load(op); }}\nvoid f(int n) {{\n{loop('op[n]')}}}\n")  # fmt: skip
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    assert [note.id for note in facts.diagnostics] == ["RP123"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_who_uses_a_part_of_a_program_may_set_the_structs_of_its_headers(
    tmp_path: Path, frontend: str
) -> None:
    (tmp_path / "ops.h").write_text("typedef double (*kernel)(double);\n"
                                    "struct ops { int n; kernel apply; };\n")  # fmt: skip
    part = ('#include "ops.h"\ndouble a[1000];\n'
            "static double square(double x) { return x * x; }\n"
            "static double cube(double x) { return x * x * x; }\n"
            "struct ops one = {1, cube}, two = {2, square};\n"
            f"void f(struct ops *o) {{\n{loop('o->apply')}}}\n")  # fmt: skip
    (tmp_path / "part.c").write_text(part)
    (facts,) = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend).facts
    assert [note.id for note in facts.diagnostics] == ["RP123"]
    (tmp_path / "main.c").write_text(
        '#include "ops.h"\nextern struct ops one;\nvoid f(struct ops *);\n'
        "int main(void) { f(&one); return 0; }\n"
    )
    (facts,) = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend).facts
    assert [note.id for note in facts.diagnostics] == ["RP117"]
    assert kinds(facts) == ["fp_mul", "fp_mul"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_functions_of_several_files_are_found(tmp_path: Path, frontend: str) -> None:
    """Two files have a `static` function of one name: each means its own."""
    head = "struct ops { double (*apply)(double); };\n"
    for name, body in (("one", "x * x"), ("two", "x * x * x + x")):
        (tmp_path / f"{name}.c").write_text(
            f"{head}static double kernel(double x) {{ return {body}; }}\n"
            f"const struct ops {name} = {{kernel}};\n"
        )
    (tmp_path / "main.c").write_text(
        f"{head}extern const struct ops one, two;\ndouble a[1000];\n"
        f"static void f(const struct ops *o) {{\n{loop('o->apply')}}}\n"
        "int main(int n, char **v) { f(n > 1 ? &one : &two); return 0; }\n"
    )
    (facts,) = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend).facts
    assert facts.status == "complete", facts.diagnostics
    assert sorted(kinds(facts)) == ["fp_add", "fp_mul", "fp_mul"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_same_references_are_no_difference(tmp_path: Path, frontend: str) -> None:
    """Both read a row's two neighbours: 3 references an element, whichever is called."""
    text = """\
double b[1000];
static double sum(const double *row, int at) { return row[at - 1] + row[at + 1]; }
static double mean(const double *r, int j) { return (r[j - 1] + r[j + 1]) / 2.0; }
static double (*const op[])(const double *, int) = {sum, mean};
void f(int n) {
#pragma omp parallel for
for (int i = 1; i < 999; i++) a[i] = op[n](b, i);
}
"""
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert sorted(kinds(facts)) == ["fp_add", "fp_div:/2.0"]
    accesses = [access for one in facts.statements for access in one.statement.accesses]
    assert sorted((x.array, x.kind) for x in accesses) == [
        ("a", "write"), ("b", "read"), ("b", "read")]  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return x[i];", "return x[i + 1];"),
        ("return x[i];", "double s = 0; for (int j = 0; j < i; j++) s += x[j]; return s;"),
        ("x[i] = 1.0; return 2.0;", "return x[i];"),
        ("i = 2 * i; return x[i];", "i = 3 * i; return x[i];"),
        ("int k = i; return x[k];", "int k = 2 * i; return x[k];"),
        ("return t[i];", "static double t[9]; return t[i];"),
    ],
    ids=["another element", "a loop", "written", "a parameter that is set", "a local index",
         "another array with that name"],
)  # fmt: skip
def test_other_references_are_a_difference(
    tmp_path: Path, frontend: str, one: str, other: str
) -> None:
    text = f"""\
double b[1000], t[9];
static double first(double *x, int i) {{ {one} }}
static double second(double *x, int i) {{ {other} }}
static double (*const op[])(double *, int) = {{first, second}};
void f(int n) {{
#pragma omp parallel for
for (int i = 0; i < 900; i++) a[i] = op[n](b, i);
}}
"""
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    (note,) = [note for note in facts.diagnostics if note.id in ("RP113", "RP117")]
    assert "may be any of first(), second(): all are" in note.message


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_several_functions_give_is_no_subscript(tmp_path: Path, frontend: str) -> None:
    """`same` gives i and `twice` 2 i: which elements of b are read is not known, b's length is."""
    text = """\
double b[4000];
static int same(int i) { return i; }
static int twice(int i) { return 2 * i; }
static int (*const op[])(int) = {same, twice};
void f(int n) {
#pragma omp parallel for
for (int i = 0; i < 1000; i++) a[i] = b[op[n](i)];
}
"""
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    assert facts.working_set.value == 8 * (1000 + 4000)
    (read,) = [fact for one in facts.statements for fact in one.accesses
               if fact.access.array == "b"]  # fmt: skip
    assert read.pattern == "irregular"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_addresses_that_functions_give_are_memory(tmp_path: Path, frontend: str) -> None:
    text = """\
double b[1000], c[1000];
static double *first(int i) { return &b[i]; }
static double *second(int i) { return &c[i]; }
static double *(*const op[])(int) = {first, second};
void f(int n) {
#pragma omp parallel for
for (int i = 0; i < 1000; i++) a[i] = op[n](i)[0];
}
"""
    assert facts_of(tmp_path, KERNELS + text, frontend).status == "partial"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_functions_of_the_c_library_are_calls_of_known_ones(tmp_path: Path, frontend: str) -> None:
    """`exp` and `cube`: a call of the library costs most, and touches no memory."""
    text = ("#include <math.h>\nstatic kernel op[] = {cube, exp};\n"
            f"void f(int n) {{\n{loop('op[n]')}}}\n")  # fmt: skip
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert kinds(facts) == ["call:exp"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_hint_is_less_sure(tmp_path: Path, frontend: str) -> None:
    """Beside the same program with `cube` alone."""
    machine = load("cascadelake-gold-6248-snc")
    sure = {}
    for other in ("cube", "square"):
        facts = read(tmp_path, "a table", other, frontend)
        for model in ("density", "saturation"):
            sure[other, model] = predict_region(facts, machine, model).confidence
    assert sure["square", "density"] < sure["cube", "density"]
    assert sure["square", "saturation"] <= sure["cube", "saturation"]
