"""What the recorder leaves behind, made into an OTF2 archive."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.event_trace import Collective

NANOSECONDS = 1_000_000_000
_RECORD = np.dtype(
    [
        ("time", "<u8"),
        ("first", "<u8"),
        ("second", "<u8"),
        ("what", "<i4"),
        ("partner", "<i4"),
        ("communicator", "<i4"),
        ("tag", "<i4"),
    ]
)
# As mpi_recorder.c numbers them.
(_ENTER, _LEAVE, _SEND, _RECEIVE, _SEND_REQUEST, _SEND_COMPLETE, _RECEIVE_REQUEST,
 _RECEIVE_COMPLETE) = range(8)  # fmt: skip
_COLLECTIVE_BEGIN, _COLLECTIVE_END = 10, 11
_SECONDS = 60

# name, file, line
_Place = tuple[str, str, int]
# members, those of the other group, which of several with the same members
_Group = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class RankEvents:
    """One rank's records, its regions by number and its communicators by number."""

    records: NDArray[Any]
    regions: Mapping[int, _Place]
    groups: Mapping[int, _Group]


def recorded(folder: Path) -> list[RankEvents]:
    """The ranks' events in order; raises InputError where there are none or some are missing."""
    ranks = sorted(int(path.stem) for path in folder.glob("*.names") if path.stem.isdigit())
    if not ranks:
        raise InputError(
            "nothing was recorded: no rank called MPI_Init",
            remedy="is it an MPI program, built with the MPI of this mpicc?",
        )
    missing = [rank for rank in ranks if not (folder / f"{rank}.events").exists()]
    if missing or ranks != list(range(len(ranks))):
        gone = missing[0] if missing else len(ranks)
        raise InputError(
            f"the events of rank {gone} are missing", remedy="does it call MPI_Finalize?"
        )
    return [_rank_events(folder, rank) for rank in ranks]


def _rank_events(folder: Path, rank: int) -> RankEvents:
    records = np.fromfile(folder / f"{rank}.events", dtype=_RECORD)
    regions: dict[int, _Place] = {}
    codes: list[tuple[int, str, str, str]] = []
    groups: dict[int, _Group] = {}
    met: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    lines = (folder / f"{rank}.names").read_text(errors="replace").splitlines()
    for line in lines:
        kind, number, rest = line.split(" ", 2)
        if kind == "comm":
            members, _, remote = rest.partition("|")
            key = tuple(map(int, members.split())), tuple(map(int, remote.split()))
            groups[int(number)] = (*key, met.get(key, 0))
            met[key] = met.get(key, 0) + 1
        elif kind == "name":
            regions[int(number)] = (rest, "MPI" if rest.startswith("MPI_") else "", 0)
        else:
            name, offset, file = rest.split(" ", 2)
            codes.append((int(number), name, offset, file))
    regions.update(_functions(codes))
    return RankEvents(records, regions, groups)


def _functions(codes: list[tuple[int, str, str, str]]) -> dict[int, _Place]:
    """Names and lines of functions, by their offsets in the files they were loaded from."""
    found: dict[int, _Place] = {}
    files = {file for _, _, _, file in codes}
    for file in sorted(files):
        mine = [code for code in codes if code[3] == file]
        places = _addr2line(file, [offset for _, _, offset, _ in mine])
        for (number, name, offset, _), place in zip(mine, places, strict=True):
            text, source, line = place
            known = text or (name if name != "?" else f"{Path(file).name}+0x{offset}")
            found[number] = (known, source, line)
    return found


