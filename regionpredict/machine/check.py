"""Checks a machine model for errors, implausible values, missing figures and assumptions.

An `error` is a contradiction that makes predictions useless. A `warning` is an implausible but
possible value. A `note` is a missing or assumed value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from regionpredict.errors import percent, plural
from regionpredict.machine.evidence import figures, unconverged_figures
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.model import Machine
from regionpredict.machine.quantity import Curve

Severity = Literal["error", "warning", "note"]

FALL = 0.05
"""The decrease of a bandwidth with more cores, as a share, above which `check` warns."""
SUPERLINEAR = 1.25
"""The factor by which a bandwidth may exceed the number of cores times the bandwidth of one
core.
"""
MOST_ISSUE = 16
MOST_REGISTERS = 128
MOST_MISSES = 256
"""The number of outstanding misses above which `check` warns: more than twice that of any core in
2024.
"""
PORTS_MEASURED = 1.1
"""The factor by which a measured bandwidth of the first cache may exceed the limit of its ports.
The real clock may be above the nominal clock.
"""
FAR = 4.0
"""The correction factor above which, or below whose reciprocal, `check` warns."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a machine model, at `key` in the machine file."""

    severity: Severity
    key: str
    message: str


def check(machine: Machine) -> tuple[Finding, ...]:
    """Returns all findings about a machine model, errors first."""
    rank = {"error": 0, "warning": 1, "note": 2}
    findings = [
        *_processor(machine),
        *_caches(machine),
        *_memory(machine),
        *_operations(machine),
        *_overheads(machine),
        *_density(machine),
        *_corrections(machine),
        *_unconverged(machine),
        *_assumptions(machine),
    ]
    return tuple(sorted(findings, key=lambda finding: rank[finding.severity]))


def _processor(machine: Machine) -> Iterator[Finding]:
    """Yields contradictions between ports, pipes and the bandwidth of the first cache."""
    core, first = machine.processor, machine.caches[0]
    pipes, adding, multiplying = (
        pipes.whole for pipes in (core.fp_pipes, core.fp_add_pipes, core.fp_mul_pipes)
    )
    if not max(adding, multiplying) <= pipes <= adding + multiplying:
        yield Finding(
            "error",
            "processor.fp_pipes",
            f"{plural(pipes, 'pipe')} cannot consist of {adding} that add "
            f"and {multiplying} that multiply",
        )
    loads, stores, both = (
        number.whole
        for number in (
            core.loads_per_cycle,
            core.stores_per_cycle,
            core.memory_operations_per_cycle,
        )
    )
    if not max(loads, stores) <= both <= loads + stores:
        yield Finding(
            "error",
            "processor.memory_operations_per_cycle",
            f"{both} per cycle cannot consist of {plural(loads, 'load')} and "
            f"{plural(stores, 'store')}",
        )
    if core.write_allocate.value > 1:
        yield Finding(
            "error", "processor.write_allocate", "more than all lines that a store misses"
        )
    if not _power_of_two(core.prefetch_block.value):
        yield Finding("error", "processor.prefetch_block", "no power of two")
    for key, number, most in (
        ("issue_width", core.issue_width, MOST_ISSUE),
        ("vector_registers", core.vector_registers, MOST_REGISTERS),
        ("general_registers", core.general_registers, MOST_REGISTERS),
        ("outstanding_misses", core.outstanding_misses, MOST_MISSES),
    ):
        if number.value > most:
            yield Finding(
                "warning", f"processor.{key}", f"{number.whole}: no known core has more than {most}"
            )
    for key in ("fp_pipes", "integer_pipes", "memory_operations_per_cycle"):
        number = getattr(core, key)
        if number.value > core.issue_width.value:
            yield Finding(
                "warning",
                f"processor.{key}",
                f"{number.whole} per cycle, but only {core.issue_width.whole} are issued",
            )
    if first.bytes_per_cycle.value > PORTS_MEASURED * core.load_bytes_per_cycle.value:
        yield Finding(
            "warning",
            "processor.load_bytes_per_cycle",
            f"{core.load_bytes_per_cycle.value:g} B per cycle, but the first cache delivers "
            f"{first.bytes_per_cycle.value:.3g}",
        )


def _power_of_two(value: float) -> bool:
    return value == round(value) > 0 and not round(value) & (round(value) - 1)


