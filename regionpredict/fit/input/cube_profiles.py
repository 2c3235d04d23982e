"""Reads folders of Cube4 profiles, as written by Score-P and read by Extra-P.

The folder contains one folder per run (`run_folders.py`). Each contains a `*.cubex` file, a tar
archive. Its `anchor.xml` lists metrics, regions and the call tree. `N.index` lists the calls for
which metric `N` has values. `N.data` has the values of all locations, call by call, with optional
compression.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np

from regionpredict.documents import check_regular, input_errors_while_reading, parse_xml
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.run_folders import Run, read_runs
from regionpredict.fit.input.tar_members import TarMembers

Reduction = Literal["mean", "maximum", "sum"]

_TYPES = {
    "DOUBLE": "f8",
    "FLOAT": "f8",
    "MAXDOUBLE": "f8",
    "MINDOUBLE": "f8",
    "INTEGER": "i8",
    "INT": "i4",
    "INT8": "i1",
    "INT16": "i2",
    "INT32": "i4",
    "INT64": "i8",
    "CHAR": "u1",
    "SHORT INT": "i2",
    "SIGNED INT": "i4",
    "SIGNED INTEGER": "i8",
    "SIGNED SHORT INT": "i2",
    "UINT8": "u1",
    "UINT16": "u2",
    "UINT32": "u4",
    "UINT64": "u8",
    "UNSIGNED INT": "u4",
    "UNSIGNED INTEGER": "u8",
    "UNSIGNED SHORT INT": "u2",
}
_MOST_BYTES = 256 << 20
"""Maximum size of one member, packed or unpacked, and of all call paths together."""
_DEEPEST_CALL = 2000


@dataclass(frozen=True, slots=True)
class _Call:
    """A node of the call tree: its path from the root and its children's numbers."""

    path: str
    children: tuple[int, ...]


def read_cube(folder: Path, reduction: Reduction = "mean") -> Experiment:
    """Reads a folder of profiles. `reduction` combines the values of all locations.

    Values are exclusive, without called functions. An unreadable profile becomes a problem, and the
    others are read. Raises `InputError` if there is no profile.
    """
    profiles = sorted(p for p in folder.glob("*/*.cubex") if not p.name.startswith("."))
    if not profiles:
        raise InputError(
            "no profiles in this folder",
            remedy="it must hold folders such as run.p4.r1 with a .cubex file in each",
            path=str(folder),
        )
    runs = [Run(path.parent.name, path) for path in profiles]
    return read_runs(runs, lambda path: read_profile(path, reduction))


def read_profile(path: Path, reduction: Reduction = "mean") -> Iterator[tuple[str, str, float]]:
    """Yields the call path, the metric and the exclusive value of each entry in one profile.
    `reduction` combines the values of all locations.

    Raises `InputError` if the file is not a Cube4 profile.
    """
    remedy = "write it again, or leave it out"
    with input_errors_while_reading(path, "a readable Cube4 profile", remedy):
        check_regular(path, remedy)
        with path.open("rb") as stream:
            members = TarMembers(stream, path, _MOST_BYTES)
            yield from _read_archive(members, str(path), reduction)


def _read_archive(
    members: TarMembers, path: str, reduction: Reduction
) -> Iterator[tuple[str, str, float]]:
    text = members.read("anchor.xml")
    if text[:1] != b"<":
        text = _decompress(text, zlib.MAX_WBITS | 16)
    root = parse_xml(text, path, "write it again, or leave it out", depth=_DEEPEST_CALL)
    program = root.find("program")
    if program is None:
        raise KeyError("program")
    regions = {int(r.get("id", -1)): r.findtext("name") or "" for r in program.iter("region")}
    calls, roots = _parse_call_tree(program, regions)
    deep, wide = _depth_first(roots, calls), _breadth_first(roots, calls)
    for metric in root.iter("metric"):
        number, kind = metric.get("id"), metric.get("type")
        type_name = _TYPES.get((metric.findtext("dtype") or "").strip())
        if f"{number}.data" not in members or type_name is None:
            continue
        order = wide if kind == "INCLUSIVE" else deep
        index = members.read(f"{number}.index")
        values = _parse_values(index, members.read(f"{number}.data"), type_name, order)
        name = metric.findtext("uniq_name") or metric.findtext("disp_name") or ""
        for call, inclusive in values.items():
            own = inclusive
            if kind == "INCLUSIVE":
                for child in calls[call].children:
                    own = own - values.get(child, np.zeros_like(own))
            own = own.astype(np.float64)
            total = own.max() if reduction == "maximum" else own.sum()
            share = len(own) if reduction == "mean" else 1
            yield calls[call].path, name, float(total) / share


