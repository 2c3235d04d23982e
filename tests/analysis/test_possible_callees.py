"""Calls through tables and pointers that may mean several functions, held against programs that
count their calls."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.analysis.callbacks import with_callbacks
from regionpredict.analysis.execution_counts import Runs
from regionpredict.analysis.possible_callees import MOST_EVENTS, MOST_TARGETS, with_choices
from regionpredict.analysis.teams import ProgramTeams, program_teams
from regionpredict.frontend import requests_for
from regionpredict.ir import Span
from regionpredict.ir.flow import Block, CallEvent, Choice, Flow
from regionpredict.pipeline import Analysis, analyse

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void (*step)(void);
static double x[100];
static int runs[3];
"""
KERNEL = """static void %s(void) {
  runs[%d]++;
#pragma omp %s
  for (int i = 0; i < 100; i++) x[i] += 1;
}
"""
SHOW = '  printf("%d %d %d\\n", runs[0], runs[1], runs[2]);\n  return 0;\n}\n'
TABLE = "static const step table[] = {a, b, c};\n"
TESTS = """struct test { const char *name; step run; };
static const struct test tests[] = {{"a", a}, {"b", b}, {"a again", a}, {NULL, NULL}};
"""
EXACT = {
    "each of a table": (
        TABLE, "for (int s = 0; s < 5; s++) for (int k = 0; k < 3; k++) table[k]();"),
    "part of a table": (TABLE, "for (int k = 1; k < 3; k++) (*table[k])();"),
    "every other": (TABLE, "for (int k = 0; k < 3; k += 2) table[k]();"),
    "from its end": (TABLE, "for (int k = 0; k < 3; k++) table[2 - k]();"),
    "more often for some": (
        TABLE, "for (int k = 2; k >= 0; k--) for (int j = 0; j <= k; j++) table[k]();"),
    "held by a variable": (
        TABLE,
        "for (int k = 0; k < 3; k++) { step f = table[k]; for (int s = 0; s < 4; s++) f(); }"),
    "twice in a turn": (TABLE, "for (int k = 0; k < 2; k++) { table[k](); table[k + 1](); }"),
    "beside another call": (TABLE, "for (int k = 0; k < 3; k++) { a(); table[k](); }"),
    "with a gap": (
        "static step const table[] = {a, NULL, c};\n",
        "for (int k = 0; k < 3; k++) { b(); if (table[k] != NULL) table[k](); }"),
    "its length as C tells it": (
        TABLE, "for (unsigned k = 0; k < sizeof table / sizeof *table; k++) table[k]();"),
    "structs up to the last": (TESTS, "for (int k = 0; tests[k].name; k++) tests[k].run(); c();"),
    "a pointer through structs": (
        TESTS, "for (const struct test *t = tests; t->run != NULL; t++) t->run(); c();"),
    "handed to another": (
        TABLE + "static void often(int n, step f) { for (int i = 0; i < n; i++) f(); }\n",
        "for (int k = 0; k < 3; k++) often(5, table[k]);"),
    "one alone": ("static step only;\nstatic void set(step f) { only = f; }\n",
                  "set(b); for (int s = 0; s < 6; s++) only(); a(); c();"),
    "no turn at all": (TABLE, "for (int k = 0; k < 0; k++) table[k](); a(); b(); c();"),
}  # fmt: skip
NAMED = "struct test { const char *name; step run; };\n"
EXACT |= {
    "designated, out of order": (
        "enum { A, B, C };\nstatic const step t[] = {[B] = b, [A] = a, [C] = c};\n",
        "for (int s = 0; s < 4; s++) for (int k = 0; k < 2; k++) t[k](); c();"),
    "designated structs": (
        NAMED + 'enum { A, B, C };\nstatic const struct test t[] = '
        '{[C] = {"c", c}, [A] = {.run = a}, [B] = {.run = b, .name = "b"}};\n',
        "for (int s = 0; s < 4; s++) for (int k = 1; k < 3; k++) t[k].run(); a();"),
    "two dimensions": (
        "static const step t[2][2] = {{a, b}, {b, c}};\n",
        "for (int s = 0; s < 4; s++) for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)"
        " t[i][j]();"),
    "a column of two": (
        "static const step t[2][2] = {{a, b}, {b, c}};\n",
        "for (int i = 0; i < 2; i++) t[i][1](); t[0][0]();"),
    "a number": (TABLE, "table[1](); table[0](); table[0](); table[2]();"),
    "by turns": (TABLE, "for (int s = 0; s < 1000; s++) table[s % 3]();"),
    "a struct in a struct": (
        NAMED + "struct group { const char *name; struct test test; };\n"
        'static const struct group t[] = {{"x", {"a", a}}, {"y", {"b", b}}, {"z", {"c", c}}};\n',
        "for (int s = 0; s < 4; s++) for (int i = 0; i < 2; i++) t[i].test.run(); c();"),
    "an array in a struct": (
        "struct suite { int n; step run[3]; };\nstatic const struct suite s0 = {3, {a, b, c}};\n",
        "for (int s = 0; s < 4; s++) for (int i = 0; i < 3; i++) s0.run[i]();"),
    "a pointer to an element": (
        TESTS,
        "for (int i = 0; i < 3; i++) { const struct test *t = &tests[i];"
        " for (int s = 0; s < 4; s++) t->run(); } c();"),
    "a pointer moved": (
        TESTS,
        "for (int i = 0; i < 3; i++) { const struct test *t = tests + i; t->run(); } c();"),
    "a copy of an element": (
        TESTS, "for (int i = 0; i < 3; i++) { struct test t = tests[i]; t.run(); } c();"),
}  # fmt: skip
AT_MOST = {
    "by the command line": (TABLE, "for (int s = 0; s < 7; s++) table[argc % 3]();", (7, 7, 7)),
    "by a name": (
        TESTS,
        "for (int k = 0; k < 3; k++) if (!strcmp(tests[k].name, \"b\")) tests[k].run(); c();",
        (2, 1, 1)),
    "until one is left": (
        TABLE, "for (int k = 0; k < 3; k++) { table[k](); if (argc) break; }", (1, 1, 1)),
    "so far": (TABLE, "for (int s = 0; s < 4; s++) for (int k = 0; k < argc; k++) table[k]();",
               (4, 4, 4)),
    "a member": (
        "struct ops { step run; };\nstatic struct ops used;\n"
        "static void pick(int n) { used.run = n ? a : b; }\n",
        "pick(argc); for (int s = 0; s < 3; s++) used.run(); c();", (3, 3, 1)),
    "an element that is set": (
        "static step table[3] = {a, b, c};\n",
        "table[argc % 3] = c; for (int k = 0; k < 3; k++) table[k](); ", (3, 3, 3)),
    "structs that change places": (
        TESTS.replace("const struct", "struct"),
        "tests[0] = tests[1]; for (int k = 0; tests[k].run; k++) tests[k].run(); c();",
        (10, 10, 1)),
}  # fmt: skip
HANDING = """struct test { const char *name; step run; };
static const struct test first[] = {{"a", a}, {"b", b}}, second[] = {{"c", c}};
static struct test ended[] = {{"a", a}, {"b", b}, {"c", c}, {NULL, NULL}};
static void all(const struct test *tests, int n) { for (int k = 0; k < n; k++) tests[k].run(); }
static void to_end(const struct test *t) { for (; t->name; t++) t->run(); }
static void named(const struct test *t) { for (int k = 0; t[k].name != NULL; k++) t[k].run(); }
static void alone(const struct test *t) { t->run(); }
static void both(const struct test *t, int n) { all(t, n); all(t, n); }
static void often(int n, step f) { for (int i = 0; i < n; i++) f(); }
static void often_all(const struct test *t, int n) {
  for (int k = 0; k < n; k++) often(3, t[k].run);
}
"""
HANDED = {
    "either table": "for (int s = 0; s < 2; s++) all(first, 2);"
    " for (int s = 0; s < 3; s++) all(second, 1);",
    "part of it": "all(first, 1); all(ended, 3); all(ended + 1, 2);",
    "up to its end": "for (int s = 0; s < 4; s++) to_end(ended);",
    "by the names": "for (int s = 0; s < 4; s++) named(ended); named(&ended[2]);",
    "an element": "alone(first); alone(&ended[1]); alone(ended + 2); alone(&ended[2]);",
    "handed on": "both(first, 2); both(ended, 3);",
    "handed on one by one": "often_all(first, 2); often_all(second, 1);",
}
frontends = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])


