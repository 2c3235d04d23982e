"""Finds calls that set the program's number of threads, so that OMP_NUM_THREADS has no effect."""

from __future__ import annotations

import re
from collections.abc import Callable

from regionpredict.frontend.text.source_text import SourceText, masked
from regionpredict.ir import Diagnostic, Span

# Excludes declarations, and calls that set the current number of threads again.
_CALL = re.compile(rb"(?<!void )(?<!int )\bomp_set_num_threads\s*\(\s*(?!omp_get_max_threads\b|\))")


def threads_set(source: SourceText, reads: Callable[[int, int], bool]) -> list[Diagnostic]:
    """Returns the RP007 diagnostics for the calls in a file that set the number of threads.

    `reads` says whether the compiler reads the text between two offsets.
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
