"""The analysis against the samples' facts files, which people derived by hand, field by field.

Closed forms are compared by value, at two sets of sizes and at every value of the loops around a
region, never as text. The facts files themselves are held to the truth in `tests/samples/`, which
runs the loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from further_cases import of_each_kind

from regionpredict.analysis import RegionFacts, bind_names
from regionpredict.frontend import default_frontend, requests_for
from regionpredict.ir import Definition, Expr, Loop
from regionpredict.pipeline import analyse

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {path.stem: path for path in sorted(ROOT.glob("polybench_samples/*/*/*.c"))}
# All different, so that exchanged names show; by the order of a function's integer parameters.
SIZES = ([6, 5, 7, 4, 8], [9, 11, 8, 10, 7])
TYPE = re.compile(r"^(?:unsigned |const )*(?:double|float|int|long) ")

each_sample = pytest.mark.parametrize("name", of_each_kind(SAMPLES))
# One front end: `tests/frontend/test_twins.py` holds the other to it over all samples.
each_frontend = pytest.mark.parametrize("frontend", [default_frontend()])


@cache
def analysed(name: str, frontend: str) -> tuple[tuple[RegionFacts, tuple[Definition, ...]], ...]:
    result = analyse(requests_for([str(SAMPLES[name])]), {}, frontend=frontend)
    return tuple((f, result.program.definitions[f.region.id]) for f in result.facts)


@cache
def claims_of(name: str) -> list[dict[str, Any]]:
    document = yaml.safe_load(SAMPLES[name].with_suffix(".facts.yaml").read_text())
    regions: list[dict[str, Any]] = document["regions"]
    return regions


def pairs(
    name: str, frontend: str
) -> Iterator[tuple[RegionFacts, tuple[Definition, ...], dict[str, Any]]]:
    found, claims = analysed(name, frontend), claims_of(name)
    assert [f.region.function for f, _ in found] == [c["function"] for c in claims]
    for (facts, definitions), claim in zip(found, claims, strict=True):
        yield facts, definitions, claim


@each_frontend
@each_sample
def test_every_region_is_complete(name: str, frontend: str) -> None:
    for facts, _, _ in pairs(name, frontend):
        assert facts.status == "complete", facts.diagnostics


@each_frontend
@each_sample
def test_statements_operations_and_references(name: str, frontend: str) -> None:
    for facts, _, claim in pairs(name, frontend):
        texts = [s.statement.text for s in facts.statements]
        assert texts == [TYPE.sub("", s["text"]) for s in claim["statements"]]
        for statement, told in zip(facts.statements, claim["statements"], strict=True):
            operations: dict[str, int] = {}
            for operation, count in statement.statement.operations:
                kind = operation.arithmetic
                operations[kind] = operations.get(kind, 0) + count
            assert operations == told["operations"], told["text"]
            references = [
                (a.access.text, a.access.kind, a.reuse, a.pattern) for a in statement.accesses
            ]
            # In any order: an index array may be named before or after what it indexes.
            assert sorted(references) == sorted(
                (a["ref"], a["kind"], a["reuse"], a["pattern"]) for a in told["accesses"]
            ), told["text"]


@each_frontend
@each_sample
def test_arrays(name: str, frontend: str) -> None:
    for facts, _, claim in pairs(name, frontend):
        found = {a.name: {"dims": a.dims, "counted": a.counted} for a in facts.arrays}
        assert found == claim["arrays"]


def parameters(name: str, function: str) -> list[str]:
    """The integer parameters of a function of a sample, in order."""
    head = re.search(rf"\b{function}\(([^{{]*)\)\s*\{{", SAMPLES[name].read_text())
    assert head is not None
    return re.findall(r"\bint (\w+)(?=\s*[,)]|\s*$)", head.group(1) + ",")


def around(loops: tuple[Loop, ...], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The values of the loops around a region, carried out."""
    if not loops:
        yield at
        return
    loop = loops[0]
    assert loop.start is not None and loop.bound is not None and loop.step is not None
    start, bound, step = (x.evaluate(at) for x in (loop.start, loop.bound, loop.step))
    past = {"<": 0, ">": 0, "!=": 0, "<=": 1, ">=": -1}[loop.comparison]
    for value in range(int(start), int(bound) + past, int(step)):
        yield from around(loops[1:], at | {loop.variable: value})


def worth(expression: str, at: dict[str, Any]) -> int:
    """A closed form of a facts file; divisions in it come out even."""
    exact = eval(expression, {"__builtins__": {}, "min": min, "max": max}, dict(at))
    assert exact == int(exact), expression
    return int(exact)


@pytest.mark.parametrize("sizes", SIZES, ids=["small", "large"])
@each_frontend
@each_sample
def test_counts_and_working_set(name: str, frontend: str, sizes: list[int]) -> None:
    for facts, definitions, claim in pairs(name, frontend):
        region = facts.region
        given = dict(zip(parameters(name, region.function), sizes, strict=False))
        for outer in around(region.enclosing, dict(given)):
            at = dict(bind_names(region, definitions, outer).values)
            where = f"{region.id} at {outer}"
            iterations = worth(claim["iterations"], at)
            assert _value(facts.iterations.expr, at) == iterations, where
            runs = [worth(told["executions"], at) for told in claim["statements"]]
            for statement, count, told in zip(
                facts.statements, runs, claim["statements"], strict=True
            ):
                assert _value(statement.executions.expr, at) == count, (told["text"], where)
            if all(runs):  # an empty region touches nothing
                size = worth(claim["working_set"], at)
                assert _value(facts.working_set.expr, at) == size, where


def _value(expression: Expr | None, at: dict[str, Any]) -> int | None:
    """As the analysis counts: never below zero."""
    value = None if expression is None else expression.evaluate(at)
    return None if value is None else max(0, int(value))
