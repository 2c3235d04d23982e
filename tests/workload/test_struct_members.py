"""Members of structs in arrays: offsets into one memory, by hand, read by both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from nest_texts import MEBIBYTE, counter_of, facts_of_text

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.frontend.read import FRONTENDS
from regionpredict.pipeline import analyse
from regionpredict.workload import CacheLevel, Gather, gathers_of, workload_of
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.nest_lowering import loop_nest

STRUCTS = """
struct pair { char c; double m; };
typedef struct {
  float a;                    // 0
  double v[3];                // 8
  int k;                      // 32
  struct { char d; double e; }; // 40, 48
  struct pair z[2];           // 56: m at 64 and 80
  union { int u; double w; } q; // 88
  short low : 3, high : 9;    // 96
} cell;                       // 104
cell cells[3000];
double s[3000];
int row[3000];
"""
PLAIN = """
struct point { double v[3]; int k; double m; };
struct wide { double x, y, far[20], z; };
struct point p[3000];
struct wide w[8192], c[8192];
double s[3000];
int row[3000];
"""


def nest_of(facts: RegionFacts) -> LoopNest:
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    return nest


def loop(declarations: str, statement: str) -> str:
    head = "#pragma omp parallel for\nfor (int i = 0; i < 3000; i++)"
    return f"{declarations}void f(void) {{\n{head} {statement}\n}}\n"


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("member", "offset"),
    [
        ("a", 0), ("v[0]", 8), ("v[2]", 24), ("k", 32), ("d", 40), ("e", 48), ("z[0].m", 64),
        ("z[1].m", 80), ("q.u", 88), ("q.w", 88), ("high", 96),
    ],
)  # fmt: skip
def test_where_a_member_lies(tmp_path: Path, frontend: str, member: str, offset: int) -> None:
    path = tmp_path / "case.c"
    path.write_text(loop(STRUCTS, f"s[i] = cells[i + 1].{member};"))
    (facts,) = analyse(requests_for((str(path),)), {}, frontend=frontend).facts
    (group,) = (group for group in nest_of(facts).groups() if group.array == "cells")
    assert group.slopes == {"i": 104.0}
    assert group.offsets == (104.0 + offset,)


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("s[i] = p[i].m + p[i].v[1] + p[i].k;", 0),
        ("for (int j = 0; j < 3; j++) s[i] += p[i].v[j];", 0),
        ("p[i].v[0] = p[i].m;", 1),
        ("{ struct point *q = &p[i]; q->k = q->v[2]; }", 1),
    ],
)
def test_members_of_an_element_come_together(statement: str, written: int, *, traced: bool) -> None:
    """3000 structs of 40 B are 1875 lines, whichever members are asked for."""
    (facts,) = facts_of_text(loop(PLAIN, statement))
    (level,) = counter_of(nest_of(facts), traced=traced).traffic([CacheLevel(4096.0, 1)], 1)
    (moved,) = (array for array in level.arrays if array.array == "p")
    assert moved.read == pytest.approx(120_000, rel=0.002)
    assert moved.written == pytest.approx(written * 120_000, rel=0.002)


@pytest.mark.parametrize("traced", [True, False])
def test_whole_lines_between_elements_tell_which_members_share_one(*, traced: bool) -> None:
    """Structs of 128 B that begin with a line: 0, 8, 56 lie in the first, 64 in the second."""
    declarations = "struct two { double x[16]; };\nstruct two t[3000];\ndouble s[3000];\n"
    for members, lines in (("t[i].x[0] + t[i].x[1] + t[i].x[7]", 1), ("t[i].x[7] + t[i].x[8]", 2)):
        (facts,) = facts_of_text(loop(declarations, f"s[i] = {members};"))
        (level,) = counter_of(nest_of(facts), traced=traced).traffic([CacheLevel(4096.0, 1)], 1)
        (moved,) = (array for array in level.arrays if array.array.startswith("t"))
        assert moved.read == pytest.approx(lines * 3000 * 64)


def gathered(statement: str) -> tuple[tuple[Gather, ...], float]:
    (facts,) = facts_of_text(loop(PLAIN, statement))
    nest = nest_of(facts)
    (level,) = counter_of(nest).traffic([CacheLevel(4096.0, 1)], 1)
    return gathers_of(nest, 4096), sum(a.read for a in level.arrays if a.array == "w")


def test_an_element_that_data_choose_comes_once_for_its_members() -> None:
    one, lines = gathered("s[i] = w[row[i]].x;")
    both, together = gathered("s[i] = w[row[i]].x + w[row[i]].y;")
    # 8 B further on: in one element of eight another line than the first one's.
    assert together == pytest.approx(lines * (1 + 8 / 64), rel=0.01)
    assert both[0].accesses == pytest.approx(one[0].accesses * (1 + 8 / 4096))
    _, far = gathered("s[i] = w[row[i]].x + w[row[i]].z;")
    assert far == pytest.approx(2 * lines, rel=0.01)


@pytest.mark.parametrize(
    "statement",
    [
        "c[i] = w[row[i]];",
        "{ c[i] = w[row[i]]; s[i] = w[row[i]].far[3]; }",
        "{ s[i] = w[row[i]].x; struct wide own = w[row[i]]; s[i] += own.z; }",
    ],
)
def test_a_whole_struct_that_data_choose_comes_once_with_its_members(statement: str) -> None:
    """184 B that begin at any multiple of eight: a line, and one more for each 64 of the 176 B
    between its first and its last number."""
    _, line = gathered("s[i] = w[row[i]].x;")
    _, whole = gathered(statement)
    assert whole == pytest.approx((1 + 176 / 64) * line, rel=0.01)


def test_neighbours_that_data_choose_together() -> None:
    """`x[3 * row[i]]` to `x[3 * row[i] + 2]` lie within 24 B."""
    declarations = "double x[90000], s[3000];\nint row[3000];\n"
    text = loop(declarations, "s[i] = x[3 * row[i]] + x[3 * row[i] + 1] + x[3 * row[i] + 2];")
    (facts,) = facts_of_text(text)
    (group,) = (group for group in nest_of(facts).groups() if group.array == "x")
    assert group.irregular
    assert group.offsets == (0.0, 8.0, 16.0)


def test_threads_share_the_memory_not_the_members() -> None:
    """Written and read members are one array to the lines that threads take from each other."""
    (facts,) = facts_of_text(loop(PLAIN, "p[i].v[0] = p[i].m;"))
    execution = workload_of(facts, MEBIBYTE, 64).execution
    assert execution is not None
    (sharing,) = execution.sharing
    assert (sharing.name, sharing.written, sharing.stride) == ("p", True, 40.0)


def test_another_member_of_the_element_is_no_recurrence() -> None:
    """Where an element stands still in a loop, a sum over it is one only of the member itself."""
    declarations = "struct point { double k, m; };\nstruct point p[3000];\ndouble a[50];\n"
    text = "for (int j = 0; j < 50; j++) p[i].{} += a[j] * p[i].k;"
    kept, own = (
        facts_of_text(loop(declarations, statement))[0]
        for statement in (
            "for (int j = 0; j < 50; j++) p[i].m = a[j] * p[i].k;", text.format("m"),
        )
    )  # fmt: skip
    for facts, recurrences in ((kept, 0), (own, 1)):
        execution = workload_of(facts, MEBIBYTE, 64).execution
        assert execution is not None
        assert len(execution.work.bodies[-1].recurrences) == recurrences
