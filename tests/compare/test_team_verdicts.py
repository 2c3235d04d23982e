"""Teams held against measured `parallel` constructs, by hand: each measured thing counts once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparison_text import shown_words

from regionpredict.compare.empirical import fitted_laws
from regionpredict.compare.success import baselines, success, time_lost
from regionpredict.compare.verdicts import Comparison, compare
from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Hint, Hints, TeamHint, read_hints
from regionpredict.measure.records import Campaign, EntrySize, Host, RegionRun, Run
from regionpredict.measure.store import Store, read_campaign
from regionpredict.measure.summary import summarise, summarise_teams, unconverged
from regionpredict.report.comparison import comparison_document
from regionpredict.report.rendered import rendered

HOST = Host("here", "a processor", 2, 2, 1, 1)  # 2 packages of 2 cores
Times = Mapping[int, Mapping[int, float]]  # line -> threads -> seconds


def _hint(line: int, packages: int, **changes: Any) -> Hint:
    values: dict[str, Any] = {
        "id": f"f.c:{line}", "file": "f.c", "line": line, "loop_line": line + 1, "function": "f",
        "status": "predicted", "packages": packages, "threads": 2 * packages, "score": None,
        "bottleneck": "compute", "confidence": 0.9, "borderline": False,
        "speedup": {1: 1.0, 2: 2.0, 4: 2.0}, "assumed": (), "iterations": 8,
    }  # fmt: skip
    return Hint(**{**values, **changes})


def _team(line: int, packages: int, *regions: int, **changes: Any) -> TeamHint:
    whole = _hint(line, packages, loop_line=None, iterations=None, **changes)
    ids = tuple(f"f.c:{region}" for region in regions)
    return TeamHint(f"f.c:{line}", "f.c", line, ids, 4, predicted=whole)


def _run(line: int, threads: int, seconds: float, directive: str, **changes: Any) -> RegionRun:
    counted = 0 if directive == "omp parallel" else 1
    run = RegionRun(
        "/b/f.c", line, line + 1, "f", directive, "gcc", 1, seconds, seconds, seconds, seconds,
        counted, 8 * counted, 8 * counted, 8 * counted, threads, threads,
    )  # fmt: skip
    return replace(run, **changes)


def _campaign(regions: Times, teams: Times, sizes: tuple[EntrySize, ...] = ()) -> Campaign:
    counts = sorted({n for by in (*regions.values(), *teams.values()) for n in by})
    runs = tuple(
        Run(
            threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "libgomp",
            tuple(_run(at, threads, by[threads], "omp for") for at, by in regions.items()), None,
            tuple(_run(at, threads, by[threads], "omp parallel", sizes=sizes)
                  for at, by in teams.items()),
        )
        for threads in counts
    )  # fmt: skip
    return Campaign(("./a",), HOST, {"places": "cores", "proc_bind": "close"}, "now", runs)


SCALES, SATURATES = {1: 8.0, 2: 4.0, 4: 2.0}, {1: 8.0, 2: 4.0, 4: 4.0}
HINTS = Hints(
    "hints.json", "twin", 2, 2, "saturation",
    (
        _hint(10, 2),  # a `parallel for`, a team of its own
        _hint(21, 2), _hint(23, 1),  # two loops of the `parallel` at line 20
        _hint(31, 1),  # the only loop of the `parallel` at line 30
        _hint(42, 1, loop_line=42, by_hand=True),  # shared by hand in the `parallel` at line 40
    ),
    (_team(10, 2, 10), _team(20, 1, 21, 23), _team(30, 1, 31), _team(40, 2, 42)),
)  # fmt: skip
REGIONS = {10: SCALES, 21: SCALES, 23: SATURATES, 31: SATURATES}
# 20: 16, 8, 6 s: two packages are needed. 40 saturates: one is.
TEAMS = {20: {1: 16.0, 2: 8.0, 4: 6.0}, 30: SATURATES, 40: {1: 4.0, 2: 2.0, 4: 2.0}}


def _compared(hints: Hints = HINTS, regions: Times = REGIONS, teams: Times = TEAMS,
              sizes: tuple[EntrySize, ...] = (), **options: Any) -> Comparison:  # fmt: skip
    campaign = _campaign(regions, teams, sizes)
    return compare(
        hints, summarise(campaign), teams=summarise_teams(campaign), host=HOST, **options
    )


def test_every_measured_thing_is_counted_once() -> None:
    """The loops at 10, 21, 23 and 31, and the teams at 20 and 40; that at 30 is its loop."""
    result = _compared()
    assert [(v.hint.line, v.hinted, v.needed, v.right) for v in result.teams] == [
        (20, 1, 2, False), (30, 1, 1, True), (40, 2, 1, False),
    ]  # fmt: skip
    assert [verdict.hint.line for verdict in result.judged] == [10, 21, 23, 31, 20, 40]
    assert success(result)[:2] == (4, 6)
    assert {name: rate[:2] for name, rate in baselines(result).items()} == {
        "always 1": (3, 6), "always 2": (3, 6), "majority (2)": (3, 6),
    }  # fmt: skip
    assert (result.not_measured, result.without_hint) == ((), ())
    assert [verdict.hint.line for verdict in result.most_wrong] == [20, 40]


def test_a_team_has_the_name_of_the_function_that_its_parallel_stands_in() -> None:
    """Its loops may all be in functions that it calls, after which the prediction is named."""
    other = replace(HINTS, teams=(_team(40, 2, 42, function="callee"),))
    (whole,) = _compared(other, {}, {40: TEAMS[40]}).teams
    assert (whole.hint.function, whole.measured.last.function) == ("f", "f")


def test_a_second_is_lost_once() -> None:
    """The loops at 21 and 23 are in their team's time: 2 + 4 + 6 + 2 s at best, 2 s of 6 lost."""
    result = _compared()
    assert time_lost(result.judged) == pytest.approx(2.0 / (2.0 + 4.0 + 6.0 + 2.0))


