"""Computes the gain of source changes by predicting the changed parallel region.

The gain is the best predicted time before the change divided by the best time after the change, for
the same thread counts. Removing a term with share s of the time multiplies the speed by at most
1/(1 - s). Therefore, only regions and terms with a large share are considered. To save work, each
trial first computes a bound without traffic, then a few thread counts, then all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.constants import (
    ADVICE_GAIN,
    ADVICE_SCREEN,
    ADVISED_SHARE,
    ADVISED_TEAMS,
    CHUNKS_A_THREAD,
    SKEW_PRECISION,
    SKEW_TRIED,
)
from regionpredict.predict.curve import Point
from regionpredict.predict.estimate import Estimate
from regionpredict.predict.saturation import (
    ALL_PARTS,
    RegionTime,
    counters_of,
    region_time,
    round_counts,
)
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.predict.teams import TeamPrediction, points_of, team_curve
from regionpredict.workload import (
    COARSE_CHUNK,
    Change,
    Region,
    Schedule,
    Skew,
    Span,
    TeamFacts,
    TrafficCounter,
    Workload,
    clause_of,
    names_of,
    with_parallel_first_touch,
    without_barrier,
    without_fork,
)

_NO_WALKS = replace(ALL_PARTS, page_walks=False)


class Advice(NamedTuple):
    """A recommended source change at `span`. `id` is the id of the rule.

    `gain` is the ratio of the parallel region's best times before and after the change. `saved` is
    the time saved in all executions, in seconds. `program_advice` sums both over all regions that
    need the change.
    """

    id: str
    span: Span
    message: str
    gain: float
    saved: float

    def __str__(self) -> str:
        """Describes the change, such as `1.5x: write collapse(2) (RP203)`."""
        return f"{self.gain:.1f}x: {self.message} ({self.id})"


class AdvisedLoop(NamedTuple):
    """A loop of a parallel region with its estimate, its workload and its possible changes."""

    estimate: Estimate
    workload: Workload
    changes: Sequence[Change]


def advised_teams(teams: Sequence[TeamPrediction]) -> list[TeamPrediction]:
    """Returns the parallel regions that take enough time to search for changes, longest first."""
    spent = {
        team.facts.id: team.facts.executions.weight * min(p.seconds for p in team.points)
        for team in teams if team.points and team.threads is not None and team.range is None
    }  # fmt: skip
    whole = sum(spent.values())
    known = [team for team in teams if spent.get(team.facts.id, 0.0) > ADVISED_SHARE.value * whole]
    known.sort(key=lambda team: -spent[team.facts.id])
    return known[: int(ADVISED_TEAMS.value)]


def advice_for(
    team: TeamPrediction, members: Sequence[AdvisedLoop], machine: Machine, *, before: str | None,
    needless: Sequence[Region] = (),
) -> tuple[Advice, ...]:  # fmt: skip
    """Returns the worthwhile changes of a parallel region, best first, with at most one per rule.

    `members` are the loops of the region in order. `before` is the instruction to start the threads
    earlier, or None. `needless` are the loops whose barriers are unnecessary.
    """
    counts = [point.threads for point in team.points]
    tried = _RegionTrials(team, members, machine, round_counts(machine, max(counts)))
    changes: list[Advice] = []
    whole = (
        tried.first_touch(), tried.one_team(before), tried.without_barriers(needless),
        tried.too_little_work(), *tried.for_skewed_work(),
    )  # fmt: skip
    for change in (*whole, *tried.changes()):
        if change is not None and change.gain >= ADVICE_GAIN.value:
            changes.append(change)
    best: dict[str, Advice] = {}
    for change in sorted(changes, key=lambda advice: -advice.gain):
        best.setdefault(change.id, change)
    return tuple(best.values())


class _RegionTrials:
    """The trials of source changes of one parallel region."""

    def __init__(
        self, team: TeamPrediction, members: Sequence[AdvisedLoop], machine: Machine,
        counts: Sequence[int],
    ) -> None:  # fmt: skip
        self.team = team
        self.members = members
        self.machine = machine
        self._counters: dict[int, list[TrafficCounter]] = {}
        self.points = [point for point in team.points if point.threads in counts]
        self.counts = tuple(point.threads for point in self.points)
        self.best = min(point.seconds for point in self.points)

    def share(self, terms: Sequence[str] | frozenset[str]) -> float:
        """Returns the largest share of the time of these terms on more than one thread."""
        return max(
            (sum(point.terms[name] for name in terms) / point.seconds
             for point in self.points if point.threads > 1 and point.seconds),
            default=0.0,
        )  # fmt: skip

    def is_worthwhile(self, terms: Sequence[str] | frozenset[str]) -> bool:
        """Whether the parallel region would gain enough if these terms were zero."""
        return self.share(terms) >= 1.0 - 1.0 / ADVICE_GAIN.value

    def first_touch(self) -> Advice | None:
        """Returns the advice of parallel first touch, which places pages in the NUMA domains of the
        threads that use them.
        """
        machine = self.machine
        if machine.domains < 2 or machine.memory.shared_path is not None:
            return None
        spread = [with_parallel_first_touch(pair.workload) for pair in self.members]
        serial = [place for pair in spread if pair is not None for place in pair[1]]
        if not serial or not self.is_worthwhile(("memory-bandwidth", "cache")):
            return None
        places = sorted({pair.span for pair in serial if pair.span is not None})
        span = places[0] if places else self.team.facts.span
        where = ", ".join(dict.fromkeys(place.short for place in places))
        message = f"write {names_of(serial)} first in a parallel loop with the same schedule"
        message += f"; now one thread does ({where})" if where else ""
        return self._advice_for_change(
            "RP201", span, message, [pair[0] if pair is not None else None for pair in spread]
        )

    def one_team(self, before: str | None) -> Advice | None:
        """Returns the advice to start threads only once for several loops or executions."""
        if before is None or len(self.members) != 1 or not self.is_worthwhile(("overhead",)):
            return None
        workload = without_fork(self.members[0].workload)
        if workload is None or self._best_alone(workload):
            return None
        return self._advice_for_change(
            "RP205", self.team.facts.span, before, [workload], forks=False, costs_alone=True
        )

    def _best_alone(self, workload: Workload) -> bool:
        """Whether the loop is fastest on one thread, even inside an existing parallel region."""
        time = self._changed_time(0, workload)
        if time is None:
            return False
        points = team_curve(
            replace(self.team.facts, forks=False), [time.points(self.counts)], self.machine
        )
        return bool(points) and min(points, key=lambda point: point.seconds).threads == 1

    def too_little_work(self) -> Advice | None:
        """Returns the advice to execute a region serially, if starting threads costs more than they
        gain. The advice includes the number of iterations from which threads gain.
        """
        region = self.team.facts.members[0].facts.region
        construct = region.parallel or region
        one = self.points[0]
        execution = self.members[0].workload.execution
        if (
            len(self.members) != 1 or execution is None or region.context != "combined"
            or one.seconds > self.best or construct.clause("if") is not None
            or self.members[0].workload.schedule.kind != "static"  # pieces cost
            or execution.synchronisation.inner_teams  # the cost is in the nested regions
        ):  # fmt: skip
            return None
        work = one.seconds - one.terms["overhead"]
        if work <= 0.0 or one.seconds < ADVICE_GAIN.value * work:
            return None
        turn = self._turning_point(work / execution.work.profile.iterations)
        message = "remove the directive: the parallel region costs more than it gains"
        if turn is not None:
            message += f" below about {turn} iterations; for more iterations, write if(N > {turn})"
        saved = (one.seconds - work) * self.team.facts.executions.weight
        return Advice("RP207", self.team.facts.span, message, round(one.seconds / work, 2), saved)

    def _turning_point(self, each: float) -> int | None:
        """Returns the number of iterations from which several threads gain, rounded to two digits.

        `each` is the time of an iteration in seconds. Returns None if threads never gain.
        """
        one = self.points[0].terms["overhead"]
        least = min(
            ((point.terms["overhead"] - one) / (each * (1.0 - 1.0 / point.threads))
             for point in self.points if point.threads > 1),
            default=0.0,
        )  # fmt: skip
        return int(float(f"{least:.2g}")) if least >= 1.0 else None

    def without_barriers(self, needless: Sequence[Region]) -> Advice | None:
        """Returns the advice to remove unnecessary barriers after loops."""
        if not needless or not self.is_worthwhile(("overhead",)):
            return None
        spans = {region.span for region in needless}
        workloads = [
            without_barrier(member.workload) if facts.facts.region.span in spans else None
            for member, facts in zip(self.members, self.team.facts.members, strict=True)
        ]
        lines = [f"line {region.span.line}" for region in needless]
        message = f"write nowait at {' and '.join(lines)}"
        return self._advice_for_change(
            "RP206", needless[0].span, message, workloads, costs_alone=True
        )

    def for_skewed_work(self) -> list[Advice]:
        """Returns the advice of a dynamic schedule for work of unknown distribution. The advice
        includes the gain for a power law, and the skew from which the schedule gains.
        """
        if len(self.members) != 1:
            return []
        (member,) = self.members
        workload, span = member.workload, self.team.facts.members[0].facts.region.span
        execution = workload.execution
        if (
            execution is None or execution.work.skew is None
            or execution.work.profile.skew is not None or workload.schedule.kind != "static"
            or not any(change.id == "RP202" for change in member.changes)
        ):  # fmt: skip
            return []
        counters = counters_of(workload, execution)
        best, worth = None, 0.0
        for chunk in _chunk_sizes(execution.work.profile.iterations, max(self.counts)):
            dynamic = Schedule("dynamic", chunk)
            skewed = _SkewedRegion(workload, dynamic, self.machine, self.counts, counters)
            unknown, even = skewed.gain(execution.work.skew), skewed.gain(None)
            least = skewed.least_ratio(ADVICE_GAIN.value)
            own = unknown * min(1.0, even)  # both are equally likely
            if least is None or own <= worth:
                continue
            message = (
                f"write {clause_of(dynamic)} if the longest iteration takes more than {least:.2g} "
                "times the mean (the gain assumes a power law; it is "
                f"{even:.2g}x if all iterations are equal)"
            )
            saved = (1.0 - 1.0 / unknown) * self.best * self.team.facts.executions.weight
            best, worth = Advice("RP202", span, message, round(unknown, 2), saved), own
        return [best] if best is not None else []

    def changes(self) -> list[Advice]:
        """Returns the advice for single loops, with the best change per rule."""
        best: dict[str, Advice] = {}
        for number, member in enumerate(self.members):
            for change in member.changes:
                if self.is_worthwhile(change.terms):
                    workloads: list[Workload | None] = [None] * len(self.members)
                    workloads[number] = change.workload()
                    known = best.get(change.id)
                    needed = ADVICE_GAIN.value if known is None else known.gain
                    advice = self._advice_for_change(
                        change.id, change.span, change.message, workloads, needed=needed
                    )
                    if advice is not None and (known is None or advice.gain > known.gain):
                        best[change.id] = advice
        return list(best.values())

    def _advice_for_change(
        self, rule: str, span: Span, message: str, workloads: Sequence[Workload | None], *,
        forks: bool | None = None, costs_alone: bool = False, needed: float = ADVICE_GAIN.value,
    ) -> Advice | None:  # fmt: skip
        """Returns the advice of one change with its predicted gain. None if the gain is below
        `needed`.

        `costs_alone` says that the change affects only the overhead of OpenMP.
        """
        facts = self.team.facts if forks is None else replace(self.team.facts, forks=forks)
        times = [
            None if workload is None else self._changed_time(number, workload)
            for number, workload in enumerate(workloads)
        ]
        least_times = self._points_with(facts, workloads, times, RegionTime.least, self.counts)
        bounds = [_best_time(least_times, self.counts)]
        if costs_alone:
            bounds.append(self._time_bound_without_overhead(facts, workloads))
        for least in bounds:
            if least is None or (least and round(self.best / least, 2) < needed):
                return None
        if not self._gains_somewhere(facts, workloads, times, ADVICE_SCREEN.value * needed):
            return None
        points = self._points_with(facts, workloads, times, RegionTime.points, self.counts)
        best = _best_time(points, self.counts)
        if best is None or not best:
            return None
        saved = (self.best - best) * facts.executions.weight
        return Advice(rule, span, message, round(self.best / best, 2), saved)

    def _time_bound_without_overhead(
        self, facts: TeamFacts, workloads: Sequence[Workload | None]
    ) -> float | None:
        """Returns a lower bound of the best time, without forks and barriers of changed loops."""
        loops = []
        for member, workload in zip(self.members, workloads, strict=True):
            points = points_of(member.estimate)
            loops.append(points if workload is None else tuple(map(self._without_fork, points)))
        return _best_time(team_curve(facts, loops, self.machine), self.counts)

    def _without_fork(self, point: Point) -> Point:
        """Returns a loop's time without fork and barrier, but with the cost of new pages."""
        cycles = sum(
            team_cost(self.machine, name, point.threads) for name in ("fork_join", "barrier")
        )
        saved = self.machine.corrections.factor("overhead") * cycles / self.machine.clock_hz
        left = max(0.0, point.terms["overhead"] - saved)
        terms = {**point.terms, "overhead": left}
        return point._replace(terms=terms, seconds=sum(terms.values()))

    def _gains_somewhere(
        self, facts: TeamFacts, workloads: Sequence[Workload | None],
        times: Sequence[RegionTime | None], gain: float,
    ) -> bool:  # fmt: skip
        """Whether the parallel region gains at least `gain` on one of the few numbers of threads at
        which the model counts traffic first. Page walks are counted last, because they only add
        time.
        """
        edges = {edge for time in times if time is not None for edge in time.traffic.edges}
        few = [threads for threads in self.counts if threads in edges and threads > 1]
        before = {point.threads: point.seconds for point in self.points}

        def gains(times: Sequence[RegionTime | None], threads: int) -> bool:
            points = self._points_with(facts, workloads, times, RegionTime.times_at_few, [threads])
            after = {point.threads: point.seconds for point in points}
            return before[threads] >= gain * after.get(threads, 0.0)

        without_walks = [
            time if time is None or workload is None or not time.traffic.has_wide_strides
            else region_time(workload, self.machine, parts=_NO_WALKS, counters=time.counters)
            for time, workload in zip(times, workloads, strict=True)
        ]  # fmt: skip
        return not few or any(
            gains(without_walks, threads) and gains(times, threads) for threads in few
        )

    def _points_with(
        self, facts: TeamFacts, workloads: Sequence[Workload | None],
        times: Sequence[RegionTime | None],
        ask: Callable[[RegionTime, Sequence[int]], tuple[Point, ...]], counts: Sequence[int],
    ) -> tuple[Point, ...]:  # fmt: skip
        """Returns the times of the parallel region with some changed loops. Empty for unknown
        times.

        `ask` computes the times of a changed loop on `counts` threads.
        """
        loops = []
        for member, workload, time in zip(self.members, workloads, times, strict=True):
            if workload is None:
                loops.append(points_of(member.estimate))
            else:
                loops.append(() if time is None else ask(time, counts))
        return team_curve(facts, loops, self.machine)

    def _changed_time(self, number: int, workload: Workload) -> RegionTime | None:
        """Returns the times of a changed loop. Traffic counts are reused for equal work."""
        before, after = self.members[number].workload.execution, workload.execution
        counters: list[TrafficCounter] = []
        if (
            before is not None and after is not None
            and before.work is after.work and before.serial is after.serial
        ):  # fmt: skip
            known = self._counters.get(number)
            if known is None:
                known = self._counters[number] = counters_of(self.members[number].workload, before)
            counters = [counter.with_schedule(workload.schedule) for counter in known]
        return region_time(workload, self.machine, counters=counters)


