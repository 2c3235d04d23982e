"""What `regionpredict measure` wrote, read and modelled by `regionpredict fit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.input import read
from regionpredict.fit.search.experiment_models import model_experiment


def line(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, **fields}) + "\n"


CAMPAIGN = line("campaign", schema="regionpredict/measurements/1", command=["./a"])


def region(number: int, seconds: float, trips: int = 100, executions: int = 4) -> dict[str, Any]:
    return {
        "file": "/build/src/a.c", "line": number, "function": "f", "executions": executions,
        "total_s": seconds * executions, "counted": executions, "trips": trips * executions,
    }  # fmt: skip


def run(threads: int, *regions: dict[str, Any], warm_up: bool = False) -> str:
    return line("run", threads=threads, warm_up=warm_up, regions=list(regions))


def written(tmp_path: Path, text: str, name: str = "m.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_times_over_threads_become_amdahls_law(tmp_path: Path) -> None:
    # 2 s that no thread helps and 8 s that all share; the warm-up does not count.
    text = CAMPAIGN + run(1, region(7, 99.0), warm_up=True)
    for threads in (1, 2, 4, 8, 16):
        text += run(threads, region(7, 2 + 8 / threads)) * 2
    for name in ("m.jsonl", "m.json", "m.txt"):
        experiment = read(written(tmp_path, text, name))
        (series,) = experiment.series
        assert series.parameters == ("p",)
        assert series.callpath == "a.c:7 f"
        assert series.metric == "time"
        assert list(series.values[0]) == [10.0, 10.0]
        ((_, model),) = model_experiment(experiment, law="threads").models
        assert model.law == "amdahl"
        assert model.law_parameters["serial_fraction"] == pytest.approx(0.2)
        assert model.predict((32.0,)) == pytest.approx(2.25)


def test_several_sizes_give_a_second_parameter(tmp_path: Path) -> None:
    text = ""
    for trips in (100, 200, 400, 800, 1600):
        text += CAMPAIGN
        for threads in (1, 2, 4, 8, 16):
            text += run(threads, region(7, 3e-6 * trips / threads, trips=trips))
    experiment = read(written(tmp_path, text))
    (series,) = experiment.series
    assert series.parameters == ("p", "n")
    assert len(series.points) == 25
    ((_, model),) = model_experiment(experiment).models
    assert model.predict((32.0, 3200.0)) == pytest.approx(3e-6 * 100, rel=1e-3)
    assert model.terms[0][1] == {0: (-1.0, 0.0), 1: (1.0, 0.0)}


def test_a_region_without_trips_among_several_sizes_is_told(tmp_path: Path) -> None:
    blind = {**region(9, 1.0), "counted": 0, "trips": 0}
    text = CAMPAIGN + "".join(
        run(p, region(7, 1.0, trips=n), blind) for n in (10, 20) for p in (1, 2)
    )
    experiment = read(written(tmp_path, text))
    assert [one.callpath for one in experiment.series] == ["a.c:7 f"]
    (problem,) = experiment.problems
    assert "a.c:9 f: iterations were not counted" in str(problem)


def test_a_torn_last_line_does_not_count(tmp_path: Path) -> None:
    text = CAMPAIGN + run(1, region(7, 1.0)) + run(2, region(7, 0.5))
    whole = read(written(tmp_path, text))
    torn = read(written(tmp_path, text + run(4, region(7, 0.2))[:-20]))
    assert torn.series == whole.series


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CAMPAIGN, "it contains no run"),
        (CAMPAIGN + run(1), "it contains no run"),
        (CAMPAIGN + "{}\n", ":2: not a line of measurements"),
        (CAMPAIGN + "no json\n", ":2: not a line of measurements"),
        (CAMPAIGN + run(1, {**region(7, 1.0), "executions": 0}), ":2: not a line of measurements"),
        (CAMPAIGN + '{"kind": "run", "threads": 1, "warm_up": false}\n', ":2: not a line"),
    ],
)
def test_wrong_files_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, text))
    assert message in str(caught.value)
