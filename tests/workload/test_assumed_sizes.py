"""Sizes that nobody gave: ten caches of data, lower bounds at 0, as many iterations where data
does not grow."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from nest_texts import facts_of, nest_of

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse
from regionpredict.workload.assumed_sizes import CommonSizes, SizeTarget, bound_sizes
from regionpredict.workload.cache_traffic import touched_bytes
from regionpredict.workload.nest_lowering import loop_nest

_TEXT = """
void f(long first, long last, long n, double *restrict a, double b[64])
{
#pragma omp parallel for
  for (long i = %s; i <= %s; i++)
    %s;
}
"""


def _guess(folder: Path, start: str, end: str, body: str, **given: int) -> dict[str, int]:
    path = folder / "case.c"
    path.write_text(_TEXT % (start, end, body))
    facts = analyse(requests_for((str(path),), [], [], ""), given).facts[0]
    values, notes, _ = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64)
    for name, value in values.items():
        assert given.get(name) == value or any(name in note for note in notes)
    return {name: int(value) for name, value in values.items()}


def _target() -> int:
    return 10 * load("skylake-gold-6148").largest_cache_bytes


@pytest.mark.parametrize(("start", "end"), [("first", "last"), ("1", "last - first + 1")])
def test_a_lower_bound_is_no_size(tmp_path: Path, start: str, end: str) -> None:
    """`last - first + 1` elements of eight bytes fill ten caches with `first` at 0."""
    values = _guess(tmp_path, start, end, "a[i] = 0.0")
    assert values["first"] == 0
    assert (values["last"] + 1) * 8 == pytest.approx(_target(), abs=8)


def test_a_lower_bound_stands_where_the_loop_runs(tmp_path: Path) -> None:
    """100 - (first - 30)^2 iterations: none at 0, and of the powers of two most at 32, where there
    are 96."""
    values = _guess(tmp_path, "(first - 30) * (first - 30)", "99", "a[i] = 0.0")
    assert values["first"] == 32
    # None at all, whatever it is: nothing is better than 0.
    assert _guess(tmp_path, "first", "-9", "a[i + 99] = 0.0")["first"] == 0


def test_a_name_of_both_kinds_is_a_size(tmp_path: Path) -> None:
    """`first` bounds one loop from below and extends another: it is a size like the rest."""
    body = "for (long j = 0; j < first; j++) a[i] += j"
    values = _guess(tmp_path, "first", "2 * last", body)
    assert values["first"] == values["last"] > 1


def test_the_size_of_a_team_is_no_size_of_data(tmp_path: Path) -> None:
    """What the run-time system gives is what the target says, and n alone fills ten caches."""
    path = tmp_path / "case.c"
    path.write_text(
        "int omp_get_num_threads(void);\n"
        "void add(long n, double *restrict a, double (*restrict parts)[n])\n{\n"
        "#pragma omp parallel for\n"
        "  for (long i = 0; i < n; i++)\n"
        "    for (int t = 0; t < omp_get_num_threads(); t++) a[i] += parts[t][i];\n}\n"
    )
    facts = analyse(requests_for((str(path),), [], [], ""), {}).facts[0]
    values, notes, size = bound_sizes(facts, SizeTarget(9 * 8 * 1000, "as asked", team=8), 64)
    assert values["omp_get_num_threads()"] == 8
    assert "omp_get_num_threads() = 8 (no value given: all cores)" in notes
    assert size is not None
    assert size.names == ("n",)
    assert size.value == pytest.approx(1000, abs=1)  # eight rows of parts and one of a
    # Where no machine is known, the team is as large as whatever else is open.
    _, _, size = bound_sizes(facts, SizeTarget(9 * 8 * 1000, "as asked"), 64)
    assert size is not None
    assert size.names == ("n", "omp_get_num_threads()")


def test_given_values_stay(tmp_path: Path) -> None:
    """`--set first=5` is not touched, and the rest is found beside it."""
    values = _guess(tmp_path, "first", "last", "a[i] = 0.0", first=5)
    assert values["first"] == 5
    assert (values["last"] - 4) * 8 == pytest.approx(_target(), abs=8)


def test_data_that_does_not_grow(tmp_path: Path) -> None:
    """Sixty-four elements whatever n: as many iterations as ten caches of data have elements."""
    values = _guess(tmp_path, "1", "n", "b[i % 64] += 1.0")
    assert values["n"] == pytest.approx(_target() / 8, rel=1e-6)


def _bound(loops: str, parameters: str, target: float, **given: int) -> tuple[dict[str, int], str]:
    """Values and notes for a target in bytes."""
    facts = facts_of(loops, parameters, **given)
    values, notes, _ = bound_sizes(facts, SizeTarget(target, "so much"), 64)
    return {name: int(value) for name, value in values.items()}, "\n".join(notes)


DECLARED = "int n, int m, int step, double *a, int *row"


def test_nothing_is_missing() -> None:
    facts = facts_of("for (int i = 0; i < n; i++) a[i] = 0;", DECLARED, n=7)
    assert bound_sizes(facts, SizeTarget(1e6, "so much"), 64) == (facts.bindings.values, (), None)


@pytest.mark.parametrize("elements", [1, 2, 3, 1000, 1 << 20])
def test_the_smallest_size_that_reaches_the_target(elements: int) -> None:
    """n doubles reach 8 n bytes, and n - 1 do not."""
    loops = "for (int i = 0; i < n; i++) a[i] = 0;"
    for target in (8 * elements, 8 * elements - 7):
        values, note = _bound(loops, DECLARED, target)
        assert values["n"] == elements
        assert note == f"n = {elements} (no value given: so much)"


def test_several_names_share_a_size() -> None:
    """n * m doubles, both 100: 80000 bytes; one byte more takes 101 of each."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = 0;"
    declared = "int n, int m, double b[n][m]"
    values, note = _bound(loops, declared, 80_000)
    assert (values["n"], values["m"]) == (100, 100)
    assert note == "m, n = 100 (no value given: so much)"
    assert _bound(loops, declared, 80_001)[0]["n"] == 101
    assert _bound(loops, declared, 80_001, m=50)[0]["n"] == 201  # 80400 bytes