def _parse_call_tree(
    program: ElementTree.Element, regions: dict[int, str]
) -> tuple[dict[int, _Call], list[int]]:
    """Returns the nodes of the call tree by number, and the numbers of the root nodes.

    Raises ValueError for duplicate numbers, which would make the tree cyclic.
    """
    calls: dict[int, _Call] = {}
    roots = program.findall("cnode")
    open_ = [(node, "") for node in reversed(roots)]
    characters = 0
    while open_:
        node, above = open_.pop()
        number, name = _call_number(node), regions.get(int(node.get("calleeId", -1)), "?")
        path = f"{above}->{name}" if above else name
        characters += len(path)
        if number in calls or characters > _MOST_BYTES:
            raise ValueError("no call tree")
        children = node.findall("cnode")
        calls[number] = _Call(path, tuple(_call_number(child) for child in children))
        open_ += [(child, path) for child in reversed(children)]
    return calls, [_call_number(node) for node in roots]


def _call_number(node: ElementTree.Element) -> int:
    return int(node.get("id", -1))


def _depth_first(roots: list[int], calls: dict[int, _Call]) -> list[int]:
    """Returns the calls in depth-first order, which Cube uses for exclusive metrics."""
    order: list[int] = []
    stack = list(reversed(roots))
    while stack:
        call = stack.pop()
        order.append(call)
        stack.extend(reversed(calls[call].children))
    return order


def _breadth_first(roots: list[int], calls: dict[int, _Call]) -> list[int]:
    """Returns the calls in the order that Cube uses for inclusive metrics: all children of a call
    together.
    """
    order: list[int] = []
    for root in roots:
        order.append(root)
        stack = [root]
        while stack:
            call = stack.pop()
            order.extend(calls[call].children)
            stack.extend(reversed(calls[call].children))
    return order


def _parse_values(
    index: bytes, data: bytes, type_name: str, order: list[int]
) -> dict[int, np.ndarray]:
    """Returns the values of each call of one metric, with one value per location.

    Raises ValueError, IndexError or struct.error if the two members are inconsistent.
    """
    if not index.startswith(b"CUBEX.INDEX"):
        raise ValueError("no index")
    endian = "<" if struct.unpack_from("<i", index, 11)[0] == 1 else ">"
    count = struct.unpack_from(f"{endian}i", index, 18)[0]
    if not 0 <= count <= len(order):
        raise ValueError("the index is longer than the call tree")
    if count == 0:
        return {}
    indices = struct.unpack_from(f"{endian}{count}i", index, 22)
    if min(indices) < 0:
        raise ValueError("the index has a negative call number")
    raw = _decompressed_data(data, endian)
    packed = np.frombuffer(raw, dtype=np.dtype(f"{endian}{type_name}"))
    if packed.size > _MOST_BYTES // 8:
        raise ValueError("more values than any profile")
    # A negative counter appears as a large unsigned number, but its differences are still exact.
    numbers = packed.astype(np.float64 if type_name[0] == "f" else np.int64)
    rows = numbers.reshape(count, -1)
    if not rows.shape[1]:
        raise ValueError("no values")
    return {order[place]: rows[row] for row, place in enumerate(indices)}


def _decompressed_data(data: bytes, endian: str) -> bytes:
    if data.startswith(b"CUBEX.DATA"):
        return data[10:]
    if not data.startswith(b"ZCUBEX.DATA"):
        raise ValueError("no data")
    count = struct.unpack_from(f"{endian}q", data, 11)[0]
    if not 0 <= count <= len(data):
        raise ValueError("more blocks than bytes")
    heads = struct.unpack_from(f"{endian}{3 * count}q", data, 19)
    parts, place, length = [], 19 + 24 * count, 0
    for size in heads[2::3]:
        if not 0 <= size <= len(data):
            raise ValueError("a block is longer than all of them")
        parts.append(_decompress(data[place : place + size], zlib.MAX_WBITS))
        length += len(parts[-1])
        if length > _MOST_BYTES:
            raise ValueError("longer than any profile")
        place += size
    return b"".join(parts)


def _decompress(data: bytes, window: int) -> bytes:
    """Decompresses a member. Raises ValueError above the size limit."""
    unpacker = zlib.decompressobj(window)
    text = unpacker.decompress(data, _MOST_BYTES)
    if not unpacker.eof:
        raise ValueError("damaged, or longer than any profile")
    return text
