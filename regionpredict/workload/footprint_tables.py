"""The tables of counted footprints: what is known about the lines that threads touch, by its keys.

They let all thread counts, cache sizes and windows of one nest share their counts.
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
    AlikeArrays,
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
"""Loops or groups by their `index` in the nest."""


class RangesOf(NamedTuple):
    """The ranges of a chain of loops. `run`: each has an iteration."""

    ranges: Ranges
    run: bool


RangesKey = tuple[Positions, tuple[tuple[str, float], ...], tuple[float | None, ...], Cut | None]
"""A chain of loops, with the loop variables, pieces and cut that affect its ranges."""
GroupKey = tuple[
    int, tuple[float, ...], tuple[float, ...], tuple[Range | float, ...], tuple[TeamLevel, ...],
    float, bool,
]  # fmt: skip
"""Everything that a group's number of lines depends on: index, offsets, writes, and a range or
value for every variable in its slopes. The rest are the threads along these, copies of its data,
and whether it is per thread.
"""
Row = tuple[tuple[float, ...], tuple[float, ...]]
"""Offsets of a group's references, and those written."""
TeamKey = tuple[float, int | tuple[TeamLevel, ...]]
"""Everything the accesses of threads in inner loops depend on."""
FootprintKey = tuple[
    TeamKey, Positions, Cut | None, tuple[float | None, ...], Positions, tuple[float, ...], bool
]


class Chain(NamedTuple):
    """The active loops around a group, the outermost first, and their positions.

    `depends`: the bounds of one of them depend on outer loops.
    """

    loops: tuple[LoopHeader, ...]
    positions: Positions
    depends: bool
    path: Path


class Meeting(NamedTuple):
    """Groups of one array: their chains, and the `names` in their addresses and ranges. It also
    says whether one is irregular, whether threads drift along one, and whether all are aligned.
    Rows may overlap (`within`) for several groups, or if a loop's bounds depend on others.
    """

    chains: tuple[Chain, ...]
    names: tuple[str, ...]
    irregular: bool
    drifting: bool
    aligned: bool
    within: bool


@dataclass(frozen=True, slots=True)
class FootprintTables:
    """The counts of one nest with one line length, for any number of threads.

    The tables belong to one traffic counter.
    """

    volumes: dict[FootprintKey, Volume] = field(default_factory=dict)
    least: dict[FootprintKey, float] = field(default_factory=dict)
    ranges: dict[RangesKey, RangesOf] = field(default_factory=dict)
    lines: dict[GroupKey, tuple[GroupLines, ...]] = field(default_factory=dict)
    irregular: dict[tuple[object, ...], tuple[GroupLines, ...]] = field(default_factory=dict)
    unions: dict[tuple[GroupLines, ...], Lines] = field(default_factory=dict)
    alike: dict[Positions, list[AlikeArrays]] = field(default_factory=dict)
    chains: dict[tuple[int, Positions], Chain] = field(default_factory=dict)
    meetings: dict[tuple[Positions, Positions], Meeting] = field(default_factory=dict)
    paths: dict[Positions, Path] = field(default_factory=dict)
    moved: dict[tuple[int, str], float] = field(default_factory=dict)
    parts: dict[tuple[int, tuple[float, ...]], ReferenceGroup] = field(default_factory=dict)
    gone_through: dict[tuple[object, ...], Lines | None] = field(default_factory=dict)
    by_shape: KnownLines = field(default_factory=dict)
    by_walk: KnownRows = field(default_factory=dict)
    bounds: LoopBounds = field(default_factory=dict)
    work: GroupWork = field(default_factory=GroupWork)
