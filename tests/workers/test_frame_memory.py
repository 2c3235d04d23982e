"""Calls at the end of a chunk of frames map no memory."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
import threading

import pytest

from regionpredict.frame_memory import with_frame_memory

DEPTHS = 300  # of the smallest frames: more than a chunk of 16 KiB has
CALLS = 2_000


def _most_faults(most: list[int]) -> None:
    """Appends the largest number of page faults that `CALLS` calls from one depth cause."""

    def leaf() -> None:
        pass

    def descend(depth: int) -> int:
        begin = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        for _ in range(CALLS):
            leaf()
        faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - begin
        return max(faults, descend(depth - 1)) if depth else faults

    most.append(descend(DEPTHS))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts page faults of threads")
def test_no_depth_of_calls_maps_memory_in_each_call() -> None:
    most: list[int] = []  # a thread's frames begin in a chunk of their own
    thread = threading.Thread(target=with_frame_memory, args=(_most_faults, most))
    thread.start()
    thread.join()
    assert most[0] < CALLS // 10


def test_arguments_and_the_result_are_passed() -> None:
    assert with_frame_memory(divmod, 7, 2) == (3, 1)
    assert with_frame_memory(int, "11", base=2) == 3


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries decide themselves")
def test_the_memory_of_freed_arrays_is_used_again() -> None:
    faults = (
        "import resource\n"
        "from regionpredict.frame_memory import keep_freed_memory\n"
        "keep_freed_memory()\n"
        "bytearray(1 << 20)\n"
        "begin = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "for _ in range(100):\n"
        "    bytearray(1 << 20)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begin)\n"
    )
    pages = subprocess.run(
        [sys.executable, "-c", faults], check=True, capture_output=True, text=True
    ).stdout
    assert int(pages) < 100  # each array has 256
