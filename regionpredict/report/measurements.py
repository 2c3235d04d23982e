"""Documents measurements, also as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from regionpredict.errors import one_line
from regionpredict.measure.records import Campaign, RegionRun
from regionpredict.measure.summary import RegionSummary, Timing, summarise, summarise_teams
from regionpredict.report.document import Cell, Column, Document, Items, Section, Table, csv_rows
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import evenly_chosen
from regionpredict.report.quantities import plural, show_count, show_seconds

_COLUMNS = 6
_WIDE = 0.05  # share of the mean


def measurements_document(campaign: Campaign) -> Document:
    """Returns each region's time at the smallest number of threads, and its speedups."""
    host, counts = campaign.host, campaign.threads
    lead = [
        f"{Path(campaign.command[0]).name} on {host.name} ({plural(host.packages, 'package')} x "
        f"{plural(host.cores_per_package, 'core')}), {campaign.binding.get('proc_bind', '?')} on "
        f"{campaign.binding.get('places', '?')}, {plural(len(campaign.measured), 'run')}"
    ]
    regions = summarise(campaign.quietest) if counts else []
    teams = summarise_teams(campaign.quietest) if counts else []
    shown = evenly_chosen(counts, _COLUMNS)
    tables = [
        _region_table(f"{file}{what}", list(group), shown)
        for summaries, what in ((regions, ""), (teams, ": each `parallel` as a whole"))
        for file, group in groupby(summaries, key=lambda summary: summary.last.file)
    ]
    notes = []
    if any(summary.last.nowait for summary in regions):
        notes.append("n: nowait, the first thread's own share of the loop")
    if any(t.interval > _WIDE for summary in (*regions, *teams) for t in summary.timings.values()):
        notes.append("~ the 95 % confidence interval is wider than 5 % of the mean")
    return Document("Measurements", lead, [
        Section("Regions", [*tables, Items(notes)]),
        Section("Rows", [_csv_table([*regions, *teams])], "csv"),
    ], lambda: _json_record(campaign))  # fmt: skip


def _csv_table(summaries: Sequence[RegionSummary]) -> Table:
    rows = [
        [f"{summary.last.file}:{summary.last.line}", summary.last.function, summary.last.directive,
         summary.last.executions, threads, timing.runs, timing.seconds, timing.least, speedup,
         None if speedup is None else speedup / threads]
        for summary in summaries
        for threads, timing in summary.timings.items()
        for speedup in [summary.speedup(threads)]
    ]  # fmt: skip
    columns = ("region", "function", "directive", "executions", "threads", "runs", "seconds",
               "least_seconds", "speedup", "utilization")  # fmt: skip
    return csv_rows(columns, rows)


def _region_table(title: str, summaries: Sequence[RegionSummary], counts: Sequence[int]) -> Table:
    columns = [
        Column("Line", str), Column("Function", cut=True), Column("Runs", show_count),
        Column("Iterations", show_count, unknown="?"), Column(plural(counts[0], "thread"), str),
        *(Column(f"{n} th", str, unknown="? ") for n in counts[1:]),
    ]  # fmt: skip
    return Table(title, columns, [_region_row(summary, counts) for summary in summaries])


def disturbed_runs(campaign: Campaign) -> str:
    """Describes the number of disturbed runs and the disturbance. Empty without disturbed runs.

    `2 of 12 runs were disturbed: other processes kept up to 0.9 cores busy, 3 % of the time was
    stolen`
    """
    disturbed = [run.beside for run in campaign.disturbed if run.beside is not None]
    if not disturbed:
        return ""
    others, stolen = (
        max(disturbance.others for disturbance in disturbed),
        max(disturbance.stolen for disturbance in disturbed),
    )
    causes = [f"other processes kept up to {others:.1f} cores busy"] if others else []
    causes += [f"up to {100 * stolen:.0f} % of the time was stolen"] if stolen else []
    return (
        f"{len(disturbed)} of {plural(len(campaign.measured), 'run')} "
        f"{'was' if len(disturbed) == 1 else 'were'} disturbed: {', '.join(causes)}"
    )


def failed_runs(campaign: Campaign) -> list[str]:
    """Describes the exit code of the failed runs, and the last lines of the last one.

    `2 of 4 runs ended with exit code 1. Their times are kept. The program's last lines:`
    """
    failed = [run for run in campaign.runs if run.exit_code]
    if not failed:
        return []
    codes = " or ".join(map(str, sorted({run.exit_code for run in failed})))
    last = failed[-1].said
    head = (
        f"{len(failed)} of {plural(len(campaign.runs), 'run')} ended with exit code {codes}. "
        f"Their times are kept.{' The last lines of the program:' if last else ''}"
    )
    return [head, *(f"  {one_line(line)}" for line in last)]


def _region_row(summary: RegionSummary, counts: Sequence[int]) -> list[Cell]:
    last = summary.last
    base = summary.timings.get(counts[0])
    row: list[Cell] = [
        (f"{last.line}{'n' if last.nowait else ' '}", last.line), last.function, last.executions,
        last.most_trips if last.counted else None,
        "? " if base is None else (f"{show_seconds(base.seconds)}{_mark_of(base)}", base.seconds),
    ]  # fmt: skip
    for threads in counts[1:]:
        speedup = summary.speedup(threads, counts[0])
        mark = _mark_of(summary.timings.get(threads))
        row.append(None if speedup is None else (f"{speedup:.2f}x{mark}", speedup))
    return row


def _mark_of(timing: Timing | None) -> str:
    return "~" if timing is not None and timing.interval > _WIDE else " "


def _json_record(campaign: Campaign) -> dict[str, Any]:
    return {
        "schema": "regionpredict/measured/1",
        **fields_of(campaign, "command host binding"),
        "runs": len(campaign.measured),
        "disturbed": len(campaign.disturbed),
        "failed": sum(run.exit_code != 0 for run in campaign.measured),
        "regions": [_region_record(summary) for summary in summarise(campaign.quietest)],
        "teams": [_region_record(summary) for summary in summarise_teams(campaign.quietest)],
    }


def _region_record(summary: RegionSummary) -> dict[str, Any]:
    last: RegionRun = summary.last
    return {
        "id": f"{last.file}:{last.line}",
        **fields_of(last, "file line loop_line function directive executions", team="most_team"),
        "iterations": fields_of(last, "", least="least_trips", most="most_trips")
        if last.counted else None,
        "timings": [
            {"threads": threads, **fields_of(timing, "seconds least runs"),
             "interval": None if timing.runs < 2 else timing.interval,
             "speedup": summary.speedup(threads)}
            for threads, timing in summary.timings.items()
        ],
    }  # fmt: skip
