"""Which loops are one team's, how often they run, and in what order: counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.execution_counts import Runs
from regionpredict.analysis.teams import ProgramTeams, TeamFacts, program_teams
from regionpredict.frontend import requests_for
from regionpredict.ir import Expr
from regionpredict.pipeline import analyse

FRONTENDS = ("libclang", "pycparser")
each_frontend = pytest.mark.parametrize("frontend", FRONTENDS)

SOURCE = """double a[1000], b[1000];
void part(int n) {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += b[i];
}
void solve(int n, int nt) {
  for (int t = 0; t < nt; t++) {
#pragma omp parallel num_threads(4)
    {
      for (int k = 0; k < 5; k++) {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = 2 * a[i];
#pragma omp barrier
      }
#pragma omp single nowait
      b[0] = 0;
      part(n);
    }
  }
}
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = b[i] = i;
  for (int s = 0; s < 7; s++)
    solve(1000, 3);
  return 0;
}
"""


def teams_of(frontend: str, folder: Path, **files: str) -> ProgramTeams:
    for name, text in files.items():
        (folder / f"{name}.c").write_text(text)
    paths = [str(folder / f"{name}.c") for name in files]
    analysis = analyse(requests_for(paths), {}, frontend=frontend, defaults=False)
    return program_teams(analysis.program, analysis.facts, {})


def runs_by_line(team: TeamFacts) -> dict[int, int | None]:
    return {one.facts.region.span.line: one.runs.value for one in team.members}


@each_frontend
def test_the_loops_of_one_parallel_are_a_team(frontend: str, tmp_path: Path) -> None:
    found = teams_of(frontend, tmp_path, f=SOURCE)
    solve, start = found.teams
    assert (solve.span.line, start.span.line) == (8, 24)
    # main calls solve 7 times, which starts the team 3 times: 21. k runs 5 times in each.
    assert solve.executions.value == 21
    assert runs_by_line(solve) == {3: 1, 11: 5, 13: 5}
    assert [(one.kind, one.waits, one.runs.value) for one in solve.constructs] == [
        ("barrier", True, 5), ("single", False, 1),
    ]  # fmt: skip
    assert start.executions.value == 1 and runs_by_line(start) == {24: 1}
    assert solve.forks and start.forks
    # 24 once, then 8 again and again: no team but these two follow each other.
    (program,) = found.programs
    assert program.changes == {(start.id, solve.id): 1.0}


@each_frontend
def test_teams_in_a_loop_follow_each_other_round(frontend: str, tmp_path: Path) -> None:
    text = """double a[100];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] += 1;
}
void g(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] *= 2;
}
int main(void) {
  for (int t = 0; t < 4; t++) { f(); for (int s = 0; s <= t; s++) g(); }
}
"""
    found = teams_of(frontend, tmp_path, f=text)
    f, g = found.teams
    # g runs 1 + 2 + 3 + 4 times; f to g in every turn, g to f in all but the last.
    assert (f.executions.value, g.executions.value) == (4, 10)
    (program,) = found.programs
    assert program.changes == {(f.id, g.id): 4.0, (g.id, f.id): 3.0}


@each_frontend
def test_calls_into_other_files_count(frontend: str, tmp_path: Path) -> None:
    kernel = """double a[100];
void step(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1;
}
"""
    main = """void step(int n);
int main(void) { int turns = 12; for (int t = 0; t < turns; t++) { step(100); step(50); } }
"""
    (team,) = teams_of(frontend, tmp_path, kernel=kernel, main=main).teams
    assert team.executions.value == 24


@each_frontend
def test_what_is_not_known_stays_unknown(frontend: str, tmp_path: Path) -> None:
    text = """double a[100];
int go(void);
int main(void) {
  while (go()) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] += 1;
  }
}
"""
    (team,) = teams_of(frontend, tmp_path, f=text).teams
    assert (team.executions.value, team.executions.weight) == (None, 10.0)  # ASSUMED_TRIPS


@each_frontend
def test_a_loop_outside_any_parallel_stands_alone_or_is_its_callers(
    frontend: str, tmp_path: Path
) -> None:
    text = """double a[100];
static void both(void) {
#pragma omp for
  for (int i = 0; i < 100; i++) a[i] += 1;
}
int main(void) {
  both();
#pragma omp parallel
  { both(); both(); }
}
"""
    alone, team = teams_of(frontend, tmp_path, f=text).teams
    assert (alone.span.line, alone.forks, runs_by_line(alone)) == (3, False, {3: 1})
    assert (team.span.line, team.forks, runs_by_line(team)) == (8, True, {3: 2})


@each_frontend
def test_functions_that_call_each_other_end(frontend: str, tmp_path: Path) -> None:
    text = """double a[100];