def program(before: str, body: str, pragma: str = "parallel for") -> str:
    kernels = "".join(KERNEL % (name, at, pragma) for at, name in enumerate("abc"))
    return f"{HEAD}{kernels}{before}int main(int argc, char **argv) {{\n{body}\n{SHOW}"


def read(path: Path, frontend: str, *, defaults: bool = False, **given: int) -> Analysis:
    return analyse(requests_for([str(path)]), given, frontend=frontend, defaults=defaults)


def structure(analysis: Analysis) -> ProgramTeams:
    return program_teams(analysis.program, analysis.facts, analysis.given)


def executions(analysis: Analysis) -> list[Runs]:
    """Of a, b and c, in all their teams together."""
    names = {own.region.id: own.region.function for own in analysis.facts}
    told = dict.fromkeys("abc", Runs(None, 0, 0.0))
    for team in structure(analysis).teams:
        for member in team.members:
            name = names[member.facts.region.id]
            told[name] = told[name].plus(team.executions.times(member.runs))
    return [told[name] for name in "abc"]


def counted(source: Path) -> list[int]:
    """What the program itself counts, on one thread."""
    built = source.with_suffix("")
    subprocess.run(["cc", "-w", str(source), "-o", str(built)], check=True, timeout=600)
    text = subprocess.run([str(built)], check=True, timeout=600, capture_output=True, text=True)
    return [int(word) for word in text.stdout.split()]


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("case", further_slow(14, EXACT))
def test_runs_are_those_of_the_program(case: str, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program(*EXACT[case]))
    runs = executions(read(path, frontend))
    made = counted(path)
    assert [each.value for each in runs] == made
    assert [each.weight for each in runs] == made
    assert not any(each.assumed for each in runs)
    followed = executions(read(path, frontend, defaults=True))
    assert [each.weight for each in followed] == made


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("case", AT_MOST)
def test_what_data_choose_runs_at_most_so_often(case: str, frontend: str, tmp_path: Path) -> None:
    before, body, most = AT_MOST[case]
    path = tmp_path / "case.c"
    path.write_text(program(before, body))
    runs = executions(read(path, frontend))
    assert tuple(each.weight for each in runs) == most
    assert all(often <= each.weight for often, each in zip(counted(path), runs, strict=True))
    assert [each.value for each in runs[:2]] == [None, None]
    assert all(each.assumed and "case.c:" in each.assumed[0] for each in runs[:2])


