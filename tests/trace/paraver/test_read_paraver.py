"""Paraver text into events: by hand, and what is wrong with text that is none."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_ranks import BODY, HEAD, PCF, ROW

from regionpredict.errors import InputError
from regionpredict.trace import Kind, Paradigm, Role, columns
from regionpredict.trace.bursts import bursts_of, by_location, useful_increase
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.paraver import read_paraver, records
from regionpredict.trace.paraver.labels import Labels, read_labels, read_thread_names


@pytest.fixture
def trace(tmp_path: Path, kernels: Kernels) -> EventTrace:
    (tmp_path / "two.prv").write_text(HEAD + BODY)
    (tmp_path / "two.pcf").write_text(PCF)
    (tmp_path / "two.row").write_text(ROW)
    return read_paraver(tmp_path / "two.prv", kernels)


def events(trace: EventTrace, location: int) -> list[tuple[int, str, str]]:
    rows = range(int(trace.starts[location]), int(trace.starts[location + 1]))
    return [
        (
            int(trace.time[row]),
            Kind(trace.kind[row]).name,
            trace.regions[trace.region[row]].name if trace.region[row] >= 0 else "",
        )
        for row in rows
    ]


def test_records_of_large_files_lie_in_files(
    trace: EventTrace, tmp_path: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []

    class Noted(columns.GrowingColumn):
        def __init__(self, kind: type[np.generic], in_file: bool) -> None:
            made.append(in_file)
            super().__init__(kind, in_file)

    monkeypatch.setattr(records, "GrowingColumn", Noted)
    monkeypatch.setattr(records, "_MOST_IN_MEMORY", 0)
    monkeypatch.setattr(records, "_CHUNK", 200)  # several pieces
    large = read_paraver(tmp_path / "two.prv", kernels)
    assert made == [True] * 32
    assert large.regions == trace.regions
    for column in ("time", "kind", "region", "starts"):
        assert getattr(large, column).tolist() == getattr(trace, column).tolist()
    for column in ("event", "partner", "tag", "sent", "received", "collective"):
        one, other = (getattr(it.operations, column).tolist() for it in (large, trace))
        assert one == other
    assert [counter.increase.tolist() for counter in large.counters] == [
        counter.increase.tolist() for counter in trace.counters
    ]


def test_every_event_of_a_rank(trace: EventTrace) -> None:
    assert events(trace, 0) == [
        (0, "ENTER", "two"),
        (100, "ENTER", "MPI_Send"),
        (100, "SEND", ""),
        (150, "LEAVE", "MPI_Send"),
        (400, "ENTER", "Writing"),
        (430, "LEAVE", "Writing"),
        (600, "ENTER", "MPI_Barrier"),
        (900, "COLLECTIVE_END", ""),
        (900, "LEAVE", "MPI_Barrier"),
        (1000, "LEAVE", "two"),
    ]
    assert events(trace, 1)[:4] == [
        (20, "ENTER", "two"),
        (120, "ENTER", "MPI_Recv"),
        (160, "RECEIVE", ""),
        (160, "LEAVE", "MPI_Recv"),
    ]


def test_what_the_operations_say(trace: EventTrace) -> None:
    o = trace.operations
    assert o.partner.tolist() == [1, -1, 0, -1]
    assert o.sent.tolist() == [40, 0, 0, 0]
    assert o.received.tolist() == [0, 0, 40, 0]
    assert o.tag.tolist() == [7, -1, 7, -1]
    assert o.communicator.tolist() == [-1, 0, -1, 0]
    assert o.root.tolist() == [-1, 0, -1, 0]  # only the root's own record names it
    assert [c.members for c in trace.communicators] == [(0, 1), (1,)]


def test_names_and_kinds_of_regions(trace: EventTrace) -> None:
    by_name = {region.name: (region.paradigm, region.role) for region in trace.regions}
    assert by_name["MPI_Send"] == (Paradigm.MPI, Role.POINT_TO_POINT)
    assert by_name["MPI_Barrier"] == (Paradigm.MPI, Role.COLLECTIVE)
    assert by_name["Writing"] == (Paradigm.OTHER, Role.OTHER)
    assert [location.name for location in trace.locations] == ["THREAD 1.1.1", "THREAD 1.2.1"]
    assert trace.ticks_per_second == 1e9


def test_useful_time_and_counters(trace: EventTrace) -> None:
    bursts = bursts_of(trace)
    useful = by_location(trace, np.where(bursts.useful, bursts.length, 0))
    own = by_location(trace, np.where(bursts.own, bursts.length, 0))
    assert useful.tolist() == [100 + 250 + 170 + 100, 100 + 640 + 100]
    assert own.tolist() == [650, 840]
    assert [counter.name for counter in trace.counters] == ["PAPI_TOT_INS", "PAPI_TOT_CYC"]
    instructions = useful_increase(trace, bursts, trace.counters[0])
    assert instructions.tolist() == [500 + 700 + 600, 300 + 1000]
    assert useful_increase(trace, bursts, trace.counters[1]).tolist() == [250 + 350, 200 + 100]


def test_a_call_without_length_has_two_readings(tmp_path: Path, kernels: Kernels) -> None:
    (tmp_path / "t.prv").write_text(
        "#Paraver (01/02/2020 at 10:11):100_ns:1(1):1:1(1:1),1\n"
        "1:1:1:1:1:0:50:1\n"
        "2:1:1:1:1:50:50000003:43:42000050:10\n"
        "2:1:1:1:1:50:50000003:0:42000050:1000\n"
        "1:1:1:1:1:50:100:1\n"
        "2:1:1:1:1:100:40000001:0\n"
    )
    trace = read_paraver(tmp_path / "t.prv", kernels)
    assert [event[1] for event in events(trace, 0)] == ["ENTER", "ENTER", "LEAVE", "LEAVE"]
    assert useful_increase(trace, bursts_of(trace), trace.counters[0]).tolist() == [10]


def test_gzip_line_ends_comments_and_microseconds(
    tmp_path: Path, trace: EventTrace, kernels: Kernels
) -> None:
    text = HEAD.replace("_ns", "") + "# a note\n" + BODY.replace("\n", "\r\n")
    (tmp_path / "z.prv.gz").write_bytes(gzip.compress(text.encode()))
    other = read_paraver(tmp_path / "z.prv.gz", kernels)
    assert other.ticks_per_second == 1e6
    assert other.time.tolist() == trace.time.tolist()
    assert other.kind.tolist() == trace.kind.tolist()
    # without a .pcf the most frequent calls still have their names
    assert {region.name for region in other.regions} >= {"MPI_Send", "MPI_Recv", "MPI_Barrier"}


def test_a_receive_that_was_asked_for_earlier(tmp_path: Path, kernels: Kernels) -> None:
    (tmp_path / "i.prv").write_text(
        "#Paraver (01/02/2020 at 10:11):100_ns:1(2):1:2(1:1,1:1),0\n"
        "2:1:1:1:1:10:50000001:3\n2:1:1:1:1:12:50000001:0\n"
        "2:2:1:2:1:20:50000001:4\n2:2:1:2:1:22:50000001:0\n"
        "2:2:1:2:1:30:50000001:5\n2:2:1:2:1:40:50000001:0\n"
        "3:1:1:1:1:10:11:2:1:2:1:20:38:8:1\n"
    )
    trace = read_paraver(tmp_path / "i.prv", kernels)
    kinds = [Kind(k).name for k in trace.kind[trace.operations.event]]
    assert kinds == ["SEND_REQUEST", "RECEIVE_REQUEST", "RECEIVE_COMPLETE"]
    request = trace.operations.request.tolist()
    assert request[1] == request[2] != request[0]


def test_threads_that_idle(tmp_path: Path, kernels: Kernels) -> None:
    (tmp_path / "o.prv").write_text(
        "#Paraver (01/02/2020 at 10:11):100_ns:1(2):1:1(2:1),0\n"
        "1:1:1:1:1:0:40:1\n1:1:1:1:1:40:50:7\n1:1:1:1:1:50:100:1\n"
        "1:2:1:1:2:0:50:0\n1:2:1:1:2:50:90:1\n1:2:1:1:2:90:100:0\n"
        "2:1:1:1:1:40:60000001:1\n2:1:1:1:1:95:60000001:0\n"
    )
    trace = read_paraver(tmp_path / "o.prv", kernels)
    bursts = bursts_of(trace)
    assert by_location(trace, np.where(bursts.own, bursts.length, 0)).tolist() == [90, 40]
    assert [(p.rank, p.thread) for p in trace.locations] == [(0, 0), (0, 1)]
    assert [name for _, name, _ in events(trace, 0) if name in ("FORK", "JOIN")] == ["FORK", "JOIN"]
    assert trace.operations.request.tolist() == [2]  # of the fork: its threads


@given(values=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), negative=st.booleans())
def test_numbers_of_any_length(values: list[int], negative: bool, kernels: Kernels) -> None:
    sign = "-" if negative else ""
    lines = [f"2:1:1:1:1:{k}:7:{sign}{value}\n" for k, value in enumerate(values)]
    with TemporaryDirectory() as folder:
        (Path(folder) / "x.prv").write_text(HEAD + "".join(lines))
        found = records.read_records(Path(folder) / "x.prv", kernels)[1].events
    expected = np.array(values, dtype=np.uint64).view(np.int64)
    assert found.value.tolist() == (-expected if negative else expected).tolist()
    assert found.time.tolist() == list(range(len(values)))


def test_readings_are_a_table_of_their_own(tmp_path: Path, kernels: Kernels) -> None:
    """A record of readings alone still says that the thread lives."""
    (tmp_path / "x.prv").write_text(HEAD + "2:2:1:2:1:5:42000050:7:42000059:-1\n")
    found = records.read_records(tmp_path / "x.prv", kernels)[1]
    assert not len(found.events)
    assert (found.first_event[1], found.end.tolist()) == (5, [-1, 5])
    readings = list(zip(*found.readings.int64_columns(np.arange(2)), strict=True))
    assert readings == [(1, 42000050, 5, 7), (1, 42000059, 5, -1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.prv:1: is not a Paraver trace"),
        ("hello\n", "x.prv:1: is not a Paraver trace"),
        (HEAD, "x.prv: holds no record; give a complete trace"),
        (HEAD + "1:1:1:1:1:0:10\n", "x.prv:4: is not a record: 7 numbers after 1"),
        (HEAD + "1:1:1:1:1:0:10:1\n\n1:1:1:1:1:0:x:1\n", "x.prv:6: 'x' is not a number"),
        (HEAD + "1:1:1:1:1:0::1\n", "x.prv:4: a number is missing"),
        (HEAD + "9:1:1:1:1:0:10:1\n", "x.prv:4: records of kind 9 are unknown"),
        (HEAD + "2:1:1:1:1:0:10\n", "x.prv:4: is not a record: 7 numbers after 2"),
        (HEAD + "1:1:1:3:1:0:10:1\n", "x.prv: has a record of task 3, thread 1"),
        (HEAD + "c:1:x\n", "x.prv:4: is not a communicator"),
        (HEAD.replace(":1:2(1:1,1:1)", ":2:2(1:1,1:1):1(1:1)"), "x.prv:1: holds 2 applications"),
        (HEAD.replace("2(1:1,1:1)", "3(1:1,1:1)"), "announces 3 tasks and lists 2"),
        (HEAD.replace("(1:1,", "(99999999999:1,"), "x.prv:1: its first line announces 1000000000"),
        (HEAD.replace(":1000_ns", f":{10**19}_ns") + BODY, "x.prv: times are too large"),
        (HEAD + f"1:1:1:1:1:0:{2**62}:1\n", "x.prv: times are too large"),
        (HEAD.replace(":1:2(", f":{'9' * 5000}:2("), "x.prv:1: its first line names no tasks"),
        (
            HEAD.replace(":1:2(1:1", f":1:2({'9' * 5000}:1"),
            "x.prv:1: its first line names no tasks",
        ),
    ],
)
def test_text_that_is_no_trace(tmp_path: Path, text: str, message: str, kernels: Kernels) -> None:
    (tmp_path / "x.prv").write_text(text)
    with pytest.raises(InputError) as error:
        read_paraver(tmp_path / "x.prv", kernels)
    assert message in str(error.value).replace(str(tmp_path) + "/", "")


def test_labels_with_numbers_of_any_length(
    trace: EventTrace, tmp_path: Path, kernels: Kernels
) -> None:
    many = "9" * 5000
    (tmp_path / "x.prv").write_text(HEAD + BODY)
    (tmp_path / "x.pcf").write_text(
        f"STATES\n{many} a\n\nEVENT_TYPE\n0 {many} b\n0 80000001 c\nVALUES\n{many} d\n"
    )
    (tmp_path / "x.row").write_text(f"LEVEL THREAD SIZE {many}\na\n")
    assert read_paraver(tmp_path / "x.prv", kernels).time.tolist() == trace.time.tolist()
    assert Labels(values={7: {3: f"{many} (a.c, b)"}}).line(7, 3) == ("", None)


def test_old_records_of_collective_communication_are_passed_over(
    trace: EventTrace, tmp_path: Path, kernels: Kernels
) -> None:
    old = "4:1:1:1:1:600:900:8\n4:2:1:2:1:800:900:8:0:0\n"
    (tmp_path / "old.prv").write_text(HEAD + old + BODY)
    found = read_paraver(tmp_path / "old.prv", kernels)
    assert found.time.tolist() == trace.time.tolist()
    assert found.kind.tolist() == trace.kind.tolist()
    assert [str(finding) for finding in found.findings if finding not in trace.findings] == [
        "records of kind 4 (collective communication of old traces), skipped (2 times)"
    ]
    (tmp_path / "none.prv").write_text(HEAD + old)
    with pytest.raises(InputError, match="holds no record"):
        read_paraver(tmp_path / "none.prv", kernels)


def test_a_damaged_archive_and_none(tmp_path: Path, kernels: Kernels) -> None:
    (tmp_path / "d.prv.gz").write_bytes(gzip.compress((HEAD + BODY).encode())[:-30])
    with pytest.raises(InputError, match="ends too early or is damaged"):
        read_paraver(tmp_path / "d.prv.gz", kernels)
    (tmp_path / "n.prv.gz").write_text(HEAD)
    with pytest.raises(InputError, match="cannot be read"):
        read_paraver(tmp_path / "n.prv.gz", kernels)
    with pytest.raises(InputError, match="No such file"):
        read_paraver(tmp_path / "none.prv", kernels)


def test_blank_lines_are_passed_over_however_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: Kernels
) -> None:
    """More of them than are taken apart at once: a part holds no record."""
    (tmp_path / "x.prv").write_text(HEAD + "1:1:1:1:1:0:10:1\n" + "\n" * 5000 + BODY)
    monkeypatch.setattr(records, "_CHUNK", 1 << 10)
    _, found = records.read_records(tmp_path / "x.prv", kernels)
    (tmp_path / "x.prv").write_text(HEAD + "1:1:1:1:1:0:10:1\n" + BODY)
    _, expected = records.read_records(tmp_path / "x.prv", kernels)
    for one, other in ((found.states, expected.states), (found.events, expected.events)):
        assert np.array_equal(
            one.int64_columns(np.arange(len(one))), other.int64_columns(np.arange(len(other)))
        )
    (tmp_path / "x.prv").write_text(HEAD + "\n" * 5000)
    with pytest.raises(InputError, match="holds no record"):
        records.read_records(tmp_path / "x.prv", kernels)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, kernels: Kernels
) -> None:
    text = (HEAD + "2:1:1:1:1:0").encode() + b":7:1" * (40 << 20)
    (tmp_path / "x.prv.gz").write_bytes(gzip.compress(text, 1))
    with pytest.raises(InputError, match=r":4: has a line of more than 64 MiB"):
        records.read_records(tmp_path / "x.prv.gz", kernels)


def test_labels_and_names_that_are_not_there(tmp_path: Path) -> None:
    assert read_labels(tmp_path / "no.pcf").state(12) == "I/O"
    assert read_labels(tmp_path / "no.pcf").state(77) == "State 77"
    assert read_thread_names(tmp_path / "no.row") == ()


@pytest.mark.parametrize("name", ["pipe.prv", "pipe.prv.gz"])
def test_a_pipe_is_no_trace(tmp_path: Path, kernels: Kernels, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=r"is not a regular file; give a \.prv or \.prv\.gz file"):
        records.read_records(tmp_path / name, kernels)


@pytest.mark.parametrize("read", [read_labels, read_thread_names])
def test_labels_that_are_no_text_are_refused(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    """A pipe would block, and a long file fill the memory."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a regular file; copy it again, or remove it"):
        read(tmp_path / "pipe")
    with (tmp_path / "long").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="longer than 256 MiB"):
        read(tmp_path / "long")


