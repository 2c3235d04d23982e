"""Loops in preprocessed text: where statements end, what trip counts are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.measure.ctext import NotUnderstoodError, read_header, statement_end
from regionpredict.measure.regions import measured_constructs
from regionpredict.measure.trips import UNKNOWN, canonical, trip_count


@pytest.mark.parametrize(
    "statement",
    [
        "x = 1;",
        "{ a; { b; } }",
        'puts(";}");',
        "c = '}';",
        "for (i = 0; i < n; i++) a[i] = (struct s){1, 2}.x;",
        "if (a) { b; } else if (c) d; else { e; }",
        "do { a; } while (b);",
        "while (a) if (b) c; else d;",
        "switch (a) { case 1: b; break; default: c; }",
        "label: x++;",
        "try { a; } catch (int) { b; } catch (...) { c; }",
        'auto s = R"x(;)" } )x";',
        "n = 1'000'000;",
        "v = [](int a) { return a; }(3);",
        "// a comment; with a semicolon\n x;",
        '# 12 "file;.c"\n x;',
    ],
)
def test_a_statement_ends_where_c_says(statement: str) -> None:
    text = statement + " next; }"
    assert text[: statement_end(text, 0)] == statement


def test_an_open_bracket_is_said() -> None:
    with pytest.raises(NotUnderstoodError):
        statement_end("{ a; (", 0)


COUNTED = {
    "int i = 0; i < n; i++": range(0, 10),
    "i = 0; i < n; i += 3": range(0, 10, 3),
    "i = n - 1; i >= 0; i--": range(9, -1, -1),
    "i = n; i > 0; i -= 4": range(10, 0, -4),
    "i = 2; n >= i; i = i + 2": range(2, 11, 2),
    "i = 2; n != i; ++i": range(2, 10),
    "long i (5); i <= n; i = 2 + i": range(5, 11, 2),
    "i = n; i > 0; i += -2": range(10, 0, -2),
    "i = 20; i < n; i++": range(20, 10),
}


@pytest.mark.parametrize("header", COUNTED)
def test_trip_count(header: str) -> None:
    expression, _ = trip_count(f"for ({header}) ;", 0, 1)
    assert _value(expression, {"n": 10}) == len(COUNTED[header])


@given(
    st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9), st.sampled_from(["<", "<="]),
)  # fmt: skip
def test_trip_count_is_that_of_the_loop(start: int, bound: int, step: int, sign: str) -> None:
    up, _ = trip_count(f"for (i = a; i {sign} b; i += {step}) ;", 0, 1)
    mirrored = {"<": ">", "<=": ">="}[sign]
    down, _ = trip_count(f"for (i = b; i {mirrored} a; i -= {step}) ;", 0, 1)
    turns = len(range(start, bound + (sign == "<="), step))
    assert _value(up, {"a": start, "b": bound}) == turns
    assert _value(down, {"a": start, "b": bound}) == turns


@pytest.mark.parametrize(
    "header",
    [
        "i = 0; i < n && a[i]; i++",
        "i = 0; a[i]; i++",
        "i = 0; i < n; i *= 2",
        "i = 0; i < f(&k, k++); i++",
        "i = 0, j = 1; i < n; i++, j++",
        "; i < n; i++",
    ],
)
def test_what_is_no_canonical_loop_has_no_count(header: str) -> None:
    assert trip_count(f"for ({header}) ;", 0, 1)[0] == UNKNOWN


def test_collapsed_loops_multiply() -> None:
    text = "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) x; }"
    assert _value(trip_count(text, 0, 2)[0], {"n": 4, "m": 6}) == 24


def test_a_cast_in_a_bound_is_part_of_it() -> None:
    header = read_header("for (int i = 0; i < static_cast<int>(v.size()); ++i) ;", 0)
    assert canonical(header).bound.replace(" ", "") == "static_cast<int>(v.size())"


PREPROCESSED = """# 1 "src/f.c"
# 1 "/usr/include/x.h" 1 3 4
static void g(void) {
#pragma omp parallel for
for (i = 0; i < n; i++) ;
}
# 7 "src/f.c" 2
void f(void) {
#pragma omp target map(to: a)
{
#pragma omp teams distribute parallel for
  for (i = 0; i < n; i++) ;
}
#pragma omp parallel
  {
#pragma omp for nowait
# 40 "src/f.c"
    for (i = 0; i < n; i++)
      x;
#pragma omp simd
    for (i = 0; i < n; i++) ;
  }
#pragma omp parallel for
  OTHER
"""


def test_loops_of_a_text() -> None:
    constructs = measured_constructs(PREPROCESSED, "/home/me")
    loops = [construct for construct in constructs if not construct.is_team]
    assert [(loop.file, loop.line, loop.loop_line, loop.kind) for loop in loops] == [
        ("/home/me/src/f.c", 15, 40, "for")
    ]
    assert loops[0].has("nowait")
    assert not loops[0].combined


def _value(expression: str, names: dict[str, int]) -> int:
    """The value of a count as Python reads it: `a ? b : c` and division rewritten."""
    text = expression.replace("(long long)", "").replace("0LL", "0")
    assert text.count("?") <= 1 or "*" in text
    return sum(_product(text, names))


def _product(text: str, names: dict[str, int]) -> list[int]:
    total = 1
    for read in _factors(text):
        factor = read
        if "?" in factor:
            condition, rest = factor.split("?")
            then, _, other = rest.rpartition(":")
            factor = f"({then}) if ({condition}) else ({other})"
        total *= eval(factor.replace("/", "//"), {}, dict(names))
    return [total]


def _factors(text: str) -> list[str]:
    inner = text[1:-1]
    if ")*(" in inner:
        left, right = inner.split(")*(")
        return [left[1:], right[:-1]]
    return [inner]


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("auto x : v", "regionpredict_range(v,0)"),
        ("auto &x : (*p)->items", "regionpredict_range(( * p ) -> items,0)"),
        ("auto x : all()", UNKNOWN),
        ("auto x : {1, 2}", UNKNOWN),
        ("auto x : n++", UNKNOWN),
    ],
)
def test_a_range_is_asked_where_that_calls_nothing(header: str, trips: str) -> None:
    assert trip_count(f"for ({header}) ;", 0, 1) == (trips, 0)
