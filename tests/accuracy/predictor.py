"""The one place that calls the package: C text, sizes, machine and threads to times and a hint.

Everything else here works on the values of this file, so that a change of the package's interface
is one edit. `Variant` is a model with one part switched off (see `ablation`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from regionpredict.analysis.history.first_touch import INTERLEAVED, Placement, first_touched
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import Analysis, analyse, predict
from regionpredict.predict import ALL_PARTS, Parts, Prediction
from regionpredict.predict.curve import Point, SaturationDerivation, saturation_point
from regionpredict.predict.machine_uncertainty import Moves, UncertainLoop, moves_of
from regionpredict.predict.uncertainty import Doubt, merge_doubts, weighted_by_share

MACHINES = Path(__file__).parent / "machines"
ROOT = Path(__file__).resolve().parents[2]
Times = dict[int, float]
"""Seconds by number of threads."""


@dataclass(frozen=True, slots=True)
class Code:
    """What is predicted: C text or files of this repository, and the sizes.

    `only` keeps the regions whose file name or function is named (empty: all). `one_thread` is the
    text of the program as one thread runs it, where that is another one. `reassociates`: the
    compiler may reorder sums. `pages` and `binding` are how it was run, as --pages and --bind say
    it.
    """

    text: str = ""
    files: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    only: frozenset[str] = frozenset()
    one_thread: str = ""
    first_touch: str | None = None
    reassociates: bool = False
    pages: str | None = None
    binding: str = "close"


@dataclass(frozen=True, slots=True)
class Variant:
    """The model with a part switched off: by itself, on another machine, or without some terms of
    the sum.
    """

    name: str
    on: Callable[[Machine], Machine] = field(default=lambda machine: machine)
    without: frozenset[str] = frozenset()
    parts: Parts = ALL_PARTS


FULL = Variant("all parts on")


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds by threads, and the same by a plain Roofline.

    `points` are the times with their terms, as the package has them for a region; `moves` what
    the machine's figures in doubt may do to them, `doubts` are those of its regions.
    `density_packages` belongs to the density model choice, None where it has none.

    The Roofline takes the bytes and the core time that the model counted: the larger of the core
    time over the threads and the bytes over the highest bandwidth of the domains in use.
    """

    seconds: Times
    roofline: Times
    points: tuple[Point, ...]
    moves: Moves
    doubts: tuple[Doubt, ...] = ()
    density_packages: int | None = None


@cache
def machine_named(name: str) -> Machine:
    """A shipped machine, or one of the folder `machines` beside this file; each is read once."""
    own = MACHINES / f"{name}.yaml"
    return load(str(own) if own.is_file() else name)


def ask(
    code: Code, machine: Machine, threads: Sequence[int], variants: Sequence[Variant] = (FULL,)
) -> dict[str, Answer]:
    """The answer of each variant; the source is read once."""
    analysis = _read(code, code.text)
    alone = _read(code, code.one_thread) if code.one_thread and 1 in threads else None
    asked: list[tuple[tuple[Machine, Parts], tuple[list[Prediction], list[Prediction]]]] = []
    answers = {}
    for variant in variants:
        own = variant.on(machine)
        made = next((made for other, made in asked if other == (own, variant.parts)), None)
        if made is None:
            made = (
                _predictions(code, analysis, own, threads, variant.parts),
                _predictions(code, alone, own, [1], variant.parts) if alone is not None else [],
            )
            asked.append(((own, variant.parts), made))
        answer = _sum(made[0], own, threads, variant)
        if made[1]:
            answer = _over(answer, _sum(made[1], own, [1], variant))
        if variant == FULL:
            answer = replace(answer, density_packages=_density_packages(code, analysis, machine))
        answers[variant.name] = answer
    return answers


def _over(answer: Answer, single: Answer) -> Answer:
    """The answer with the times of another program on one thread."""
    (first,) = single.points
    points = (first, *answer.points[1:])
    return replace(
        answer,
        seconds={**answer.seconds, 1: single.seconds[1]},
        roofline={**answer.roofline, 1: single.roofline[1]},
        moves={**answer.moves, 1: single.moves.get(1, {})},
        points=tuple(point._replace(speedup=first.seconds / point.seconds) for point in points),
    )


def _density_packages(code: Code, analysis: Analysis, machine: Machine) -> int | None:
    """Those of the largest hint, as for the loops of one team."""
    made = predict(analysis, machine, "density", pages=_placement(code), advised=False)
    return (
        max((one.packages or 0 for one in _that_count(code, made.predictions)), default=0) or None
    )


def point_of(seconds: Times) -> int:
    """The fewest threads with 90 % of the best speed, as the package defines it."""
    return saturation_point({threads: 1.0 / time for threads, time in seconds.items()})


