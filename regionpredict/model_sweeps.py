"""What the models say of loops that differ in one thing alone: figures 4.2 to 4.4 in form.

Chatzopoulos 2012 shows by benchmarks what the working set (section 4.3, figure 4.2) and the pattern
of accesses (figures 4.3 and 4.4) do to a loop, and weighs operations against references (equation
4.1). The same questions are put to the models here, by C text that is written for one machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regionpredict.analysis.history.first_touch import first_touched
from regionpredict.frontend import SourceRequest
from regionpredict.machine import Machine
from regionpredict.pipeline import analyse, predict

_ELEMENT = 8  # bytes of a double
_LARGE = 10
"""Largest caches that the data of the other sweeps fill, as in section 6.2."""
_WORK = 16
"""Operations on each element where their number is not what changes: enough for scores between 0
and 1."""
_WORKING_SETS = (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)
_OPERATIONS = (1, 2, 4, 8, 16, 32, 64)
_STRIDES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One loop: `x` in the sweep's unit, the density model's `score` (0 to 1) and the efficiency
    on all cores (0 to 1, more where caches add up) of the saturation model; None where a model does
    not say."""

    x: float
    score: float | None
    efficiency: float | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One figure: its `name`, what `axis` counts, and the points, x rising."""

    name: str
    axis: str
    points: tuple[SweepPoint, ...]


_SWEEPS = (
    ("working-set", "working set in largest caches", _WORKING_SETS),
    ("operations", "operations a reference", _OPERATIONS),
    ("stride", "stride in elements", _STRIDES),
)


def sweep_source(machine: Machine) -> str:
    """The loops as C text, each in a function of its own, in the order of the sweeps."""
    cache = machine.largest_cache_bytes
    parts = ["/* Loops that differ in one thing alone, written for one machine's caches. */"]
    for share in _WORKING_SETS:
        parts.append(_loop(f"working_set_{_name(share)}", int(share * cache / _ELEMENT), _WORK))
    elements = _LARGE * cache // _ELEMENT
    for count in _OPERATIONS:
        parts.append(_loop(f"operations_{count}", elements, count))
    for stride in _STRIDES:
        parts.append(_loop(f"stride_{stride}", elements, _WORK, stride))
    return "\n".join(parts) + "\n"


def _name(share: float) -> str:
    return f"{share:g}".replace(".", "_")


def _loop(name: str, elements: int, operations: int, stride: int = 1) -> str:
    """An array of which each `stride`th element is multiplied so many times."""
    at = "i" if stride == 1 else f"{stride} * i"
    steps = f"a[{at}]" + " * 0.999" * operations
    return (
        f"void {name}(void)\n{{\n    static double a[{elements}];\n"
        "    for (int t = 0; t < 100; t++) {\n#pragma omp parallel for\n"
        f"        for (long i = 0; i < {elements // stride}; i++)\n"
        f"            a[{at}] = {steps};\n    }}\n}}"
    )


def model_sweeps(machine: Machine, source: Path) -> tuple[Sweep, ...]:
    """The sweeps for a machine; `source` is a file that holds `sweep_source` of it."""
    analysis = analyse([SourceRequest(str(source))], {}, flows=False)
    density = predict(analysis, machine, "density", advised=False).predictions
    saturation = predict(
        analysis, machine, "saturation", threads=(1, machine.cores),
        pages=first_touched("parallel"), advised=False,
    ).predictions  # fmt: skip
    points = [
        (left.score, _efficiency(right.speedup, machine))
        for left, right in zip(density, saturation, strict=True)
    ]
    sweeps, begin = [], 0
    for name, axis, values in _SWEEPS:
        own = points[begin : begin + len(values)]
        begin += len(values)
        sweeps.append(Sweep(name, axis, _points(values, own)))
    return tuple(sweeps)


def _points(
    positions: Sequence[float], known: Sequence[tuple[float | None, float | None]]
) -> tuple[SweepPoint, ...]:
    return tuple(
        SweepPoint(float(x), score, efficiency)
        for x, (score, efficiency) in zip(positions, known, strict=True)
    )


def _efficiency(speedup: Sequence[tuple[int, float]], machine: Machine) -> float | None:
    known = dict(speedup).get(machine.cores)
    return None if known is None else known / machine.cores
