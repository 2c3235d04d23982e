"""The properties of a core that do not depend on the node, such as issue width, ports, pipes and
registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.machine.quantity import Quantity


class Figure(NamedTuple):
    """The format of a figure of a core: its unit, whether it must be an integer, and whether it may
    be zero.
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
"""The formats by key of the section `processor` in a machine file and in a family file."""


@dataclass(frozen=True, slots=True)
class Processor:
    """A core, described by its machine file or by its family (`machines/families/FAMILY.yaml`).

    - `issue_width`: the maximum number of instructions that start per cycle
    - `vector_registers`, `general_registers`: numbers of architectural registers
    - `loads_per_cycle`, `stores_per_cycle`: maximum accesses to the first cache, and
      `memory_operations_per_cycle` for loads and stores together
    - `load_bytes_per_cycle`, `store_bytes_per_cycle`: limits of the bytes of these accesses
    - `fp_add_pipes`, `fp_mul_pipes`: pipes that add, and pipes that multiply or fuse
    - `fp_pipes`: all floating-point pipes, fewer than the sum if some do both
    - `fused_sums`: 1 if compilers for this core add a product to a running sum by one fused
      operation, 0 if they use two operations
    - `integer_pipes`: pipes for integer arithmetic
    - `divider_bits`: bits of a vector that are divided in the time of a scalar division
    - `window`: instructions that wait or execute at the same time (the reorder buffer)
    - `store_forward`: cycles from a floating-point store to the result of a load of its value
    - `outstanding_misses`: concurrent line misses of the first cache
    - `tlb_entries`, `tlb_large_entries`: entries of the last TLB for default and for larger pages
    - `page_walkers`: concurrent page walks
    - `page_walk_factor`: the time of a page walk relative to a load of its page-table entry
    - `prefetched_streams`: streams that the second cache's prefetcher follows
    - `prefetch_block`: the block in bytes within which the prefetcher follows a stream
    - `write_allocate`: the share of missed stores that read their line first
    - `lasting_share`: 0 for LRU and 1 for random replacement in shared caches
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
