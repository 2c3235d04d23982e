"""Recognizes BLAS routines in Fortran and C by name (Basic Linear Algebra Subprograms Technical
Forum Standard, 2001, appendix C).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LEVEL_1 = "axpy copy swap scal dot dotu dotc nrm2 asum amax rot"
_LEVEL_2 = "gemv ger geru gerc symv hemv trmv trsv syr her syr2 her2"
_LEVEL_3 = "gemm symm hemm syrk herk syr2k her2k trmm trsm"
_BLAS = re.compile(
    r"(?P<c>cblas_)?i?(?P<precision>[sdcz])"
    rf"(?P<routine>{'|'.join(f'{_LEVEL_1} {_LEVEL_2} {_LEVEL_3}'.split())})"
    r"(?:_sub)?_{0,2}"
)


class BlasRoutine(NamedTuple):
    """A BLAS routine: `dgemm` has the `precision` d and the `routine` gemm. `by_value` says that
    the routine belongs to the C interface.
    """

    precision: str
    routine: str
    by_value: bool


def blas_routine(name: str) -> BlasRoutine | None:
    """Returns the routine with this name. None for any other function."""
    match = _BLAS.fullmatch(name)
    if match is None:
        return None
    return BlasRoutine(match["precision"], match["routine"], match["c"] is not None)