@frontends
def test_a_length_that_is_given_settles_it(frontend: str, tmp_path: Path) -> None:
    body = "int n = atoi(argv[1]); for (int k = 0; k < n; k++) table[k]();"
    (tmp_path / "case.c").write_text(program(TABLE, body))
    assert [each.value for each in executions(read(tmp_path / "case.c", frontend))] == [None] * 3
    given = executions(read(tmp_path / "case.c", frontend, n=2))
    assert [each.value for each in given] == [1, 1, 0]


@frontends
def test_turns_follow_one_another(frontend: str, tmp_path: Path) -> None:
    """a b c a b c: a is followed by b twice, c by a once."""
    body = "for (int s = 0; s < 2; s++) for (int k = 0; k < 3; k++) table[k]();"
    (tmp_path / "case.c").write_text(program(TABLE, body))
    found = structure(read(tmp_path / "case.c", frontend))
    first, second, third = (team.id for team in found.teams)
    (order,) = found.programs
    assert order.changes == {(first, second): 2, (second, third): 2, (third, first): 1}


@frontends
def test_a_team_that_calls_others_each_time(frontend: str, tmp_path: Path) -> None:
    """Three runs of the team, of which each has another loop: a third of a run each."""
    body = "for (int k = 0; k < 3; k++) {\n#pragma omp parallel\n{ table[k](); a(); }\n}"
    (tmp_path / "case.c").write_text(program(TABLE, body, "for"))
    (team,) = structure(read(tmp_path / "case.c", frontend)).teams
    assert team.executions.value == 3
    runs = [member.runs for member in team.members]
    assert [each.weight for each in runs] == pytest.approx([4 / 3, 1 / 3, 1 / 3])
    assert [each.value for each in runs] == [None] * 3


