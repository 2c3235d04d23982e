"""The streaming kernels of bandwidth tables, and the traffic of each.

The GB/s in a table count the loads and stores of the program's arrays. A missed store first reads
its line (write-allocate), which the table does not count. Memory therefore moves
`traffic / application` times these bytes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """The streams of a kernel, in array elements per iteration.

    `reads` and `writes` are accesses of the program. `allocates` are lines loaded by stores that
    the program never reads.
    """

    name: str
    text: str
    reads: int
    writes: int
    allocates: int

    @property
    def application(self) -> int:
        """The elements that the program accesses per iteration. The GB/s in a table count these."""
        return self.reads + self.writes

    @property
    def traffic_factor(self) -> float:
        """The elements moved per accessed element, including write-allocate.

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
