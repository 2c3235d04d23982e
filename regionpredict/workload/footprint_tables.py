"""The tables of counted footprints. Their keys contain everything that the lines touched by threads
depend on.

All thread counts, cache sizes and windows of one nest can therefore share their counts.
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
    """The ranges of a chain of loops. `run` says that each has an iteration."""

    ranges: Ranges
    run: bool


RangesKey = tuple[Positions, tuple[tuple[str, float], ...], tuple[float | None, ...], Cut | None]
"""A chain of loops, with the loop variables, pieces and cut that affect the ranges of the loops."""
GroupKey = tuple[
    int, tuple[float, ...], tuple[float, ...], tuple[Range | float, ...], tuple[TeamLevel, ...],
    float, bool,
]  # fmt: skip
"""Everything that a group's number of lines depends on: index, offsets, writes, and a range or
value for every variable in its slopes. Further entries are the threads along these variables, the
copies of its data, and whether each thread has a copy.
"""
Row = tuple[tuple[float, ...], tuple[float, ...]]
"""The offsets of a group's references, and those that are written."""
TeamKey = tuple[float, int | tuple[TeamLevel, ...]]
"""Everything that the accesses of threads in inner loops depend on."""
FootprintKey = tuple[
    TeamKey, Positions, Cut | None, tuple[float | None, ...], Positions, tuple[float, ...], bool
]


class Chain(NamedTuple):
    """The active loops around a group, outermost first, with their positions.

    `depends` says that the bounds of one loop depend on outer loops.
    """

    loops: tuple[LoopHeader, ...]
    positions: Positions
    depends: bool
    path: Path


class Meeting(NamedTuple):
    """Groups of one array: their chains, and the `names` in their addresses and ranges. It also
    says whether one is irregular, whether the positions of threads drift along one, and whether all
    are aligned. With several groups, or if a loop's bounds depend on others, rows may overlap
    (`within`).
    """

    chains: tuple[Chain, ...]
    names: tuple[str, ...]
    irregular: bool
    drifting: bool
    aligned: bool
    within: bool


@dataclass(frozen=True, slots=True)
class FootprintTables:
    """The counts of one nest for one line length, and for any number of threads.

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
