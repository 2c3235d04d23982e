"""Computes the facts of all regions of source files, and isolates failures.

Each file is read in a child process with limits. If a file exceeds a limit, each of its loops keeps
a row if it could be parsed (RP120). Otherwise the file is left out (RP004). If the program fails on
a region, only that region has no facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from regionpredict.analysis import Bindings, RegionFacts, bind_names, checked_facts
from regionpredict.analysis.given_shares import Given, with_given
from regionpredict.analysis.running_extremes import with_extremes
from regionpredict.analysis.unsigned_starts import with_unsigned_starts
from regionpredict.errors import InputError, UsageError
from regionpredict.frontend import (
    ArgumentValues,
    FileResult,
    Linked,
    Parsed,
    SourceRequest,
    aborted_reading,
    follow_arguments,
    has_directive,
    linked,
    lower_file,
    parse_file,
    read_alone,
    serial_nests_in,
)
from regionpredict.ir import Definition, Region, Span
from regionpredict.isolation import Failure, Limits, attempt, run_isolated
from regionpredict.sizes.argument_sizes import with_arguments

Tell = Callable[[str, int, int], None]
"""Receives the name of a stage, the number of finished items, and their total."""


def stage_progress(report_progress: Tell, stage: str, pieces: int, done: int) -> None:
    """The progress of one stage with a known number of items."""
    report_progress(stage, done, pieces)


class Reading(NamedTuple):
    """How the files of a program are read: the arguments of `analyse`."""

    given: Given
    frontend: str
    flows: bool
    limits: Limits
    clock: Callable[[], float]
    arguments: Sequence[str] | None
    defaults: bool = True


class FileFacts(NamedTuple):
    """The facts of one file, computed in the process that read it, and the times of the stages in
    the caller's clock.
    """

    part: FileResult
    facts: list[RegionFacts]
    reading: float
    asking: float


def argument_remarks(
    files: Sequence[FileFacts], arguments: Sequence[str] | None
) -> tuple[str, ...]:
    """Remarks on the program's arguments."""
    followed = [file.part.arguments for file in files if file.part.arguments is not None]
    if arguments is not None and not followed:
        raise UsageError(
            "--args: no function main in what was read", remedy="give all files of the program"
        )
    return tuple(dict.fromkeys(line for file in followed for line in file.remarks))


def read_alone_isolated(request: SourceRequest, reading: Reading) -> FileFacts:
    """A program of one file. Raises InputError where it cannot be parsed within the limits."""
    read = partial(_read_and_analyze, reading=reading)
    [outcome] = run_isolated(read, [request], 1, reading.limits)
    if isinstance(outcome, Failure):
        [named] = run_isolated(partial(read, withheld=outcome.reason), [request], 1, reading.limits)
        if not isinstance(named, Failure) and named.facts:
            return named
        remedy = "shorten it, or try the other --frontend"
        raise InputError(outcome.reason, remedy=remedy, path=request.path)
    return outcome


def _read_and_analyze(request: SourceRequest, *, reading: Reading, withheld: str = "") -> FileFacts:
    begin = reading.clock()
    part = read_alone(request, reading.frontend, flows=reading.flows, arguments=reading.arguments,
                      withheld=withheld, defaults=reading.defaults)  # fmt: skip
    return _facts_for_sizes(part, part.arguments, reading, begin)


def read_together(
    requests: Sequence[SourceRequest], reading: Reading, processes: int, report_progress: Tell
) -> list[FileFacts]:
    """A program of several files. Each is parsed alone, then lowered with access to all others."""
    order = sorted(range(len(requests)), key=lambda at: -_file_length(requests[at].path))
    parsed, seconds = _parsed_files(requests, order, reading, processes, report_progress)
    units = linked(parsed)
    busy = [at for at in order if not parsed[at].idle]
    followed = _argument_values(units, reading)
    lower = partial(_lower_and_analyze, parsed=parsed, units=units, reading=reading,
                    followed=followed, serial=serial_nests_in(parsed))  # fmt: skip
    progress = partial(stage_progress, report_progress, "analysing", len(busy))
    lowered = dict(
        zip(busy, run_isolated(lower, busy, processes, reading.limits, progress), strict=True)
    )
    asked = []
    for at, file in enumerate(parsed):
        made = lowered.get(at)
        if made is None:
            made = FileFacts(lower_file(file, None), [], 0.0, 0.0)
        elif isinstance(made, Failure):
            named = lower_file(file, units.get(at), withheld=made.reason)
            made = _facts_for_sizes(named, None, reading, reading.clock())
        part = made.part._replace(arguments=followed)
        asked.append(made._replace(part=part, reading=made.reading + seconds[at]))
    return asked


