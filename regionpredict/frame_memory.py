"""Keeps the memory of frames and arrays, instead of returning it to the system after each use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_WORDS = 1 << 18  # 2 MiB, enough for thousands of frames
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)
_KEPT_BYTES = 32 << 20  # the largest value that glibc accepts


def keep_freed_memory() -> None:
    """Makes the C library reuse freed memory, also in later child processes.

    By default, glibc maps each array of 128 KiB or more, and unmaps it when it is freed
    (mallopt(3)). The system then clears the pages of the next array again. It has no effect with
    other C libraries.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 (only commands that read source code need it)

    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is not None:
        change(_TRIM_THRESHOLD, _KEPT_BYTES)
        change(_MMAP_THRESHOLD, _KEPT_BYTES)


def with_frame_memory(work: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> R:
    """`work(*arguments, **named)`, with memory for the frames of all nested calls.

    CPython from 3.11 on has frames in chunks of 16 KiB. It unmaps a chunk at the return of the
    first frame inside (`push_chunk` and `_PyThreadState_PopFrame` in its pystate.c). A loop whose
    calls begin at the end of a chunk maps a new one in each iteration. The chunk of a large frame,
    such as this function's, has a power of two as its size, and contains the next frames as well.
    """
    return work(*arguments, **named)


with_frame_memory.__code__ = with_frame_memory.__code__.replace(co_stacksize=_WORDS)
