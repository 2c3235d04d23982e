"""Listings 4.1 to 4.6 of Chatzopoulos 2012 classify as the thesis says, on both machines.

The listings stand in `tests/golden/`. Every expectation is read off chapter 4: which arrays count
(4.1, 4.2), which references miss (4.3), with what probability (4.4), and in which pattern (4.5,
4.6). Both front ends must agree. A backslash is
added where the thesis breaks a directive over two lines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict

LISTINGS = Path(__file__).resolve().parents[1] / "golden"
MACHINES = {"clovertown": (4 << 20, 2), "dunnington": (16 << 20, 4)}  # largest cache, packages

pytestmark = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])


def predicted(
    number: str, machine: str, frontend: str, *defines: tuple[str, str]
) -> tuple[RegionFacts, Predictions]:
    path = LISTINGS / f"listing_{number.replace('.', '_')}.c"
    result = predict(
        analyse(requests_for([str(path)], defines), {}, frontend=frontend), load(machine)
    )
    (facts,) = result.analysis.facts
    assert result.predictions[0].status == "predicted"
    return facts, result


def references(facts: RegionFacts) -> list[tuple[str, str, str, str]]:
    """(text, kind, reuse, pattern) of every reference, in the order of the text."""
    return [
        (a.access.text, a.access.kind, a.reuse, a.pattern)
        for statement in facts.statements
        for a in statement.accesses
    ]


@pytest.mark.parametrize("machine", MACHINES)
def test_4_1_all_three_arrays_count(frontend: str, machine: str) -> None:
    facts, _ = predicted("4.1", machine, frontend)
    assert {a.name: (a.dims, a.counted) for a in facts.arrays} == {
        "matrixA": (3, True),
        "matrixB": (3, True),
        "matrixC": (3, True),
    }
    assert facts.iterations.value == 200
    assert facts.statements[0].executions.value == 200 * 300 * 400
    assert facts.working_set.value == 3 * 200 * 300 * 400 * 8


@pytest.mark.parametrize("machine", MACHINES)
def test_4_2_arrays_with_a_fixed_index_are_left_out(frontend: str, machine: str) -> None:
    facts, result = predicted("4.2", machine, frontend)
    assert {a.name: (a.dims, a.counted) for a in facts.arrays} == {
        "matrixA": (2, False),
        "matrixB": (2, False),
        "matrixC": (3, True),
    }
    derivation = result.predictions[0].derivation
    assert derivation is not None
    named = [t.what for s in derivation.statements for t in s.terms if t.kind != "operation"]
    assert named and all("matrixC" in what for what in named)
    # One plane of A and of B is touched, the whole of C.
    assert facts.working_set.value == (200 * 300 * 400 + 2 * 300 * 400) * 8


@pytest.mark.parametrize("machine", MACHINES)
def test_4_3_c_hits_a_hits_b_misses(frontend: str, machine: str) -> None:
    facts, _ = predicted("4.3", machine, frontend)
    assert [(text, reuse) for text, _, reuse, _ in references(facts)] == [
        ("matrixC[i][j]", "hit"),
        ("matrixA[i][k]", "hit"),
        ("matrixB[j][k]", "miss"),
    ]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("times", [0.5, 1, 2, 5, 10, 20])
def test_4_4_misses_happen_as_the_working_set_grows(
    frontend: str, machine: str, times: float
) -> None:
    """Equation 4.2: nothing while it fits, 0.9 at ten times the cache, little more beyond."""
    cache, _ = MACHINES[machine]
    ni = 64
    # bytes = 8 (2 Ni Nj + Ni Ni), so this Nj makes it `times` the cache.
    nj = int(times * cache) // (16 * ni) - ni // 2
    facts, result = predicted("4.4", machine, frontend, ("Ni", str(ni)), ("Nj", str(nj)))
    size = 8 * (2 * ni * nj + ni * ni)
    assert facts.working_set.value == size == int(times * cache)
    assert result.predictions[0].miss_probability == pytest.approx(max(0.0, 1 - 1 / times))


@pytest.mark.parametrize("machine", MACHINES)
def test_4_4_references(frontend: str, machine: str) -> None:
    facts, _ = predicted("4.4", machine, frontend)
    one = [("matrixC[i][j]", "read", "hit"), ("matrixC[i][j]", "write", "hit")]
    assert [r[:3] for r in references(facts)] == [
        *one, ("matrixA[i][k]", "read", "hit"), ("matrixB[j][k]", "read", "miss"),
        *one, ("matrixB[i][k]", "read", "hit"), ("matrixA[j][k]", "read", "miss"),
    ]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("number", ["4.5", "4.6"])
def test_4_5_rows_stream_and_4_6_columns_wait(frontend: str, machine: str, number: str) -> None:
    facts, _ = predicted(number, machine, frontend)
    text, pattern = {"4.5": ("matrixA[i][j]", "streaming"), "4.6": ("matrixA[j][i]", "latency")}[
        number
    ]
    assert references(facts) == [
        ("matrixC[i]", "write", "hit", "streaming"),
        ("matrixC[i]", "read", "hit", "streaming"),
        (text, "read", "miss", pattern),
        ("matrixB[j]", "read", "hit", "streaming"),
    ]
    assert {a.name: a.counted for a in facts.arrays} == {
        "matrixA": True, "matrixB": False, "matrixC": False,
    }  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_the_columns_scale_further_than_the_rows(frontend: str, machine: str) -> None:
    """Figure 4.4: benchmark B, slower, gains more from further cores."""
    rows = predicted("4.5", machine, frontend)[1].predictions[0]
    columns = predicted("4.6", machine, frontend)[1].predictions[0]
    assert rows.score is not None and columns.score is not None
    assert rows.score < columns.score
    assert rows.packages is not None and columns.packages is not None
    assert rows.packages <= columns.packages
