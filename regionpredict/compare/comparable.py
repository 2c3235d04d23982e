"""Checks whether a hint and a measurement are for the same machine and the same size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from regionpredict.analysis.given_sizes import place_of
from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Hint, Hints, TeamHint
from regionpredict.measure.records import EntryCase, EntrySize, Host, RegionRun

SAME_SIZE = 0.25
"""The allowed relative difference between mean measured and predicted trip counts, for regions with
several sizes. Such regions are predicted at the middle size.
"""
OFTEN = 0.25
"""The share of executions that must have exactly the predicted trip count, so that a region is
comparable.
"""


def machine_difference(hints: Hints, host: Host) -> str:
    """Describes how the measured host differs from the machine of the hints. Empty if its shape is
    the same.

    Only the shape is compared, since a machine file need not name its processor.

    >>> machine_difference(
    ...     Hints("hints.json", "dunnington", 4, 6, "saturation", ()),
    ...     Host("node7", "a processor", 2, 8, 1, 1),
    ... )
    'measured on node7, 2 x 8 cores, the hints are for dunnington, 4 x 6 cores'
    """
    if (host.packages, host.cores_per_package) == (hints.packages, hints.cores_per_package):
        return ""
    return (
        f"measured on {host.name}, {host.packages} x {host.cores_per_package} cores, "
        f"the hints are for {hints.machine}, {hints.packages} x {hints.cores_per_package} cores"
    )


def check_machine(hints: Hints, host: Host | None, *, other_machine: bool) -> str:
    """Returns the difference between host and machine if it is empty or allowed (`other_machine`).
    Otherwise, raises InputError.
    """
    difference = "" if host is None else machine_difference(hints, host)
    if difference and not other_machine:
        raise InputError(
            difference,
            remedy="predict for this host's model; regionpredict compare takes --other-machine",
            path=hints.path,
        )
    return difference


def size_difference(iterations: int | None, run: RegionRun, *, over_threads: bool = False) -> str:
    """Describes how the measured size of a region differs from the predicted one. Empty if it does
    not, or if one of them is unknown.

    `iterations` are the predicted ones. If a loop always had the same trip count, it must be equal
    to the predicted one. For several trip counts, the mean may match. The count up to which half of
    all iterations are done may match, too, or a count that many executions had. Recorded runs are
    predicted at these values. For a loop `over_threads`, the threads were counted.
    """
    if iterations is None or not run.counted:
        return ""
    mean = run.trips / run.counted
    if over_threads and run.least_trips == run.most_trips == run.most_team:
        return ""
    if run.least_trips == run.most_trips:
        same = run.most_trips == iterations
    else:
        typical = (mean, _middle_of_work(run.cases))
        same = any(abs(size - iterations) <= SAME_SIZE * iterations for size in typical)
        exact = sum(case.entries for case in run.cases if case.trips == iterations)
        same = same or exact >= OFTEN * run.executions
    if same:
        return ""
    return f"measured with {_count_text(mean)} iterations, predicted for {iterations}"


def _middle_of_work(cases: Sequence[EntryCase]) -> int:
    """Returns the trip count up to which half of all iterations are done. 0 if unknown."""
    trips = sorted((case.trips or 0, case.entries) for case in cases)
    done = list(accumulate(count * entries for count, entries in trips))
    return trips[bisect_left(done, done[-1] / 2)][0] if trips else 0


def team_difference(
    team: TeamHint, hints: Sequence[Hint], run: RegionRun, different: Mapping[str, str]
) -> str:
    """Describes how the measured size of one loop of a parallel region differs from the predicted
    one.

    `different` has the differences of loops that were measured separately. For manually shared
    loops, the run of the parallel region has the lengths.
    """
    sizes = {place[1]: size for size in run.sizes if (place := place_of(size.name)) is not None}
    for hint in hints:
        if hint.id not in team.regions:
            continue
        difference = different.get(hint.id, "")
        size = sizes.get(hint.line) if hint.by_hand else None
        if size is not None and hint.iterations is not None:
            difference = _entry_difference(hint.iterations, size)
        if difference:
            return f"{difference} ({hint.id})"
    return ""


def _entry_difference(iterations: int, size: EntrySize) -> str:
    if size.least == size.most:
        same = size.most == iterations
    else:
        same = (
            size.least <= (1 + SAME_SIZE) * iterations and iterations <= (1 + SAME_SIZE) * size.most
        )
    if same:
        return ""
    measured = str(size.least) if size.least == size.most else f"{size.least} to {size.most}"
    return f"measured with {measured} iterations, predicted for {iterations}"


def _count_text(mean: float) -> str:
    return str(int(mean)) if mean == int(mean) else f"{mean:.1f}"
