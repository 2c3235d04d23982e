"""`factors_with` computes the factors of a run for a selected phase, with options such as the
network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regionpredict.errors import InputError, UsageError
from regionpredict.trace.event_slices import cut_trace
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.factors import Initialized, RunFactors, run_factors
from regionpredict.trace.iterations import iterations_of
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches, match_operations
from regionpredict.trace.nominal_run import nominal_work
from regionpredict.trace.replay import EAGER_LIMIT, IDEAL, Network
from regionpredict.trace.run_part import (
    RunPart,
    initialized_part,
    part_of_call_path,
    part_of_region,
)
from regionpredict.trace.selection import Selection, select_part

PHASES = ("whole", "initialized", "iterations", "clean")
"""The names of phases that every run may have. Any other phase is the name of a region."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options for the factors of a run. `definition` is the definition of Ser, and `ideal` the
    ideal network. `nominal` is a network that replaces the real one, or None. With `frequency_hz`,
    computation takes its number of cycles divided by this frequency. `phase` is one of `PHASES` or
    a region. `mark` is the region that starts an iteration.
    """

    definition: str = "reference"
    ideal: Network = IDEAL
    nominal: Network | None = None
    frequency_hz: float | None = None
    phase: str = "whole"
    mark: str | None = None
    selection: Selection | None = None

    @staticmethod
    def of(
        *,
        definition: str,
        eager_limit: float | None,
        latency_s: float | None,
        bandwidth: float | None,
        overhead_s: float | None,
        frequency_hz: float | None,
        phase: str,
        mark: str | None,
        selection: Selection | None = None,
    ) -> RunOptions:
        """Creates the options from those of the command line. Raises UsageError if they cannot be
        combined.
        """
        limit = EAGER_LIMIT.value if eager_limit is None else eager_limit
        nominal = None
        if any(value is not None for value in (latency_s, bandwidth, overhead_s)):
            nominal = Network(
                latency_s or 0.0,
                float("inf") if bandwidth is None else bandwidth,
                overhead_s or 0.0,
                eager_limit=limit,
            )
        if frequency_hz is not None and nominal is None:
            raise UsageError(
                "--frequency changes when messages are sent, so it needs a network",
                remedy="give --latency and --bandwidth, too",
            )
        if mark is not None and phase not in ("iterations", "clean"):
            raise UsageError("--mark is for iterations", remedy="add --phase iterations, or clean")
        if selection is not None and selection.call_path is not None and phase != "whole":
            raise UsageError(
                "--phase and --call-path cannot be combined", remedy="give one of them"
            )
        return RunOptions(
            definition, Network(eager_limit=limit), nominal, frequency_hz, phase, mark, selection
        )


def factors_with(trace: EventTrace, kernels: Kernels, options: RunOptions) -> RunFactors:
    """Computes the factors of one run. Raises the same errors as `run_factors`, `iterations_of`,
    `nominal_work` and the functions for parts of a run.
    """
    trace, matches = _select_part(trace, kernels, options.selection)
    part, iterations = None, None
    if options.selection is not None and options.selection.call_path is not None:
        part = part_of_call_path(trace, options.selection.call_path, kernels)
    elif options.phase == "initialized":
        part = _require_initialized_part(trace)
    elif options.phase in ("iterations", "clean"):
        iterations = iterations_of(trace, options.mark)
        first, last = (
            iterations.cleanest_range() if options.phase == "clean" else (0, iterations.count)
        )
        trace, matches = cut_trace(
            trace, matches, iterations.bounds[:, first], iterations.bounds[:, last]
        )
    elif options.phase != "whole":
        part = part_of_region(trace, options.phase)
    factors = _factors_of_part(trace, matches, kernels, options, part)
    if options.phase == "whole" and part is None:
        inner = _factors_when_initialized(trace, matches, kernels, options, factors)
        factors = replace(factors, initialized=inner)
    return factors if iterations is None else replace(factors, iterations=iterations)


def _select_part(
    trace: EventTrace, kernels: Kernels, selection: Selection | None
) -> tuple[EventTrace, Matches]:
    """Returns the part of the trace with the selected ranks and time span."""
    matches = match_operations(trace, kernels)
    if selection is None:
        return trace, matches
    return select_part(trace, matches, replace(selection, call_path=None), kernels)


def _require_initialized_part(trace: EventTrace) -> RunPart:
    part = initialized_part(trace)
    if part is None:
        raise InputError(
            f"{trace.name}: there is nothing between MPI_Init and MPI_Finalize",
            remedy="take the whole run",
        )
    return part


def _factors_of_part(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    options: RunOptions,
    part: RunPart | None,
    eager_points: bool = True,
) -> RunFactors:
    trace = trace if part is None else part.trace
    work = None if options.frequency_hz is None else nominal_work(trace, options.frequency_hz)
    return run_factors(
        trace,
        matches,
        kernels,
        definition=options.definition,
        network=options.ideal,
        nominal=options.nominal,
        work=work,
        inside=None if part is None else part.inside,
        eager_points=eager_points,
    )


def _factors_when_initialized(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    options: RunOptions,
    whole: RunFactors,
) -> Initialized | None:
    """Returns the factors between MPI_Init and MPI_Finalize, or None without computation between
    them.
    """
    part = initialized_part(trace)
    if part is None:
        return None
    try:
        inner = _factors_of_part(trace, matches, kernels, options, part, eager_points=False)
    except InputError:
        return None
    assert inner.serialisation is not None and inner.transfer is not None  # of a trace
    return Initialized(
        useful_s=inner.useful_s,
        left_out=max(1 - inner.runtime_s / whole.runtime_s, 0.0),
        load_balance=inner.load_balance,
        serialisation=inner.serialisation,
        transfer=inner.transfer,
    )
