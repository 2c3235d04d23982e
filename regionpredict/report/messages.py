"""Messages by pair of ranks and by size, as a document and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from regionpredict.errors import plural
from regionpredict.report.document import Block, Column, Document, Section, Table, Text, csv_rows
from regionpredict.report.html.blocks import heat
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import show_bytes, show_percent
from regionpredict.trace import EventTrace, Finding
from regionpredict.trace.messages import Messages, Pair

SCHEMA = "regionpredict/messages/1"
_MATRIX = 8  # maximum ranks of a matrix as text
_HEAT = 64  # and as a picture


def messages_document(
    messages: Messages, trace: EventTrace, top: int, findings: Sequence[Finding] = ()
) -> Document:
    """The matrix for few ranks, the pairs with the most data, and the distribution of message
    sizes. CSV has a row per pair of ranks. A page has the matrix of messages, too.
    """
    ranks = messages.ranks
    sent = {(pair.sender, pair.receiver): pair.bytes for pair in messages.pairs}
    matrix = Table("Bytes by sender and receiver", [
        Column("from \\ to"), *(Column(str(rank), show_bytes) for rank in ranks),
    ], [
        [str(a), *(sent.get((a, b)) for b in ranks)] for a in ranks if len(ranks) <= _MATRIX
    ])  # fmt: skip
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
    pairs = csv_rows([field.name for field in fields(Pair)],
                     [list(asdict(pair).values()) for pair in messages.pairs])  # fmt: skip
    lead = [
        f"{trace.name}: {plural(messages.count, 'message')}, {show_bytes(messages.bytes)}, "
        f"on {plural(len(ranks), 'rank')}"
    ]
    shown: list[Block] = [matrix, heaviest, sizes]
    pictures: list[Block] = []
    if messages.pairs and len(ranks) <= _HEAT:
        names = [str(rank) for rank in ranks]
        counted = {(pair.sender, pair.receiver): float(pair.messages) for pair in messages.pairs}
        unit, size = ("KiB", 1 << 10) if max(sent.values()) < 1 << 20 else ("MiB", 1 << 20)
        amounts = {pair: amount / size for pair, amount in sent.items()}
        pictures = [
            heat(title, [[values.get((a, b)) for b in ranks] for a in ranks], shown_in, names)
            for title, values, shown_in in (
                ("Data from the rank of the row to the rank of the column", amounts, unit),
                ("Messages from the rank of the row to the rank of the column", counted, "number"),
            )
        ]
    tables = shown if messages.pairs else [Text("no rank sends to another")]
    sections = [
        Section("Matrix", pictures, "page"),
        Section("Messages", [heaviest, sizes] if pictures else tables, "page"),
        Section("Messages", tables, "text"),
        Section("Pairs", [pairs], "csv"),
    ]
    return Document(f"Messages of {trace.name}", lead, sections, lambda: {
        "schema": SCHEMA,
        **fields_of(messages, "ranks", messages="count"),
        **fields_of(messages, "bytes unmatched pairs sizes"), "findings": plain(findings),
    })  # fmt: skip
