"""The saturation model: a speedup curve from traffic, bandwidth curves, core time and overheads.

Time of a thread = its share of the work times (core time that no transfer hides + lines from the
caches + waiting for memory), plus OpenMP's costs. Equations and sources: docs/saturation.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.balance import Schedule, largest_share, piece, schedule_of
from regionpredict.analysis.firsttouch import Placement
from regionpredict.analysis.groups import Nest, nest_of
from regionpredict.analysis.history import UNKNOWN, History
from regionpredict.ir import Region
from regionpredict.machine import Machine
from regionpredict.machine.corrections import FACTORS
from regionpredict.predict.curve import CoreTime, Point, SaturationDerivation, saturation_point
from regionpredict.predict.density import predict_density
from regionpredict.predict.hints import WITHIN, hint_from
from regionpredict.predict.limits import limit
from regionpredict.predict.prediction import Prediction
from regionpredict.predict.saturation_core import core_time
from regionpredict.predict.saturation_data import LINE, Data, RegionData
from regionpredict.predict.saturation_history import PastCosts
from regionpredict.predict.saturation_memory import (
    PARALLEL_MISSES,
    MixedBandwidth,
    requesting_cores,
    together,
)
from regionpredict.predict.saturation_overheads import Overhead, overhead_of
from regionpredict.predict.saturation_serial import SerialBody, added_by_turns, apart
from regionpredict.predict.saturation_sizes import Values, values_for
from regionpredict.predict.saturation_spill import spill_note, spill_of, spilled_share

MANY = 1 << 30
ASSUMED_PLACEMENT = Placement("parallel", "no first write of the arrays seen", True)


def predict_saturation(
    facts: RegionFacts,
    machine: Machine,
    *,
    threads: Sequence[int] = (),
    placement: Placement = ASSUMED_PLACEMENT,
    history: History = UNKNOWN,
    within: float = WITHIN,
    warm: bool = True,
) -> Prediction:
    """The prediction of one region: times on `threads` (all counts up to the cores if empty).

    `within` is the share of the best speed that a hint may lose. The density model's score and
    probability stay beside the curve.
    """
    density = predict_density(facts, machine)
    if density.status == "skipped":
        return _renamed(density)
    values, guessed = values_for(facts, machine)
    at_once, in_turn = apart(facts)
    nest = nest_of(at_once.region, values)
    if nest is None:
        return _renamed(density)
    # What a region's only run writes first cannot be in a cache from a run before.
    warm = warm and not history.fresh
    model = _Model(at_once, nest, machine, placement, history, warm)
    for kind, alone in in_turn.items():
        model.add_serial(kind, alone, values)
    most = team_limit(facts.region)
    allowed = [count for count in threads if count <= most] or ([most] if threads else [])
    counts = sorted({1, *allowed}) if allowed else list(range(1, min(most, machine.cores) + 1))
    points = model.points(counts)
    speedup = tuple((p.threads, p.speedup) for p in points if not allowed or p.threads in allowed)
    hint = hint_from(speedup, machine.cores_per_package, within)
    assumed = [*facts.bindings.assumed, *guessed, *nest.assumed]
    line = facts.region.span.line
    if most < machine.cores:
        assumed.append(f"at most {most} threads, as the directive at line {line} says")
    if facts.iterations.value is not None and facts.iterations.value <= 0:
        assumed.append("no iterations: a size that is too small")
    if machine.domains > 1 and machine.memory.shared_path is None:
        assumed += placement.assumptions
    if not model.single and (note := spill_note(machine, model.touched)):
        assumed.append(note)
    if model.data.stays(hint.threads):
        assumed.append(f"data stays in the caches of {hint.threads} threads between two runs")
    partial = facts.status == "partial" or bool(nest.assumed)
    return Prediction(
        facts=facts,
        model="saturation",
        status="partial" if partial else "predicted",
        score=density.score,
        miss_probability=density.miss_probability,
        working_set_bytes=density.working_set_bytes,
        speedup=speedup,
        packages=hint.packages,
        threads=hint.threads,
        bottleneck=limit(points),
        confidence=_confidence(hint.margin, len(guessed) + len(nest.assumed), partial=partial),
        borderline=hint.margin < within,
        assumed=tuple(assumed),
        diagnostics=density.diagnostics,
        derivation=SaturationDerivation(
            points=points,
            core=model.core,
            levels=model.data.levels(1),
            full_levels=model.data.levels(machine.cores),
            saturation=saturation_point({p.threads: p.speedup for p in points}),
            first_touch=placement.kind,
            placement_reason=placement.reason,
            past=model.past.told(points[-1].threads),
            within=within,
        ),
    )


def team_limit(region: Region) -> int:
    """The most threads that the directive's own `num_threads` and `if` allow; MANY: no limit."""
    number, condition = region.clause("num_threads"), region.clause("if")
    if condition is not None and (condition.text or "").split(":")[-1].strip() == "0":
        return 1
    text = (number.text or "").strip() if number is not None else ""
    return max(1, int(text)) if text.isdigit() else MANY


