"""The intermediate representation: programs, regions, loops, accesses and symbolic counts.

All values are frozen. This subpackage imports no other subpackage, and all other subpackages use
it.
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
