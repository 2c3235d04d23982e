"""Reads values of a machine file with their labels: source and evidence.

A plain value (``latency: 14``) has the source and evidence of its section. A value with own labels
is a mapping whose key is the evidence: ``latency: {assumed: 15, source: as Penryn}``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from regionpredict.documents import whole_number
from regionpredict.machine.quantity import EVIDENCE, Curve, Evidence, Quantity
from regionpredict.machine.reader import units
from regionpredict.machine.reader.document import Item, did_you_mean

LABELS = ("source", "evidence")


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of plain values in a section. `sources` is the table of sources in the file.
    `cycles_per_ns` converts times to cycles.
    """

    sources: Mapping[str, str]
    source: str = ""
    evidence: Evidence = "measured"
    cycles_per_ns: float | None = None

    def within(self, entries: Mapping[str, Item]) -> Labels:
        """Returns the labels inside a section, which may set a `source` and an `evidence`."""
        source, evidence = self.source, self.evidence
        if "source" in entries:
            source = self._source(entries["source"])
        if "evidence" in entries:
            evidence = _evidence(entries["evidence"])
        return replace(self, source=source, evidence=evidence)

    def at_clock(self, clock_hz: float) -> Labels:
        """Returns the labels with a clock, which converts times in ns to cycles."""
        return replace(self, cycles_per_ns=clock_hz / 1e9)

    def _source(self, item: Item) -> str:
        text = item.scalar()
        if text in self.sources:
            return self.sources[text]
        if " " not in text.strip():
            near = difflib.get_close_matches(text, self.sources, n=1)
            raise item.error(
                f"unknown source '{text}' in {item.where}",
                f"did you mean '{near[0]}'?"
                if near
                else "add it to the table 'sources', or say it in two words or more",
            )
        return text

    def value(self, item: Item) -> tuple[Item, Labels]:
        """Returns the plain value of `item` and its labels."""
        if item.kind != "mapping":
            return item, self
        given = [name for name in (*EVIDENCE, "value") if name in item.entries]
        if len(given) != 1:
            return item, self
        item.mapping((given[0], "source", *(["evidence"] if given == ["value"] else [])))
        labels = self.within(item.entries)
        if given[0] != "value":
            evidence = next(known for known in EVIDENCE if known == given[0])
            labels = replace(labels, evidence=evidence)
        return item.entries[given[0]], labels

    def quantity(
        self, item: Item, unit: str, *, plain: float = 1.0, low: float = 0.0, whole: bool = False
    ) -> Quantity:
        """Reads a number in `unit` that is larger than `low`. With `whole`, it must be an integer.

        Raises InputError with the line of the value.
        """
        bare, labels = self.value(item)
        number = labels.number(bare, unit, plain=plain, low=low)
        if whole and number != round(number):
            raise bare.error(f"{item.where} must be a whole number, not {bare.text}")
        return Quantity(number, unit, labels.evidence, labels.named(item))

    def curve(
        self, item: Item, unit: str, *, plain: float = 1.0, low: float = 0.0
    ) -> Curve:  # fmt: skip
        """Reads a table `{1: 14.3, 2: 27.1}` of numbers in `unit` by number of cores or threads."""
        bare, labels = self.value(item)
        if bare.kind != "mapping" or not bare.entries:
            raise bare.error(
                f"{item.where} must be a table by count", "write it as {1: 14.3, 2: 27.1}"
            )
        counts: list[int] = []
        for name, entry in bare.entries.items():
            if not whole_number(name):
                raise entry.error(
                    f"'{name}' in {item.where} is not a count", "write it as {1: 14.3, 2: 27.1}"
                )
            if counts and int(name) <= counts[-1]:
                raise entry.error(
                    f"{name} comes after {counts[-1]} in {item.where}", "write the counts rising"
                )
            counts.append(int(name))
        if counts[0] != 1:
            raise bare.error(f"{item.where} begins at {counts[0]}", "begin with the value for 1")
        numbers = [
            labels.number(entry, unit, plain=plain, low=low) for entry in bare.entries.values()
        ]
        return Curve(tuple(counts), tuple(numbers), unit, labels.evidence, labels.named(item))

    def number(self, item: Item, unit: str, *, plain: float = 1.0, low: float = 0.0) -> float:
        """Reads the plain number of `item` in `unit`. Raises InputError with its line."""
        try:
            number = units.parse(item.scalar(), unit, plain=plain, cycles_per_ns=self.cycles_per_ns)
        except units.UnitError as failure:
            raise item.error(
                f"{failure} in {item.where}", f"write a number in {units.accepted(unit)}"
            ) from None
        if not math.isfinite(number) or number <= low:
            raise item.error(f"{item.where} must be above {low:g}, not {item.text}")
        if unit and number > units.MOST:
            raise item.error(
                f"{item.where}: {number:.3g} {unit} is more than any machine has",
                "look at the number and its unit",
            )
        least = units.LEAST.get(unit, 0.0)
        if number < least:
            raise item.error(
                f"{item.where}: {number:.3g} {unit} is less than any core has",
                f"look at the number and its unit: at least {least:g} {unit}",
            )
        return number

    def named(self, item: Item) -> str:
        """The source of the value at `item`. Raises InputError if there is none."""
        if not self.source:
            raise item.error(
                f"{item.where} has no source",
                "give it, its section or the file a 'source', or write {assumed: ...}",
            )
        return self.source


def _evidence(item: Item) -> Evidence:
    text = item.scalar()
    for known in EVIDENCE:
        if text == known:
            return known
    raise item.error(
        f"'{text}' is not a kind of evidence in {item.where}", did_you_mean(text, EVIDENCE)
    )
