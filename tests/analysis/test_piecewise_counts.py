"""Closed forms of bands, tiles and strides against carrying the loops out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.analysis import Bindings, RegionFacts
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.analysis.symbolic.piecewise import Steps, exact_total, readable_total
from regionpredict.frontend import requests_for
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.folding import TRUNCATES
from regionpredict.pipeline import analyse

N, W = Expr.name("n"), Expr.name("w")
VARIABLES = ("i", "j", "k")


def carried_out(loops: Sequence[tuple[Expr, Expr, int]], values: dict[str, int]) -> int:
    """How often the body runs: loops as (first, bound, step)."""

    def points(depth: int, at: dict[str, int]) -> Iterator[None]:
        if depth == len(loops):
            yield None
            return
        first, bound, step = loops[depth]
        low, high = first.evaluate(at), bound.evaluate(at)
        assert isinstance(low, int)
        assert isinstance(high, int)
        for value in range(low, high, step):
            yield from points(depth + 1, at | {VARIABLES[depth]: value})

    return sum(1 for _ in points(0, dict(values)))


def steps_of(loops: Sequence[tuple[Expr, Expr, int]]) -> list[Steps]:
    made = []
    for name, (first, bound, step) in zip(VARIABLES, loops, strict=False):
        distance = bound - first
        trips = distance if step == 1 else Expr.atom("floordiv", distance + step - 1,
                                                     Expr.const(step))  # fmt: skip
        made.append(Steps(name, first, trips, Expr.const(step)))
    return made


@st.composite
def ends(draw: st.DrawFn, depth: int, *, low: bool) -> Expr:
    """A bound: affine in what is outside, or the larger or smaller of two such."""

    def affine() -> Expr:
        outside = [ZERO, N, W, *(Expr.name(VARIABLES[d]) for d in range(depth))]
        one = draw(st.sampled_from(outside if not low else [ZERO, *outside[3:], *outside[3:]]))
        if draw(st.booleans()):
            one = one + draw(st.sampled_from([W, -W, ONE]))
        return one + draw(st.integers(-2, 3))

    if draw(st.booleans()):
        return affine()
    return Expr.atom("max" if low else "min", affine(), affine())


@st.composite
def nests(draw: st.DrawFn) -> list[tuple[Expr, Expr, int]]:
    depth = draw(st.integers(1, 3))
    step = st.sampled_from([1, 1, 1, 2, 3])
    return [(draw(ends(d, low=True)), draw(ends(d, low=False)), draw(step)) for d in range(depth)]


PLACES = [(n, w) for n in (0, 1, 2, 3, 5, 8, 11) for w in (0, 1, 2, 4, 9)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(nests())
def test_exact_for_all_values(loops: list[tuple[Expr, Expr, int]]) -> None:
    total = exact_total(steps_of(loops))
    if total is None:
        return  # withheld, never wrong
    for n, w in PLACES:
        assert total.evaluate({"n": n, "w": w}) == carried_out(loops, {"n": n, "w": w}), (n, w)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(nests())
def test_readable_where_its_conditions_hold(loops: list[tuple[Expr, Expr, int]]) -> None:
    steps = steps_of(loops)
    found = readable_total(steps)
    if found is None:
        return
    outside = [one.trips for one in steps if not one.trips.names & set(VARIABLES)]
    for n, w in PLACES:
        at = {"n": n, "w": w}
        signs = [one.evaluate(at) for one in (*found.holds, *(trips - 1 for trips in outside))]
        if all(sign is not None and sign >= 0 for sign in signs):
            assert found.expr.evaluate(at) == carried_out(loops, at), (n, w, str(found.expr))


# -- sums by hand ---------------------------------------------------------------------------------


OUTER, INNER, M = Expr.name("i"), Expr.name("j"), Expr.name("m")


def below(*trips: tuple[str, Expr]) -> list[Steps]:
    """Loops from 0 in steps of one."""
    return [Steps(variable, ZERO, count, ONE) for variable, count in trips]


def over(value: Expr, divisor: int) -> Expr:
    return Expr.atom("floordiv", value, Expr.const(divisor))


def least(first: Expr, second: Expr) -> Expr:
    return Expr.atom("min", first, second)


@pytest.mark.parametrize(
    ("bounds", "truth"),
    [
        # every remainder of a floor division, of a falling and of a shifted one
        (lambda o: (over(o, 3),), lambda n: sum(i // 3 for i in range(n))),
        (lambda o: (over(2 * o + 1, 3),), lambda n: sum((2 * i + 1) // 3 for i in range(n))),
        (lambda o: (over(N - o + 2, 4),), lambda n: sum((n - i + 2) // 4 for i in range(n))),
        # a minimum that turns inside, at either end, or never
        (lambda o: (least(o, N - o),), lambda n: sum(min(i, n - i) for i in range(n))),
        (lambda o: (least(2 * o, N),), lambda n: sum(min(2 * i, n) for i in range(n))),
        (lambda o: (least(o, N),), lambda n: n * (n - 1) // 2),
        (lambda o: (o, INNER), lambda n: sum(j for i in range(n) for j in range(i))),
        (lambda o: (N - o, o + INNER),
         lambda n: sum(i + j for i in range(n) for j in range(n - i))),
    ],
)  # fmt: skip
def test_sums_by_hand(
    bounds: Callable[[Expr], tuple[Expr, ...]], truth: Callable[[int], int]
) -> None:
    """Loops over i from 0 to n, and inside up to these bounds."""
    inner = bounds(OUTER)
    nest = below(("i", N), *zip("jk", inner, strict=False))
    total = exact_total(nest)
    assert total is not None
    for n in (1, 2, 3, 6, 7, 12):
        assert total.evaluate({"n": n}) == truth(n), n


@pytest.mark.parametrize("kind", ["floordiv", "mod"])
@pytest.mark.parametrize("divisor", [2, 3])
@pytest.mark.parametrize(
    ("numerator", "step", "known"),
    [
        (OUTER, 1, True),
        (OUTER - 1, 1, False),  # -1 / 2 is 0 in C
        (N - OUTER, 1, True),  # nothing is left at the last i
        (N - OUTER - 1, 1, False),  # and -1 here
        (2 * N - 2 * OUTER, 1, True),
        (N + OUTER, -1, True),  # i from 0 down to -n
        (N + OUTER - 1, -1, False),
        (M + OUTER, 1, True),  # sizes are not negative
        (M + OUTER - 1, 1, False),
        (OUTER * OUTER, 1, False),  # not followed beyond lines
    ],
)
def test_divisions_of_c_are_summed_where_nothing_is_rounded_up(
    kind: str, divisor: int, numerator: Expr, step: int, known: bool
) -> None:
    """C rounds towards zero, the closed form down: they agree where nothing is negative.

    A loop of n + 1 iterations, which runs for every size.
    """
    inner = Expr.atom(kind, numerator, Expr.const(divisor), label=TRUNCATES)
    loops = [Steps("i", ZERO, N + 1, Expr.const(step)), *below(("j", inner))]
    total = readable_total(loops)
    assert (total is not None) == known
    if total is None:
        return
    for n in (2, 5, 6, 9):
        for m in (0, 1, 4, 7):
            assert all((one.evaluate({"n": n, "m": m}) or 0) >= 0 for one in total.holds)
            counts = [
                inner.evaluate({"n": n, "m": m, "i": step * turn}) or 0 for turn in range(n + 1)
            ]
            assert total.expr.evaluate({"n": n, "m": m}) == sum(counts)


@pytest.mark.parametrize(
    ("first", "step", "bound", "told"),
    [
        # i = 2, 4, ... of n values: j runs i - w times where the first still does, w <= 2
        (2, 2, OUTER - Expr.name("w"), {"-w + 2"}),
        # falling from m: the last value is m - 2 (n - 1)
        (M, -2, OUTER, {"m - 2*n + 2"}),
        (M, -2, M - OUTER + 1, set()),
    ],
)
def test_inner_loops_run_at_both_ends(
    first: Expr | int, step: int, bound: Expr, told: set[str]
) -> None:
    """The count grows or falls along the loop around: where it is least, it is not negative."""
    begin = first if isinstance(first, Expr) else Expr.const(first)
    found = readable_total(
        [Steps("i", begin, N, Expr.const(step)), *below(("j", bound), ("k", INNER + 1))]
    )
    assert found is not None
    assert {str(one) for one in found.holds} == told


@pytest.mark.parametrize(
    ("outer", "bound", "told"),
    [
        # m - i - j is least where both are n - 1
        (Steps("i", ZERO, N, ONE), M - OUTER - INNER, "m - 2*n + 2"),
        # and i - j where i has fallen to m - 3 (n - 1)
        (Steps("i", M, N, Expr.const(-3)), OUTER - INNER, "m - 4*n + 4"),
    ],
)
def test_the_innermost_of_three_loops_runs_wherever_those_around_it_are(
    outer: Steps, bound: Expr, told: str
) -> None:
    """At their last values, where it runs least; the other ends follow from that."""
    found = readable_total([outer, *below(("j", N), ("k", bound), ("l", Expr.name("k") + 1))])
    assert found is not None
    assert {str(one) for one in found.holds} == {told}


# -- conditions ---------------------------------------------------------------------------------


def conditions(*trips: tuple[str, Expr]) -> set[str]:
    found = readable_total(below(*trips))
    assert found is not None
    return {str(one) for one in found.holds}


@pytest.mark.parametrize(
    ("bound", "plain", "cut"),
    [
        (M - 3, "m - 3", "-m + n + 2"),
        (over(M, 2) - 3, "m - 6", "-(m / 2) + n + 2"),  # floor(m/2) >= 3 from m = 6 on
        (over(M, 2), "m", "-(m / 2) + n - 1"),
        (2 * over(M, 2) - 3, "m - 4", "-2*(m / 2) + n + 2"),  # from floor(m/2) = 2 on
        (2 * M - 3, "m - 2", "-2*m + n + 2"),
        (over(M, 2) * over(M, 3) - 3, "(m / 2)*(m / 3) - 3", "-(m / 2)*(m / 3) + n + 2"),
        # what a program must not divide by is left as it stands
        (over(M, 0) - 3, "(m / 0) - 3", "-(m / 0) + n + 2"),
        (over(M, -2) - 3, "(m / -2) - 3", "-(m / -2) + n + 2"),
    ],
)  # fmt: skip
def test_conditions_are_told_plainly(bound: Expr, plain: str, cut: str) -> None:
    """j runs min(i, bound) times: the bound is not negative, and reached before i is n."""
    assert conditions(("i", N), ("j", least(OUTER, bound))) == {plain, cut}


def test_what_follows_from_loops_that_run_is_not_told() -> None:
    """a - 1, b - 1 and c - 1 are not negative where the loops run, so a + b + c - 3 is not."""
    names = [Expr.name(name) for name in "abcd"]
    outside = list(zip("pqrs", names, strict=True))
    for many, told in ((1, False), (2, False), (3, False), (4, True)):  # `_MOST_GUARDS`
        bound = sum(names[:many], ZERO) - many
        found = conditions(*outside[:many], ("i", N), ("j", least(OUTER, bound)))
        assert (str(bound) in found) == told
        assert str(N - bound - 1) in found
    a, b = names[:2]
    for bound, told in ((2 * a + b - 3, False), (3 * a + b - 4, True)):  # of three, of four
        found = conditions(*outside[:2], ("i", N), ("j", least(OUTER, bound)))
        assert (str(bound) in found) == told
    # a - 2 is more than that
    assert str(names[0] - 2) in conditions(outside[0], ("i", N), ("j", least(OUTER, names[0] - 2)))


def test_divisions_by_more_than_eight_or_by_nothing_are_withheld() -> None:
    """`_MAX_RESIDUES`: a case for every remainder of i; 4 of 8 where i goes up by twos."""
    for divisor, known in ((1, True), (8, True), (9, False), (0, False), (-2, False)):
        for total in (exact_total, readable_total):
            found = total(below(("i", N), ("j", over(OUTER, divisor))))
            assert (found is not None) == known, divisor
    assert exact_total(below(("i", N), ("j", over(OUTER, -9)))) is None
    twos = exact_total(below(("i", N), ("j", over(2 * OUTER + 1, 16))))
    assert twos is not None
    for n in (0, 5, 8, 40):
        assert twos.evaluate({"n": n}) == sum((2 * i + 1) // 16 for i in range(n))


# -- through the front ends -----------------------------------------------------------------------

HEAD = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void f(int n, int w, double a[n][n], double m[n][2 * w + 1], double *x) {
#pragma omp parallel for
"""


