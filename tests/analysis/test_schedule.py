"""Which schedule a clause asks for, as OpenMP 5.2, sec. 11.5.3, reads it."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.schedule import Schedule, schedule_of


@pytest.mark.parametrize(
    ("clause", "kind", "chunk"),
    [
        ("", "static", None),
        ("schedule(static)", "static", None),
        ("schedule(static, 4)", "static", 4.0),
        ("schedule(static,1)", "static", 1.0),
        ("schedule(dynamic)", "dynamic", 1.0),  # one iteration, where no chunk is told
        ("schedule(dynamic, 7)", "dynamic", 7.0),
        ("schedule(guided)", "guided", 1.0),
        ("schedule(guided, 3)", "guided", 3.0),
        ("schedule(auto)", "static", None),
        ("schedule(runtime)", "static", None),
        ("schedule(monotonic: dynamic, 5)", "dynamic", 5.0),
        ("schedule(nonmonotonic, simd: guided, 2)", "guided", 2.0),
        ("schedule(simd: static)", "static", None),
        # a chunk that is no number is not known
        ("schedule(static, n)", "static", None),
        ("schedule(dynamic, n)", "dynamic", 1.0),
        ("schedule(dynamic, 2 * 4)", "dynamic", 1.0),
        ("schedule(static, 0)", "static", None),
        ("schedule(dynamic, 0)", "dynamic", 1.0),
    ],
)
def test_clauses(clause: str, kind: str, chunk: float | None) -> None:
    text = f"double x[99];\nvoid f(int n) {{\n#pragma omp parallel for {clause}\n"
    (facts,) = facts_of_texts(f"{text}for (int i = 0; i < 99; i++) x[i] = n;\n}}\n")
    assert schedule_of(facts.region) == Schedule(kind, chunk)
