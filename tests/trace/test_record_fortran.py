"""Recording of Fortran: its calls of MPI are those of C, with the same waits and messages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from archive_calls import archive, seconds, seconds_waited, waits_for_last, waits_for_partner
from recording import own_session

from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import delay_costs, wait_states

pytest.importorskip("otf2")
# The MPI that pip brings has no Fortran, so that of the system is taken, where it has one.
SYSTEM = os.pathsep.join(
    folder
    for folder in os.environ.get("PATH", "").split(os.pathsep)
    if Path(folder) != Path(sys.executable).parent
)
MISSING = [p for p in ("mpifort", "mpicc", "mpirun") if shutil.which(p, path=SYSTEM) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]

# Rank 0 computes for 300 ms, then all meet. It computes again, then sends to rank 1, which waits.
PROGRAM = """
program late
  use {module}
  implicit none
  integer :: rank, ranks, value(4), total(4), code, slow
  {request} :: requests(2)
  {status} :: status
  {window} :: window
  integer(MPI_ADDRESS_KIND) :: bytes
  value = 1
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  slow = 0
  if (rank == 0) slow = 300
  call work(slow)
  call MPI_Allreduce(MPI_IN_PLACE, value, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (any(value /= ranks)) call MPI_Abort(MPI_COMM_WORLD, 3, code)
  call work(slow)
  if (rank == 0) call MPI_Send(value, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, code)
  if (rank == 1) then
    call MPI_Recv(total, 4, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status, code)
    if (any(total /= ranks)) call MPI_Abort(MPI_COMM_WORLD, 4, code)
    if ({source} /= 0) call MPI_Abort(MPI_COMM_WORLD, 5, code)
  end if
  call MPI_Irecv(total, 4, MPI_INTEGER, mod(rank + ranks - 1, ranks), 8, MPI_COMM_WORLD, &
                 requests(1), code)
  call MPI_Isend(value, 4, MPI_INTEGER, mod(rank + 1, ranks), 8, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call work(slow)
  call MPI_Sendrecv_replace(value, 4, MPI_INTEGER, mod(rank + 1, ranks), 9, &
                            mod(rank + ranks - 1, ranks), 9, MPI_COMM_WORLD, status, code)
  bytes = 16
  call MPI_Win_create(total, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, code)
  call work(slow)
  call MPI_Win_fence(0, window, code)
  call MPI_Win_free(window, code)
  call MPI_Finalize(code)
contains
  subroutine work(milliseconds)
    integer, intent(in) :: milliseconds
    integer(8) :: first, now, rate
    call system_clock(first, rate)
    do
      call system_clock(now)
      if ((now - first) * 1000 >= milliseconds * rate) exit
    end do
  end subroutine
end program
"""
MODULES = {
    "mpi": {
        "request": "integer",
        "window": "integer",
        "status": "integer",
        "source": "status(MPI_SOURCE)",
    },
    "mpi_f08": {
        "request": "type(MPI_Request)",
        "window": "type(MPI_Win)",
        "status": "type(MPI_Status)",
        "source": "status%MPI_SOURCE",
    },
}


@pytest.mark.parametrize("module", MODULES)
def test_waits_of_fortran(tmp_path: Path, kernels: Kernels, module: str) -> None:
    words = dict(MODULES[module])
    if module == "mpi":
        words["status"] = "integer, dimension(MPI_STATUS_SIZE)"
    (tmp_path / "late.f90").write_text(PROGRAM.format(module=module, **words))
    environment = {
        **os.environ,
        "PATH": SYSTEM,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "MPICC": shutil.which("mpicc", path=SYSTEM) or "mpicc",
    }
    built = ["mpifort", "-g", "late.f90", "-o", "late"]
    subprocess.run(built, cwd=tmp_path, check=True, env=environment)
    run = ["mpirun", "--oversubscribe", "-n", "4", "./late"]
    with own_session(environment) as variables:
        recorded = subprocess.run(
            [sys.executable, "-m", "regionpredict", "trace", "record", "-o", "t", "--", *run],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600, env=variables,
        )  # fmt: skip
    assert recorded.returncode == 0, recorded.stderr

    folder = tmp_path / "t"
    analysis = analyse(read_otf2(folder, kernels), kernels)
    assert analysis.findings == ()
    assert len(analysis.trace.locations) == 4
    found = wait_states(analysis)
    # One message from rank 0 to 1 and two rings of four, 16 bytes each.
    assert found.totals["comms_send"] == found.totals["comms_recv"] == 9
    assert found.totals["bytes_sent"] == found.totals["bytes_rcvd"] == 9 * 16
    ranks = list(archive(folder).values())
    expected = waits_for_last([rank.named("MPI_Allreduce") for rank in ranks])
    assert sum(expected) > 0
    assert seconds_waited(analysis, "wait_nxn") == seconds(
        {(rank, 0): ticks for rank, ticks in enumerate(expected)}
    )
    late = {
        (at, 0): waits_for_partner(rank.named("MPI_Waitall"), ranks[at - 1].named("MPI_Isend"))
        + waits_for_partner(
            rank.named("MPI_Sendrecv_replace"), ranks[at - 1].named("MPI_Sendrecv_replace")
        )
        for at, rank in enumerate(ranks)
    }
    late[1, 0] += waits_for_partner(ranks[1].named("MPI_Recv"), ranks[0].named("MPI_Send"))
    assert late[1, 0] > 0
    assert seconds_waited(analysis, "late_sender") == seconds(late)
    expected = waits_for_last([rank.named("MPI_Win_fence") for rank in ranks])
    assert sum(expected) > 0
    assert seconds_waited(analysis, "wait_barrier", "/MPI_Win_fence") == seconds(
        {(rank, 0): ticks for rank, ticks in enumerate(expected)}
    )
    visits = {
        record.callpath: record.value
        for record in found.records
        if record.metric == "visits" and record.location is not None and record.location.rank == 1
    }
    for call in ("Init", "Barrier", "Allreduce", "Recv", "Irecv", "Isend", "Waitall", "Finalize"):
        assert visits[f"main/MPI_{call}"] == 1
    assert all(balance.holds for balance in delay_costs(analysis).balances)
