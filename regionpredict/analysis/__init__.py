"""Input: a region. Output: its `Facts`. Each module answers one question by pure functions of the
region.

`iterations` counts executions, `dimensions` finds the arrays that count, and `reuse` classifies
references as hit or miss. `patterns` classifies them as streaming, latency or irregular, and
`footprint` computes the bytes. `bindings` gives values to the names of a program.
"""

from regionpredict.analysis.bindings import Bindings, bind
from regionpredict.analysis.conflicts import RACES
from regionpredict.analysis.facts import (
    INCOMPLETE,
    AccessFact,
    ArrayFact,
    Count,
    RegionFacts,
    StatementFact,
    SymbolicFacts,
    checked_facts,
    facts_of,
    symbolic_facts,
)

__all__ = [
    "INCOMPLETE",
    "RACES",
    "AccessFact",
    "ArrayFact",
    "Bindings",
    "Count",
    "RegionFacts",
    "StatementFact",
    "SymbolicFacts",
    "bind",
    "checked_facts",
    "facts_of",
    "symbolic_facts",
]
