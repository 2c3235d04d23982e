"""The first lines where sizes are open: which to give, and what others would change.

4 of 9 teams depend on sizes that are assumed large
Give this one and 9 of 9 regions are settled (now 5): --set N=...
What 4 of them can use as their size grows: N (4)
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
_NAMED = 4  # sizes that are named
_CELL = 6


def open_team_lines(teams: Sequence[TeamPrediction], ranking: SizeRanking) -> Iterator[str]:
    """The lines, of teams that run; none where no size changes a hint. Other long ones are for the
    caller to wrap."""
    teams = [team for team in teams if team.facts.executions.value != 0]
    opened = [team for team in teams if team.range is not None]
    if not opened:
        return
    which = "All" if len(opened) == len(teams) > 1 else str(len(opened))
    depend = "depends" if len(opened) == 1 else "depend"
    yield f"{which} of {plural(len(teams), 'team')} {depend} on sizes that are assumed large"
    yield from needed_lines(ranking)
    turning = [team.by_size for team in opened if len(team.by_size) > 1]
    if turning:
        yield f"What {len(turning)} of them can use as their size grows: {_sizes(turning)}"
        yield from _by_size(turning)
    stay = [team for team in opened if team.range is not None and team.range.packages == (1, 1)]
    if stay:
        causes = Counter(team.bottleneck for team in stay)
        bottlenecks = ", ".join(f"{cause} ({count})" for cause, count in causes.most_common())
        yield f"On 1 package whatever the sizes {_stay(len(stay))}: {bottlenecks}"
    if alone := len(opened) - len(turning):
        their = "its row" if alone == 1 else "their rows"
        yield (f"Of {plural(alone, 'team')} no single size tells what to use: give the names that "
               f"'depends on' below {their} lists")  # fmt: skip


def _sizes(turning: Sequence[Sequence[SizeHint]]) -> str:
    """`n (40), m = k (3), ...`: the sizes, with how many teams each decides."""
    names = Counter(own[0].name for own in turning).most_common()
    counted = [f"{size_name(name)} ({number})" for name, number in names[:_NAMED]]
    return ", ".join([*counted, "..."] if len(names) > _NAMED else counted)


def _stay(number: int) -> str:
    return f"{plural(number, 'team')} stay" if number > 1 else "1 team stays"


def _by_size(hints: Sequence[Sequence[SizeHint]]) -> Iterator[str]:
    """Rows of numbers of teams, a column a size."""
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
