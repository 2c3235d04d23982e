"""Cycles of one core with its data in the first cache: throughput, SIMD, recurrences."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine import Machine
from regionpredict.predict.curve import CoreTime
from regionpredict.predict.saturation.constants import (
    DIVIDER_LANES,
    FEWEST_LOADS,
    INTEGER_PIPES,
    ISSUE_WIDTH,
    LOOP_CONTROL,
    OUTER_BODY,
    REGISTERS,
    RESERVED_REGISTERS,
    WIDE_PORTS,
    WIDE_REGISTER_BITS,
    WIDE_REGISTERS,
)
from regionpredict.workload import LoopBody, Recurrence


def core_time(bodies: Sequence[LoopBody], machine: Machine, line_bytes: int) -> CoreTime:
    """Seconds of one core for one run of the loops, all data in the first cache."""
    overlapping = loading = 0.0
    notes = []
    for body in bodies:
        over, load, note = _body_cycles(body, machine, line_bytes)
        overlapping += over * body.executions
        loading += load * body.executions
        notes.append(note)
    return CoreTime(overlapping / machine.clock_hz, loading / machine.clock_hz, tuple(notes))


def _body_cycles(body: LoopBody, machine: Machine, line_bytes: int) -> tuple[float, float, str]:
    """(overlapping, loading) cycles of one iteration, and how it was judged."""
    size = body.element_bytes
    chain, why = _recurrence(body.recurrences, machine)
    reason = why or body.scalar_because
    lanes = 1.0 if reason else max(1.0, machine.simd_bits / 8 / size)
    arithmetic, instructions = _arithmetic(body, machine, lanes)
    loads, stores = body.loads + _spilled_scalars(body, machine), body.stores
    if not body.innermost:
        instructions += OUTER_BODY.value
    control = LOOP_CONTROL.value if body.innermost else 0.0
    issue = (instructions + loads + stores + control) / ISSUE_WIDTH.value / lanes
    width = lanes * size
    rate = _load_rate(machine, width, vector=lanes > 1)
    split = (width - size) / line_bytes if lanes > 1 else 0.0
    loading = max(loads * (1 + split) / rate, stores * (1 + split)) / lanes
    note = f"{body.variable} (line {body.line}): "
    note += f"scalar, {reason}" if reason else f"{lanes:.0f} lanes"
    return max(arithmetic, issue, chain), loading, note


def _spilled_scalars(body: LoopBody, machine: Machine) -> float:
    """Loads of an iteration for scalars that find no register."""
    wide = machine.simd_bits >= WIDE_REGISTER_BITS.value
    registers = WIDE_REGISTERS.value if wide else REGISTERS.value
    return max(0, body.scalars - (registers - RESERVED_REGISTERS.value)) if body.innermost else 0


def _load_rate(machine: Machine, width: float, *, vector: bool) -> float:
    """Loads a cycle from the first cache, by its bandwidth on one core."""
    first = machine.caches[0]
    curve = first.bandwidth.get("load")
    per_cycle = curve.at(1) / machine.clock_hz if curve is not None else first.bytes_per_cycle.value
    if vector:
        return max(FEWEST_LOADS.value, per_cycle / width)
    return 2.0 if per_cycle >= WIDE_PORTS.value else 1.0


def _arithmetic(body: LoopBody, machine: Machine, lanes: float) -> tuple[float, float]:
    """(cycles, instructions) of the arithmetic of one iteration, `lanes` iterations at once."""
    count = dict(body.operations)
    adds = count.pop("fp_add", 0.0) + count.pop("fp_neg", 0.0) + count.pop("fp_compare", 0.0)
    muls = count.pop("fp_mul", 0.0)
    add, mul, fma = (
        machine.operation(kind).throughput_cycles.value for kind in ("fp_add", "fp_mul", "fp_fma")
    )
    if _fuses(machine):
        fused = min(adds, muls)
        pipes = fused * fma + (adds - fused) * add + (muls - fused) * mul
        instructions = adds + muls - fused
    else:
        pipes = max(adds * add, muls * mul)
        instructions = adds + muls
    other = 0.0
    for kind, times in count.items():
        name = kind[5:] if kind.startswith("call:") else kind
        cycles = machine.operation(name).throughput_cycles.value
        if kind in ("fp_div", "fp_sqrt") and lanes > 1:
            cycles *= lanes / DIVIDER_LANES.value
        if kind.startswith("int_"):
            cycles /= INTEGER_PIPES.value
        other += times * cycles
        instructions += times
    return (pipes + other) / lanes, instructions


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