def _addr2line(file: str, offsets: list[str]) -> list[_Place]:
    nothing: list[_Place] = [("", "", 0)] * len(offsets)
    program = shutil.which("addr2line")
    if program is None or not Path(file).exists():
        return nothing
    try:
        done = subprocess.run(
            [program, "-f", "-C", "-e", file, *offsets],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return nothing
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(offsets):
        return nothing
    places: list[_Place] = []
    for name, place in zip(lines[::2], lines[1::2], strict=True):
        source, _, line = place.split(" ")[0].rpartition(":")
        number = int(line) if line.isdigit() else 0
        places.append(("" if name == "??" else name, source if number else "", number))
    return places


def write_otf2(ranks: list[RankEvents], folder: Path) -> Path:
    """Writes the archive; its anchor file. The run of each rank is a region `main`.

    Raises InputError where the package otf2 is missing or the folder cannot be written.
    """
    try:
        import otf2  # noqa: PLC0415 (an extra)
        from otf2.enums import GroupFlag, GroupType, Paradigm  # noqa: PLC0415
    except (ImportError, OSError):
        raise InputError(
            "writing OTF2 needs the package otf2", remedy="pip install 'regionpredict[trace]'"
        ) from None
    begin = min((int(rank.records["time"][0]) for rank in ranks if len(rank.records)), default=0)
    with otf2.writer.open(str(folder), timer_resolution=NANOSECONDS) as archive:
        define = archive.definitions
        node = define.system_tree_node("node")
        locations = [
            define.location(
                "Master thread",
                group=define.location_group(f"MPI Rank {rank}", system_tree_parent=node),
            )
            for rank in range(len(ranks))
        ]
        define.group(
            "", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
            group_flags=GroupFlag.NONE, members=locations,
        )  # fmt: skip
        comms: dict[_Group, Any] = {}

        def group(members: tuple[int, ...]) -> Any:
            return define.group(
                "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                group_flags=GroupFlag.NONE, members=[locations[rank] for rank in members],
            )  # fmt: skip

        for key in sorted({key for rank in ranks for key in rank.groups.values()}):
            members, remote, which = key
            if remote and (remote, members, which) in comms:
                comms[key] = comms[remote, members, which]
            elif remote:
                comms[key] = define.inter_comm("", groupA=group(members), groupB=group(remote))
            else:
                comms[key] = define.comm("", group=group(members))
        regions: dict[_Place, Any] = {}

        def region(place: _Place) -> Any:
            if place not in regions:
                name, file, line = place
                owner = Paradigm.MPI if file == "MPI" else Paradigm.COMPILER
                regions[place] = define.region(
                    name, paradigm=owner, source_file=file, begin_line_number=line
                )
            return regions[place]

        main = region(("main", "", 0))
        for rank, location in zip(ranks, locations, strict=True):
            writer = archive.event_writer_from_location(location)
            own_regions = {number: region(place) for number, place in rank.regions.items()}
            own_comms = {number: comms[key] for number, key in rank.groups.items()}
            _write_rank(writer, rank.records, begin, main, own_regions, own_comms)
    return folder / "traces.otf2"


def _write_rank(
    writer: Any,
    records: NDArray[Any],
    begin: int,
    main: Any,
    regions: Mapping[int, Any],
    comms: Mapping[int, Any],
) -> None:
    """The rank's events; ends of functions that began before MPI_Init are left out."""
    from otf2.enums import CollectiveOp  # noqa: PLC0415

    stack = [main]
    operations = {
        int(number): getattr(CollectiveOp, number.name)
        for number in Collective
        if hasattr(CollectiveOp, number.name)
    }
    no_root = 2**32 - 1
    last = begin
    for index, (ticks, first, second, what, partner, comm, tag) in enumerate(records.tolist()):
        time = ticks - begin
        last = ticks
        if index == 0:
            writer.enter(time, main)
        if what == _ENTER:
            stack.append(regions.get(first, main))
            writer.enter(time, stack[-1])
        elif what == _LEAVE:
            if len(stack) > 1:
                writer.leave(time, stack.pop())
        elif what == _SEND:
            writer.mpi_send(time, partner, comms[comm], tag, second)
        elif what == _RECEIVE:
            writer.mpi_recv(time, partner, comms[comm], tag, second)
        elif what == _SEND_REQUEST:
            writer.mpi_isend(time, partner, comms[comm], tag, second, first)
        elif what == _SEND_COMPLETE:
            writer.mpi_isend_complete(time, first)
        elif what == _RECEIVE_REQUEST:
            writer.mpi_irecv_request(time, first)
        elif what == _RECEIVE_COMPLETE:
            writer.mpi_irecv(time, partner, comms[comm], tag, second, first)
        elif what == _COLLECTIVE_BEGIN:
            writer.mpi_collective_begin(time)
        elif what == _COLLECTIVE_END:
            root = partner if partner >= 0 else no_root
            writer.mpi_collective_end(time, operations[tag], comms[comm], root, first, second)
    while stack:
        writer.leave(last - begin, stack.pop())
