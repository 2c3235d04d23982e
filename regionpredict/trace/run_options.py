"""`factors_with`: a run's factors, of the phase and under the conditions that were asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from regionpredict.errors import UsageError
from regionpredict.trace.event_slices import cut, with_apportioned_counters
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.factors import RunFactors, run_factors
from regionpredict.trace.iterations import iterations_of
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match
from regionpredict.trace.nominal_run import nominal_work
from regionpredict.trace.replay import EAGER_LIMIT, IDEAL, Network
from regionpredict.trace.selection import Selection, selected, span_ticks

Phase = Literal["whole", "iterations", "clean"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`definition` of Ser; the `ideal` network; the `nominal` one that replaces the real one, None
    for the run as it was; `frequency_hz` replaces the time of computation by its cycles;
    `selection` is the part of the run that counts, of which the phase is then one."""

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
        """What the command line says. Raises UsageError for what does not go together."""
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
        if mark is not None and phase == "whole":
            raise UsageError("--mark is for iterations", remedy="add --phase iterations, or clean")
        return RunOptions(
            definition, Network(eager_limit=limit), nominal, frequency_hz, phase, mark, selection
        )


def factors_with(trace: EventTrace, kernels: Kernels, options: RunOptions) -> RunFactors:
    """The factors of one run. Raises InputError as `run_factors`, `iterations_of` and
    `nominal_work` do."""
    iterations = None
    matches = match(trace, kernels)
    if options.selection is not None and options.selection.ranks is not None:
        of_ranks = replace(options.selection, time_s=None)
        trace, matches = selected(trace, matches, of_ranks, kernels)
    if options.selection is not None and options.selection.time_s is not None:
        of_time = replace(options.selection, ranks=None)
        part, matches = selected(trace, matches, of_time, kernels)
        trace = with_apportioned_counters(part, trace, span_ticks(trace, options.selection.time_s))
    if options.phase != "whole":
        iterations = iterations_of(trace, options.mark)
        first, last = iterations.cleanest() if options.phase == "clean" else (0, iterations.count)
        trace, matches = cut(
            trace, matches, iterations.bounds[:, first], iterations.bounds[:, last]
        )
    work = None if options.frequency_hz is None else nominal_work(trace, options.frequency_hz)
    factors = run_factors(
        trace,
        matches,
        kernels,
        definition=options.definition,
        network=options.ideal,
        nominal=options.nominal,
        work=work,
    )
    return factors if iterations is None else replace(factors, iterations=iterations)
