"""Reads the definitions of an OTF2 archive, such as locations, regions and communicators, as far as
they are readable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from regionpredict.errors import InputError
from regionpredict.file_presence import is_file
from regionpredict.isolation import Failure, Limits, run_isolated
from regionpredict.trace.event_trace import (
    Communicator,
    Finding,
    Location,
    Paradigm,
    ProcessGrid,
    Region,
    Role,
)
from regionpredict.trace.mpi_regions import mpi_role

# Numbers of the OTF2 3.0 interface.
_CPU_THREAD = 1
_OPENMP, _MPI = 3, 4
_MEASUREMENT = 6
_METRIC_VALUE, _METRIC_RELATIVE = 0xF, 2
_COMM_LOCATIONS, _COMM_GROUP, _COMM_SELF = 4, 5, 6
# Ten microseconds per record of at least ten bytes, times ten for slow machines.
_BYTES_PER_SECOND = 100_000
_THREAD_PARADIGMS = (_OPENMP, _MEASUREMENT, 7)
_ROLES = {
    3: Role.LOOP,
    5: Role.PARALLEL,
    12: Role.LOCK,
    13: Role.LOCK,
    15: Role.BARRIER,
    16: Role.IMPLICIT_BARRIER,
}


@dataclass(frozen=True, slots=True)
class CounterDefinition:
    """A member of an OTF2 metric class. `accumulated` readings count from the start of the run,
    `relative` readings from the previous reading. A metric that is neither is not a counter.
    """

    name: str
    unit: str
    accumulated: bool
    relative: bool


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions that the events of an archive refer to.

    `references` are the archive's numbers of `locations`, in the same order. `region_numbers` and
    `communicator_numbers` map the archive's numbers to positions in `regions` and `communicators`.
    `strings` are the archive's texts by number. `counters` are the members of each metric class by
    the number of the class. `events` has the number of events of each location.
    """

    ticks_per_second: float
    locations: tuple[Location, ...]
    references: tuple[int, ...]
    events: tuple[int, ...]
    regions: tuple[Region, ...]
    region_numbers: dict[int, int]
    communicators: tuple[Communicator, ...]
    communicator_numbers: dict[int, int]
    strings: dict[int, str]
    findings: tuple[Finding, ...]
    grids: tuple[ProcessGrid, ...]
    counters: dict[int, tuple[CounterDefinition, ...]]


@dataclass(slots=True)
class _Raw:
    """The definition records of an archive by number, in file order. If two records have the same
    number, the first one counts.
    """

    resolution: int | None = None
    strings: dict[int, str] = field(default_factory=dict)
    regions: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    groups: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    comms: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    intercomms: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    location_groups: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    locations: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    dimensions: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    topologies: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    metric_members: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    metric_classes: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    metric_instances: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    coordinates: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    duplicates: int = 0

    def keep_coordinates(self) -> Callable[..., None]:
        def callback(user: object, topology: int, rank: int, *fields: Any) -> None:
            self.coordinates.setdefault(topology, {})[rank] = tuple(map(int, fields[-1]))

        return callback

    def keep(self, table: dict[int, tuple[Any, ...]]) -> Callable[..., None]:
        def callback(user: object, number: int, *fields: Any) -> None:
            if number in table:
                self.duplicates += 1
            else:
                table[number] = fields

        return callback

    def keep_string(self) -> Callable[..., None]:
        def callback(user: object, number: int, text: Any) -> None:
            if number in self.strings:
                self.duplicates += 1
            else:
                self.strings[number] = text

        return callback

    def keep_clock(self) -> Callable[..., None]:
        def callback(user: object, resolution: int, *rest: Any) -> None:
            self.resolution = resolution

        return callback


def read_definitions(otf2: ModuleType, anchor: Path, seconds: int = 10) -> Definitions:
    """Reads the global definitions of the archive. A truncated file is a finding.

    A child process reads the definitions, since the OTF2 library does not handle damaged anchor
    files. A wrong count causes four billion iterations, and a wrong length a double free. The child
    process has a limit of processor time, which grows with the size of the file.

    Raises InputError if there is no archive, if it has no clock or no location, and if the library
    does not terminate.
    """
    large = anchor.with_suffix(".def")
    more = large.stat().st_size // _BYTES_PER_SECOND if is_file(large) else 0
    limits = Limits(seconds=seconds + more, wall_seconds=10.0 * (seconds + more))
    (definitions,) = run_isolated(lambda path: _read_records(otf2, path), [anchor], 1, limits)
    if isinstance(definitions, Failure):
        raise InputError(
            f"its definitions cannot be read: reading them {definitions.reason}",
            remedy="copy it or record it again", path=str(anchor),
        )  # fmt: skip
    return definitions


