"""Documents messages by pair of ranks and by size, also as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.errors import plural
from regionpredict.report.document import Block, Column, Document, Section, Table, Text, csv_records
from regionpredict.report.html.blocks import heat
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import show_bytes, show_percent
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.messages import Messages, Pair

SCHEMA = "regionpredict/messages/1"
_MATRIX = 8  # maximum ranks of a matrix as text
_HEAT = 64  # maximum ranks of a matrix as a picture


def messages_document(
    messages: Messages, trace: EventTrace, top: int, findings: Sequence[Finding] = ()
) -> Document:
    """Returns the matrix for few ranks, the pairs with the most data, and the distribution of
    message sizes.

    CSV has a row per pair of ranks. A page also has the matrix as a picture.
    """
    ranks = messages.ranks
    heaviest = Table("Pairs with the most bytes", [
        Column("From", str), Column("To", str), Column("Messages", str),
        Column("Bytes", show_bytes), Column("Mean size", show_bytes),
    ], [
        [pair.sender, pair.receiver, pair.messages, pair.bytes, pair.bytes / pair.messages]
        for pair in sorted(messages.pairs, key=lambda pair: -pair.bytes)
    ], top=top)  # fmt: skip
    sizes = Table("Messages by size", [
        Column("Size"), Column("Messages", str), Column("Share", show_percent, bar=True),
        Column("Bytes", show_bytes), Column("Share", show_percent, bar=True),
    ], [
        [
            show_bytes(size.least) if size.least == size.most
            else f"{show_bytes(size.least)} to {show_bytes(size.most + 1)}",
            size.messages, size.messages / messages.count,
            size.bytes, size.bytes / max(messages.bytes, 1),
        ]
        for size in messages.sizes
    ])  # fmt: skip
    lead = [
        f"{trace.name}: {plural(messages.count, 'message')}, {show_bytes(messages.bytes)}, "
        f"on {plural(len(ranks), 'rank')}"
    ]
    names = [str(rank) for rank in ranks]
    matrices: list[Block] = [
        heat(f"{what} from the rank of the row to the rank of the column",
             [[values.get((a, b)) for b in ranks] for a in ranks], unit, names)
        for what, values, unit in (
            ("Data", {(one.sender, one.receiver): float(one.bytes) for one in messages.pairs}, "B"),
            ("Messages", {(one.sender, one.receiver): float(one.messages)
                          for one in messages.pairs}, ""),
        )
    ] if messages.pairs else []  # fmt: skip
    tables: list[Block] = [heaviest, sizes]
    sections = [
        Section("Matrix", matrices if len(ranks) <= _HEAT else [], "page"),
        Section("Matrix", matrices[:1] if len(ranks) <= _MATRIX else [], "text"),
        Section(
            "Messages", tables if messages.pairs else [Text("No rank sends a message to another.")]
        ),
        Section("Pairs", [csv_records(Pair, messages.pairs)], "csv"),
    ]
    return Document(f"Messages of {trace.name}", lead, sections, lambda: {
        "schema": SCHEMA,
        **fields_of(messages, "ranks", messages="count"),
        **fields_of(messages, "bytes unmatched pairs sizes"), "findings": plain(findings),
    })  # fmt: skip