def test_one_of_several_applications(trace: EventTrace, tmp_path: Path, kernels: Kernels) -> None:
    """The second of two is the trace itself; the first has one rank, and sends to the second."""
    head = HEAD.replace(":1:2(1:1,1:1),2\n", ":2:1(2:1),1:2(1:1,1:1),2\nc:1:7:1:1\n")
    head = head.replace("c:1:1:", "c:2:1:").replace("c:1:2:", "c:2:2:")
    second = "".join(
        ":".join(
            "2" if place == 2 or (place == 8 and line[0] == "3") else field
            for place, field in enumerate(line.split(":"))
        )
        + "\n"
        for line in BODY.splitlines()
    )
    first = "1:1:1:1:1:0:500:1\n1:1:1:1:2:0:900:1\n3:1:1:1:1:100:110:2:2:2:1:120:160:40:7\n"
    (tmp_path / "both.prv").write_text(head + first + second)
    (tmp_path / "both.row").write_text(
        "LEVEL THREAD SIZE 4\nT 1.1.1\nT 1.1.2\nTHREAD 2.1.1\nTHREAD 2.2.1\n"
    )
    (tmp_path / "both.pcf").write_text(PCF)
    alone = read_paraver(tmp_path / "both.prv", kernels, application=1)
    assert [str(location) for location in alone.locations] == ["0", "0.1"]
    assert [location.name for location in alone.locations] == ["T 1.1.1", "T 1.1.2"]
    assert not len(alone.operations)
    found = read_paraver(tmp_path / "both.prv", kernels, application=2)
    assert found.name == "both, application 2"
    assert [location.name for location in found.locations] == ["THREAD 2.1.1", "THREAD 2.2.1"]
    assert found.time.tolist() == trace.time.tolist()
    assert found.operations.partner.tolist() == trace.operations.partner.tolist()
    assert [c.members for c in found.communicators] == [(0, 1), (1,)]
    merged = head.replace(":2:1(2:1),1:2(", ":2:1(2:1),2(")  # without its number of communicators
    (tmp_path / "merged.prv").write_text(merged + first + second)
    again = read_paraver(tmp_path / "merged.prv", kernels, application=2)
    assert again.time.tolist() == trace.time.tolist()
    with pytest.raises(InputError, match="choose one with --application 1 to 2"):
        read_paraver(tmp_path / "both.prv", kernels)
    with pytest.raises(InputError, match="has no application 3; it has 2"):
        read_paraver(tmp_path / "both.prv", kernels, application=3)
