"""Computes the cycles of one core if all data are in the first-level cache: throughput limits, SIMD
and dependence chains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.curve import CoreTime
from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts
from regionpredict.predict.saturation.constants import (
    BYTE,
    CHAIN_OVERLAP,
    INTERLEAVED_SUMS,
    LONG_INTEGER,
    LOOP_CONTROL,
    MASKED_BITS,
    OUTER_BODY,
    RESERVED_REGISTERS,
    SCALAR_LOAD,
)
from regionpredict.workload import NONE_KEPT, LoopBody, Recurrence, Step

_PORTS = ("loads_per_cycle", "stores_per_cycle", "memory_operations_per_cycle",
          "load_bytes_per_cycle", "store_bytes_per_cycle")  # fmt: skip
_ON_PIPES = frozenset({"fp_add", "fp_neg", "fp_compare", "fp_mul"})
_WINDOWED = "dependency chain of an iteration"
_CHAINS = ("recurrence", _WINDOWED)
_DIVISIONS = frozenset({"fp_div", "fp_sqrt"})


def core_time(
    bodies: Sequence[LoopBody], machine: Machine, line_bytes: int, parts: Parts = ALL_PARTS
) -> CoreTime:
    """Returns the seconds of one core for one execution of the loops, if all data are in the
    first-level cache.
    """
    overlapping = slots = loading = heaviest = 0.0
    notes = []
    figures: tuple[str, ...] = ()
    for body in bodies:
        cycles = _body_cycles(body, machine, line_bytes, parts)
        overlapping += cycles.overlapping * body.executions
        slots += cycles.slots * body.executions
        loading += cycles.loading * body.executions
        notes.append(cycles.note)
        weight = max(cycles.overlapping, cycles.loading) * body.executions
        if weight > heaviest:
            heaviest, figures = weight, cycles.figures
    clock = machine.clock_hz
    return CoreTime(overlapping / clock, loading / clock, tuple(notes), figures, slots / clock)


class BodyCycles(NamedTuple):
    """The cycles of one iteration in the same parts as `CoreTime`, an explanation, and the keys of
    the deciding machine figures.
    """

    overlapping: float
    loading: float
    note: str
    figures: tuple[str, ...]
    slots: float


class _ResourceBound(NamedTuple):
    """A lower bound of the cycles per iteration by one resource, with the keys of the machine
    figures used.
    """

    cycles: float
    figures: tuple[str, ...]


def _body_cycles(body: LoopBody, machine: Machine, line_bytes: int, parts: Parts) -> BodyCycles:
    if not parts.carried_cycles:
        body = replace(body, recurrences=tuple(c for c in body.recurrences if not c.in_order))
    if not parts.kept_sums:
        registers = (c._replace(stored=False, forwarded=False) for c in body.recurrences)
        body = replace(body, recurrences=tuple(registers), kept=NONE_KEPT)
    size = body.element_bytes
    ordered = [chain for chain in body.recurrences if chain.stored or not chain.unordered]
    _, why = _longest_recurrence(ordered, body, machine)
    reason = why or body.scalar_because
    if not reason and body.masked and not (parts.masks and _has_masks(machine)):
        reason = "conditional"
    full = 1.0 if reason else max(1.0, machine.simd_bits / BYTE.value / size)
    lanes = _mean_lanes(body.trips, full) if parts.vector_ends else full
    operations = dict(body.on_all_sides if lanes > 1 and body.on_all_sides else body.operations)
    loads = body.loads + body.kept.loads + _spilled_scalars(body, machine)
    stores = body.stores + body.kept.stores
    bounds = _arithmetic_cycles(operations, machine, lanes, BYTE.value * size, parts)
    instructions = _instruction_count(operations, machine) + loads + stores
    instructions += LOOP_CONTROL.value if body.innermost else OUTER_BODY.value
    width = machine.processor.issue_width.value
    bounds["issue"] = _ResourceBound(instructions / width / lanes, ("processor.issue_width",))
    bounds["recurrence"] = _carried_cycles(body, instructions, lanes, machine, parts)
    if body.innermost and parts.chains:
        bounds[_WINDOWED] = _chain_limit(body, instructions, lanes, machine)
    split = (lanes - 1) * size / line_bytes
    ports = _port_cycles(loads * (1 + split), stores * (1 + split), lanes * size, machine,
                         vector=lanes > 1) / lanes  # fmt: skip
    name = max(bounds, key=lambda name: bounds[name].cycles)
    longest = bounds[name]
    figures = longest.figures
    if ports > longest.cycles:
        name = "loads and stores"
        figures = tuple(f"caches[0].bandwidth.{kernel}" for kernel in machine.caches[0].bandwidth)
        figures += tuple(f"processor.{name}" for name in _PORTS)
    note = f"{body.variable} (line {body.line}): "
    note += f"scalar, {reason}" if reason else _lanes_text(lanes, full)
    note += f"; {name}, {max(longest.cycles, ports):.3g} cycles per iteration"
    slots = max(bound.cycles for kind, bound in bounds.items() if kind not in _CHAINS)
    windowed = bounds.get(_WINDOWED)
    if windowed is not None and machine.threads_per_physical_core > 1:
        slots = max(slots, windowed.cycles / _window_speedup(instructions, machine))
    return BodyCycles(longest.cycles, ports, note, figures, slots)


def _carried_cycles(
    body: LoopBody, instructions: float, lanes: float, machine: Machine, parts: Parts
) -> _ResourceBound:
    """Returns the cycles per iteration due to loop-carried dependence chains.

    A reorderable sum has one partial sum per lane of several vectors. A chain that restarts in each
    outer iteration overlaps with the previous chain, limited by the core's instruction window.
    """
    room = machine.processor.window.value
    own = body.trips * instructions / lanes
    alone = own / (own + CHAIN_OVERLAP.value * room) if parts.chains else 1.0
    longest = 0.0
    for recurrence in body.recurrences:
        vectors = INTERLEAVED_SUMS.value if parts.interleaved_sums else 1.0
        cycles = (
            recurrence.share
            * _chain_cycles(recurrence, body, machine)
            / (lanes * vectors if recurrence.unordered and not recurrence.stored else 1.0)
        )
        longest = max(longest, cycles * (alone if recurrence.restarts else 1.0))
    kinds = {
        kind.removeprefix("call:")
        for recurrence in body.recurrences for kinds in recurrence.operations for kind in kinds
        if kind != "load"
    }  # fmt: skip
    forwarded = any(chain.forwarded for chain in body.recurrences)
    memory = ("processor.store_forward",) if forwarded else ()
    return _ResourceBound(longest, (*_summed_latencies(kinds), *memory))


def _mean_lanes(trips: float, full: float) -> float:
    """Returns the number of iterations per vector, averaged over the vectors of one execution of a
    loop.

    Remaining iterations after vectors of `full` lanes use vectors of half, a quarter and so on of
    the lanes. For example, five iterations are one vector of four lanes and one scalar.

    >>> _mean_lanes(5.0, 8.0), _mean_lanes(16.0, 4.0), _mean_lanes(3.0, 1.0)
    (2.5, 4.0, 1.0)
    """
    if full <= 1.0 or not 0.0 < trips < math.inf:
        return full
    vectors, left = divmod(trips, full)
    vectors += round(left).bit_count()
    # The trip count is a mean. It may be below 1, or slightly above a multiple of the lanes.
    return min(full, max(1.0, trips / max(vectors, 1.0)))


def _lanes_text(lanes: float, full: float) -> str:
    """Formats the number of used vector lanes. If almost all lanes are used, the text names all.

    >>> _lanes_text(8.0, 8.0), _lanes_text(2.5, 8.0), _lanes_text(1.5, 2.0)
    ('8 lanes', '2.5 of 8 lanes', '1.5 of 2 lanes')
    """
    all_used = full - lanes < min(0.5, full / 16)
    return f"{full:.0f} lanes" if all_used else f"{lanes:.1f} of {full:.0f} lanes"


def _has_masks(machine: Machine) -> bool:
    """Whether the machine has masked vector loads and stores."""
    return machine.simd_bits >= MASKED_BITS.value


def _summed_latencies(kinds: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"operations.{kind}.latency" for kind in sorted(kinds))


def _spilled_scalars(body: LoopBody, machine: Machine) -> float:
    """Returns the number of loads per iteration of scalars that do not fit into registers."""
    free = machine.processor.vector_registers.value - RESERVED_REGISTERS.value
    return max(0, body.scalars - free) if body.innermost else 0


def _port_cycles(
    loads: float, stores: float, width: float, machine: Machine, *, vector: bool
) -> float:
    """Returns the cycles in which the load and store ports are busy with accesses of `width`
    bytes.
    """
    core = machine.processor
    load_rate, store_rate = core.loads_per_cycle.value, core.stores_per_cycle.value
    if vector:
        load_rate = min(load_rate, _vector_load_bytes(machine) / width)
        store_rate = min(store_rate, core.store_bytes_per_cycle.value / width)
    both = (loads + stores) / core.memory_operations_per_cycle.value
    return max(loads / load_rate, stores / store_rate, both)


def _vector_load_bytes(machine: Machine) -> float:
    """Returns the measured bytes per cycle of vector loads on one core, or the limit of the
    ports.
    """
    core, curve = machine.processor, machine.caches[0].bandwidth.get("load")
    measured = curve.at(1) / machine.clock_hz if curve is not None else 0.0
    if measured > SCALAR_LOAD.value * core.loads_per_cycle.value:
        return measured
    return core.load_bytes_per_cycle.value


def _arithmetic_cycles(
    operations: Mapping[str, float], machine: Machine, lanes: float, element_bits: float,
    parts: Parts,
) -> dict[str, _ResourceBound]:  # fmt: skip
    """Returns the cycles of the arithmetic in one iteration, if a vector executes `lanes`
    iterations.

    Divisions and square roots use a separate divider in parallel to the other pipes. Calls use the
    whole core.
    """
    core = machine.processor
    count = dict(operations)
    adds, muls, fused = _fused_counts(count, machine)
    pipes = _pipe_cycles(adds, muls, fused, machine)
    divider = integers = calls = 0.0
    for kind, times in count.items():
        name = kind.removeprefix("call:")
        cycles = machine.operation(name).throughput_cycles.value
        if kind in _ON_PIPES:
            continue
        if kind in _DIVISIONS:
            divider += times * cycles * max(1.0, lanes * element_bits / core.divider_bits.value)
        elif kind in ("int_add", "int_compare", "int_logic"):
            integers += times / core.integer_pipes.value
        elif kind == "int_mul":
            integers += times * cycles * LONG_INTEGER.value
        elif kind == "int_div":
            integers += times * cycles
        else:
            calls += times * cycles
    named = {"arithmetic": pipes, "divisions and roots": divider, "integers": integers}
    if not parts.divider_beside:
        named = {"arithmetic": sum(named.values())}
    used = {name for name, cycles in named.items() if cycles} or {"arithmetic"}
    return {
        name: _ResourceBound((cycles + calls) / lanes, _throughput_keys(operations, name, machine))
        for name, cycles in named.items()
        if name in used
    }


def _throughput_keys(
    operations: Mapping[str, float], name: str, machine: Machine
) -> tuple[str, ...]:
    """Returns the keys of the machine figures for one part of the arithmetic and for calls."""
    names = set()
    for kind, times in operations.items():
        own = "integers" if kind.startswith("int_") else ""
        if kind.startswith("fp_"):
            own = "divisions and roots" if kind in _DIVISIONS else "arithmetic"
        if times and own in ("", name):
            plain = kind.removeprefix("call:")
            names.add(plain if plain in machine.operations else "call")
    return tuple(f"operations.{kind}.throughput" for kind in sorted(names))


def _fused_counts(count: Mapping[str, float], machine: Machine) -> tuple[float, float, float]:
    """Returns the numbers of additions, multiplications and fused multiply-adds, with as many fused
    operations as possible.
    """
    adds = sum(count.get(kind, 0.0) for kind in ("fp_add", "fp_neg", "fp_compare"))
    muls = count.get("fp_mul", 0.0)
    fused = min(adds, muls) if _has_fused(machine) else 0.0
    return adds - fused, muls - fused, fused


def _instruction_count(operations: Mapping[str, float], machine: Machine) -> float:
    """Returns the number of arithmetic instructions in one iteration."""
    others = sum(times for kind, times in operations.items() if kind not in _ON_PIPES)
    return sum(_fused_counts(operations, machine)) + others


def _chain_limit(
    body: LoopBody, instructions: float, lanes: float, machine: Machine
) -> _ResourceBound:
    """Returns the cycles per iteration due to the longest dependence chain inside an iteration.

    The core's instruction window limits the number of concurrent iterations (Little's law). If one
    iteration fills the window, it takes the latency of its chain.
    """
    window = machine.processor.window.value
    ends: list[float] = []
    for step in body.steps:
        begin = max((ends[before] for before in step.after), default=0.0)
        begin = max(begin, step.loads * machine.caches[0].latency_cycles.value)
        ends.append(begin + _statement_latency(step, machine, reassociates=body.reassociates))
    chain = max(ends, default=0.0)
    kinds = {kind.removeprefix("call:") for step in body.steps for kind, _ in step.operations}
    figures = ("processor.window", *_summed_latencies(kinds & machine.operations.keys()))
    return _ResourceBound(chain * min(1.0, instructions / window) / lanes, figures)


def _window_speedup(instructions: float, machine: Machine) -> float:
    """Returns the speedup of a core with all its hardware threads, if its instruction window limits
    the overlap of iterations.

    The window is divided among the threads (Intel, "64 and IA-32 Architectures Optimization
    Reference Manual", 2015, sec. 2.5.1.2). The speedup is 1 if each part holds an iteration.
    """
    threads = float(machine.threads_per_physical_core)
    share = threads * instructions / machine.processor.window.value
    return max(1.0, min(threads, share))


def _statement_latency(step: Step, machine: Machine, *, reassociates: bool) -> float:
    """Returns the cycles from the operands of a statement to its result.

    C adds from left to right, so additions form a chain, each fused with its product. Products of
    products also form a chain (`x * x * x`). Reorderable sums and products form a tree. Independent
    products are executed in parallel, and divisions and calls one after the other. Integer
    operations are ignored.
    """
    count = dict(step.operations)
    adds, muls, fused = _fused_counts(count, machine)
    last = "fp_fma" if fused else "fp_add"
    levels = adds + fused
    alone: int = sum(
        kind == "fp_mul" and (not fused or following != "fp_add")
        for kind, following in zip_longest(step.chain, step.chain[1:])
    )
    products = min(muls, max(1.0, float(alone)))
    if reassociates:
        levels, products = math.ceil(math.log2(1.0 + levels)), math.ceil(math.log2(1.0 + products))
    cycles = levels * machine.operation(last).latency_cycles.value
    cycles += products * machine.operation("fp_mul").latency_cycles.value
    for kind, times in count.items():
        if kind not in _ON_PIPES and not kind.startswith("int_"):
            name = kind.removeprefix("call:")
            cycles += times * machine.operation(name).latency_cycles.value
    return cycles


def _pipe_cycles(adds: float, muls: float, fused: float, machine: Machine) -> float:
    """Returns the cycles in which the floating-point pipes are busy with additions, multiplications
    and fused operations.

    The result is the maximum of the bounds for adding pipes, for multiplying pipes, and for all
    pipes together.
    """
    core = machine.processor
    add, mul, fma = (
        machine.operation(kind).throughput_cycles.value for kind in ("fp_add", "fp_mul", "fp_fma")
    )
    adding, multiplying = adds * add, muls * mul + fused * fma
    occupied = adding * core.fp_add_pipes.value + multiplying * core.fp_mul_pipes.value
    return max(adding, multiplying, occupied / core.fp_pipes.value)


def _longest_recurrence(
    chains: Sequence[Recurrence], body: LoopBody, machine: Machine
) -> tuple[float, str]:
    """Returns the cycles per iteration and the name of the slowest recurrence. Without recurrences,
    the result is (0, "").
    """
    worst, name = 0.0, ""
    for chain in chains:
        cycles = chain.share * _chain_cycles(chain, body, machine)
        if cycles > worst:
            worst, name = cycles, chain.name
    return worst, name


def _chain_cycles(chain: Recurrence, body: LoopBody, machine: Machine) -> float:
    """Returns the cycles from one value of a recurrence to the next value, including store
    forwarding.
    """
    forward = machine.processor.store_forward.value if chain.forwarded else 0.0
    if chain.in_order:
        assert chain.distance is not None
        return (_chained_latency(chain.operations[0], machine) + forward) / chain.distance
    if chain.distance is None:
        fuses = _fuses_sums(chain, body, machine)
        joining = (_update_latency(kinds, machine, fuses=fuses) for kinds in chain.operations)
        return max(joining, default=0.0) + forward
    latencies = [
        machine.operation(kind).latency_cycles.value for kinds in chain.operations for kind in kinds
    ]
    # Without a possible alias in between, a store and its load take about the latency of the first
    # cache.
    return (sum(latencies) + (forward or machine.caches[0].latency_cycles.value)) / chain.distance


def _chained_latency(kinds: Sequence[str], machine: Machine) -> float:
    """Returns the latency of a chain of dependent operations in cycles.

    A multiplication directly followed by an addition is one operation on machines with fused
    multiply-add.
    """
    fused_kinds: list[str] = []
    for kind in kinds:
        if kind == "fp_add" and fused_kinds and fused_kinds[-1] == "fp_mul" and _has_fused(machine):
            fused_kinds[-1] = "fp_fma"
        else:
            fused_kinds.append(kind.removeprefix("call:"))
    load = machine.caches[0].latency_cycles.value
    return sum(
        load if kind == "load" else machine.operation(kind).latency_cycles.value
        for kind in fused_kinds
    )


def _update_latency(kinds: Sequence[str], machine: Machine, *, fuses: bool) -> float:
    """Returns the latency of the operation that updates a sum, which waits for the previous
    iteration.

    The operation is a fused multiply-add if the compiler `fuses` a product and its addition.
    """
    if "fp_add" not in kinds:
        return machine.operation(kinds[0]).latency_cycles.value if kinds else 0.0
    last = "fp_fma" if "fp_mul" in kinds and fuses else "fp_add"
    return machine.operation(last).latency_cycles.value


def _fuses_sums(chain: Recurrence, body: LoopBody, machine: Machine) -> bool:
    """Whether the compiler fuses a product with its addition to a running sum.

    In a loop that is scalar only because of its sum, GCC from -O3 on computes products in vectors,
    and adds them one by one.
    """
    scalar = body.scalar_because or any(other.stored for other in body.recurrences)
    in_vectors = not (chain.unordered or scalar) and machine.simd_bits > (
        BYTE.value * body.element_bytes
    )
    return _has_fused(machine) and not in_vectors and machine.processor.fused_sums.value > 0.0


def _has_fused(machine: Machine) -> bool:
    """Whether the machine's fused multiply-add is faster than a separate addition and
    multiplication.
    """
    add, mul, fma = (
        machine.operation(kind).throughput_cycles.value for kind in ("fp_add", "fp_mul", "fp_fma")
    )
    return fma < add + mul