def test_steps_are_tiles_or_one() -> None:
    """A name that is a step and a bound is the size of a tile; a step alone is 1."""
    tiled = """for (int ii = 0; ii < n; ii += step)
      for (int i = ii; i < ii + step; i++) a[i] = 0;"""
    values, note = _bound(tiled, DECLARED, 80_000)
    assert values["step"] == 32 and "step = 32 (no value given: a step)" in note
    plain, note = _bound("for (int i = 0; i < n; i += step) a[i] = 0;", DECLARED, 80_000)
    assert plain["step"] == 1 and "step = 1 (no value given: a step)" in note
    assert plain["n"] == 10_000
    alone, note = _bound("for (int i = 0; i < 50; i += step) a[i] = 0;", DECLARED, 80_000)
    assert alone["step"] == 1 and note == "step = 1 (no value given: a step)"


def test_a_lower_bound_alone() -> None:
    """Nothing else is missing: one note, and the given end stays."""
    values, note = _bound("for (int i = m; i < 50; i++) a[i] = 0;", DECLARED, 80_000)
    assert (values["m"], note) == (0, "m = 0 (no value given: a lower bound)")


@pytest.mark.parametrize("head", ["i = m + 60; i < 50", "i = m; i < 1", "i = m; i < 2"])
def test_a_lower_bound_is_zero_where_the_loop_runs_or_never_does(head: str) -> None:
    """From 60 on nothing runs up to 50; of one or two iterations none is left out."""
    values, _ = _bound(f"for (int {head}; i++) a[i] = 0;", DECLARED, 80_000)
    assert values["m"] == 0


@pytest.mark.parametrize(
    ("head", "size", "lower"),
    [
        ("i = m / 4; i < n", "n", "m"),  # a step of the division, not of m, shortens the loop
        ("i = m; i < n", "n", "m"),
        ("i = 0; i < n - m", "n", "m"),
        ("i = 0; i < n / 4", "n", ""),
        ("i = 0; i < (n < m ? n : m)", "m, n", ""),  # which of them ends it depends on the other
    ],
)  # fmt: skip
def test_what_shortens_a_loop_is_a_lower_bound(head: str, size: str, lower: str) -> None:
    _, note = _bound(f"for (int {head}; i++) a[i] = 0;", DECLARED, 80_000)
    told = [line.partition(" = ")[0] for line in note.splitlines()]
    assert told == [name for name in (lower, size) if name]


