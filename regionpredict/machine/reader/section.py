"""A section of a machine file while it is read: its entries, labels and defaults."""

from __future__ import annotations

from collections.abc import Iterable

from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.machine.reader import defaults
from regionpredict.machine.reader.document import Item, did_you_mean
from regionpredict.machine.reader.labels import LABELS, Labels


class Section:
    """A mapping of the file. Its keys have been checked.

    `entries` are the values, and `labels` those of plain values. `defaulted` collects the keys that
    have default values, for the whole file.
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
        """The entry with this key. Raises InputError if it is missing."""
        item = self.entries.get(key)
        if item is None:
            raise self.item.error(
                f"'{key}' is missing in {self.item.where}",
                "docs/machines.md shows its format",
            )
        return item

    def inner(self, key: str, known: Iterable[str]) -> Section:
        """The section under `key`. Its default labels are given."""
        return Section(self.required(key), known, self.labels, self.defaulted)

    def quantity(self, key: str, unit: str, *, plain: float = 1.0, whole: bool = False) -> Quantity:
        """The number under `key`, which is required."""
        return self.labels.quantity(self.required(key), unit, plain=plain, whole=whole)

    def optional(
        self, key: str, unit: str, default: float, why: str, *, whole: bool = False
    ) -> Quantity:
        """The number under `key`. If it is missing, an assumed default with the reason `why`."""
        if key in self.entries:
            return self.quantity(key, unit, whole=whole)
        self.record_default(key)
        return defaults.assumed(default, unit, why)

    def of_family(self, key: str, unit: str, family: Quantity) -> Quantity:
        """The whole number under `key`, or that of the processor's family."""
        if key in self.entries:
            return self.quantity(key, unit, whole=True)
        if family.source.startswith("default: "):
            self.record_default(key)
        return family

    def record_default(self, key: str) -> None:
        """Records that `key` has a default value."""
        self.defaulted.append(f"{self.item.key}.{key}")

    def one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        """One of a few words."""
        item = self.entries.get(key)
        if item is None:
            return default
        text = item.scalar()
        if text not in known:
            raise item.error(f"'{text}' is not a value of {item.where}", did_you_mean(text, known))
        return text

    def bandwidth(self) -> dict[str, Curve]:
        """The tables under `bandwidth`, in GB/s by number of cores, for each kernel. Empty if there
        are none.
        """
        if "bandwidth" not in self.entries:
            return {}
        inner = self.inner("bandwidth", KERNELS)
        return {
            kernel: inner.labels.curve(inner.entries[kernel], "B/s", plain=1e9)
            for kernel in KERNELS
            if kernel in inner
        }
