"""The parts of the saturation model that can be switched off, one by one: for ablations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts are on; all of them, but for experiments.

    `write_allocation`: a line that a store misses is read first. `queue`: cores that compute ask
    memory for less, so that fewer than all wait at a time. `overlap`: a core computes while it
    waits, in part; without it the two times add up. `reuse_between_runs`: data of one run of a
    region is in the caches for the next. `placement`: pages may lie in other domains than their
    threads, and be reached by a link. `hardware_threads`: threads of one core share it.
    """

    write_allocation: bool = True
    queue: bool = True
    overlap: bool = True
    reuse_between_runs: bool = True
    placement: bool = True
    hardware_threads: bool = True


ALL_PARTS = Parts()