@pytest.mark.parametrize("end", ["n / m", "m * (n / m)"])
def test_a_divisor_is_one(end: str) -> None:
    """At 0 the loop has no length: 10,000 elements are those of n = 10,000 in one part."""
    values, note = _bound(f"for (int i = 0; i < {end}; i++) a[i] = 0;", DECLARED, 80_000)
    assert (values["m"], values["n"]) == (1, 10_000)
    assert "m = 1 (no value given: a divisor)" in note.splitlines()
    values, _ = _bound(f"for (int i = 0; i < {end}; i++) a[i] = 0;", DECLARED, 80_000, n=300)
    assert values["m"] == 1


def test_a_loop_that_a_name_no_longer_changes_says_nothing_of_it() -> None:
    """From nine on m does not make the inner loop longer, and the outer one shorter all the way."""
    loops = "for (int i = m; i < n; i++) for (int j = 0; j < (m < 9 ? m : 9); j++) a[i] = j;"
    _, note = _bound(loops, DECLARED, 80_000)
    assert "m = 0 (no value given: a lower bound)" in note.splitlines()


def test_names_of_a_bound_that_is_no_number_are_sizes() -> None:
    """The bound of k is data: nothing says that m shortens anything."""
    loops = "for (int i = 0; i < n; i++) for (int k = row[i]; k < row[i + 1]; k++) a[k] = m;"
    values, _ = _bound(loops, DECLARED, 80_000)
    assert values["n"] > 1


def test_a_target_that_is_never_reached() -> None:
    """One element whatever the size: as many executions as the target has doubles."""
    values, note = _bound("for (int i = 0; i < n; i++) a[0] += 1;", DECLARED, 80_000)
    assert values["n"] == 10_000
    assert note == "n = 10000 (no value given: its data is the same for all)"
    deep = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[0] += 1;"
    assert _bound(deep, DECLARED, 80_000)[0]["n"] == 100


def test_where_neither_data_nor_work_grow() -> None:
    """n is only an extent: 2000, whatever is asked for."""
    loops = "for (int i = 0; i < 9; i++) b[0][i] = b[1][3];"
    values, note = _bound(loops, "int n, double b[9][n]", 80_000)
    assert values["n"] == 2000 and "its data is the same for all" in note


def test_a_size_without_a_closed_form_is_counted() -> None:
    """A diagonal over half: lines touched, 64 bytes each from a stride of eight elements on."""
    loops = "for (int i = 0; i < n; i++) a[row[i]] = row[i];"
    values, _ = _bound(loops, DECLARED, 40_000.0)
    nest = nest_of(loops, DECLARED, n=values["n"])
    below = nest_of(loops, DECLARED, n=values["n"] - 1)
    assert touched_bytes(below, 64) < 40_000 <= touched_bytes(nest, 64)


def test_loops_around_the_region_stand_in_the_middle_of_guessed_bounds(tmp_path: Path) -> None:
    """The k of an elimination is half of the guessed n, and nothing else is guessed."""
    path = tmp_path / "case.c"
    path.write_text(
        "void f(int n, double *a) {\n  for (int k = 0; k < n; k++) {\n"
        "#pragma omp parallel for\n    for (int i = k + 1; i < n; i++) a[i] -= a[k];\n  }\n}\n"
    )
    facts = analyse(requests_for((str(path),), [], [], ""), {}).facts[0]
    made = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64)
    assert made.open is not None and made.open.names == ("n",)
    assert made.values["k"] == made.values["n"] // 2
    told = f"k = {made.values['k']} (the middle of the loop around the region)"
    assert [note for note in made.guessed if not note.startswith("n = ")] == [told]
    nest = loop_nest(facts.region, made.values)
    assert nest is not None and nest.unbound == ()


