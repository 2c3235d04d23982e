"""Messages by pair of ranks and by size, as a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from regionpredict.errors import plural
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.csv_text import csv_text
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.messages import Messages, Pair

SCHEMA = "regionpredict/messages/1"
_MATRIX = 8  # ranks whose matrix fits a page
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def messages_json(messages: Messages, findings: Sequence[Finding]) -> str:
    """The pairs that have messages, the sizes, and findings."""
    document = {
        "schema": SCHEMA,
        "ranks": list(messages.ranks),
        "messages": messages.count,
        "bytes": messages.bytes,
        "unmatched": messages.unmatched,
        "pairs": [asdict(pair) for pair in messages.pairs],
        "sizes": [asdict(size) for size in messages.sizes],
        "findings": [asdict(finding) for finding in findings],
    }
    return json.dumps(document, indent=1) + "\n"


def messages_csv(messages: Messages) -> str:
    """A row each pair, under a header row."""
    header = [field.name for field in fields(Pair)]
    return csv_text(header, [list(asdict(pair).values()) for pair in messages.pairs])


def messages_table(messages: Messages, trace: EventTrace, top: int) -> str:
    """The matrix of few ranks, the heaviest pairs, and how many messages have which size."""
    lines = [
        f"{trace.name}: {plural(messages.count, 'message')}, {_bytes(messages.bytes)}, "
        f"on {plural(len(messages.ranks), 'rank')}",
        "",
    ]
    if not messages.pairs:
        return "\n".join([*lines, "no rank sends to another"]) + "\n"
    if len(messages.ranks) <= _MATRIX:
        sent = {(pair.sender, pair.receiver): pair.bytes for pair in messages.pairs}
        rows = [("from \\ to", *map(str, messages.ranks))]
        rows += [
            (str(a), *(_bytes(sent[a, b]) if (a, b) in sent else "-" for b in messages.ranks))
            for a in messages.ranks
        ]
        lines += [*aligned_lines(rows), ""]
    heaviest = sorted(messages.pairs, key=lambda pair: -pair.bytes)
    rows = [("from", "to", "messages", "bytes", "mean size")]
    rows += [
        (
            str(pair.sender), str(pair.receiver), str(pair.messages), _bytes(pair.bytes),
            _bytes(pair.bytes / pair.messages),
        )
        for pair in heaviest[:top]
    ]  # fmt: skip
    lines += aligned_lines(rows)
    if len(heaviest) > top:
        lines.append(f"... and {len(heaviest) - top} more; --top {len(heaviest)} shows all")
    rows = [("size", "messages", "share", "bytes", "share")]
    rows += [
        (
            _bytes(size.least) if size.least == size.most
            else f"{_bytes(size.least)} to {_bytes(size.most + 1)}",
            str(size.messages), f"{100 * size.messages / messages.count:.1f} %",
            _bytes(size.bytes), f"{100 * size.bytes / max(messages.bytes, 1):.1f} %",
        )
        for size in messages.sizes
    ]  # fmt: skip
    return "\n".join([*lines, "", *aligned_lines(rows)]) + "\n"


def _bytes(count: float) -> str:
    """Bytes in a few digits.

    >>> _bytes(512), _bytes(65536), _bytes(0)
    ('512 B', '64 KiB', '0 B')
    """
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.4g} {_UNITS[unit]}"
