"""Cycles of small loops, counted by hand for the machine of round figures.

Four doubles a vector. An addition takes 1 cycle, a multiplication or both fused 2; four
instructions begin in a cycle, two of which may load and one store, two of all being the loop's
own. A vector of 32 B crosses a line of 64 at 24 of 64 positions: 1.375 accesses each.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from round_machine import CYCLE, body, round_machine

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.core import core_time
from regionpredict.workload import LoopBody, Recurrence, Step
from regionpredict.workload.scalar_replacement import ConstantAccesses

MACHINE = round_machine()
UNFUSED = round_machine(
    ("  fp_fma: {latency: 6, throughput: 2}\n", ""),
    ("fp_add_pipes: 2", "fp_add_pipes: 1"),
    ("fp_mul_pipes: 2", "fp_mul_pipes: 1"),
)
SCALAR = "conditional"


def cycles(loop: LoopBody, machine: Machine = MACHINE) -> tuple[float, float]:
    """(overlapping, loading) cycles of one iteration."""
    time = core_time([loop], machine, 64)
    each = loop.executions * CYCLE
    return pytest.approx(time.overlapping / each), pytest.approx(time.loading / each)


def windowed(instructions: int) -> Machine:
    """The machine with a window of so many instructions."""
    return round_machine(("  window: 192\n", f"  window: {instructions}\n"))


def told(loop: LoopBody, machine: Machine = MACHINE) -> str:
    """How the loop was judged, without what bounds it."""
    (note,) = core_time([loop], machine, 64).notes
    return note.removeprefix("i (line 7): ").split(";")[0]


def sum_of(*kinds: str) -> Recurrence:
    return Recurrence("sum into s", (kinds,), None)


def in_order(kinds: str, distance: float = 1.0, share: float = 1.0) -> Recurrence:
    return Recurrence(
        "recurrence over s", (tuple(kinds.split()),), distance, in_order=True, share=share
    )


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ({"fp_add": 8, "fp_mul": 3}, (3 * 2 + 5 * 1) / 4),  # three fused, five additions left
        ({"fp_add": 2, "fp_mul": 5}, (2 * 2 + 3 * 2) / 4),  # two fused, three products left
        ({"fp_add": 4, "fp_neg": 3, "fp_compare": 2}, 9 / 4),  # all on the adders
        ({"fp_div": 1}, 10 * 2 / 4),  # 256 of 128 bits: twice as long, for four iterations
        ({"fp_sqrt": 3}, 36 * 2 / 4),
        # the divider goes on beside the pipes: the longer of the two
        ({"fp_div": 1, "fp_mul": 2}, 10 * 2 / 4),
        ({"fp_div": 1, "fp_mul": 20}, 20 * 2 / 4),
    ],
)
def test_arithmetic_of_vectors(operations: dict[str, float], expected: float) -> None:
    assert cycles(body(operations)) == (expected, 0.0)


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ({"fp_add": 8, "fp_mul": 3}, 11.0),
        ({"fp_div": 1, "int_add": 8}, 10),  # beside each other
        ({"fp_div": 1, "int_mul": 8, "int_compare": 4, "int_logic": 4}, 8 * 4 / 2 + 8 / 4),
        ({"fp_div": 2, "fp_sqrt": 1}, 2 * 10 + 12),  # one divider for both
        ({"call:exp": 1, "fp_div": 1, "fp_mul": 4}, 20 + 10),  # a call takes the whole core
        ({"int_mul": 4, "int_div": 2}, 4 * 4 / 2 + 2 * 30),  # products in half the table's cycles
        ({"call:exp": 1, "fp_sqrt": 1}, 20 + 12),
        ({"call:unheard_of": 2}, 2 * 50),  # as any call
    ],
)
def test_arithmetic_of_a_loop_that_stays_scalar(
    operations: dict[str, float], expected: float
) -> None:
    assert cycles(body(operations, because=SCALAR)) == (expected, 0.0)


@pytest.mark.parametrize(
    ("adds", "muls", "expected"), [(8, 3, 8.0), (3, 8, 16.0), (4, 2, 4.0), (2, 2, 4.0)]
)
def test_without_fusing_adders_and_multipliers_work_side_by_side(
    adds: int, muls: int, expected: float
) -> None:
    loop = body({"fp_add": adds, "fp_mul": muls}, because=SCALAR)
    assert cycles(loop, UNFUSED) == (expected, 0.0)


@pytest.mark.parametrize("kind", ["fp_neg", "fp_compare"])
def test_negations_and_comparisons_are_the_adders(kind: str) -> None:
    """Beside the multipliers, which take 4 cycles for two products."""
    loop = body({kind: 3, "fp_mul": 2}, because=SCALAR)
    assert cycles(loop, UNFUSED) == (4.0, 0.0)
    assert cycles(body({"fp_add": 2, kind: 3, "fp_mul": 2}, because=SCALAR), UNFUSED)[0] == 5.0


def test_additions_that_take_half_a_cycle() -> None:
    faster = ("fp_add: {latency: 4, throughput: 1}", "fp_add: {latency: 4, throughput: 0.5}")
    many = body({"fp_add": 33, "fp_mul": 3}, because=SCALAR)
    assert cycles(many, round_machine(faster))[0] == 3 * 2 + 30 / 2
    unfused = round_machine(
        faster, ("  fp_fma: {latency: 6, throughput: 2}\n", ""),
        ("fp_add_pipes: 2", "fp_add_pipes: 1"), ("fp_mul_pipes: 2", "fp_mul_pipes: 1"),
    )  # fmt: skip
    assert cycles(body({"fp_add": 60, "fp_mul": 3}, because=SCALAR), unfused)[0] == 60 / 2


def test_instructions_that_begin_in_a_cycle() -> None:
    # 8 + 4 + 2 of the loop, four a cycle, four iterations a vector
    assert cycles(body(loads=8, stores=4))[0] == 14 / 4 / 4
    # 2 fused: 4 adds and 2 products are four instructions, beside 20 loads and 2 of the loop
    fused = body({"fp_add": 4, "fp_mul": 2}, loads=20, because=SCALAR)
    assert cycles(fused)[0] == (4 + 20 + 2) / 4
    # unfused they are six
    assert cycles(fused, UNFUSED)[0] == (6 + 20 + 2) / 4
    # divisions and others count too: 1 addition of integers, 3 of doubles, 12 stores
    mixed = body({"int_add": 1, "fp_add": 3}, stores=12, because=SCALAR)
    assert cycles(mixed)[0] == (1 + 3 + 12 + 2) / 4


def test_an_outer_loop_pays_one_instruction_for_its_control() -> None:
    outer = body({"fp_add": 1}, loads=3, stores=1, innermost=False, because="not innermost")
    assert cycles(outer)[0] == (1 + 3 + 1 + 1) / 4
    assert cycles(body({"fp_add": 1}, loads=3, stores=1, because=SCALAR))[0] == (1 + 3 + 1 + 2) / 4


def test_loads_and_stores_of_the_first_cache() -> None:
    assert cycles(body(loads=6, stores=1, because=SCALAR))[1] == 6 / 2
    assert cycles(body(loads=1, stores=3, because=SCALAR))[1] == 3.0
    # 128 GB/s are 64 B a cycle: two vectors of 32 B
    assert cycles(body(loads=8, stores=1))[1] == 8 * 1.375 / 2 / 4
    assert cycles(body(loads=1, stores=2))[1] == 2 * 1.375 / 4
    # eight floats a vector: it crosses a line at 28 of 64 positions
    assert cycles(body(loads=8, element=4))[1] == 8 * (1 + 28 / 64) / 2 / 8
    # extended precision of 16 B: two a vector, 16 of 64
    assert cycles(body(loads=8, element=16))[1] == 8 * (1 + 16 / 64) / 2 / 2


def test_elements_wider_than_a_vector_are_taken_one_by_one() -> None:
    loop = body({"fp_add": 8}, loads=4, element=64)
    assert cycles(loop) == (8.0, 4 / 2)
    assert told(loop) == "1 lanes"


@pytest.mark.parametrize(
    ("measured", "ports", "scalar", "vector"),
    [(32, 1, 1.0, 0.5), (48, 2, 2.0, 0.75), (96, 2, 2.0, 1.5)],
)
def test_a_narrower_first_cache(measured: int, ports: int, scalar: float, vector: float) -> None:
    """`measured` GB/s at 2 GHz are half as many B a cycle; a vector has 32."""
    machine = round_machine(
        ("load: {1: 128}", f"load: {{1: {measured}}}"),
        ("loads_per_cycle: 2", f"loads_per_cycle: {ports}"),
        ("load_bytes_per_cycle: 64", f"load_bytes_per_cycle: {measured // 2}"),
    )
    assert cycles(body(loads=6, because=SCALAR), machine)[1] == 6 / scalar
    assert cycles(body(loads=6), machine)[1] == 6 * 1.375 / vector / 4


def test_two_elements_are_a_vector_already() -> None:
    """Two of 16 B cross a line at 16 of 64 positions; 16 B a cycle take two cycles a vector."""
    machine = round_machine(
        ("load: {1: 128}", "load: {1: 32}"), ("loads_per_cycle: 2", "loads_per_cycle: 1")
    )
    assert cycles(body(loads=6, element=16), machine)[1] == 6 * 1.25 * 2 / 2


def test_a_table_no_faster_than_scalar_loads_says_nothing_of_vectors() -> None:
    """Two loads of 8 B a cycle are 16 B, 32 GB/s at 2 GHz: vectors load the 64 B of the ports."""
    same = round_machine(("load: {1: 128}", "load: {1: 32}"))
    assert cycles(body(loads=6), same)[1] == 6 * 1.375 / 2 / 4
    faster = round_machine(("load: {1: 128}", "load: {1: 34}"))
    assert cycles(body(loads=6), faster)[1] == 6 * 1.375 * 32 / 17 / 4


def test_a_first_cache_without_a_table() -> None:
    machine = round_machine(
        ("bandwidth: {load: {1: 128}}", "bytes_per_cycle: 32"),
        ("load_bytes_per_cycle: 64", "load_bytes_per_cycle: 32"),
    )
    assert cycles(body(loads=6), machine)[1] == 6 * 1.375 / 1 / 4
    assert cycles(body(loads=6, because=SCALAR), machine)[1] == 6 / 2


def test_scalars_beyond_the_registers_are_loaded_again() -> None:
    """Sixteen registers, four of which hold what is being computed."""
    assert cycles(body(loads=2, scalars=12, because=SCALAR))[1] == 2 / 2
    spilled = body(loads=2, scalars=14, because=SCALAR)
    assert cycles(spilled) == ((2 + 2 + 2) / 4, (2 + 2) / 2)
    outer = body(loads=2, scalars=14, innermost=False, because="not innermost")
    assert cycles(outer)[1] == 2 / 2


@pytest.mark.parametrize(
    ("chain", "expected", "unfused"),
    [
        (sum_of("fp_add"), 4, 4),
        (sum_of("fp_mul", "fp_add"), 4, 4),  # products in vectors, added one by one
        (sum_of("fp_mul"), 5, 5),
        (sum_of("fp_div", "fp_add"), 4, 4),
        # through an array: every operation, and 4 cycles for its store and load
        (Recurrence("a[i-1]", (("fp_mul", "fp_add"),), 1.0), 5 + 4 + 4, 5 + 4 + 4),
        (Recurrence("a[i-2]", (("fp_mul",), ("fp_add",)), 2.0), (5 + 4 + 4) / 2, 13 / 2),
        (Recurrence("sum into s", (("fp_add",), ("fp_mul",)), None), 5, 5),
        # in registers, one after the other: a product and the sum right after it are one operation
        (in_order("fp_mul fp_add"), 6, 9),
        (in_order("fp_add fp_mul"), 9, 9),
        (in_order("fp_mul fp_mul fp_add fp_add"), 5 + 6 + 4, 5 + 5 + 4 + 4),
        (in_order("fp_add fp_mul", 2.0), 4.5, 4.5),
        (in_order("fp_add fp_mul", 1.0, 0.5), 4.5, 4.5),
        (in_order("load"), 4, 4),
        (in_order("int_mul int_add"), 3 + 1, 3 + 1),
        (in_order("call:exp"), 40, 40),
    ],
)
def test_a_chain_of_operations(chain: Recurrence, expected: float, unfused: float) -> None:
    loop = body({"fp_add": 1}, recurrences=[chain])
    assert cycles(loop)[0] == expected
    assert cycles(loop, UNFUSED)[0] == unfused
    assert told(loop) == f"scalar, {chain.name}"


def test_a_product_is_fused_with_its_sum_where_it_is_formed_alone() -> None:
    """The product is ready: only the operation that joins it waits for the sum before."""
    chain = sum_of("fp_mul", "fp_add")
    strided = body({"fp_add": 1}, recurrences=[chain], because="stride of 80 bytes")
    assert cycles(strided)[0] == 6
    assert cycles(strided, UNFUSED)[0] == 4
    apart = round_machine(("  integer_pipes: 4\n", "  integer_pipes: 4\n  fused_sums: 0\n"))
    assert cycles(strided, apart)[0] == 4
    narrow = round_machine(("simd: 256", "simd: 64"))  # no vectors that products could be in
    assert cycles(body({"fp_add": 1}, recurrences=[chain]), narrow)[0] == 6
    # Partial sums, one a lane of each vector: there, too, the joining operation is what waits.
    partial = Parts(interleaved_sums=False)
    together = body({}, recurrences=[chain._replace(unordered=True)])
    for machine, expected in ((MACHINE, 6 / 4), (apart, 4 / 4)):
        time = core_time([together], machine, 64, partial)
        assert time.overlapping / together.executions == pytest.approx(expected * CYCLE)


@pytest.mark.parametrize(
    ("trips", "vectors"),
    # of four lanes, then two, then one
    [(1, 1), (2, 1), (3, 2), (4, 1), (5, 2), (7, 3), (8, 2), (9, 3), (100, 25), (102, 26)],
)
def test_what_fills_no_vector_goes_in_smaller_ones(trips: int, vectors: int) -> None:
    """Each vector, whole or not, takes eight cycles for as many additions."""
    loop = replace(body({"fp_add": 8}), trips=float(trips))
    assert cycles(loop)[0] == 8 * vectors / trips
    whole = core_time([loop], MACHINE, 64, Parts(vector_ends=False))
    assert whole.overlapping / loop.executions == pytest.approx(2.0 * CYCLE)
    assert cycles(replace(loop, scalar_because=SCALAR))[0] == 8


@pytest.mark.parametrize("trips", [0.01, 0.3, 0.5, 0.9, 1.2, 3.5, 4.4, 7.9, 1e9])
def test_trips_on_average_use_one_lane_at_least_and_no_more_than_there_are(trips: float) -> None:
    """Triangles and branches leave less than an iteration a run."""
    loop = replace(body({"fp_add": 8}), trips=trips)
    time = core_time([loop], MACHINE, 64).overlapping / loop.executions / CYCLE
    assert 8 / 4 * (1 - 1e-9) <= time <= 8 * (1 + 1e-9)


def test_a_loop_says_how_many_of_its_lanes_it_uses() -> None:
    assert told(replace(body({"fp_add": 8}), trips=5.0)) == "2.5 of 4 lanes"
    assert told(replace(body({"fp_add": 8}), trips=101.0)) == "4 lanes"
    # of two lanes: a vector, and one iteration alone
    assert cycles(replace(body({"fp_add": 8}, element=16), trips=3.0))[0] == 8 / 1.5
    assert told(replace(body({"fp_add": 8}, element=16), trips=3.0)) == "1.5 of 2 lanes"
    assert told(replace(body({"fp_add": 8}, element=16), trips=5.0)) == "1.7 of 2 lanes"
    assert told(replace(body({"fp_add": 8}, element=16), trips=101.0)) == "2 lanes"
    assert told(replace(body({"fp_add": 8}), trips=7.0)) == "2.3 of 4 lanes"
    assert told(body({"fp_add": 8})) == "4 lanes"
    assert told(replace(body({"fp_add": 8}), trips=0.0)) == "4 lanes"  # none says what is left over


def test_a_chain_hides_behind_more_work_and_keeps_the_loop_scalar() -> None:
    assert cycles(body({"fp_add": 9}, recurrences=[sum_of("fp_add")]))[0] == 9


def test_the_longest_chain_paces_the_loop_and_is_named() -> None:
    chains = [sum_of("fp_add"), Recurrence("a[i-1]", (("fp_add",),), 1.0),
              Recurrence("b[i-1]", (("fp_add",),), 1.0)]  # fmt: skip
    time = core_time([body(recurrences=chains)], MACHINE, 64)
    assert time.overlapping == pytest.approx(8 * CYCLE)
    assert time.notes == ("i (line 7): scalar, a[i-1]; recurrence, 8 cycles per iteration",)


def test_a_chain_of_nothing_leaves_vectors() -> None:
    loop = body({"fp_add": 8}, recurrences=[sum_of()])
    assert cycles(loop)[0] == 8 / 4
    assert told(loop) == "4 lanes"


def test_a_sum_in_any_order_has_a_part_in_each_lane() -> None:
    """Four vectors of four lanes: additions of four cycles, each for sixteen iterations."""
    free = sum_of("fp_add")._replace(unordered=True)
    loop = body({"fp_add": 1}, recurrences=[free])
    assert cycles(loop)[0] == 4 / 4 / 4
    slow = sum_of("fp_div")._replace(unordered=True)
    assert cycles(body(recurrences=[slow]))[0] == 20 / 4 / 4
    one = core_time([body(recurrences=[slow])], MACHINE, 64, Parts(interleaved_sums=False))
    assert one.overlapping == pytest.approx(20 / 4 * CYCLE)
    assert told(loop) == "4 lanes"
    # One lane where the loop stays scalar for another reason, another chain among them.
    assert cycles(body({"fp_add": 1}, recurrences=[slow], because=SCALAR))[0] == 20 / 4
    ordered = Recurrence("a[i-2]", (("fp_add",),), 8.0)
    assert cycles(body({"fp_add": 1}, recurrences=[slow, ordered]))[0] == 20 / 4


def test_bodies_add_up_by_their_executions() -> None:
    first = body({"fp_add": 8}, loads=6, executions=100, because=SCALAR)
    second = body({"fp_add": 8}, loads=8, executions=1000)
    time = core_time([first, second], MACHINE, 64)
    assert time.overlapping == pytest.approx((100 * 8 + 1000 * 2) * CYCLE)
    assert time.loading == pytest.approx((100 * 3 + 1000 * 8 * 1.375 / 2 / 4) * CYCLE)
    assert time.notes == (
        "i (line 7): scalar, conditional; arithmetic, 8 cycles per iteration",
        "i (line 7): 4 lanes; arithmetic, 2 cycles per iteration",
    )


def test_masks_of_wide_vectors() -> None:
    """256 bits have masks, 128 have none; a vector works out both sides."""
    loop = replace(
        body({"fp_add": 4}), masked=True, on_all_sides=(("fp_add", 8.0),)
    )  # fmt: skip
    assert (cycles(loop)[0], told(loop)) == (8 / 4, "4 lanes")
    narrow = round_machine(("simd: 256", "simd: 128"))
    assert (cycles(loop, narrow)[0], told(loop, narrow)) == (4.0, "scalar, conditional")
    off = core_time([loop], MACHINE, 64, Parts(masks=False))
    assert off.overlapping == pytest.approx(4.0 * CYCLE)


STEPS = (
    Step((("fp_mul", 1.0),), (), 1),  # 4 of the first cache, 5
    Step((("fp_div", 1.0),), (0,), 0),  # 20 more
    Step((("fp_add", 3.0),), (), 2),  # 8, and three additions of 4 cycles, one by one
    Step((("fp_mul", 2.0), ("fp_add", 2.0)), (1, 2), 0),  # both fused: 6 cycles each
)


@pytest.mark.parametrize(("loads", "room"), [(28, 36 / 144), (64, 72 / 144), (500, 1.0)])
def test_a_chain_in_an_iteration(loads: float, room: float) -> None:
    """29 cycles to the quotient, then two fused operations of 6: 41.

    Six instructions of arithmetic (three fused, two additions, a division), two of the loop, and
    the loads: a window of 144 has room for four iterations of 36.
    """
    operations = {"fp_mul": 3.0, "fp_div": 1.0, "fp_add": 5.0}
    loop = replace(body(operations, loads=loads, because=SCALAR), steps=STEPS)
    assert cycles(loop, windowed(144))[0] == max(41 * room, (8 + loads) / 4, 10)


@pytest.mark.parametrize(
    ("loads", "faster"),
    [(28, 1.0), (64, 1.0), (100, 2 * 108 / 144), (500, 2.0)],
    ids=["four fit", "one for each thread", "three quarters of one", "none fits"],
)
def test_two_threads_of_a_core_divide_its_window(loads: float, faster: float) -> None:
    """A window of 144 is two of 72. Where iterations of 36 instructions run side by side, each
    thread has half as many of them: the core does no more. One of 108 has the core 41 * 108/144
    cycles at a time, and each of two threads 41: three in the time of two."""
    machine = windowed(144)
    threads = replace(machine.node.packages, value=2)
    machine = replace(machine, node=replace(machine.node, threads_per_core=threads))
    operations = {"fp_mul": 3.0, "fp_div": 1.0, "fp_add": 5.0}
    loop = replace(body(operations, loads=loads, because=SCALAR), steps=STEPS)
    time = core_time([loop], machine, 64)
    assert time.slots / CYCLE == pytest.approx(
        max(time.overlapping / CYCLE / faster, (8 + loads) / 4, 10)
    )


def test_a_sum_of_many_is_a_tree_where_it_may_be_reordered() -> None:
    """Seven additions of 4 cycles one by one, or three levels of them, behind a load of 4."""
    loop = body({"fp_add": 7.0}, loads=8, because=SCALAR)
    loop = replace(loop, steps=(Step((("fp_add", 7.0),), (), 1),))
    assert cycles(loop, windowed(17))[0] == 4 + 7 * 4
    assert cycles(replace(loop, reassociates=True), windowed(17))[0] == 4 + 3 * 4
    off = core_time([loop], windowed(17), 64, Parts(chains=False))
    assert off.overlapping == pytest.approx(7 * CYCLE)


def test_a_sum_that_begins_anew_goes_beside_the_next() -> None:
    """Eight iterations of four instructions, half a window of 96: a quarter of the time alone."""
    sums = sum_of("fp_div")._replace(restarts=True)
    short = replace(body({"fp_div": 0.1}, loads=1.9, recurrences=[sums]), trips=8.0)
    held = windowed(192)
    assert cycles(short, held)[0] == pytest.approx(20 * 32 / (32 + 96))
    assert cycles(replace(short, trips=1e6), held)[0] == pytest.approx(20.0, rel=1e-4)
    assert cycles(replace(short, recurrences=(sum_of("fp_div"),)), held)[0] == 20.0


@pytest.mark.parametrize("length", [64, 96, 160, 640])
def test_a_window_lets_chains_overlap_as_one_that_is_walked_through(length: int) -> None:
    """Instructions enter when those a window before them have retired, in order; chains of
    `length` links of 20 cycles. Nothing holds up what is fetched there, so that no core does
    better; of what a chain alone takes no core does worse."""
    window, link, chains = 64, 20.0, 200
    done: list[float] = []
    retired: list[float] = []
    for number in range(chains * length):
        enters = retired[number - window] if number >= window else 0.0
        ready = done[-1] if number % length else 0.0
        done.append(max(enters, ready) + link)
        retired.append(max(retired[-1] if retired else 0.0, done[-1]))
    walked = retired[-1] / (chains * length)
    half = link * length / (length + 0.5 * window)
    assert walked < half < link
    assert walked == pytest.approx(link * max(1.0 - window / length, 0.5), rel=0.02)
    sums = sum_of("fp_div")._replace(restarts=True)
    loop = replace(body({"fp_div": 0.001}, loads=0, recurrences=[sums]), trips=float(length))
    instructions = 2.001  # of the loop itself, and of a division in a thousand
    assert cycles(loop, windowed(round(window * instructions)))[0] == pytest.approx(half, rel=0.01)


def test_half_the_clock_takes_twice_as_long() -> None:
    slow = round_machine(("clock: 2 GHz", "clock: 1 GHz"), ("load: {1: 128}", "load: {1: 64}"))
    loop = body({"fp_add": 8, "fp_div": 1}, loads=6, stores=1)
    fast = core_time([loop], MACHINE, 64)
    assert core_time([loop], slow, 64)[:2] == (2 * fast.overlapping, 2 * fast.loading)


def test_the_figures_are_those_of_the_loop_that_takes_the_longest_in_all() -> None:
    """8 cycles a hundred times are less than 4 a thousand times; of equal ones the first counts."""
    heavy = body({"fp_add": 8}, executions=100, because=SCALAR)
    often = body({"fp_mul": 2}, executions=1000, because=SCALAR)
    adding, multiplying = ("operations.fp_add.throughput",), ("operations.fp_mul.throughput",)
    for bodies in ([heavy, often], [often, heavy]):
        assert core_time(bodies, MACHINE, 64).figures == multiplying
    once = body({"fp_add": 8}, executions=1, because=SCALAR)
    assert core_time([once, body({"fp_mul": 2}, because=SCALAR)], MACHINE, 64).figures == adding
    assert core_time([], MACHINE, 64).figures == ()


@pytest.mark.parametrize(
    ("loop", "figures"),
    [
        (body({"fp_add": 8, "fp_mul": 0}, because=SCALAR), ("operations.fp_add.throughput",)),
        (
            body({"fp_div": 1, "call:exp": 1, "call:unheard_of": 1}, because=SCALAR),
            ("call.throughput", "exp.throughput", "fp_div.throughput"),
        ),
        (
            body({"fp_add": 1}, recurrences=[sum_of("fp_mul", "fp_add")]),
            ("fp_add.latency", "fp_mul.latency"),
        ),
        (body({"fp_add": 1}, loads=4, stores=8, because=SCALAR), None),  # the ports: 8 of 6 cycles
        (body({"fp_add": 4}, loads=2, because=SCALAR), ("operations.fp_add.throughput",)),
        (body(loads=1, because=SCALAR), ("processor.issue_width",)),  # 3/4 of a cycle, loading 1/2
    ],
)
def test_what_decides_a_loop_s_cycles(loop: LoopBody, figures: tuple[str, ...] | None) -> None:
    found = core_time([loop], MACHINE, 64).figures
    if figures is None:
        assert found[0] == "caches[0].bandwidth.load"
        assert all(name.startswith("processor.") for name in found[1:]) and len(found) == 6
    else:
        assert [name.removeprefix("operations.") for name in found] == [
            name.removeprefix("operations.") for name in figures
        ]


def test_ports_that_take_as_long_as_arithmetic_do_not_decide() -> None:
    """Four loads in two cycles beside two additions in two: what overlaps is told."""
    even = body({"fp_add": 2}, loads=4, because=SCALAR)
    assert cycles(even) == (2.0, 2.0)
    assert core_time([even], MACHINE, 64).figures == ("operations.fp_add.throughput",)


def test_divisions_go_on_beside_the_pipes_or_behind_them() -> None:
    """Two products in 4 cycles, a division in 10, eight integers in 2; a call of 20 in any case."""
    loop = body({"fp_mul": 2, "fp_div": 1, "int_add": 8, "call:exp": 1}, because=SCALAR)
    assert cycles(loop)[0] == 10 + 20
    off = core_time([loop], MACHINE, 64, Parts(divider_beside=False))
    assert off.overlapping == pytest.approx((4 + 10 + 2 + 20) * CYCLE)


def test_what_waits_for_its_own_results_leaves_the_pipes_to_others() -> None:
    """9 additions beside a chain of 20 cycles, or beside 41 of one iteration: 9 keep them busy."""
    chain = body({"fp_add": 9}, executions=10, recurrences=[sum_of("fp_div")])
    time = core_time([chain], MACHINE, 64)
    assert time.overlapping == pytest.approx(10 * 20 * CYCLE)
    assert time.slots == pytest.approx(10 * 9 * CYCLE)
    long = replace(body({"fp_add": 9}, loads=8, executions=10, because=SCALAR), steps=STEPS)
    time = core_time([chain, long], windowed(1), 64)
    assert time.overlapping == pytest.approx(10 * (20 + 41) * CYCLE)
    assert time.slots == pytest.approx(10 * (9 + 9) * CYCLE)


def test_without_what_scalars_carry_sums_still_wait() -> None:
    both = body({"fp_add": 1}, recurrences=[sum_of("fp_add"), in_order("fp_add fp_mul")])
    assert cycles(both)[0] == 9
    off = core_time([both], MACHINE, 64, Parts(carried_cycles=False))
    assert off.overlapping == pytest.approx(4 * CYCLE)
    assert off.notes == ("i (line 7): scalar, sum into s; recurrence, 4 cycles per iteration",)


def test_without_chains_a_sum_that_begins_anew_is_one_chain() -> None:
    sums = sum_of("fp_div")._replace(restarts=True)
    short = replace(body({"fp_div": 0.1}, loads=1.9, recurrences=[sums]), trips=8.0)
    off = core_time([short], MACHINE, 64, Parts(chains=False))
    assert off.overlapping == pytest.approx(20 * CYCLE)


def test_a_sum_through_memory_waits_for_the_store_before_it() -> None:
    """4 cycles for the addition and 7 from store to load; freed or not, it stays one chain."""
    chain = sum_of("fp_add")._replace(stored=True, forwarded=True)
    for unordered in (False, True):
        loop = body({"fp_add": 1}, recurrences=[chain._replace(unordered=unordered)])
        assert cycles(loop)[0] == 11
    time = core_time([body({"fp_add": 1}, recurrences=[chain])], MACHINE, 64)
    assert "processor.store_forward" in time.figures
    off = core_time([body({"fp_add": 1}, recurrences=[chain])], MACHINE, 64, Parts(kept_sums=False))
    assert off.notes == ("i (line 7): scalar, sum into s; recurrence, 4 cycles per iteration",)


def test_a_sum_that_is_stored_but_not_loaded_waits_for_itself_alone() -> None:
    """Its product is fused, since no vector forms it: 6 cycles; and one more store an iteration."""
    chain = sum_of("fp_mul", "fp_add")._replace(stored=True, unordered=True)
    loop = replace(
        body({"fp_add": 1}, loads=1, recurrences=[chain]), kept=ConstantAccesses(2.0, 3.0)
    )
    assert cycles(loop) == (6, pytest.approx(3.0))  # one store a cycle
    off = core_time([loop], MACHINE, 64, Parts(kept_sums=False))
    assert off.loading < 3.0 * CYCLE


def test_a_recurrence_through_memory_takes_the_store_in_place_of_a_load() -> None:
    """An addition of 4 cycles and 7 from store to load, every second iteration."""
    chain = Recurrence("a[i-2]", (("fp_add",),), 2.0, forwarded=True)
    assert cycles(body(recurrences=[chain]))[0] == 11 / 2
    off = core_time([body(recurrences=[chain])], MACHINE, 64, Parts(kept_sums=False))
    assert off.overlapping == pytest.approx((4 + 4) / 2 * CYCLE)
