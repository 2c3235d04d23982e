"""How a program has to be run for its hints to hold: where pages lie, how threads are bound.

{"pages": "interleave", "binding": "close", "runtime": null}
"""

from __future__ import annotations

from typing import Any, NamedTuple

from regionpredict.machine import Machine

FIRST_TOUCH = "first-touch"
INTERLEAVE = "interleave"


class RunSettings(NamedTuple):
    """`pages`: 'first-touch', 'interleave' or a domain's number; `binding`: 'close', 'spread'
    or 'caches';
    `runtime`: 'gcc', 'llvm', or None where none was named.
    """

    pages: str | int = FIRST_TOUCH
    binding: str = "close"
    runtime: str | None = None

    @property
    def proc_bind(self) -> str:
        """OMP_PROC_BIND, as clauses have it: over caches first by the order of OMP_PLACES."""
        return "close" if self.binding == "caches" else self.binding

    @property
    def numactl(self) -> str:
        """The words of numactl's command line that place pages so, with a space; else nothing."""
        if self.pages == INTERLEAVE:
            return "numactl --interleave=all "
        return f"numactl --membind={self.pages} " if isinstance(self.pages, int) else ""


AS_USUAL = RunSettings()


def run_settings(machine: Machine, pages: str | int) -> RunSettings:
    """The settings of predictions for this machine, with pages that lie so."""
    return RunSettings(pages, machine.binding, machine.runtime)


def settings_document(run: RunSettings) -> dict[str, Any]:
    """The entry `run` of the hints."""
    return run._asdict()


def settings_sentences(run: RunSettings) -> list[str]:
    """What is not as usual, a sentence each."""
    sentences = []
    if run.pages == INTERLEAVE:
        sentences.append("Pages interleaved: run with numactl --interleave=all")
    elif isinstance(run.pages, int):
        sentences.append(f"Pages in domain {run.pages}: run with numactl --membind={run.pages}")
    if run.binding == "caches":
        sentences.append("One thread per L2 cache first: list such cores first in OMP_PLACES")
    elif run.binding != "close":
        sentences.append(f"Threads spread over packages: run with OMP_PROC_BIND={run.binding}")
    if run.runtime is not None:
        sentences.append(f"OpenMP costs: those of the {run.runtime} runtime")
    return sentences
