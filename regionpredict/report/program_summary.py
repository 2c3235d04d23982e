"""The first lines for several files or many loops: how the program scales, and what limits it.

Plan: 40 threads on 2 packages, 0.081 s, 0 changes of threads (best constant: 40 threads, 0.081 s)
Scaling by time on one thread: 94 % to 2 packages, 6 % to 1 package
2 parallel regions stop scaling at one package: memory-bandwidth (2)
    4 %  src/solve.c:40  solve, memory-bandwidth
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from regionpredict.ir import Diagnostic
from regionpredict.predict import Plan, TeamPrediction
from regionpredict.report.advice import ByTeam, advice_sentence, program_advice
from regionpredict.report.names import common_folder, cut
from regionpredict.report.open_teams import open_team_lines
from regionpredict.report.page_width import PAGE_WIDTH, page_lines
from regionpredict.report.quantities import plural
from regionpredict.sizes.ranking import SizeRanking

_NAMED = 3  # maximum number of listed regions, programs and changes
_NAME = 6  # minimum columns of a recognizable function name
_MANY = 20  # number of regions from which the output is summarized
CONFLICTS = frozenset(("RP221", "RP222", "RP223", "RP224"))
WRONG = "!"
"""The mark of a row whose region has a finding of these rules."""
CAUTIONS = frozenset(("RP225", "RP226"))
"""Rules whose findings depend on values in memory. Their rows are not marked."""
_SHOWN = 0.005  # share of the time: smaller shares are shown as 0 %


def program_summary(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], advice: ByTeam, ranking: SizeRanking,
    spent: float | None = None,
) -> list[str]:  # fmt: skip
    """The lines. Empty for one file with few regions. The program takes `spent` seconds."""
    timed = [(team, team.facts.executions.weight * team.seconds) for team in teams
             if team.seconds is not None and team.packages is not None]  # fmt: skip
    whole = sum(seconds for _, seconds in timed)
    if not is_summed_up(teams):
        return []
    files = [team.facts.span.file for team in teams]
    folder = common_folder(files)
    lines = []
    if plans and whole:
        lines += [*_planned(plans), *plan_difference(plans, teams)]
        lines += _scaling(timed, whole, folder)
    lines += [*open_team_lines(teams, ranking), *advised_lines(advice, folder, spent)]
    wrong = Counter(note.id for team in teams for member in team.facts.members
                    for note in member.facts.diagnostics if note.id in CONFLICTS)  # fmt: skip
    if wrong:
        told = ", ".join(f"{rule} ({number})" for rule, number in sorted(wrong.items()))
        lines.append(f"Conflicts between threads: {told}; see the end")
    unknown = [team for team, _ in timed if plans and team.facts.executions.value is None]
    lines += _taken(unknown)
    return [part for line in lines for part in page_lines(line)]


def wrong_mark(diagnostics: Iterable[Diagnostic]) -> str:
    """The mark of a row whose region has a data race."""
    return WRONG if any(note.id in CONFLICTS for note in diagnostics) else ""


def _taken(unknown: Sequence[TeamPrediction]) -> list[str]:
    """The assumed number of executions of parallel regions, where it is unknown."""
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


def is_summed_up(teams: Sequence[TeamPrediction]) -> bool:
    """Whether the output begins with these lines: for several files or many regions."""
    return len({team.facts.span.file for team in teams}) > 1 or _regions(teams) > _MANY


def _scaling(timed: Sequence[tuple[TeamPrediction, float]], whole: float, folder: str) -> list[str]:
    """The share of the time that scales to each number of packages, and the regions that stop at
    one.
    """
    shares: dict[int, float] = {}
    for team, seconds in timed:
        packages = team.packages or 1
        shares[packages] = shares.get(packages, 0.0) + seconds / whole
    parts = [f"{_percent(share)} to {plural(packages, 'package')}"
             for packages, share in sorted(shares.items(), reverse=True)]  # fmt: skip
    lines = [f"Scaling by time on one thread: {', '.join(parts)}"]
    stopped = sorted(((team, seconds) for team, seconds in timed if team.packages == 1),
                     key=lambda entry: -entry[1])  # fmt: skip
    if not stopped or max(shares) < 2:
        return lines
    causes = Counter(team.bottleneck for team, _ in stopped)
    told = ", ".join(f"{cause} ({number})" for cause, number in causes.most_common())
    lines.append(
        f"{plural(len(stopped), 'parallel region')} stop{'s' if len(stopped) == 1 else ''} "
        f"scaling at one package: {told}"
    )
    for team, seconds in stopped[:_NAMED]:
        if seconds >= _SHOWN * whole:
            begin, end = f"  {100 * seconds / whole:3.0f} %  ", f"  {team.bottleneck}"
            place = _place(team.facts.id, folder)
            room = PAGE_WIDTH - len(begin) - len(end) - len(place) - 1
            function = cut(team.facts.function, room, room // 2) if room > _NAME else ""
            lines.append(f"{begin}{place} {function}".rstrip() + end)
    return lines


def advised_lines(advice: ByTeam, folder: str, spent: float | None) -> list[str]:
    """The changes with the largest gain for a program of `spent` seconds."""
    best = program_advice(advice, spent)[:_NAMED]
    lines = [
        f"  {_place(f'{advice.span.file}:{advice.span.line}', folder)}  {advice_sentence(advice)}"
        for advice in best
    ]
    return ["Best changes:", *lines] if lines else []


def _place(place: str, folder: str) -> str:
    """A place, without the common folder if that is long."""
    if len(place) > PAGE_WIDTH // 2:
        place = place.removeprefix(folder)
    return cut(place, PAGE_WIDTH // 2, PAGE_WIDTH // 6)


def _regions(teams: Sequence[TeamPrediction]) -> int:
    return len({member.facts.region.id for team in teams for member in team.facts.members})


def _planned(plans: Sequence[Plan]) -> list[str]:
    if len(plans) == 1:
        (plan,) = plans
        best = plan.best_constant
        return [
            f"Plan: {_sizes(plan)}, {plural(plan.team_changes, 'change')} of threads "
            f"(best constant: {plural(best.threads, 'thread')}, {_time(best.seconds)})"
        ]
    folder = common_folder([plan.main for plan in plans if plan.main])
    lines = [f"Plans of {len(plans)} programs, longest first:"]
    for plan in plans[:_NAMED]:
        name = plan.main.removeprefix(folder) or "code that no main calls"
        best = plan.best_constant
        lines.append(
            f"  {name}: {_sizes(plan)} (best constant: {best.threads}, {_time(best.seconds)})"
        )
    if len(plans) > _NAMED:
        lines.append(f"  and {len(plans) - _NAMED} more: see --format json")
    return lines


def plan_difference(plans: Sequence[Plan], teams: Sequence[TeamPrediction]) -> list[str]:
    """The reason why a plan has other threads than the rows, if it does."""
    own = {team.facts.id: team.threads for team in teams}
    planned = {(team, size) for plan in plans for team, size in plan.sizes.items()}
    other = {team for team, size in planned if own.get(team, size) != size}
    if not other:
        return []
    of = plural(len({team for team, _ in planned}), "parallel region")
    return [
        f"The plan has other threads for {len(other)} of {of}, to minimize the program's time. "
        "run and --format openmp use the plan."
    ]


def planned_otherwise(plans: Sequence[Plan], team: TeamPrediction | None) -> list[str]:
    """The plan's threads for a region, if they differ from its own hint. One line per number."""
    if team is None or team.threads is None:
        return []
    by_size: dict[int, list[str]] = {}
    for plan in plans:
        size = plan.sizes.get(team.facts.id, team.threads)
        if size != team.threads:
            by_size.setdefault(size, []).append(plan.main or "code that no main calls")
    return [
        f"Plan of {mains[0]}{f' and {len(mains) - 1} more' if mains[1:] else ''}: "
        f"{plural(size, 'thread')} for this parallel region, best for the whole program"
        for size, mains in sorted(by_size.items())
    ]


def _sizes(plan: Plan) -> str:
    """The largest parallel region, with `up to` if others have fewer threads."""
    several = "up to " if len(set(plan.sizes.values())) > 1 else ""
    return (
        f"{several}{plural(plan.threads, 'thread')} on {plural(plan.packages, 'package')}, "
        f"{_time(plan.seconds)}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= _SHOWN else "under 1 %"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s"
