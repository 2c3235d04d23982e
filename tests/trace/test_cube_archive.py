"""A CUBE4 archive: its parts as another reader takes them, and the sums of its metrics."""

from __future__ import annotations

import struct
import tarfile
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.export.cube_archive import cube_archive
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.results import delay_costs, wait_states

pytestmark = pytest.mark.compiler


def test_an_archive_has_what_the_results_have(tmp_path: Path) -> None:
    """Rank 1 waits 3 s in `solve<int>` for rank 0."""
    build = TraceBuilder(2)
    for rank, work in enumerate((5, 2)):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "solve<int> & more")
        call = "MPI_Recv" if rank else "MPI_Send"
        build.enter(rank, work, call)
        build.receive(1, 5, 0, size=8) if rank else build.send(0, 5, 1, size=8)
        build.leave(rank, 5)
        build.leave(rank, 6)
        build.leave(rank, 7 + rank)
    analysis = analyse(build.build("two"), Kernels(("cc",), tmp_path))
    results = [wait_states(analysis), delay_costs(analysis)]
    with tarfile.open(fileobj=BytesIO(cube_archive(analysis, results))) as archive:
        parts = {member.name: archive.extractfile(member) for member in archive}
        data = {name: part.read() for name, part in parts.items() if part is not None}
    anchor = ET.fromstring(data["anchor.xml"])
    regions = {r.get("id"): r.findtext("name") for r in anchor.iterfind("program/region")}
    nodes = [regions[node.get("calleeId")] for node in anchor.iterfind("program//cnode")]
    assert nodes == ["main", "solve<int> & more", "MPI_Send", "MPI_Recv"]
    assert [place.get("Id") for place in anchor.iterfind("system//location")] == ["0", "1"]
    values: dict[str, dict[str, list[float]]] = {}
    for metric in anchor.iterfind("metrics/metric"):
        number = metric.get("id")
        index, table = data[f"{number}.index"], data[f"{number}.data"]
        head, count = index[:11], struct.unpack_from("<ihbi", index, 11)
        assert (head, count[0], len(index)) == (b"CUBEX.INDEX", 1, 22 + 4 * count[3])
        rows = np.frombuffer(index[22:], dtype="<i4")
        assert table.startswith(b"CUBEX.DATA")
        cells = np.frombuffer(table[10:], dtype="<f8").reshape(len(rows), 2)
        name = metric.findtext("uniq_name") or ""
        values[name] = {nodes[r]: c.tolist() for r, c in zip(rows, cells, strict=True)}
    assert values["time"]["main"] == [1, 2]
    assert values["time"]["solve<int> & more"] == [6, 3]
    assert values["visits"]["MPI_Recv"] == [0, 1]
    assert values["late_sender"] == {"MPI_Recv": [0, 3]}
    assert values["delay_short_late_sender"] == {"solve<int> & more": [3, 0]}
    assert "wait_nxn" not in values
