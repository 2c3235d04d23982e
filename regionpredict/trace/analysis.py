"""The analyses of a trace: wait states, delay costs and the critical path as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.call_paths import CallPaths, call_paths, path_names
from regionpredict.trace.calls_not_analysed import calls_not_analysed, note_of
from regionpredict.trace.clock_conditions import Violations, clock_conditions, violations
from regionpredict.trace.clock_correction import correct_clocks_of
from regionpredict.trace.collective_table import collective_table
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.cost_replay import CostReplay, cost_replay
from regionpredict.trace.event_trace import EventTrace, Finding, Kind
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches, match_operations
from regionpredict.trace.message_waits import MessageWaits
from regionpredict.trace.sync_points import SyncPoints, point_rows, sorted_points
from regionpredict.trace.team_waits import team_waits
from regionpredict.trace.wait_classes import NO_WAIT
from regionpredict.trace.wait_search import found_waits
from regionpredict.trace.whole_run import with_whole_run


@dataclass(frozen=True, slots=True)
class Analysis:
    """A trace with a region around each rank's run, and its results.

    `names` are the names of call paths by node. `scans` and `init_completion` are rows (location,
    node, ticks) of waits without a synchronization point. `messages` are late senders whose
    messages were received in the wrong order. `findings` has all findings, the reader's first.
    `clock_violations` are those of the recorded times. `not_analysed` has the number of calls that
    the analysis leaves out, by name.
    """

    trace: EventTrace
    paths: CallPaths
    names: tuple[str, ...]
    matches: Matches
    points: SyncPoints
    scans: tuple[tuple[int, int, int], ...]
    init_completion: tuple[tuple[int, int, int], ...]
    messages: MessageWaits
    replay: CostReplay
    findings: tuple[Finding, ...]
    clock_violations: tuple[Violations, ...] = ()
    not_analysed: Mapping[str, int] = field(default_factory=dict)

    def wait_begins(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The starts of the waits in these rows of `points`, in ticks. A wait starts with its
        call.
        """
        enters = np.flatnonzero(self.trace.kind == Kind.ENTER)
        call = np.searchsorted(enters, self.points.event[rows], side="right") - 1
        return self.trace.time[enters[call]]

    def waiting_points(self) -> NDArray[np.int64]:
        """Returns the rows of `points` that are waits."""
        return np.flatnonzero((self.points.wait > 0) & (self.points.kind != NO_WAIT))

    def message_ends(self) -> NDArray[np.int64]:
        """Returns a row per received message: the location and tick of its send and of its
        receive.
        """
        trace, mate = self.trace, self.matches.mate
        events = trace.operations.event
        kinds = trace.kind[events]
        sends = np.flatnonzero(((kinds == Kind.SEND) | (kinds == Kind.SEND_REQUEST)) & (mate >= 0))
        ends = np.stack([trace.locations_of(events), trace.time[events]], axis=1)
        return np.concatenate([ends[sends], ends[mate[sends]]], axis=1)

    def path_pieces(self) -> list[tuple[int, int, int]]:
        """Returns the segments of the critical path as (location, start, end), in ticks."""
        replay = self.replay
        return list(zip(replay.segment_location.tolist(), replay.segment_from.tolist(),
                        replay.segment_to.tolist(), strict=True))  # fmt: skip


def analyse(
    trace: EventTrace,
    kernels: Kernels,
    matches: Matches | None = None,
    correct_clocks: bool = False,
    processes: int = 1,
) -> Analysis:
    """Computes wait states, their costs, and the critical path of a trace.

    `matches` are computed if they are None. With `correct_clocks`, times that contradict cause and
    effect are corrected first. Waits are searched by up to `processes` processes. Raises InputError
    if a C file cannot be compiled or memory is insufficient.
    """
    trace = with_whole_run(trace)
    release_file_memory()
    paths = call_paths(trace, kernels)
    release_file_memory()
    if matches is None:
        matches = match_operations(trace, kernels)
        release_file_memory()
    waits_found = found_waits(trace, paths, matches, kernels, processes)
    violated, clock_findings = violations(trace, waits_found.late)
    if correct_clocks and violated:
        conditions = clock_conditions(trace, matches, collective_table(trace, paths, matches))
        trace = correct_clocks_of(trace, conditions.values(), kernels)
        del conditions
        paths = call_paths(trace, kernels)
        waits_found = found_waits(trace, paths, matches, kernels, processes)
    messages, collectives = waits_found.messages, waits_found.collectives
    del waits_found
    teams, team_findings = team_waits(trace, paths)
    nothing = np.zeros(0, dtype=np.int64)
    points = sorted_points(
        [
            point_rows(nothing, nothing.astype(np.int32), nothing.astype(np.int32), nothing),
            *messages.points,
            *collectives.points,
            *teams,
        ],
        collectives.groups,
        (),
        len(trace),
    )
    # The points are now in `points`, so other references are dropped to free memory for the replay.
    messages, collectives, teams = replace(messages, points=()), replace(collectives, points=()), []
    release_file_memory()
    replayed = cost_replay(trace, paths, points, kernels)
    release_file_memory()
    left_out = calls_not_analysed(trace, matches)
    findings: Sequence[Finding] = [
        *trace.findings,
        *matches.findings,
        *clock_findings,
        *collectives.findings,
        *team_findings,
        *note_of(left_out),
    ]
    if replayed.unordered:
        findings = [
            *findings,
            Finding("waits whose times contradict the messages", count=replayed.unordered),
        ]
    return Analysis(
        trace=trace,
        paths=paths,
        names=path_names(paths, trace.regions),
        matches=matches,
        points=points,
        scans=collectives.scans,
        init_completion=collectives.init_completion,
        messages=messages,
        replay=replayed,
        findings=tuple(findings),
        clock_violations=violated,
        not_analysed=left_out,
    )
