"""Reads Thicket's JSON (`Thicket.to_json()`): many profiles over one call graph, with metadata."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import SCALES, Measurement, experiment_of
from regionpredict.json_records import Record


def read_thicket(data: Record, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads all metrics of all nodes. Parameters are found in the profiles' metadata, as for
    Caliper.

    Values of the ranks of one profile are averaged. Raises the same errors as `experiment_of`.
    """
    index = data.text("profile_idx_name") if "profile_idx_name" in data.value else "profile"
    profile_parameters = {
        str(entry.part(index)): entry.value for entry in data.inner_records("metadata")
    }
    paths = _call_paths(data)
    metrics = [*data.texts("exclusive_metrics"), *data.texts("inclusive_metrics")]
    seconds: dict[tuple[str, str, str], list[float]] = {}
    for row in data.inner_records("dataframe"):
        profile = str(row.part(index))
        if profile not in profile_parameters:
            raise row.error(index, f"is {profile}, which is missing from the metadata")
        node = str(row.part("node"))
        if node not in paths:
            raise row.error("node", f"is {node}, which is not in the graph")
        for metric in metrics:
            value = row.value.get(metric)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                seconds.setdefault((paths[node], metric, profile), []).append(float(value))
    rows = [
        Measurement(callpath, metric, profile_parameters[profile], (sum(samples) / len(samples),))
        for (callpath, metric, profile), samples in seconds.items()
    ]
    return experiment_of(rows, data.path, parameters=parameters, among=SCALES)


def _call_paths(data: Record) -> dict[str, str]:
    """Returns the path of each node from its root. For a node with several parents, the first
    parent is used.
    """
    paths: dict[str, str] = {}
    for graph in data.inner_records("graph"):
        waiting = [number for number in graph.value if not graph.inner(number).items("parents")]
        paths.update({number: _node_name(graph.inner(number)) for number in waiting})
        while waiting:
            number = waiting.pop()
            for child in map(str, graph.inner(number).items("children")):
                if child not in paths:
                    paths[child] = f"{paths[number]}->{_node_name(graph.inner(child))}"
                    waiting.append(child)
    return paths


def _node_name(node: Record) -> str:
    return node.inner("data").text("name")
