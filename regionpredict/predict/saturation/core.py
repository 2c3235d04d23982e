"""Cycles of one core with its data in the first cache: throughput, SIMD, recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.curve import CoreTime
from regionpredict.predict.saturation.constants import (
    BYTE,
    LONG_INTEGER,
    LOOP_CONTROL,
    OUTER_BODY,
    RESERVED_REGISTERS,
    SCALAR_LOAD,
)
from regionpredict.workload import LoopBody, Recurrence

_PORTS = ("loads_per_cycle", "stores_per_cycle", "memory_operations_per_cycle",
          "load_bytes_per_cycle", "store_bytes_per_cycle")  # fmt: skip


def core_time(bodies: Sequence[LoopBody], machine: Machine, line_bytes: int) -> CoreTime:
    """Seconds of one core for one run of the loops, all data in the first cache."""
    overlapping = slots = loading = heaviest = 0.0
    notes = []
    figures: tuple[str, ...] = ()
    for body in bodies:
        cycles = _body_cycles(body, machine, line_bytes)
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
    """Cycles of one iteration as `CoreTime` has seconds, how it was judged, and by what figures."""

    overlapping: float
    loading: float
    note: str
    figures: tuple[str, ...]
    slots: float


def _body_cycles(body: LoopBody, machine: Machine, line_bytes: int) -> BodyCycles:
    size = body.element_bytes
    ordered = [chain for chain in body.recurrences if not chain.unordered]
    chain, why = _recurrence(ordered, machine)
    reason = why or body.scalar_because
    lanes = 1.0 if reason else max(1.0, machine.simd_bits / BYTE.value / size)
    # Partial sums, one a lane: each addition of vectors still waits for the one before it.
    free, _ = _recurrence([one for one in body.recurrences if one.unordered], machine)
    chain = max(chain, free / lanes)
    arithmetic, instructions = _arithmetic(body, machine, lanes, BYTE.value * size)
    loads, stores = body.loads + _spilled_scalars(body, machine), body.stores
    if not body.innermost:
        instructions += OUTER_BODY.value
    control = LOOP_CONTROL.value if body.innermost else 0.0
    issue = (instructions + loads + stores + control) / machine.processor.issue_width.value / lanes
    split = (lanes - 1) * size / line_bytes
    ports = _port_cycles(loads * (1 + split), stores * (1 + split), lanes * size, machine,
                         vector=lanes > 1) / lanes  # fmt: skip
    note = f"{body.variable} (line {body.line}): "
    note += f"scalar, {reason}" if reason else f"{lanes:.0f} lanes"
    longest = max(arithmetic, issue, chain)
    if ports > longest:
        figures = [f"caches[0].bandwidth.{kernel}" for kernel in machine.caches[0].bandwidth]
        figures += [f"processor.{name}" for name in _PORTS]
    elif longest == chain:
        kinds = {kind for one in body.recurrences for kinds in one.operations for kind in kinds}
        figures = [f"operations.{kind}.latency" for kind in sorted(kinds)]
    elif longest == arithmetic:
        names = {kind.removeprefix("call:") for kind, times in body.operations if times}
        kinds = {name if name in machine.operations else "call" for name in names}
        figures = [f"operations.{kind}.throughput" for kind in sorted(kinds)]
    else:
        figures = ["processor.issue_width"]
    return BodyCycles(longest, ports, note, tuple(figures), max(arithmetic, issue))


def _spilled_scalars(body: LoopBody, machine: Machine) -> float:
    """Loads of an iteration for scalars that find no register."""
    free = machine.processor.vector_registers.value - RESERVED_REGISTERS.value
    return max(0, body.scalars - free) if body.innermost else 0


def _port_cycles(
    loads: float, stores: float, width: float, machine: Machine, *, vector: bool
) -> float:
    """Cycles in which the ports of the first cache take loads and stores of `width` bytes."""
    core = machine.processor
    load_rate, store_rate = core.loads_per_cycle.value, core.stores_per_cycle.value
    if vector:
        load_rate = min(load_rate, _vector_load_bytes(machine) / width)
        store_rate = min(store_rate, core.store_bytes_per_cycle.value / width)
    both = (loads + stores) / core.memory_operations_per_cycle.value
    return max(loads / load_rate, stores / store_rate, both)


def _vector_load_bytes(machine: Machine) -> float:
    """Bytes a cycle that vector loads read: as measured on one core, else what the ports take."""
    core, curve = machine.processor, machine.caches[0].bandwidth.get("load")
    measured = curve.at(1) / machine.clock_hz if curve is not None else 0.0
    if measured > SCALAR_LOAD.value * core.loads_per_cycle.value:
        return measured
    return core.load_bytes_per_cycle.value


def _arithmetic(
    body: LoopBody, machine: Machine, lanes: float, element_bits: float
) -> tuple[float, float]:
    """(cycles, instructions) of the arithmetic of one iteration, `lanes` iterations at once."""
    core = machine.processor
    count = dict(body.operations)
    adds = count.pop("fp_add", 0.0) + count.pop("fp_neg", 0.0) + count.pop("fp_compare", 0.0)
    muls = count.pop("fp_mul", 0.0)
    fused = min(adds, muls) if _fuses(machine) else 0.0
    pipes = _pipe_cycles(adds - fused, muls - fused, fused, machine)
    instructions = adds + muls - fused
    other = 0.0
    for kind, times in count.items():
        name = kind.removeprefix("call:")
        cycles = machine.operation(name).throughput_cycles.value
        if kind in ("fp_div", "fp_sqrt"):
            cycles *= max(1.0, lanes * element_bits / core.divider_bits.value)
        if kind in ("int_add", "int_compare", "int_logic"):
            cycles = 1.0 / core.integer_pipes.value
        elif kind in ("int_mul", "int_div"):
            cycles *= LONG_INTEGER.value
        other += times * cycles
        instructions += times
    return (pipes + other) / lanes, instructions


def _pipe_cycles(adds: float, muls: float, fused: float, machine: Machine) -> float:
    """Cycles in which the pipes take additions, multiplications and fused operations.

    No less than those that add need for the one, those that multiply for the others, and all of
    them for everything, where some do both.
    """
    core = machine.processor
    add, mul, fma = (
        machine.operation(kind).throughput_cycles.value for kind in ("fp_add", "fp_mul", "fp_fma")
    )
    adding, multiplying = adds * add, muls * mul + fused * fma
    occupied = adding * core.fp_add_pipes.value + multiplying * core.fp_mul_pipes.value
    return max(adding, multiplying, occupied / core.fp_pipes.value)


def _recurrence(chains: Sequence[Recurrence], machine: Machine) -> tuple[float, str]:
    """(cycles of the longest chain of one iteration, its name); (0, "") where there is none."""
    worst, name = 0.0, ""
    for chain in chains:
        cycles = _chain_cycles(chain, machine)
        if cycles > worst:
            worst, name = cycles, chain.name
    return worst, name


def _chain_cycles(chain: Recurrence, machine: Machine) -> float:
    if chain.distance is None:
        return max((_joining(kinds, machine) for kinds in chain.operations), default=0.0)
    latencies = [
        machine.operation(kind).latency_cycles.value for kinds in chain.operations for kind in kinds
    ]
    # Store and load of the element take about as long as the first cache.
    return (sum(latencies) + machine.caches[0].latency_cycles.value) / chain.distance


def _joining(kinds: Sequence[str], machine: Machine) -> float:
    """Latency of the operation that joins a sum: only this one waits for the iteration before.

    A product is added by the fused operation where the machine has it.
    """
    if "fp_add" not in kinds:
        return machine.operation(kinds[0]).latency_cycles.value if kinds else 0.0
    last = "fp_fma" if "fp_mul" in kinds and _fuses(machine) else "fp_add"
    return machine.operation(last).latency_cycles.value


def _fuses(machine: Machine) -> bool:
    """Whether the machine adds a product in one operation."""
    add, mul, fma = (
        machine.operation(kind).throughput_cycles.value for kind in ("fp_add", "fp_mul", "fp_fma")
    )
    return fma < add + mul
