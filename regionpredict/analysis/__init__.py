"""Regions in, `Facts` out: one question a file, each a pure function of the region.

`iterations` (how often), `operations` (what work), `dimensions` (which arrays count), `reuse`
(hit or miss), `patterns` (streaming, latency or irregular), `footprint` (how many bytes).
`values` binds the names of a program to numbers.
"""

from regionpredict.analysis.bindings import Bindings, bind
from regionpredict.analysis.facts import (
    AccessFact,
    ArrayFact,
    Count,
    RegionFacts,
    StatementFact,
    facts_of,
)

__all__ = [
    "AccessFact",
    "ArrayFact",
    "Bindings",
    "Count",
    "RegionFacts",
    "StatementFact",
    "bind",
    "facts_of",
]
