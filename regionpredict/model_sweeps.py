"""Synthetic loops that differ in one property, as in figures 4.2 to 4.8 of Chatzopoulos 2012.

The thesis measures the effect of the working set (section 4.3, figure 4.2), the access pattern
(figures 4.3 and 4.4) and the loop order over arrays of two and three dimensions (figures 4.5 to
4.8). It weighs operations against references (equation 4.1). This module writes such loops in C for
one machine, and both models predict them. With a `main` that times each loop, the text is a
program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from regionpredict.analysis.history.first_touch import first_touched
from regionpredict.frontend import SourceRequest
from regionpredict.machine import Machine
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import points_of

_ELEMENT = 8  # bytes of a double
_INDEX = 4  # bytes of an int
_LARGE = 10
"""Working set of the other sweeps, as a multiple of the largest cache (section 6.2)."""
_WORK = 16
"""Operations per element in sweeps over other properties. The number gives scores between 0 and
1.
"""
_SMALL = 1
"""Size of the smaller arrays of several dimensions, as a multiple of the largest cache (figures 4.5
and 4.6).
"""
_BIG = 8
"""Size of the larger arrays (figures 4.7 and 4.8)."""
RANDOM, STREAMING = "random", "streaming"
_EXECUTED = 100  # consecutive executions
_WORKING_SETS = (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16)
_OPERATIONS = (1, 2, 4, 8, 16, 32, 64)
_STRIDES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class SyntheticLoop:
    """A loop over one array. It multiplies each element `operations` times and writes it back.

    `working_set` is the array's size, in sizes of the largest cache. `order` has one letter per
    dimension, and `i` is the first dimension. The first letter is the outermost loop. `stride` is
    the distance of neighboring accesses. `pattern` is streaming or random access. Both apply to one
    dimension only.
    """

    figure: str
    x: float
    working_set: float
    operations: int = _WORK
    order: str = "i"
    stride: int = 1
    pattern: str = STREAMING

    @property
    def name(self) -> str:
        """The name of the loop's C function, unique within a figure."""
        return f"{self.figure}_{self.x:g}".replace(".", "_").replace("-", "_")

    def extents(self, machine: Machine) -> tuple[int, ...]:
        """The extents of the array, the outermost first."""
        elements = int(self.working_set * machine.largest_cache_bytes / _ELEMENT)
        if self.pattern == RANDOM:
            elements = elements * _ELEMENT // (_ELEMENT + _INDEX)
        dimensions = len(self.order)
        each = max(1, round(elements ** (1 / dimensions)))
        return (max(1, elements // each ** (dimensions - 1)), *[each] * (dimensions - 1))

    @property
    def shown(self) -> str:
        """A description for people."""
        what = self.order if len(self.order) > 1 else f"stride {self.stride}"
        what = self.pattern if self.pattern == RANDOM else what
        return f"{self.working_set:g} caches, {self.operations} ops, {what}"

    def bytes_on(self, machine: Machine) -> int:
        """The array size on a machine, in bytes."""
        each = _ELEMENT + (_INDEX if self.pattern == RANDOM else 0)
        return each * prod(self.extents(machine))

    def iterations(self, machine: Machine) -> int:
        """Elements that one execution accesses."""
        return prod(self.extents(machine)) // self.stride


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The predictions for a loop: the density model's `score`, and the saturation model's speedup
    and time in seconds by number of threads.
    """

    score: float | None
    speedup: dict[int, float]
    seconds: dict[int, float]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One loop: `x` in the sweep's unit, the density model's `score` (0 to 1), and the saturation
    model's efficiency on all cores. The efficiency exceeds 1 if caches add up. None means that a
    model has no result.
    """

    x: float
    score: float | None
    efficiency: float | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One figure: its `name`, the quantity on its `axis`, and the points in ascending order."""

    name: str
    axis: str
    points: tuple[SweepPoint, ...]


SWEEP_AXES = {
    "working-set": "working set in largest caches",
    "operations": "operations a reference",
    "stride": "stride in elements",
}
"""The names of the sweeps, and the quantities on their axes."""
ORDER_FIGURES = (
    ("order-2d-small", _SMALL, ("ij", "ji")),
    ("order-3d-small", _SMALL, ("ijk", "ikj", "jik", "jki", "kij", "kji")),
    ("order-2d-large", _BIG, ("ij", "ji")),
    ("order-3d-large", _BIG, ("ijk", "ikj", "jik", "jki", "kij", "kji")),
)
"""Figures 4.5 to 4.8: their names, the working set, and the orders of loops."""


def sweep_loops() -> tuple[SyntheticLoop, ...]:
    """The loops of figures 4.2 to 4.4, in the order of the sweeps."""
    return (
        *(SyntheticLoop("working-set", share, share) for share in _WORKING_SETS),
        *(SyntheticLoop("operations", count, _LARGE, count) for count in _OPERATIONS),
        *(SyntheticLoop("stride", stride, _LARGE, stride=stride) for stride in _STRIDES),
    )


def order_loops() -> tuple[SyntheticLoop, ...]:
    """The loops of figures 4.5 to 4.8. `x` is the index of the loop order."""
    return tuple(
        SyntheticLoop(figure, place, share, 1, order)
        for figure, share, orders in ORDER_FIGURES for place, order in enumerate(orders, 1)
    )  # fmt: skip


def sweep_source(machine: Machine) -> str:
    """The loops of the sweeps as C text, with one function per loop."""
    return loops_source(machine, sweep_loops())


def loops_source(machine: Machine, loops: Sequence[SyntheticLoop], *, timed: bool = False) -> str:
    """Loops as C text, with one function per loop. With `timed`, the text is a program.

    The program's arguments are numbers of threads. It prints a line per loop and number of threads:
    the loop's index, the threads, and the shortest time in seconds.
    """
    parts = ["/* Loops that differ in one thing alone, written for one machine's caches. */"]
    if timed:
        parts.append(_TIMING)
    parts += [_loop_function(loop, machine, timed=timed) for loop in loops]
    if timed:
        calls = "".join(
            f"    for (k = 1; k < count; k++)\n        measure({place}, {loop.name}, "
            "atoi(words[k]));\n    release();\n"
            for place, loop in enumerate(loops)
        )
        bytes_needed = max(_ELEMENT * prod(loop.extents(machine)) for loop in loops)
        parts.append(f"int main(int count, char **words)\n{{\n    int k;\n"
                     f"    if (!reserve({bytes_needed}))\n        return 1;\n{calls}"
                     "    return 0;\n}")  # fmt: skip
    return "\n".join(parts) + "\n"


_KEEP_ORDER = '__asm__ volatile("");'
"""An empty statement in the outer loops of a timed nest. GCC interchanges loops of a perfect nest
(-floop-interchange) and vectorizes outer loops at -O3, so it would time another order of loops.
"""
_TIMING = """\
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static double least;
static int runs;
static void note(double begin)
{
    double spent = omp_get_wtime() - begin;
    if (spent < least)
        least = spent;
}
static void measure(int place, void (*loop)(void), int threads)
{
    double begin;
    omp_set_num_threads(threads);
    least = 1e30;
    runs = 2;
    begin = omp_get_wtime();
    loop();
    begin = (omp_get_wtime() - begin) / 2;
    runs = (int)(0.2 / (begin + 1e-9));
    runs = runs < 3 ? 3 : runs > 2000 ? 2000 : runs;
    least = 1e30;
    loop();
    printf("%d %d %.9g\\n", place, threads, least);
    fflush(stdout);
}
static size_t reserved;
static void *data_memory, *at_memory;
static int reserve(size_t size)
{
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    reserved = size;
    data_memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, -1, 0);
    at_memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, -1, 0);
    return data_memory != MAP_FAILED && at_memory != MAP_FAILED;
}
static void release(void)
{
    madvise(data_memory, reserved, MADV_DONTNEED);
    madvise(at_memory, reserved, MADV_DONTNEED);
}"""


def _loop_function(loop: SyntheticLoop, machine: Machine, *, timed: bool) -> str:
    """The array and the function of a loop."""
    extents, data = loop.extents(machine), f"data_{loop.name}"
    counters = dict(zip("ijk", extents, strict=False))
    sizes = "".join(f"[{extent}]" for extent in extents)
    index = "i" if loop.stride == 1 else f"{loop.stride} * i"
    at = f"[{index}]" if len(extents) == 1 else "".join(f"[{name}]" for name in counters)
    counters["i"] //= loop.stride
    table, last = f"at_{loop.name}", extents[0] - 1
    inner = "".join(f"[{extent}]" for extent in extents[1:])
    outside, inside = f"static double {data}{sizes};\n", ""
    if loop.pattern == RANDOM:
        at = f"[{table}[i]]"
        outside += f"static int {table}{sizes};\n"
    if timed:  # separate arrays would exceed the address space
        outside, inside = "", f"    double (*{data}){inner} = data_memory;\n"
        if len(extents) == 1:
            inside = f"    double *{data} = data_memory;\n"
        if loop.pattern == RANDOM:
            inside += (
                f"    int *{table} = at_memory;\n"
                f"    for (long i = 0; i <= {last} && !{table}[{last}]; i++)\n"
                f"        {table}[i] = 1 + (int)((unsigned)rand() % {last}u);\n"
            )
    steps = f"{data}{at}" + " * 0.999" * loop.operations
    begin = "        double begin = omp_get_wtime();\n" if timed else ""
    nest, indent, ends = "", "        ", ""
    for depth, name in enumerate(loop.order, 1):
        nest += f"{indent}for (long {name} = 0; {name} < {counters[name]}; {name}++)"
        indent += "    "
        if timed and depth < len(loop.order):
            nest += f" {{\n{indent}{_KEEP_ORDER}"
            ends += " }"
        nest += "\n"
    return (
        f"{outside}void {loop.name}(void)\n{{\n{inside}"
        f"    for (int t = 0; t < {'runs' if timed else _EXECUTED}; t++) {{\n{begin}"
        f"#pragma omp parallel for\n{nest}{indent}{data}{at} = {steps};{ends}\n"
        f"{'        note(begin);' + chr(10) if timed else ''}    }}\n}}"
    )


def model_answers(
    machine: Machine, source: Path, threads: Sequence[int]
) -> tuple[ModelAnswer, ...]:
    """The predictions for each loop of a file with the untimed text of `loops_source`."""
    analysis = analyse([SourceRequest(str(source))], {}, flows=False)
    density = predict(analysis, machine, "density", advised=False).predictions
    saturation = predict(
        analysis, machine, "saturation", threads=tuple(threads),
        pages=first_touched("parallel"), advised=False,
    ).predictions  # fmt: skip
    return tuple(
        ModelAnswer(left.score, dict(right.speedup),
                    {point.threads: point.seconds for point in points_of(right)})
        for left, right in zip(density, saturation, strict=True)
    )  # fmt: skip


def model_sweeps(machine: Machine, source: Path) -> tuple[Sweep, ...]:
    """The predicted sweeps for a machine. `source` is a file with the text of `sweep_source`."""
    answers = model_answers(machine, source, (1, machine.cores))
    known = list(zip(sweep_loops(), answers, strict=True))
    return tuple(
        Sweep(name, axis, tuple(
            SweepPoint(loop.x, answer.score, _parallel_efficiency(answer.speedup, machine))
            for loop, answer in known if loop.figure == name
        ))
        for name, axis in SWEEP_AXES.items()
    )  # fmt: skip


def _parallel_efficiency(speedup: Mapping[int, float], machine: Machine) -> float | None:
    known = speedup.get(machine.cores)
    return None if known is None else known / machine.cores
