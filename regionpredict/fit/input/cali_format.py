"""Reads profiles in Caliper's own format, `.cali`, with Caliper's Python package.

The package `caliper-reader` is in the extra `caliper`. A record has metrics and a call path, from
its nested regions. Globals describe the run.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regionpredict.errors import InputError
from regionpredict.fit.input.variables import Measurement, number_of

_CALL_PATH = "path"
_NUMBERS = ("int", "uint", "double")
_NO_METRICS = ("mpi.rank", "min#min#aggregate.slot")
_NODE = re.compile(r"__rec=node,id=(\d+),(?:.*,)?parent=(\d+)$", re.MULTILINE)
_MAKE_JSON = 'make JSON of it: cali-query -q "format json-split" FILE'


def cali_rows(text: str, path: Path) -> Iterator[Measurement]:
    """Yields the values of one file: the mean of all records for each metric and call path.

    Raises `InputError` if the package is missing or cannot read the text.
    """
    reader = _read_records(text, path)
    metrics = _numeric_metrics(reader)
    samples: dict[tuple[str, str], list[float]] = {}
    for record in reader.records:
        calls = record.get(_CALL_PATH)
        if not calls:
            continue
        callpath = "->".join(map(str, calls))
        for metric in metrics:
            value = number_of(record.get(metric))
            if value is not None:
                samples.setdefault((callpath, metric), []).append(value)
    for (callpath, metric), values in samples.items():
        yield Measurement(callpath, metric, reader.globals, (sum(values) / len(values),))


def _numeric_metrics(reader: Any) -> list[str]:
    """Returns the names of the numeric metrics, without hidden and global attributes."""
    attributes = {name: reader.attribute(name) for name in reader.attributes()}
    return [
        name for name, attribute in attributes.items()
        if attribute.is_value() and not attribute.is_hidden() and not attribute.is_global()
        and attribute.attribute_type() in _NUMBERS and name not in _NO_METRICS
    ]  # fmt: skip


def _read_records(text: str, path: Path) -> Any:
    try:
        from caliperreader import CaliperReader  # noqa: PLC0415
        from caliperreader.readererror import ReaderError  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "Caliper's own format needs the package caliper-reader", path=str(path),
            remedy=f"install regionpredict[caliper], or {_MAKE_JSON}",
        ) from None  # fmt: skip
    seen: set[str] = set()
    for node, parent in _NODE.findall(text):
        if node in seen or node == parent:
            raise InputError(
                f"the node {node} is its own ancestor, or occurs twice", path=str(path),
                remedy=_MAKE_JSON,
            )  # fmt: skip
        seen.add(node)
    reader = CaliperReader()
    try:
        reader.read(io.StringIO(text))
        _numeric_metrics(reader)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        ReaderError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            f"not a file that Caliper wrote: {type(error).__name__}", path=str(path),
            remedy=_MAKE_JSON,
        ) from None  # fmt: skip
    return reader
