"""Writes results of a trace as a CUBE4 archive (`.cubex`) for Cube, the browser of Scalasca.

An archive is a tar file. `anchor.xml` has the metrics, the call tree and the locations. Each metric
has an index of call paths, and one row of values per call path with one value per location. Source:
CubeLib 4; "Cube v4: from performance report explorer to performance analysis tool", Saviankou et
al. 2015.
"""

from __future__ import annotations

import html
import struct
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from regionpredict.quoting import xml_text
from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Paradigm, Region
from regionpredict.trace.profile import SECONDS, TraceResult

_UNITS = {SECONDS: "sec", "B": "bytes"}
_PARADIGMS = {Paradigm.USER: "compiler", Paradigm.MPI: "mpi", Paradigm.OPENMP: "openmp"}
_INDEX, _DATA = b"CUBEX.INDEX", b"CUBEX.DATA"


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric of a Cube archive. `values` are exclusive, with one row per call path and one column
    per location.
    """

    name: str
    unit: str
    values: NDArray[np.float64]


def cube_archive(analysis: Analysis, results: Sequence[TraceResult]) -> bytes:
    """Creates an archive with the time, the visits, and all metrics of the results that have values
    by location.
    """
    order = _depth_first(analysis.paths.parent)
    metrics = list(_collect_metrics(analysis, results))
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for number, metric in enumerate(metrics):
            values = metric.values[order]
            rows = np.flatnonzero(np.any(values != 0, axis=1)).astype("<i4")
            head = _INDEX + struct.pack("<ihbi", 1, 0, 1, len(rows))
            _add_member(archive, f"{number}.index", head + rows.tobytes())
            _add_member(archive, f"{number}.data", _DATA + values[rows].astype("<f8").tobytes())
        _add_member(archive, "anchor.xml", "\n".join(_anchor_lines(analysis, metrics)).encode())
    return file.getvalue()


def _add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, BytesIO(data))


def _depth_first(parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Returns the call-tree nodes in the order of the archive: each node before its children."""
    children = _children_of_nodes(parent)
    order: list[int] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        node = stack.pop()
        order.append(node)
        stack += reversed(children.get(node, []))
    return np.array(order, dtype=np.int64)


def _children_of_nodes(parent: NDArray[np.int32]) -> Mapping[int, list[int]]:
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent.tolist()):
        children.setdefault(max(above, -1), []).append(node)
    return children


def _collect_metrics(analysis: Analysis, results: Sequence[TraceResult]) -> Iterator[_Metric]:
    trace, paths = analysis.trace, analysis.paths
    yield _Metric("time", "sec", trace.seconds(paths.exclusive).T)
    yield _Metric("visits", "occ", paths.visits.T.astype(np.float64))
    nodes = {name: node for node, name in reversed(list(enumerate(analysis.names)))}
    places = {location: at for at, location in enumerate(trace.locations)}
    tables: dict[str, tuple[str, NDArray[np.float64]]] = {}
    for result in results:
        known = set(tables)  # a metric in two results is written once
        for record in result.records:
            if record.location is None or record.metric in known:
                continue
            if record.metric in ("time", "visits"):
                continue
            table = tables.get(record.metric)
            if table is None:
                empty = np.zeros((len(analysis.names), len(trace.locations)))
                table = tables[record.metric] = (_UNITS.get(record.unit, "occ"), empty)
            table[1][nodes[record.callpath], places[record.location]] += record.value
    for name, (unit, values) in tables.items():
        yield _Metric(name, unit, values)


def _anchor_lines(analysis: Analysis, metrics: Sequence[_Metric]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<cube version="4.4">'
    yield '<attr key="Cube anchor.xml syntax version" value="4.4"/>'
    yield '<attr key="Creator" value="regionpredict"/>'
    yield "<metrics>"
    for number, metric in enumerate(metrics):
        yield f'<metric id="{number}" type="EXCLUSIVE">'
        yield f"<disp_name>{metric.name}</disp_name>"
        # metric names are identifiers in Cube's expressions
        yield f"<uniq_name>{metric.name.replace('.', '_')}</uniq_name>"
        yield f"<dtype>DOUBLE</dtype>\n<uom>{metric.unit}</uom>\n<url></url>\n<descr></descr>"
        yield "</metric>"
    yield "</metrics>\n<program>"
    for number, region in enumerate(analysis.trace.regions):
        yield from _region_lines(number, region)
    yield from _call_tree_lines(analysis)
    yield "</program>\n<system>"
    yield from _system_lines(analysis)
    yield "</system>\n</cube>\n"


def _region_lines(number: int, region: Region) -> Iterator[str]:
    line = region.line if region.line is not None else -1
    name, file = (html.escape(xml_text(text)) for text in (region.name, region.file))
    yield f'<region id="{number}" mod="{file}" begin="{line}" end="-1">'
    yield f"<name>{name}</name>\n<mangled_name>{name}</mangled_name>"
    yield f"<paradigm>{_PARADIGMS.get(region.paradigm, 'measurement')}</paradigm>"
    yield f"<role>{region.role.name.lower()}</role>\n<url></url>\n<descr></descr>\n</region>"


def _call_tree_lines(analysis: Analysis) -> Iterator[str]:
    children, region = _children_of_nodes(analysis.paths.parent), analysis.paths.region.tolist()
    stack: list[int | None] = list(reversed(children.get(-1, [])))
    while stack:
        node = stack.pop()
        if node is None:
            yield "</cnode>"
            continue
        yield f'<cnode id="{node}" calleeId="{region[node]}">'
        stack.append(None)
        stack += reversed(children.get(node, []))


def _system_lines(analysis: Analysis) -> Iterator[str]:
    """Writes one machine with a process per rank, since the trace does not identify compute
    nodes.
    """
    yield '<systemtreenode Id="0">\n<name>machine</name>\n<class>machine</class>'
    rank = None
    for number, location in enumerate(analysis.trace.locations):
        if location.rank != rank:
            if rank is not None:
                yield "</locationgroup>"
            rank = location.rank
            yield f'<locationgroup Id="{rank}">\n<name>rank {rank}</name>\n<rank>{rank}</rank>'
            yield "<type>process</type>"
        yield f'<location Id="{number}">\n<name>thread {location.thread}</name>'
        yield f"<rank>{location.thread}</rank>\n<type>thread</type>\n</location>"
    if rank is not None:
        yield "</locationgroup>"
    yield "</systemtreenode>"
