"""Reads the entries of a section of a machine file, with labels and defaults."""

from __future__ import annotations

from collections.abc import Iterable

from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.machine.reader import defaults
from regionpredict.machine.reader.document import Item, did_you_mean
from regionpredict.machine.reader.labels import LABELS, Labels


class Section:
    """A section of a machine file with known keys.

    `entries` are the values by key, and `labels` are the labels of plain values. `defaulted`
    collects the missing keys of the whole file.
    """

    def __init__(
        self, item: Item, known: Iterable[str], labels: Labels, defaulted: list[str]
    ) -> None:
        self.item = item
        self.entries = item.mapping((*known, *LABELS))
        self.labels = labels.within(self.entries)
        self.defaulted = defaulted

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def required(self, key: str) -> Item:
        """Returns the entry with this key. Raises InputError if it is missing."""
        item = self.entries.get(key)
        if item is None:
            raise self.item.error(
                f"'{key}' is missing in {self.item.where}",
                "docs/machines.md shows its format",
            )
        return item

    def inner(self, key: str, known: Iterable[str]) -> Section:
        """Returns the subsection `key`, which inherits the labels of this section."""
        return Section(self.required(key), known, self.labels, self.defaulted)

    def quantity(self, key: str, unit: str, *, plain: float = 1.0, whole: bool = False) -> Quantity:
        """Reads the required number `key`."""
        return self.labels.quantity(self.required(key), unit, plain=plain, whole=whole)

    def optional(
        self, key: str, unit: str, default: float, reason: str, *, whole: bool = False
    ) -> Quantity:
        """Reads the number `key`. A missing number gets an assumed `default`, with a reason."""
        if key in self.entries:
            return self.quantity(key, unit, whole=whole)
        self.record_default(key)
        return defaults.assumed(default, unit, reason)

    def of_family(self, key: str, unit: str, family: Quantity) -> Quantity:
        """Reads the integer `key`. A missing one comes from the processor's family."""
        if key in self.entries:
            return self.quantity(key, unit, whole=True)
        if family.source.startswith("default: "):
            self.record_default(key)
        return family

    def record_default(self, key: str) -> None:
        """Records that `key` has a default value."""
        self.defaulted.append(f"{self.item.key}.{key}")

    def one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        """Reads the entry `key`, which must be one of the words in `known`."""
        item = self.entries.get(key)
        if item is None:
            return default
        text = item.scalar()
        if text not in known:
            raise item.error(f"'{text}' is not a value of {item.where}", did_you_mean(text, known))
        return text

    def bandwidth(self) -> dict[str, Curve]:
        """Reads the tables of `bandwidth` by kernel, in GB/s by number of cores. Empty without
        tables.
        """
        if "bandwidth" not in self.entries:
            return {}
        inner = self.inner("bandwidth", KERNELS)
        return {
            kernel: inner.labels.curve(inner.entries[kernel], "B/s", plain=1e9)
            for kernel in KERNELS
            if kernel in inner
        }
