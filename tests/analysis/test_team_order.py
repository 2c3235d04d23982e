"""How often teams run and which is next, through calls, branches and loops: counted by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_teams import SOURCE, each_frontend, runs_by_line, teams_of

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.execution_counts import NEVER, ONCE, Runs, runs_of
from regionpredict.analysis.teams import ProgramTeams, program_teams
from regionpredict.frontend import requests_for
from regionpredict.ir import Expr, Loop, Span
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.pipeline import analyse


@each_frontend
def test_without_a_flow_each_function_tells_of_itself(frontend: str, tmp_path: Path) -> None:
    """Nobody is seen to call solve or part: their own loops alone count."""
    (tmp_path / "f.c").write_text(SOURCE)
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {}, frontend=frontend, defaults=False)
    program = replace(analysis.program, flows=())
    found = program_teams(program, analysis.facts, {"nt": 3})
    part, solve, start = found.teams
    # k runs 5 times inside the `parallel`, t 3 times around it.
    assert runs_by_line(solve) == {11: 5, 13: 5}
    assert (solve.executions.value, solve.executions.weight) == (3, 3.0)
    assert [one.runs.value for one in solve.constructs] == [5, 1]
    # The `for` of part stands alone, as far as one can see.
    assert (part.span.line, part.forks, part.construct, part.constructs) == (3, False, None, ())
    assert part.executions.value == 1 and runs_by_line(part) == {3: 1}
    assert start.forks and start.executions.value == 1
    assert not any(one.changes for one in found.programs)


@each_frontend
def test_a_loop_in_a_loop_outside_any_parallel(frontend: str, tmp_path: Path) -> None:
    """Its function runs it four times: the team that it is runs four times, it once in each."""
    text = """double a[100];
void part(void) {
  for (int t = 0; t < 4; t++) {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] += 1;
  }
}
"""
    (tmp_path / "f.c").write_text(text)
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {}, frontend=frontend, defaults=False)
    for flows in (analysis.program.flows, ()):
        program = replace(analysis.program, flows=flows)
        (team,) = program_teams(program, analysis.facts, {}).teams
        assert (team.executions.value, runs_by_line(team)) == (4, {4: 1})


LOOP = "#pragma omp parallel for\n for (int i = 0; i < 100; i++) a[i] += %d;\n"


def test_counts_times_and_plus() -> None:
    """Symbol, number and weight each for itself; what one of the two lacks is not known of both."""
    n, three = Runs(Expr.name("n"), None, 10.0), Runs(Expr.const(3), 3, 3.0)
    unread, five = Runs(None, 7, 7.0), Runs(Expr.const(5), 5, 5.0)
    assert three.times(five) == Runs(Expr.const(15), 15, 15.0)
    assert three.plus(five) == Runs(Expr.const(8), 8, 8.0)
    for one, other in ((n, three), (three, n)):
        assert one.times(other) == Runs(3 * Expr.name("n"), None, 30.0)
        assert one.plus(other) == Runs(Expr.name("n") + 3, None, 13.0)
    for one, other in ((unread, three), (three, unread)):
        assert one.times(other) == Runs(None, 21, 21.0)
        assert one.plus(other) == Runs(None, 10, 10.0)
    assert (three.times(ONCE), three.plus(NEVER)) == (three, three)


def lines_of(found: ProgramTeams) -> dict[tuple[int, int], float]:
    """How often the team at one line is followed by that at another."""
    line = {team.id: team.span.line for team in found.teams}
    (program,) = found.programs
    return {(line[a], line[b]): often for (a, b), often in program.changes.items()}


@each_frontend
def test_teams_of_a_function_follow_each_other_in_each_of_its_calls(
    frontend: str, tmp_path: Path
) -> None:
    """f has teams at 4 and 6; main, with its own at 14, calls it 3 times and once more."""
    text = (
        "double a[100];\n"
        "static void f(void) {\n {\n"
        + "#pragma omp parallel for\n for (int i = 0; i < 100; i++) a[i] += 1;\n"
        + "#pragma omp parallel for\n for (int i = 0; i < 100; i++) a[i] += 2;\n"
        + " }\n}\nint main(void) {\n"
        + " for (int t = 0; t < 3; t++) {\n"
        + "  f();\n"
        + " }\n"
        + "#pragma omp parallel for\n for (int i = 0; i < 100; i++) a[i] += 3;\n"
        + " f();\n}\n"
    )
    found = teams_of(frontend, tmp_path, f=text)
    assert {team.span.line: team.executions.value for team in found.teams} == {4: 4, 6: 4, 14: 1}
    # Within f four times; back to its first in two turns of the loop; to main's own and back once.
    assert lines_of(found) == {(4, 6): 4.0, (6, 4): 2.0, (6, 14): 1.0, (14, 4): 1.0}
    (program,) = found.programs
    assert [int(name.rpartition(":")[2]) for name in program.executions] == [4, 6, 14]


@each_frontend
def test_both_sides_of_a_branch_run_one_after_the_other(frontend: str, tmp_path: Path) -> None:
    text = (
        "double a[100];\nint main(int argc, char **argv) {\n if (argc > 1) {\n"
        + LOOP % 1 + " } else {\n" + LOOP % 2 + " }\n}\n"
    )  # fmt: skip
    found = teams_of(frontend, tmp_path, f=text)
    runs = [team.executions for team in found.teams]
    assert [(often.value, often.weight) for often in runs] == [(None, 1), (None, 1)]
    assert all("f.c:3 is assumed to hold each time" in often.assumed[0] for often in runs)
    assert lines_of(found) == {(4, 7): 1.0}


@each_frontend
def test_loops_of_functions_that_a_team_calls_count_with_those_around_the_call(
    frontend: str, tmp_path: Path
) -> None:
    """part runs twice in each of 3 turns and once more, its loop 5 times in each: 35."""
    text = """double a[100];
