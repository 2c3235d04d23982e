"""Closed forms of random loop nests against carrying the nests out, through both front ends.

Each nest is written as C, read, analysed, and its symbolic counts evaluated at several `n`; the
truth comes from running the loops. A formula may be withheld, never wrong where its conditions
hold; those of rectangular nests must be given. The value for a given size must be given and right
for all nests, down to sizes where loops are empty.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nests import (
    ARRAYS,
    Nest,
    rectangular,
    strided_inside,
    triangular,
    with_subscripts,
)

from regionpredict.analysis import Bindings, RegionFacts
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

SIZES = (7, 10, 17)
_FOLDER = tempfile.TemporaryDirectory()

many = settings(
    max_examples=8, deadline=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
batches = lambda nests: st.lists(nests, min_size=4, max_size=4)  # noqa: E731


def facts_of(nests: Sequence[Nest], frontend: str) -> tuple[RegionFacts, ...]:
    path = Path(_FOLDER.name, "nests.c")
    path.write_text(ARRAYS + "".join(nest.text(f"f{i}") for i, nest in enumerate(nests)))
    facts = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    assert len(facts) == len(nests)
    return facts


def check_counts(nests: Sequence[Nest], frontend: str, *, withheld: bool) -> None:
    for nest, facts in zip(nests, facts_of(nests, frontend), strict=True):
        (statement,) = facts.statements
        for n in SIZES:
            shown = (nest.text(), n)
            assert facts.iterations.expr is not None, shown
            assert facts.iterations.expr.evaluate({"n": n}) == nest.iterations(n), shown
            runs = executions_in_loops(statement.loops)
            if runs.expr is None:
                assert withheld, shown
                continue
            if all((one.evaluate({"n": n}) or 0) >= 0 for one in runs.holds):
                value = runs.expr.evaluate({"n": n})
                assert value == nest.executions(n), (*shown, f"{runs.expr} gives {value}")
        for n in (*range(5), *SIZES):
            given_n = executions_in_loops(statement.loops).value(Bindings({"n": n}))
            assert given_n == nest.executions(n), (nest.text(), n)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@many
@given(batches(rectangular()))
def test_rectangular_nests(frontend: str, nests: list[Nest]) -> None:
    check_counts(nests, frontend, withheld=False)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@many
@given(batches(triangular()))
def test_triangles_and_bands(frontend: str, nests: list[Nest]) -> None:
    check_counts(nests, frontend, withheld=True)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@many
@given(batches(strided_inside()))
def test_strides_inside_triangles(frontend: str, nests: list[Nest]) -> None:
    check_counts(nests, frontend, withheld=True)


def check_footprint(nests: Sequence[Nest], frontend: str) -> None:
    """Exact where every step is one; with strides beyond the last element by less than a step,
    as the box may end at the loop's bound. Never less; with three loops it may be more, where an
    inner loop that runs empty takes values from both loops around it.
    """
    for nest, facts in zip(nests, facts_of(nests, frontend), strict=True):
        expression = facts.working_set.expr
        assert expression is not None, nest.text()
        for n in SIZES:
            value = expression.evaluate({"n": n})
            least, most = nest.box_bytes(n), nest.box_bytes(n, to_bounds=True)
            if least:  # what an empty region touches is left open
                assert value is not None
                told = (nest.text(), n, f"{expression} gives {value}, not {least} to {most}")
                assert least <= value, told
                assert value <= most or len(nest.headers) > 2, told


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@many
@given(batches(with_subscripts(rectangular())))
def test_footprints_of_rectangular_nests(frontend: str, nests: list[Nest]) -> None:
    check_footprint(nests, frontend)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@many
@given(batches(with_subscripts(triangular())))
def test_footprints_of_triangles(frontend: str, nests: list[Nest]) -> None:
    check_footprint(nests, frontend)
