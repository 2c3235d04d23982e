"""Loops that threads share by their numbers: as with a directive, and as they run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of, program_of

from regionpredict.ir import Loop, Region, Span

NOWHERE = Span("", 0)
both = pytest.mark.parametrize("frontend", FRONTENDS)

HEAD = "#include <omp.h>\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
NUMBERS = "int t = omp_get_thread_num(), p = omp_get_num_threads();\n"
BODY = "{ a[i] += 2.0 * b[i + 1]; BODY_SEEN }"

BLOCKS = {
    "one rule": "for (int i = t * n / p; i < (t + 1) * n / p; i++)",
    "named": "int lo = t * n / p, hi = (t + 1) * n / p; for (int i = lo; i < hi; ++i)",
    "rounded up": "int c = (n + p - 1) / p, lo = t * c, hi = MIN(lo + c, n);"
    " for (int i = lo; i < hi; i++)",
    "cut off": "int c = (n + p - 1) / p, lo = t * c, hi = lo + c; if (hi > n) hi = n;"
    " for (int i = lo; i < hi; i++)",
    "the first have more": "int c = n / p, rest = n - c * p, lo, hi;"
    " if (t < rest) { lo = t * c + t; hi = (t + 1) * c + t + 1; }"
    " else { lo = t * c + rest; hi = (t + 1) * c + rest; } for (int i = lo; i < hi; i++)",
    "the last has the rest": "int c = n / p, lo = t * c, hi = t == p - 1 ? n : lo + c;"
    " for (int i = lo; i < hi; i++)",
    "by a function": "int lo, hi; range(n, &lo, &hi); for (int i = lo; i < hi; i++)",
}
TURNS = {
    "in turn": "for (int i = t; i < n; i += p)",
    "in turn, asked in the loop": "for (int i = omp_get_thread_num(); i < n;"
    " i += omp_get_num_threads())",
}  # fmt: skip
SHARED = {**BLOCKS, **TURNS}
RANGE = (
    "static void range(int n, int *lo, int *hi) {\n"
    "  int t = omp_get_thread_num(), p = omp_get_num_threads();\n"
    "  *lo = t * n / p; *hi = (t + 1) * n / p;\n}\n"
)


def text_of(loop: str, seen: str = "") -> str:
    return (
        f"{HEAD}{RANGE}void f(int n, double *a, double *b) {{\n#pragma omp parallel\n  {{\n"
        f"    {NUMBERS}    {loop}\n    {BODY.replace('BODY_SEEN', seen)}\n  }}\n}}\n"
    )


def with_directive(schedule: str) -> str:
    return (
        f"{HEAD}void f(int n, double *a, double *b) {{\n#pragma omp parallel\n  {{\n"
        f"#pragma omp for schedule({schedule}) nowait\n"
        f"    for (int i = 0; i < n; i++)\n    {BODY.replace('BODY_SEEN', '')}\n  }}\n}}\n"
    )


def without_places(region: Region) -> object:
    """What models are told of a region, without the lines that it stands on."""
    assert region.nest is not None and region.parallel is not None
    nest = region.nest
    statements = [
        (s.text, s.operations, [a._replace(span=NOWHERE) for a in s.accesses], s.paths)
        for s, _ in region.statements()
    ]
    arrays = [replace(array, declared=None) for array in region.arrays]
    header = (nest.variable, str(nest.start), nest.comparison, str(nest.bound), str(nest.step))
    return (header, statements, arrays, region.clauses, region.context)


@both
@pytest.mark.parametrize("form", SHARED)
def test_a_loop_is_the_one_with_a_directive(tmp_path: Path, frontend: str, form: str) -> None:
    schedule = "static" if form in BLOCKS else "static,1"
    (by_hand,) = program_of(tmp_path, text_of(SHARED[form]), frontend).regions
    twin = program_of(tmp_path, with_directive(schedule), frontend)
    assert without_places(by_hand) == without_places(twin.regions[0])
    assert by_hand.by_hand and by_hand.team_size == ""
    assert [note.id for note in by_hand.diagnostics] == ["RP116"]
    assert {"a", "b", "n"} <= by_hand.shared


@pytest.mark.parametrize("form", SHARED)
def test_the_threads_together_run_what_the_region_says(tmp_path: Path, form: str) -> None:
    """Compiled and run on teams of several sizes: iterations counted are iterations run."""
    (region,) = program_of(tmp_path, text_of(SHARED[form]), FRONTENDS[0]).regions
    assert region.nest is not None and region.nest.trips is not None
    n = 41
    counted = "\n#pragma omp atomic\n      seen[i]++;"
    source = tmp_path / "run.c"
    source.write_text(
        "#include <stdio.h>\nint seen[99];\n" + text_of(SHARED[form], counted)
        + f"int main(void) {{\n  static double a[99], b[99];\n  f({n}, a, b);\n"
        + '  for (int i = 0; i < 99; i++) printf("%d ", seen[i]);\n  return 0;\n}\n'
    )  # fmt: skip
    binary = tmp_path / "run"
    subprocess.run(["gcc", "-O1", "-fopenmp", source, "-o", binary], check=True)
    for threads in (1, 2, 3, 7):
        shown = subprocess.run(
            [binary], env={"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"},
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        runs = [int(word) for word in shown.split()]
        assert sum(runs) == region.nest.trips.evaluate({"n": n})
        assert runs == [1] * n + [0] * (99 - n)


@both
def test_loops_that_are_not_shared_are_no_regions(tmp_path: Path, frontend: str) -> None:
    for loop in (
        "for (int i = 0; i < n; i++)",
        "for (int i = first[t]; i < first[t + 1]; i++)",
    ):
        text = text_of(loop).replace("double *b)", "double *b, int *first)")
        program = program_of(tmp_path, text, frontend)
        assert program.regions == ()
        assert [note.id for note in program.diagnostics] == ["RP110"]


FROM_ZERO = {
    "the first have more": (
        "int c = n / p, r = n % p; if (t < r) c++; int s = t * c + (t < r ? 0 : r);"
        " for (int i = 0; i < c; i++)", "s + i",
    ),
    "the last has the rest": (
        "int c = n / p, s = t * c; if (t == p - 1) c += n % p; for (int i = 0; i < c; i++)",
        "s + i",
    ),
    "a comparison as a number": (
        "int c = n / p, s = t * c + MIN(t, n % p); for (int i = 0; i < c + (t < n % p); i++)",
        "s + i",
    ),
    "rows of a matrix": (
        "int c = (n + p - 1) / p, s = t * c; if (s + c > n) c = n - s;"
        " for (int i = 0; i < c; i++)", "(s + i) * 4",
    ),
    "through a pointer": (
        "int s = t * n / p; double *q = a + s; for (int i = 0; i < (t + 1) * n / p - s; i++)",
        "s + i",
    ),
}  # fmt: skip


@both
@pytest.mark.parametrize("form", FROM_ZERO)
def test_a_loop_that_counts_from_zero_has_its_place_in_the_whole(
    tmp_path: Path, frontend: str, form: str
) -> None:
    head, place = FROM_ZERO[form]
    written = "q[i]" if "*q" in head else f"a[{place}]"
    text = text_of(head).replace("a[i] += 2.0 * b[i + 1];", f"{written} = 1.0;")
    (region,) = program_of(tmp_path, text, frontend).regions
    nest = region.nest
    assert nest is not None and region.by_hand
    assert (str(nest.start), str(nest.trips)) == ("0", "n")
    assert [clause.text for clause in region.clauses if clause.name == "schedule"] == ["static"]
    stores = [access for statement, _ in region.statements() for access in statement.accesses]
    places = {str(access.subscripts[0]) for access in stores if access.array == "a"}
    assert places == {"4*i" if "4" in place else "i"}


@both
def test_a_loop_of_one_thread_is_counted_for_each_thread(tmp_path: Path, frontend: str) -> None:
    loop = "int lo = 0, hi = 0; if (t == 0) { lo = 0; hi = n; } for (int i = lo; i < hi; i++)"
    (region,) = program_of(tmp_path, text_of(loop), frontend).regions
    every = region.nest
    assert every is not None and isinstance(every.body[0], Loop) and every.body[0].trips
    per_thread = [
        every.body[0].trips.evaluate({"n": 1000, every.variable: thread}) for thread in range(4)
    ]
    assert per_thread == [1000, 0, 0, 0]


HANDED = (
    HEAD + "static void part(int id, int nth, int n, double *x) {\n"
    "  int c = (n + nth - 1) / nth, s = id * c, e = s + c < n ? s + c : n;\n"
    "  for (int i = s; i < e; i++) x[i] += 1.0;\n}\n"
    "static void scale(int first, int last, double *x) {\n"
    "  for (int i = first; i < last; i++) x[i] *= 2.0;\n}\n"
    "static void deeper(int first, int last, double *x) { scale(first, last, x); }\n"
    "static void own(int m, double *x) {\n"
    "  for (int i = omp_get_thread_num(); i < m; i += omp_get_num_threads()) x[i] *= 2;\n}\n"
    "void solve(int n, double *a) {\n#pragma omp parallel\n  {\n    "
    + NUMBERS
    + "    int lo = t * n / p, hi = (t + 1) * n / p;\n"
    "    for (int k = 0; k < 50; k++) {\n      part(t, p, n, a);\n#pragma omp barrier\n"
    "      deeper(lo, hi, a);\n#pragma omp barrier\n      own(n, a);\n#pragma omp barrier\n"
    "    }\n  }\n}\n"
    "static double x[5000];\n"
    "int main(void) {\n  for (int r = 0; r < 7; r++) solve(5000, x);\n  return 0;\n}\n"
)


@both
def test_loops_in_functions_that_the_threads_call(tmp_path: Path, frontend: str) -> None:
    """They are the team's, which runs 7 times, and each of them 50 times in it."""
    analysis = analysis_of(tmp_path, HANDED, frontend)
    told = {
        facts.region.function: (facts.iterations.value, facts.region.clauses[0].text)
        for facts in analysis.facts
    }
    assert told == {"part": (5000, "static"), "scale": (5000, "static"), "own": (5000, "static,1")}


