"""Computes the results of the commands `waits`, `delays` and `critical-path` from an analyzed
trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.call_paths import path_sources
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.counted_paths import counted_paths
from regionpredict.trace.event_trace import Kind
from regionpredict.trace.flat_profile import flat_profile
from regionpredict.trace.path_impact import path_impact
from regionpredict.trace.profile import Balance, Collector, TraceResult
from regionpredict.trace.severity import severity
from regionpredict.trace.wait_classes import CAUSED, NO_WAIT, PROPAGATING, Wait
from regionpredict.trace.worst_instances import worst_instances

_Table = NDArray[np.float64]


def wait_states(analysis: Analysis) -> TraceResult:
    """Computes the wait states, and a profile of the call paths with times, visits and messages.

    The metric `time` is inclusive, and hardware counters are exclusive. Metrics `comms_` count
    messages with a payload, and `syncs_` count messages without.
    """
    collector = _collector_for(analysis)
    counts = {}
    for wait in Wait:
        table, count = _wait_table(analysis, wait)
        collector.table(wait.metric, table)
        if count and wait is not Wait.INIT_COMPLETION:
            counts[wait.metric] = count
    for wait in CAUSED:
        collector.table(f"instances.{wait.metric}", _instances_by_path(analysis, wait), "")
    for metric, table, count in _misordered_table(analysis):
        collector.table(metric, table)
        if count:
            counts[metric] = count
    for metric, count in (
        ("late_sender_syncs", analysis.messages.empty_late_senders),
        ("late_receiver_syncs", analysis.messages.empty_late_receivers),
    ):
        if count:
            counts[metric] = count
    for metric, kind in (
        ("nxn_completion", Wait.WAIT_NXN),
        ("barrier_completion", Wait.WAIT_BARRIER),
    ):
        rows = np.flatnonzero((analysis.points.kind == kind) & (analysis.points.completion > 0))
        ticks = analysis.points.completion[rows].astype(np.float64)
        collector.table(metric, _seconds_by_path(analysis, rows, ticks))
    for metric, table in _waits_by_cause_and_effect(analysis).items():
        collector.table(metric, table)
    collector.table("time", analysis.paths.inclusive() / analysis.trace.ticks_per_second)
    collector.table("visits", analysis.paths.visits, "")
    release_file_memory()
    for metric, integers, unit in _message_counts(analysis):
        collector.table(metric, integers, unit)
    counted = counted_paths(analysis.trace, analysis.paths)
    for name, table in counted.items():
        collector.table(name, table, "")
    release_file_memory()
    worst = worst_instances(analysis)
    release_file_memory()
    return replace(
        collector.result(counts, [_waits_in_calls(analysis)]),
        worst=worst, severity=severity(analysis), regions=flat_profile(analysis, counted),
    )  # fmt: skip


def delay_costs(analysis: Analysis) -> TraceResult:
    """Computes the short- and long-term costs of delays, and the propagation of waits."""
    collector = _collector_for(analysis)
    per_second = analysis.trace.ticks_per_second
    for wait in CAUSED:
        collector.table(f"delay_short.{wait.metric}", analysis.replay.short_term[wait] / per_second)
        collector.table(f"delay_long.{wait.metric}", analysis.replay.long_term[wait] / per_second)
    kinds = _waits_by_cause_and_effect(analysis)
    for metric, table in kinds.items():
        collector.table(metric, table)
    instances = np.bincount(analysis.points.kind[analysis.points.wait > 0], minlength=NO_WAIT + 1)
    counts = {wait.metric: int(instances[wait]) for wait in CAUSED if instances[wait]}
    return collector.result(counts, (*_delay_balances(analysis), *_kind_balances(analysis, kinds)))


def critical_path(analysis: Analysis) -> TraceResult:
    """Computes the critical path, and the cost of imbalance on it (Boehme 2014, chapter 5)."""
    collector = _collector_for(analysis)
    release_file_memory()
    impact = path_impact(analysis)
    for metric, table in (
        ("critical_path", impact.path),
        ("path_activities", impact.activities),
        ("off_path_activities", impact.off_path),
        ("impact_imbalance", impact.imbalance),
        ("impact_intra", impact.intra),
        ("impact_inter", impact.inter),
    ):
        collector.table(metric, table)
    collector.whole("critical_imbalance", impact.indicator)
    replay = analysis.replay
    per_second = analysis.trace.ticks_per_second
    length = float(replay.path.sum()) / per_second
    between = gaps = 0.0
    if len(replay.segment_from):
        between = float(replay.segment_to[-1] - replay.segment_from[0]) / per_second
        gaps = float((replay.segment_from[1:] - replay.segment_to[:-1]).sum()) / per_second
    used = float(impact.activities.sum() + impact.off_path.sum() + impact.imbalance.sum())
    share = impact.share
    busy, waited, absent = (
        float(ticks.sum()) / per_second for ticks in (share.busy, share.waited, share.absent)
    )
    outside = float(impact.activities.sum() + impact.off_path.sum()) - busy
    balances = (
        Balance(
            "path = from its start to its end",
            length + gaps,
            between,
            {"between entering calls and the start of their operations": gaps},
        ),
        Balance(
            "activities on and off the path + imbalance = locations x length",
            used,
            len(analysis.trace.locations) * length + outside,
            {"of locations before the path begins and after it ends": outside},
        ),
        Balance(
            "imbalance = waits and time outside all regions during the path",
            float(impact.imbalance.sum()),
            waited + absent,
            {"waits": waited, "outside all regions": absent},
        ),
    )
    return collector.result({"segments": len(replay.segment_from)}, balances)


def _collector_for(analysis: Analysis) -> Collector:
    sources = path_sources(analysis.paths, analysis.names, analysis.trace.regions)
    return Collector(analysis.trace.locations, analysis.names, sources)


def _wait_table(analysis: Analysis, wait: Wait) -> tuple[_Table, int]:
    """Returns the waiting time in seconds by location and call path, and the number of waits."""
    if wait is Wait.EARLY_SCAN:
        rows = analysis.scans
    elif wait is Wait.INIT_COMPLETION:
        rows = analysis.init_completion
    else:
        points = analysis.points
        chosen = np.flatnonzero((points.kind == wait) & (points.wait > 0))
        return _seconds_by_path(analysis, chosen, points.wait[chosen].astype(np.float64)), len(
            chosen
        )
    table = np.zeros(analysis.paths.exclusive.shape)
    for location, node, ticks in rows:
        table[location, node] += ticks / analysis.trace.ticks_per_second
    return table, len(rows)


def _instances_by_path(analysis: Analysis, wait: Wait) -> NDArray[np.int64]:
    """Returns the number of waits of this kind by location and call path."""
    points = analysis.points
    chosen = np.flatnonzero((points.kind == wait) & (points.wait > 0))
    table = np.zeros(analysis.paths.exclusive.shape, dtype=np.int64)
    np.add.at(table, (points.location[chosen], points.node[chosen]), 1)
    return table


def _misordered_table(analysis: Analysis) -> list[tuple[str, _Table, int]]:
    """Returns the waits for messages received in the wrong order: all, from different sources, and
    from the same source.
    """
    records, misordered = [], analysis.messages.misordered
    for metric, chosen in (
        ("late_sender_wo", np.ones(len(misordered.wait), dtype=bool)),
        ("lswo_different", ~misordered.same),
        ("lswo_same", misordered.same),
    ):
        table = np.zeros(analysis.paths.exclusive.shape)
        place = misordered.location[chosen], misordered.node[chosen]
        np.add.at(table, place, misordered.wait[chosen] / analysis.trace.ticks_per_second)
        records.append((metric, table, int(np.count_nonzero(chosen))))
    return records


def _seconds_by_path(analysis: Analysis, rows: NDArray[np.intp], ticks: _Table) -> _Table:
    locations, nodes = analysis.paths.exclusive.shape
    points = analysis.points
    cells = points.location[rows].astype(np.int64) * nodes + points.node[rows]
    table = np.bincount(cells, ticks, minlength=locations * nodes).reshape(locations, nodes)
    scaled: _Table = table / analysis.trace.ticks_per_second
    return scaled


def _waits_by_cause_and_effect(analysis: Analysis) -> dict[str, _Table]:
    """Returns the waits by their causes and by their effects (Boehme 2014, section 4.2.6).

    Late senders and receivers are also listed separately, as in the reference tool. Their effects
    include only later waits for messages.
    """
    points, replay = analysis.points, analysis.replay
    rows = np.flatnonzero((points.wait > 0) & np.isin(points.kind, PROPAGATING))
    wait = points.wait[rows].astype(np.float64)
    indirect, onwards = replay.indirect[rows], replay.propagating[rows]
    kinds = {
        "wait_direct": _seconds_by_path(analysis, rows, np.maximum(wait - indirect, 0.0)),
        "wait_indirect": _seconds_by_path(analysis, rows, indirect),
        "wait_propagating": _seconds_by_path(analysis, rows, onwards),
        "wait_terminal": _seconds_by_path(analysis, rows, np.maximum(wait - onwards, 0.0)),
    }
    for kind in (Wait.LATE_SENDER, Wait.LATE_RECEIVER):
        mine = rows[points.kind[rows] == kind]
        ticks = points.wait[mine].astype(np.float64)
        before, by_messages = replay.indirect[mine], replay.propagating_messages[mine]
        for name, values in (
            ("direct", np.maximum(ticks - before, 0.0)),
            ("indirect", before),
            ("propagating", by_messages),
            ("terminal", np.maximum(ticks - by_messages, 0.0)),
        ):
            kinds[f"wait_{name}.{kind.metric}"] = _seconds_by_path(analysis, mine, values)
    return kinds


def _waits_in_calls(analysis: Analysis) -> Balance:
    """Compares the waits with the durations of their calls."""
    points, exclusive = analysis.points, analysis.paths.exclusive
    waited = np.zeros_like(exclusive)
    rows = points.wait > 0
    np.add.at(waited, (points.location[rows], points.node[rows]), points.wait[rows])
    within = np.minimum(waited, exclusive)
    per_second = analysis.trace.ticks_per_second
    return Balance(
        "waits = waits within the time of their calls",
        float(waited.sum()) / per_second,
        float(within.sum()) / per_second,
    )


def _kind_balances(analysis: Analysis, kinds: Mapping[str, _Table]) -> tuple[Balance, ...]:
    """Compares the sums of waits by cause, and by effect, with the sum of all waits."""
    points = analysis.points
    rows = (points.wait > 0) & np.isin(points.kind, PROPAGATING)
    wait = float(points.wait[rows].sum()) / analysis.trace.ticks_per_second
    balances = []
    for names in (("direct", "indirect"), ("propagating", "terminal")):
        parts = {name: float(kinds[f"wait_{name}"].sum()) for name in names}
        name = f"{names[0]} + {names[1]} = waits before MPI_Finalize"
        balances.append(Balance(name, sum(parts.values()), wait, parts))
    return tuple(balances)


def _delay_balances(analysis: Analysis) -> tuple[Balance, ...]:
    per_second = analysis.trace.ticks_per_second
    points, replay = analysis.points, analysis.replay
    waiting = (points.wait > 0) & (points.kind < Wait.EARLY_SCAN)
    wait = points.wait[waiting].astype(np.float64)
    explained = replay.explained[waiting]
    nothing = explained <= 0
    longer = float(np.maximum(wait - explained, 0.0)[~nothing].sum()) / per_second
    alone = float(wait[nothing].sum()) / per_second
    scans = sum(ticks for _, _, ticks in analysis.scans) / per_second
    costs = float(replay.short_term.sum() + replay.long_term.sum()) / per_second
    lost, left_out = replay.lost / per_second, replay.left_out / per_second
    attributed = float(explained.sum()) / per_second
    return (
        Balance(
            "short-term + long-term costs = waits with a cause",
            costs + lost + left_out,
            attributed,
            {
                "costs": costs,
                "costs of waits that have no cause themselves": lost,
                "costs of waits between points with members of a collective operation": left_out,
            },
        ),
        Balance(
            "waits = those with a cause + the rest",
            float(wait.sum()) / per_second + scans,
            attributed + longer + alone + scans,
            {
                "with a cause": attributed,
                "longer than the late side's additional work": longer,
                "no delay in the interval": alone,
                "early_scan, no single cause": scans,
            },
        ),
    )


def _message_counts(analysis: Analysis) -> list[tuple[str, NDArray[np.int64], str]]:
    trace, paths = analysis.trace, analysis.paths
    operations = trace.operations
    kind = trace.kind[operations.event]
    location = trace.locations_of(operations.event)
    inside = paths.operation_node >= 0
    records = []
    for direction, size_name, kinds, size in (
        ("send", "bytes_sent", (Kind.SEND, Kind.SEND_REQUEST), operations.sent),
        ("recv", "bytes_rcvd", (Kind.RECEIVE, Kind.RECEIVE_COMPLETE), operations.received),
    ):
        chosen = np.isin(kind, kinds) & inside
        ones = np.ones_like(size)
        for metric, rows, values, unit in (
            (f"comms_{direction}", chosen & (size > 0), ones, ""),
            (f"syncs_{direction}", chosen & (size <= 0), ones, ""),
            (size_name, chosen, size, "B"),
        ):
            table = np.zeros(paths.exclusive.shape, dtype=np.int64)
            np.add.at(table, (location[rows], paths.operation_node[rows]), values[rows])
            records.append((metric, table, unit))
    return records
