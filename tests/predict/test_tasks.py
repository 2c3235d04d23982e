"""Explicit tasks are predicted like the iterations of a dynamic loop, with the cost of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import Prediction

WORK = """
double work(double x, int m)
{
    for (int j = 0; j < m; j++) x = x * 0.5 + 1.0;
    return x;
}
"""
LOOP = (
    WORK
    + """
double a[100000];
void f(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100000; i++) {
#pragma omp task %s
        a[i] = work(a[i], %d);
    }
}
"""
)
LIST = (
    WORK
    + """
struct node { struct node *next; double value; };
void f(struct node *head)
{
#pragma omp parallel
#pragma omp single
    %s
}
"""
)
WHILE = """{
        struct node *p = head;
        while (p) {
#pragma omp task firstprivate(p)
            p->value = work(p->value, 100000);
            p = p->next;
        }
    }"""
FOR = """for (struct node *p = head; p; p = p->next)
#pragma omp task firstprivate(p)
        p->value = work(p->value, 100000);
"""
RECURSIVE = (
    WORK
    + """
double tree(int depth)
{
    double left, right;
    if (depth == 0) return 1.0;
#pragma omp task shared(left)
    left = tree(depth - 1);
#pragma omp task shared(right)
    right = tree(depth - 1);
#pragma omp taskwait
    return work(left + right, %d);
}
int main(void)
{
#pragma omp parallel
#pragma omp single
    tree(20);
    return 0;
}
"""
)


def predicted(path: Path, text: str, frontend: str = "libclang", **sizes: int) -> Predictions:
    path.write_text(text)
    analysis = analyse(requests_for([str(path)]), sizes, frontend=frontend)
    return predict(analysis, load("skylake-gold-6148"), "saturation")


def rows(path: Path, text: str, frontend: str = "libclang", **sizes: int) -> list[Prediction]:
    made = predicted(path, text, frontend, **sizes).predictions
    return sorted(made, key=lambda own: own.facts.region.span.line)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_the_work_of_a_task_decides(tmp_path: Path, frontend: str) -> None:
    """A task costs two passages of a lock, about a microsecond on many threads."""
    (short,) = rows(tmp_path / "a.c", LOOP % ("", 10), frontend)
    (long,) = rows(tmp_path / "b.c", LOOP % ("", 100_000), frontend)
    assert (short.threads, short.packages) == (1, 1)
    assert short.bottleneck == "overhead"
    assert long.threads is not None
    assert long.threads >= 35
    assert long.facts.iterations.value == 100_000


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize("loop", [WHILE, FOR])
def test_the_length_of_a_list_is_a_size(tmp_path: Path, frontend: str, loop: str) -> None:
    (many,) = rows(tmp_path / "a.c", LIST % loop, frontend)
    assert str(many.facts.region.nest and many.facts.region.nest.trips) == "f_tasks"
    assert many.threads is not None
    assert many.threads >= 35
    (few,) = rows(tmp_path / "a.c", LIST % loop, frontend, f_tasks=3)
    assert few.threads == 3


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_recursive_calls_are_other_tasks(tmp_path: Path, frontend: str) -> None:
    short = rows(tmp_path / "a.c", RECURSIVE % 1, frontend)
    long = rows(tmp_path / "b.c", RECURSIVE % 100_000, frontend)
    assert len(short) == len(long) == 2
    assert [own.threads for own in short] == [1, 1]
    assert all(own.threads is not None and own.threads >= 35 for own in long)
    rules = {note.id for own in long for note in own.facts.region.diagnostics}
    assert "RP119" in rules
    assert not rules & {"RP105", "RP108"}


def test_tasks_are_never_sure(tmp_path: Path) -> None:
    (free,) = rows(tmp_path / "a.c", LOOP % ("", 100_000))
    (ordered,) = rows(tmp_path / "b.c", LOOP % ("depend(inout: a[0])", 100_000))
    for own in (free, ordered):
        assert own.confidence is not None
        assert own.confidence <= 0.5
    [note] = [note for note in ordered.facts.region.diagnostics if note.id == "RP119"]
    assert "`depend`" in note.message


def test_a_task_in_a_worksharing_loop_is_part_of_the_loop(tmp_path: Path) -> None:
    text = LOOP.replace("single", "for") % ("", 1000)
    (loop,) = rows(tmp_path / "a.c", text)
    assert loop.facts.region.directive == "for"
    assert loop.facts.iterations.value == 100_000


def test_no_schedule_is_advised(tmp_path: Path) -> None:
    made = predicted(tmp_path / "a.c", LOOP % ("", 10))
    assert not [own for some in made.advice.values() for own in some if own.rule == "RP202"]


@pytest.mark.parametrize(
    "loop",
    [
        "for (int t = 0; t < 10; t++) {\n#pragma omp parallel\n#pragma omp single\n{\nTASK\n}\n}",
        "\n#pragma omp parallel\n#pragma omp single\n"
        "for (int t = 0; t < 10; t++) {\nTASK\n#pragma omp taskwait\n}",
    ],
)
def test_a_loop_that_waits_for_each_task_has_no_parallel_tasks(tmp_path: Path, loop: str) -> None:
    task = "\n#pragma omp task\na[t] = work(a[t], 1000000);"
    text = f"{WORK}\ndouble a[10];\nvoid f(void)\n{{\n{loop.replace('TASK', task)}\n}}\n"
    (row,) = rows(tmp_path / "a.c", text)
    assert row.facts.iterations.value == 1
    assert [around.variable for around in row.facts.region.enclosing] == ["t"]
    assert row.threads == 1


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(("wait", "shares"), [("", [3]), ("#pragma omp taskwait", [2, 1])])
def test_tasks_of_a_block_run_at_the_same_time(
    tmp_path: Path, frontend: str, wait: str, shares: list[int]
) -> None:
    tasks = [f"#pragma omp task\nx[{n}] = work(1.0, 10000000);" for n in range(3)]
    body = "\n".join([*tasks[:2], wait, tasks[2]])
    around = f"#pragma omp parallel\n#pragma omp single\n{{\n{body}\n}}"
    text = f"{WORK}\ndouble x[300];\nvoid f(void)\n{{\n{around}\n}}\n"
    made = predicted(tmp_path / "a.c", text, frontend)
    assert [own.facts.iterations.value for own in made.predictions] == shares
    assert [own.threads for own in made.predictions] == shares
    (team,) = made.teams
    assert team.threads == max(shares)


def test_the_figure_of_the_lock_is_named(tmp_path: Path) -> None:
    """Tasks pass a lock, and take no chunks of a loop."""
    (short,) = rows(tmp_path / "a.c", LOOP % ("", 10))
    assert short.bottleneck == "overhead"
    assumed = " ".join(short.assumed)
    assert "openmp.critical" in assumed
    assert "openmp.dynamic_chunk" not in assumed