@both
def test_the_size_that_bounds_count_on(tmp_path: Path, frontend: str) -> None:
    """Set before the team starts: the hint cannot be written as a clause."""
    parallel = "#pragma omp parallel"
    cases = {
        "nt": ("int nt = omp_get_max_threads();", parallel, "for (int i = t; i < n; i += nt)"),
        "T": ("", f"{parallel} num_threads(T)", "for (int i = t; i < n; i += T)"),
        "4": ("", f"{parallel} num_threads(4)", "for (int i = t; i < n; i += 4)"),
        "omp_get_max_threads()": (
            "", parallel, "for (int i = t; i < n; i += omp_get_max_threads())",
        ),
    }  # fmt: skip
    for expected, (before, directive, loop) in cases.items():
        text = (
            f"{HEAD}void f(int n, int T, double *a) {{\n{before}\n{directive}\n  {{\n"
            f"int t = omp_get_thread_num();\n{loop} a[i] = 0.0;\n  }}\n}}\n"
        )
        (region,) = program_of(tmp_path, text, frontend).regions
        assert region.team_size == expected
        assert region.nest is not None and str(region.nest.trips) == "n"
        assert expected in region.diagnostics[-1].message


THREADS_AS_ITERATIONS = {
    "asked in front": ("int nt = omp_get_max_threads();", "for (int j = 0; j < nt; j++)"),
    "by a function": ("int nt = threads();", "for (int j = 0; j < nt; j++)"),
    "asked in the header": (
        "int nt = omp_get_max_threads();", "for (int j = 0; j < omp_get_max_threads(); j++)",
    ),
}  # fmt: skip