def facts_of(tmp_path: Path, frontend: str, loops: str) -> RegionFacts:
    path = tmp_path / "case.c"
    path.write_text(HEAD + loops + "\n}\n")
    (facts,) = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    return facts


both = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])


@both
@pytest.mark.parametrize(
    ("loops", "shown"),
    [
        ("for (int i = 0; i < n; i++) for (int j = MAX(0, i - w); j < MIN(n, i + w + 1); j++)"
         " a[i][j] = 0;", "2*n*w - w*w + n - w (where w >= 0 and n >= w + 1)"),
        ("for (int i = 0; i < n; i++) for (int j = MAX(0, i - w); j <= MIN(n - 1, i + w); j++)"
         " a[i][j] = 0;", "2*n*w - w*w + n - w (where w >= 0 and n >= w + 1)"),
        ("for (int i = 0; i < n; i++) for (int j = MAX(i - 2, 0); j <= MIN(i + 2, n - 1); j++)"
         " a[i][j] = 0;", "5*n - 6 (where n >= 3)"),
        ("for (int i = 0; i < n; i++) for (int j = i; j < w; j++) a[i][j] = 0;",
         "(2*n*w - n*n + n)/2 (where w + 1 >= n)"),
        ("for (int d = 0; d < 2 * n - 1; d++)"
         " for (int i = MAX(0, d - n + 1); i < MIN(n, d + 1); i++) a[i][d - i] = 0;", "n*n"),
        ("for (int i = 0; i < n; i += w) a[i][0] = 0;", "((n + w - 1) / w)"),
        ("for (int i = n; i >= 1; i -= w) a[i - 1][0] = 0;", "((n + w - 1) / w)"),
        # Tiles of any size, in one dimension or two, give the untiled loop.
        ("for (int t = 0; t < n; t += w) for (int i = t; i < MIN(t + w, n); i++) x[i] = 0;", "n"),
        ("for (int t = 1; t <= n; t += 8) for (int i = t; i <= MIN(n, t + 7); i++) x[i] = 0;",
         "n"),
        ("for (int s = 0; s < n; s += w) for (int t = 0; t < n; t += 8)"
         " for (int i = s; i < MIN(n, s + w); i++) for (int j = t; j < MIN(n, t + 8); j++)"
         " a[i][j] = 0;", "n*n"),
        # Tiles that are taken to be whole run beyond n.
        ("for (int t = 0; t < n; t += 8) for (int i = t; i < t + 8; i++) x[i] = 0;",
         "8*((n + 7) / 8)"),
    ],
)  # fmt: skip
def test_known_forms(tmp_path: Path, frontend: str, loops: str, shown: str) -> None:
    facts = facts_of(tmp_path, frontend, loops)
    assert str(facts.statements[-1].executions) == shown