def _read_records(otf2: ModuleType, anchor: Path) -> Definitions:
    raw = _Raw()
    findings = []
    try:
        reader = otf2.Reader_Open(str(anchor))
    except Exception:
        raise InputError(
            "is not an OTF2 archive", remedy="name its anchor file, traces.otf2", path=str(anchor)
        ) from None
    try:
        otf2.Reader_SetSerialCollectiveCallbacks(reader)
        definitions = otf2.Reader_GetGlobalDefReader(reader)
        callbacks = otf2.GlobalDefReaderCallbacks_New()
        kept = (  # keeps the callbacks alive while reading
            ("ClockProperties", raw.keep_clock()),
            ("String", raw.keep_string()),
            ("Region", raw.keep(raw.regions)),
            ("Group", raw.keep(raw.groups)),
            ("Comm", raw.keep(raw.comms)),
            ("InterComm", raw.keep(raw.intercomms)),
            ("LocationGroup", raw.keep(raw.location_groups)),
            ("Location", raw.keep(raw.locations)),
            ("CartDimension", raw.keep(raw.dimensions)),
            ("CartTopology", raw.keep(raw.topologies)),
            ("MetricMember", raw.keep(raw.metric_members)),
            ("MetricClass", raw.keep(raw.metric_classes)),
            ("MetricInstance", raw.keep(raw.metric_instances)),
            ("CartCoordinate", raw.keep_coordinates()),
        )
        for name, callback in kept:
            setter = getattr(otf2, f"GlobalDefReaderCallbacks_Set{name}Callback", None)
            if setter is not None:
                setter(callbacks, callback)
        otf2.Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, None)
        otf2.Reader_ReadAllGlobalDefinitions(reader, definitions)
        otf2.Reader_CloseGlobalDefReader(reader, definitions)
        otf2.GlobalDefReaderCallbacks_Delete(callbacks)
    except Exception:
        findings.append(Finding("the definitions break off; those before were read"))
    finally:
        otf2.Reader_Close(reader)
    if raw.duplicates:
        findings.append(Finding("definitions given twice; the first counts", count=raw.duplicates))
    if not raw.resolution:
        raise InputError(
            "the archive does not define a clock", remedy="record it again",
            path=str(anchor),
        )  # fmt: skip
    return _resolve_references(raw, anchor, findings)


def _resolve_references(raw: _Raw, anchor: Path, findings: list[Finding]) -> Definitions:
    ranks = _ranks_of_groups(raw)
    threads: dict[int, int] = {}
    kept: list[tuple[Location, int, int]] = []
    passed = 0
    for number, (name, kind, events, group) in raw.locations.items():
        if _enumeration_value(kind) != _CPU_THREAD:
            passed += 1
            continue
        rank = ranks.get(group)
        if rank is None:
            passed += 1
            continue
        thread = threads[rank] = threads.get(rank, -1) + 1
        text = raw.strings.get(name, "")
        kept.append((Location(rank, thread, _decoded_text(text)), number, events))
    if passed:
        findings.append(
            Finding("skipped locations that are not threads (metrics, accelerators)", count=passed)
        )
    if not kept:
        raise InputError(
            "there is no thread in the archive", remedy="record it again", path=str(anchor)
        )
    kept.sort(key=lambda entry: (entry[0].rank, entry[0].thread))
    region_numbers = {number: at for at, number in enumerate(raw.regions)}
    communicator_numbers: dict[int, int] = {}
    communicators: list[Communicator] = []
    for number, communicator in _all_communicators(raw, ranks):
        communicator_numbers[number] = len(communicators)
        communicators.append(communicator)
    return Definitions(
        ticks_per_second=float(raw.resolution or 1),
        locations=tuple(entry[0] for entry in kept),
        references=tuple(entry[1] for entry in kept),
        events=tuple(entry[2] for entry in kept),
        regions=tuple(_region_of_record(raw, record) for record in raw.regions.values()),
        region_numbers=region_numbers,
        communicators=tuple(communicators),
        communicator_numbers=communicator_numbers,
        strings={number: _decoded_text(text) for number, text in raw.strings.items()},
        findings=tuple(findings),
        grids=_cartesian_grids(raw, len(ranks)),
        counters=_counters_by_class(raw),
    )