def _caches(machine: Machine) -> Iterator[Finding]:
    for place, cache in enumerate(machine.caches):
        at = f"caches[{place}]"
        if not _power_of_two(cache.line_bytes.value):
            yield Finding(
                "error", f"{at}.line", f"a line of {cache.line_bytes.whole} B is not a power of two"
            )
        elif cache.line_bytes.value != machine.line_bytes:
            yield Finding(
                "warning",
                f"{at}.line",
                f"{cache.line_bytes.whole} B, but the largest cache has {machine.line_bytes}: "
                "predictions use that",
            )
        lines = cache.size_bytes.value / (cache.line_bytes.value * cache.associativity.value)
        if lines < 1 or lines != round(lines):
            yield Finding(
                "warning",
                f"{at}.ways",
                f"{cache.size_bytes.whole} B of {cache.line_bytes.whole} B lines do not divide "
                f"into {cache.associativity.whole} ways",
            )
        if machine.cores_per_package % cache.shared_by_cores.whole:
            yield Finding(
                "warning",
                f"{at}.cores",
                f"{machine.cores_per_package} cores of a package do not divide into groups of "
                f"{cache.shared_by_cores.whole}",
            )
        if place == 0:
            continue
        above = machine.caches[place - 1]
        if cache.size_bytes.value < above.size_bytes.value:
            yield Finding(
                "error",
                f"{at}.size",
                f"level {cache.level} ({cache.size_bytes.whole} B) is smaller than the level "
                f"above ({above.size_bytes.whole} B)",
            )
        if cache.latency_cycles.value <= above.latency_cycles.value:
            yield Finding(
                "error",
                f"{at}.latency",
                f"level {cache.level} ({cache.latency_cycles.value:g} cycles) is not slower than "
                f"the level above ({above.latency_cycles.value:g})",
            )
        if cache.shared_by_cores.value < above.shared_by_cores.value:
            yield Finding(
                "error", f"{at}.cores", f"level {cache.level} has fewer cores than the level above"
            )
        if cache.bytes_per_cycle.value > 1.1 * above.bytes_per_cycle.value:
            yield Finding(
                "warning",
                f"{at}.bytes_per_cycle",
                f"level {cache.level} ({cache.bytes_per_cycle.value:.3g} B/cycle) is faster than "
                f"the level above ({above.bytes_per_cycle.value:.3g})",
            )
    for place, cache in enumerate(machine.caches):
        for kernel, curve in cache.bandwidth.items():
            yield from _implausible_growth(f"caches[{place}].bandwidth.{kernel}", curve)


def _memory(machine: Machine) -> Iterator[Finding]:
    memory, outer = machine.memory, machine.caches[-1]
    if not _power_of_two(memory.page_bytes.value) or machine.page_bytes < machine.line_bytes:
        yield Finding(
            "error",
            "memory.page",
            f"a page of {machine.page_bytes} B is not a power of two above a line of "
            f"{machine.line_bytes} B",
        )
    if memory.latency_cycles.value <= outer.latency_cycles.value:
        yield Finding(
            "error",
            "memory.latency",
            f"memory ({memory.latency_cycles.value:.0f} cycles) is not slower than level "
            f"{outer.level} ({outer.latency_cycles.value:g})",
        )
    if memory.remote_latency_cycles.value < memory.latency_cycles.value:
        yield Finding(
            "warning", "memory.remote_latency", "the other package's memory is nearer than its own"
        )
    for kernel, curve in memory.bandwidth.items():
        at = f"memory.bandwidth.{kernel}"
        yield from _implausible_growth(at, curve)
        if curve.x[-1] < machine.cores_per_domain:
            yield Finding(
                "note",
                at,
                f"goes to {curve.x[-1]} of {machine.cores_per_domain} cores of a domain; the last "
                "value is held",
            )
        peak = memory.peak_bytes_per_s
        asked = KERNELS[kernel]
        allocated = machine.write_allocate(curve.x[-1]) * asked.allocates / asked.application
        if peak is not None and curve.peak <= 1.02 * peak.value < curve.peak * (1 + allocated):
            yield Finding(
                "warning",
                "processor.write_allocate",
                f"with the lines of {kernel} read first, {curve.peak * (1 + allocated) / 1e9:.1f} "
                f"GB/s are moved, above the peak of {peak.value / 1e9:.1f}",
            )
        if peak is not None and curve.peak > 1.02 * peak.value:
            yield Finding(
                "error",
                at,
                f"{curve.peak / 1e9:.1f} GB/s is above the peak of {peak.value / 1e9:.1f}",
            )
    if memory.peak_bytes_per_s is None:
        yield Finding("note", "memory.peak", "left out: no bandwidth to compare it with")
    elif memory.shared_path is not None:
        traffic = memory.shared_path.traffic_bytes_per_s.value
        if traffic > machine.packages * memory.peak_bytes_per_s.value:
            yield Finding(
                "error", "memory.shared_path.traffic", "above the peaks of all packages together"
            )
    for kernel in ("load", "copy", "update", "triad", "daxpy"):
        if kernel not in memory.bandwidth:
            known = next(name for name in KERNELS if name in memory.bandwidth)
            yield Finding(
                "note", f"memory.bandwidth.{kernel}", f"left out: derived from {known}'s traffic"
            )


