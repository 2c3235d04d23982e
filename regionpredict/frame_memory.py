"""Keeps the memory of Python's frames, instead of returning it to the system after each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_WORDS = 1 << 18  # 2 MiB, enough for thousands of frames


def with_frame_memory(work: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> R:
    """`work(*arguments, **named)`, with memory for the frames of all nested calls.

    CPython from 3.11 on has frames in chunks of 16 KiB. It unmaps a chunk at the return of the
    first frame inside (`push_chunk` and `_PyThreadState_PopFrame` in its pystate.c). A loop whose
    calls begin at the end of a chunk maps a new one in each iteration. The chunk of a large frame,
    such as this function's, has a power of two as its size, and contains the next frames as well.
    """
    return work(*arguments, **named)


with_frame_memory.__code__ = with_frame_memory.__code__.replace(co_stacksize=_WORDS)
