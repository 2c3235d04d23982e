"""Changed hints between two predictions, as a document and as JSON.

9 regions on dunnington, HEAD~1 -> src: 1 changed, 8 the same

src/solve.c:41 solve
    4 packages, 24 threads, 21.3x -> 1 package, 5 threads, 3.8x
    5.6 times as long at the hint: 1.2 ms -> 6.7 ms
    new: read b[p[i]], irregular
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from regionpredict.compare.hint_changes import HintChange, HintChanges, Kind
from regionpredict.compare.hint_outline import RegionOutline
from regionpredict.errors import one_line
from regionpredict.report.document import Column, Document, Items, Section, Table, below_folder
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import first_of
from regionpredict.report.quantities import plural, show_seconds, threads_text

SCHEMA = "regionpredict/diff/1"
_KINDS: tuple[tuple[Kind, str], ...] = (
    ("changed", "changed"), ("added", "new"), ("removed", "removed"), ("same", "the same"),
)  # fmt: skip
_REASONS = 6
"""Maximum number of reasons in the document. JSON has all."""


def changes_document(changes: HintChanges) -> Document:
    """Returns the regions that changed, appeared or disappeared, with the reasons. Absolute paths
    are relative to their common folder.
    """
    order = [kind for kind, _ in _KINDS]
    reported = [change for change in changes.changes if change.kind != "same"]
    reported.sort(key=lambda change: order.index(change.kind))
    sides = [side for change in reported for side in (change.old, change.new) if side is not None]
    table = Table(
        "Regions: open one for the reasons",
        [Column("Region"), Column("Change", only="text"), Column("Before"), Column("Now"),
         Column("Kind", only="page", choice=True, minor=True)],
        [
            (
                f"{change.region.id} {change.region.function}", _change_text(change),
                _hint_text(change.old), _hint_text(change.new), dict(_KINDS)[change.kind],
            )
            for change in reported
        ],
        details=lambda at: [Items(list(_reason_lines(reported[at])))],
        listed=True,
    )  # fmt: skip
    sections = [Section("Changed regions", [table])]
    files = [side.file for side in sides]
    absolute = [file for file in files if PurePath(file).is_absolute()]
    document = Document("Hint changes", [_lead(changes)], sections, lambda: _json_record(changes),
                        files=[] if absolute else files)  # fmt: skip
    return below_folder(document, absolute)


def _json_record(changes: HintChanges) -> dict[str, Any]:
    """Returns all regions. A region that exists on one side only is null on the other."""
    return {
        "schema": SCHEMA,
        "old": fields_of(changes.old, "name machine model"),
        "new": fields_of(changes.new, "name machine model"),
        "regions": [
            {
                "change": change.kind, **fields_of(change.region, "id function"),
                "old": _outline_record(change.old), "new": _outline_record(change.new),
                "reasons": list(change.reasons),
            }
            for change in changes.changes
        ],
    }  # fmt: skip


def _outline_record(outline: RegionOutline | None) -> dict[str, Any] | None:
    if outline is None:
        return None
    known = fields_of(outline, "id packages threads gain", seconds="hinted_seconds")
    return known | fields_of(outline, "bottleneck confidence")


def _lead(changes: HintChanges) -> str:
    old, new = changes.old, changes.new
    if old.machine == new.machine:
        which = f"on {new.machine}, {old.name} -> {new.name}"
    else:
        which = f"{old.name} on {old.machine} -> {new.name} on {new.machine}"
    if old.model != new.model:
        which += f", {old.model} model -> {new.model} model"
    counts = [
        f"{changes.count(kind)} {word}{_only_in(changes) if kind == 'changed' else ''}"
        for kind, word in _KINDS if changes.count(kind)
    ]  # fmt: skip
    head = f"{plural(len(changes.changes), 'region')} {which}"
    return one_line(f"{head}: {', '.join(counts)}" if counts else head)


def _only_in(changes: HintChanges) -> str:
    """Describes the number of changed regions with the same hint, such as ` (2 only in time)`."""
    parts = [
        f"{number} only in {what}" for what in ("time", "confidence")
        if (number := sum(change.only == what for change in changes.changes))
    ]  # fmt: skip
    return f" ({', '.join(parts)})" if parts else ""


def _change_text(change: HintChange) -> str:
    """Describes a change as `1 package, 5 threads, 3.8x -> 2 packages, 36 threads, 14.2x`."""
    if change.old is None or change.new is None:
        return f"{'new' if change.old is None else 'removed'}: {_hint_text(change.region)}"
    before, now = _hint_text(change.old), _hint_text(change.new)
    return f"{now}, as before" if before == now else f"{before} -> {now}"


def _reason_lines(change: HintChange) -> Iterator[str]:
    """Describes the change of the time at the hint, and the reasons."""
    old, new = change.old, change.new
    if old is None or new is None:
        return
    if old.id.rpartition(":")[0] != new.id.rpartition(":")[0] or old.function != new.function:
        yield f"was {old.id} {old.function}"
    yield from _time_text(old.hinted_seconds, new.hinted_seconds)
    if not change.same_confidence:
        yield f"confidence {100 * old.confidence:.0f} % -> {100 * new.confidence:.0f} %"
    if change.only is not None:
        yield (
            f"Only the {change.only} changed. Check the code before the region, sizes, and the "
            "machine's figures."
        )
    yield from first_of(change.reasons, _REASONS, "more reasons: see --format json")


def _hint_text(outline: RegionOutline | None) -> str:
    """Formats a hint as `2 packages, 36 threads, 14.2x`."""
    if outline is None:
        return "-"
    if outline.status == "skipped":
        return "no prediction"
    if outline.packages is None:
        return "hint unknown"
    text = threads_text(outline.packages, outline.threads)
    return text if outline.gain is None else f"{text}, {outline.gain:.1f}x"


def _time_text(old: float | None, new: float | None) -> Iterator[str]:
    if not old or not new:
        return
    ratio = new / old
    times = f"{show_seconds(old)} -> {show_seconds(new)}"
    if ratio > 1.005:
        yield f"{ratio:.2f} times as long at the hint: {times}"
    elif ratio < 0.995:
        yield f"{1 / ratio:.2f} times as fast at the hint: {times}"