class _SkewedRegion:
    """A region with data-dependent work under its current schedule and under another schedule."""

    def __init__(
        self, workload: Workload, schedule: Schedule, machine: Machine, counts: Sequence[int],
        counters: Sequence[TrafficCounter],
    ) -> None:  # fmt: skip
        self._counts = counts
        made = (
            region_time(
                replace(workload, schedule=own), machine,
                counters=[counter.with_schedule(own) for counter in counters],
            )
            for own in (workload.schedule, schedule)
        )  # fmt: skip
        self._times = [time for time in made if time is not None]
        execution = workload.execution
        skew = execution.work.skew if execution is not None else None
        self._share = skew.share if skew is not None else 0.0

    def gain(self, skew: Skew | None) -> float:
        """Returns the gain of the other schedule for a distribution of work. None means even
        work.
        """
        now, then = (
            min(p.seconds for p in time.points(self._counts, time.profile._replace(skew=skew)))
            for time in self._times
        )
        return now / then if then else 1.0

    def least_ratio(self, gain: float) -> float | None:
        """Returns the smallest ratio of longest to mean iteration at which the other schedule gains
        at least `gain`. None if the gain is always smaller.
        """
        low, high = 0.0, math.log(SKEW_TRIED.value)
        if self.gain(Skew(self._share, math.exp(high))) < gain:
            return None
        while high - low > SKEW_PRECISION.value:
            middle = (low + high) / 2
            enough = self.gain(Skew(self._share, math.exp(middle))) >= gain
            low, high = (low, middle) if enough else (middle, high)
        return math.exp(high)


def _chunk_sizes(iterations: float, threads: int) -> list[float]:
    """Returns the chunk sizes to try: a small one, and larger ones for long loops."""
    shared = iterations / (threads * CHUNKS_A_THREAD.value)
    coarse = float(1 << max(0, int(math.log2(shared)))) if shared > 1.0 else 1.0
    fine = max(COARSE_CHUNK.value, coarse / CHUNKS_A_THREAD.value)
    return sorted({COARSE_CHUNK.value, fine, max(fine, coarse)})


def _best_time(points: Sequence[Point], counts: Sequence[int]) -> float | None:
    return min((point.seconds for point in points if point.threads in counts), default=None)
