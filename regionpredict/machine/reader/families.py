"""Reads processor families, which provide default figures for the processor section of machine
files.

A file `machines/families/NAME.yaml` contains the figures of a family's cores with evidence and
source. It also contains line size, page size, associativities, and identities in Linux's cpuinfo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.machine.machines_folder import families_folder
from regionpredict.machine.processor import FIGURES
from regionpredict.machine.quantity import Quantity
from regionpredict.machine.reader.document import Item, did_you_mean, parse
from regionpredict.machine.reader.labels import LABELS, Labels

GENERIC = "generic"
"""The family of unknown processors. All its figures are assumed."""
_TOP = ("name", "description", "identity", "sources", "line", "page", "ways", "link", *FIGURES)


class Identity(NamedTuple):
    """The identity of a processor: vendor, family and model of CPUID on x86. On Arm, the fields are
    the implementer (``0x46``), -1, and the part number of MIDR_EL1.
    """

    vendor: str
    family: int
    model: int


@dataclass(frozen=True, slots=True)
class Family:
    """A processor family with its common figures.

    `identities` are the identities of its processors in cpuinfo. `line_bytes` is the cache line
    size, and `page_bytes` the usual page size. `ways` is the associativity by cache level.
    `link_bytes_per_s` is the bandwidth from the other socket in common dual-socket nodes. `figures`
    has keys of `machine.processor.FIGURES`, without figures that differ within the family.
    """

    name: str
    description: str
    identities: frozenset[Identity]
    line_bytes: Quantity
    page_bytes: Quantity
    ways: Mapping[int, Quantity]
    link_bytes_per_s: Quantity | None
    figures: Mapping[str, Quantity]

    @property
    def generic(self) -> bool:
        """Whether the family is the default for unknown processors."""
        return self.name == GENERIC


def family_names() -> tuple[str, ...]:
    """Returns the names of all families in alphabetical order."""
    return tuple(sorted(path.stem for path in families_folder().glob("*.yaml")))


def load_family(name: str) -> Family:
    """Loads the family with this name, which must be one of `family_names`."""
    path = families_folder() / f"{name}.yaml"
    return read_family(path.read_text(encoding="utf-8"), f"machines/families/{path.name}")


def family_of(identity: Identity) -> str:
    """Returns the name of the family with this identity, or `GENERIC` for an unknown identity."""
    for name in family_names():
        if identity in load_family(name).identities:
            return name
    return GENERIC


def named_family(item: Item) -> Family:
    """Loads the family that a machine file names. Raises InputError for an unknown family."""
    name, names = item.scalar(), family_names()
    if name not in names:
        raise item.error(f"no processor family is called '{name}'", did_you_mean(name, names))
    return load_family(name)


def read_family(text: str, path: str) -> Family:
    """Reads a family's file. Raises InputError with file, line and key."""
    top = parse(text, path)
    entries = top.mapping((*_TOP, *LABELS))
    for key in ("name", "line", "page"):
        if key not in entries:
            raise top.error(f"'{key}' is missing in the family", "copy one that is there")
    name = entries["name"].scalar()
    sources: dict[str, str] = {}
    if "sources" in entries:
        table = entries["sources"]
        sources = {key: item.scalar() for key, item in table.mapping(table.entries).items()}
    labels = Labels(sources).within(entries)
    origin = "default" if name == GENERIC else f"family {name}"

    def quantity(
        key: str, unit: str, *, whole: bool = True, zero: bool = False, plain: float = 1.0
    ) -> Quantity:
        low = -1e-12 if zero else 0.0
        figure = labels.quantity(entries[key], unit, plain=plain, low=low, whole=whole)
        return replace(figure, source=f"{origin}: {figure.source}")

    return Family(
        name=name,
        description=entries["description"].scalar() if "description" in entries else name,
        identities=_identities(entries["identity"]) if "identity" in entries else frozenset(),
        line_bytes=quantity("line", "B"),
        page_bytes=quantity("page", "B"),
        ways=_ways(entries["ways"], labels, origin) if "ways" in entries else {},
        link_bytes_per_s=quantity("link", "B/s", whole=False, plain=1e9)
        if "link" in entries
        else None,
        figures={
            key: quantity(key, figure.unit, whole=figure.whole, zero=figure.zero)
            for key, figure in FIGURES.items()
            if key in entries
        },
    )


def _ways(item: Item, labels: Labels, origin: str) -> dict[int, Quantity]:
    """Reads a table of associativities by cache level, such as `{1: 8, 2: 16}`."""
    curve = labels.curve(item, "ways")
    source = f"{origin}: {curve.source}"
    return {
        level: Quantity(ways, "ways", curve.evidence, source)
        for level, ways in zip(curve.x, curve.y, strict=True)
    }


def _identities(item: Item) -> frozenset[Identity]:
    identities: set[Identity] = set()
    for element in item.sequence():
        entries = element.mapping(("vendor", "family", "models"))
        for key in ("vendor", "models"):
            if key not in entries:
                raise element.error(f"'{key}' is missing in {element.where}")
        family = _integer(entries["family"]) if "family" in entries else -1
        vendor = entries["vendor"].scalar()
        identities |= {
            Identity(vendor, family, _integer(model)) for model in entries["models"].sequence()
        }
    return frozenset(identities)


def _integer(item: Item) -> int:
    """Reads a decimal or hexadecimal (``0x516``) number."""
    try:
        return int(item.scalar(), 0)
    except ValueError:
        raise item.error(f"'{item.text}' is not a number in {item.where}") from None