@both
@pytest.mark.parametrize("form", THREADS_AS_ITERATIONS)
def test_a_loop_over_the_threads_is_the_loop_in_it(
    tmp_path: Path, frontend: str, form: str
) -> None:
    before, header = THREADS_AS_ITERATIONS[form]
    head = f"{HEAD}static int threads(void) {{ return omp_get_max_threads(); }}\n"
    text = (
        f"{head}void f(int n, double *a, double *b) {{\n{before}\n"
        f"#pragma omp parallel for\n{header} {{\n"
        "int c = n / nt, rest = n - c * nt, ns, ne;\n"
        "if (j < rest) { ns = j * c + j; ne = (j + 1) * c + j + 1; }\n"
        "else { ns = j * c + rest; ne = (j + 1) * c + rest; }\n"
        f"for (int i = ns; i < ne; i++) {BODY.replace('BODY_SEEN', '')} }}\n}}\n"
    )
    plain = (
        f"{HEAD}void f(int n, double *a, double *b) {{\n#pragma omp parallel for schedule(static)\n"
        f"for (int i = 0; i < n; i++) {BODY.replace('BODY_SEEN', '')}\n}}\n"
    )
    (region,) = program_of(tmp_path, text, frontend).regions
    (twin,) = program_of(tmp_path, plain, frontend).regions
    without = {"nt"} if "nt" in region.shared else set()
    assert region.nest is not None and twin.nest is not None
    assert [s.text for s, _ in region.statements()] == [s.text for s, _ in twin.statements()]
    assert str(region.nest.trips) == "n" and region.clauses == twin.clauses
    assert region.shared - without == twin.shared and region.over_threads
    assert [note.id for note in region.diagnostics] == ["RP116"]


@both
def test_tiles_are_no_threads(tmp_path: Path, frontend: str) -> None:
    """As many blocks as somebody wants, in place of as there are threads: dealt as they stand."""
    text = (
        f"{HEAD}void f(int n, int tiles, double *a) {{\n#pragma omp parallel for\n"
        "for (int j = 0; j < tiles; j++)\n"
        "for (int i = j * n / tiles; i < (j + 1) * n / tiles; i++) a[i] = 0;\n}\n"
    )
    (region,) = program_of(tmp_path, text, frontend).regions
    assert region.nest is not None and str(region.nest.trips) == "tiles"
    assert region.diagnostics == ()


