"""Computes the workload of one region for known sizes: the input of performance models for any
machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, StatementFact
from regionpredict.analysis.history.first_touch import UNSEEN, Placement
from regionpredict.analysis.history.last_writes import UNKNOWN, History
from regionpredict.analysis.schedule import Schedule, schedule_of
from regionpredict.analysis.uneven_work import uneven_loops
from regionpredict.ir import Loop
from regionpredict.workload.array_sharing import ArraySharing, array_sharing
from regionpredict.workload.assumed_sizes import OpenSize, SizeTarget, Values, bound_sizes
from regionpredict.workload.cache_traffic import CacheContents, TrafficCounter
from regionpredict.workload.contended_writes import ContendedWrites, contended_writes
from regionpredict.workload.loop_bodies import LoopBody, loop_bodies
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.serial_bodies import Selection, parts_of
from regionpredict.workload.skewed_work import Skew, uneven_share
from regionpredict.workload.statement_table import StatementTable, statement_table
from regionpredict.workload.synchronisation import (
    SynchronisationCounts,
    synchronisation_counts,
    team_limit,
)
from regionpredict.workload.work_distribution import WorkProfile, work_profile


class Work(NamedTuple):
    """A loop nest with numeric bounds, the distribution of work along the parallel loop, and the
    loop bodies.

    `uneven` has one line of text per loop with data-dependent work. `skew` is the assumed
    distribution of this work, or None if all work is even.
    """

    nest: LoopNest
    profile: WorkProfile
    bodies: tuple[LoopBody, ...]
    uneven: tuple[str, ...] = ()
    skew: Skew | None = None


class SerialWork(NamedTuple):
    """All serial bodies of one kind: 'critical', 'ordered' or 'single'. `visits` is the number of
    their executions.
    """

    kind: str
    visits: float
    work: Work


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a region.

    `work` is the concurrent work, and `serial` contains the serial bodies. `sharing` describes the
    shared arrays. `contended` lists arrays whose lines move between cores with each write.
    `assumed` has one line of text per assumed bound or length.
    """

    work: Work
    serial: tuple[SerialWork, ...]
    synchronisation: SynchronisationCounts
    sharing: tuple[ArraySharing, ...]
    assumed: tuple[str, ...]
    contended: tuple[ContendedWrites, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """A region with known sizes, for caches with lines of `line_bytes`.

    `execution` is None if the region has no readable loop. `team_limit` is the maximum number of
    threads of the directive (None for no limit). `placement` describes the NUMA placement of pages.
    `fresh` arrays were never written before. `repeats` says that the region was executed before on
    the same data. `contents` are the initial contents of caches. `guessed` has one line of text per
    assumed size. `open_size` is the common value of all unknown sizes. `only_written` arrays are
    never read. `limited` says that traffic counting has a budget.
    """

    table: StatementTable
    execution: Execution | None
    schedule: Schedule
    team_limit: int | None
    placement: Placement
    fresh: frozenset[str]
    repeats: bool
    contents: CacheContents
    guessed: tuple[str, ...]
    line_bytes: int
    open_size: OpenSize | None = None
    only_written: frozenset[str] = frozenset()
    limited: bool = True

    def traffic_of(self, work: Work) -> TrafficCounter:
        """Returns a traffic counter for the concurrent work of the region or for a serial body."""
        return TrafficCounter(
            work.nest, work.profile, self.schedule, self.line_bytes, limited=self.limited
        )


def workload_of(
    facts: RegionFacts,
    target: SizeTarget,
    line_bytes: int,
    *,
    placement: Placement = UNSEEN,
    history: History = UNKNOWN,
) -> Workload:
    """Returns the workload of one region. Unknown sizes are chosen so that the region accesses the
    `target` amount of data.

    Raises InputError for sizes beyond 64 bits.
    """
    table = statement_table(facts, line_bytes)
    bindings: Values = facts.bindings.values
    guessed: tuple[str, ...] = ()
    open_size = None
    execution = None
    if facts.status != "skipped" and facts.region.nest is not None:
        bindings, guessed, open_size = bound_sizes(facts, target, line_bytes)
        execution = _loop_execution(facts, facts.region.nest, bindings, history)
    return Workload(
        table=table,
        execution=execution,
        schedule=schedule_of(facts.region),
        team_limit=team_limit(facts.region),
        placement=placement,
        fresh=history.fresh,
        repeats=history.repeats,
        contents=_initial_cache_contents(facts, history),
        guessed=guessed,
        line_bytes=line_bytes,
        open_size=open_size,
        only_written=_only_written(facts),
    )


def _initial_cache_contents(facts: RegionFacts, history: History) -> CacheContents:
    """Returns the cache contents at the start of the region. They are its own data from a previous
    execution, or the data of the last writers of its arrays.
    """
    memories = facts.region.memories()
    if history.repeats:
        kept = frozenset(own for name, own in memories.items() if name not in history.untouched)
        return CacheContents(kept, between=history.bytes_between)
    written = {memories.get(name, name): last
               for name, last in history.last.items() if name not in history.fresh}  # fmt: skip
    one_core = frozenset(name for name, last in written.items() if last.parts is None)
    own = frozenset(written) - one_core
    return CacheContents(own, one_core, history.bytes_between if own else 0.0)


def _only_written(facts: RegionFacts) -> frozenset[str]:
    memories = facts.region.memories()
    kinds: dict[str, set[str]] = {}
    for statement in facts.statements:
        for fact in statement.accesses:
            kinds.setdefault(memories[fact.access.array], set()).add(fact.access.kind)
    return frozenset(array for array, known in kinds.items() if known == {"write"})


def _loop_execution(
    facts: RegionFacts, source: Loop, bindings: Values, history: History
) -> Execution | None:
    concurrent, serial = parts_of(source)
    work = _work_of_part(facts, concurrent, bindings)
    if work is None:
        return None
    region = replace(facts.region, nest=concurrent.nest)
    synchronisation = synchronisation_counts(region, concurrent.nest, work.nest)
    bodies = []
    for kind, selection in serial.items():
        body = _work_of_part(facts, selection, bindings)
        if body is not None:
            bodies.append(SerialWork(kind.kind, synchronisation.visits(kind), body))
    return Execution(
        work=work,
        serial=tuple(bodies),
        synchronisation=synchronisation,
        sharing=array_sharing(region, work.nest, history),
        assumed=work.nest.assumed,
        contended=contended_writes(facts, work.nest),
    )


def _work_of_part(facts: RegionFacts, part: Selection, bindings: Values) -> Work | None:
    nest = loop_nest(replace(facts.region, nest=part.nest), bindings)
    if nest is None:
        return None
    statements: Sequence[StatementFact] = [facts.statements[number] for number in part.statements]
    bodies = loop_bodies(nest, statements, reassociates=facts.region.reassociates)
    uneven = uneven_loops(replace(facts.region, nest=part.nest))
    share = uneven_share(uneven, nest) if uneven else 0.0
    given = facts.region.skew
    if given is not None:
        # A given skew applies to all work if no loop has data-dependent work.
        skew: Skew | None = Skew.given(share or 1.0, given)
    else:
        skew = Skew(share) if share else None
    reasons = tuple(dict.fromkeys(loop.reason for loop in uneven)) if share else ()
    profile = work_profile(
        nest, skew if given is not None else None, per_thread=facts.region.per_thread
    )
    return Work(nest, profile, bodies, reasons, skew)
