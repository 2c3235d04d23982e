"""OTF2 archives: what is read is what was written; what is damaged is a finding."""

from __future__ import annotations

import os
import shutil
import tracemalloc
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from regionpredict.errors import InputError
from regionpredict.trace import Finding, Kind, Paradigm
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_definitions import read_definitions
from regionpredict.trace.otf2_reader import (
    assemble_trace,
    number_regions,
    operations_of,
    read_events,
    read_otf2,
)

otf2 = pytest.importorskip("otf2")
import _otf2  # noqa: E402
from archives import write_archive  # noqa: E402

KINDS = {
    "Enter": Kind.ENTER,
    "Leave": Kind.LEAVE,
    "MpiIsend": Kind.SEND_REQUEST,
    "MpiIsendComplete": Kind.SEND_COMPLETE,
    "MpiIrecvRequest": Kind.RECEIVE_REQUEST,
    "MpiIrecv": Kind.RECEIVE_COMPLETE,
    "MpiCollectiveBegin": Kind.COLLECTIVE_BEGIN,
    "MpiCollectiveEnd": Kind.COLLECTIVE_END,
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("otf2") / "ring", 3, 40)


def test_events_are_those_that_the_package_reads(archive: Path, kernels: Kernels) -> None:
    trace = read_otf2(archive, kernels)
    with otf2.reader.open(str(archive)) as other:
        expected: list[list[tuple[int, int, str]]] = [[], [], []]
        places = list(other.definitions.locations)
        for location, event in other.events:
            region = getattr(event, "region", None)
            name = region.name if region is not None else ""
            row = (event.time, int(KINDS[type(event).__name__]), name)
            expected[places.index(location)].append(row)
    first = min(rows[0][0] for rows in expected)
    for at, rows in enumerate(expected):
        part = slice(int(trace.starts[at]), int(trace.starts[at + 1]))
        assert [time - first for time, _, _ in rows] == trace.time[part].tolist()
        assert [kind for _, kind, _ in rows] == trace.kind[part].tolist()
        names = [trace.regions[at].name if at >= 0 else "" for at in trace.region[part].tolist()]
        assert [name for _, _, name in rows] == names
    sends = trace.kind[trace.operations.event] == Kind.SEND_REQUEST
    assert set(trace.operations.sent[sends].tolist()) == {8192}
    assert trace.operations.partner[sends][:1].tolist() == [1]
    assert trace.findings == ()
    assert analyse(trace, kernels).findings == ()


def test_sub_communicators_have_world_ranks(tmp_path: Path, kernels: Kernels) -> None:
    """Ranks 1 and 3 of four have a communicator of their own; 3 is its rank 1."""
    from otf2.enums import GroupFlag, GroupType
    from otf2.enums import Paradigm as Api

    with otf2.writer.open(str(tmp_path / "sub"), timer_resolution=1000) as writer:
        define = writer.definitions
        node = define.system_tree_node("node")
        places = [
            define.location("t", group=define.location_group(f"r{at}", system_tree_parent=node))
            for at in range(4)
        ]
        call = define.region("MPI_Send", paradigm=Api.MPI, source_file="MPI")
        define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Api.MPI,
                     group_flags=GroupFlag.NONE, members=places)  # fmt: skip
        pair = define.group("", group_type=GroupType.COMM_GROUP, paradigm=Api.MPI,
                            group_flags=GroupFlag.NONE, members=[places[1], places[3]])  # fmt: skip
        comm = define.comm("pair", group=pair)
        for at, place in enumerate(places):
            events = writer.event_writer_from_location(place)
            events.enter(10, call)
            if at == 1:
                events.mpi_send(11, 1, comm, 0, 4)
            events.leave(12, call)
    trace = read_otf2(tmp_path / "sub", kernels)
    assert trace.communicators[0].members == (1, 3)
    assert trace.operations.partner.tolist() == [3]
    assert [region.paradigm for region in trace.regions] == [Paradigm.MPI]


def test_truncated_events_are_a_finding(archive: Path, tmp_path: Path, kernels: Kernels) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(archive.parent, folder)
    events = next((folder / "traces").glob("1.evt"))
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    trace = read_otf2(folder, kernels)
    assert any("break off" in finding.message for finding in trace.findings)
    analysis = analyse(trace, kernels)
    assert any(
        "without a" in str(finding) or "miss" in str(finding) for finding in analysis.findings
    )
    whole = read_otf2(archive, kernels)
    ends = np.diff(trace.starts)
    assert ends[0] == np.diff(whole.starts)[0]  # the other ranks are untouched


@pytest.mark.parametrize("part", [".def", "/0.def", "/0.evt"])
def test_a_pipe_is_no_part_of_an_archive(tmp_path: Path, kernels: Kernels, part: str) -> None:
    anchor = write_archive(tmp_path / "ring", 2, 3)
    path = Path(f"{anchor.with_suffix('')}{part}")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is not a regular file; copy it or record it again"):
        read_otf2(anchor, kernels)


