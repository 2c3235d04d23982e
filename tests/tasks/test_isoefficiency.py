"""Efficiencies, verdicts and answers from data made of known laws; the campaign's file."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from regionpredict.errors import InputError
from regionpredict.report.isoefficiency import isoefficiency_document
from regionpredict.report.isoefficiency_answers import isoefficiency_answers
from regionpredict.report.rendered import rendered
from regionpredict.tasks.isoefficiency.campaign import missing_measurements
from regionpredict.tasks.isoefficiency.measured_times import (
    HostActivity,
    IsoefficiencyData,
    SizeGraph,
    SizeTime,
    add_to_file,
    begin_file,
    read_file,
)
from regionpredict.tasks.isoefficiency.models import Isoefficiency, efficiency_points, isoefficiency

SIZES = (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0)
THREADS = (1, 2, 4, 8, 16)
SCHEMA = Path(__file__).parents[2] / "regionpredict" / "report" / "schemas" / "isoefficiency-1.json"


def made(actual, free, depth, parallelism, sizes=SIZES) -> IsoefficiencyData:
    """Times whose efficiencies are the given functions of (p, n)."""
    graphs, times = [], []
    for n in sizes:
        work = depth(n) * parallelism(n)
        graphs.append(SizeGraph(n, 10, work, depth(n)))
        for p in THREADS:
            run, without = (work / (p * law(p, n)) for law in (actual, free))
            times.append(SizeTime(n, p, (run, run), without, "replayed"))
    return IsoefficiencyData(("./program", "{n}"), "host", tuple(graphs), tuple(times))


def text_of(*given) -> str:
    """The report without its line breaks."""
    return " ".join(rendered(isoefficiency_document(*given), "text").split())


PLAIN = made(
    lambda p, n: 1.0 - 0.02 * math.log2(p),
    lambda p, n: 1.0 - 0.01 * math.log2(p),
    lambda n: 1e-6 * n,
    lambda n: 20 + 0.01 * n**2,
)


@cache
def of_plain() -> Isoefficiency:
    """What is concluded from the plain times, once for all tests."""
    return isoefficiency(PLAIN)


def test_efficiencies_by_their_definitions():
    point = next(p for p in efficiency_points(PLAIN) if (p.size, p.threads) == (256.0, 4))
    assert point.actual == pytest.approx(0.96)
    assert point.free == pytest.approx(0.98)
    assert point.bound == 1.0
    assert point.contention == pytest.approx(0.02)
    assert point.structure == pytest.approx(0.02)


def test_the_bound_is_the_parallelism_over_the_threads():
    few = made(lambda p, n: 0.5, lambda p, n: 0.5, lambda n: 1.0, lambda n: 4.0)
    bounds = {(p.size, p.threads): p.bound for p in efficiency_points(few)}
    assert bounds[64.0, 2] == 1.0
    assert bounds[64.0, 16] == 0.25


def test_nothing_in_the_way():
    result = of_plain()
    assert result.scalability_bug is False
    text = text_of(PLAIN, result, 0.8, 64, 1024)
    assert "1. Is the algorithm limited? No:" in text
    assert "2. Is contention the cause? No: delta_con is at most 0.04" in text
    assert "3. Is there room in the graph? Hardly: delta_str is at most 0.04" in text


def test_contention_is_told_from_structure():
    data = made(
        lambda p, n: 1.0 - 0.1 * math.log2(p),
        lambda p, n: 1.0 - 0.01 * math.log2(p),
        lambda n: 1e-6 * n,
        lambda n: 20 + 0.01 * n**2,
    )
    text = text_of(data, isoefficiency(data), 0.8, 64, 1024)
    assert "Is contention the cause? Yes: delta_con is at most 0.36 (n = " in text
    data = made(
        lambda p, n: 1.0 - 0.12 * math.log2(p),
        lambda p, n: 1.0 - 0.1 * math.log2(p),
        lambda n: 1e-6 * n,
        lambda n: 20 + 0.01 * n**2,
    )
    text = text_of(data, isoefficiency(data), 0.8, 64, 1024)
    assert "Is contention the cause? No" in text
    assert "Is there room in the graph? Yes: delta_str is at most 0.40" in text


def test_parallelism_that_grows_more_slowly_than_the_depth_is_a_bug():
    data = made(
        lambda p, n: 0.9, lambda p, n: 0.9, lambda n: 1e-6 * n**2, lambda n: 2 * math.sqrt(n)
    )
    result = isoefficiency(data)
    assert result.scalability_bug is True
    assert "Yes, a scalability bug" in text_of(data, result, 0.8, 8, 64)


def test_a_size_that_the_formula_does_not_give_is_said_to_be_a_forecast():
    """pi(n) scatters, so beyond the points it is forecast: the printed formula, a constant below
    51.2 = 0.8 * 64, gives no size."""
    scatter = dict(zip(SIZES, (10.0, 20.0, 28.0, 12.0, 34.0, 40.0), strict=True))

    def law(p, n):
        return min(0.9, scatter[n] / p)

    data = made(law, law, lambda n: 1e-6, scatter.__getitem__)
    result = isoefficiency(data)
    text = text_of(data, result, 0.8, 64, 1024)
    assert result.parallelism.leading_term == {}
    assert float(result.parallelism.formula()) < 51.2
    assert "by E_ub n = " in text
    assert "pi(n) is the mean of several forecasts" in text
    assert "several forecasts" not in text_of(PLAIN, of_plain(), 0.8, 64, 1024)


def test_a_formula_that_is_longer_than_a_page_is_wide_goes_on_below():
    def law(p, n):
        return 1.0 + math.log2(p) * (-0.04066 + 8.806e-06 * n**0.75 * math.log2(n))

    data = made(law, law, lambda n: 1e-6 * n, lambda n: 10 + 0.5 * n)
    result = isoefficiency(data)
    text = rendered(isoefficiency_document(data, result, 0.8, 64, 1024), "text")
    assert result.actual is not None
    whole = (
        f"E_ac(p, n) = {result.actual.text()} (rRMSE {100 * result.actual.rrmse:.1f} %, R2 1.000)"
    )
    assert len(whole) > 80
    assert whole in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_sizes_and_threads_of_a_law_of_the_family():
    law = lambda p, n: 1.0 - 0.2 * math.log2(p) + 0.015 * math.log2(p) * math.log2(n)  # noqa: E731
    data = made(law, law, lambda n: 1e-6 * n, lambda n: 10 + 0.5 * n)
    result = isoefficiency(data)
    # 0.8 = 1 - 6*0.2 + 6*0.015*log2(n): log2(n) = 1/0.09
    assert result.sizes_for(64, 0.8)["E_ac"].value == pytest.approx(2 ** (1 / 0.09), rel=1e-3)
    # E_ub = (10 + n/2)/64 = 0.8
    assert result.sizes_for(64, 0.8)["E_ub"].value == pytest.approx(82.4, rel=1e-3)
    # 0.8 = 1 - log2(p)*(0.2 - 0.015*8) at n = 256
    assert result.threads_for(256, 0.8)["E_ac"].value == pytest.approx(2**2.5, rel=1e-3)
    line = dict(result.contour(0.8, (16, 64)))
    assert line[64] == pytest.approx(2 ** (1 / 0.09), rel=1e-3)


CONTENDED = made(
    lambda p, n: 1.0 - 0.1 * math.log2(p), lambda p, n: 1.0 - 0.01 * math.log2(p),
    lambda n: 1e-6 * n, lambda n: 20 + 0.01 * n**2, sizes=SIZES[:4],
)  # fmt: skip
BUSY = HostActivity(others=1.5, stolen=0.0, discarded=2, disturbed=True)
QUIET = HostActivity(others=0.0, stolen=0.0, discarded=2, disturbed=False)


def verdicts(data: IsoefficiencyData) -> list[str]:
    """Of the algorithm, contention and structure, without models."""
    result = Isoefficiency(efficiency_points(data), None, None, None, None, None, ())
    return [answer for _, answer in isoefficiency_answers(result, 0.8, 64, 1024)][:3]


def test_a_busy_host_is_no_verdict():
    quiet = replace(CONTENDED, times=tuple(replace(t, host=QUIET) for t in CONTENDED.times))
    assert verdicts(quiet)[1].startswith("Yes")
    busy = replace(CONTENDED, times=tuple(replace(t, host=BUSY) for t in CONTENDED.times))
    _, contention, structure = verdicts(busy)
    assert contention.startswith("Inconclusive: other processes used the host")
    assert structure.startswith("Inconclusive")
    result = isoefficiency(busy)
    text = text_of(busy, result, 0.8, 64, 1024)
    assert "other processes used the host while 16 of 16 points were measured" in text
    assert "they kept up to 1.5 cores busy" in text
    document = isoefficiency_document(busy, result, 0.8, 64, 1024).record()
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert document["points"][0]["host"]["others"] == 1.5
    assert not any(point["counts"] for point in document["points"])


def test_a_busy_host_on_one_thread_spoils_what_is_compared_with_it():
    times = tuple(replace(t, host=BUSY) if t.threads == 1 else t for t in CONTENDED.times)
    assert verdicts(replace(CONTENDED, times=times))[1].startswith("Inconclusive")


def test_what_was_measured_undisturbed_decides():
    # One size is disturbed: the others have all thread counts.
    times = tuple(replace(t, host=BUSY) if t.size < 100 else t for t in CONTENDED.times)
    result = isoefficiency(replace(CONTENDED, times=times))
    assert {point.size for point in result.sound} == set(SIZES[1:4])
    assert result.actual is not None
    assert verdicts(replace(CONTENDED, times=times))[1].startswith("Yes")


def test_disturbed_graphs_tell_nothing_of_the_algorithm():
    data = replace(PLAIN, graphs=tuple(replace(g, host=BUSY) for g in PLAIN.graphs))
    result = isoefficiency(data)
    assert result.scalability_bug is None
    assert verdicts(data)[0].startswith("Inconclusive")


def test_more_than_the_bound_is_an_error_in_the_data():
    data = made(
        lambda p, n: 1.0 if p == 1 else 0.55, lambda p, n: 0.5, lambda n: 1.0, lambda n: 1.0,
        sizes=SIZES[:2],
    )  # fmt: skip
    point = efficiency_points(data)[0]
    assert (point.threads, point.bound, point.sound) == (2, 0.5, False)
    assert "E_ac = 0.55 exceeds E_ub = 0.50: the graph lacks parallelism" in point.wrong
    assert verdicts(data)[1].startswith("Inconclusive: the data of 16 threads are wrong")
    text = text_of(data, isoefficiency(data), 0.8, 64, 1024)
    assert "open: n = 64, 2 threads: E_ac = 0.55 exceeds E_ub = 0.50" in text


def test_loops_that_ran_whole_are_an_error_in_the_data():
    graphs = tuple(replace(g, undivided_s=0.5 * g.work_s) for g in PLAIN.graphs)
    data = replace(PLAIN, graphs=graphs)
    assert not any(point.sound for point in efficiency_points(data))
    assert "50 % of its work are loops that ran whole" in efficiency_points(data)[0].wrong
    assert verdicts(data)[1].startswith("Inconclusive")


def test_answers_far_beyond_the_data_are_called_a_guess():
    # E_ub = (10 + n/2)/p: 0.8 at p = (10 + n/2)/0.8 = 1.25e6 for n = 2e6, on 16 threads at most.
    law = lambda p, n: 1.0 - 0.05 * math.log2(p)  # noqa: E731
    data = made(law, law, lambda n: 1e-6 * n, lambda n: 10 + 0.5 * n)
    answers = isoefficiency_answers(isoefficiency(data), 0.8, 64, 2e6)
    assert "times beyond the largest p that was measured (16): a guess" in answers[4][1]
    assert answers[4][0].endswith("at n = 2,000,000?")
    assert "by E_ub p = 1,250,000" in answers[4][1]
    assert "a guess" not in answers[3][1]


def test_answers_above_the_bound_are_said_to_be_impossible():
    """E_cf loses 1 % a doubling, but the graph has four tasks at once: 0.8 at p = 5."""
    data = made(
        lambda p, n: 1.0 - 0.2 * math.log2(p), lambda p, n: 1.0 - 0.01 * math.log2(p),
        lambda n: 1e-6 * n, lambda n: 4.0,
    )  # fmt: skip
    few = replace(data, times=tuple(t for t in data.times if t.threads <= 4))
    answers = isoefficiency_answers(isoefficiency(few), 0.8, 64, 2048)
    assert "by E_ac p = 2" in answers[4][1]
    assert "by E_ub p = 5" in answers[4][1]
    assert answers[4][1].endswith(
        " The model of E_cf exceeds E_ub there, which is impossible: use the answer for E_ub."
    )


def test_too_little_is_said_to_be_too_little():
    data = replace(PLAIN, graphs=PLAIN.graphs[:2], times=PLAIN.times[:10])
    result = isoefficiency(data)
    assert result.actual is None
    assert result.scalability_bug is None
    text = text_of(data, result, 0.8, 16, 64)
    assert "T_inf(n) and pi(n) have no model: 2 sizes are measured, 5 are needed" in text
    assert "by E_ac not known; by E_cf not known; by E_ub not known." in text
    assert "Is the algorithm limited? Not known" in text


def test_models_have_their_coefficients_and_how_well_they_fit():
    law = lambda p, n: 1.0 - 0.2 * math.log2(p) + 0.015 * math.log2(p) * math.log2(n)  # noqa: E731
    data = made(law, law, lambda n: 1e-6 * n, lambda n: 10 + 0.5 * n)
    result = isoefficiency(data)
    value = isoefficiency_document(data, result, 0.8, 64, 1024).record()
    of_actual = value["fits"]["E_ac"]
    coefficients = (of_actual["constant"], of_actual["loss"], of_actual["gain"])
    assert coefficients == pytest.approx((1.0, 0.2, 0.015))
    assert (of_actual["f"], of_actual["g"]) == ([0, 1], [0, 1])
    assert of_actual["rrmse"] == pytest.approx(0, abs=1e-6)
    assert of_actual["adjusted_r2"] == pytest.approx(1)
    assert value["fits"]["pi"]["constant"] == pytest.approx(10)
    assert value["fits"]["pi"]["terms"] == [
        {"coefficient": pytest.approx(0.5), "n": [1, 0]}
    ]  # fmt: skip
    assert "pi(n) = 10 + 0.5*n (rRMSE 0.0 %, R2 1.000)" in text_of(data, result, 0.8, 64, 1024)


def test_r2_and_rrmse_by_their_definitions():
    noise = {(p, n): 0.02 * (-1) ** (k + int(math.log2(p))) for k, n in enumerate(SIZES)
             for p in THREADS}  # fmt: skip
    law = lambda p, n: 0.9 - 0.1 * math.log2(p) + (noise[p, n] if p > 1 else 0.1)  # noqa: E731
    data = made(law, law, lambda n: 1e-6 * n, lambda n: 10 + 0.5 * n)
    model = isoefficiency(data).actual
    assert model is not None
    points = [(1.0, n, 1.0) for n in SIZES]
    points += [(p, n, law(p, n)) for n in SIZES for p in THREADS if p > 1]
    y = [value for _, _, value in points]
    squares = sum((model.value(p, n) - value) ** 2 for p, n, value in points)
    mean = sum(y) / len(y)
    assert model.rrmse == pytest.approx(math.sqrt(squares / len(y)) / mean)
    whole = sum((value - mean) ** 2 for value in y)
    r2 = 1 - squares / (len(y) - 3) / (whole / (len(y) - 1))
    assert model.adjusted_r2 == pytest.approx(r2)


def test_surfaces_are_those_of_the_models_and_no_efficiency_exceeds_the_bound():
    law = lambda p, n: 1.0 - 0.05 * math.log2(p)  # noqa: E731
    data = made(law, law, lambda n: 1e-6 * n, lambda n: 4 + 0.0 * n)
    few = replace(data, times=tuple(t for t in data.times if t.threads <= 4))
    value = isoefficiency_document(few, isoefficiency(few), 0.8, 32, 1024).record()["surfaces"]
    assert value["threads"][0] == 1
    assert value["threads"][-1] == 32
    assert len(value["E_ac"]) == len(value["n"]) == 16
    for row, bounds, structure in zip(
        value["E_cf"], value["E_ub"], value["delta_str"], strict=True
    ):
        for p, free, bound, lost in zip(value["threads"], row, bounds, structure, strict=True):
            assert bound == pytest.approx(min(1, 4 / p), rel=1e-6)
            assert free == pytest.approx(min(law(p, 1), bound), rel=1e-2)
            assert lost == pytest.approx(bound - free)


@pytest.mark.parametrize("data", [PLAIN, replace(PLAIN, graphs=PLAIN.graphs[:1])])
def test_json_keeps_its_schema(data):
    result = of_plain() if data is PLAIN else isoefficiency(data)
    document = isoefficiency_document(data, result, 0.8, 60, 1000).record()
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


def test_the_file_gives_back_what_was_measured(tmp_path):
    path = tmp_path / "campaign.jsonl"
    begin_file(path, PLAIN)
    measured = replace(
        PLAIN,
        graphs=(*PLAIN.graphs[1:], replace(PLAIN.graphs[0], undivided_s=1e-5, host=QUIET)),
        times=(*PLAIN.times[1:], replace(PLAIN.times[0], cpu_s=(1.0, 2.0), host=BUSY)),
    )
    for part in (*measured.graphs, *measured.times):
        add_to_file(path, part)
    assert read_file(path) == measured
    # A line torn by an interruption does not count, and the next one stands on its own.
    with path.open("a") as stream:
        stream.write('{"kind": "time", "si')
    assert read_file(path) == measured
    more = SizeTime(64.0, 32, (1.0,), 1.0, "simulated")
    add_to_file(path, more)
    assert read_file(path) == replace(measured, times=(*measured.times, more))


def test_a_resumed_campaign_does_what_is_missing():
    data = replace(PLAIN, times=PLAIN.times[:-1])
    assert list(missing_measurements(data, SIZES, THREADS)) == [(2048.0, 16)]
    assert list(missing_measurements(data, (4096.0,), (2,))) == [
        (4096.0, None),
        (4096.0, 1),
        (4096.0, 2),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ('{"schema": "x"}\n', "'schema' is not"),
        ("[]\n", "no object"),
        ('{"schema": "regionpredict/isoefficiency-campaign/1", "command": ["a"], "host": "h"}\n'
         '{"kind": "time", "size": 1, "threads": 0}\n', ":2: .*'actual_s' is missing"),
    ],
)  # fmt: skip
def test_files_that_are_none(tmp_path, text, said):
    path = tmp_path / "campaign.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_file(path)
