"""Functions that are handed over and called through a parameter, by how often teams run."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.callbacks import with_callbacks
from regionpredict.analysis.teams import program_teams
from regionpredict.frontend import requests_for
from regionpredict.ir import Span
from regionpredict.ir.flow import Block, CallEvent, Flow
from regionpredict.pipeline import analyse

LOOP = "#pragma omp parallel for\n  for (int i = 0; i < 100; i++) a[i] += 1;\n"
PROGRAM = f"""double a[100];
static void one(void) {{
  {LOOP}}}
static void two(void) {{
  {LOOP}}}
static void each(int times, void (*body)(void), void (*last)(void)) {{
  for (int t = 0; t < 3; t++)
    body();
  (*last)();
}}
static void pass_on(void (*body)(void)) {{ each(5, body, two); }}
static void nothing(void (*body)(void)) {{ a[0] = body != 0; }}
int main(void) {{
  for (int s = 0; s < 7; s++)
    each(s, one, &two);
  pass_on(one);
  nothing(two);
}}
"""


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_what_is_handed_over_runs_where_it_is_called(frontend: str, tmp_path: Path) -> None:
    """one: 7 * 3 and 3 through pass_on; two: 7 and 1. Comparing a pointer calls nothing."""
    path = tmp_path / "case.c"
    path.write_text(PROGRAM)
    analysis = analyse(requests_for((str(path),)), {}, frontend=frontend)
    first, second = program_teams(analysis.program, analysis.facts, {}).teams
    assert (first.executions.value, second.executions.value) == (24, 8)


def call(name: str, *functions: tuple[int, str | int], parameter: int | None = None) -> CallEvent:
    return CallEvent(name, (), ("r",), Span("f.c", 1), functions, parameter)


def flow(name: str, *events: CallEvent | Block) -> Flow:
    return Flow(name, (), events, Span("f.c", 1))


def test_each_set_of_functions_makes_one_function() -> None:
    run = flow("run", Block("loop", (call("", parameter=1),), Span("f.c", 2)))
    main = flow("main", call("run", (1, "f")), call("run", (1, "g")), call("run", (1, "f")),
                call("run", (0, "f")), call("qsort", (0, "f")))  # fmt: skip
    changed = {one.function: one for one in with_callbacks([run, main])}
    assert list(changed) == ["run", "main", "run(_, f)", "run(_, g)"]
    names = [event.function for event in changed["main"].body if isinstance(event, CallEvent)]
    assert names == ["run(_, f)", "run(_, g)", "run(_, f)", "run", "qsort"]
    (loop,) = changed["run(_, g)"].body
    assert isinstance(loop, Block) and loop.body == (call("g", parameter=1),)


def test_a_function_for_another_parameter_is_another() -> None:
    both = flow("both", call("", parameter=0), call("", parameter=1))
    main = flow("main", call("both", (0, "f")), call("both", (1, "f")))
    changed = {one.function: one.body for one in with_callbacks([both, main])}
    names = {
        name: [event.function for event in body if isinstance(event, CallEvent)]
        for name, body in changed.items()
    }
    assert names == {"main": ["both(f)", "both(_, f)"], "both(f)": ["f", ""],
                     "both(_, f)": ["", "f"]}  # fmt: skip


def test_recursion_ends() -> None:
    """A function that hands itself on is made once."""
    walk = flow("walk", call("", parameter=0), call("walk", (0, 0)))
    changed = with_callbacks([walk, flow("main", call("walk", (0, "f")))])
    assert [one.function for one in changed] == ["walk", "main", "walk(f)"]
    own = [event.function for event in changed[2].body if isinstance(event, CallEvent)]
    assert own == ["f", "walk(f)"]


def test_programs_that_hand_nothing_over_stay_as_they_are() -> None:
    flows = (flow("f", call("g", (0, 0))), flow("g"))
    assert with_callbacks(flows) == flows
