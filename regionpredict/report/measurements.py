"""Measurements as a table and as JSON.

2mm on epyc (2 packages x 64 cores), close on cores, 3 to 5 runs
2mm.c
  line  function      runs iterations        1 thread  2 threads
    35  kernel_2mm       1       1024         1.21 s   1.98x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from regionpredict.errors import one_line
from regionpredict.measure.records import Campaign, RegionRun
from regionpredict.measure.summary import RegionSummary, summarise, summarise_teams
from regionpredict.report.quantities import plural, show_count, show_seconds

_NAME = 18
_COLUMNS = 6


def measurements_table(campaign: Campaign) -> str:
    """Each region's time on the fewest threads and its speedup on more."""
    host, counts = campaign.host, campaign.threads
    lines = [
        f"{Path(campaign.command[0]).name} on {host.name} ({plural(host.packages, 'package')} x "
        f"{plural(host.cores_per_package, 'core')}), {campaign.binding.get('proc_bind', '?')} on "
        f"{campaign.binding.get('places', '?')}, {plural(len(campaign.measured), 'run')}"
    ]
    if not counts:
        return lines[0] + "\n"
    shown = _chosen(counts)
    summaries = summarise(campaign.quietest)
    teams = summarise_teams(campaign.quietest)
    for file, group in groupby(summaries, key=lambda summary: summary.last.file):
        first = plural(shown[0], "thread")
        heads = "".join(f"{n:>7} th" for n in shown[1:])
        lines += ["", file]
        lines.append(
            f"  line  {'function':<{_NAME}} {'runs':>7} {'iterations':>10} {first:>11}{heads}"
        )
        lines += [_row(summary, shown) for summary in group]
    for file, group in groupby(teams, key=lambda summary: summary.last.file):
        lines += ["", f"{file}: each `parallel` as a whole"]
        lines += [_row(summary, shown) for summary in group]
    if any(summary.last.nowait for summary in summaries):
        lines += ["", "n: nowait, the first thread's own share of the loop"]
    if any(t.interval > 0.05 for summary in (*summaries, *teams) for t in summary.timings.values()):
        lines += ["", "~ the 95 % confidence interval is wider than 5 % of the mean"]
    return "\n".join(map(one_line, lines)) + "\n"


def disturbed_runs(campaign: Campaign) -> str:
    """How many runs were disturbed, and how much; empty where none was.

    `2 of 12 runs were disturbed: others kept up to 0.9 cores busy, 3 % of the time was stolen`
    """
    disturbed = [run.beside for run in campaign.disturbed if run.beside is not None]
    if not disturbed:
        return ""
    others, stolen = (
        max(disturbance.others for disturbance in disturbed),
        max(disturbance.stolen for disturbance in disturbed),
    )
    causes = [f"others kept up to {others:.1f} cores busy"] if others else []
    causes += [f"up to {100 * stolen:.0f} % of the time was stolen"] if stolen else []
    return (
        f"{len(disturbed)} of {plural(len(campaign.measured), 'run')} "
        f"{'was' if len(disturbed) == 1 else 'were'} disturbed: {', '.join(causes)}"
    )


def _chosen(counts: Sequence[int]) -> list[int]:
    """The first, the last, and at the most so many between."""
    if len(counts) <= _COLUMNS:
        return list(counts)
    step = (len(counts) - 1) / (_COLUMNS - 1)
    return [counts[round(place * step)] for place in range(_COLUMNS)]


def _row(summary: RegionSummary, counts: Sequence[int]) -> str:
    last = summary.last
    trips = show_count(last.most_trips) if last.counted else "?"
    base = summary.timings.get(counts[0])
    mark = "n" if last.nowait else " "
    head = f"{last.line:>6}{mark} {last.function[:_NAME]:<{_NAME}} {show_count(last.executions):>7}"
    row = f"{head} {trips:>10} {show_seconds(None if base is None else base.seconds):>10}"
    row += "~" if base is not None and base.interval > 0.05 else " "
    for threads in counts[1:]:
        speedup = summary.speedup(threads, counts[0])
        timing = summary.timings.get(threads)
        unsure = timing is not None and timing.interval > 0.05
        row += f"{'?' if speedup is None else f'{speedup:.2f}x':>9}" + ("~" if unsure else " ")
    return row.rstrip()


def measurements_document(campaign: Campaign) -> dict[str, Any]:
    """The summary for `json.dumps`: one entry a region or team, one timing a thread count."""
    return {
        "schema": "regionpredict/measured/1",
        "command": list(campaign.command),
        "host": asdict(campaign.host),
        "binding": campaign.binding,
        "runs": len(campaign.measured),
        "disturbed": len(campaign.disturbed),
        "regions": [_region(summary) for summary in summarise(campaign.quietest)],
        "teams": [_region(summary) for summary in summarise_teams(campaign.quietest)],
    }


def _region(summary: RegionSummary) -> dict[str, Any]:
    last: RegionRun = summary.last
    return {
        "id": f"{last.file}:{last.line}",
        "file": last.file,
        "line": last.line,
        "loop_line": last.loop_line,
        "function": last.function,
        "directive": last.directive,
        "executions": last.executions,
        "iterations": (
            {"least": last.least_trips, "most": last.most_trips} if last.counted else None
        ),
        "team": last.most_team,
        "timings": [
            {"threads": threads, "seconds": timing.seconds, "least": timing.least,
             "interval": None if timing.runs < 2 else timing.interval, "runs": timing.runs,
             "speedup": summary.speedup(threads)}
            for threads, timing in summary.timings.items()
        ],
    }  # fmt: skip
