"""The model with each part switched off, as another machine wherever that says the same.

A machine whose synchronisation is free, whose caches deliver at once or whose memory never
saturates is a machine value like any other: the model itself is not touched. Two parts are terms of
the sum, left out of it. What only the model itself can leave out are its own `Parts`.
"""

from __future__ import annotations

from dataclasses import fields, replace

from predictor import FULL, Variant

from regionpredict.machine import Machine
from regionpredict.machine.model import Memory
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.predict import Parts

NOTHING = 1e-9
"""In place of 0 where the model divides by it."""


def _without(*factors: str):
    """A machine whose factors of these terms are nothing."""

    def on(machine: Machine) -> Machine:
        known = machine.corrections
        none = {f: Quantity(NOTHING, "", "assumed", "switched off") for f in factors}
        return replace(machine, corrections=replace(known, factors={**known.factors, **none}))

    return on


def _overheads(*names: str):
    """A machine whose tables of these costs hold nothing."""

    def on(machine: Machine) -> Machine:
        known = machine.overheads
        free = {n: getattr(known, n).scaled(0.0, "switched off") for n in names}
        return replace(machine, overheads=replace(known, **free))

    return on


def _at_once_across_packages(machine: Machine) -> Machine:
    """A machine whose lines take no time between packages."""
    known = machine.overheads
    free = replace(known.far_line, value=0.0)
    return replace(machine, overheads=replace(known, far_line=free))


def _memory(change):
    def on(machine: Machine) -> Machine:
        return replace(machine, memory=change(machine.memory, machine))

    return on


def _never_saturates(memory: Memory, machine: Machine) -> Memory:
    """Each core has its bandwidth to itself, on every path."""
    cores = machine.cores

    def line(curve: Curve) -> Curve:
        return replace(curve, x=(1, max(2, cores)), y=(curve.y[0], curve.y[0] * max(2, cores)))

    return replace(
        memory,
        bandwidth={name: line(curve) for name, curve in memory.bandwidth.items()},
        peak_bytes_per_s=None,
        shared_path=None,
    )


def _near(memory: Memory, _: Machine) -> Memory:
    return replace(memory, remote_latency_cycles=memory.latency_cycles)


def _endless(memory: Memory, _: Machine) -> Memory:
    return replace(memory, size_bytes=None)


_HISTORY = ("first_touch", "line_transfer", "bulk_transfer")
_SYNCHRONISATION = ("fork_join", "barrier", "reduction", "dynamic_chunk", "atomic", "critical")

ABLATIONS: tuple[Variant, ...] = (
    Variant("core time", _without("compute")),
    Variant("cache transfers", _without("cache")),
    Variant("memory bandwidth", _without("memory", "scattered")),
    Variant("saturation of memory", _memory(_never_saturates)),
    Variant("wait for memory's latency", _without("scattered")),
    Variant("far memory slower", _memory(_near)),
    Variant("size of a domain's memory", _memory(_endless)),
    Variant("synchronisation", _overheads(*_SYNCHRONISATION)),
    Variant("lines between packages", _at_once_across_packages),
    Variant("new pages, others' lines", _overheads(*_HISTORY)),
    Variant("imbalance", without=frozenset({"imbalance"})),
    Variant("serialization", without=frozenset({"serialization"})),
    Variant("write-allocate", parts=Parts(write_allocation=False)),
    Variant("closed queue", parts=Parts(queue=False)),
    Variant("root of squares", parts=Parts(overlap=False)),
    Variant("reuse from run to run", parts=Parts(reuse_between_runs=False)),
    Variant("page walks", parts=Parts(page_walks=False)),
    Variant("divider next to the pipes", parts=Parts(divider_beside=False)),
    Variant("masks for conditions", parts=Parts(masks=False)),
    Variant("chains inside an iteration", parts=Parts(chains=False)),
    Variant("what scalars carry", parts=Parts(carried_cycles=False)),
    Variant("vectors' ends", parts=Parts(vector_ends=False)),
    Variant("several vectors of sums", parts=Parts(interleaved_sums=False)),
    Variant("caches cold where nothing is seen", parts=Parts(seen_contents=False)),
    Variant("shared caches that adapt", parts=Parts(lasting_share=False)),
    Variant("pages elsewhere", parts=Parts(placement=False)),
    Variant("shared cores", parts=Parts(hardware_threads=False)),
    Variant("clock by busy cores", parts=Parts(turbo=False)),
    Variant("sums that stay in memory", parts=Parts(kept_sums=False)),
)
VARIANTS = (FULL, *ABLATIONS)


def switched_off(machine: Machine, variant: Variant) -> list[str]:
    """The fields in which the variant's machine differs: what the switch touches."""
    changed = variant.on(machine)
    return [f.name for f in fields(machine)
            if getattr(machine, f.name) != getattr(changed, f.name)]  # fmt: skip
