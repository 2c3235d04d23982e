"""What a region asks of the run-time system: constructs counted by hand and by enumeration."""

from __future__ import annotations

import pytest
from nest_texts import facts_of, facts_of_text, nest_of, workload_in

from regionpredict.workload import SynchronisationCounts
from regionpredict.workload.serial_bodies import SerialKind
from regionpredict.workload.synchronisation import synchronisation_counts, team_limit


def counts(loops: str, clauses: str = "", **sizes: int) -> SynchronisationCounts:
    facts = facts_of(loops, "int n, int m, double *a", clauses, **sizes)
    nest = nest_of(loops, "int n, int m, double *a", clauses, **sizes)
    assert facts.region.nest is not None
    return synchronisation_counts(facts.region, facts.region.nest, nest)


LOOPS = """for (int i = 0; i < n; i++) {
#pragma omp atomic
  a[0] += 1;
  for (int j = 0; j < m; j++) {
#pragma omp atomic
    a[1] += 1;
    for (int k = 0; k < 3; k++) {
#pragma omp critical
      { a[2] += 1; for (int l = 0; l < 2; l++) {
#pragma omp atomic
        a[3] += 1; } }
    }
  }
  for (int j = 0; j < i; j++) {
#pragma omp critical
    a[4] += 1;
  }
}"""


ONCE = """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    if (a[j] > i) {
      @
    }
    a[j] += 1;
  }"""
ATOMIC = "\n#pragma omp atomic\n a[n] += 1; "
SWITCH = "switch ((int)a[0]) { case 1: if (a[1] > 0) {" + ATOMIC + "break; } a[0] = 1; }"


@pytest.mark.parametrize(
    ("body", "each"),
    [
        (ATOMIC + "break;", 1.0),
        (ATOMIC + "a[2] = 0; break;", 1.0),
        (ATOMIC, 20.0),
        (SWITCH, 5.0),
        ("for (int k = 0; k < 4; k++) {" + ATOMIC + "break; }", 80.0),
        ("a[2] = 0; continue; } else {" + ATOMIC + "break;", 1.0),
    ],
    ids=["break", "behind more", "none", "of a switch", "of an inner loop", "on the other side"],
)
def test_what_ends_a_loop_runs_once_in_it(body: str, each: float) -> None:
    """Of 40 iterations half reach a condition's side, a quarter a case of a `switch` in it, and an
    eighth a condition there; only one reaches the side that ends the loop."""
    assert counts(ONCE.replace("@", body), n=10, m=40).atomics == pytest.approx(10 * each)


def test_constructs_in_loops() -> None:
    """n(1 + m + 6m) atomics; 3nm + n(n - 1)/2 critical bodies, counted by running the loops."""
    n, m = 8, 5
    made = counts(LOOPS, n=n, m=m)
    atomics = criticals = 0
    for i in range(n):
        atomics += 1
        for _ in range(m):
            atomics += 1
            for _ in range(3):
                criticals += 1
                atomics += 2
        criticals += i
    assert made.atomics == atomics == 288
    assert made.by_construct == {"atomic": atomics, "critical": criticals}
    assert made.visits(SerialKind("critical")) == made.serial_bodies == criticals
    assert (
        made.explicit_barriers
        == made.visits(SerialKind("single"))
        == made.visits(SerialKind("ordered"))
        == 0
    )


def test_a_branch_runs_one_of_its_sides() -> None:
    """Half a body with one side or two, however it is written; loops behind it are not lost."""
    loops = """for (int i = 0; i < n; i++) {
  if (a[i] > 0) {
#pragma omp atomic
    a[0] += 1;
    for (int j = 0; j < 5; j++) {
#pragma omp atomic
      a[1] += 1; }
  }
  for (int k = 0; k < 7; k++) {
#pragma omp critical
    a[2] += 1;
  }
  if (a[i] > 1) {
#pragma omp critical
    a[3] += 1;
  } else {
#pragma omp critical
    a[4] += 1;
  }
}"""
    made = counts(loops, n=10)
    assert made.by_construct == {"atomic": 5 + 25, "critical": 70 + 5 + 5}


@pytest.mark.parametrize(
    ("clauses", "number"),
    [("", 0), ("reduction(+: s)", 1), ("reduction(+: s, t)", 2),
     ("reduction(+: s) reduction(max: t, u)", 3),
     ("reduction(+: a[0:n])", 1), ("reduction(+: s, a[0:n], t)", 3)],
)  # fmt: skip
def test_reduced_scalars(clauses: str, number: int) -> None:
    loops = "for (int i = 0; i < n; i++) a[i] = 0;"
    made = workload_in(loops, "int n, double *a, double s, double t, double u", clauses, n=9)
    assert made.execution is not None
    assert made.execution.synchronisation.reductions == number


def test_forks_and_waits() -> None:
    made = counts("for (int i = 0; i < n; i++) a[i] = 0;", n=9)
    assert (made.forks, made.waits, made.iterations) == (True, True, 9.0)
    assert (
        made.atomics,
        made.explicit_barriers,
        made.serial_bodies,
        made.visits(SerialKind("ordered")),
    ) == (0,) * 4
    both = counts("for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) a[i] = j;",
                  "collapse(2)", n=9)  # fmt: skip
    assert both.iterations == 36.0
    assert counts("for (int i = 5; i < 5; i++) a[i] = 0;").iterations == 1.0


