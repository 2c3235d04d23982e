"""Reads Extra-P's files, `*.extra-p`: a ZIP archive with `experiment.json`.

Version 4 stores the summary of the repetitions at each point (mean, median, minimum, maximum,
standard deviation, number). It stores the repetitions if requested, as NumPy arrays in
`values/N.vals` at the positions in `values/N.indx`. Models in the archive are not read.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from regionpredict.documents import read_bytes
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.json_records import Record, json_record

_WHAT = "an experiment of Extra-P"
_REMEDY = "save it again with Extra-P"
_MEMBER = "experiment.json"
_MOST_BYTES = 256 << 20
"""The maximum size in bytes of one unpacked member."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, RuntimeError, EOFError)
"""The exceptions for a damaged archive. RuntimeError means an encrypted member."""
_INDEX = b"Extra-P INDEX\0\0\0"


def is_archive(path: Path) -> bool:
    """Returns whether a file starts like a ZIP archive."""
    with path.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"


def read_extrap_archive(path: Path) -> Experiment:
    """Reads the repetitions of each point, or their mean if the archive has no repetitions.

    Raises `InputError` if the file is not such an archive or is damaged.
    """
    data = read_bytes(path, _REMEDY)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = _read_member(archive, _MEMBER, path).decode("utf-8")
            content = json_record(text, _WHAT, path, _REMEDY)
            return _parse_experiment(content, archive, path)
    except _DAMAGED as error:
        raise InputError(f"not {_WHAT}: {error}", remedy=_REMEDY, path=str(path)) from None


def _read_member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    if name not in archive.namelist():
        raise InputError(f"not {_WHAT}: no {name} in it", remedy=_REMEDY, path=str(path))
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise InputError(
            f"{name} is longer than {_MOST_BYTES >> 20} MiB", remedy=_REMEDY, path=str(path)
        )
    with archive.open(name) as stream:
        return stream.read(_MOST_BYTES + 1)


def _parse_experiment(content: Record, archive: zipfile.ZipFile, path: Path) -> Experiment:
    builder = SeriesBuilder(content.texts("parameters"))
    measured = content.inner("measurements")
    chunks: dict[int, tuple[bytes, bytes]] = {}
    for callpath in measured.value:
        metrics = measured.inner(callpath)
        for metric in metrics.value:
            for place in metrics.inner_records(metric):
                where = place.items("coordinate")
                if not all(type(value) in (int, float) for value in where):
                    raise place.error("coordinate", "is not all numbers")
                values = _read_repetitions(place, archive, chunks, path)
                builder.add(callpath, metric, tuple(map(float, where)), values)
    return Experiment(builder.series())


def _read_repetitions(
    place: Record, archive: zipfile.ZipFile, chunks: dict[int, tuple[bytes, bytes]], path: Path
) -> Sequence[float]:
    """Returns the repetitions of a point, or their mean."""
    if place.value.get("values") is None:
        return (place.number("mean", least=-np.inf),)
    chunk, index = place.whole_numbers("values")
    if chunk not in chunks:
        chunks[chunk] = (
            _read_member(archive, f"values/{chunk}.indx", path),
            _read_member(archive, f"values/{chunk}.vals", path),
        )
    index_bytes, arrays = chunks[chunk]
    if not index_bytes.startswith(_INDEX) or index >= struct.unpack_from("<Q", index_bytes, 16)[0]:
        raise place.error("values", "refers to an array that is missing")
    (start,) = struct.unpack_from("<Q", index_bytes, 24 + 8 * index)
    array = np.lib.format.read_array(io.BytesIO(arrays[start:]), allow_pickle=False)
    return [float(value) for value in np.atleast_1d(array).ravel()]