def _parsed_files(
    requests: Sequence[SourceRequest], order: Sequence[int], reading: Reading, processes: int,
    report_progress: Tell,
) -> tuple[list[Parsed], list[float]]:  # fmt: skip
    """The files, in the order of the requests, and the time of each. Without an active directive in
    any file, no function matters, and none is read.

    Files whose own text has directives are parsed first. They show whether functions matter.
    """
    parsed: dict[int, Parsed] = {}
    seconds = [0.0] * len(requests)
    matters = reading.arguments is not None

    def parse(places: Sequence[int]) -> None:
        progress = partial(_further_progress, report_progress, len(parsed), len(requests))
        files = [requests[at] for at in places]
        work = partial(_parse, reading=reading, defer=not matters)
        outcomes = run_isolated(work, files, processes, reading.limits, progress)
        for at, outcome in zip(places, outcomes, strict=True):
            if isinstance(outcome, Failure):
                parsed[at] = aborted_reading(requests[at], outcome.reason)
            else:
                parsed[at] = outcome[0]
                seconds[at] += outcome[1]

    first = {at for at in order if has_directive(requests[at])}
    for group in ([at for at in order if at in first], [at for at in order if at not in first]):
        parse(group)
        matters = matters or any(parsed[at].unit is not None for at in group)
    if matters:
        deferred = [at for at in order if parsed[at].deferred]
        for at in deferred:
            del parsed[at]
        parse(deferred)
    return [parsed[at] for at in range(len(requests))], seconds


def _further_progress(report_progress: Tell, before: int, pieces: int, done: int) -> None:
    """The progress of reading. `before` is the number of files already read."""
    report_progress("reading", before + done, pieces)


def _argument_values(units: Linked, reading: Reading) -> ArgumentValues | None:
    """The values that follow from the program's arguments, or from a run without arguments."""
    if reading.arguments is None and not reading.defaults:
        return None
    follow = partial(follow_arguments, units)
    [followed] = run_isolated(follow, [reading.arguments], 1, reading.limits)
    if isinstance(followed, Failure):
        if reading.arguments is None:
            return None
        raise UsageError(
            f"--args: {followed.reason}, while the program was followed",
            remedy="give the sizes with --set",
        )
    return followed


def _parse(request: SourceRequest, *, reading: Reading, defer: bool) -> tuple[Parsed, float]:
    begin = reading.clock()
    parsed = parse_file(request, reading.frontend, flows=reading.flows, defer=defer)
    return parsed, reading.clock() - begin


def _lower_and_analyze(
    at: int, *, parsed: Sequence[Parsed], units: Linked, reading: Reading,
    followed: ArgumentValues | None, serial: Collection[Span],
) -> FileFacts:  # fmt: skip
    begin = reading.clock()
    part = lower_file(parsed[at], units.get(at), serial=serial)
    return _facts_for_sizes(part, followed, reading, begin)


def _facts_for_sizes(
    part: FileResult, followed: ArgumentValues | None, reading: Reading, begin: float
) -> FileFacts:
    """Applies the given sizes to a file and computes the facts of its regions. `followed` has the
    values that follow from the program's arguments.
    """
    given = reading.given
    counted = [(_with_shares(region, given), defined) for region, defined in part.regions]
    alone = tuple(nest._replace(region=_with_shares(nest.region, given)) for nest in part.serial)
    part = part._replace(regions=counted, serial=alone)
    part = part if followed is None else with_arguments(part, followed, _names_in_source(given))
    read = reading.clock()
    facts = [region_facts(region, known, given.whole) for region, known in part.regions]
    own = [(fact.region, known) for fact, (_, known) in zip(facts, part.regions, strict=True)]
    return FileFacts(part._replace(regions=own), facts, read - begin, reading.clock() - read)


def _with_shares(region: Region, given: Given) -> Region:
    """The region with the known probabilities of its branches."""
    return with_extremes(with_given(region, given))


def _names_in_source(given: Given) -> frozenset[str]:
    """The given names as the source writes them: n of solve:n."""
    return frozenset(part for name in given.whole for part in (name, name.rpartition(":")[2]))


def region_facts(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int]
) -> RegionFacts:
    """The facts of a region. After an internal error, the region without its contents."""
    bindings = bind_names(region, definitions, given)
    region = with_unsigned_starts(region, bindings)
    made = attempt(checked_facts, region, bindings)
    return _withheld_facts(region, bindings, made.reason) if isinstance(made, Failure) else made


def withheld_facts(facts: RegionFacts, reason: str) -> RegionFacts:
    """The facts of a region without a result, with the `reason`."""
    return _withheld_facts(facts.region, facts.bindings, reason)


def _withheld_facts(region: Region, bindings: Bindings, reason: str) -> RegionFacts:
    return checked_facts(region.withheld(reason), bindings)


def _file_length(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
