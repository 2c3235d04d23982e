"""Lines of random walks that are gone through, against the sets of bytes that loops touch."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import pytest
from further_cases import further_slow

from regionpredict.ir import Expr
from regionpredict.workload.address_run_arrays import ManyRuns, inner_runs, many_runs
from regionpredict.workload.constants import MOST_RUNS
from regionpredict.workload.derived_number import Derived
from regionpredict.workload.enumerated_lines import (
    AccessPattern,
    EnumeratedGroup,
    Part,
    _are_plain_and_whole,
    _lines_of_patterns,
    _moved_to_first_line,
    distinct_lines,
    mean_of_blocks,
    path_of,
)
from regionpredict.workload.line_overlap import Lines
from regionpredict.workload.loop_nest import Affine, LoopHeader, ReferenceGroup

LINE = 64
ELEMENT = 8
OUTSIDE = {"t": 5.0}
Piece = tuple[float, int]
"""The first value of a loop, and its iterations."""


def header(index: int, first: Affine, limit: Affine, step: int = 1) -> LoopHeader:
    return LoopHeader(
        index, "ijk"[index], first, limit, step, False, first.names | limit.names, 1, True, "",
        frozenset(),
    )  # fmt: skip


def group(
    loops: Sequence[LoopHeader], slopes: dict[str, float], offsets: Sequence[float] = (0.0,),
    written: Sequence[float] = (),
) -> ReferenceGroup:  # fmt: skip
    return ReferenceGroup(
        0, "a", ELEMENT, slopes, tuple(offsets), tuple(written), tuple(loops), False, 0.0, False,
        (), (), (),
    )  # fmt: skip


def walk(moved: ReferenceGroup, team: tuple[tuple[float, float], ...] = ()) -> EnumeratedGroup:
    return EnumeratedGroup(moved, path_of(moved.loops), team)


def places(
    moved: ReferenceGroup, pieces: dict[int, Piece], env: dict[str, float], depth: int = 0
) -> Iterator[float]:
    """The address of each iteration, offsets left out; `pieces` stand in place of whole loops."""
    if depth == len(moved.loops):
        yield sum(slope * env[name] for name, slope in moved.slopes.items())
        return
    loop = moved.loops[depth]
    assert loop.first is not None
    assert loop.limit is not None
    value, limit = loop.first.at(env), loop.limit.at(env)
    left = math.inf
    if loop.index in pieces:
        value, left = pieces[loop.index]
        limit = math.inf * loop.step
    while left > 0 and (limit - value) * loop.step > 0:
        yield from places(moved, pieces, {**env, loop.variable: value}, depth + 1)
        value += loop.step
        left -= 1


def truth(
    walks: Sequence[EnumeratedGroup], pieces: dict[int, Piece], *, aligned: bool,
) -> Lines:  # fmt: skip
    """Lines by sets; where the array begins anywhere, the mean of all begins of an element."""
    begins = (0,) if aligned else range(0, LINE, ELEMENT)
    touched = written = 0
    for begin in begins:
        lines: tuple[set[float], set[float]] = set(), set()
        for each in walks:
            stands = [0.0]
            for apart, threads in each.team:
                middle = (threads - 1) / 2
                stands = [at + (i - middle) * apart for at in stands for i in range(int(threads))]
            for place in places(each.group, pieces, dict(OUTSIDE)):
                for seen, offsets in zip(
                    lines, (each.group.offsets, each.group.written), strict=True
                ):
                    seen |= {
                        (begin + place + offset + stand) // LINE
                        for offset in offsets for stand in stands
                    }  # fmt: skip
        touched += len(lines[0])
        written += len(lines[1])
    return Lines(touched / len(begins), written / len(begins))


def bytes_of(choose: random.Random, *, wide: bool) -> float:
    """A slope: within a line, of about a line, or of rows."""
    most = choose.choice([3, 10, 60]) if wide else 8
    return float(ELEMENT * choose.randint(-most, most))


def random_loops(choose: random.Random) -> list[LoopHeader]:
    """Up to three loops, of which each may begin and end with those around it; the first of more
    iterations, now and then, than are gone through one by one.
    """
    loops: list[LoopHeader] = []
    longest = [choose.choice([9, 9, 90]), 9, 4]
    for index in range(choose.randint(1, 3)):
        around = {
            loop.variable: float(choose.choice([-1, 1, 1, 2]))
            for loop in loops if choose.random() < 0.4
        }  # fmt: skip
        least = float(choose.randint(-3, 3))
        first = Affine(least, around if choose.random() < 0.5 else {})
        limit = Affine(
            least + choose.randint(0, longest[index]), around if choose.random() < 0.7 else {}
        )
        step = choose.choice([1, 1, 1, 2, 3])
        if choose.random() < 0.3:
            first, limit, step = limit, first, -step
        loops.append(header(index, first, limit, step))
    return loops


def random_walk(choose: random.Random, loops: Sequence[LoopHeader]) -> EnumeratedGroup:
    slopes = {loop.variable: bytes_of(choose, wide=True) for loop in loops}
    slopes["t"] = bytes_of(choose, wide=False)  # a loop around the part, at its place
    offsets = sorted({bytes_of(choose, wide=True) for _ in range(choose.randint(1, 3))})
    written = [offset for offset in offsets if choose.random() < 0.4]
    team: tuple[tuple[float, float], ...] = ()
    if choose.random() < 0.4:
        team = ((16 * bytes_of(choose, wide=False), float(choose.choice([2, 3, 4]))),)
    return walk(group(loops, slopes, offsets, written), team)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("seed", further_slow(40, range(100)))
def test_walks_touch_what_their_loops_touch(seed: int, aligned: bool) -> None:
    choose = random.Random(seed)
    loops = random_loops(choose)
    walks = [
        random_walk(choose, loops[: choose.randint(1, 3)]) for _ in range(choose.choice([1, 2]))
    ]
    part = Part(OUTSIDE, {}, None, float(LINE), aligned=aligned)
    counted = distinct_lines(walks, part)
    assert counted == pytest.approx(truth(walks, {}, aligned=aligned))
    # What has been asked before says the same again, and so does a place whole lines further on.
    assert distinct_lines(walks, part) == counted
    moved = [
        each._replace(group=group(each.group.loops, {**each.group.slopes, "u": float(LINE)},
                                  each.group.offsets, each.group.written))
        for each in walks
    ]  # fmt: skip
    further = Part({**OUTSIDE, "u": 7.0}, {}, None, float(LINE), aligned=aligned, known=part.known)
    assert distinct_lines(moved, further) == counted


@pytest.mark.parametrize("seed", range(30))
def test_blocks_of_the_first_loop(seed: int) -> None:
    """The mean of what each block of its iterations touches, some sections known."""
    choose = random.Random(seed)
    loops = random_loops(choose)
    first = loops[0]
    begin = first.begin({})
    walks = [random_walk(choose, loops)]
    blocks = [(choose.randint(0, 6), choose.randint(1, 5)) for _ in range(3)]
    means = [
        truth(walks, {0: (begin + first.step * at, number)}, aligned=True) for at, number in blocks
    ]
    counted = mean_of_blocks(walks, Part(OUTSIDE, {}, None, float(LINE), aligned=True), blocks)
    assert counted == pytest.approx(tuple(sum(column) / 3 for column in zip(*means, strict=True)))


@pytest.mark.parametrize("inner", ["whole", "hanging"])
@pytest.mark.parametrize(
    ("length", "low", "high", "more"),
    [
        (4.0, (8, 4), (8, 4), 0.0),  # of 20 iterations those from the ninth on
        (4.25, (8, 4), (8, 5), 0.25),  # 7.875 before it: rounded
        (1.5, (9, 1), (9, 2), 0.5),  # 9.25 before it
        (0.5, (10, 1), (10, 1), 0.0),  # less than one: one is run
        (21.0, (0, 20), (0, 20), 0.0),  # no more than there are
    ],
)
def test_a_mean_piece_is_between_whole_ones(
    inner: str, length: float, low: Piece, high: Piece, more: float
) -> None:
    none = Affine(0.0, {})
    i = header(0, none, Affine(20.0, {}))
    j = header(1, none, Affine(12.0, {}) if inner == "whole" else Affine(3.0, {"i": 1.0}))
    walks = [walk(group([i, j], {"i": 4096.0, "j": 32.0}, (0.0, 1024.0), (1024.0,)))]
    less, most = (truth(walks, {0: piece}, aligned=True) for piece in (low, high))
    between = less.times(1 - more).plus(most.times(more))
    part = Part({}, {0: length}, None, float(LINE), aligned=True)
    assert distinct_lines(walks, part) == pytest.approx(between)


@pytest.mark.parametrize(
    ("long", "wide", "less", "most", "more"),
    [
        (4.25, 6.5, (4, 6), (5, 7), 0.5),
        (4.5, 6.25, (4, 6), (5, 7), 0.5),
        # What rounding leaves of an iteration is none, and what it takes is there.
        (4.0 - 1e-12, 6.25, (4, 6), (4, 7), 0.25),
        (4.0 + 1e-12, 6.25, (4, 6), (4, 7), 0.25),
        (4.25, 6.0 - 1e-12, (4, 6), (5, 6), 0.25),
        (4.25, 6.0 + 1e-12, (4, 6), (5, 6), 0.25),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_of_parts_of_iterations_the_largest_counts(
    long: float, wide: float, less: Piece, most: Piece, more: float, apart: bool
) -> None:
    """Rows of lines: of two loops around one reference, or each around its own."""
    none = Affine(0.0, {})
    i, j = (header(at, none, Affine(trips, {})) for at, trips in enumerate((long, wide)))
    if apart:
        walks = [walk(group([i], {"i": 64.0})), walk(group([j], {"j": 64.0}, (65536.0,)))]
        low, high = (rows + columns for rows, columns in (less, most))
    else:
        walks = [walk(group([i, j], {"i": 4096.0, "j": 64.0}))]
        low, high = (rows * columns for rows, columns in (less, most))
    counted = distinct_lines(walks, Part({}, {}, None, float(LINE), aligned=True))
    assert counted == pytest.approx((low + more * (high - low), 0))


@pytest.mark.parametrize(("number", "counted"), [(2048, True), (2052, False)])
@pytest.mark.parametrize(
    ("along", "across", "offsets"), [(4, 1, 1), (2, 2, 1), (1, 2, 2), (2, 1, 2), (1, 1, 4)]
)
def test_copies_of_all_kinds_are_runs(
    along: int, across: int, offsets: int, number: int, counted: bool
) -> None:
    """A quarter of them made by a loop, four times that by threads along two loops and offsets."""
    loop = header(0, Affine(0.0, {}), Affine(number / 4, {}))
    moved = group([loop], {"i": 4096.0}, [64.0 * at for at in range(offsets)])
    team = ((256.0, float(along)), (1024.0, float(across)))
    lines = distinct_lines([walk(moved, team)], Part({}, {}, None, float(LINE), aligned=True))
    assert lines == ((number, 0) if counted else None)


def test_a_cut_runs_a_part_of_the_first_loop() -> None:
    """From a quarter to three quarters of 20 iterations: 10, from the sixth on."""
    i = header(0, Affine(0.0, {}), Affine(20.0, {}), 1)
    j = header(1, Affine(0.0, {}), Affine(0.0, {"i": 1.0}))
    walks = [walk(group([i, j], {"i": 0.0, "j": 64.0}))]
    part = Part({}, {}, (0.25, 0.75), float(LINE), aligned=True)
    assert truth(walks, {0: (5, 10)}, aligned=True).touched == 14
    assert distinct_lines(walks, part) == (14, 0)


@pytest.mark.parametrize(("number", "counted"), [(2048, True), (2049, False)])
@pytest.mark.parametrize("copies", ["level", "team", "offsets", "steps"])
def test_how_many_runs_are_gone_through(copies: str, number: int, counted: bool) -> None:
    """Runs far apart, made by whichever part of a walk: 2048 of them, and one more.

    Of a loop that hangs on another, steps of both count.
    """
    none = Affine(0.0, {})
    once = header(0, none, Affine(1.0, {}))
    many = header(0, none, Affine(float(number), {}))
    half = header(0, none, Affine(float((number + 1) // 2), {}))
    hanging = header(1, Affine(0.0, {"i": 1.0}), Affine(1.0, {"i": 1.0}))
    far = tuple(256.0 * at for at in range(number))
    walks = {
        "level": walk(group([many], {"i": 256.0})),
        "team": walk(group([once], {"i": 256.0}), ((256.0, float(number)),)),
        "offsets": walk(group([once], {"i": 256.0}, far)),
        "steps": walk(group([half, hanging], {"i": 256.0, "j": 0.0})),
    }
    lines = distinct_lines([walks[copies]], Part({}, {}, None, float(LINE), aligned=True))
    touched = number // 2 if copies == "steps" else number
    assert lines == ((touched, 0) if counted else None)


@pytest.mark.parametrize("stride", range(8, 81, 8))
@pytest.mark.parametrize("down", [False, True])
def test_steps_of_a_line_or_less_are_one_run_however_many(stride: int, down: bool) -> None:
    """5000 of them, more than are gone through one by one, leave out no line on their way."""
    loop = header(0, Affine(0.0, {}), Affine(5000.0, {}))
    moved = group([loop], {"i": -float(stride) if down else float(stride)})
    lines = distinct_lines([walk(moved)], Part({}, {}, None, float(LINE), aligned=True))
    far = 4999 * stride
    last = -(far // -LINE) + 1 if down else far // LINE + 1
    assert lines == ((last, 0) if stride <= LINE else None)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_an_inner_loop_at_once_and_one_by_one(seed: int, up: bool) -> None:
    """Its bounds lie between whole numbers now and then: a part of an iteration is left, or run."""
    choose = random.Random(seed)
    first = Affine(choose.choice([0.0, 0.25, 2.5]), {"i": choose.choice([0.0, 1.0, 0.5])})
    limit = Affine(choose.choice([1.0, 1.75, 3.25]), {"i": choose.choice([0.0, 1.0, 1.25])})
    step = choose.choice([1, 1, 2, -1])
    loop = header(1, *((first, limit) if step > 0 else (limit, first)), step)
    slope, along = (float(8 * choose.randint(-20, 20)) for _ in range(2))
    values = [float(value) for value in range(-3, 7)]
    runs: set[tuple[float, float]] = set()
    parts: set[float] = set()
    steps = 0
    for value in values:
        env = {"i": value}
        trips = loop.trips(env)
        number = math.floor(trips)
        if 0 < trips < 1:
            number = 1
        elif trips > number:
            parts.add(trips - number)
            number += up
        near = abs(slope * step) <= LINE
        steps += (number > 0) if near else number
        touched = [
            1000 + along * value + slope * (loop.begin(env) + step * at) for at in range(number)
        ]
        if near and touched:
            runs.add((min(touched), max(touched) + ELEMENT))
        elif touched:
            runs |= {(place, place + ELEMENT) for place in touched}
    counted = inner_runs(
        loop, slope, {}, "i", values, 1000.0, along, element=ELEMENT, line_bytes=LINE, round_up=up
    )
    assert counted is not None
    assert set(counted.runs.one_by_one()) == runs
    assert counted.steps == steps
    assert counted.fractions == parts


@pytest.mark.parametrize("turns", [[2048], [2049], [0, 2000, 48], [2000, 49]])
def test_an_inner_loop_is_gone_through_up_to_a_number_of_steps(turns: list[int]) -> None:
    """All turns of the loop around together; what they were is told in any case."""
    loop = header(1, Affine(0.0, {}), Affine(0.0, {"i": 1.0}))
    values = [float(number) for number in turns]
    counted = inner_runs(
        loop, 128.0, {}, "i", values, 0.0, 0.0, element=8, line_bytes=64, round_up=False
    )
    assert counted is not None
    assert counted.steps == sum(turns)
    assert counted.runs.number == (sum(turns) if sum(turns) <= MOST_RUNS.value else 0)


def test_a_variable_without_a_value_counts_as_none() -> None:
    """As where one form alone is asked: begins and ends at t = 0."""
    loop = header(1, Affine(4.0, {"t": 2.0, "i": 1.0}), Affine(9.0, {"t": 5.0, "i": 2.0}))
    without, at_zero = (
        inner_runs(
            loop,
            8.0,
            env,
            "i",
            [0.0, 1.0, 2.0],
            0.0,
            800.0,
            element=8,
            line_bytes=64,
            round_up=False,
        )
        for env in ({}, {"t": 0.0})
    )
    assert without is not None
    assert at_zero is not None
    assert without.runs.one_by_one() == at_zero.runs.one_by_one()
    assert without[1:] == at_zero[1:]


# -- shapes that are known -------------------------------------------------------------------------

ROW = AccessPattern(((640.0, 648.0),), ((64.0, 3),), ((512.0, 2.0),), (0.0, 8.0), (8.0,), ELEMENT)


@pytest.mark.parametrize(
    ("shape", "plain", "whole"),
    [
        (ROW, True, True),
        (ROW._replace(rows=((640.0, 648.0), (704.0, 712.5))), True, False),
        (ROW._replace(levels=((64.5, 3),)), True, False),
        (ROW._replace(team=((0.25, 2.0),)), True, False),
        (ROW._replace(offsets=(0.0, 0.5)), True, False),
        (ROW._replace(offsets=(0.0, Derived(8.0, Expr.name("n")))), False, False),
    ],
)
def test_whose_sums_are_never_rounded(shape: AccessPattern, plain: bool, whole: bool) -> None:
    """All bytes are whole numbers; of those that have an expression nothing is known by places."""
    assert _are_plain_and_whole([ROW, shape]) == (plain, whole)


def test_shapes_begin_in_the_first_line() -> None:
    """Both go ten whole lines back, the place in the line and what lies between stay."""
    for begin in (640.0, 648.0, 696.0, 0.0, -8.0, -72.0):
        row = ROW._replace(rows=((begin, begin + 8), (begin + 72, begin + 80)))
        other = ROW._replace(rows=((begin - 800, begin - 792),))
        empty = ROW._replace(rows=())
        back = begin - begin % 64
        for shapes in ([row, other], [empty, row, other]):
            *_, first, second = _moved_to_first_line(shapes, 64.0)
            assert first.rows == (
                (begin - back, begin + 8 - back),
                (begin + 72 - back, begin + 80 - back),
            )
            assert second.rows == ((begin - 800 - back, begin - 792 - back),)
    assert _moved_to_first_line([empty], 64.0) == (empty,)


ROWS = tuple((704.0 + 100 * at, 712.0 + 100 * at) for at in range(60))


def test_arrays_begin_in_the_first_line() -> None:
    (moved,) = _moved_to_first_line([ROW._replace(rows=many_runs(ROWS))], 64.0)
    assert isinstance(moved.rows, ManyRuns)
    assert moved.rows.one_by_one() == [(low - 704, high - 704) for low, high in ROWS]
    assert _are_plain_and_whole([moved]) == (True, True)
    half = moved._replace(rows=many_runs([(0.0, 8.0), (16.0, 24.5)]))
    assert _are_plain_and_whole([half, ROW]) == (True, False)


@pytest.mark.parametrize("written", [(), (8.0,), (0.0, 8.0)])
@pytest.mark.parametrize("aligned", [True, False])
def test_rows_are_counted_alike_as_arrays(written: tuple[float, ...], aligned: bool) -> None:
    part = Part({}, {}, None, 64.0, aligned)
    shape = ROW._replace(rows=ROWS, levels=((8192.0, 2),), team=(), written=written)
    for plain in (True, False):
        lines = _lines_of_patterns([shape], part, plain=plain)
        assert lines is not None
        assert (lines.written == 0) == (not written)
        assert (lines.written == lines.touched) == (written == shape.offsets)
        arrays = shape._replace(rows=many_runs(ROWS))
        assert _lines_of_patterns([arrays], part, plain=plain) == lines