@both
def test_values_hold_where_the_shown_form_does_not(tmp_path: Path, frontend: str) -> None:
    loops = (
        "for (int i = 0; i < n; i++) for (int j = MAX(0, i - w); j < MIN(n, i + w + 1); j++)"
        " a[i][j] = 0;"
    )
    runs = executions_in_loops(facts_of(tmp_path, frontend, loops).statements[-1].loops)
    for n in range(8):
        for w in range(-3, 12):
            truth = sum(max(0, min(n, i + w + 1) - max(0, i - w)) for i in range(n))
            assert runs.value(Bindings({"n": n, "w": w})) == truth


@both
@pytest.mark.parametrize(
    ("loops", "counts"),
    [
        ("if (x[j] > 0) break; x[j]++;", ["at most n*w"] * 3),
        ("if (x[j] > 0) return; x[j]++;", ["at most n*w"] * 3),
        ("if (x[j] > 0) goto out; x[j]++; out: ;", ["n*w"] * 3),
        ("if (x[j] > 0) continue; x[j]++;", ["n*w"] * 2),
        ("switch (j) { case 1: x[j] = 1; break; }", ["n*w"] * 2),
        ("for (int k = 0; k < 3; k++) if (x[k] > 0) break; x[j]++;", ["at most 3*n*w", "n*w"]),
    ],
)  # fmt: skip
def test_early_exits_are_upper_bounds(
    tmp_path: Path, frontend: str, loops: str, counts: list[str]
) -> None:
    text = f"for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) {{ {loops} }}"
    facts = facts_of(tmp_path, frontend, text)
    found = [str(fact.executions) for fact in facts.statements]
    assert found[0] == counts[0]
    assert found[-1] == counts[-1]
    early = any(count.startswith("at most") for count in counts)
    assert any(note.id == "RP114" for note in facts.diagnostics) == early
    assert any("may be left early" in line for line in facts.bindings.assumed) == early
    assert str(facts.iterations) == "n"


