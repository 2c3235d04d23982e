"""The names that the clauses of a directive list."""

from __future__ import annotations

from regionpredict.frontend.syntax import Pragma


def listed_private(pragma: Pragma) -> set[str]:
    """The names in clauses that give each thread its own copy."""
    names: set[str] = set()
    for clause in pragma.clauses:
        if clause.name in ("private", "firstprivate", "lastprivate") and clause.text:
            names.update(name.strip() for name in clause.text.split(":")[-1].split(","))
    return names


def reduced(simd: Pragma | None) -> frozenset[str]:
    """The names in the reductions of a `simd` directive; none where there is no such directive."""
    clauses = simd.clauses if simd is not None else ()
    texts = [clause.text or "" for clause in clauses if clause.name == "reduction"]
    names = (name.partition("[")[0].strip() for text in texts
             for name in text.rpartition(":")[2].split(","))  # fmt: skip
    return frozenset(name for name in names if name)