def test_missing_events_are_a_finding(archive: Path, tmp_path: Path, kernels: Kernels) -> None:
    folder = tmp_path / "gone"
    shutil.copytree(archive.parent, folder)
    (folder / "traces" / "2.evt").unlink()
    trace = read_otf2(folder, kernels)
    assert any("cannot be read" in finding.message for finding in trace.findings)
    analyse(trace, kernels)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_may_be_anything(archive: Path, tmp_path: Path, kernels: Kernels, seed: int) -> None:
    """Changed bytes in an event file: findings or one error, never a crash."""
    draw = np.random.default_rng(seed)
    folder = tmp_path / "noise"
    shutil.copytree(archive.parent, folder)
    name = ["traces/0.evt", "traces/1.def", "traces.def", "traces.otf2"][seed % 4]
    file = folder / name
    if not file.exists():
        return
    data = bytearray(file.read_bytes())
    for at in draw.integers(0, len(data), 3):
        data[at] = int(draw.integers(0, 256))
    file.write_bytes(bytes(data))
    try:
        analyse(read_otf2(folder, kernels), kernels)
    except InputError as error:
        assert str(folder) in str(error)


@pytest.mark.slow
def test_any_byte_of_the_anchor_may_be_anything(archive: Path, tmp_path: Path) -> None:
    """Counts and lengths of the anchor file send the library round without end, or end it."""
    folder = tmp_path / "noise"
    shutil.copytree(archive.parent, folder)
    anchor = folder / "traces.otf2"
    data = anchor.read_bytes()
    for at in range(len(data)):
        for value in (1, 128, 255):
            anchor.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            try:
                read_definitions(_otf2, anchor)
            except InputError as error:
                assert str(anchor) in str(error)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("while True: pass", "took longer than 1 s"), ("os.abort()", "made the parser give up")],
)
def test_a_library_that_does_not_come_back(archive: Path, fault: str, reason: str) -> None:
    """Its faults depend on what its memory holds; here it has one for certain."""

    def faulty(*arguments: object) -> None:
        exec(fault, {"os": os})

    library = ModuleType("_otf2")
    library.__dict__.update(vars(_otf2))
    library.__dict__["Reader_ReadAllGlobalDefinitions"] = faulty
    with pytest.raises(InputError, match=f"traces.otf2: its definitions cannot be read.*{reason}"):
        read_definitions(library, archive, seconds=1)


def test_a_wrong_number_of_a_region_takes_no_memory(archive: Path) -> None:
    definitions = read_definitions(_otf2, archive)
    column = np.array([0, 2**31 - 1, 0], dtype=np.int32)
    findings: list[Finding] = []
    tracemalloc.start()
    regions = number_regions(column, np.zeros(3, dtype=np.uint8), definitions, findings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert column.tolist() == [0, len(definitions.regions), 0]
    assert regions[-1].name == "unknown"
    assert [finding.message for finding in findings] == ["regions that are not defined"]


def test_wrong_communicators_and_more_events_than_are_told(archive: Path, kernels: Kernels) -> None:
    definitions = read_definitions(_otf2, archive)
    events = read_events(archive, definitions.references, definitions.events, kernels)
    events.columns["communicator"][:3] = [-(2**31), 2**31 - 1, -7]
    operations, _ = operations_of(events, definitions, definitions.locations)
    assert operations.communicator[:3].tolist() == [-1, -1, -1]
    whole = read_otf2(archive, kernels).operations
    assert operations.communicator[3:].tolist() == whole.communicator[3:].tolist()
    assert set(whole.communicator.tolist()) == {-1, 0}  # -1: completions name none
    fewer = tuple(number // 2 for number in definitions.events)
    part = read_events(archive, definitions.references, fewer, kernels)
    assert len(part.columns["time"]) <= sum(fewer) + 3 * 4  # and the ends of what is open
    assert np.all(part.notes.sum(axis=1) >= 1)


def test_times_that_no_run_has_are_refused(archive: Path, kernels: Kernels) -> None:
    """Times may be as large as they like, as long as their differences are not."""
    definitions = read_definitions(_otf2, archive)
    whole = read_otf2(archive, kernels)
    events = read_events(archive, definitions.references, definitions.events, kernels)
    events.columns["time"] -= 2**63 - 1  # as 64 bits without a sign: around 2^63 and above
    assert assemble_trace(archive, definitions, events).time.tolist() == whole.time.tolist()
    events = read_events(archive, definitions.references, definitions.events, kernels)
    events.columns["time"][0] -= 2**62
    with pytest.raises(InputError, match="times are too large for a run"):
        assemble_trace(archive, definitions, events)


def test_what_is_no_archive(tmp_path: Path, kernels: Kernels) -> None:
    (tmp_path / "traces.otf2").write_text("hello")
    with pytest.raises(InputError, match="not an OTF2 archive"):
        read_otf2(tmp_path / "traces.otf2", kernels)
    with pytest.raises(InputError, match="no such file"):
        read_otf2(tmp_path / "other.otf2", kernels)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no anchor file"):
        read_otf2(tmp_path / "empty", kernels)
