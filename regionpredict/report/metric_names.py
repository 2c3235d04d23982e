"""Maps the metrics of a trace to names in text. JSON and CSV have the metrics themselves."""

from __future__ import annotations

from regionpredict.trace.wait_classes import Wait

WAITS = {
    Wait.LATE_SENDER: "late sender",
    Wait.LATE_RECEIVER: "late receiver",
    Wait.LATE_BROADCAST: "late broadcast",
    Wait.EARLY_REDUCE: "early reduce",
    Wait.WAIT_NXN: "N x N",
    Wait.WAIT_BARRIER: "barrier",
    Wait.OMP_EXPLICIT_BARRIER: "OpenMP explicit",
    Wait.OMP_IMPLICIT_BARRIER: "OpenMP implicit",
    Wait.WAIT_FINALIZE: "finalize",
    Wait.EARLY_SCAN: "early scan",
    Wait.INIT_COMPLETION: "init completion",
}
"""Short names of wait states, for narrow columns."""
_METRICS = {
    **{wait.metric: name for wait, name in WAITS.items()},
    "wait_nxn": "wait at N x N",
    "wait_barrier": "wait at barrier",
    "wait_finalize": "wait at finalize",
    "omp_explicit_barrier": "OpenMP barrier",
    "omp_implicit_barrier": "implicit OpenMP barrier",
    "nxn_completion": "N x N completion",
    "barrier_completion": "barrier completion",
    "late_sender_wo": "late sender, wrong order",
    "lswo_same": "wrong order, same source",
    "lswo_different": "wrong order, other source",
    "time": "time, inclusive",
    "visits": "visits",
    "comms_send": "messages sent",
    "comms_recv": "messages received",
    "bytes_sent": "bytes sent",
    "bytes_rcvd": "bytes received",
    "syncs_send": "empty messages sent",
    "syncs_recv": "empty messages received",
    "critical_path": "critical path",
    "path_activities": "activities also on the path",
    "off_path_activities": "activities never on the path",
    "critical_imbalance": "critical imbalance",
    "impact_imbalance": "impact of imbalance",
    "impact_intra": "impact within call paths",
    "impact_inter": "impact between call paths",
}
_GROUPS = {
    "delay_short": "short-term delay",
    "delay_long": "long-term delay",
    "wait_direct": "direct wait",
    "wait_indirect": "indirect wait",
    "wait_propagating": "propagating wait",
    "wait_terminal": "terminal wait",
    "instances": "instances",
}


def metric_name(metric: str) -> str:
    """Returns the name of a metric in text and on pages. Counters keep their names.

    >>> metric_name("delay_short.late_sender"), metric_name("wait_nxn"), metric_name("PAPI_TOT_INS")
    ('short-term delay: late sender', 'wait at N x N', 'PAPI_TOT_INS')
    """
    group, _, wait = metric.partition(".")
    if group in _GROUPS:
        return f"{_GROUPS[group]}: {wait_name(wait)}" if wait else _GROUPS[group]
    return _METRICS.get(metric, metric)


def wait_name(metric: str) -> str:
    """Returns the short name of a wait state's metric.

    >>> wait_name("wait_nxn")
    'N x N'
    """
    return next((name for wait, name in WAITS.items() if wait.metric == metric), metric)
