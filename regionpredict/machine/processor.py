"""Properties of a core that do not depend on the node: issue width, ports, pipes, registers and
misses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.machine.quantity import Quantity


class Figure(NamedTuple):
    """The format of a processor's figure: its unit, whether it is a whole number, and whether it
    may be zero.
    """

    unit: str
    whole: bool = True
    zero: bool = False


FIGURES: dict[str, Figure] = {
    "issue_width": Figure("instructions/cycle"),
    "vector_registers": Figure("registers"),
    "general_registers": Figure("registers"),
    "loads_per_cycle": Figure("loads/cycle"),
    "stores_per_cycle": Figure("stores/cycle"),
    "memory_operations_per_cycle": Figure("operations/cycle"),
    "load_bytes_per_cycle": Figure("B/cycle", whole=False),
    "store_bytes_per_cycle": Figure("B/cycle", whole=False),
    "fp_pipes": Figure("pipes"),
    "fp_add_pipes": Figure("pipes"),
    "fp_mul_pipes": Figure("pipes"),
    "fused_sums": Figure("", zero=True),
    "integer_pipes": Figure("pipes"),
    "divider_bits": Figure("bit"),
    "window": Figure("instructions"),
    "store_forward": Figure("cycles", whole=False),
    "outstanding_misses": Figure("lines"),
    "prefetched_streams": Figure("streams"),
    "prefetch_block": Figure("B"),
    "tlb_entries": Figure("pages"),
    "tlb_large_entries": Figure("pages"),
    "page_walkers": Figure("walks"),
    "page_walk_factor": Figure("", whole=False),
    "write_allocate": Figure("", whole=False, zero=True),
    "lasting_share": Figure("", whole=False, zero=True),
}
"""The keys of the section `processor` in a machine file and in a family's file."""


@dataclass(frozen=True, slots=True)
class Processor:
    """A core, described by its machine file or by its family (`machines/families/FAMILY.yaml`).

    `issue_width`: decoded instructions that it can start per cycle. `vector_registers`,
    `general_registers`: numbers of registers in the instruction set. `loads_per_cycle`,
    `stores_per_cycle`: the maximum numbers at the first cache, and `memory_operations_per_cycle`
    for both together. `load_bytes_per_cycle` and `store_bytes_per_cycle` limit their total bytes,
    so there may be fewer wide ones. `fp_add_pipes`, `fp_mul_pipes`: pipes that add, and pipes that
    multiply (or fuse both). `fp_pipes`: pipes for either, fewer than the sum if they are shared.
    `fused_sums`: 1 if compilers tuned for this core add a product to a running sum in one
    operation, which waits for the previous sum. 0 if they use two operations. `integer_pipes`:
    pipes for integer arithmetic. `divider_bits`: bits of a vector that are divided in the time of a
    scalar division. `window`: instructions that can wait or execute at the same time (the reorder
    buffer). `store_forward`: cycles from storing a floating-point number to the result of its next
    load. `outstanding_misses`: lines that the first cache can wait for at the same time.
    `tlb_entries`: translations in its last TLB for the system's default pages, and
    `tlb_large_entries` for larger pages. `page_walkers` fetch missing ones concurrently. Each walk
    takes `page_walk_factor` times as long as a load of its page-table entry. `prefetched_streams`:
    streams that the second cache's prefetcher follows, within its `prefetch_block` in bytes.
    `write_allocate`: the share of missed stores whose lines are read first. `lasting_share`: the
    kept share of data larger than a shared cache, relative to the maximum. It is 0 for exact LRU.
    """

    family: str
    issue_width: Quantity
    vector_registers: Quantity
    general_registers: Quantity
    loads_per_cycle: Quantity
    stores_per_cycle: Quantity
    memory_operations_per_cycle: Quantity
    load_bytes_per_cycle: Quantity
    store_bytes_per_cycle: Quantity
    fp_pipes: Quantity
    fp_add_pipes: Quantity
    fp_mul_pipes: Quantity
    fused_sums: Quantity
    integer_pipes: Quantity
    divider_bits: Quantity
    window: Quantity
    store_forward: Quantity
    outstanding_misses: Quantity
    prefetched_streams: Quantity
    prefetch_block: Quantity
    tlb_entries: Quantity
    tlb_large_entries: Quantity
    page_walkers: Quantity
    page_walk_factor: Quantity
    write_allocate: Quantity
    lasting_share: Quantity
