"""Classifies MPI functions by name (MPI 4.0), for traces that record only names."""

from __future__ import annotations

import re
from enum import IntEnum

from regionpredict.trace.event_trace import Collective, Role


class Call(IntEnum):
    """The class of an MPI call in the wait-state analysis."""

    OTHER = 0
    INIT = 1
    FINALIZE = 2
    WAIT = 3
    TEST = 4
    BLOCKING_SEND = 5  # standard or synchronous; buffered and ready sends do not wait
    PROBE = 6


_CALLS = {
    "init": Call.INIT,
    "init_thread": Call.INIT,
    "finalize": Call.FINALIZE,
    "wait": Call.WAIT,
    "waitany": Call.WAIT,
    "waitall": Call.WAIT,
    "waitsome": Call.WAIT,
    "win_start": Call.WAIT,
    "win_complete": Call.WAIT,
    "win_wait": Call.WAIT,
    "win_test": Call.TEST,
    "win_lock": Call.WAIT,
    "win_lock_all": Call.WAIT,
    "win_unlock": Call.WAIT,
    "win_unlock_all": Call.WAIT,
    "improbe": Call.TEST,
    "probe": Call.PROBE,
    "neighbor_allgather": Call.WAIT,
    "neighbor_allgatherv": Call.WAIT,
    "neighbor_alltoall": Call.WAIT,
    "neighbor_alltoallv": Call.WAIT,
    "neighbor_alltoallw": Call.WAIT,
    "test": Call.TEST,
    "testany": Call.TEST,
    "testall": Call.TEST,
    "testsome": Call.TEST,
    "send": Call.BLOCKING_SEND,
    "ssend": Call.BLOCKING_SEND,
}
_COLLECTIVES = {
    "barrier": Collective.BARRIER,
    "bcast": Collective.BCAST,
    "gather": Collective.GATHER,
    "gatherv": Collective.GATHERV,
    "scatter": Collective.SCATTER,
    "scatterv": Collective.SCATTERV,
    "allgather": Collective.ALLGATHER,
    "allgatherv": Collective.ALLGATHERV,
    "alltoall": Collective.ALLTOALL,
    "alltoallv": Collective.ALLTOALLV,
    "alltoallw": Collective.ALLTOALLW,
    "allreduce": Collective.ALLREDUCE,
    "reduce": Collective.REDUCE,
    "reduce_scatter": Collective.REDUCE_SCATTER,
    "reduce_scatter_block": Collective.REDUCE_SCATTER_BLOCK,
    "scan": Collective.SCAN,
    "exscan": Collective.EXSCAN,
}
_POINT_TO_POINT = re.compile(
    r"mpi_(i?[bsr]?send|p?send_init|[bsr]send_init|i?recv|p?recv_init|i?sendrecv(_replace)?|"
    r"pready(_range|_list)?|parrived|"
    r"i?m?probe|i?mrecv|start(all)?|wait(all|any|some)?|test(all|any|some)?|request_free|cancel)"
)
_ONE_SIDED = re.compile(
    r"mpi_(win_.*|r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_.*)"
)
_LEFT_OUT = re.compile(
    r"mpi_(i?neighbor_.*|p(send|recv)_init|pready.*|parrived|start(all)?|"
    r"i?m?probe|isendrecv(_replace)?|file_.*|r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|"
    r"win_(fence|start|complete|post|wait|test|sync|(un)?lock(_all)?|flush.*))"
)
_STARTS = re.compile(r"mpi_start(all)?")
_CARRIERS = {
    r"mpi_neighbor_.*_init": _STARTS,
    r"mpi_(p(send|recv)_init|pready.*)": re.compile(r"mpi_pready.*"),
    r"mpi_win_(un)?lock(_all)?": re.compile(r"mpi_win_(un)?lock(_all)?"),
    r"mpi_win_(post|start|complete|wait|test)": re.compile(r"mpi_win_(post|start|complete|wait)"),
}
_VARYING = (Collective.ALLTOALLV, Collective.ALLTOALLW)  # traces do not show who waits for whom


def plain_name(name: str) -> str:
    """Returns the C name of an MPI function in lower case, without suffixes of Fortran bindings.

    >>> plain_name("MPI_SEND_"), plain_name("MPI_Send"), plain_name("mpi_send_f08_")
    ('mpi_send', 'mpi_send', 'mpi_send')
    """
    return re.sub(r"(_f08)?_*$", "", name.lower())


def collective_of(name: str) -> Collective:
    """Returns the collective operation of a blocking or non-blocking MPI function. UNKNOWN if the
    function is not collective.

    >>> collective_of("MPI_Iallreduce").name, collective_of("MPI_Send").name
    ('ALLREDUCE', 'UNKNOWN')
    """
    rest = plain_name(name).removeprefix("mpi_")
    collective = _COLLECTIVES.get(rest)
    if collective is None and rest.startswith("i"):
        collective = _COLLECTIVES.get(rest[1:])
    return Collective.UNKNOWN if collective is None else collective


def is_analysed(name: str, replayed: bool = False) -> bool:
    """Returns whether the analyses support an MPI function, or can ignore it.

    Without records of their messages, the analyses omit non-blocking, persistent and neighborhood
    collectives, persistent and partitioned requests, probes and one-sided communication. Only a
    replay supports MPI_Alltoallv and MPI_Alltoallw.

    >>> is_analysed("MPI_Iallreduce"), is_analysed("MPI_Allreduce"), is_analysed("MPI_Comm_rank")
    (False, True, True)
    """
    plain = plain_name(name)
    collective = collective_of(name)
    if collective in _VARYING and not replayed:
        return False
    if plain.startswith("mpi_i") and collective is not Collective.UNKNOWN:
        return False
    if plain.endswith("_init") and collective_of(plain[:-5]) is not Collective.UNKNOWN:
        return False
    return _LEFT_OUT.fullmatch(plain) is None


def carriers_of(name: str) -> re.Pattern[str] | None:
    """Returns a pattern of the calls in which the messages or operations of this call are recorded.
    None for most calls.

    >>> bool(carriers_of("MPI_Psend_init").fullmatch("mpi_pready")), carriers_of("MPI_Send")
    (True, None)
    """
    plain = plain_name(name)
    if plain.endswith("_init") and collective_of(plain[:-5]) is not Collective.UNKNOWN:
        return _STARTS
    return next((found for names, found in _CARRIERS.items() if re.fullmatch(names, plain)), None)


def mpi_role(name: str) -> Role | None:
    """Returns the role of an MPI function, or None for other names.

    >>> mpi_role("MPI_Waitall").name, mpi_role("MPI_Comm_rank").name, mpi_role("main")
    ('POINT_TO_POINT', 'OTHER', None)
    """
    plain = plain_name(name)
    if not plain.startswith("mpi_"):
        return None
    if collective_of(name) is not Collective.UNKNOWN:
        return Role.COLLECTIVE
    if _POINT_TO_POINT.fullmatch(plain):
        return Role.POINT_TO_POINT
    return Role.ONE_SIDED if _ONE_SIDED.fullmatch(plain) else Role.OTHER


def call_of(name: str) -> Call:
    """Returns the class of an MPI function in the wait-state analysis.

    >>> call_of("MPI_Waitall").name, call_of("MPI_Sendrecv").name, call_of("main").name
    ('WAIT', 'OTHER', 'OTHER')
    """
    plain = plain_name(name)
    return _CALLS.get(plain[4:], Call.OTHER) if plain.startswith("mpi_") else Call.OTHER
