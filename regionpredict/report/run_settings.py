"""Defines the run settings that hints assume: page placement and thread binding.

{"pages": "interleave", "binding": "close", "runtime": null}
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.machine import BINDINGS, Machine

FIRST_TOUCH = "first-touch"
INTERLEAVE = "interleave"


class RunSettings(NamedTuple):
    """The settings of a run that a prediction assumes. `pages` is 'first-touch', 'interleave' or a
    domain's number. `binding` is 'close', 'spread', 'caches' or an OMP_PLACES. `runtime` is 'gcc',
    'llvm', or None if it is not given.
    """

    pages: str | int = FIRST_TOUCH
    binding: str = "close"
    runtime: str | None = None

    @property
    def proc_bind(self) -> str:
        """Returns the value of OMP_PROC_BIND. Other bindings use the order of OMP_PLACES."""
        return "spread" if self.binding == "spread" else "close"

    @property
    def places(self) -> str:
        """Returns OMP_PLACES. Binding by caches needs the numbers of the host instead."""
        return "cores" if self.binding in BINDINGS else self.binding

    @property
    def numactl(self) -> str:
        """Returns the numactl command of the pages with a final space, or ""."""
        if self.pages == INTERLEAVE:
            return "numactl --interleave=all "
        return f"numactl --membind={self.pages} " if isinstance(self.pages, int) else ""


DEFAULT_SETTINGS = RunSettings()


def run_settings(machine: Machine, pages: str | int) -> RunSettings:
    """Returns the settings of predictions for this machine with this page placement."""
    return RunSettings(pages, machine.binding, machine.runtime)


def settings_sentences(run: RunSettings) -> list[str]:
    """Returns one sentence for each setting that is not the default."""
    sentences = []
    if run.pages == INTERLEAVE:
        sentences.append("Pages interleaved: run with numactl --interleave=all")
    elif isinstance(run.pages, int):
        sentences.append(f"Pages in domain {run.pages}: run with numactl --membind={run.pages}")
    if run.binding == "caches":
        sentences.append("One thread per L2 cache first: list such cores first in OMP_PLACES")
    elif run.binding not in BINDINGS:
        sentences.append(f"Threads in given places: run with OMP_PLACES='{run.places}'")
    elif run.binding == "spread":
        sentences.append("Threads spread over packages: run with OMP_PROC_BIND=spread")
    if run.runtime is not None:
        sentences.append(f"OpenMP costs: those of the {run.runtime} runtime")
    return sentences
