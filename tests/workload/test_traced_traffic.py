"""Small nests gone through reference by reference: by hand, and against a simulation."""

from __future__ import annotations

import pytest
from further_cases import further_slow
from nest_texts import STATIC, counter_of, facts_of_text, nest_of
from simulated_nest import simulated

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.cache_traffic import (
    NOT_ASKED,
    CacheLevel,
    may_be_traced,
    warm_cache_contents,
)
from regionpredict.workload.layer_conditions import LayerConditions, Misses
from regionpredict.workload.loop_nest import LoopNest, NestLoop
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.reference_trace import reference_trace

NESTS = {
    "stencil": (
        "for (int i = 1; i < 25; i++) for (int j = 1; j < 47; j++) "
        "b[i][j] = a[i-1][j] + a[i][j] + a[i+1][j];",
        "double a[26][48], double b[26][48]",
    ),
    "product": (
        "for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) for (int k = 0; k < 24; k++) "
        "c[i][j] += a[i][k] * b[k][j];",
        "double a[12][24], double b[24][12], double c[12][12]",
    ),
    "triangle": (
        "for (int i = 0; i < 30; i++) for (int j = i; j < 30; j++) a[j][i] += x[j];",
        "double a[30][30], double x[30]",
    ),
}


def bytes_of(nest: LoopNest, lines: float, threads: int, sharers: int, chunk: int | None) -> float:
    """What caches of so many lines move, gone through."""
    schedule = STATIC if chunk is None else Schedule("static", float(chunk))
    counter = counter_of(nest, schedule, traced=True)
    (level,) = counter.traffic([CacheLevel(64.0 * lines, sharers)], threads)
    return level.total


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize(("threads", "sharers"), [(1, 1), (3, 1), (3, 3)])
@pytest.mark.parametrize("chunk", [None, 2])
@pytest.mark.parametrize("lines", further_slow(1, [30, 8, 400]))
def test_as_a_simulation_of_the_nest(
    name: str, threads: int, sharers: int, chunk: int | None, lines: int
) -> None:
    loops, parameters = NESTS[name]
    nest = nest_of(loops, parameters)
    counted = simulated(nest, 64.0 * lines, threads, sharers, chunk=chunk)
    expected = sum(read + written for read, written in counted.values())
    # The simulation takes groups in their own order.
    assert bytes_of(nest, lines, threads, sharers, chunk) == pytest.approx(expected, rel=0.06)


def test_layer_conditions_are_not_asked_of_references_that_are_enumerated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nest = nest_of(*NESTS["product"])
    levels = [CacheLevel(64.0 * 30, 1)]
    counter = counter_of(nest, traced=True)
    estimated = counter.traffic(levels, 1, estimated=True)
    assert estimated == counter_of(nest, traced=False).traffic(levels, 1)

    def key(self: LayerConditions, root: NestLoop) -> Misses:
        raise AssertionError

    monkeypatch.setattr(LayerConditions, "misses", key)
    (level,) = counter_of(nest, traced=True).traffic(levels, 1)
    assert [moved.carrier for moved in level.arrays] == [NOT_ASKED] * 3


def test_a_column_by_hand() -> None:
    """16 rows of 16 lines, by columns: a line serves 8 columns, if 16 lines stay."""
    text = "for (int j = 0; j < 128; j++) for (int i = 0; i < 16; i++) s += a[i][j];"
    nest = nest_of(text, "double s, double a[16][128]")
    # Beginning at four places of a line, rows of 16 lines touch 17 of them but where they fit.
    rows = 16 * (16 + 3 * 17) / 4
    assert bytes_of(nest, 17, 1, 1, None) / 64 == pytest.approx(rows, abs=2)
    assert bytes_of(nest, 15, 1, 1, None) / 64 == pytest.approx(128 * 16, abs=2)


