"""Input: a region. Output: its `RegionFacts`. Each module answers one question about the region.

`iterations` counts executions, `dimensions` finds the arrays that the density model counts, and
`reuse` classifies references as hit or miss. `patterns` classifies references as streaming, latency
or irregular, and `footprint` computes the working set. `bindings` gives values to the names of a
program.
"""

from regionpredict.analysis.bindings import Bindings, bind_names
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
    "bind_names",
    "checked_facts",
    "facts_of",
    "symbolic_facts",
]
