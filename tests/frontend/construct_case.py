"""What a case of one construct gives and expects, each expectation derived by hand.

A case gives C text with one region, and what must come out: the number of iterations, executions
of its statements in the order of the text, the references of counted arrays, effective dimensions.
Formulas are evaluated at several values of the names, never compared as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from reading import facts_of

AT = ({"n": 12, "m": 7, "p": 3}, {"n": 20, "m": 9, "p": 4})
S, L, X = "streaming", "latency", "irregular"


@dataclass(frozen=True)
class Case:
    """C text, and by hand: `iterations`, `runs` of each statement, `refs` as (text, kind,
    pattern), `dims` of arrays, and whether all of it is understood."""

    text: str
    iterations: str
    runs: tuple[str, ...] | None = None
    refs: tuple[tuple[str, str, str], ...] | None = None
    dims: dict[str, int] = field(default_factory=dict)
    status: str = "complete"
    bytes: str | None = None


def _worth(formula: str, at: dict[str, int]) -> int:
    return int(eval(formula, {"min": min, "max": max}, dict(at)))


def _named(at: dict[str, int]) -> dict[str, int]:
    return at | {"g->n": at["n"], "half": at["n"] // 2}


def check(folder: Path, case: Case, frontend: str) -> None:
    """Holds what a front end says of the case against what it expects."""
    facts = facts_of(folder, case.text, frontend)
    assert facts.status == case.status, facts.diagnostics
    assert facts.iterations.expr is not None
    if case.refs is not None:
        found = [
            (a.access.text, a.access.kind, a.pattern) for s in facts.statements for a in s.accesses
        ]
        assert sorted(found) == sorted(case.refs)
    dims = {array.name: array.dims for array in facts.arrays}
    assert {name: dims.get(name) for name in case.dims} == case.dims
    for at in AT:
        assert facts.iterations.expr.evaluate(_named(at)) == _worth(case.iterations, at)
        if case.runs is not None:
            runs = [s.executions.expr for s in facts.statements]
            values = [None if one is None else one.evaluate(_named(at)) for one in runs]
            assert values == [_worth(one, at) for one in case.runs]
        if case.bytes is not None:
            assert facts.working_set.expr is not None, facts.diagnostics
            assert facts.working_set.expr.evaluate(_named(at)) == _worth(case.bytes, at)
