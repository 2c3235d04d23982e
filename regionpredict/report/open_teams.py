"""The first lines if sizes are unknown: the sizes to set, and how others change the hints.

4 of 9 parallel regions depend on unknown sizes
Set this size to get hints for 9 of 9 regions (now 5): --set N=...
Packages by size for 4 of them: N (4)
                  10   100  1000  10^4  10^5  10^6  10^7  10^8
  1 thread         4     3
  2 packages             1     4     4     4     4     4     4
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from regionpredict.predict import SizeHint, TeamPrediction
from regionpredict.report.quantities import plural
from regionpredict.report.size_hints import needed_lines, size_name
from regionpredict.sizes.ranking import SizeRanking

_SHOWN_SIZES = tuple(10**power for power in range(1, 9))
_NAMED = 4  # maximum number of listed sizes
_CELL = 6


def open_team_lines(teams: Sequence[TeamPrediction], ranking: SizeRanking) -> Iterator[str]:
    """The lines for the parallel regions that run. Empty if no size changes a hint. The caller
    wraps other long lines.
    """
    teams = [team for team in teams if team.facts.executions.value != 0]
    opened = [team for team in teams if team.range is not None]
    if not opened:
        return
    which = "All" if len(opened) == len(teams) > 1 else f"{len(opened)} of"
    depend = "depends" if len(opened) == 1 else "depend"
    yield f"{which} {plural(len(teams), 'parallel region')} {depend} on unknown sizes"
    yield from needed_lines(ranking)
    turning = [team.by_size for team in opened if len(team.by_size) > 1]
    if turning:
        yield f"Packages by size for {len(turning)} of them: {_sizes(turning)}"
        yield from _by_size(turning)
    stay = [team for team in opened if team.range is not None and team.range.packages == (1, 1)]
    if stay:
        causes = Counter(team.bottleneck for team in stay)
        bottlenecks = ", ".join(f"{cause} ({count})" for cause, count in causes.most_common())
        yield f"{_stay(len(stay))} 1 package at any size: {bottlenecks}"
    if alone := len(opened) - len(turning):
        their = "its row" if alone == 1 else "their rows"
        depend = "depends" if alone == 1 else "depend"
        yield (f"{plural(alone, 'parallel region')} {depend} on several sizes: see 'depends on' "
               f"below {their}")  # fmt: skip


def _sizes(turning: Sequence[Sequence[SizeHint]]) -> str:
    """`n (40), m = k (3), ...`: the sizes, each with the number of parallel regions that it
    decides.
    """
    names = Counter(own[0].name for own in turning).most_common()
    counted = [f"{size_name(name)} ({number})" for name, number in names[:_NAMED]]
    return ", ".join([*counted, "..."] if len(names) > _NAMED else counted)


def _stay(number: int) -> str:
    return f"{plural(number, 'parallel region')} use{'s' if number == 1 else ''}"


def _by_size(hints: Sequence[Sequence[SizeHint]]) -> Iterator[str]:
    """Rows with numbers of parallel regions, one column per size."""
    rows: dict[tuple[int, bool], list[int]] = {}
    for column, size in enumerate(_SHOWN_SIZES):
        for own in hints:
            hint = next(hint for hint in own if hint.below is None or size < hint.below)
            kind = (hint.packages, hint.threads > 1)
            rows.setdefault(kind, [0] * len(_SHOWN_SIZES))[column] += 1
    yield f"  {'':<12}" + "".join(f"{_power(size):>{_CELL}}" for size in _SHOWN_SIZES)
    for (packages, several), counts in sorted(rows.items()):
        label = plural(packages, "package") if several else "1 thread"
        yield f"  {label:<12}" + "".join(f"{count or '':>{_CELL}}" for count in counts).rstrip()


def _power(size: int) -> str:
    return str(size) if size < 10_000 else f"10^{len(str(size)) - 1}"
