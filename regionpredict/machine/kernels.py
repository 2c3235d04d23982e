"""The streaming kernels of bandwidth tables, and the memory traffic of each.

Bandwidth tables count the loads and stores of the program in GB/s. Memory traffic is larger,
because a missed store first reads its line (write-allocate).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """The accesses of a streaming kernel, in array elements per iteration.

    `reads` and `writes` are accesses of the program. `allocates` counts elements that are read only
    because of write-allocate.
    """

    name: str
    text: str
    reads: int
    writes: int
    allocates: int

    @property
    def application(self) -> int:
        """The elements that the program accesses per iteration, which bandwidth tables count."""
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
