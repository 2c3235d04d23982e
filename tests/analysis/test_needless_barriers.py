"""Barriers that nobody needs: none is told of where two threads could meet, by trying all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations, product
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regionpredict.analysis.needless_barriers import needless_barriers
from regionpredict.analysis.teams import program_teams
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

TRIPS = 6


def needless_lines(folder: Path, text: str, frontend: str = "libclang") -> list[int]:
    """The lines of the directives that could be `nowait`, of the file's teams."""
    (folder / "f.c").write_text(text)
    analysis = analyse(requests_for([str(folder / "f.c")]), {}, frontend=frontend, flows=True)
    teams = program_teams(analysis.program, analysis.facts, {}).teams
    return [region.span.line for team in teams for region in needless_barriers(team)]


class Reference(NamedTuple):
    """`array[factor*i + shift]`."""

    array: str
    factor: int
    shift: int

    def __str__(self) -> str:
        return f"{self.array}[{self.factor}*i + {self.shift}]"

    def element(self, iteration: int) -> tuple[str, int]:
        return self.array, self.factor * iteration + self.shift


class LoopText(NamedTuple):
    """A loop that sets one element from another one."""

    written: Reference
    read: Reference
    schedule: str
    begin: int
    nowait: bool

    def __str__(self) -> str:
        directive = f"#pragma omp for {self.schedule}{' nowait' if self.nowait else ''}"
        head = f"for (int i = {self.begin}; i < {self.begin + TRIPS}; i++)"
        return f"{directive}\n    {head} {self.written} = {self.read} + 1.0;\n"

    def owners(self, threads: int) -> list[list[int]]:
        """For each of the iterations the threads that may run it."""
        if not self.schedule:
            return [list(range(threads))] * TRIPS
        chunk = int(self.schedule.split(",")[1].rstrip(")")) if "," in self.schedule else None
        if chunk is None:
            chunk = -(-TRIPS // threads)
        return [[number // chunk % threads] for number in range(TRIPS)]

    def touched(self, threads: int) -> list[tuple[int, tuple[str, int], bool]]:
        """(thread, element, whether it is written)."""
        return [
            (thread, reference.element(self.begin + number), reference is self.written)
            for number, owners in enumerate(self.owners(threads)) for thread in owners
            for reference in (self.written, self.read)
        ]  # fmt: skip


def meet(first: LoopText, then: LoopText) -> bool:
    """Whether two threads may touch one element in the two loops, one of them writing."""
    return any(
        element == other and thread != beside and (writes or also)
        for threads in (2, 3)
        for (thread, element, writes), (beside, other, also) in product(
            first.touched(threads), then.touched(threads)
        )
    )  # fmt: skip


references = st.builds(
    Reference, st.sampled_from("abc"), st.sampled_from((0, 1, 1, 2)), st.integers(0, 2)
)
loops = st.builds(
    LoopText, references, references,
    st.sampled_from(("", "schedule(static)", "schedule(static)", "schedule(static, 2)")),
    st.sampled_from((0, 0, 0, 1)), st.sampled_from((False, False, True)),
)  # fmt: skip


def program(body: Sequence[object]) -> str:
    told = "".join(f"{part}" for part in body)
    head = "double a[40], b[40], c[40];\nvoid f(void) {\n#pragma omp parallel\n  {\n"
    return f"{head}{told}  }}\n}}\n"


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(loops, min_size=2, max_size=4))
def test_loops_that_may_then_run_beside_each_other_never_meet(
    tmp_path_factory: pytest.TempPathFactory, chain: list[LoopText]
) -> None:
    folder = tmp_path_factory.mktemp("chain")
    lines = needless_lines(folder, program(chain))
    places = [5 + 2 * number for number in range(len(chain))]
    assert places[-1] in lines or chain[-1].nowait  # the `parallel` ends behind it
    open_ends = [line in lines or loop.nowait for line, loop in zip(places, chain, strict=True)]
    for first, then in combinations(range(len(chain)), 2):
        told = any(places[number] in lines for number in range(first, then))
        if all(open_ends[first:then]) and told:
            needed_anyway = all(chain[number].nowait for number in range(first, then))
            assert needed_anyway or not meet(chain[first], chain[then])


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (("a[i] = 1;", "b[i] = 1;"), [5, 7]),  # two arrays
        (("a[i] = b[i];", "c[i] = b[i + 1];"), [5, 7]),  # both only read what they share
        (("a[i] = 1;", "b[i] = a[i];"), [7]),  # an implementation may deal them out unlike
        (("a[i] = 1;", "b[i] = a[i + 1];"), [7]),
        (("a[i] = b[i];", "b[i + 1] = 1;"), [7]),  # read before it is overwritten
        (("a[i] = 1;", "{ double s = a[3]; b[i] = s; }"), [7]),
        (("{ double s = c[i]; a[i] = s; }", "{ double s = c[i]; b[i] = s; }"), [5, 7]),
        (("a[i] = 1;", "take(b);"), [7]),
        (("s = c[i];", "b[i] = s;"), [7]),  # a variable of all threads
    ],
)
def test_what_two_loops_share_decides(
    tmp_path: Path, frontend: str, body: tuple[str, str], lines: list[int]
) -> None:
    parts = [f"#pragma omp for\n    for (int i = 0; i < 30; i++) {text}\n" for text in body]
    text = program(parts).replace("void f", "double s; void take(double *x); void f", 1)
    assert needless_lines(tmp_path, text, frontend) == lines


