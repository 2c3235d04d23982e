"""Reads Caliper's profiles: a file or a folder, in JSON or in Caliper's own format.

JSON is written by `cali-query -q "format json-split"` and by the `hatchet-region-profile` and
`spot` channels. Benchpark collects such files. `cali_format.py` reads `.cali` files. The folder may
also contain files of TALP (`talp.py`).

A JSON file has `columns`, `data` with a row per node and rank, and `nodes`, whose `parent` entries
form the call tree. All other keys are properties of the run (its globals). Values of several ranks
are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input import talp
from regionpredict.fit.input.cali_format import cali_rows
from regionpredict.fit.input.talp import talp_rows
from regionpredict.fit.input.variables import SCALES, Measurement, experiment_of
from regionpredict.json_records import Record, json_record

_WHAT = "a profile of Caliper in JSON"
_REMEDY = 'write it with cali-query -q "format json-split"'
OWN = "cali"
"""The suffix of Caliper's own format."""
_PATHS = ("source.function#callpath.address", "path")
_SECTIONS = ("data", "columns", "column_metadata", "nodes")
_NO_METRICS = ("Node order", "mpi.rank", "min#min#aggregate.slot")
_DEEPEST_CALL = 2000


def read_caliper(path: Path, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads a profile, or all profiles (`*.json`, `*.cali`) in a folder and its subfolders.

    Parameters are the globals in `variables.SCALES` that vary between runs, or those in
    `parameters`. A profile that cannot be read is a problem. Raises the same errors as
    `experiment_of`.
    """
    files = [path]
    if path.is_dir():
        files = sorted(file for kind in ("json", OWN) for file in path.rglob(f"*.{kind}"))
    if not files:
        raise InputError("no *.json or *.cali in it", remedy=_REMEDY, path=str(path))
    rows: list[Measurement] = []
    problems: list[InputError] = []
    for file in files:
        try:
            text = read_text(file, _REMEDY)
            if file.suffix == f".{OWN}":
                rows.extend(cali_rows(text, file))
                continue
            data = json_record(text, _WHAT, file, _REMEDY)
            rows.extend(talp_rows(data) if talp.VERSION in data.value else profile_rows(data))
        except InputError as error:
            problems.append(error)
    if not rows and problems:
        raise problems[0]
    experiment = experiment_of(
        rows, str(path), parameters=parameters, among=(*SCALES, *talp.SCALES)
    )
    return Experiment(experiment.series, (*problems, *experiment.problems))


def profile_rows(data: Record) -> Iterator[Measurement]:
    """Yields the values of one profile: the mean over ranks for each metric and call-tree node."""
    columns = list(data.texts("columns"))
    metadata = {
        name: value for name, value in data.value.items()
        if name not in _SECTIONS and isinstance(value, (str, int, float))
    }  # fmt: skip
    hierarchy = next((name for name in _PATHS if name in columns), None)
    if hierarchy is None:
        raise data.error("columns", "has no 'path'")
    paths = _call_paths(data, hierarchy)
    where = columns.index(hierarchy)
    kinds = list(data.inner_records("column_metadata"))
    metrics = [
        index for index, name in enumerate(columns)
        if name not in _NO_METRICS and index < len(kinds) and kinds[index].value.get("is_value")
    ]  # fmt: skip
    seconds: dict[tuple[str, str], list[float]] = {}
    for number, row in enumerate(data.items("data")):
        if not isinstance(row, list) or len(row) != len(columns):
            raise data.error(f"data[{number}]", f"must be a list of {len(columns)}")
        node = row[where]
        if node is None:
            continue
        if type(node) is not int or node not in paths:
            raise data.error(f"data[{number}]", f"names the node {node!r}, which is missing")
        for index in metrics:
            if type(row[index]) in (int, float):
                seconds.setdefault((paths[node], columns[index]), []).append(float(row[index]))
    for (callpath, metric), samples in seconds.items():
        yield Measurement(callpath, metric, metadata, (sum(samples) / len(samples),))


def _call_paths(data: Record, hierarchy: str) -> dict[int, str]:
    """Returns the path of each node from the root, with calls joined by `->`. Parents precede
    children.
    """
    paths: dict[int, str] = {}
    depth: dict[int, int] = {}
    for number, node in enumerate(data.inner_records("nodes")):
        if node.text("column") != hierarchy:
            continue
        label = node.text("label")
        if "parent" not in node.value:
            paths[number], depth[number] = label, 1
            continue
        parent = node.whole("parent")
        if parent not in paths:
            raise node.error("parent", f"is {parent}, which is not an earlier node")
        depth[number] = depth[parent] + 1
        if depth[number] > _DEEPEST_CALL:
            raise node.error("parent", f"is more than {_DEEPEST_CALL} calls deep")
        paths[number] = f"{paths[parent]}->{label}"
    return paths
