"""What belongs to a core whatever node it sits in: issue, ports, pipes, registers, misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.machine.quantity import Quantity


class Figure(NamedTuple):
    """How one figure of a processor is written: its unit, whether only whole numbers will do, and
    whether it may be zero."""

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
"""The keys of a machine file's section `processor`, which are those of a family's file as well."""


@dataclass(frozen=True, slots=True)
class Processor:
    """One core, by the figures of its file or of its family (`machines/families/FAMILY.yaml`).

    `issue_width`: instructions that it can begin in a cycle, once decoded.
    `vector_registers`, `general_registers`: what the instruction set gives a compiler.
    `loads_per_cycle`, `stores_per_cycle`: how many the first cache takes, however narrow, and
    `memory_operations_per_cycle` both together; `load_bytes_per_cycle`, `store_bytes_per_cycle`
    their bytes in all, so that wide ones may be fewer.
    `fp_add_pipes`, `fp_mul_pipes`: pipes that add and that multiply (or fuse both); `fp_pipes`:
    pipes that do either, fewer than the two together where they share.
    `fused_sums`: 1 where compilers, tuned for this core, add a product to a running sum in one
    operation, which waits for the sum before; 0 where product and sum stay apart.
    `integer_pipes`: pipes for integer arithmetic. `divider_bits`: bits of a vector that are
    divided in the time of a scalar division.
    `window`: instructions that wait or are at work at a time (the reorder buffer).
    `store_forward`: cycles from a stored floating-point number to its next load's result.
    `outstanding_misses`: lines that the first cache waits for at once. `tlb_entries`: translations
    that its last TLB holds of the pages that the system has by default, `tlb_large_entries` of
    larger ones; `page_walkers` fetch missing ones at a time, each of which takes
    `page_walk_factor` times as long as a load of its entry in the table of pages.
    `prefetched_streams`: streams that the second cache's prefetcher follows, none of them beyond
    its `prefetch_block` of bytes.
    `write_allocate`: share of the lines that a store misses that are read first.
    `lasting_share`: of what a shared cache could keep of data that is larger than itself, how much
    it does: none where the line least recently used goes first.
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