def test_the_teams_curve_is_held_against_the_team() -> None:
    whole = _compared().teams[2]
    assert whole.measured_speedup == {1: 1.0, 2: 2.0, 4: 2.0}
    assert (whole.speedup_error, whole.utilisation) == (0.0, 0.5)


def test_hints_without_measured_teams_are_as_before() -> None:
    result = _compared(teams={})
    assert (result.teams, success(result)[:2]) == ((), (4, 4))
    assert result.not_measured == ("f.c:42",)  # its team was not measured either


def test_a_team_alone_is_a_campaign() -> None:
    result = _compared(regions={}, teams={40: TEAMS[40]})
    assert success(result)[:2] == (0, 1)
    assert "f.c:40 f" in shown_words(result)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (EntrySize("f.c:42", 1, 8, 8, 8), ""),
        (EntrySize("f.c:42", 1, 9, 9, 9), "measured with 9 iterations, predicted for 8 (f.c:42)"),
        (EntrySize("f.c:42", 2, 4, 4, 12), ""),  # of several sizes the middle is predicted
        (EntrySize("f.c:42", 2, 20, 20, 30),
         "measured with 20 to 30 iterations, predicted for 8 (f.c:42)"),
        (EntrySize("f.c:43", 1, 9, 9, 9), ""),  # another loop's
    ],
)  # fmt: skip
def test_a_team_with_a_loop_of_another_size(size: EntrySize, told: str) -> None:
    result = _compared(sizes=(size,))
    whole = result.teams[2]
    assert whole.incomparable == told
    assert whole.right is (None if told else False)
    assert len(result.judged) == (5 if told else 6)
    assert ("1 parallel region not judged" in shown_words(result)) == bool(told)


def test_a_team_is_of_another_size_where_its_loop_is() -> None:
    """Two loops of the team at 20; one had 8 iterations, predicted for 9."""
    regions = (HINTS.regions[0], replace(HINTS.regions[1], iterations=9), *HINTS.regions[2:])
    result = _compared(replace(HINTS, regions=regions))
    assert result.teams[0].incomparable == "measured with 8 iterations, predicted for 9 (f.c:21)"
    assert [verdict.hint.line for verdict in result.judged] == [10, 23, 31, 40]


def test_a_campaign_of_teams_of_other_sizes_is_refused() -> None:
    other = (EntrySize("f.c:42", 1, 384, 384, 384),)
    with pytest.raises(InputError, match=r"other sizes: f\.c:40 was measured with 384 iterations"):
        _compared(regions={}, teams={40: TEAMS[40]}, sizes=other)


