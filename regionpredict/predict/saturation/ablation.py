"""The parts of the saturation model that can be disabled individually for ablations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """The enabled parts. All are enabled except in experiments.

    `write_allocation`: a missed store reads the line first. `queue`: computing cores request less
    memory, so fewer wait at a time. `overlap`: a core computes partly while it waits; otherwise the
    times add up. `reuse_between_runs`: the next run finds data in the caches. `seen_contents`: only
    if the program shows the previous use. `lasting_share`: shared caches keep a part of larger
    data. `page_walks`: gathers and wide strides wait for address translation. `divider_beside`:
    divisions and roots overlap with other pipes. `masks`: conditional loops are vectorized where
    the machine has masks. `chains`: the core's window bounds an iteration's dependency chain.
    `carried_cycles`: scalar recurrences pace a loop. `vector_ends`: remainders use smaller vectors.
    `interleaved_sums`: reorderable sums have several vectors of partial sums. `placement`: pages
    may be in other domains. `hardware_threads`: threads share a core. `turbo`: the clock depends on
    the active cores. `kept_sums`: values without a register are stored in each iteration.
    """

    write_allocation: bool = True
    queue: bool = True
    overlap: bool = True
    reuse_between_runs: bool = True
    page_walks: bool = True
    divider_beside: bool = True
    masks: bool = True
    chains: bool = True
    carried_cycles: bool = True
    vector_ends: bool = True
    interleaved_sums: bool = True
    seen_contents: bool = True
    lasting_share: bool = True
    placement: bool = True
    hardware_threads: bool = True
    turbo: bool = True
    kept_sums: bool = True


ALL_PARTS = Parts()
