"""Default values for missing entries of a machine file, marked as assumptions.

Formulas of OpenMP costs use `t`, the cycles for moving a cache line between two cores of a socket.
`t` is 1.4 times the latency of a cache shared by the whole socket, or the latency of memory without
such a cache. The formulas were fitted to barriers that grow by about one `t` per thread. They were
measured on Skylake-SP with 20 cores, EPYC Naples with 24 and ThunderX2 with 32 (RRZE SC19-ECM-AA).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from regionpredict.machine.model import Cache, Node, Operation, Overheads
from regionpredict.machine.quantity import Curve, Quantity

OPERATION_CYCLES: dict[str, tuple[float, float]] = {
    # kind: (latency, throughput) of a scalar operation on a present core, in cycles
    "fp_add": (4, 1),
    "fp_mul": (4, 1),
    "fp_fma": (4, 1),
    "fp_div": (20, 10),
    "fp_sqrt": (25, 12),
    "fp_compare": (3, 1),
    "fp_neg": (1, 1),
    "fp_convert": (6, 1),
    "int_add": (1, 0.5),
    "int_mul": (3, 1),
    "int_div": (30, 20),
    "int_compare": (1, 0.5),
    "int_logic": (1, 0.5),
    "call": (30, 30),
    "exp": (50, 30),
    "log": (60, 35),
    "sin": (70, 45),
    "cos": (70, 45),
    "tan": (110, 80),
    "pow": (130, 90),
    "atan": (80, 60),
    "exp2": (45, 25),
    "log2": (60, 35),
    "log10": (65, 40),
    "cbrt": (80, 60),
    "hypot": (50, 40),
    "fmod": (60, 50),
    "floor": (8, 2),
}
"""The default latency and reciprocal throughput of each operation in cycles.

The values are typical of cores since 2010 and of scalar calls of a math library. InstLatx64 and
OSACA give 3 to 6 cycles for floating-point additions and multiplications. Agner Fog gives 4 to 7
cycles for conversions between integers and floating-point numbers.
"""

CACHE_WAYS = 8
LEVEL_LATENCY = {1: 4.0, 2: 14.0, 3: 50.0}
LEVEL_BYTES_PER_CYCLE = {1: 32.0, 2: 16.0, 3: 8.0}
MEMORY_LATENCY_NS = 90.0
REMOTE_LATENCY_FACTOR = 1.6
LINK_SHARE = 0.5
"""The default bandwidth of a link relative to a socket's memory bandwidth, between Skylake-SP (a
third) and EPYC Rome (two thirds).
"""
TEAM_CHANGE_CYCLES = 25_000.0
"""The default cycles per thread of the larger region for a change of the number of threads.

On two cores of 2.4 GHz, libgomp 12 takes 84 µs to change between 8 and 4 threads. It ends threads
and creates them again.
"""
FIRST_TEAM_CYCLES = 50_000.0
"""The default cycles for the creation of each thread in a program's first parallel region."""
FIRST_TOUCH_CYCLES = 1000.0
FIRST_TOUCH_MOST = 10_000.0
FIRST_TOUCH_CROWD = 64
"""The number of concurrent threads up to which the cost of a page fault grows, from
`FIRST_TOUCH_CYCLES` to `FIRST_TOUCH_MOST` cycles. The threads wait for a lock of their address
space.
"""
LATENCY_FACTOR = 0.6
"""The default weight of a latency miss relative to a streaming miss (see docs/machines.md)."""


def first_touch_cycles(threads: int) -> float:
    """Returns the default cycles of a page fault of 4 KiB with this number of concurrent
    threads.
    """
    part = (min(threads, FIRST_TOUCH_CROWD) - 1) / (FIRST_TOUCH_CROWD - 1)
    return FIRST_TOUCH_CYCLES + part * (FIRST_TOUCH_MOST - FIRST_TOUCH_CYCLES)


def assumed(value: float, unit: str, reason: str) -> Quantity:
    """Returns an assumed number with its reason."""
    return Quantity(value, unit, "assumed", f"default: {reason}")