def test_what_a_binary_tells_is_the_team_or_the_combined_loop() -> None:
    """Debug information knows the line alone: 10 is a loop's directive, 20 and 40 are not."""
    campaign = _campaign({}, {})
    runs = tuple(
        Run(threads, 0, False, 1.0, "now", 0.1, "/a", "gcc", "libgomp",
            tuple(_run(at, threads, by[threads], "omp parallel", loop_line=at + 2)
                  for at, by in {10: SCALES, **TEAMS}.items()))
        for threads in (1, 2, 4)
    )  # fmt: skip
    campaign = replace(campaign, runs=runs)
    result = compare(HINTS, summarise(campaign), teams=summarise_teams(campaign), host=HOST)
    assert [verdict.hint.line for verdict in result.verdicts] == [10]
    assert [verdict.hint.line for verdict in result.teams] == [20, 30, 40]
    assert [verdict.hint.line for verdict in result.judged] == [10, 20, 30, 40]
    assert result.not_measured == ("f.c:21", "f.c:23", "f.c:31")
    laws = fitted_laws(result, [campaign])
    assert [law.verdict.hint.line for law in laws] == [10, 20, 30, 40]


def test_the_document_and_the_page_have_the_teams() -> None:
    result = _compared()
    laws = fitted_laws(result, [_campaign(REGIONS, TEAMS)])
    document = json.loads(json.dumps(comparison_document(result, laws).record()))
    assert [(t["id"], t["regions"], t["counted"], t["right"]) for t in document["teams"]] == [
        ("f.c:20", ["f.c:21", "f.c:23"], True, False), ("f.c:30", ["f.c:31"], False, True),
        ("f.c:40", ["f.c:42"], True, False),
    ]  # fmt: skip
    assert all(team["fitted"] is not None for team in document["teams"])
    assert document["success"]["judged"] == 6
    page = rendered(comparison_document(result, laws), "html")
    assert '"Teams"' in page and '"Its loop"' in page
    assert '"Teams"' not in rendered(comparison_document(_compared(teams={})), "html")
    table = shown_words(result, laws)
    assert "A parallel region with one measured loop is counted as that loop" in table


def test_a_stored_campaign_keeps_its_teams(tmp_path: Path) -> None:
    campaign = _campaign(REGIONS, TEAMS, (EntrySize("n", 1, 8, 8, 8),))
    store = Store(tmp_path / "runs.jsonl")
    store.begin(campaign)
    for run in campaign.runs:
        store.add(run)
    assert read_campaign(tmp_path / "runs.jsonl") == campaign


def test_a_team_keeps_a_campaign_open_and_its_loops_time_does_not_hide_it() -> None:
    """Teams of 1, 2 and 3 s on one thread in three runs: far from settled."""
    runs = [run for seconds in (1.0, 2.0, 3.0)
            for run in _campaign({}, {40: {1: seconds}}).runs]  # fmt: skip
    assert unconverged(runs, 1) == ("/b/f.c:40",)


def test_teams_of_a_hints_file(tmp_path: Path) -> None:
    """What is predicted of the team is judged, not what the plan gives it; files of before have no
    curve of it."""
    team = {
        "id": "f.c:40", "file": "f.c", "line": 40, "function": "f", "regions": ["f.c:42"],
        "seconds": 0.5, "status": "predicted", "packages": 2, "threads": 4, "bottleneck": "cache",
        "speedup": [{"threads": 4, "value": 2.0, "low": 1.5, "high": 2.5}], "confidence": 0.8,
        "borderline": False, "range": None, "by_size": [], "assumed": ["a"],
    }  # fmt: skip
    before = {key: team[key] for key in ("id", "file", "line", "regions", "threads")}
    document = {
        "schema": "regionpredict/hints/1", "model": "saturation", "regions": [],
        "machine": {"name": "twin", "packages": 2, "cores_per_package": 2},
        "plan": {"teams": [{"id": "f.c:40", "threads": 1}]},
    }  # fmt: skip
    path = tmp_path / "h.json"
    path.write_text(json.dumps({**document, "teams": [team]}))
    (known,) = read_hints(path).teams
    assert known.threads == 1 and known.predicted is not None
    assert (known.predicted.threads, known.predicted.packages) == (4, 2)
    assert known.predicted.speedup == {4: 2.0} and known.predicted.band == {4: (1.5, 2.5)}
    path.write_text(json.dumps({**document, "teams": [before]}))
    assert read_hints(path).teams[0].predicted is None