def test_arrays_that_begin_with_a_line_do_so_beside_others() -> None:
    """A global array of 30 rows of a line each, and a parameter's rows of two lines mostly."""
    text = """double kept[30][80];
    void f(double p[30][80]) {
    #pragma omp parallel for
      for (int i = 0; i < 30; i++) for (int j = 0; j < 8; j++) kept[i][j] = p[i][j];
    }"""
    (facts,) = facts_of_text(text)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    (level,) = counter_of(nest, traced=True).traffic([CacheLevel(1 << 20, 1)], 1)
    read = {moved.array: moved.read / 64 for moved in level.arrays}
    assert read == {"kept": 30, "p": 30 * (1 + 3 * 2) / 4}


def test_a_larger_cache_moves_no_more() -> None:
    nest = nest_of(*NESTS["product"])
    moved = [bytes_of(nest, lines, 4, 2, None) for lines in range(2, 90, 4)]
    assert moved == sorted(moved, reverse=True)


def test_clamped_and_wrapped_subscripts_are_no_gathers() -> None:
    """min(i, 9): ten elements, two or three lines; i % 8: one or two."""
    text = "for (int i = 0; i < 400; i++) x[8 * (i < 9 ? i : 9)] += y[i % 8];"
    nest = nest_of(text, "double x[1000], double y[1000]")
    trace = reference_trace(nest)
    assert trace is not None
    assert len(trace.byte) == 3 * 400
    by_array = {
        name: set((trace.byte[trace.array == at] // 8).tolist())
        for at, name in enumerate(trace.arrays)
    }
    assert by_array == {"x": {8 * i for i in range(10)}, "y": set(range(8))}


def test_references_are_in_the_order_of_the_source() -> None:
    """What a statement stores to goes before what it reads, as it is written."""
    text = """for (int i = 0; i < 2; i++) {
      a[i] = 1;
      for (int j = 0; j < i + 1; j++) b[j] = a[9];
      c[i] = b[5];
    }"""
    trace = reference_trace(nest_of(text, "double a[16], double b[16], double c[16]"))
    assert trace is not None
    made = [
        (trace.arrays[array], byte // 8)
        for array, byte in zip(trace.array.tolist(), trace.byte.tolist(), strict=True)
    ]
    assert made == [
        ("a", 0), ("b", 0), ("a", 9), ("c", 0), ("b", 5),
        ("a", 1), ("b", 0), ("a", 9), ("b", 1), ("a", 9), ("c", 1), ("b", 5),
    ]  # fmt: skip
    assert trace.iteration.tolist() == [0] * 5 + [1] * 7


def test_what_is_too_long_or_hangs_on_data_is_left_to_closed_forms() -> None:
    far = "for (int i = 0; i < 900; i++) for (int j = 0; j < 900; j++) s += a[i][j];"
    assert reference_trace(nest_of(far, "double s, double a[900][900]")) is None
    counter = counter_of(
        nest_of("for (int i = 0; i < 99; i++) s += a[b[i]];", "double s, double a[999], int b[99]"),
        traced=True,
    )
    (level,) = counter.traffic([CacheLevel(1 << 20, 1)], 1)
    assert level.total > 0


@pytest.mark.filterwarnings("error")
def test_addresses_beyond_64_bits_are_left_to_closed_forms() -> None:
    """Bytes of an element 2^62 apart from the next do not fit into 64 bits."""
    far = "for (int i = 0; i < 9; i++) a[i * 4611686018427387904] = i;"
    assert reference_trace(nest_of(far, "double *a")) is None


def test_a_triangle_whose_middle_iteration_does_not_run() -> None:
    text = "for (int i = 200; i >= 0; i--) for (int j = 19; j >= i; j--) a[8 * j] = 0;"
    nest = nest_of(text, "double a[2000]")
    (level,) = counter_of(nest, traced=True).traffic([CacheLevel(1 << 20, 4)], 4)
    assert level.total / 64 == pytest.approx(2 * 20)


@pytest.mark.parametrize(
    ("size", "share"),
    [(8192 * 2.1, 0.0), (8192 / 0.625, 0.25), (8192 / 0.75, 0.5), (8192.0, 1.0)],
)
def test_what_a_traced_run_finds_of_the_one_before(size: float, share: float) -> None:
    """1024 doubles stay up to half a cache; less and less of them up to a whole one.

    Beginning at four places of a line, they lie in 128 lines once, and in 129 three times.
    """
    nest = nest_of("for (int i = 0; i < 1024; i++) a[i] = 1;", "double a[1024]")
    counter = counter_of(nest, traced=True)
    (level,) = counter.traffic([CacheLevel(size, 1)], 1, contents=warm_cache_contents(nest))
    lines = (128 + 3 * 129) / 4
    assert level.read / 64 == pytest.approx(share * lines, abs=2)
    assert level.written / 64 == pytest.approx(share * lines, abs=2)


def test_loops_that_step_by_more_than_one() -> None:
    """Up by three from two, down by two from seven, to whatever they do not meet."""
    text = """for (int i = 2; i < 12; i += 3)
      for (int j = 7; j >= i - 1; j -= 2) a[i][j] = 0;"""
    trace = reference_trace(nest_of(text, "double a[16][8]"))
    assert trace is not None
    made = [8 * i + j for i in range(2, 12, 3) for j in range(7, i - 2, -2)]
    assert (trace.byte // 8).tolist() == made
    assert trace.iterations == 4


@pytest.mark.parametrize("wide", [511, 512, 513])
def test_a_trace_is_made_of_few_references(wide: int) -> None:
    """Two in each of 512 * `wide` iterations: up to 524,288 are gone through."""
    loops = f"for (int i = 0; i < 512; i++) for (int j = 0; j < {wide}; j++) b[i][j] = a[i][j];"
    nest = nest_of(loops, "double a[512][600], double b[512][600]")
    trace = reference_trace(nest)
    assert (trace is not None) == (wide <= 512)
    if trace is not None:
        assert len(trace.byte) == 1024 * wide and may_be_traced(nest)


def test_arrays_of_a_long_trace_begin_at_different_places() -> None:
    """32 arrays of 600 rows of eight doubles, 30 rows of which are skipped between two: a row that
    begins with a line is one, three of four others are two lines.
    """
    names = [f"a{number}" for number in range(32)]
    text = "for (int i = 0; i < 600; i++) for (int j = 0; j < 8; j++) { NAMES }"
    text = text.replace("NAMES", " ".join(f"{name}[i][j] = 0;" for name in names))
    nest = nest_of(text, ", ".join(f"double {name}[600][240]" for name in names))
    (level,) = counter_of(nest, traced=True).traffic([CacheLevel(1 << 30, 1)], 1)
    assert level.read / 64 == pytest.approx(32 * 600 * (1 + 3 * 2) / 4)


def test_long_nests_are_not_tried() -> None:
    assert not may_be_traced(nest_of("for (int i = 0; i < 4000000; i++) a[i] = 1;", "double *a"))


def test_what_the_loops_alone_decide_is_traced_and_what_data_decide_is_not() -> None:
    """(5 i) % 64 and i * i are no affine addresses, yet known; what k holds is not."""
    declared = "double s, double x[4096], int k[64]"
    wrapped = "for (int i = 0; i < 64; i++) s += x[8 * ((5 * i) % 64)] + x[i * i];"
    gathers = "for (int i = 0; i < 64; i++) s += x[8 * ((5 * i) % 64)] + x[k[i]];"
    known, unknown = nest_of(wrapped, declared), nest_of(gathers, declared)
    assert any(group.irregular for group in known.groups())
    assert (may_be_traced(known), may_be_traced(unknown)) == (True, False)
    lines = {place // 8 for i in range(64) for place in (8 * (5 * i % 64), i * i)}
    (level,) = counter_of(known, traced=True).traffic([CacheLevel(1 << 20, 1)], 1)
    assert level.total / 64 == pytest.approx(len(lines))


@pytest.mark.parametrize(("more", "traced"), [("", True), ("b[0] = 1;", False)])
def test_as_many_references_as_are_gone_through(more: str, traced: bool) -> None:
    """Twice 512 times 512, each a half of what is, and one more."""
    loops = f"""for (int i = 0; i < 512; i++) {{
      for (int j = 0; j < 512; j++) a[j] = 1;
      for (int j = 0; j < 512; j++) b[j] = 1; {more} }}"""
    trace = reference_trace(nest_of(loops, "double *a, double *b"))
    assert (trace is not None) is traced
    assert trace is None or len(trace.byte) == 1 << 19
