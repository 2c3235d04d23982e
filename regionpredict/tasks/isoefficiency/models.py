"""Efficiencies, their models, and the answers to five questions (Shudler 2018, sec. 5.1 and 5.2).

E_ac is the program's efficiency, with contention. E_cf is the efficiency of its graph without
contention. E_ub = min(1, pi/p) is an upper bound for any scheduler. delta_con = E_cf - E_ac is the
loss by contention, and delta_str = E_ub - E_cf the loss by the graph and its scheduling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import regionpredict.fit
from regionpredict.errors import InputError, percent, plural
from regionpredict.fit import FittedModel
from regionpredict.fit.laws.efficiency_surface import (
    LARGEST,
    EfficiencySurface,
    Solution,
    fit_efficiency,
    most_threads,
    size_for,
    smallest_size,
    threads_for,
)
from regionpredict.fit.model.fitted_model import growth_key
from regionpredict.tasks.isoefficiency.measured_times import IsoefficiencyData

LEAST_SIZES = 5
"""Minimum number of sizes for models of depth and parallelism, as in `fit`."""
MUCH = 0.1
"""The loss of efficiency above which contention or structure counts as an obstacle. Assumed: half
of the 0.2 that Shudler 2018, sec. 5.4.2, considers a potential bottleneck.
"""
LEVEL = 0.9
NOISE = 0.05
"""The maximum excess of E_ac over E_ub, relative to E_ub. It is the 5 % at which times count as
converged. It is also the maximum share of undivided loops in a graph's work.
"""


@dataclass(frozen=True, slots=True)
class EfficiencyPoint:
    """The efficiencies E_ac (`actual`), E_cf (`free`) and E_ub (`bound`) at one size and thread
    count. `actual` exceeds 1 if caches make the program superlinear. `how` says whether `free` was
    replayed or simulated. `disturbed` means that other processes used the host. `undivided` is the
    share of undivided loops in the graph's work.
    """

    size: float
    threads: int
    actual: float
    free: float
    bound: float
    how: str
    disturbed: bool = False
    undivided: float = 0.0

    @property
    def wrong(self) -> str:
        """The error in the data, such as an efficiency above its bound. Empty if there is none."""
        where = f"n = {self.size:,.15g}, {plural(self.threads, 'thread')}"
        if self.undivided > NOISE:
            return (
                f"{where}: the graph lacks parallelism: {percent(self.undivided)} of its work "
                "are loops that ran whole, as one chunk"
            )
        if self.actual <= self.bound * (1 + NOISE):
            return ""
        figures = f"E_ac = {self.actual:.2f} exceeds E_ub = {self.bound:.2f}"
        if self.bound < 1:
            return f"{where}: {figures}: the graph lacks parallelism that the program has"
        return f"{where}: {figures}: the time on one thread is too long, or caches help"

    @property
    def sound(self) -> bool:
        """Whether the point may be used for decisions."""
        return not self.disturbed and not self.wrong

    @property
    def contention(self) -> float:
        """The loss by contention, delta_con = E_cf - E_ac."""
        return self.free - self.actual

    @property
    def structure(self) -> float:
        """The loss by the structure of the graph, delta_str = E_ub - E_cf."""
        return self.bound - self.free


@dataclass(frozen=True, eq=False)
class Isoefficiency:
    """The efficiencies and models of an isoefficiency campaign.

    `actual` and `free` are models of E_ac and E_cf. `depth` (seconds) and `parallelism` are models
    of the graph over the size. Each model is None with too few points, and `open_` gives the
    reasons. `scalability_bug` says whether pi(n) grows more slowly than T_inf(n), or is None if
    unknown.
    """

    points: tuple[EfficiencyPoint, ...]
    actual: EfficiencySurface | None
    free: EfficiencySurface | None
    depth: FittedModel | None
    parallelism: FittedModel | None
    scalability_bug: bool | None
    open_: tuple[str, ...]

    @property
    def sound(self) -> tuple[EfficiencyPoint, ...]:
        """The points that may be used for decisions."""
        return tuple(point for point in self.points if point.sound)

    def bound(self, threads: float, size: float) -> float | None:
        """Returns the bound E_ub(p, n) from the model of the parallelism, or None without that
        model.
        """
        if self.parallelism is None:
            return None
        return min(1.0, self.parallelism.predict((size,)) / threads)

    def sizes_for(self, threads: float, efficiency: float) -> dict[str, Solution | None]:
        """Returns the size that keeps an efficiency, according to each of E_ac, E_cf and E_ub."""
        return self._by_function(
            lambda surface: size_for(surface, threads, efficiency, LEVEL),
            lambda bound: smallest_size(lambda n: bound(threads, n), efficiency),
        )

    def threads_for(self, size: float, efficiency: float) -> dict[str, Solution | None]:
        """Returns the number of threads on which a size keeps an efficiency, according to each of
        E_ac, E_cf and E_ub.
        """
        return self._by_function(
            lambda surface: threads_for(surface, size, efficiency, LEVEL),
            lambda bound: most_threads(lambda p: bound(p, size), efficiency),
        )

    def _by_function(
        self,
        on_surface: Callable[[EfficiencySurface], Solution],
        on_bound: Callable[[Callable[[float, float], float]], float | None],
    ) -> dict[str, Solution | None]:
        """Solves E_ac and E_cf on their surfaces, and E_ub(p, n) at both ends of its interval."""
        bound = None
        if self.parallelism is not None:
            side_at = cache(
                partial(_prediction_or_interval_end, self.parallelism)
            )  # for one size and many threads
            bound = _with_band(lambda side: on_bound(lambda p, n: min(1.0, side_at(n, side) / p)))
        return {
            "E_ac": on_surface(self.actual) if self.actual else None,
            "E_cf": on_surface(self.free) if self.free else None,
            "E_ub": bound,
        }

    def contour(self, efficiency: float, threads: tuple[int, ...]) -> list[tuple[int, float]]:
        """Returns the isoefficiency line of E_ac as pairs (p, n). Thread counts for which no size
        keeps the efficiency are omitted.
        """
        if self.actual is None:
            return []
        model = self.actual
        sizes = [
            (p, smallest_size(lambda n, p=p: model.value(p, n), efficiency))  # type: ignore[misc]
            for p in threads
        ]
        return [(p, n) for p, n in sizes if n is not None and n < LARGEST]


def _prediction_or_interval_end(model: FittedModel, size: float, side: int) -> float:
    if not side:
        return model.predict((size,))
    band = model.interval((size,), LEVEL)
    return band.low if side < 0 else band.high


def _with_band(solve: Callable[[int], float | None]) -> Solution:
    middle, others = solve(0), [solve(-1), solve(1)]
    known = [value for value in (middle, *others) if value is not None]
    high = None if None in (middle, *others) else max(known)
    return Solution(middle, min(known, default=None), high, LEVEL)


def efficiency_points(data: IsoefficiencyData) -> tuple[EfficiencyPoint, ...]:
    """Computes the three efficiencies for all sizes with a known graph and a known time on one
    thread.
    """
    points = []
    for time in sorted(data.times, key=lambda t: (t.size, t.threads)):
        graph, alone = data.graph(time.size), data.time(time.size, 1)
        if graph is None or alone is None or time.threads == 1 or not time.free_s:
            continue
        points.append(
            EfficiencyPoint(
                size=time.size,
                threads=time.threads,
                actual=alone.mean_s / (time.threads * time.mean_s),
                free=graph.work_s / (time.threads * time.free_s),
                bound=min(1.0, graph.parallelism / time.threads),
                how=time.how,
                disturbed=any(
                    host is not None and host.disturbed
                    for host in (graph.host, alone.host, time.host)
                ),
                undivided=graph.undivided_s / graph.work_s if graph.work_s > 0 else 0.0,
            )
        )
    return tuple(points)


def _load_text(data: IsoefficiencyData) -> str:
    others = [time.host.others for time in data.times if time.host and time.host.disturbed]
    return f": they kept up to {max(others):.1f} cores busy" if others else ""


def isoefficiency(data: IsoefficiencyData) -> Isoefficiency:
    """Fits all models for which the data have enough points."""
    points = efficiency_points(data)
    sound = [point for point in points if point.sound]
    open_ = [point.wrong for point in points if point.wrong]
    disturbed = sum(point.disturbed for point in points)
    if disturbed:
        open_.append(
            f"other processes used the host while {disturbed} of "
            f"{plural(len(points), 'point')} were "
            f"measured, which do not count{_load_text(data)}"
        )
    # On one thread, every efficiency is 1 by definition, which fixes the constant.
    sizes = sorted({point.size for point in sound})
    ones = [(1.0, size) for size in sizes]
    where = [*ones, *((float(point.threads), point.size) for point in sound)]
    actual = _fit_surface(where, [1.0] * len(ones) + [p.actual for p in sound], "E_ac", open_)
    free = _fit_surface(where, [1.0] * len(ones) + [p.free for p in sound], "E_cf", open_)
    graphs = sorted(
        (graph for graph in data.graphs if graph.host is None or not graph.host.disturbed),
        key=lambda graph: graph.size,
    )
    depth = parallelism = None
    if len(graphs) >= LEAST_SIZES:
        at = [(graph.size,) for graph in graphs]
        depth = regionpredict.fit.fit(at, [[g.depth_s] for g in graphs], parameters=("n",))
        parallelism = regionpredict.fit.fit(
            at, [[g.parallelism] for g in graphs], parameters=("n",)
        )
    else:
        aside = len(graphs) < len(data.graphs)
        open_.append(
            f"T_inf(n) and pi(n) have no model: {len(graphs)} "
            f"size{' is' if len(graphs) == 1 else 's are'} measured{' undisturbed' * aside}, "
            f"{LEAST_SIZES} are needed"
        )
    bug = None
    if depth is not None and parallelism is not None:
        bug = growth_key(parallelism.leading_term) < growth_key(depth.leading_term)
    return Isoefficiency(points, actual, free, depth, parallelism, bug, tuple(open_))


def _fit_surface(
    where: list[tuple[float, float]], efficiencies: list[float], name: str, open_: list[str]
) -> EfficiencySurface | None:
    try:
        return fit_efficiency(where, efficiencies)
    except InputError as error:
        open_.append(f"{name} has no model: {error.message}; {error.remedy}")
        return None
