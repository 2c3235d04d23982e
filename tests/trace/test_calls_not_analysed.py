"""Calls of MPI that no analysis covers are named with their number."""

from __future__ import annotations

import pytest

from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.calls_not_analysed import calls_not_analysed
from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.mpi_regions import is_analysed


def _calls(*names: str) -> TraceBuilder:
    build = TraceBuilder(1)
    build.enter(0, 0, "main")
    for at, name in enumerate(names, 1):
        build.enter(0, at, name)
        build.leave(0, at + 0.5)
    return build


def test_one_note_names_all_with_their_number(kernels: Kernels) -> None:
    build = _calls("MPI_Put", *["MPI_Iallreduce"] * 3, "MPI_Wait", "MPI_Comm_rank")
    build.leave(0, 9)
    analysis = analyse(build.build(), kernels)
    assert dict(analysis.not_analysed) == {"MPI_Iallreduce": 3, "MPI_Put": 1}
    assert [str(finding) for finding in analysis.findings] == [
        "calls that are not analyzed, with their number: MPI_Iallreduce (3), MPI_Put (1)"
    ]


def test_factors_name_them_too(kernels: Kernels) -> None:
    build = _calls("MPI_Ibarrier", "MPI_Alltoallv")
    build.leave(0, 9)
    trace = build.build()
    factors = run_factors(trace, match_operations(trace, kernels), kernels)
    assert dict(factors.not_analysed) == {"MPI_Ibarrier": 1}
    assert any("MPI_Ibarrier (1)" in note for note in factors.notes)


def test_persistent_requests_are_analysed_where_their_messages_are_there() -> None:
    build = _calls("MPI_Send_init", "MPI_Start", "MPI_Startall")
    build.enter(0, 5, "MPI_Start")
    build.send_request(0, 5, 0, request=1)
    build.leave(0, 6)
    build.leave(0, 9)
    assert calls_not_analysed(build.build()) == {"MPI_Startall": 1}


@pytest.mark.parametrize(
    "name",
    ["MPI_Ibcast", "MPI_Allreduce_init", "MPI_Neighbor_alltoall", "MPI_Ineighbor_allgatherv",
     "MPI_Psend_init", "MPI_Pready_range", "MPI_Win_fence", "MPI_Win_unlock_all", "MPI_Rget",
     "mpi_fetch_and_op_", "MPI_Startall", "MPI_Probe", "MPI_Alltoallw"],
)  # fmt: skip
def test_functions_that_are_left_out(name: str) -> None:
    assert not is_analysed(name)


@pytest.mark.parametrize(
    "name",
    ["MPI_Init", "MPI_Isend", "MPI_Irecv", "MPI_Recv_init", "MPI_Info_get", "MPI_Win_create",
     "MPI_Barrier", "MPI_Reduce_scatter_block", "MPI_Waitall", "MPI_Initialized"],
)  # fmt: skip
def test_functions_that_are_not(name: str) -> None:
    assert is_analysed(name)
