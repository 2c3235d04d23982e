"""The streaming kernels whose bandwidth machine models hold, and the traffic each one makes.

A table's GB/s count what the program asks for: loads and stores of its arrays. A store that
misses also reads its line first (write-allocate), which the table does not count, so the memory
moves `traffic / application` times as much.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """Streams of one kernel, in array elements an iteration.

    `reads` and `writes` are what the program asks for; `allocates` are the lines that a store
    brings in though the program never reads them.
    """

    name: str
    text: str
    reads: int
    writes: int
    allocates: int

    @property
    def application(self) -> int:
        """Elements an iteration that the program asks for (what GB/s in a table count)."""
        return self.reads + self.writes

    @property
    def traffic_factor(self) -> float:
        """Elements moved for each element asked for, with write-allocate.

        >>> KERNELS["copy"].traffic_factor
        1.5
        """
        return (self.reads + self.writes + self.allocates) / self.application


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("load", "s += a[i]", 1, 0, 0),
        Kernel("copy", "a[i] = b[i]", 1, 1, 1),
        Kernel("update", "a[i] = s * a[i]", 1, 1, 0),
        Kernel("triad", "a[i] = b[i] + c[i] * d[i]", 3, 1, 1),
        Kernel("daxpy", "a[i] = a[i] + s * b[i]", 2, 1, 0),
        Kernel("stream_triad", "a[i] = b[i] + s * c[i]", 2, 1, 1),
    )
}