def test_a_loop_of_a_team_forks_no_team() -> None:
    """`omp for` in a team: no fork; `nowait`: no barrier at its end."""
    text = """void f(int n, double *a) {
#pragma omp parallel
  {
#pragma omp for %s
    for (int i = 0; i < n; i++) a[i] = 0;
  }
}"""
    for clause, waits in (("", True), ("nowait", False)):
        (facts,) = facts_of_text(text % clause, n=9)
        nest = nest_of("for (int i = 0; i < n; i++) a[i] = 0;", "int n, double *a", n=9)
        assert facts.region.nest is not None
        made = synchronisation_counts(facts.region, facts.region.nest, nest)
        assert (made.forks, made.waits) == (False, waits)


def test_counts_by_construct() -> None:
    by_construct = {"atomic": 1.0, "barrier": 2.0, "critical": 4.0, "ordered": 8.0,
                    "single": 16.0, "master": 32.0, "masked": 64.0}  # fmt: skip
    made = SynchronisationCounts(True, True, 0, 1.0, by_construct)
    assert (made.atomics, made.explicit_barriers, made.serial_bodies) == (
        1,
        2,
        4 + 8 + 16 + 32 + 64,
    )
    assert [made.visits(SerialKind(kind)) for kind in ("critical", "ordered", "single")] == [
        4,
        8,
        112,
    ]


@pytest.mark.parametrize(
    ("clauses", "limit"),
    [("", None), ("num_threads(6)", 6), ("num_threads(n)", None), ("if(0)", 1), ("if(n > 5)", None),
     ("if(parallel: 0) num_threads(4)", 1), ("if(1) num_threads(4)", 4), ("num_threads(0)", 1)],
)  # fmt: skip
def test_the_most_threads_of_a_directive(clauses: str, limit: int | None) -> None:
    facts = facts_of("for (int i = 0; i < n; i++) a[i] = 0;", "int n, double *a", clauses)
    assert team_limit(facts.region) == limit


SPREAD = """for (int i = 0; i < n; i++) {
#pragma omp atomic
  h[idx[i]] += 1;
  for (int j = 0; j < m; j++) {
#pragma omp atomic
    h[idx[j]] += 1;
#pragma omp atomic
    a[0] += 1;
  }
  if (a[i] > 0) {
#pragma omp atomic
    a[(int)a[i]] += 1;
  }
#pragma omp critical
  h[idx[i]] += 2;
}"""


def counts_of_updates(loops: str, clauses: str = "") -> SynchronisationCounts:
    facts = facts_of(loops, "int n, int m, double *a, int *h, int *idx", clauses, n=8, m=5)
    nest = nest_of(loops, "int n, int m, double *a, int *h, int *idx", clauses, n=8, m=5)
    assert facts.region.nest is not None
    return synchronisation_counts(facts.region, facts.region.nest, nest)


def spread(loops: str, clauses: str = "") -> list[tuple[str, float, str]]:
    made = counts_of_updates(loops, clauses)
    spread_out = sum(one.updates for one in made.spread)
    assert made.atomics == made.in_one_place + spread_out + made.apart
    return [(one.array, one.updates, one.text) for one in made.spread]


def test_atomic_updates_that_may_be_anywhere_in_an_array() -> None:
    """8 + 8 * 5 of h, half of 8 of a by a number that is made of data; 40 of a[0] are of one place,
    and bodies of `critical` wait for their turn as a whole."""
    assert spread(SPREAD) == [("h", 48.0, "h[idx[i]]"), ("a", 4.0, "a[(int)a[i]]")]


@pytest.mark.parametrize(
    ("update", "apart"),
    [("a[i] += 1;", 40), ("a[n - i] += 1;", 40), ("a[0] += 1;", 0), ("a[i / 2] += 1;", 0),
     ("a[idx[i]] += 1;", 0), ("p[0] += 1;", 40)],
)  # fmt: skip
def test_atomic_updates_of_the_iteration_s_own_element(update: str, apart: int) -> None:
    chosen = "double *p = pick(i);"  # nobody knows where
    loops = f"for (int i = 0; i < n * m; i++) {{ {chosen}\n#pragma omp atomic\n {update} }}"
    assert counts_of_updates(loops).apart == apart


@pytest.mark.parametrize(
    ("update", "clauses"),
    [
        ("a[0] += 1;", ""),
        ("a[i] += 1;", ""),  # by the loop's own index: no two threads' are the same
        ("h[idx[m]] += 1;", ""),  # one element, whichever
        ("h[idx[i]] += 1;", "private(h)"),
        ("h[idx[i]] += 1;", "reduction(+: h[:9])"),
    ],
)
def test_atomic_updates_of_one_place_or_of_a_thread_s_own(update: str, clauses: str) -> None:
    loops = f"for (int i = 0; i < n * m; i++) {{\n#pragma omp atomic\n {update} }}"
    assert spread(loops, clauses) == []


def test_bodies_are_counted_by_their_locks() -> None:
    text = """for (int i = 0; i < n; i++) {
#pragma omp critical (one)
  a[0] += 1;
  for (int j = 0; j < 3; j++) {
#pragma omp critical(other)
    a[1] += 1;
#pragma omp critical
    a[2] += 1;
  }
}"""
    made = counts(text, n=10)
    assert made.serial_bodies == 70
    kinds = [SerialKind("critical", lock) for lock in ("one", "other", "", "none")]
    assert [made.visits(kind) for kind in kinds] == [10, 30, 30, 0]