@frontends
def test_functions_that_an_unseen_one_may_call(frontend: str, tmp_path: Path) -> None:
    """`atexit` calls b once, as it happens; nobody is seen to."""
    (tmp_path / "case.c").write_text(program("", "atexit(b); a(); c();"))
    first, second, _ = executions(read(tmp_path / "case.c", frontend))
    assert first.value == 1
    assert (second.value, second.weight) == (None, 1)
    assert "b()" in second.assumed[0]


@frontends
def test_a_table_of_another_file(frontend: str, tmp_path: Path) -> None:
    """The table is in a file without any loop, and so is the call."""
    kernels = "".join(KERNEL % (name, at, "parallel for") for at, name in enumerate("abc"))
    (tmp_path / "kernels.c").write_text(HEAD + kernels.replace("static void", "void"))
    (tmp_path / "table.c").write_text(
        "void a(void); void b(void); void c(void);\n"
        "void (*const table[])(void) = {a, b, c};\n"
        "void pick(int k) { table[k](); }\n"
    )
    (tmp_path / "main.c").write_text(
        "extern void (*const table[3])(void);\nvoid pick(int k);\n"
        "int main(int argc, char **argv) {\n"
        "  for (int k = 0; k < 2; k++) table[k]();\n  pick(argc);\n  return 0;\n}\n"
    )
    paths = [str(tmp_path / name) for name in ("main.c", "table.c", "kernels.c")]
    analysis = analyse(requests_for(paths), {}, frontend=frontend, defaults=False)
    runs = executions(analysis)
    assert [each.weight for each in runs] == [2, 2, 1]
    assert all(each.value is None and "table.c:3" in each.assumed[0] for each in runs)


FIELDS = """typedef struct { const char *name; void (*step)(double *x); } kernel;
extern const kernel kernels[];
extern const int nkernels;
"""
KERNELS = """#include "fields.h"
static void a(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) x[i] += 1;
}
static void b(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) x[i] += 2;
}
const kernel kernels[] = {%s};
const int nkernels = sizeof kernels / sizeof kernels[0];
"""
MAIN = """#include <stdlib.h>
#include <string.h>
#include "fields.h"
int main(int argc, char **argv) {
  double *x = calloc(100, sizeof *x);
  %s
  return 0;
}
"""
EVERY = "for (int t = 0; t < 7; t++) for (int k = 0; k < nkernels; k++) kernels[k].step(x);"
PICKED = """const kernel *k = kernels;
  for (int i = 0; i < nkernels; i++) if (!strcmp(kernels[i].name, argv[1])) k = &kernels[i];
  for (int t = 0; t < 7; t++) k->step(x);"""