@both
def test_a_second_condition_is_an_exit(tmp_path: Path, frontend: str) -> None:
    text = (
        "for (int i = 0; i < n; i++) { int found = 0;"
        " for (int j = 0; j < w && !found; j++) found = x[j] > 0; }"
    )
    facts = facts_of(tmp_path, frontend, text)
    assert str(facts.statements[-1].executions) == "at most n*w"


@both
@pytest.mark.parametrize(
    ("body", "dimensions"),
    [
        ("a[i][j] = 0;", lambda i, j, w: (i, j)),
        ("a[j][i] = 0;", lambda i, j, w: (j, i)),
        ("m[i][j - i + w] = 0;", lambda i, j, w: (i, j - i + w)),
        ("x[i * n + j] = 0;", None),
    ],
)
def test_box_of_a_band(tmp_path: Path, frontend: str, body: str, dimensions: object) -> None:
    loops = (
        "for (int i = 0; i < n; i++) for (int j = MAX(0, i - w); j < MIN(n, i + w + 1); j++) "
        + body
    )
    size = facts_of(tmp_path, frontend, loops).working_set.expr
    assert size is not None
    for n in (5, 9):
        for w in (1, 2, 3):
            points = [(i, j) for i in range(n) for j in range(max(0, i - w), min(n, i + w + 1))]
            if callable(dimensions):
                places = [dimensions(i, j, w) for i, j in points]
            else:
                places = [(i * n + j,) for i, j in points]
            box = 8
            for column in zip(*places, strict=True):
                box *= max(column) - min(column) + 1
            assert size.evaluate({"n": n, "w": w}) == box, (n, w, str(size))


@both
def test_box_of_tiles(tmp_path: Path, frontend: str) -> None:
    loops = (
        "for (int s = 0; s < n; s += w) for (int t = 0; t < n; t += 8)"
        " for (int i = s; i < MIN(n, s + w); i++) for (int j = t; j < MIN(n, t + 8); j++)"
        " a[i][j] = 0;"
    )
    assert str(facts_of(tmp_path, frontend, loops).working_set.expr) == "8*n*n"