@pytest.mark.parametrize("turns", ["\n#pragma omp critical\n{ b[i] = 1; }", "{ b[i] = 1; }"])
@pytest.mark.parametrize(
    "around", ["%s", "for (int j = 0; j < 9; j++) %s", "if (c[i] > 0) %s", "if (i) ; else %s"]
)
def test_a_loop_that_works_in_turns_is_left_as_it_is(
    tmp_path: Path, around: str, turns: str
) -> None:
    parts = [
        f"#pragma omp for\n    for (int i = 0; i < 30; i++) {{ {text} }}\n"
        for text in ("a[i] = 1;", around % turns)
    ]
    told = [7] if "critical" in turns else [5, 7]
    assert needless_lines(tmp_path, program(parts)) == told


@pytest.mark.parametrize(
    ("schedules", "headers", "told"),
    [
        (("schedule(static)",) * 2, ("i = 0; i < 30; i++",) * 2, True),
        (("schedule(static, 4)",) * 2, ("i = 0; i < 30; i++",) * 2, True),
        (("schedule(static, 4)", "schedule(static)"), ("i = 0; i < 30; i++",) * 2, False),
        (("schedule(dynamic)",) * 2, ("i = 0; i < 30; i++",) * 2, False),
        (("schedule(static)",) * 2, ("i = 0; i < 30; i++", "i = 0; i < 29; i++"), False),
        (("schedule(static)",) * 2, ("i = 0; i < 30; i++", "i = 1; i < 31; i++"), False),
        (("simd schedule(static)",) * 2, ("i = 0; i < 30; i++",) * 2, False),
    ],
)
def test_each_iteration_keeps_to_its_own_elements(
    tmp_path: Path, schedules: tuple[str, str], headers: tuple[str, str], told: bool
) -> None:
    parts = [
        f"#pragma omp for {schedule}\n    for (int {header}) {text}\n"
        for schedule, header, text in zip(
            schedules, headers, ("a[i] = 1;", "b[i] = a[i];"), strict=True
        )
    ]
    assert needless_lines(tmp_path, program(parts)) == [5] * told + [7]


@pytest.mark.parametrize(
    ("between", "lines"),
    [
        ("", [5, 7]),
        ("#pragma omp barrier\n", [5, 8]),  # they meet there
        ("c[0] = a[0];\n", [8]),  # each thread reads for itself
        ("#pragma omp single\n c[0] = a[0];\n", [9]),
        ("if (c[0] > 0)\n", []),  # the second loop may not run: what comes then is not looked at
    ],
)
def test_only_what_follows_at_once_is_known(tmp_path: Path, between: str, lines: list[int]) -> None:
    first, second = (
        f"#pragma omp for\n    for (int i = 0; i < 30; i++) {name}[i] = 1;\n" for name in "ab"
    )
    assert needless_lines(tmp_path, program([first, between, second])) == lines


def test_a_sum_is_needed_behind_its_loop(tmp_path: Path) -> None:
    total = "#pragma omp for reduction(+ : s)\n    for (int i = 0; i < 30; i++) s += a[i];\n"
    plain = "#pragma omp for\n    for (int i = 0; i < 30; i++) b[i] = 1;\n"
    text = program([total, plain]).replace("void f", "double s; void f", 1)
    assert needless_lines(tmp_path, text) == [7]


def test_a_loop_without_a_barrier_may_still_run_beside_a_later_one(tmp_path: Path) -> None:
    # a is written, then b, then a is read: without both barriers it is read too early.
    parts = [
        f"#pragma omp for{clause}\n    for (int i = 0; i < 30; i++) {text}\n"
        for clause, text in ((" nowait", "a[i] = 1;"), ("", "b[i] = 1;"), ("", "c[i] = a[29 - i];"))
    ]
    assert needless_lines(tmp_path, program(parts)) == [9]
    apart = [parts[0].replace(" nowait", ""), *parts[1:]]
    assert needless_lines(tmp_path, program(apart)) == [5, 9]  # one of the two can go


def test_the_last_loop_of_a_turn_meets_the_first_of_the_next(tmp_path: Path) -> None:
    loop = "#pragma omp for{}\n    for (int i = 0; i < 30; i++) {}[i] = 1;\n"
    inside = "for (int t = 0; t < 9; t++) {\n" + loop.format("", "a") + loop.format("", "b") + "}\n"
    assert needless_lines(tmp_path, program([inside])) == [6]
    # What runs around without a barrier may run beside any loop.
    around = inside.replace(
        "for\n    for (int i = 0; i < 30; i++) b", "for nowait\n    for (int i = 0; i < 30; i++) b"
    )
    assert around != inside
    assert needless_lines(tmp_path, program([around])) == []


def test_all_orders_of_three_loops_of_their_own_arrays_need_none(tmp_path: Path) -> None:
    for order in permutations("abc"):
        parts = [
            f"#pragma omp for\n    for (int i = 0; i < 30; i++) {name}[i] = 1;\n" for name in order
        ]
        assert needless_lines(tmp_path, program(parts)) == [5, 7, 9]
