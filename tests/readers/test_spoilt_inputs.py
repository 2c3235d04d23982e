"""Spoilt inputs of every reader: an answer, or the one error of a wrong input, within bounds."""

from __future__ import annotations

import os
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.expectations.expectation_file import check_file
from regionpredict.fit.input import read
from regionpredict.fit.input.cube_profiles import read_profile
from regionpredict.fit.search.experiment_models import model_experiment
from regionpredict.machine import load
from regionpredict.measure.hints_file import read_hints
from regionpredict.measure.store import read_campaign
from regionpredict.measure.summary import summarise

sys.path.insert(0, str(Path(__file__).parent))
from original_inputs import (
    EXPECTATIONS,
    MEASURED,
    TABLE,
    TEXT,
    campaign,
    hints,
    legacy_json,
    lines,
    profile,
    short_json,
)
from spoilt_inputs import mutants

COUNT = int(os.environ.get("MUTANTS", "300"))
MOST_SECONDS = 20.0
"""Of processor time for one input; each takes milliseconds, an endless loop more than any bound."""


def modelled(path: Path) -> None:
    model_experiment(read(path), path=str(path))


def summarised(path: Path) -> None:
    summarise(read_campaign(path))


READERS: dict[str, tuple[str, Callable[[Path], bytes], Callable[[Path], object]]] = {
    "short JSON": ("a.json", lambda _: short_json(), modelled),
    "legacy JSON": ("a.json", lambda _: legacy_json(), modelled),
    "JSON lines": ("a.jsonl", lambda _: lines(), modelled),
    "TALPas": ("a.txt", lambda _: lines(";", "parameters"), modelled),
    "text": ("a.txt", lambda _: TEXT, modelled),
    "table": ("a.csv", lambda _: TABLE, modelled),
    "campaign for fit": ("a.jsonl", campaign, modelled),
    "cube profile": ("p.cubex", lambda _: profile(), lambda path: list(read_profile(path))),
    "campaign": ("m.jsonl", campaign, summarised),
    "hints": ("h.json", lambda _: hints(), read_hints),
    "expectations": ("e.yaml", lambda _: EXPECTATIONS, check_file),
    "machine": (
        "m.yaml",
        lambda _: Path(__file__).parents[2].joinpath("machines/epyc-7452.yaml").read_bytes(),
        load,
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_spoilt_inputs_give_an_answer_or_the_one_error(tmp_path: Path, name: str) -> None:
    file, original, reader = READERS[name]
    data = original(tmp_path)
    path = tmp_path / file
    (tmp_path / "m.txt").write_bytes(MEASURED)
    path.write_bytes(data)
    reader(path)  # the unspoilt one is read
    refused = 0
    warnings.simplefilter("ignore")  # of numbers at the end of their range
    for number, mutant in enumerate(mutants(data, COUNT, seed=len(name))):
        path.write_bytes(mutant)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        try:
            reader(path)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 5000
        except Exception as error:
            raise AssertionError(f"{name}, mutant {number}: {error!r}") from error
        assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < MOST_SECONDS
    assert refused > COUNT // 20