void g(int d);
void f(int d) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] += 1;
  if (d) g(d - 1);
}
void g(int d) { f(d); }
int main(void) { f(3); }
"""
    (team,) = teams_of(frontend, tmp_path, f=text).teams
    assert team.executions.weight >= 1


STEP = """double a[100];
void step(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] += 1;
}
"""
MAIN = "void step(void);\nint main(void) { for (int t = 0; t < %d; t++) step(); }\n"
UNCALLED = STEP.replace("step", "other")


@each_frontend
def test_each_main_is_a_program_with_its_own_functions(frontend: str, tmp_path: Path) -> None:
    # Both have a step(); that of the own folder is meant. Nobody calls other() of `two`.
    texts = {"one/main.c": MAIN % 3, "one/step.c": STEP, "two/main.c": MAIN % 5,
             "two/step.c": STEP, "two/other.c": UNCALLED, "other.c": UNCALLED}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    analysis = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend, defaults=False)
    found = program_teams(analysis.program, analysis.facts, {})
    runs = {
        program.main.removeprefix(f"{tmp_path}/"): {
            name.removeprefix(f"{tmp_path}/"): runs.value
            for name, runs in program.executions.items()
        }
        for program in found.programs
    }
    assert runs == {
        "one/main.c": {"one/step.c:3": 3},
        "two/main.c": {"two/step.c:3": 5, "two/other.c:3": 0},
        "": {"other.c:3": 1},
    }


@each_frontend
def test_what_two_programs_share_runs_in_both(frontend: str, tmp_path: Path) -> None:
    found = teams_of(frontend, tmp_path, one=MAIN % 3, step=STEP, two=MAIN % 5)
    (team,) = found.teams
    assert team.executions.value == 8
    assert [runs.value for one in found.programs for runs in one.executions.values()] == [3, 5]


def test_runs_with_values_for_their_names() -> None:
    n = Expr.name("n")
    assert Runs(n * 2, None, 10.0).at({"n": 7}) == 14.0
    assert Runs(n - 9, None, 10.0).at({"n": 7}) == 0.0
    assert Runs(n, None, 10.0).at({}) == 10.0  # what it is taken to be
    assert Runs(n, 3, 3.0).at({"n": 7}) == 3.0  # known
    assert Runs(None, None, 10.0).at({"n": 7}) == 10.0


@each_frontend
def test_recorded_runs_fill_in_what_the_source_does_not_say(frontend: str, tmp_path: Path) -> None:
    """A team that nobody can count the runs of: its plain loop ran 6 times, that in a loop of 3
    turns 18 times, that in a loop of unknown turns 24 times: four in each of six runs.
    """
    text = """double a[1000];
void work(int turns) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1000; i++) a[i] += 1;
    for (int k = 0; k < 3; k++) {
#pragma omp for
      for (int i = 0; i < 1000; i++) a[i] += 2;
    }
    for (int k = 0; k < turns; k++) {
#pragma omp for
      for (int i = 0; i < 1000; i++) a[i] += 3;
    }
  }
}
int main(int argc, char **argv) {
  for (int r = 0; r < argc; r++) work(argc);
  return 0;
}
"""
    path = tmp_path / "a.c"
    path.write_text(text)
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend, defaults=False)
    known = {own.region.span.line: own.region.id for own in analysis.facts}

    def told(**runs: int) -> tuple[int | None, dict[int, int | None]]:
        recorded = {known[int(line[1:])]: count for line, count in runs.items()}
        (team,) = program_teams(analysis.program, analysis.facts, {}, recorded).teams
        return team.executions.value, runs_by_line(team)

    assert told()[1] == {5: 1, 8: 3, 12: None}
    assert told(L5=6, L8=18, L12=24) == (6, {5: 1, 8: 3, 12: 4})
    assert told(L8=18, L12=24) == (6, {5: 1, 8: 3, 12: 4})
    assert told(L5=6, L8=18, L12=25) == (6, {5: 1, 8: 3, 12: None})  # no whole number of times
    assert told(L5=6, L8=21)[1] == {5: 1, 8: 3, 12: None}  # two that disagree tell nothing


@each_frontend
def test_teams_that_ran_more_often_follow_each_other_more_often(
    frontend: str, tmp_path: Path
) -> None:
    """A loop taken to turn 10 times turned 30: three times the runs, and the changes."""
    path = tmp_path / "a.c"
    path.write_text("""double a[100];
int go(void);
int main(void) {
  while (go()) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] += 1;
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] *= 2;
  }
}
""")
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend, defaults=False)
    adds, doubles = (own.region.id for own in analysis.facts)

    def told(recorded: dict[str, int]) -> tuple[list[float], list[float]]:
        (program,) = program_teams(analysis.program, analysis.facts, {}, recorded).programs
        return [runs.weight for runs in program.executions.values()], list(program.changes.values())

    assert told({}) == ([10.0, 10.0], [10.0, 9.0])
    assert told({adds: 30, doubles: 30}) == ([30.0, 30.0], [30.0, 27.0])
    assert told({adds: 5, doubles: 5}) == ([5.0, 5.0], [5.0, 4.5])
    # Teams change no more often than the rarer of the two runs.
    assert told({adds: 30}) == ([30.0, 10.0], [10.0, 9.0])
    assert told({adds: 20, doubles: 30}) == ([20.0, 30.0], [20.0, 18.0])


@each_frontend
def test_recorded_runs_go_before_the_sources(frontend: str, tmp_path: Path) -> None:
    """The source says 6 and 6; in the recorded run the first ran 4 times, of the second nothing was
    recorded. A run of another build tells only what the source does not.
    """
    path = tmp_path / "a.c"
    path.write_text("""double a[100];
int main(void) {
  for (int k = 0; k < 6; k++) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] += 1;
#pragma omp parallel for
    for (int i = 0; i < 100; i++) a[i] *= 2;
  }
}
""")
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend, defaults=False)
    first = analysis.facts[0].region.id

    def told(*, same_build: bool) -> list[Runs]:
        teams = program_teams(
            analysis.program, analysis.facts, {}, {first: 4}, same_build=same_build
        ).teams
        return [team.executions for team in teams]

    adds, doubles = told(same_build=True)
    assert (adds.value, doubles.value) == (4, 6)
    assert "the source says 6" in adds.assumed[0]
    assert "from the source" in doubles.assumed[0]
    adds, doubles = told(same_build=False)
    assert (adds.value, doubles.value) == (6, 6)
    assert not adds.assumed
