"""Matches sizes that a measured run recorded with the current regions of a program.

A recorded region matches a region with the same source text, at any line of the file. If the text
has changed, the recording is rejected. The same applies to parallel regions with manual
worksharing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.given_sizes import place_of
from regionpredict.analysis.manually_shared_regions import manually_shared_regions
from regionpredict.analysis.recorded_values import (
    RecordedCase,
    RecordedSize,
    RecordedSizes,
    recorded_facts,
)
from regionpredict.errors import InputError, one_line, plural
from regionpredict.ir import Program, Region, Span
from regionpredict.measure.hints_file import common_end
from regionpredict.measure.loop_text import digest_of, lines_of
from regionpredict.measure.recording import RecordedRegion, Recording

_REMEDY = "build it with regionpredict cc, and measure it again"
_SHOWN = 4


class WithRecorded(NamedTuple):
    """A program with recorded sizes, and the facts of its regions.

    `executions` is the recorded number of executions by region id. `remarks` are one-line notes for
    the user. `same_build` says that the recorded build had the same macros.
    """

    program: Program
    facts: tuple[RegionFacts, ...]
    executions: Mapping[str, int]
    remarks: tuple[str, ...]
    same_build: bool


def with_recorded(
    program: Program, facts: Sequence[RegionFacts], given: Mapping[str, int],
    recording: Recording, macros: Iterable[tuple[str, str]],
) -> WithRecorded:  # fmt: skip
    """Sets names that have no value yet to the values of a recorded run.

    `macros` are the macros with which the program is read now. Raises InputError for a recording of
    another program or of changed sources.
    """
    matched = match_recorded(program.regions, recording)
    teams = match_teams(program, recording)
    recorded = {
        region.id: _recorded_sizes(matched[region.id], region) if region.id in matched
        else _sizes_from_parallel(teams[region.id], region)
        for region in program.regions if region.id in matched or region.id in teams
    }  # fmt: skip
    steady = _steady_values(program.regions, recorded)
    new_facts: list[RegionFacts] = []
    names: set[str] = set()
    shares = dict(program.work_shares)
    for own in facts:
        if own.region.id not in recorded:
            new_facts.append(own)
            continue
        sizes = recorded[own.region.id]
        shared = steady[(own.region.span.file, own.region.function)]
        sizes = replace(sizes, values={**shared, **sizes.values})
        made = recorded_facts(own.region, program.definitions[own.region.id], given, sizes)
        new_facts.append(made.facts)
        names |= set(made.names)
        shares[own.region.span] = made.share
    regions = tuple(own.region for own in new_facts)
    here = frozenset(f"{name}={value}" for name, value in macros)
    of_teams = [own.known for many in teams.values() for own in many]
    builds = _recorded_macros((*matched.values(), *of_teams))
    executions = {name: known.executions for name, known in matched.items()}
    if builds <= {here}:  # the other regions of recorded files did not run
        measured = {region.span.file for region in program.regions if region.id in recorded}
        executions |= {region.id: 0 for region in program.regions
                       if region.span.file in measured and region.id not in recorded}  # fmt: skip
    files = {region.span.file for region in program.regions}
    theirs = [known for of_file in _by_file(recording.regions, files).values() for known in of_file]
    unread = [known for known in theirs if all(known is not own for own in matched.values())]
    remarks = (
        *_missing_loops(recording, unread),
        *_remarks_on_macros(recording, builds, names, here),
    )
    return WithRecorded(
        replace(program, regions=regions, work_shares=shares),
        tuple(new_facts),
        executions,
        remarks,
        builds <= {here},
    )


def _recorded_sizes(known: RecordedRegion, region: Region) -> RecordedSizes:
    trips = None
    if known.least_trips is not None and known.most_trips is not None:
        trips = RecordedSize(known.least_trips, known.most_trips)
    sizes = {
        _current_name(size.name, known, region.span): RecordedSize(size.least, size.most)
        for size in known.sizes.values()
    }
    cases = tuple(
        RecordedCase(
            case.entries, case.trips,
            {_current_name(name, known, region.span): value for name, value in case.values.items()},
        )
        for case in known.cases
    )  # fmt: skip
    return RecordedSizes(sizes, trips, known.executions, cases)


class _RecordedTeam(NamedTuple):
    """A recorded parallel region, and its current source location."""

    known: RecordedRegion
    now: Span


def _sizes_from_parallel(teams: Sequence[_RecordedTeam], region: Region) -> RecordedSizes:
    """Returns the recorded sizes of a loop with manual worksharing, from its parallel regions."""
    sizes: dict[str, RecordedSize] = {}
    trips: RecordedSize | None = None
    for team in teams:
        for size in team.known.sizes.values():
            name = _current_name(size.name, team.known, team.now)
            if name == f"{team.now.file}:{region.span.line}":
                before = trips or RecordedSize(size.least, size.most)
                trips = RecordedSize(min(before.least, size.least), max(before.most, size.most))
            elif place_of(name) is None and region.parallel is not None:
                sizes[name] = RecordedSize(size.least, size.most)
    return RecordedSizes(sizes, trips)


def _steady_values(
    regions: Sequence[Region], recorded: Mapping[str, RecordedSizes]
) -> dict[tuple[str, str], dict[str, RecordedSize]]:
    """Returns the names with a single recorded value in all regions of a function, by file and
    function.

    These values also apply to the other regions of the function, for example to the length of an
    array that the function allocates.
    """
    ranges: dict[tuple[str, str], dict[str, set[RecordedSize]]] = {}
    for region in regions:
        if region.id in recorded:
            of_function = ranges.setdefault((region.span.file, region.function), {})
            for name, size in recorded[region.id].values.items():
                of_function.setdefault(name, set()).add(size)
    return {
        place: {
            name: next(iter(sizes)) for name, sizes in of_function.items()
            if place_of(name) is None
            and len(sizes) == 1 and all(size.least == size.most for size in sizes)
        }
        for place, of_function in ranges.items()
    }  # fmt: skip


def _current_name(name: str, known: RecordedRegion, now: Span) -> str:
    """Returns the current form of a recorded name. Line numbers of inner loops move with their
    region.
    """
    place = place_of(name)
    if place is None:
        return name
    return f"{now.file}:{place[1] - known.line + now.line}"


def match_recorded(regions: Sequence[Region], recording: Recording) -> dict[str, RecordedRegion]:
    """Returns the recorded data of each region that was executed, by region id.

    Raises InputError if no file of the recording belongs to the program, or if a loop has changed.
    """
    by_file: dict[str, list[Region]] = {}
    for region in regions:
        by_file.setdefault(region.span.file, []).append(region)
    matched: dict[str, RecordedRegion] = {}
    changed: list[RecordedRegion] = []
    theirs = _by_file(recording.regions, by_file)
    for file, recorded in theirs.items():
        of_file, gone = _match_file(file, by_file[file], recorded)
        matched |= of_file
        changed += gone
    if not theirs and not _by_file(recording.teams, by_file):
        raise InputError(
            "recorded from another program: none of its files has these loops",
            remedy="predict the sources that it was built from", path=recording.path,
        )  # fmt: skip
    _refuse_changed_loops(changed, recording)
    return matched


def match_teams(program: Program, recording: Recording) -> dict[str, list[_RecordedTeam]]:
    """Returns the recorded parallel regions of each loop with manual worksharing, by loop id.

    Raises InputError if such a parallel region has changed.
    """
    spans = manually_shared_regions(program) if recording.teams else {}
    left = {span for own in spans.values() for span in own}
    matched: dict[str, list[_RecordedTeam]] = {}
    changed: list[RecordedRegion] = []
    for file, recorded in _by_file(recording.teams, {span.file for span in left}).items():
        lines = lines_of(file)
        for known in recorded:
            if not known.sizes:
                continue  # a parallel region without manual worksharing
            near = sorted((span for span in left if span.file == file),
                          key=lambda span: (span.line != known.line, span.line))  # fmt: skip
            now = next((span for span in near if _begins_at(known, span.line, lines)), None)
            if now is None:
                changed.append(known)
                continue
            left.remove(now)
            for name, own in spans.items():
                if now in own:
                    matched.setdefault(name, []).append(_RecordedTeam(known, now))
    _refuse_changed_loops(changed, recording)
    return matched


def _by_file(
    recorded: Iterable[RecordedRegion], files: Collection[str]
) -> dict[str, list[RecordedRegion]]:
    """Returns recorded regions by source file. Paths are matched by their longest common end."""
    theirs: dict[str, list[RecordedRegion]] = {}
    for known in recorded:
        file = max(files, key=lambda file: common_end(file, known.file), default=None)
        if file is not None and common_end(file, known.file):
            theirs.setdefault(file, []).append(known)
    return theirs


def _refuse_changed_loops(changed: Sequence[RecordedRegion], recording: Recording) -> None:
    if not changed:
        return
    where = ", ".join(one_line(f"{region.file}:{region.line}") for region in changed[:_SHOWN])
    more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
    raise InputError(
        f"recorded from other sources: the loop that was at {where}{more} has changed since",
        remedy=_REMEDY, path=recording.path,
    )  # fmt: skip


def _match_file(
    file: str, regions: Sequence[Region], recorded: Sequence[RecordedRegion]
) -> tuple[dict[str, RecordedRegion], list[RecordedRegion]]:
    """Returns the recorded data of a file by region id, and recorded regions without a match."""
    lines = lines_of(file)
    left = list(regions)
    matched: dict[str, RecordedRegion] = {}
    moved: list[RecordedRegion] = []
    for known in sorted(recorded, key=lambda region: (region.line, region.ordinal)):
        same = [region for region in left if region.span.line == known.line]
        if same and _has_same_text(known, same[0], lines):
            matched[same[0].id] = known
            left.remove(same[0])
        else:
            moved.append(known)
    gone = []
    for known in moved:
        region = next((region for region in left if _has_same_text(known, region, lines)), None)
        if region is None or not known.text:
            if not known.text or not _begins_at(known, known.line, lines):
                gone.append(known)  # a loop with the same text is disabled by the macros
            continue
        matched[region.id] = known
        left.remove(region)
    return matched, gone


def _has_same_text(known: RecordedRegion, region: Region, lines: Sequence[str]) -> bool:
    """Whether a recorded loop has the same text as the region. True for recordings without text."""
    return _begins_at(known, region.span.line, lines)


def _begins_at(known: RecordedRegion, line: int, lines: Sequence[str]) -> bool:
    first = line - 1
    return not known.text or digest_of(lines[first : first + known.lines]) == known.text


def _recorded_macros(matched: Iterable[RecordedRegion]) -> set[frozenset[str]]:
    """Returns the sets of macros with which the recorded program was built."""
    return {
        frozenset(word[2:] if "=" in word else f"{word[2:]}=1" for word in known.macros)
        for known in matched
    }


def _missing_loops(recording: Recording, unread: Sequence[RecordedRegion]) -> tuple[str, ...]:
    """Returns a remark about recorded loops that the program does not contain, because it is read
    with other macros.
    """
    if not unread:
        return ()
    places = [f"{Path(known.file).name}:{known.line}" for known in unread]
    shown = ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
    macros = sorted(word[2:] for word in set().union(*(known.macros for known in unread)))
    built = f". The program was built with {_macro_list(macros)}" if macros else ""
    return (
        f"{recording.path}: {plural(len(unread), 'recorded loop')} not read here: {shown}{built}",
    )


def _remarks_on_macros(
    recording: Recording,
    builds: set[frozenset[str]],
    names: set[str],
    current_macros: frozenset[str],
) -> tuple[str, ...]:
    """Returns a remark about recorded values from a build with other macros."""
    if not names or builds <= {current_macros}:
        return ()
    there = sorted(set().union(*builds) - current_macros)
    own = sorted(current_macros - set().union(*builds))
    if not there and not own:
        return ()
    shown = ", ".join(sorted(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return (
        f"{recording.path}: recorded with {_macro_list(there)}, read with {_macro_list(own)}: "
        f"{len(names)} names are as recorded: {shown}",
    )


def _macro_list(macros: Sequence[str]) -> str:
    return " ".join(f"-D{macro.removesuffix('=1')}" for macro in macros) or "none of these"
