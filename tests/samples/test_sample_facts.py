"""The facts files of the samples hold, by running the loops on small sizes and counting."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from further_cases import further_slow, of_each_kind
from region_facts import counted, pattern, reuse
from region_reader import Region, regions
from region_runner import Environment, contexts, parameters, tally, touched_bytes

ROOM = Path(__file__).resolve().parents[2] / "polybench_samples"
SAMPLES = {path.stem: path for path in sorted(ROOM.glob("*/*/*.c"))}
# Two sets of sizes, all different, so that exchanged names show.
SIZES = ([6, 5, 7, 4, 8], [9, 11, 8, 10, 7])


@cache
def facts_of(path: Path) -> list[dict[str, Any]]:
    document = yaml.safe_load(path.with_suffix(".facts.yaml").read_text())
    assert document["source"] == path.name
    found: list[dict[str, Any]] = document["regions"]
    return found


def value(expression: str, env: Environment) -> int:
    """A closed form of a facts file, evaluated exactly."""
    number = eval(expression.replace("/", "//"), {"__builtins__": {}, "min": min, "max": max}, env)
    exact = eval(expression, {"__builtins__": {}, "min": min, "max": max}, env)
    assert number == exact, f"{expression} is no whole number for {env}"
    return int(number)


@pytest.mark.parametrize("name", of_each_kind(SAMPLES))
def test_statements_are_those_of_the_source(name: str) -> None:
    read, facts = regions(SAMPLES[name]), facts_of(SAMPLES[name])
    assert [r.function for r in read] == [f["function"] for f in facts]
    for region, fact in zip(read, facts, strict=True):
        assert [s.text for s in region.statements] == [s["text"] for s in fact["statements"]]
        for statement, claimed in zip(region.statements, fact["statements"], strict=True):
            assert statement.operations == claimed["operations"], statement.text
            references = [(r.text, r.kind) for r in statement.references]
            assert references == [(a["ref"], a["kind"]) for a in claimed["accesses"]]


@pytest.mark.parametrize("name", of_each_kind(SAMPLES))
def test_dimensions_reuse_and_patterns(name: str) -> None:
    for region, fact in zip(regions(SAMPLES[name]), facts_of(SAMPLES[name]), strict=True):
        dims = region.arrays()
        table = counted(region, dims)
        assert fact["arrays"] == {a: {"dims": d, "counted": table[a]} for a, d in dims.items()}
        outside = dict.fromkeys(region.variables, 100)
        for statement, claimed in zip(region.statements, fact["statements"], strict=True):
            for ref, access in zip(statement.references, claimed["accesses"], strict=True):
                assert access["reuse"] == reuse(region, ref), ref.text
                assert access["pattern"] == pattern(ref, outside), ref.text


@pytest.mark.parametrize("sizes", further_slow(1, [pytest.param(s, id=str(s[0])) for s in SIZES]))
@pytest.mark.parametrize("name", of_each_kind(SAMPLES))
def test_counts(name: str, sizes: list[int]) -> None:
    read, facts = regions(SAMPLES[name]), facts_of(SAMPLES[name])
    loops = [region.loop for region in read]
    reached = set()
    for definition in {region.function: region.definition for region in read}.values():
        start = dict(zip(parameters(definition), sizes, strict=False))
        for position, env in contexts(definition, loops, start):
            reached.add(position)
            _compare(read[position], facts[position], env)
    assert reached == set(range(len(read))), "a region was never run"


def _compare(region: Region, claims: dict[str, Any], env: Environment) -> None:
    counts = tally(region, env)
    assert value(claims["iterations"], env) == counts.iterations
    for place, statement in enumerate(claims["statements"]):
        executed = counts.executions[place]
        assert value(statement["executions"], env) == executed, (statement["text"], env)
    if counts.iterations and any(counts.executions[n] for n in range(len(claims["statements"]))):
        assert value(claims["working_set"], env) == touched_bytes(region, env, counts), env
