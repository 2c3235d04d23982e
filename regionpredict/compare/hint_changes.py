"""Finds the hints that differ between two predictions, and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from regionpredict.compare.hint_outline import HintOutline, Reference, RegionOutline
from regionpredict.compare.region_matching import matched_regions
from regionpredict.constant import Constant

NOTICED = Constant(
    0.05, "1", "assumed",
    "a smaller change of a hint's time is noise, since a hint may be slower than the best by this "
    "share",
)  # fmt: skip

NOTICED_CONFIDENCE = Constant(
    0.05, "1", "assumed",
    "a smaller change of a confidence counts as none, since tables show whole percents",
)  # fmt: skip

Kind = Literal["changed", "added", "removed", "same"]


class HintChange(NamedTuple):
    """A region before and after a change. Either is None if it is missing.

    A region is `changed` if its hint, status or findings differ, or if its time or confidence
    changed by more than noise. `reasons` are sentences on the differences, also for a region that
    is `same`.
    """

    kind: Kind
    old: RegionOutline | None
    new: RegionOutline | None
    reasons: tuple[str, ...]

    @property
    def region(self) -> RegionOutline:
        """Returns the region after the change, or before it if it was removed."""
        known = self.new or self.old
        assert known is not None
        return known

    @property
    def only(self) -> Literal["time", "confidence"] | None:
        """Returns the only value that changed, for a changed region with the same hint and loop."""
        if self.kind != "changed" or self.reasons or self.old is None or self.new is None:
            return None
        if (self.old.packages, self.old.threads) != (self.new.packages, self.new.threads):
            return None
        moved = _has_moved(self.old.hinted_seconds, self.new.hinted_seconds)
        return "time" if moved else "confidence"

    @property
    def same_confidence(self) -> bool:
        """Whether the confidence of the hint is about the same."""
        return self.old is None or self.new is None or not _other_confidence(self.old, self.new)


class HintChanges(NamedTuple):
    """The changes of all regions: those of the new prediction in order, then the removed ones."""

    old: HintOutline
    new: HintOutline
    changes: tuple[HintChange, ...]

    def count(self, kind: Kind) -> int:
        """Returns the number of regions with this kind of change."""
        return sum(change.kind == kind for change in self.changes)


def hint_changes(old: HintOutline, new: HintOutline) -> HintChanges:
    """Compares every region of two predictions, without duplicates."""
    pairs, removed, _ = matched_regions(old.regions, new.regions)
    before = {after.id: first for first, after in pairs}
    changes = [
        _compare_regions(before[region.id], region)
        if region.id in before
        else HintChange("added", None, region, ())
        for region in new.regions
    ]
    changes += [HintChange("removed", outline, None, ()) for outline in removed]
    return HintChanges(old, new, tuple(changes))


def _compare_regions(old: RegionOutline, new: RegionOutline) -> HintChange:
    reasons = tuple(_change_reasons(old, new))
    same = (
        (old.status, old.packages, old.threads) == (new.status, new.packages, new.threads)
        and {rule for rule, _ in old.rules} == {rule for rule, _ in new.rules}
        and not _has_moved(old.hinted_seconds, new.hinted_seconds)
        and not _other_confidence(old, new)
    )
    return HintChange("same" if same else "changed", old, new, reasons)


def _has_moved(old: float | None, new: float | None) -> bool:
    if old is None or new is None or not old:
        return old != new
    return abs(new / old - 1.0) > NOTICED.value


def _other_confidence(old: RegionOutline, new: RegionOutline) -> bool:
    return abs(new.confidence - old.confidence) >= NOTICED_CONFIDENCE.value


def _change_reasons(old: RegionOutline, new: RegionOutline) -> Iterator[str]:
    """Describes the differences of a region, causes before effects."""
    for name, first, second in (
        ("directive", old.directive, new.directive),
        ("iterations", _count_text(old.iterations), _count_text(new.iterations)),
        ("status", old.status, new.status),
    ):
        if first != second:
            yield f"{name} {first} -> {second}"
    if old.clauses is not None and new.clauses is not None:
        yield from (f"new: {clause}" for clause in new.clauses if clause not in old.clauses)
        yield from (f"gone: {clause}" for clause in old.clauses if clause not in new.clauses)
    yield from _reference_changes(old.references, new.references)
    for rule, message in new.rules:
        if rule not in {known for known, _ in old.rules}:
            yield f"new: {message} ({rule})"
    for rule in dict.fromkeys(known for known, _ in old.rules):
        if rule not in {known for known, _ in new.rules}:
            yield f"gone: {rule}"
    yield from _working_set(old.working_set[1], new.working_set[1])
    if old.bottleneck != new.bottleneck:
        yield f"limited by {new.bottleneck or 'nothing known'}, was {old.bottleneck or 'unknown'}"


def _working_set(old: int | None, new: int | None) -> Iterator[str]:
    if old is None or new is None or not old:
        return
    if old != new:
        yield f"{new / old:.3g} times the bytes ({old} -> {new})"


def _count_text(count: tuple[str | None, int | None]) -> str:
    """Shows a count as `n = 1000`, `1000`, or a question mark.

    >>> _count_text(("n", 1000)), _count_text(("1000", 1000)), _count_text((None, None))
    ('n = 1000', '1000', '?')
    """
    text, value = count
    if text is None or text == str(value):
        return "?" if value is None else str(value)
    return text if value is None else f"{text} = {value}"


def _reference_changes(old: tuple[Reference, ...], new: tuple[Reference, ...]) -> Iterator[str]:
    """Lists references that were added or removed, or whose access pattern changed."""
    first = {(reference.text, reference.kind): reference for reference in old}
    second = {(reference.text, reference.kind): reference for reference in new}
    for (text, kind), reference in second.items():
        before = first.get((text, kind))
        if before is None:
            yield f"new: {kind} {text}{_as_is(reference)}"
        elif before.pattern != reference.pattern:
            now, then = reference.pattern or "unknown", before.pattern or "unknown"
            yield f"{kind} {text} is {now}, was {then}"
        elif before.reuse != reference.reuse:
            now, then = reference.reuse or "unknown", before.reuse or "unknown"
            yield f"{kind} {text} is a {now}, was a {then}"
    for (text, kind), _ in first.items():
        if (text, kind) not in second:
            yield f"gone: {kind} {text}"
    again = Counter((reference.text, reference.kind) for reference in new)
    for key, times in Counter((reference.text, reference.kind) for reference in old).items():
        if key in again and again[key] != times:
            yield f"{key[1]} {key[0]} occurs {again[key]} times, was {times}"


def _as_is(reference: Reference) -> str:
    return f", {reference.pattern}" if reference.pattern is not None else ""