@frontends
@pytest.mark.parametrize(
    "table",
    [
        '{"a", a}, {"b", b}, {"a", a}',
        '{.step = a, .name = "a"}, {.name = "b", .step = b}, {"a", a}',
    ],
)
def test_a_table_whose_length_only_its_file_tells(
    table: str, frontend: str, tmp_path: Path
) -> None:  # fmt: skip
    """`extern const kernel kernels[];` in a header: 7 times a, b and a."""
    (tmp_path / "fields.h").write_text(FIELDS)
    (tmp_path / "kernels.c").write_text(KERNELS % table)
    (tmp_path / "main.c").write_text(MAIN % EVERY)
    teams = structure(analyse(requests_for([str(tmp_path)]), {}, frontend=frontend)).teams
    assert {team.function: team.executions.value for team in teams} == {"a": 14, "b": 7}
    (tmp_path / "main.c").write_text(MAIN % PICKED)
    teams = structure(analyse(requests_for([str(tmp_path)]), {}, frontend=frontend)).teams
    assert {team.function: team.executions.weight for team in teams} == {"a": 7, "b": 7}
    assert all("k->step" in team.executions.assumed[0] for team in teams)


@frontends
def test_a_table_of_a_file_that_is_not_read_may_hold_anything(
    frontend: str, tmp_path: Path
) -> None:  # fmt: skip
    """The kernels are put into a table of their own, and what main goes through is not seen."""
    (tmp_path / "fields.h").write_text(FIELDS)
    own = (KERNELS % '{"a", a}, {"b", b}').replace("const kernel kernels", "const kernel others")
    (tmp_path / "kernels.c").write_text(own.replace("sizeof kernels", "sizeof others"))
    (tmp_path / "main.c").write_text(MAIN % EVERY)
    teams = structure(analyse(requests_for([str(tmp_path)]), {}, frontend=frontend)).teams
    assert [team.executions.value for team in teams] == [None, None]
    assert all("may mean a(), b()" in team.executions.assumed[0] for team in teams)


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("body", HANDED)
def test_tables_that_a_function_is_handed(body: str, frontend: str, tmp_path: Path) -> None:
    """Which table, and how much of it, each call tells for itself."""
    source = tmp_path / "case.c"
    source.write_text(program(HANDING, HANDED[body]))
    runs = executions(read(source, frontend))
    assert [each.value for each in runs] == counted(source)
    assert not any(each.assumed for each in runs)


@frontends
def test_a_handed_table_of_unknown_length_is_gone_through(frontend: str, tmp_path: Path) -> None:
    source = tmp_path / "case.c"
    source.write_text(program(HANDING, "for (int s = 0; s < 3; s++) all(first, argc); c();"))
    runs = executions(read(source, frontend))
    assert [each.weight for each in runs] == [3, 3, 1]
    assert [each.value for each in runs] == [None, None, 1]
    assert "each function of the table" in runs[0].assumed[0]


@frontends
def test_tables_of_sp(frontend: str) -> None:
    """One step to warm up, a hundred that count, and the residual once more; set up twice."""
    here = Path(__file__).parents[2] / "npb_samples"
    requests = requests_for(
        [str(here / "sp"), str(here / "common")], [("CLASS_S", "1")],
        [str(here / "sp"), str(here / "common")],
    )  # fmt: skip
    teams = structure(analyse(requests, {}, frontend=frontend)).teams
    runs = {team.function: team.executions.value for team in teams}
    assert {runs[name] for name in runs if name.startswith(("rhs_", "damp_"))} == {102}
    assert {runs[name] for name in ("x_solve", "txinvr", "tzetar", "add")} == {101}
    assert {runs[name] for name in runs if name.startswith(("forcing", "initialise"))} == {2}


@frontends
def test_objects_that_hold_a_function_each_are_no_table(frontend: str, tmp_path: Path) -> None:
    """Twenty objects, of which each may hold a: the program sets them as it runs."""
    objects = """struct object { step run; };
    static struct object objects[20];
    static void all(struct object *o, int n) { for (int k = 0; k < n; k++) o[k].run(); }
    """
    body = "for (int k = 0; k < 20; k++) objects[k].run = k ? a : b; all(objects, 20); c();"
    (tmp_path / "case.c").write_text(program(objects, body))
    first, second, third = executions(read(tmp_path / "case.c", frontend))
    assert first.weight == second.weight > 1
    assert (first.value, second.value, third.value) == (None, None, 1)