@both
def test_the_size_that_a_callee_is_handed(tmp_path: Path, frontend: str) -> None:
    """Of a number that was set before, or that the clause fixes: no other is right."""
    part = "static void part(int t, int p, double *a) {"
    part += " for (int i = t; i < 900; i += p) a[i] = 0; }\n"
    hand = "static void hand(int t, int p, double *a) { part(t, p, a); }\n"
    block = "static void block(int s, double *a) { for (int i = s; i < s + 250; i++) a[i] = 0; }\n"
    nt = "int nt = omp_get_max_threads();\n"
    for before, clause, call, expected in (
        (nt, "", "part(t, nt, a);", ("900", "static,1", "nt")),
        (nt, "", "hand(t, nt, a);", ("900", "static,1", "nt")),
        ("", "", "part(t, omp_get_num_threads(), a);", ("900", "static,1", "")),
        ("", " num_threads(4)", "block(t * 250, a);", ("1000", "static", "4")),
    ):
        text = (
            f"{HEAD}{part}{hand}{block}void f(double *a) {{\n{before}#pragma omp parallel{clause}\n"
            f"{{ int t = omp_get_thread_num(); {call} }}\n}}\n"
        )
        (region,) = program_of(tmp_path, text, frontend).regions
        assert region.nest is not None
        told = (str(region.nest.trips), region.clauses[0].text, region.team_size)
        assert told == expected, call


# -- iterations by the thread's number -------------------------------------------------------------

OF_EACH = f"""{HEAD}double out[8 * 64];
static void work(int id)
{{
    int n = 1000 * id;
    double s = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s += i * 0.5 + j;
    out[8 * id] = s;
}}
int main(void)
{{
#pragma omp parallel
    {{
        int t = omp_get_thread_num();
        double s = 0.0;
        for (int i = 0; i < 1000 * t; i++)
            for (int j = 0; j < 1000; j++)
                s += i * 0.5 + j;
        out[8 * t] = s;
    }}
#pragma omp parallel
    work(omp_get_thread_num());
    return 0;
}}
"""


@both
def test_blocks_that_overlap_are_counted_as_often_as_they_run(
    tmp_path: Path, frontend: str
) -> None:
    text = text_of("for (int i = t * n / p - 1; i < (t + 1) * n / p + 1; i++)")
    (region,) = program_of(tmp_path, text, frontend).regions
    assert region.nest is not None
    assert str(region.nest.bound) == "omp_get_num_threads()"
    (inner,) = (node for node in region.nest.body if isinstance(node, Loop))
    assert inner.trips is not None
    sizes = {"n": 40, "omp_get_num_threads()": 4}
    assert [inner.trips.evaluate({**sizes, "omp_get_thread_num()": t}) for t in range(4)] == [
        12
    ] * 4


@both
def test_each_thread_has_iterations_by_its_number(tmp_path: Path, frontend: str) -> None:
    called, own = program_of(tmp_path, OF_EACH, frontend).regions
    for region in (called, own):
        assert region.nest is not None
        assert str(region.nest.bound) == "omp_get_num_threads()"
        assert region.team_size == "omp_get_num_threads()"
        (inner,) = (node for node in region.nest.body if isinstance(node, Loop))
        assert str(inner.trips) == "1000*omp_get_thread_num()"


@pytest.mark.parametrize(("place", "work"), [(0, [t * t for t in range(8)]), (1, range(8))])
def test_the_last_thread_has_most_of_the_work(
    tmp_path: Path, place: int, work: Sequence[int]
) -> None:
    # Of p threads, those with the first p numbers run. The last one has the most work.
    (tmp_path / "p.c").write_text(OF_EACH)
    words = ["predict", "p.c", "-m", "skylake-gold-6148", "--set", "omp_get_num_threads()=8",
             "--threads", "1,2,4,8", "--format", "json"]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "regionpredict", *words], cwd=tmp_path,
                          capture_output=True, text=True, timeout=600, check=True)  # fmt: skip
    regions = json.loads(done.stdout)["regions"]
    assert [region["bottleneck"] for region in regions] == ["imbalance", "imbalance"]
    speedup = {point["threads"]: point["value"] for point in regions[place]["speedup"]}
    for threads in (2, 4, 8):
        there = work[:threads]
        assert speedup[threads] == pytest.approx(sum(there) / there[-1], rel=0.02)