_GRID = """
typedef struct { long nx, ny; double *v; } grid;
void whole(grid *restrict g) {
#pragma omp parallel for
  for (long i = 0; i < g->ny; i++)
    for (long j = 0; j < g->nx; j++) g->v[i * g->nx + j] = 0.0;
}
void face(grid *restrict g) {
#pragma omp parallel for
  for (long j = 0; j < g->nx; j++) g->v[j] = 1.0;
}
void alone(long n, double *restrict v) {
#pragma omp parallel for
  for (long j = 0; j < n; j++) v[j] = 1.0;
}
"""


def test_a_size_in_common_is_the_same_in_all_loops(tmp_path: Path) -> None:
    """n x n elements fill ten caches; the loop over a face has n, that over another size fills them
    by itself."""
    path = tmp_path / "grid.c"
    path.write_text(_GRID)
    facts = analyse(requests_for((str(path),), [], [], ""), {}).facts
    target = SizeTarget(_target(), "as large as asked")
    edge = math.isqrt(_target() // 8)
    whole, face, alone = (
        bound_sizes(one, target, 64).open for one in CommonSizes(facts, target, 64).regions()
    )
    assert whole is not None and whole.value == pytest.approx(edge, abs=8)
    assert face is not None and face.value == whole.value
    assert alone is not None and alone.value == pytest.approx(_target() // 8, abs=8)


def test_work_that_outgrows_the_data_limits_a_size() -> None:
    """Each of n sums goes through all n numbers: 10^11 additions come before ten caches of data."""
    head = "int n, double *a, double *restrict b"
    facts = facts_of("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i] += a[j];", head)
    size = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64).open
    assert size is not None
    assert size.value == math.ceil(math.sqrt(1e11))
    facts = facts_of("for (int i = 0; i < n; i++) b[i] += a[i];", head)
    size = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64).open
    assert size is not None and 16 * size.value == pytest.approx(_target(), rel=1e-6)


@pytest.mark.parametrize("end", ["(1L << last) - 1", "(n << last) - 1"])
def test_an_exponent_is_the_logarithm_of_a_size(tmp_path: Path, end: str) -> None:
    """The smallest power of two that fills ten caches, and n times the largest power up to n."""
    values = _guess(tmp_path, "0", end, "a[i] = 0.0")
    needed = _target() // 8
    if "n" in values:
        n = values["n"]
        assert values["last"] == int(math.log2(n))
        assert (n - 1) * 2 ** int(math.log2(n - 1)) < needed <= n << values["last"]
    else:
        assert 2 ** (values["last"] - 1) < needed <= 2 ** values["last"]


def test_an_exponent_that_also_divides_is_half_of_the_logarithm(tmp_path: Path) -> None:
    """Half of the qubits are in the outer loop, and half in the inner one. Otherwise, one of the
    two loops would have a single iteration.
    """
    body = "for (long j = 0; j < 1L << last; j++) a[(i << last) + j] = 0.0"
    values = _guess(tmp_path, "0", "(n >> last) - 1", body)
    assert values["last"] == int(math.log2(values["n"])) // 2
    assert values["n"] * 8 == pytest.approx(_target(), rel=0.01)


def test_a_shift_to_the_right_shortens_a_loop(tmp_path: Path) -> None:
    """`n >> last` iterations are most for a shift by 0."""
    values = _guess(tmp_path, "0", "(n >> last) - 1", "a[i] = 0.0")
    assert values["last"] == 0
    assert values["n"] * 8 == pytest.approx(_target(), abs=8)


def test_a_loop_over_an_array_ends_with_it(tmp_path: Path) -> None:
    """`b` has 64 elements; the other data, n numbers, fill ten caches."""
    body = "{ for (long j = 0; j < last; j++) a[i] += b[j]; }"
    text = _TEXT.replace("double b[64]", "const struct s *t").replace("void", _STRUCT + "void")
    path = tmp_path / "case.c"
    path.write_text(text % ("0", "n - 1", body.replace("b[j]", "t->b[j]")))
    facts = analyse(requests_for((str(path),), [], [], ""), {}).facts[0]
    values, notes, size = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64)
    assert values["last"] == 64
    assert values["n"] * 8 == pytest.approx(_target(), abs=64 * 8 + 8)
    assert size is not None
    assert size.names == ("n",)
    assert "last = 64 (no value given: the length of an array)" in notes


_STRUCT = "struct s { double b[64]; };\n"
