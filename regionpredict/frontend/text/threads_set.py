"""Calls by which a program sets its number of threads. Then OMP_NUM_THREADS has no effect."""

from __future__ import annotations

import re
from collections.abc import Callable

from regionpredict.frontend.text.source_text import SourceText, masked
from regionpredict.ir import Diagnostic, Span

# Not a declaration, and not the number that the program has anyway.
_CALL = re.compile(rb"(?<!void )(?<!int )\bomp_set_num_threads\s*\(\s*(?!omp_get_max_threads\b|\))")


def threads_set(source: SourceText, reads: Callable[[int, int], bool]) -> list[Diagnostic]:
    """The RP007 diagnostics for the calls of a file that set the number of threads.

    `reads` says whether the compiler reads some text between two offsets.
    """
    if b"omp_set_num_threads" not in source.data:
        return []
    message = (
        "sets the number of threads: OMP_NUM_THREADS has no effect after this call, so give the"
        " recommended number to the program"
    )
    return [
        Diagnostic("RP007", Span(source.path, *source.place(call.start())), message)
        for call in _CALL.finditer(masked(source.data).code) if reads(call.start(), call.end())
    ]  # fmt: skip
