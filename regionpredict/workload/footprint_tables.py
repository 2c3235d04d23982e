"""Caches of counted footprints.

Keys contain everything on which the touched lines depend. All numbers of threads and cache sizes
therefore share the counts of one nest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.workload.counted_work import GroupWork
from regionpredict.workload.enumerated_lines import (
    KnownLines,
    KnownRows,
    Path,
)
from regionpredict.workload.joined_groups import (
    EqualArrays,
    LoopBounds,
)
from regionpredict.workload.line_overlap import GroupLines, Lines, Volume
from regionpredict.workload.loop_nest import (
    Cut,
    LoopHeader,
    ReferenceGroup,
)
from regionpredict.workload.loop_ranges import Range, Ranges
from regionpredict.workload.team_levels import TeamLevel

Positions = tuple[int, ...]
"""The `index` of each loop or reference group in the nest."""


class ChainRanges(NamedTuple):
    """The value ranges of the variables of nested loops. `all_run` says that every loop has an
    iteration.
    """

    ranges: Ranges
    all_run: bool


RangesKey = tuple[Positions, tuple[tuple[str, float], ...], tuple[float | None, ...], Cut | None]
"""Nested loops, with the outer variables, thread pieces and cut that affect their ranges."""
GroupKey = tuple[
    int, tuple[float, ...], tuple[float, ...], tuple[Range | float, ...], tuple[TeamLevel, ...],
    float, bool,
]  # fmt: skip
"""The inputs of the number of lines of a group.

They are its index, offsets, written offsets, and a range or value for every variable in its slopes.
Further inputs are the thread levels along these variables, the number of copies of its data, and
whether each thread has a copy.
"""
Row = tuple[tuple[float, ...], tuple[float, ...]]
"""The offsets of a group's references, and the offsets of its written references."""
TeamKey = tuple[float, int | tuple[TeamLevel, ...]]
"""The number of threads, and their positions if neighboring threads may share lines."""
FootprintKey = tuple[
    TeamKey, Positions, Cut | None, tuple[float | None, ...], Positions, tuple[float, ...], bool
]


class Chain(NamedTuple):
    """The active loops around a reference group, outermost first, with their indices.

    `depends` says that the bounds of at least one loop depend on outer loops.
    """

    loops: tuple[LoopHeader, ...]
    positions: Positions
    depends: bool
    path: Path


class ArrayGroups(NamedTuple):
    """The common properties of the reference groups of one array.

    `chains` are the loops around each group. `names` are the variables in addresses and loop
    bounds. `irregular` and `drifting` apply to at least one group, and `aligned` applies to all.
    `may_overlap` says that rows may overlap, because there are several groups or dependent loops.
    """

    chains: tuple[Chain, ...]
    names: tuple[str, ...]
    irregular: bool
    drifting: bool
    aligned: bool
    may_overlap: bool


@dataclass(frozen=True, slots=True)
class FootprintTables:
    """The counts of one nest for one line size and any number of threads. They belong to one
    traffic counter.
    """

    volumes: dict[FootprintKey, Volume] = field(default_factory=dict)
    least: dict[FootprintKey, float] = field(default_factory=dict)
    ranges: dict[RangesKey, ChainRanges] = field(default_factory=dict)
    lines: dict[GroupKey, tuple[GroupLines, ...]] = field(default_factory=dict)
    irregular: dict[tuple[object, ...], tuple[GroupLines, ...]] = field(default_factory=dict)
    unions: dict[tuple[GroupLines, ...], Lines] = field(default_factory=dict)
    alike: dict[Positions, list[EqualArrays]] = field(default_factory=dict)
    chains: dict[tuple[int, Positions], Chain] = field(default_factory=dict)
    array_groups: dict[tuple[Positions, Positions], ArrayGroups] = field(default_factory=dict)
    paths: dict[Positions, Path] = field(default_factory=dict)
    moved: dict[tuple[int, str], float] = field(default_factory=dict)
    parts: dict[tuple[int, tuple[float, ...]], ReferenceGroup] = field(default_factory=dict)
    enumerated: dict[tuple[object, ...], Lines | None] = field(default_factory=dict)
    by_shape: KnownLines = field(default_factory=dict)
    by_walk: KnownRows = field(default_factory=dict)
    bounds: LoopBounds = field(default_factory=dict)
    work: GroupWork = field(default_factory=GroupWork)
