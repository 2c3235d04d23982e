"""Reads the topology of a machine from the XML of `lstopo machine.xml` (hwloc 1 and 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from regionpredict.documents import parse_xml, read_bytes
from regionpredict.errors import InputError
from regionpredict.machine.detect.topology import (
    HardwareThread,
    ThreadCache,
    Topology,
    assemble,
)
from regionpredict.machine.reader import Identity

_PACKAGES = ("Package", "Socket")
_MOST_BYTES = 16 << 20
_CACHE = re.compile(r"L([1-5])d?Cache\Z")


@dataclass(frozen=True, slots=True)
class _Place:
    """The socket, NUMA domain, core and caches around the current element of the tree."""

    package: int = 0
    domain: int | None = None
    core: frozenset[int] = frozenset()
    caches: tuple[ThreadCache, ...] = ()


def read_hwloc(path: Path) -> Topology:
    """Reads the topology from an hwloc XML. Raises InputError for an invalid file, or a file
    without processing units.
    """
    shown = str(path)
    remedy = "give what `lstopo machine.xml` writes"
    root = parse_xml(read_bytes(path, remedy, most=_MOST_BYTES), path, remedy)
    top = root.find("object")
    if top is None or not _units(top):
        raise InputError(
            "no processing units in this XML",
            remedy=remedy,
            path=shown,
        )
    threads: list[HardwareThread] = []
    _walk(top, _Place(), threads)
    infos = {info.get("name", ""): info.get("value", "") for info in root.iter("info")}
    model = infos.get("CPUModel", path.stem)
    clock = re.search(r"@ *([\d.]+) *GHz", model)
    return assemble(
        threads,
        name=model,
        source=shown,
        clock_hz=float(clock[1]) * 1e9 if clock else None,
        memory_bytes=sum(_number(element, "local_memory") for element in root.iter("object")),
        page_bytes=_page(root),
        identity=_identity(infos),
        virtual="hypervisor" in infos.get("Backend", ""),
    )


def _page(root: ElementTree.Element) -> int | None:
    """Returns the smallest page size of the machine in bytes."""
    sizes = [size for element in root.iter("page_type") if (size := _number(element, "size"))]
    return min(sizes, default=None)


def _identity(infos: Mapping[str, str]) -> Identity | None:
    """Returns the identity of an x86 or Arm processor. None if it is missing."""
    try:
        if "CPUImplementer" in infos:
            return Identity(infos["CPUImplementer"].lower(), -1, int(infos["CPUPart"], 0))
        family, model = infos["CPUFamilyNumber"], infos["CPUModelNumber"]
        return Identity(infos["CPUVendor"], int(family), int(model))
    except (KeyError, ValueError):
        return None


def _walk(element: ElementTree.Element, place: _Place, threads: list[HardwareThread]) -> None:
    kind = element.get("type", "")
    index = _number(element, "os_index")
    if kind in _PACKAGES:
        place = replace(place, package=index)
    elif kind == "NUMANode":
        place = replace(place, domain=index)
    elif kind == "Core":
        place = replace(place, core=frozenset(_units(element)))
    elif kind == "PU":
        core = place.core or frozenset({index})
        domain = place.package if place.domain is None else place.domain
        threads.append(HardwareThread(index, place.package, domain, core, place.caches))
    cache = _cache(element, kind)
    if cache is not None:
        place = replace(place, caches=(*place.caches, cache))
    children = element.findall("object")
    # hwloc 2 lists a NUMA domain next to its cores, not above them.
    beside = [child for child in children if child.get("type") == "NUMANode" and not _units(child)]
    if beside:
        place = replace(place, domain=_number(beside[0], "os_index"))
    for child in children:
        _walk(child, place, threads)


def _cache(element: ElementTree.Element, kind: str) -> ThreadCache | None:
    named = _CACHE.match(kind)
    if named is not None:
        level = int(named[1])
    elif kind == "Cache":
        level = _number(element, "depth")
    else:
        return None
    instructions = element.get("cache_type") == "2"
    size = _number(element, "cache_size")
    if instructions or size == 0:
        return None
    return ThreadCache(
        level=level,
        size=size,
        line=_number(element, "cache_linesize"),
        ways=max(0, _number(element, "cache_associativity")),
        threads=frozenset(_units(element)),
    )


def _units(element: ElementTree.Element) -> list[int]:
    """Returns the numbers of the processing units inside an element."""
    return [
        _number(child, "os_index") for child in element.iter("object") if child.get("type") == "PU"
    ]


def _number(element: ElementTree.Element, name: str) -> int:
    """An attribute as a number, or 0 if it is missing or not a number."""
    text = element.get(name, "0")
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else 0
