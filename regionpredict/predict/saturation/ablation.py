"""The parts of the saturation model that can be switched off, one by one: for ablations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts are on; all of them, but for experiments.

    `write_allocation`: a line that a store misses is read first. `queue`: cores that compute ask
    memory for less, so that fewer than all wait at a time. `overlap`: a core computes while it
    waits, in part; without it the two times add up. `reuse_between_runs`: data of one run of a
    region is in the caches for the next; `seen_contents`: only where the program shows that it runs
    again, or who had its data before, and not as if every region had run just before.
    `lasting_share`: shared caches keep a part of larger data. `page_walks`: gathers and wide steps
    wait for the translation of their addresses. `divider_beside`: divisions and roots go on beside
    the other pipes. `masks`: loops with conditions are vectors where the machine has masks.
    `chains`: an iteration's chain of dependent operations bounds it by the core's window.
    `carried_cycles`: what scalars carry over several operations paces a loop.
    `vector_ends`: iterations that fill no whole vector go in smaller ones.
    `interleaved_sums`: a sum in any order has several vectors of partial sums. `placement`: pages
    may lie in other domains than their threads, and be reached by a link. `hardware_threads`:
    threads of one core share it. `turbo`: a core's clock follows how many are at work.
    `kept_sums`: what a compiler cannot keep in a register is stored on each iteration.
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
