"""The first lines for several files or many loops: how the program scales, and what limits it.

program  pk  threads   time  changes  best constant
main.c    2       40  81 ms        0  40 threads, 81 ms
Scaling by time on one thread: 94 % to 2 packages, 6 % to 1 package
2 parallel regions stop scaling at one package: memory-bandwidth (2)
4 of 9 parallel regions depend on unknown sizes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from regionpredict.ir import Diagnostic
from regionpredict.predict import Plan, SizeHint, TeamPrediction
from regionpredict.predict.program_advice import program_advice
from regionpredict.report.document import Block, Cell, Column, Items, Table, Text
from regionpredict.report.loop_table import CONFLICTS, loop_table
from regionpredict.report.names import common_folder, several
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.quantities import plural, show_seconds, show_share
from regionpredict.report.size_hints import needed_sentence, size_name
from regionpredict.sizes.ranking import SizeRanking

_SHOWN_SIZES = tuple(10**power for power in range(1, 9))
_SIZES_NAMED = 4  # maximum number of sizes that a line lists
_NAMED = 3  # maximum number of listed regions, programs and changes
_NOTABLE_SERIAL = 0.1  # share of the time
_MANY = 20  # number of regions from which the output is summarized
CAUTIONS = frozenset(("RP225", "RP226"))
"""The rules whose findings depend on values in memory. Rows with such findings are not marked."""
_SHOWN = 0.005  # share of the time: smaller shares are shown as 0 %


def program_summary(result: ProgramResult, ranking: SizeRanking) -> list[Block]:
    """Returns the summary blocks. Empty for one file with few regions."""
    teams, plans = result.teams, result.plans
    if not is_summarized(teams):
        return []
    timed = {team.facts.id: seconds for team in teams
             if (seconds := team.total_seconds) is not None
             and team.packages is not None}  # fmt: skip
    known = [team for team in teams if team.facts.id in timed]
    blocks: list[Block] = []
    if plans and sum(timed.values()):
        blocks = [*plan_blocks(result), *_scaling_blocks(known, timed)]
    blocks += [*unknown_size_blocks(teams, ranking), best_changes(result, _NAMED)]
    wrong = Counter(note.id for team in teams for member in team.facts.members
                    for note in member.facts.diagnostics if note.id in CONFLICTS)  # fmt: skip
    told = ", ".join(f"{rule} ({number})" for rule, number in sorted(wrong.items()))
    conflicts = [f"Conflicts between threads: {told}; see the end"] if wrong else []
    unknown = [team for team in known if plans and team.facts.executions.value is None]
    return [*blocks, Items([*conflicts, *_assumed_executions(unknown)])]


def unknown_size_blocks(teams: Sequence[TeamPrediction], ranking: SizeRanking) -> Iterator[Block]:
    """Returns the sizes to set, and how other sizes change the hints of the parallel regions that
    run. Empty if no size changes a hint.
    """
    teams = [team for team in teams if team.facts.executions.value != 0]
    opened = [team for team in teams if team.range is not None]
    if not opened:
        return
    which = "All" if len(opened) == len(teams) > 1 else f"{len(opened)} of"
    depend = "depends" if len(opened) == 1 else "depend"
    regions = plural(len(teams), "parallel region")
    yield Items([f"{which} {regions} {depend} on unknown sizes", *needed_sentence(ranking)])
    turning = [team.by_size for team in opened if len(team.by_size) > 1]
    if turning:
        yield _by_size(turning)
    rest = []
    stay = [team for team in opened if team.range is not None and team.range.packages == (1, 1)]
    if stay:
        causes = Counter(team.bottleneck for team in stay)
        told = ", ".join(f"{cause} ({count})" for cause, count in causes.most_common())
        rest = [f"{plural(len(stay), 'parallel region')} use{'s' if len(stay) == 1 else ''} "
                f"1 package at any size: {told}"]  # fmt: skip
    if alone := len(opened) - len(turning):
        their = "its row" if alone == 1 else "their rows"
        depend = "depends" if alone == 1 else "depend"
        rest.append(f"{plural(alone, 'parallel region')} {depend} on several sizes: see "
                    f"'depends on' below {their}")  # fmt: skip
    yield Items(rest)


def _by_size(hints: Sequence[Sequence[SizeHint]]) -> Table:
    """Counts parallel regions by their hint, with one column per size."""
    names = Counter(own[0].name for own in hints).most_common()
    told = [f"{size_name(name)} ({number})" for name, number in names]
    counts: dict[tuple[int, bool], list[int | None]] = {}
    for column, size in enumerate(_SHOWN_SIZES):
        for own in hints:
            hint = next(hint for hint in own if hint.below is None or size < hint.below)
            row = counts.setdefault((hint.packages, hint.threads > 1), [None] * len(_SHOWN_SIZES))
            row[column] = (row[column] or 0) + 1
    rows: list[list[Cell]] = [
        [plural(packages, "package") if several else "1 thread", *row]
        for (packages, several), row in sorted(counts.items())
    ]
    heads = [str(size) if size < 10_000 else f"10^{len(str(size)) - 1}" for size in _SHOWN_SIZES]
    columns = [Column("Hint"), *(Column(head, str, unknown="") for head in heads)]
    title = f"Packages by size for {len(hints)} of them: {several(told, _SIZES_NAMED)}"
    return Table(title, columns, rows)


def _assumed_executions(unknown: Sequence[TeamPrediction]) -> list[str]:
    """Describes the assumed number of executions of parallel regions for which it is unknown."""
    called = [team for team in unknown if team.facts.executions.assumed]
    lines = []
    if len(called) < len(unknown):
        number = plural(len(unknown) - len(called), "parallel region")
        lines.append(f"Assumed for {number}: enclosing loops of unknown length run 10 times")
    if called:
        reasons = list(dict.fromkeys(r for team in called for r in team.facts.executions.assumed))
        more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
        number = plural(len(called), "parallel region")
        lines.append(f"Unknown number of runs of {number}: "
                     f"{'; '.join(reasons[:_NAMED])}{more}")  # fmt: skip
    return lines


def is_summarized(teams: Sequence[TeamPrediction]) -> bool:
    """Whether the output begins with a summary: for several files or many regions."""
    loops = {member.facts.region.id for team in teams for member in team.facts.members}
    return len({team.facts.span.file for team in teams}) > 1 or len(loops) > _MANY


def _scaling_blocks(teams: Sequence[TeamPrediction], timed: Mapping[str, float]) -> list[Block]:
    """Returns the share of the time by packages, and the regions that stop at one."""
    whole = sum(timed.values())
    shares: dict[int, float] = {}
    for team in teams:
        packages = team.packages or 1
        shares[packages] = shares.get(packages, 0.0) + timed[team.facts.id] / whole
    parts = [
        f"{show_share(share) if share >= _SHOWN else 'under 1 %'} to {plural(packages, 'package')}"
        for packages, share in sorted(shares.items(), reverse=True)
    ]
    scaling = Text(f"Scaling by time on one thread: {', '.join(parts)}")
    stopped = sorted((team for team in teams if team.packages == 1),
                     key=lambda team: -timed[team.facts.id])  # fmt: skip
    if not stopped or max(shares) < 2:
        return [scaling]
    causes = Counter(team.bottleneck for team in stopped)
    told = ", ".join(f"{cause} ({number})" for cause, number in causes.most_common())
    title = (
        f"{plural(len(stopped), 'parallel region')} stop{'s' if len(stopped) == 1 else ''} "
        f"scaling at one package: {told}"
    )
    shown = [team for team in stopped[:_NAMED] if timed[team.facts.id] >= _SHOWN * whole]
    if not shown:
        return [scaling, Text(title)]
    folder = common_folder([team.facts.span.file for team in teams])
    columns = "share where limited"
    return [scaling, loop_table(title, shown, columns, folder=folder, times=timed, whole=whole)]


def best_changes(result: ProgramResult, most: int | None = None) -> Items:
    """Returns the changes with the largest gain, at most `most`."""
    folder = common_folder([team.facts.span.file for team in result.teams])
    return Items([
        f"{f'{change.span.file}:{change.span.line}'.removeprefix(folder)}  {change}"
        for change in program_advice(result.advice, result.spent)[:most]
    ], "Changes that would help most")  # fmt: skip


def first_change(result: ProgramResult) -> list[str]:
    """Describes the change that saves most of the program's time.

    If regions with data races take more of the time, the costliest race is described instead. If
    serial code takes more, its place is described. Empty for a model without changes.
    """
    if not result.spent or result.model != "saturation":
        return []
    changes = program_advice(result.advice, result.spent)
    saved = changes[0].saved / result.spent if changes else 0.0
    hint = result.recommended.together
    serial = hint.serial_loops[0] if hint is not None and hint.serial_loops else ("", 0.0)
    race = _costliest_race(result.teams)
    if hint is not None and race is not None and hint.race_share > max(saved, serial[1]):
        return [f"Fix first: the data race at {race.span.short}, {race.message} ({race.id})."]
    if hint is not None and serial[1] > max(saved, _NOTABLE_SERIAL):
        most = serial[1] * (1.0 - 1.0 / hint.curve[-1][0])  # shared evenly among all threads
        return [
            f"Fix first: the serial code at {serial[0]} takes {show_share(serial[1])} of the time. "
            f"If threads can share its work, they save up to {show_share(most)}."
        ]
    if not changes:
        return ["Fix first: nothing, since no known change saves 1 % of the time."]
    best = changes[0]
    more = f" {plural(len(changes) - 1, 'more change')}: --all." if len(changes) > 1 else ""
    return [
        f"Fix first: at {best.span.short}, {best.message} ({best.id}). Saves "
        f"{show_share(saved)} of the time.{more}"
    ]


def _costliest_race(teams: Sequence[TeamPrediction]) -> Diagnostic | None:
    """Returns the data race in the parallel region with the longest time."""
    races = (
        note
        for team in sorted(teams, key=lambda team: -(team.total_seconds or 0.0))
        for member in team.facts.members
        for note in member.facts.diagnostics
        if note.id in CONFLICTS
    )
    return next(races, None)


def plan_blocks(result: ProgramResult) -> list[Block]:
    """Returns the plan of each program, and how its threads differ from the rows."""
    if not result.plans:
        return []
    folder = common_folder([plan.main for plan in result.plans if plan.main])
    rows: list[list[Cell]] = []
    for plan in result.plans:
        name = plan.main.removeprefix(folder) or "code that no main reaches"
        threads = f"up to {plan.threads}" if len({*plan.sizes.values()}) > 1 else str(plan.threads)
        best = plan.best_constant
        rows.append([
            name, plan.packages, (threads, plan.threads), plan.seconds, plan.team_changes,
            f"{plural(best.threads, 'thread')}, {show_seconds(best.seconds)}",
        ])  # fmt: skip
    columns = [
        Column("Program", cut=True), Column("Packages", str, short="pk", minor=True),
        Column("Threads", str), Column("Parallel time", show_seconds, short="time"),
        Column("Thread changes", str, short="changes", minor=True),
        Column("Best constant number", short="best constant", minor=True),
    ]  # fmt: skip
    title = "Plan of each program for regionpredict run: least time in parallel regions"
    return [Table(title, columns, rows), Items(_plan_difference(result.plans, result.teams))]


def _plan_difference(plans: Sequence[Plan], teams: Sequence[TeamPrediction]) -> list[str]:
    """Returns the reason why a plan has other threads than the rows, if it does."""
    own = {team.facts.id: team.threads for team in teams}
    planned = {(team, size) for plan in plans for team, size in plan.sizes.items()}
    other = {team for team, size in planned if own.get(team, size) != size}
    if not other:
        return []
    of = plural(len({team for team, _ in planned}), "parallel region")
    return [
        f"The plan gives {len(other)} of {of} another number of threads than their rows, which "
        "shortens the program. regionpredict run and --format openmp use the plan."
    ]


def planned_otherwise(plans: Sequence[Plan], team: TeamPrediction | None) -> list[str]:
    """Returns the plan's threads for a region, if its own hint differs. One line per number."""
    if team is None or team.threads is None:
        return []
    by_size: dict[int, list[str]] = {}
    for plan in plans:
        size = plan.sizes.get(team.facts.id, team.threads)
        if size != team.threads:
            by_size.setdefault(size, []).append(plan.main or "code that no main reaches")
    return [
        f"Plan of {mains[0]}{f' and {len(mains) - 1} more' if mains[1:] else ''}: "
        f"{plural(size, 'thread')} for this parallel region, best for the whole program"
        for size, mains in sorted(by_size.items())
    ]