def _counters_by_class(raw: _Raw) -> dict[int, tuple[CounterDefinition, ...]]:
    """Returns the counters of each metric class and each metric instance, by its number."""
    definition: dict[int, tuple[CounterDefinition, ...]] = {}
    for number, (members, *_) in raw.metric_classes.items():
        if any(member not in raw.metric_members for member in members):
            continue
        rows = []
        for member in members:
            name, _, _, mode, _, _, _, unit = raw.metric_members[member]
            kind = _enumeration_value(mode) & _METRIC_VALUE
            text, named = (_decoded_text(raw.strings.get(at, "")) for at in (name, unit))
            rows.append(CounterDefinition(text, named, kind == 0, kind == _METRIC_RELATIVE))
        definition[number] = tuple(rows)
    for number, (of_class, *_) in raw.metric_instances.items():
        if of_class in definition:
            definition.setdefault(number, definition[of_class])
    return definition


def _cartesian_grids(raw: _Raw, ranks: int) -> tuple[ProcessGrid, ...]:
    """Returns the Cartesian topologies whose communicators and dimensions are known."""
    grids = []
    for number, (name, communicator, *_, dimensions) in raw.topologies.items():
        members = (
            _members_of_group(raw, raw.comms[communicator][1], ranks)
            if (communicator in raw.comms)
            else None
        )
        if members is None or any(at not in raw.dimensions for at in dimensions):
            continue
        sizes = [raw.dimensions[at] for at in dimensions]
        grids.append(
            ProcessGrid(
                _decoded_text(raw.strings.get(name, "")),
                tuple(int(size) for _, size, *_ in sizes),
                tuple(bool(_enumeration_value(periodic)) for _, _, periodic, *_ in sizes),
                {
                    members[rank]: place
                    for rank, place in sorted(raw.coordinates.get(number, {}).items())
                    if rank < len(members) and len(place) == len(sizes)
                },
            )
        )
    return tuple(grids)


def _ranks_of_groups(raw: _Raw) -> dict[int, int]:
    """Returns the rank of each location group. Ranks follow MPI's list of locations if present,
    otherwise the group numbers.
    """
    for _, kind, paradigm, _, members in raw.groups.values():
        if (
            _enumeration_value(kind) == _COMM_LOCATIONS
            and _enumeration_value(paradigm) not in _THREAD_PARADIGMS
        ):
            return {
                raw.locations[member][3]: rank
                for rank, member in enumerate(members)
                if member in raw.locations
            }
    used = {
        record[3]
        for record in raw.locations.values()
        if _enumeration_value(record[1]) == _CPU_THREAD
    }
    return {group: rank for rank, group in enumerate(sorted(used))}


def _all_communicators(raw: _Raw, ranks: dict[int, int]) -> list[tuple[int, Communicator]]:
    communicators = []
    for number, (name, group, *_) in raw.comms.items():
        members = _members_of_group(raw, group, len(ranks))
        communicators.append(
            (number, Communicator(_decoded_text(raw.strings.get(name, "")), members))
        )
    for number, (name, first, second, *_) in raw.intercomms.items():
        members = _members_of_group(raw, first, len(ranks))
        remote = _members_of_group(raw, second, len(ranks))
        communicators.append(
            (number, Communicator(_decoded_text(raw.strings.get(name, "")), members, remote))
        )
    return communicators


def _members_of_group(raw: _Raw, group: int, ranks: int) -> tuple[int, ...] | None:
    """Returns the world ranks of a group's members. An empty tuple means MPI_COMM_SELF, and None an
    unknown group.
    """
    if group not in raw.groups:
        return None
    _, kind, paradigm, _, members = raw.groups[group]
    if _enumeration_value(paradigm) in _THREAD_PARADIGMS:
        return None
    if _enumeration_value(kind) == _COMM_SELF:
        return ()
    if _enumeration_value(kind) == _COMM_LOCATIONS:
        return tuple(range(ranks))
    return tuple(members) if all(member < ranks for member in members) else None


def _region_of_record(raw: _Raw, record: tuple[Any, ...]) -> Region:
    name, canonical, _, role, paradigm, _, file, line, _ = record
    text = _decoded_text(raw.strings.get(name, "") or raw.strings.get(canonical, ""))
    source = _decoded_text(raw.strings.get(file, ""))
    kind = _enumeration_value(paradigm)
    mpi = mpi_role(text)
    if kind == _MPI or (mpi is not None and kind != _OPENMP):
        return Region(text, Paradigm.MPI, Role.OTHER if mpi is None else mpi, source, line or None)
    if kind == _OPENMP:
        role = _ROLES.get(_enumeration_value(role), Role.OTHER)
        return Region(text, Paradigm.OPENMP, role, source, line or None)
    owner = Paradigm.OTHER if kind == _MEASUREMENT else Paradigm.USER
    return Region(text, owner, Role.FUNCTION, source, line or None)


def _enumeration_value(enumeration: Any) -> int:
    return int(getattr(enumeration, "value", enumeration))


def _decoded_text(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
