"""Cycles of one core with its data in the first cache: throughput, SIMD, recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, StatementFact
from regionpredict.analysis.groups import Group, Nest, NumericLoop
from regionpredict.ir.region import Branch, Node
from regionpredict.machine import Machine
from regionpredict.predict.curve import CoreTime

LINE = 64
_ISSUE = 4.0  # instructions a cycle, of every core here since 2006
_WIDE_PORTS = 24.0  # B/cycle from the first cache: from here on two scalar loads a cycle


class _Body(NamedTuple):
    """One loop with the statements directly in it."""

    loop: NumericLoop
    facts: tuple[StatementFact, ...]
    executions: float


def core_time(facts: RegionFacts, nest: Nest, machine: Machine) -> CoreTime:
    """Seconds of one core for one run of the region, all data in the first cache."""
    overlapping = loading = 0.0
    notes = []
    for body in _bodies(facts, nest):
        over, load, note = _body_cycles(body, machine)
        overlapping += over * body.executions
        loading += load * body.executions
        notes.append(note)
    return CoreTime(overlapping / machine.clock_hz, loading / machine.clock_hz, tuple(notes))


def _bodies(facts: RegionFacts, nest: Nest) -> list[_Body]:
    by_loop: dict[int, list[StatementFact]] = {}
    for fact in facts.statements:
        by_loop.setdefault(id(fact.loops[-1]), []).append(fact)
    found = []
    for loop, trips in _executions(nest):
        own = by_loop.get(id(loop.source), [])
        counted = next((f.executions.value for f in own if f.executions.value is not None), None)
        if own:
            found.append(_Body(loop, tuple(own), float(counted) if counted is not None else trips))
    return found


def _executions(nest: Nest) -> list[tuple[NumericLoop, float]]:
    """Every loop with about how often its body runs, each loop at the middle of those around."""
    found: list[tuple[NumericLoop, float]] = []

    def visit(loop: NumericLoop, env: dict[str, float], around: float) -> None:
        trips = loop.trips(env)
        middle = loop.begin(env) + loop.step * max(0.0, trips - 1) / 2
        found.append((loop, around * trips))
        for child in loop.children:
            visit(child, {**env, loop.variable: middle}, around * trips)

    visit(nest.root, {}, 1.0)
    return found


def _body_cycles(body: _Body, machine: Machine) -> tuple[float, float, str]:
    """(overlapping, loading) cycles of one iteration, and how it was judged."""
    loop, facts = body.loop, body.facts
    size = max((g.element for g in loop.groups), default=8)
    chain, why = _recurrence(loop, facts, machine)
    reason = why or _scalar_reason(loop, facts)
    lanes = 1.0 if reason else max(1.0, machine.simd_bits / 8 / size)
    arithmetic, instructions = _arithmetic(loop, facts, machine, lanes)
    loads, stores = _memory_operations(loop, facts, machine)
    if loop.children:
        instructions += 1  # an outer body: no loop control of its own worth counting
    issue = (instructions + loads + stores + (0.0 if loop.children else 2.0)) / _ISSUE / lanes
    width = lanes * size
    rate = _load_rate(machine, width, vector=lanes > 1)
    split = (width - size) / LINE if lanes > 1 else 0.0
    loading = max(loads * (1 + split) / rate, stores * (1 + split)) / lanes
    note = f"{loop.variable} (line {loop.source.span.line}): "
    note += f"scalar, {reason}" if reason else f"{lanes:.0f} lanes"
    return max(arithmetic, issue, chain), loading, note


def _load_rate(machine: Machine, width: float, *, vector: bool) -> float:
    """Loads a cycle from the first cache, by its bandwidth on one core."""
    first = machine.caches[0]
    curve = first.bandwidth.get("load")
    per_cycle = curve.at(1) / machine.clock_hz if curve is not None else first.bytes_per_cycle.value
    if vector:
        return max(0.25, per_cycle / width)
    return 2.0 if per_cycle >= _WIDE_PORTS else 1.0


def _arithmetic(
    loop: NumericLoop, facts: Sequence[StatementFact], machine: Machine, lanes: float
) -> tuple[float, float]:
    """(cycles, instructions) of the arithmetic of one iteration, `lanes` iterations at once."""
    count: dict[str, float] = {}
    for fact in facts:
        share = _probability(loop.source.body, fact)
        for operation, number in fact.statement.operations:
            count[operation.kind] = count.get(operation.kind, 0.0) + share * number
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
            cycles *= lanes / 2  # a vector goes through the divider in halves
        if kind.startswith("int_"):
            cycles /= 2
        other += times * cycles
        instructions += times
    return (pipes + other) / lanes, instructions


def _memory_operations(
    loop: NumericLoop, facts: Sequence[StatementFact], machine: Machine
) -> tuple[float, float]:
    """(loads, stores) of one iteration: distinct references that move with the loop, and spills."""
    loads, stores = 0.0, 0.0
    for group in loop.groups:
        if not group.irregular and not group.slopes.get(loop.variable) and not loop.children:
            continue
        stores += len(group.written) if not group.irregular else float(bool(group.written))
        read = {a.text for a in group.accesses if a.kind == "read"}
        loads += min(len(read), len(group.offsets)) if not group.irregular else 2 * len(read)
    scalars: set[str] = set()
    for fact in facts:
        names = {name for access in fact.statement.accesses for s in access.subscripts
                 for name in s.names}  # fmt: skip
        scalars |= fact.statement.reads - names - fact.statement.writes
    scalars -= {loop.variable}
    registers = 32 if machine.simd_bits >= 512 else 16
    if not loop.children:
        loads += max(0, len(scalars) - (registers - 4))
    return loads, stores


def _scalar_reason(loop: NumericLoop, facts: Sequence[StatementFact]) -> str:
    """Why the compiler leaves the loop scalar; empty where it vectorises."""
    if loop.children:
        return "not innermost"
    if loop.source.kind != "for" or loop.source.exits or loop.limit is None:
        return "not counted or left early"
    if any(fact.statement.calls for fact in facts):
        return "calls a function"
    if any(op.kind.startswith("call:") for f in facts for op, _ in f.statement.operations):
        return "calls a function"
    if _branches(loop.source.body):
        return "conditional"
    for group in loop.groups:
        if group.irregular:
            return "gathers"
        stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
        if stride and stride > group.element:
            return f"stride of {stride:.0f} bytes"
    return ""


def _branches(nodes: tuple[Node, ...]) -> bool:
    return any(isinstance(node, Branch) for node in nodes)


def _probability(nodes: tuple[Node, ...], fact: StatementFact) -> float:
    """Half for each side of a branch directly in the body; 1 elsewhere."""
    for node in nodes:
        if isinstance(node, Branch):
            for side in node.sides:
                if any(one is fact.statement for one in side):
                    return 0.5
    return 1.0


def _recurrence(
    loop: NumericLoop, facts: Sequence[StatementFact], machine: Machine
) -> tuple[float, str]:
    """(cycles of the dependence chain of one iteration, its name); (0, "") where there is none."""
    if loop.children:
        return 0.0, ""
    fresh: set[str] = set()
    worst, name = 0.0, ""
    for fact in facts:
        statement = fact.statement
        carried = (statement.reads & statement.writes) - fresh - {loop.variable}
        fresh |= statement.writes - statement.reads
        floating = [op for op, _ in statement.operations if op.kind.startswith("fp_")]
        if carried and floating and statement.role == "assign":
            cycles = _joining(fact, machine)
            if cycles > worst:
                worst, name = cycles, f"sum into {sorted(carried)[0]}"
    for group in loop.groups:
        cycles = _array_recurrence(group, loop, facts, machine)
        if cycles > worst:
            worst, name = cycles, f"recurrence over {group.array}"
    return worst, name


def _joining(fact: StatementFact, machine: Machine) -> float:
    """Latency of the operation that joins a sum: only this one waits for the iteration before.

    A product is added by the fused operation where the machine has it.
    """
    kinds = [op.kind for op, _ in fact.statement.operations if op.kind.startswith("fp_")]
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


def _array_recurrence(
    group: Group, loop: NumericLoop, facts: Sequence[StatementFact], machine: Machine
) -> float:
    if not group.written or group.irregular:
        return 0.0
    reads = any(access.kind == "read" for access in group.accesses)
    slope = group.slopes.get(loop.variable, 0.0) * loop.step
    if not slope:
        into = [
            _joining(fact, machine)
            for fact in facts
            if any(a.kind == "write" and a.array == group.array for a in fact.statement.accesses)
        ]
        return max(into, default=0.0) if reads else 0.0
    for written in group.written:
        for offset in group.offsets:
            ahead = (written - offset) / slope
            if 0 < ahead <= 8 and ahead == int(ahead):
                ops = [
                    machine.operation(op.kind).latency_cycles.value
                    for fact in facts
                    for op, _ in fact.statement.operations
                    if any(a.kind == "write" and a.array == group.array
                           for a in fact.statement.accesses)
                    and op.kind.startswith("fp_")
                ]  # fmt: skip
                # Store and load of the element take about as long as the first cache.
                return (sum(ops) + machine.caches[0].latency_cycles.value) / ahead
    return 0.0
