"""Documents the facts of `analyze`: properties of the source, without a machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Diagnostic
from regionpredict.report.document import Block, Cell, Column, Document, Section, Table, Text
from regionpredict.report.hints import facts_document
from regionpredict.report.loop_table import fact_rows
from regionpredict.report.names import file_titles
from regionpredict.report.quantities import plural
from regionpredict.report.view import EVERYTHING, View, chosen_facts


def fact_document(
    facts: Sequence[RegionFacts], view: View = EVERYTHING, notes: Sequence[Diagnostic] = ()
) -> Document:  # fmt: skip
    """Returns a table of loops per file. `view` selects the rows."""
    shown = chosen_facts(facts, view)
    lead, titles = file_titles([own.region.span.file for own in shown])
    columns = [Column("Line", str), Column("Function", cut=True), Column("Iterations", cut=True),
               Column("Working set in bytes", cut=True)]  # fmt: skip
    tables: list[Block] = []
    for file, group in groupby(shown, key=lambda own: own.region.span.file):
        own = list(group)
        rows: list[list[Cell]] = [
            [
                one.region.span.line, one.region.function,
                *(("skipped", "") if one.status == "skipped" else
                  (str(one.iterations), str(one.working_set))),
            ]
            for one in own
        ]  # fmt: skip

        def skipped(at: int, own: list[RegionFacts] = own) -> list[str]:
            return [f"skipped: {first_message(own[at])}"] if own[at].status == "skipped" else []

        tables.append(Table(titles[file], columns, rows, below=skipped))
    shares = "" if len(shown) == len(facts) else f"{len(shown)} of "
    count = Text(f"{shares}{plural(len(facts), 'loop')}")
    sections = [Section("Facts", [*tables, count]), Section("Rows", [fact_rows(shown)], "csv")]
    return Document("Facts", lead, sections, lambda: facts_document(shown, notes))


def first_message(facts: RegionFacts) -> str:
    """Returns the reason why a region is skipped."""
    return facts.diagnostics[0].message if facts.diagnostics else "not understood"