def _renamed(density: Prediction) -> Prediction:
    return Prediction(
        facts=density.facts, model="saturation", status="skipped", score=None,
        miss_probability=None, working_set_bytes=None, speedup=(), packages=None, threads=None,
        bottleneck=None, confidence=0.0, borderline=False, assumed=(),
        diagnostics=density.diagnostics,
    )  # fmt: skip


def _confidence(margin: float, guesses: int, *, partial: bool) -> float:
    """From 0.5 where two choices are equal to 0.95 where they are 30 % apart."""
    sure = 0.5 + 0.45 * min(1.0, margin / 0.3)
    return round(sure * 0.9 ** min(3, guesses) * (0.8 if partial else 1.0), 3)


class _Model:
    """The terms of one region on one machine."""

    def __init__(
        self, facts: RegionFacts, nest: Nest, machine: Machine, placement: Placement,
        history: History, warm: bool,
    ) -> None:  # fmt: skip
        self.nest = nest
        self.machine = machine
        self.placement = placement
        self.warm = warm
        self.schedule: Schedule = schedule_of(facts.region)
        self.touched = float(facts.working_set.value or 0)
        self.core: CoreTime = core_time(facts, nest, machine)
        self.overhead: Overhead = overhead_of(facts, nest, machine, self.schedule)
        self.past = PastCosts(facts, nest, machine, self.schedule, history)
        self.data = RegionData(nest, machine, self.schedule, warm=warm)
        self._bandwidth = MixedBandwidth(machine.memory.bandwidth)
        self._asking: dict[tuple[float, ...], float] = {}
        self.single = self._single()
        self.serial: dict[str, SerialBody] = {}
        self._alone = 0.0  # seconds of the work on one thread
        self._factor = {name: machine.corrections.factor(name) for name in FACTORS}

    def _single(self) -> float:
        """The share of the memory traffic that goes to arrays whose pages lie in one domain."""
        for threads in (1, self.machine.cores):
            memory = self.data.levels(threads)[-1]
            if memory.total:
                near = [one for one in memory.arrays if self.placement.is_serial(one.array)]
                return sum(one.read + one.written for one in near) / memory.total
        return 0.0

    def add_serial(self, kind: str, facts: RegionFacts, values: Values) -> None:
        """Takes in the bodies of one kind that run one after the other, as a region."""
        nest = nest_of(facts.region, values)
        if nest is None:
            return
        body = _Model(facts, nest, self.machine, self.placement, UNKNOWN, self.warm)
        terms, _, _ = body._terms(1, body.data.at(1))
        seconds = sum(terms[name] for name in ("compute", "cache", "memory-bandwidth"))
        self.serial[kind] = SerialBody(kind, self.overhead.visits(kind), seconds)
        notes = [f"{note} (in {kind}, one thread at a time)" for note in body.core.notes]
        self.core = self.core._replace(notes=(*self.core.notes, *notes))

    def _added(self, threads: int, busy: float) -> float:
        """Seconds for which threads wait for each other's turn in serial bodies."""
        lock = self.machine.overheads.critical.at(threads) / threads / self.machine.clock_hz
        chunk = piece(self.overhead.trips, threads, self.schedule)
        return added_by_turns(self.serial, threads, busy, self._alone, lock, chunk)

    def points(self, counts: Sequence[int]) -> tuple[Point, ...]:
        """Times for every count."""
        made = []
        base = 0.0
        for threads in counts:
            terms, requesting, rate = self._terms(threads, self.data.at(threads))
            seconds = sum(terms.values())
            base = base or seconds
            label = max(terms, key=lambda name: terms[name])
            made.append(
                Point(threads, seconds, base / seconds if seconds else 1.0, label, terms,
                      requesting, rate)
            )  # fmt: skip
        return tuple(made)

    def _terms(self, threads: int, data: Data) -> tuple[dict[str, float], float, float]:
        machine = self.machine
        share = largest_share(self.nest, threads, self.schedule)
        factor = self._factor
        waiting = 0.0
        if data.scattered:
            latency = machine.memory.latency_cycles.value / machine.clock_hz / PARALLEL_MISSES
            latency *= factor["scattered"]
            waiting = data.scattered * max(0.0, latency - LINE / self._rate(1.0, 1, data.writes))
        from_cache = factor["cache"] * data.from_cache
        overlapping = factor["compute"] * self.core.overlapping
        transfers = factor["compute"] * self.core.loading + from_cache
        busy = max(transfers, overlapping)
        memory, requesting, rate = self._waiting(self._crowd(threads), threads, busy, data, waiting)
        spilled = spilled_share(machine, self.touched, threads)
        if spilled and not self.single:
            memory = self._spilled(spilled, threads, busy, data, waiting)
        work = together(busy, memory)
        # The overlapped time is told to the two in the proportion of their squares.
        late = waiting * memory / work if work else 0.0  # the part of latency, not of bandwidth
        memory, busy = (memory * memory / work, busy * busy / work) if work else (0.0, 0.0)
        even = min(share, 1.0 / threads) if threads > 1 else 1.0
        if threads == 1:
            self._alone = work
        added = self._added(threads, work * share) if self.serial else 0.0
        costs, serial = self.overhead.at(threads, work * share, locks=not self.serial)
        past = self.past.at(threads)
        cached = from_cache / transfers if transfers > overlapping else 0.0
        terms = {
            "compute": even * busy * (1.0 - cached),
            "cache": even * (busy * cached + late) + past.lines,
            "memory-bandwidth": even * (memory - late),
            "imbalance": max(0.0, share - even) * work,
            "overhead": factor["overhead"] * (costs + past.exchange) + past.pages,
            "serialization": serial + added,
        }
        return terms, requesting, rate

    def _waiting(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> tuple[float, float, float]:
        """(seconds that all the work waits for memory, threads that wait at a time, their B/s).

        `delay` is the part that lines take which no prefetcher foresees, beyond their bandwidth.
        """
        requesting = self._requesting(crowd, threads, busy, data, delay)
        rate = self._rate(max(requesting, 1.0), threads, data.writes)
        return max(1.0, requesting) * data.memory / rate + delay, requesting, rate

    def _spilled(self, share: float, threads: int, busy: float, data: Data, delay: float) -> float:
        """Seconds of waiting where a `share` of the data lies in the next domain's memory."""
        spill = spill_of(share, self._crowd(threads), static=self.schedule.kind == "static")
        known = self.machine.memory
        farther = known.remote_latency_cycles.value / known.latency_cycles.value
        near = together(busy, self._waiting(spill.near, threads, busy, data, delay)[0])
        # As many lines on their way, each for longer: less bandwidth in proportion (Little's law).
        slow = replace(data, memory=farther * data.memory)
        far = together(busy, self._waiting(spill.far, threads, busy, slow, farther * delay)[0])
        mixed = (1.0 - spill.last) * near + spill.last * far
        # Whoever is last: the thread of the far pages, or those that fill their own domain.
        work = max(near, mixed) if self.schedule.kind == "static" else mixed
        return math.sqrt(max(0.0, work * work - busy * busy))

    def _requesting(
        self, crowd: float, threads: int, busy: float, data: Data, delay: float
    ) -> float:
        """How many threads of the crowd wait for memory; worked out once for equal crowds."""
        alike = float(threads) if self.machine.memory.shared_path is not None else crowd
        asked = (crowd, alike, busy, data.memory, data.writes, delay)
        found = self._asking.get(asked)
        if found is None:
            found = self._asking[asked] = requesting_cores(
                crowd, busy, data.memory, lambda m: self._rate(m, threads, data.writes), delay
            )
        return found

    def _crowd(self, threads: int) -> float:
        """Threads that share the path of the busiest of them."""
        machine = self.machine
        if machine.memory.shared_path is not None:
            return float(threads)
        own = float(min(threads, machine.cores_per_domain))
        # Of those in other domains, as many as their share of the traffic amounts to.
        return own + self.single * (threads - own)

    def _rate(self, requesting: float, threads: int, writes: float) -> float:
        """Traffic in B/s of the path that `requesting` cores share."""
        return self._path(requesting, threads, writes) / self._factor["memory"]

    def _path(self, requesting: float, threads: int, writes: float) -> float:
        machine = self.machine
        if machine.memory.shared_path is not None:
            domains = -(-threads // machine.cores_per_domain)
            each = self._domain(max(1.0, requesting / domains), writes)
            ceiling = machine.memory.shared_path.traffic_bytes_per_s.value
            return min(each * domains if requesting > 1 else each, ceiling)
        rate = self._domain(requesting, writes)
        if self.single and threads > machine.cores_per_domain:
            remote = 1.0 - machine.cores_per_domain / self._crowd(threads)
            slower = machine.memory.latency_cycles.value / max(
                1.0, machine.memory.remote_latency_cycles.value
            )
            rate *= 1.0 - remote * (1.0 - slower)
        return rate

    def _domain(self, cores: float, writes: float) -> float:
        """Traffic of one NUMA domain with `cores` requesting cores, in B/s."""
        peak = self.machine.memory.peak_bytes_per_s
        found = self._bandwidth.mixed(writes)(cores)
        return min(found, peak.value) if peak is not None else found