def operation(kind: str, known: Mapping[str, Operation]) -> Operation:
    """Returns the default cost of a kind of operation.

    A fused multiply-add costs as much as a given multiplication and a given addition together.
    """
    if kind == "fp_fma" and "fp_add" in known and "fp_mul" in known:
        add, mul = known["fp_add"], known["fp_mul"]
        why = "a multiplication and an addition, since no fused instruction is given"
        return Operation(
            assumed(add.latency_cycles.value + mul.latency_cycles.value, "cycles", why),
            assumed(add.throughput_cycles.value + mul.throughput_cycles.value, "cycles", why),
        )
    latency, throughput = OPERATION_CYCLES[kind]
    why = "typical of current cores"
    return Operation(assumed(latency, "cycles", why), assumed(throughput, "cycles", why))


def line_transfer_cycles(node: Node, caches: Sequence[Cache], memory_latency: float) -> float:
    """Returns the default cycles for moving a cache line between two cores of a socket."""
    outer = caches[-1]
    if outer.shared_by_cores.value >= node.cores_per_package.value:
        return 1.4 * outer.latency_cycles.value
    return min(memory_latency, 250.0)


def thread_counts(cores: int) -> tuple[int, ...]:
    """Returns the numbers of threads 1, 2, 4, 8 ... and `cores`, at which default formulas are
    evaluated.
    """
    counts, count = [1], 2
    while count < cores:
        counts.append(count)
        count *= 2
    return (*counts, cores) if cores > 1 else (1, 2)


def overheads(node: Node, t: float, given: Mapping[str, Curve], far_line: Quantity) -> Overheads:
    """Returns the costs of OpenMP constructs: the given ones, or default formulas of `t` and the
    number of threads p.

    The formulas of synchronizing constructs are for one socket. Threads on other sockets add
    `far_line`.
    """
    inside = thread_counts(node.cores_per_package.whole)
    all_cores = thread_counts(node.cores_per_package.whole * node.packages.whole)
    line = f"t = {t:.0f} cycles for a line between two cores"

    def met(name: str, formula: str, cost: Callable[[int], float]) -> Curve:
        return curve(name, f"{formula}, {line}", inside, cost)

    def own(name: str, formula: str, cost: Callable[[int], float]) -> Curve:
        return curve(name, formula, all_cores, cost)

    def curve(
        name: str, formula: str, counts: Sequence[int], cost: Callable[[int], float]
    ) -> Curve:
        if name in given:
            return given[name]
        costs = tuple(cost(p) for p in counts)
        source = f"default: {formula}"
        return Curve(tuple(counts), costs, "cycles", "assumed", source, "proportional")

    def one_or_more(of_one: float, cost: Callable[[int], float]) -> Callable[[int], float]:
        """Returns a function with a separate value for one thread."""
        return lambda p: cost(p) if p > 1 else of_one

    touch = own("first_touch", "1000, growing linearly to 10,000 on 64 threads", first_touch_cycles)
    barrier = met("barrier", "t (p + 4), 50 on 1 thread", one_or_more(50.0, lambda p: t * (p + 4)))
    return Overheads(
        fork_join=met("fork_join", "500 + 1.5 barrier(p)", lambda p: 500.0 + 1.5 * barrier.at(p)),
        barrier=barrier,
        reduction=met("reduction", "t p, 20 on 1 thread", one_or_more(20.0, lambda p: t * p)),
        dynamic_chunk=met(
            "dynamic_chunk", "20 + t p, 40 on 1 thread", one_or_more(40.0, lambda p: 20.0 + t * p)
        ),
        atomic=met("atomic", "t p, 20 on 1 thread", one_or_more(20.0, lambda p: t * p)),
        critical=met("critical", "3 t p, 60 on 1 thread", one_or_more(60.0, lambda p: 3.0 * t * p)),
        first_touch=touch,
        first_touch_beyond=given.get("first_touch_beyond", touch),
        line_transfer=own(
            "line_transfer", f"t / 4, 0.1 on 1 thread, {line}", one_or_more(0.1, lambda _: t / 4)
        ),
        bulk_transfer=own(
            "bulk_transfer", f"t / 12, 0.1 on 1 thread, {line}", one_or_more(0.1, lambda _: t / 12)
        ),
        team_change=own(
            "team_change", f"{TEAM_CHANGE_CYCLES:.0f} p, 0.1 on 1 thread",
            one_or_more(0.1, lambda p: TEAM_CHANGE_CYCLES * p),
        ),
        first_team=own(
            "first_team", f"{FIRST_TEAM_CYCLES:.0f} (p - 1), 0.1 on 1 thread",
            one_or_more(0.1, lambda p: FIRST_TEAM_CYCLES * (p - 1)),
        ),
        far_line=far_line,
    )  # fmt: skip
