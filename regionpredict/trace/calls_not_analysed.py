"""Lists the MPI calls that the analyses of a trace do not support."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from regionpredict.trace.event_trace import EventTrace, Finding, Kind, Paradigm, Role
from regionpredict.trace.matching import Matches
from regionpredict.trace.mpi_regions import carriers_of, is_analysed, plain_name
from regionpredict.trace.probes import probes_of


def calls_not_analysed(
    trace: EventTrace, matches: Matches | None = None, replayed: bool = False
) -> dict[str, int]:
    """Returns the number of calls of each MPI function that is not analyzed, the most frequent
    function first.

    A function is analyzed if the trace contains its messages or non-blocking collective operations,
    or if other calls have recorded them instead. With `matches`, calls of MPI_Probe whose message
    is known are analyzed, too. With `replayed`, all-to-alls of varying sizes count as analyzed,
    since a replay supports them.
    """
    left_out = [
        number for number, region in enumerate(trace.regions)
        if region.paradigm is Paradigm.MPI and not is_analysed(region.name, replayed)
    ]  # fmt: skip
    if not left_out:
        return {}
    changes = np.flatnonzero((trace.kind == Kind.ENTER) | (trace.kind == Kind.LEAVE))
    entered = trace.region[changes][trace.kind[changes] == Kind.ENTER]
    calls = np.bincount(entered[entered >= 0], minlength=len(trace.regions))
    if matches is not None:
        probed = trace.region[probes_of(trace, matches).enter]
        calls -= np.bincount(probed, minlength=len(trace.regions))
    kind = trace.kind[trace.operations.event]
    messages = np.isin(kind, (Kind.SEND, Kind.SEND_REQUEST, Kind.RECEIVE, Kind.RECEIVE_REQUEST))
    if not replayed:  # a replay does not support operations that another call completes
        messages |= kind == Kind.COLLECTIVE_REQUEST
    around = np.searchsorted(changes, trace.operations.event) - 1
    inside = trace.region[changes[around]] if len(changes) else around
    one_sided = np.array([region.role is Role.ONE_SIDED for region in trace.regions] + [False])
    messages |= (kind == Kind.COLLECTIVE_END) & one_sided[inside]  # a fence
    sending = set(inside[messages & (around >= 0)].tolist())
    carriers = {plain_name(trace.regions[number].name) for number in sending}
    counts = {
        trace.regions[number].name: int(calls[number])
        for number in left_out
        if calls[number]
        and number not in sending
        and not _is_carried(trace.regions[number].name, carriers)
    }
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _is_carried(name: str, carriers: Collection[str]) -> bool:
    wanted = carriers_of(name)
    return wanted is not None and any(map(wanted.fullmatch, carriers))


def note_of(calls: Mapping[str, int]) -> tuple[Finding, ...]:
    """Returns one finding with the names of all these functions. The result is empty if there are
    none.
    """
    if not calls:
        return ()
    listed = ", ".join(f"{name} ({count})" for name, count in calls.items())
    return (Finding(f"calls that are not analyzed, with their number: {listed}"),)
