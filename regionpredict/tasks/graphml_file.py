"""Reads task graphs in GraphML, the format of graph libraries.

A node's time in seconds is its datum `seconds`, `time`, `weight`, `work` or `duration`. Its name is
the datum `label` or `name`, else its id.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from regionpredict.documents import parse_xml
from regionpredict.errors import InputError
from regionpredict.tasks.dot_file import TIMES
from regionpredict.tasks.named_graph import named_graph
from regionpredict.tasks.task_graph import TaskGraph

_TIMES = (*TIMES, "duration")
_LABELS = ("label", "name", "NodeLabel")
_REMEDY = (
    'write <graph edgedefault="directed"><node id="a"><data key="seconds">7</data></node> ... '
    "</graph>"
)


def graphml_graph(text: str, path: str) -> TaskGraph:
    """Reads a task graph in GraphML. A node that contains a graph is replaced by its inner nodes.

    Raises InputError with the invalid node or edge.
    """
    root = parse_xml(text.encode(), path, _REMEDY)
    keys = {key.get("id", ""): key.get("attr.name") or "" for key in _descendants(root, "key")}
    inner = {
        node.get("id", ""): [
            part.get("id", "") for part in _descendants(node, "node") if part is not node
        ]
        for node in _descendants(root, "node")
    }
    times: dict[str, float | None] = {}
    labels: dict[str, str] = {}
    for node in _descendants(root, "node"):
        name = node.get("id", "")
        if not name:
            raise InputError("not GraphML: a node without an id", remedy=_REMEDY, path=path)
        if name in times:
            raise InputError(f"not GraphML: node '{name}' twice", remedy=_REMEDY, path=path)
        if inner[name]:
            continue
        data = _node_data(node, keys)
        times[name] = _node_seconds(name, data, path)
        labels[name] = next((data[key] for key in _LABELS if data.get(key)), "")
    edges: list[tuple[str, str]] = []
    for graph in _descendants(root, "graph"):
        for edge in _children(graph, "edge"):
            directed = edge.get("directed")
            if directed == "false" or (
                directed is None and graph.get("edgedefault") == "undirected"
            ):
                raise InputError(
                    "an undirected edge has no order",
                    remedy='write edgedefault="directed"', path=path,
                )  # fmt: skip
            ends = []
            for key in ("source", "target"):
                name = edge.get(key, "")
                if name not in inner:
                    raise InputError(
                        f"not GraphML: an edge has the {key} '{name}', which is not a node",
                        remedy=_REMEDY, path=path,
                    )  # fmt: skip
                ends.append([part for part in inner[name] if part in times] or [name])
            edges += [(source, target) for source in ends[0] for target in ends[1]]
    return named_graph(times, edges, labels, path, _REMEDY)


def _local_tag(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _descendants(root: Element, tag: str) -> list[Element]:
    return [element for element in root.iter() if _local_tag(element) == tag]


def _children(root: Element, tag: str) -> list[Element]:
    return [element for element in root if _local_tag(element) == tag]


def _node_data(node: Element, keys: dict[str, str]) -> dict[str, str]:
    """Returns the data of a node by key name, including attributes of the element."""
    known = {name.rpartition("}")[2]: value for name, value in node.attrib.items()}
    for datum in _children(node, "data"):
        key = datum.get("key", "")
        known[keys.get(key) or key] = (datum.text or "").strip()
        for part in datum.iter():
            if part is not datum and part.text and part.text.strip():
                known.setdefault(_local_tag(part), part.text.strip())
    return known


def _node_seconds(name: str, data: dict[str, str], path: str) -> float | None:
    for key in _TIMES:
        if key in data:
            try:
                return float(data[key])
            except ValueError:
                raise InputError(
                    f"node '{name}': {key} {data[key]!r} is not a number of seconds",
                    remedy=_REMEDY, path=path,
                ) from None  # fmt: skip
    return None