@frontends
def test_programs_with_functions_of_one_name(frontend: str, tmp_path: Path) -> None:
    """Two programs hand their own `work` to one function that both share."""
    (tmp_path / "run.h").write_text("void twice(void (*work)(void));\n")
    (tmp_path / "run.c").write_text(
        '#include "run.h"\nvoid twice(void (*work)(void)) { work(); work(); }\n'
    )
    for name, times in (("one", 5), ("two", 7)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "work.c").write_text(
            "static double x[100];\nvoid work(void) {\n#pragma omp parallel for\n"
            "  for (int i = 0; i < 100; i++) x[i] += 1;\n}\n"
        )
        (tmp_path / name / "main.c").write_text(
            '#include "../run.h"\nvoid work(void);\n'
            f"int main(void) {{ for (int s = 0; s < {times}; s++) twice(work); return 0; }}\n"
        )
    teams = structure(analyse(requests_for([str(tmp_path)]), {}, frontend=frontend)).teams
    runs = {Path(team.span.file).parent.name: team.executions for team in teams}
    assert {name: own.value for name, own in runs.items()} == {"one": 10, "two": 14}


HERE = Span("f.c", 7)


def test_too_many_functions_are_not_followed() -> None:
    """A call of any of some hundred stays as it is."""
    names = tuple(f"f{number}" for number in range(int(MOST_TARGETS.value) + 1))
    call = CallEvent("", (), ("r",), HERE, pointer="op", choices=(Choice(names, "op"),))
    main, last = Flow("main", (), (call,), HERE), Flow(names[-1], (), (), HERE, pointed=True)
    flow, other = with_choices([main, last], {})
    assert flow.body == (call._replace(choices=()),)
    assert other.pointed and not other.meant
    fewer = call._replace(choices=(Choice(names[1:], "op"),))
    flow, other = with_choices([replace(main, body=(fewer,)), last], {})
    assert len(flow.body) == MOST_TARGETS.value
    assert other.meant


@pytest.mark.parametrize(("turns", "followed"), [(39, True), (40, False)])
def test_too_many_events_are_not_followed(turns: int, followed: bool) -> None:
    """Five hundred events in a turn, of which one is in a branch: 40 turns are one event too many,
    as the loop itself is one.
    """
    assert MOST_EVENTS.value == 40 * 500
    names = tuple(f"f{number}" for number in range(turns))
    picked = Choice(names, "table", loop=HERE, values=tuple(range(turns)), whole=True)
    call = CallEvent("", (), ("r",), HERE, choices=(picked,))
    other = CallEvent("g", (), ("r",), HERE)
    branch = Block("branch", (other,), Span("f.c", 9))
    loop = Block("loop", (call, branch, *[other] * 497), HERE)
    (flow,) = with_choices([Flow("main", (), (loop,), Span("f.c", 1))], {})
    assert [event.kind for event in flow.body if isinstance(event, Block)] == (
        ["turn"] * turns if followed else ["loop"]
    )


def test_a_null_pointer_that_is_handed_over_calls_nothing() -> None:
    """`often(table[k])` still runs for the gap in the table."""
    choice = Choice(("f", ""), "table[k]", 0, HERE, (0, 1), whole=True)
    call = CallEvent("often", (), ("r",), Span("f.c", 8), choices=(choice,))
    often = Flow("often", (), (CallEvent("", (), ("r",), Span("f.c", 2), parameter=0),), HERE)
    main = Flow("main", (), (Block("loop", (call,), HERE),), HERE)
    flows = {flow.function: flow for flow in with_callbacks(with_choices([often, main], {}))}
    turns = [turn for turn in flows["main"].body if isinstance(turn, Block)]
    assert [(turn.kind, turn.value) for turn in turns] == [("turn", 0), ("turn", 1)]
    called = [
        event.function for turn in turns for event in turn.body if isinstance(event, CallEvent)
    ]
    assert called == ["often(f)", "often"]