def core_cycles(code: Code, machine: Machine) -> float:
    """Cycles of one core for one run of the region, all data in the first cache."""
    (made,) = predict(
        _read(code, code.text), machine, "saturation", threads=[1], advised=False
    ).predictions[:1]
    core = _derivation(made).core
    return max(core.overlapping, core.loading) * machine.clock_hz


def _read(code: Code, text: str) -> Analysis:
    defines = list(code.defines)
    if not code.files:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "case.c"
            path.write_text(text)
            (request,) = requests_for((str(path),), defines, [], "")
            request = replace(request, reassociates=code.reassociates)
            return analyse([request], dict(code.sizes))
    files = tuple(str(ROOT / name) for name in code.files)
    return analyse(requests_for(files, defines, [], ""), dict(code.sizes))


def _predictions(
    code: Code, analysis: Analysis, machine: Machine, threads: Sequence[int], parts: Parts
) -> list[Prediction]:
    """The regions that count."""
    placement = _placement(code)
    made = predict(analysis, machine.as_run(binding=code.binding), "saturation", threads=threads,
                   pages=placement, parts=parts, advised=False)  # fmt: skip
    return _that_count(code, made.predictions)


def _placement(code: Code) -> Placement | None:
    """Where pages lie, where that is told."""
    if code.pages == "interleave":
        return INTERLEAVED
    return None if code.first_touch is None else first_touched(code.first_touch)


def _that_count(code: Code, predictions: Sequence[Prediction]) -> list[Prediction]:
    """Those of the regions that are asked for and have a prediction."""
    found = []
    for one in predictions:
        region = one.facts.region
        names = {Path(region.span.file).name, region.function}
        if one.status != "skipped" and (not code.only or code.only & names):
            found.append(one)
    return found


def _sum(
    regions: Sequence[Prediction], machine: Machine, threads: Sequence[int], variant: Variant
) -> Answer:
    """All regions added up, each as often as the loops around it in its function run."""
    counts = sorted(threads)
    roofline = dict.fromkeys(counts, 0.0)
    terms: dict[int, dict[str, float]] = {count: {} for count in counts}
    doubted: list[UncertainLoop] = []
    spent: list[float] = []
    for one in regions:
        times = _runs(one)
        known = {point.threads: point for point in _derivation(one).points}
        nearest = {count: known[max(n for n in known if n <= count)] for count in counts}
        for count, point in nearest.items():
            for name, value in point.terms.items():
                if name not in variant.without:
                    terms[count][name] = terms[count].get(name, 0.0) + times * value
            roofline[count] += times * _roofline(one, machine, count)
        spent.append(times * sum(known[max(known)].terms.values()))
        own = [point._replace(threads=count) for count, point in nearest.items()]
        doubted.append(UncertainLoop(own, _derivation(one).spreads, times))
    shares = [part / sum(spent) if sum(spent) else 1.0 for part in spent]
    seconds = {count: sum(terms[count].values()) for count in counts}
    first = seconds[counts[0]]
    points = tuple(
        Point(count, seconds[count], first / seconds[count], "", terms[count], 0.0, 0.0)
        for count in counts
    )  # fmt: skip
    return Answer(
        seconds, roofline, points, moves_of(doubted, points),
        doubts=_doubts(regions, shares),
    )  # fmt: skip


def _doubts(regions: Sequence[Prediction], shares: Sequence[float]) -> tuple[Doubt, ...]:
    """Those of the regions, by their shares of the time; the machine's figures move the chance."""
    return merge_doubts(
        weighted_by_share((known for known in one.doubts if known.id != "figures"), share)
        for one, share in zip(regions, shares, strict=True)
    )


def _runs(one: Prediction) -> float:
    times = 1.0
    for loop in one.facts.region.enclosing:
        trips = loop.trips.evaluate(one.facts.bindings.values) if loop.trips is not None else None
        times *= float(trips) if trips is not None else 1.0
    return times


def _roofline(one: Prediction, machine: Machine, threads: int) -> float:
    derivation = _derivation(one)
    core = max(derivation.core.overlapping, derivation.core.loading) / threads
    peak = machine.memory.curve("load").peak * min(
        machine.domains, -(-threads // machine.cores_per_domain)
    )
    if machine.memory.shared_path is not None:
        peak = min(peak, machine.memory.shared_path.traffic_bytes_per_s.value)
    full = threads > machine.cores_per_domain
    levels = derivation.full_levels if full else derivation.levels
    return max(core, levels[-1].total / peak)


def _derivation(one: Prediction) -> SaturationDerivation:
    assert isinstance(one.derivation, SaturationDerivation), one.status
    return one.derivation
