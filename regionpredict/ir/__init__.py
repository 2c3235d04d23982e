"""The nouns: what a program, a region, a loop, an access and a count are. Nothing in, nothing out.

Everything here is frozen and imports nothing of ours; every other room speaks in these words.
"""

from regionpredict.ir.expr import Expr
from regionpredict.ir.program import Definition, Program, SerialBranch, SerialLoop, SerialNest
from regionpredict.ir.region import (
    WITHHELD,
    Access,
    Array,
    Branch,
    Call,
    Clause,
    GivenSkew,
    Loop,
    LoopSuccessor,
    Node,
    Operation,
    OtherName,
    ParallelConstruct,
    Region,
    Statement,
    Synchronisation,
    TeamSynchronisation,
    statements_in,
)
from regionpredict.ir.source import Diagnostic, Span

__all__ = [
    "WITHHELD",
    "Access",
    "Array",
    "Branch",
    "Call",
    "Clause",
    "Definition",
    "Diagnostic",
    "Expr",
    "GivenSkew",
    "Loop",
    "LoopSuccessor",
    "Node",
    "Operation",
    "OtherName",
    "ParallelConstruct",
    "Program",
    "Region",
    "SerialBranch",
    "SerialLoop",
    "SerialNest",
    "Span",
    "Statement",
    "Synchronisation",
    "TeamSynchronisation",
    "statements_in",
]
