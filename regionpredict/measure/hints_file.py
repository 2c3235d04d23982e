"""Reads a hints file (`regionpredict predict --format json`), and finds the hint of a region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import NamedTuple, Protocol, TypeVar

from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import UsageError
from regionpredict.json_records import Positive, Record, Share
from regionpredict.machine import check_binding
from regionpredict.measure.hints_document import MAKE_HINTS, WHAT, read_hints_document
from regionpredict.measure.planned_sizes import at_most, planned_sizes

END = (1 << 63) - 1
"""The upper bound of the last range of iterations."""
STATUSES = ("predicted", "partial", "skipped")


class BySize(NamedTuple):
    """Describes how a hint depends on sizes, through the iterations of the first loop.

    `most` is the maximum of threads at any size. `choices` are (iterations below, threads) in
    ascending order, with at most `most` in the last range. They are empty if iterations do not
    decide. `steady`: the times depend on the sizes, but the hint does not.
    """

    most: int
    choices: tuple[tuple[int, int], ...]
    steady: bool = False


@dataclass(frozen=True, slots=True)
class Hint:
    """The prediction for one region. Unknown values are None.

    `iterations` is the trip count for which the loop is predicted, and `seconds` its time of one
    execution on one thread. `busy` has the busy seconds of threads by their number: mean and
    maximum (empty from a hints file). `band` is the interval of measured speedups by threads, if
    known. `over_threads`: the loop counts the threads, and each executes a block of these
    iterations. `by_hand`: threads share the loop by their numbers, so only its parallel region can
    be measured.
    """

    id: str
    file: str
    line: Positive
    loop_line: int | None
    function: str
    status: str
    packages: Positive | None
    threads: Positive | None
    score: float | None
    bottleneck: str | None
    confidence: Share
    borderline: bool
    speedup: dict[int, float]
    assumed: tuple[str, ...]
    sizes: BySize | None = None
    iterations: int | None = None
    over_threads: bool = False
    by_hand: bool = False
    seconds: float | None = None
    busy: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    band: Mapping[int, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TeamHint:
    """The prediction, or the plan, for one parallel region. `line` is the line of its `parallel`,
    and `regions` are ids. `size_set_before` are the names that its threads use as their number,
    which must not change. `predicted` is the prediction for the region as a whole, regardless of
    the plan. None in old files.
    """

    id: str
    file: str
    line: Positive
    regions: tuple[str, ...]
    threads: Positive | None
    loop_line: int | None = None
    sizes: BySize | None = None
    size_set_before: str = ""
    predicted: Hint | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """All hints of a file, and their machine.

    `teams` is empty in old files. `pages` ('first-touch', 'interleave' or a domain's number) and
    `binding` ('close', 'spread' or 'caches') are the run settings that the hints assume.
    """

    path: str
    machine: str
    packages: int
    cores_per_package: int
    model: str
    regions: tuple[Hint, ...]
    teams: tuple[TeamHint, ...] = ()
    pages: str | int = "first-touch"
    binding: str = "close"


class Place(NamedTuple):
    """The source position of a region. It has the lines of its directive and of its loop, and its
    number among the regions on that line, from 1.
    """

    file: str
    line: int
    loop_line: int | None
    ordinal: int = 1


class HasPlace(Protocol):
    """An object with the source position of a region."""

    @property
    def file(self) -> str:
        """The path of the source."""

    @property
    def line(self) -> int:
        """The line of the directive."""

    @property
    def loop_line(self) -> int | None:
        """The line of the loop."""


Region = TypeVar("Region", bound=HasPlace)


def read_hints(path: Path) -> Hints:
    """Reads a hints file. Raises InputError if it is not one."""
    document = read_hints_document(path)
    with input_errors_while_reading(path, WHAT, MAKE_HINTS):
        machine = document.inner("machine")
        return Hints(
            str(path), machine.text("name"), machine.whole("packages", 1),
            machine.whole("cores_per_package", 1), document.text("model"),
            tuple(_read_hint(region) for region in document.inner_records("regions")),
            _read_teams(document), *_read_run(document),
        )  # fmt: skip


def _read_run(document: Record) -> tuple[str | int, str]:
    """Returns page placement and thread binding. Old files have the defaults."""
    if "run" not in document.value:
        return "first-touch", "close"
    run = document.inner("run")
    pages: str | int
    if isinstance(run.value.get("pages"), str):
        pages = run.text("pages")
        if pages not in ("first-touch", "interleave"):
            raise run.error("pages", "is none of first-touch, interleave or a domain's number")
    else:
        pages = run.whole("pages", 0)
    return pages, binding_of(run)


def binding_of(run: Record) -> str:
    """Returns the thread binding. Old files have the default."""
    binding = run.text("binding") if "binding" in run.value else "close"
    try:
        return check_binding(binding)
    except UsageError:
        raise run.error("binding", "is not close, spread, caches or a list of places") from None


def _read_teams(document: Record) -> tuple[TeamHint, ...]:
    """Returns the parallel regions with their numbers of threads from the plan, limited to the
    recommendation for the program.
    """
    if "teams" not in document.value:
        return ()
    records = list(document.inner_records("teams"))
    teams = tuple(_read_team(team) for team in records)
    plans = [
        {team.text("id"): team.whole("threads", 1) for team in plan.inner_records("teams")}
        for plan in _read_plans(document)
    ]
    most = _recommended_threads(document)
    several = [team.text("id") for team in records if _has_several_threads_per_core(team)]
    planned = planned_sizes(plans, several, most)
    return tuple(
        replace(
            team,
            threads=planned.get(team.id, None if team.threads is None
                                else at_most(team.threads, most)),
            sizes=_limited_sizes(team.sizes, most),
        )
        for team in teams
    )  # fmt: skip


def _recommended_threads(document: Record) -> int | None:
    """Returns the recommended threads for the whole program. None in old files, and if unknown."""
    return document.inner("program").whole("threads", 1) if document.given("program") else None


def _limited_sizes(sizes: BySize | None, most: int | None) -> BySize | None:
    if sizes is None or most is None:
        return sizes
    return sizes._replace(
        most=at_most(sizes.most, most),
        choices=tuple((below, at_most(threads, most)) for below, threads in sizes.choices),
    )


def _has_several_threads_per_core(team: Record) -> bool:
    """Whether the hint has several threads per core. False in old files."""
    return team.given("threads_per_core") and team.whole("threads_per_core", 1) > 1


def _read_plans(document: Record) -> Iterable[Record]:
    if "plans" in document.value:
        return document.inner_records("plans")
    return [document.inner("plan")] if document.given("plan") else []


def _read_team(team: Record) -> TeamHint:
    return team.fill(
        TeamHint,
        sizes=_by_size(team),
        loop_line=None,
        predicted=_read_hint(team) if "speedup" in team.value else None,
    )


def _by_size(record: Record) -> BySize | None:
    """Returns how the hint depends on sizes. None if no size changes the hint, or in old files."""
    if not record.given("range"):
        return None
    ranges = record.inner("range")
    most = max(ranges.whole_numbers("threads", 1))
    steady = all(len(set(ranges.whole_numbers(unit, 1))) == 1 for unit in ("packages", "threads"))
    parts = list(record.inner_records("by_size"))
    below = [None if part.is_null("iterations_below") else part.whole("iterations_below", 0)
             for part in parts]  # fmt: skip
    known = [number for number in below[:-1] if number is not None]
    if not parts or len(known) < len(below) - 1 or known != sorted(known):
        return BySize(most, (), steady)
    return BySize(
        most,
        tuple(zip([*known, END], (part.whole("threads", 1) for part in parts), strict=True)),
        steady,
    )


def _read_hint(region: Record) -> Hint:
    status = region.text("status")
    if status not in STATUSES:
        raise region.error("status", f"is none of {', '.join(STATUSES)}")
    speedup = list(region.inner_records("speedup"))
    return region.fill(
        Hint,
        status=status,
        loop_line=region.whole("loop_line") if region.given("loop_line") else None,
        score=region.number("score", 0.0, 1.0) if region.given("score") else None,
        speedup={point.whole("threads", 1): point.number("value") for point in speedup},
        sizes=_by_size(region),
        iterations=_read_iterations(region),
        busy={},
        band={
            point.whole("threads", 1): (point.number("low"), point.number("high"))
            for point in speedup
            if "low" in point.value and "high" in point.value
        },
    )


def _read_iterations(region: Record) -> int | None:
    """Returns the iterations of a region. None if unknown, and in old files."""
    if not region.given("iterations"):
        return None
    count = region.inner("iterations")
    return None if count.is_null("value") else count.whole("value")


def match_hint(hints: Sequence[Region], place: Place) -> Region | None:
    """Returns the hint of the region at a source position: on the same line, in the file with the
    most common folders.

    Paths may differ at the start, for a source read on one machine and built on another. The file's
    name must be equal. If a macro puts several regions on one line, they match in order.
    """
    candidates = hints_at(hints, place)
    return candidates[min(place.ordinal, len(candidates)) - 1] if candidates else None


def hints_at(hints: Sequence[Region], place: Place) -> list[Region]:
    """Returns the hints of all regions on the line of a source position, in order."""
    best: list[Region] = []
    most = 0
    for hint in hints:
        same = hint.line == place.line or (
            hint.loop_line is not None and hint.loop_line == place.loop_line
        )
        common = common_end(hint.file, place.file) if same else 0
        if common > most:
            best, most = [], common
        if common and common == most and (not best or _are_on_one_line(best[0], hint)):
            best.append(hint)
    return best


def _are_on_one_line(first: HasPlace, second: HasPlace) -> bool:
    return (first.file, first.line) == (second.file, second.line)


def common_end(first: str, second: str) -> int:
    """Counts the equal path components at the end of two paths.

    >>> common_end("src/a/f.c", "/home/me/a/f.c")
    2
    """
    count = 0
    for left, right in zip(PurePath(first).parts[::-1], PurePath(second).parts[::-1], strict=False):
        if left != right:
            break
        count += 1
    return count
