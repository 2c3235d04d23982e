"""Reads reports of TALP, the efficiency monitor of DLB: `dlb_run --talp-output-file=RUN.json`.

A file has the metrics of each region below `Application` (DLB 3.5: `popMetrics`), and the
resources of the run. Times are in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.fit.input.variables import Measurement, number_of
from regionpredict.json_records import Record

VERSION = "dlbVersion"
"""A key that identifies files of TALP."""
SCALES = ("numMpiRanks", "numCpus", "numNodes", "numGpus")
_REGIONS = ("Application", "popMetrics")
_RESOURCES = "resources"
_NANO = 1e-9
_TIME = "Time"


def talp_rows(data: Record) -> Iterator[Measurement]:
    """Yields the metrics of each region: times in seconds, efficiencies from 0 to 1, and counts.

    Raises `InputError` if the regions are missing.
    """
    place = next((key for key in _REGIONS if key in data.value), _REGIONS[0])
    regions = data.inner(place)
    resources = data.inner(_RESOURCES).value if _RESOURCES in data.value else {}
    for name in regions.value:
        region = regions.inner(name).value
        variables = {
            key: value for key, value in {**resources, **region}.items() if key in SCALES
        }  # fmt: skip
        for metric, text in region.items():
            value = number_of(text)
            if value is None or isinstance(text, str) or metric in SCALES:
                continue
            unit = _NANO if metric.endswith(_TIME) else 1.0
            yield Measurement(name, metric, variables, (value * unit,))