static void part(void) {
  for (int k = 0; k < 5; k++) {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] += 1;
  }
}
int main(void) {
  for (int s = 0; s < 2; s++) {
#pragma omp parallel
    {
      for (int t = 0; t < 3; t++) { part(); part(); }
      part();
    }
  }
}
"""
    (team,) = teams_of(frontend, tmp_path, f=text).teams
    assert (team.span.line, team.executions.value, runs_by_line(team)) == (10, 2, {4: 35})


@each_frontend
def test_a_team_inside_a_team_is_none_of_its_loops(frontend: str, tmp_path: Path) -> None:
    text = """double a[100], b[100];
int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] += 1;
    for (int k = 0; k < 3; k++) {
#pragma omp parallel for
      for (int i = 0; i < 100; i++) b[i] += 1;
    }
  }
}
"""
    found = teams_of(frontend, tmp_path, f=text)
    outer = next(team for team in found.teams if team.span.line == 3)
    assert runs_by_line(outer) == {5: 1}
    (inner,) = (team for team in found.teams if team is not outer)
    assert runs_by_line(inner) == {8: 1} and inner.forks


@each_frontend
def test_loops_that_are_not_known_weigh_ten_beside_those_that_are(
    frontend: str, tmp_path: Path
) -> None:
    text = """double a[100];
int go(void);
static void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] += 1;
}
int main(void) {
  while (go()) for (int t = 0; t < 4; t++) { f(); f(); }
  f();
}
"""
    (team,) = teams_of(frontend, tmp_path, f=text).teams
    assert (team.executions.value, team.executions.expr) == (None, None)
    assert team.executions.weight == 2 * 10 * 4 + 1


@each_frontend
def test_a_loop_that_never_turns_runs_no_team(frontend: str, tmp_path: Path) -> None:
    text = "double a[100];\nint main(void) {\n" + (
        " for (int t = 5; t < 5; t++) {\n" + LOOP % 1 + LOOP % 2 + " }\n}\n"
    )
    found = teams_of(frontend, tmp_path, f=text)
    assert [team.executions.value for team in found.teams] == [0, 0]
    assert lines_of(found) == {}


@pytest.mark.parametrize(("turns", "weight"), [(-3, 0), (0, 0), (1, 10), (4, 40)])
def test_loops_beside_one_that_is_not_known(turns: int, weight: int) -> None:
    """Ten times those that are known, and none of a loop whose end lies below its start."""
    open_end = Loop("t", None, None, "<", None, (), Span("f.c", 1))
    loops = [open_end, Loop("i", ZERO, Expr.name("n"), "<", ONE, (), Span("f.c", 2))]
    assert runs_of(loops, Bindings({"n": turns})).weight == weight
    assert runs_of(loops[::-1], Bindings({"n": turns})).weight == weight
