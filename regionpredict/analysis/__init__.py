"""Input: a region. Output: its `Facts`. Each module answers one question, as pure functions of the
region.

`iterations` (how often), `dimensions` (which arrays count), `reuse`
(hit or miss), `patterns` (streaming, latency or irregular), `footprint` (how many bytes).
`bindings` gives the names of a program numbers.
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
