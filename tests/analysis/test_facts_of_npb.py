"""The analysis against the NPB samples' facts files: iterations, nests and arrays, at two classes.

The files speak of a region's own text; what the analysis finds in followed calls comes on top:
more arrays that do not count, and more dimensions of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from further_cases import further_slow

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import default_frontend, requests_for
from regionpredict.ir import Expr
from regionpredict.pipeline import analyse

ROOM = Path(__file__).resolve().parents[2] / "npb_samples"
WAVE = 15  # of LU: k runs where 1 <= wave - k <= NY - 2


def _lu(n: int) -> dict[str, int]:
    first, last = max(1, WAVE - n + 2), min(n - 2, WAVE - 1)
    return {"NX": n, "NY": n, "NZ": n, "NCOMP": 5, "wave": WAVE, "first": first, "last": last}


# The sizes of the classes, as the reports and the samples' own headers give them.
SIZES: dict[str, dict[str, dict[str, int]]] = {
    "bt": {"S": {"PROBLEM_SIZE": 12}, "W": {"PROBLEM_SIZE": 24}},
    "sp": {"S": {"PROBLEM_SIZE": 12}, "W": {"PROBLEM_SIZE": 36}},
    "lu": {"S": _lu(12), "W": _lu(33)},
    "ft": {
        "S": {"NX": 64, "NY": 64, "NZ": 64, "NXP": 65, "NMAX": 64},
        "W": {"NX": 128, "NY": 128, "NZ": 32, "NXP": 129, "NMAX": 128},
    },
}
EVERYWHERE = {"FFTBLOCK": 16, "CHECKSUM_POINTS": 1024}

pytestmark = [
    # One front end: `tests/frontend/test_twins.py` holds the other to it over all samples.
    pytest.mark.parametrize("frontend", [default_frontend()]),
    pytest.mark.parametrize("letter", further_slow(1, ["S", "W"])),
    pytest.mark.parametrize("program", SIZES),
]


@cache
def analysed(program: str, letter: str, frontend: str) -> tuple[RegionFacts, ...]:
    requests = requests_for(
        [str(ROOM / program)], [(f"CLASS_{letter}", "1")], [str(ROOM / "common")]
    )
    return analyse(requests, {}, frontend=frontend).facts


def pairs(
    program: str, letter: str, frontend: str
) -> Iterator[tuple[RegionFacts, dict[str, Any], dict[str, int]]]:
    document = yaml.safe_load((ROOM / program / f"{program}.facts.yaml").read_text())
    claims = document.get("regions")
    if claims is None:
        claims = [
            region | {"source": part["source"]}
            for part in document["sources"]
            for region in part["regions"]
        ]
    found = analysed(program, letter, frontend)
    assert [(Path(f.region.span.file).name, f.region.function) for f in found] == [
        (c["source"], c["function"]) for c in claims
    ]
    for facts, claim in zip(found, claims, strict=True):
        yield facts, claim, SIZES[program][letter] | EVERYWHERE


def worth(expression: str, at: dict[str, int]) -> int:
    value = eval(
        expression.replace("/", "//"), {"__builtins__": {}, "min": min, "max": max}, dict(at)
    )
    return int(value)


def value(expression: Expr | None, at: dict[str, int]) -> int | None:
    number = None if expression is None else expression.evaluate(at)
    return None if number is None else int(number)


def test_iterations(program: str, letter: str, frontend: str) -> None:
    for facts, claim, at in pairs(program, letter, frontend):
        assert value(facts.iterations.expr, at) == worth(claim["iterations"], at), facts.region.id


def test_a_nest_has_the_trips_told(program: str, letter: str, frontend: str) -> None:
    for facts, claim, at in pairs(program, letter, frontend):
        told = [worth(one, at) for one in claim["loops"]]
        nests = {
            tuple(value(loop.trips, at) for loop in statement.loops[: len(told)])
            for statement in facts.statements
        }
        assert tuple(told) in nests, (facts.region.id, told, nests)


def test_arrays_that_count(program: str, letter: str, frontend: str) -> None:
    for facts, claim, _ in pairs(program, letter, frontend):
        found = {a.name: a for a in facts.arrays}
        told = {name: one["dims"] for name, one in claim["arrays"].items() if one["counted"]}
        assert {a.name: a.dims for a in facts.arrays if a.counted} == told, facts.region.id
        for name, one in claim["arrays"].items():
            if not one["counted"] and name in found:
                assert found[name].dims >= one["dims"], (facts.region.id, name)


def test_all_is_understood(program: str, letter: str, frontend: str) -> None:
    """Functions of the program's other files are followed; those of `common` are not read here."""
    for facts, _, _ in pairs(program, letter, frontend):
        open_questions = {note.id for note in facts.diagnostics} - {"RP103", "RP104", "RP107"}
        assert facts.status == ("partial" if open_questions else "complete"), facts.diagnostics
        assert open_questions <= ({"RP113"} if program == "ft" else set())
