"""Of one region the table, JSON, CSV, the page and `explain` say the same, and of one team, too.

All samples on two machines: what a reader sees of a region's hint must not depend on where.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from html_pages import blocks_of

from regionpredict.cli.view_options import view_of
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.report.document_text import document_text
from regionpredict.report.explanation import region_document
from regionpredict.report.hints import hints_document
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.program_summary import planned_otherwise
from regionpredict.report.rendered import rendered
from regionpredict.report.run_settings import run_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ("polybench_samples", "npb_samples")
ROW = re.compile(
    r" *(?P<line>\d+) +\S+ +(?P<loops>\d+ loops|\S+ +(?:\d.{,9}?|\?)\*?) +"
    r"(?P<gain>\d+\.\d)x[~ ] *(?P<packages>\d+) +(?P<threads>\d+)\S* +(?P<limit>[a-z-]+) +"
    r"(?P<sure>\d+) %"
)
TITLE = re.compile(r"\S+\.(?:c|cpp)$")


class Said(NamedTuple):
    """What each form says of one prediction of all samples."""

    result: Predictions
    table: str
    document: dict
    csv: list[dict[str, str]]
    page: Path


@pytest.fixture(scope="module", params=["dunnington", "epyc-7451"])
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Said:
    machine = load(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # names as somebody sees them who is there
        result = predict(
            analyse(requests_for(SAMPLES), {}, processes=2), machine, "saturation", processes=2
        )
    known, teams, plans = result.predictions, result.teams, result.plans
    run = run_settings(machine, result.pages)
    shown = ProgramResult(known, teams, plans, machine, "saturation", result.advice, run)
    answer = program_document(shown, view_of((), None, None))
    table = rendered(answer, "table")
    page = tmp_path_factory.mktemp("said") / "page.html"
    page.write_text(rendered(answer, "html"), "utf-8")
    document = hints_document(known, teams, plans, machine, "saturation", ())
    return Said(
        result, table, document, list(csv.DictReader(io.StringIO(rendered(answer, "csv")))), page
    )


def rows_of(table: str) -> dict[tuple[str, str], list[dict]]:
    """{(file, line): rows}, as the table has them; a title is a file below what all share."""
    found: dict[tuple[str, str], list[dict]] = {}
    file = ""
    for line in table.splitlines():
        if TITLE.fullmatch(line):
            file = line
        elif file and (row := ROW.fullmatch(line.rstrip("?^"))):
            found.setdefault((file, row["line"]), []).append(row.groupdict())
    return found


def test_rows_json_csv_and_page_say_the_same_of_a_region(said: Said) -> None:
    regions = {region["id"]: region for region in said.document["regions"]}
    known = {name: one for name, one in regions.items() if one["packages"] is not None}
    assert len(regions) > 200
    by_csv = {row["id"]: row for row in said.csv}
    (page,) = [one for one in blocks_of(said.page, "table") if one.get("name") == "regions"]
    by_page = {
        region["id"]: row for region, row in zip(regions.values(), page["rows"], strict=True)
    }
    rows = rows_of(said.table)
    for name, one in known.items():
        seats = (one["packages"], one["threads"])
        assert (int(by_csv[name]["packages"]), int(by_csv[name]["threads"])) == seats, name
        cells = by_page[name]
        assert name.endswith(cells[0]), name
        assert (cells[5][1], cells[6][1], cells[7]) == (*seats, one["bottleneck"]), name
        if one["threads_per_core"] == 1:  # the curve ends at one thread a core
            gain = next(p["value"] for p in one["speedup"] if p["threads"] == one["threads"])
            assert cells[4][0] == f"{gain:.1f}x", name
        file, _, line = name.rpartition(":")
        own = [row for (title, at), found in rows.items() for row in found
               if at == line and file.endswith(title) and "loops" not in row["loops"]]  # fmt: skip
        shown = {(int(row["packages"]), int(row["threads"]), row["limit"]) for row in own}
        assert (*seats, one["bottleneck"]) in shown, (name, own)


def test_teams_say_the_same_in_rows_json_page_and_plan(said: Said) -> None:
    teams = {team["id"]: team for team in said.document["teams"]}
    (page,) = [
        one for one in blocks_of(said.page, "table") if one["title"].startswith("Parallel regions")
    ]
    for team, row in zip(teams.values(), page["rows"], strict=True):
        assert team["id"].endswith(row[0])
        assert (row[2][1], row[3][1]) == (team["packages"], team["threads"]), team["id"]
    plans = said.document["plans"]
    (shown,) = [one for one in blocks_of(said.page, "table") if one["title"].startswith("Plan")]
    assert [(row[1][1], row[2][1]) for row in shown["rows"]] == [
        (plan["packages"], plan["threads"]) for plan in plans
    ]
    for plan in plans:
        assert plan["threads"] == max(team["threads"] for team in plan["teams"])
        assert {team["id"] for team in plan["teams"]} <= set(teams)


def test_explain_says_what_the_rows_and_the_plan_say(said: Said) -> None:
    """Of every fifth region; those in teams whose plan is another say that, too."""
    planned: dict[str, set[int]] = {}
    for plan in said.document["plans"]:
        for team in plan["teams"]:
            planned.setdefault(team["id"], set()).add(team["threads"])
    teams = {one.facts.region.id: team for team in said.result.teams for one in team.facts.members}
    regions = {one["id"]: one for one in said.document["regions"]}
    others = 0
    for prediction in said.result.predictions[::5]:
        one, team = regions[prediction.facts.region.id], teams[prediction.facts.region.id]
        lines = planned_otherwise(said.result.plans, team)
        document = region_document(prediction, said.result.machine, None, (), lines)
        wrapped = document_text(document)
        text = wrapped.replace("\n  ", " ")
        assert ("\n  at the assumed sizes; otherwise " in wrapped) == bool(one["range"])
        (hint,) = re.findall(
            r"^Hint: (\d+) packages?, (\d+) threads?.*\(limited by (\S+)\)", text, re.M
        )
        assert hint == (str(one["packages"]), str(one["threads"]), one["bottleneck"]), one["id"]
        told = re.findall(r"^Plan of .*: (\d+) threads? for this parallel region", text, re.M)
        sizes = planned.get(team.facts.id, set()) - {team.threads}
        assert {int(size) for size in told} == sizes, one["id"]
        others += bool(told)
    assert others