def _implausible_growth(at: str, curve: Curve) -> Iterator[Finding]:
    """Yields a warning for a bandwidth that decreases with more cores or grows faster than their
    number.
    """
    best = curve.y[0]
    worst = (0.0, 1)
    for count, value in zip(curve.x, curve.y, strict=True):
        if value > count * curve.y[0] * SUPERLINEAR:
            yield Finding(
                "warning", at, f"{count} cores reach over {SUPERLINEAR:g} x {count} times one core"
            )
            break
    for count, value in zip(curve.x, curve.y, strict=True):
        best = max(best, value)
        worst = max(worst, (1 - value / best, count))
    if worst[0] > FALL:
        yield Finding(
            "warning",
            at,
            f"falls with cores: by {percent(worst[0])} of the best at {worst[1]} cores",
        )


def _operations(machine: Machine) -> Iterator[Finding]:
    for kind, operation in machine.operations.items():
        if operation.throughput_cycles.value > operation.latency_cycles.value:
            yield Finding(
                "warning",
                f"operations.{kind}",
                f"a throughput of {operation.throughput_cycles.value:g} cycles is over its latency "
                f"of {operation.latency_cycles.value:g}",
            )
    for cheap, dear in (("fp_add", "fp_div"), ("fp_mul", "fp_div"), ("int_add", "int_div")):
        if (
            machine.operation(cheap).latency_cycles.value
            > machine.operation(dear).latency_cycles.value
        ):
            yield Finding("warning", f"operations.{dear}", f"is faster than {cheap}")


def _overheads(machine: Machine) -> Iterator[Finding]:
    overheads = machine.overheads
    for name in ("fork_join", "barrier", "dynamic_chunk", "atomic", "critical", "reduction"):
        curve: Curve = getattr(overheads, name)
        if curve.y[-1] < curve.y[0]:
            yield Finding(
                "warning", f"openmp.{name}", f"costs less on {curve.x[-1]} threads than on one"
            )
    most = machine.cores
    if overheads.fork_join.at(most) < overheads.barrier.at(most):
        yield Finding("warning", "openmp.fork_join", "costs less than the barrier in it")


def _density(machine: Machine) -> Iterator[Finding]:
    miss = machine.density.miss
    for kind in ("read", "write"):
        if miss[kind, "latency"].value > miss[kind, "streaming"].value:
            yield Finding(
                "warning", f"density.miss.{kind}_latency", "weighs more than a streaming miss"
            )
    if miss["write", "streaming"].value < miss["read", "streaming"].value:
        yield Finding("warning", "density.miss.write_streaming", "weighs less than a read")


def _corrections(machine: Machine) -> Iterator[Finding]:
    corrections = machine.corrections
    for name, factor in corrections.factors.items():
        if not 1 / FAR <= factor.value <= FAR:
            yield Finding(
                "warning",
                f"corrections.factors.{name}",
                f"{factor.value:.3g}: its figures are off by more than a factor of {FAR:g}",
            )
    for name, score in corrections.cross_validated.items():
        worse = score.after > score.before
        if worse == name.endswith("error") and score.after != score.before:
            yield Finding(
                "warning",
                f"corrections.cross_validated.{name}",
                f"{score.before:.3g} before, {score.after:.3g} after: the correction makes it "
                f"worse",
            )


def _unconverged(machine: Machine) -> Iterator[Finding]:
    for figure in unconverged_figures(machine):
        yield Finding(
            "warning",
            figure.key,
            f"did not converge: its 95 % interval is ±{percent(figure.spread)}",
        )


def _assumptions(machine: Machine) -> Iterator[Finding]:
    for key in machine.defaulted:
        yield Finding("note", key, "missing: a default is assumed")
    for key, figure in figures(machine):
        if figure.evidence == "assumed" and not figure.source.startswith("default: "):
            yield Finding("note", key, f"assumed: {figure.source}")
