"""The parts of the saturation model that an ablation study can disable individually."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """The enabled parts of the model. By default, all parts are enabled.

    - `write_allocation`: a missed store reads its line first.
    - `queue`: a core does not request memory while it computes.
    - `overlap`: computing and waiting overlap partly; otherwise both times are added.
    - `reuse_between_runs`: caches may contain data of a previous execution.
    - `seen_contents`: cache contents follow from the program.
    - `lasting_share`: shared caches keep a part of data that exceed them.
    - `page_walks`: gathers and wide strides wait for address translation.
    - `divider_beside`: divisions and square roots overlap with other operations.
    - `masks`: conditional loops are vectorized on machines with masked loads and stores.
    - `chains`: the instruction window limits the overlap of iterations.
    - `carried_cycles`: scalar recurrences limit a loop.
    - `vector_ends`: remaining iterations use smaller vectors.
    - `interleaved_sums`: reorderable sums have several vectors of partial sums.
    - `placement`: pages may be in other NUMA domains.
    - `hardware_threads`: several threads may share a core.
    - `turbo`: the clock depends on the active cores.
    - `kept_sums`: values that cannot stay in a register are stored in each iteration.
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
