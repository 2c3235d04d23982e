"""Reads and writes task graphs in DOT, the language of Graphviz.

A node's time in seconds is its attribute `seconds`, `time`, `weight` or `work`, or the number at
the start of its label. Libtdg writes labels such as `"0.25 * 17"` (Shudler 2018, fig. 4.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.quoting import double_quoted
from regionpredict.tasks.named_graph import named_graph
from regionpredict.tasks.task_graph import TaskGraph

ONCE = "repeated parts count once: edges that lead back are left out"
TIMES = ("seconds", "time", "weight", "work")
_REMEDY = "write digraph g { a [seconds=7]; b [seconds=9]; a -> b; }"
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<arrow>->|--)
      | (?P<mark>[{}\[\];,=:])
      | (?P<name>[^\s{}\[\];,=:"<>]+?(?=->|--|[\s{}\[\];,=:"<>]|$)|<(?:[^<>]|<[^<>]*>)*>)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_THREAD = re.compile(r"^<\d+/\d+>\s*")
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])")


class _Token(NamedTuple):
    text: str
    kind: str
    line: int


def dot_graph(text: str, path: str) -> TaskGraph:
    """The graph of a DOT text. Raises InputError with the line of a syntax error.

    >>> dot_graph('digraph g { a [seconds=2]; b [label="3"]; a -> b }', "g.dot").seconds.tolist()
    [2.0, 3.0]
    """
    return _Reader(list(_tokens_of_text(text, path)), path).read()


def _tokens_of_text(text: str, path: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError(
                f"not DOT: '{text[at : at + 10].split(maxsplit=1)[0]}' is not expected here",
                remedy=_REMEDY, path=path, line=line,
            )  # fmt: skip
        kind = str(match.lastgroup)
        if kind != "space":
            yield _Token(match[0], kind, line)
        line += match[0].count("\n")
        at = match.end()


class _Reader:
    """Parses the statements of a DOT text. Nodes are numbered in the order of their first
    occurrence.
    """

    def __init__(self, tokens: list[_Token], path: str) -> None:
        self.tokens, self.path = tokens, path
        self.at = 0
        self.numbers: dict[str, int] = {}
        self.lines: list[int] = []
        self.attributes: list[dict[str, str]] = []
        self.edges: dict[tuple[int, int], None] = {}
        self.defaults: dict[str, str] = {}
        self.same: dict[int, int] = {}
        self.weak: set[tuple[int, int]] = set()
        self.clusters: list[tuple[str, str, list[int]]] = []
        self.label = ""
        self.title = ""

    def read(self) -> TaskGraph:
        """Parses the whole text, which must contain one digraph."""
        if not self.tokens:
            raise InputError("empty", remedy=_REMEDY, path=self.path)
        if self._following_token() == "strict":
            self.at += 1
        first = self._next_token("digraph")
        if first.text.lower() == "graph":
            raise self._input_error("an undirected graph has no order", first)
        if first.text.lower() != "digraph":
            raise self._input_error(
                f"'{_shortened_token(first)}' found where 'digraph' is expected", first
            )
        if self._following_token() != "{":
            self.title = _unquote_text(self._next_token("a name").text)
        self._expect_token("{")
        self._parse_statements()
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            raise self._input_error(
                f"'{_shortened_token(token)}' after the end of the graph", token
            )
        if not self.numbers:
            raise InputError("a graph without nodes", remedy=_REMEDY, path=self.path)
        nodes = {name: number for name, number in self.numbers.items() if number not in self.same}
        times = {name: self._time_of_node(name, number) for name, number in nodes.items()}
        labels: dict[str, str] = {}
        if all(seconds is None for seconds in times.values()):
            labels = {name: self._label_of_node(number) for name, number in nodes.items()}
        for name, seconds in times.items():
            if seconds is None and not labels:
                raise InputError(
                    f"node '{name}' has no time", remedy=f"write {name} [seconds=0.5]",
                    path=self.path, line=self.lines[nodes[name]],
                )  # fmt: skip
        names = list(self.numbers)
        if self.title == "Taskflow":
            self._add_cluster_edges()
        back = self._back_edges()
        for pair in back:
            del self.edges[pair]
        edges = [
            (names[self.same.get(source, source)], names[self.same.get(target, target)])
            for source, target in self.edges
        ]
        loops = self.same.items()
        kept = [
            ends for ends, pair in zip(edges, self.edges, strict=True)
            if pair not in loops and pair[::-1] not in loops
        ]  # fmt: skip
        graph = named_graph(times, kept, labels, self.path, _REMEDY)
        return replace(graph, notes=(*graph.notes, ONCE)) if back else graph

    def _add_cluster_edges(self) -> None:
        """Adds edges for Taskflow's subflows and modules, which are clusters. The nodes of a
        cluster start after the predecessors of its task, and end before its successors.
        """
        inside = [
            (owner, set(nodes) - {owner})
            for name, label, nodes in self.clusters
            if (owner := self._task_of_cluster(name, label)) is not None
        ]
        known = -1
        while known != len(self.edges):  # nested subgraphs add edges in further passes
            known = len(self.edges)
            for owner, nodes in inside:
                before = [a for a, b in self.edges if b == owner and a not in nodes]
                entered = {b for a, b in self.edges if a in nodes}
                left = {a for a, b in self.edges if b in nodes}
                new = [(a, b) for b in nodes - entered for a in before]
                new += [(a, owner) for a in nodes - left]
                self.edges.update(dict.fromkeys(new))

    def _task_of_cluster(self, cluster: str, label: str) -> int | None:
        """Returns the task that a cluster belongs to. A subflow has the name of its task, and a
        module its label.
        """
        if cluster.removeprefix("cluster_") in self.numbers:
            return self.numbers[cluster.removeprefix("cluster_")]
        ends = f"[{label}]"
        owners = [
            number
            for number, given in enumerate(self.attributes)
            if label and given.get("label", "").endswith(ends)
        ]
        return owners[0] if len(owners) == 1 else None

    def _back_edges(self) -> list[tuple[int, int]]:
        """Returns the edges of Taskflow's condition tasks that are in a cycle. They are the back
        edges of loops.
        """
        if not self.weak:
            return []
        from scipy.sparse import coo_matrix  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        sources, targets = zip(*self.edges, strict=True)
        size = len(self.numbers)
        matrix = coo_matrix(([1] * len(sources), (sources, targets)), shape=(size, size))
        _, part = connected_components(matrix, directed=True, connection="strong")
        return [pair for pair in self.weak if part[pair[0]] == part[pair[1]]]

    def _parse_statements(self) -> list[int]:
        """Parses statements up to the closing brace, and returns the nodes in them."""
        named: list[int] = []
        while self._following_token() != "}":
            named += self._parse_statement()
            if self._following_token() in (";", ","):
                self.at += 1
        self.at += 1
        return named

    def _parse_statement(self) -> list[int]:
        word = self._following_token().lower()
        if word in ("node", "edge", "graph") and self._following_token(1) in ("[", ";", "}"):
            self.at += 1
            given = self._attribute_lists()
            if word == "node":
                self.defaults = {**self.defaults, **given}
            return []
        if self._following_token(1) == "=" and self._following_token() not in ("{", "}"):
            if word == "label":
                self.label = _unquote_text(self._following_token(2))
            self.at += 3
            return []
        ends = [self._edge_end()]
        while self._following_token() in ("->", "--"):
            arrow = self._next_token("an arrow")
            if arrow.text == "--":
                raise self._input_error("'--' has no direction; an edge is '->'", arrow)
            ends.append(self._edge_end())
        given = self._attribute_lists()
        if len(ends) == 3 and ends[0] == ends[2] and len(ends[0]) == len(ends[1]) == 1:
            # StarPU writes the tag of a task as an edge to the tag and back.
            self.same[ends[0][0]] = ends[1][0]
        for before, after in pairwise(ends):
            for source in before:
                for target in after:
                    self.edges[source, target] = None
                    if self.title == "Taskflow" and given.get("style") == "dashed":
                        self.weak.add((source, target))
        if len(ends) == 1:
            for node in ends[0]:
                self.attributes[node].update(given)
        return [node for end in ends for node in end]

    def _edge_end(self) -> list[int]:
        """Parses an end of an edge, and returns its node, or all nodes of a subgraph."""
        cluster = ""
        if self._following_token().lower() == "subgraph":
            self.at += 1
            if self._following_token() != "{":
                cluster = _unquote_text(self._next_token("a name").text)
        if self._following_token() == "{":
            self.at += 1
            outer = self.defaults, self.label
            nodes = list(dict.fromkeys(self._parse_statements()))
            self.clusters.append((cluster, self.label, nodes))
            self.defaults, self.label = outer
            return nodes
        token = self._next_token("a node")
        if token.kind not in ("quoted", "name"):
            raise self._input_error(f"'{token.text}' found where a node is expected", token)
        name = _unquote_text(token.text)
        while self._following_token() == ":":  # a port
            self.at += 2
        if name not in self.numbers:
            self.numbers[name] = len(self.numbers)
            self.lines.append(token.line)
            self.attributes.append(dict(self.defaults))
        return [self.numbers[name]]

    def _attribute_lists(self) -> dict[str, str]:
        given: dict[str, str] = {}
        while self._following_token() == "[":
            self.at += 1
            while self._following_token() != "]":
                name = self._next_token("an attribute")
                if name.kind not in ("quoted", "name"):
                    raise self._input_error(
                        f"'{name.text}' found where an attribute is expected", name
                    )
                value = "true"
                if self._following_token() == "=":
                    self.at += 1
                    value = _unquote_text(self._next_token("a value").text)
                given[_unquote_text(name.text)] = value
                if self._following_token() in (";", ","):
                    self.at += 1
            self.at += 1
        return given

    def _time_of_node(self, name: str, number: int) -> float | None:
        """Returns the time of a node in seconds, or None. Labels of Taskflow are names, even if
        they are numbers.
        """
        given = self.attributes[number]
        for key in (*TIMES, *(() if self.title == "Taskflow" else ("label",))):
            if key in given:
                match = _NUMBER.match(given[key])
                if match and (key == "label" or match.end() == len(given[key].rstrip())):
                    return float(match[1])
                if key != "label":
                    raise InputError(
                        f"node '{name}': {key}={given[key]} is not a number of seconds",
                        remedy=f"write {key}=0.5", path=self.path, line=self.lines[number],
                    )  # fmt: skip
        return None

    def _label_of_node(self, number: int) -> str:
        """Returns a node's label without PaRSEC's prefix `<thread/process>`."""
        label = self.attributes[number].get("label", "").replace("\\n", " ")
        return "" if label == "\\N" else _THREAD.sub("", label)

    def _following_token(self, ahead: int = 0) -> str:
        """Returns the text of a following token. Raises InputError if the DOT text ends before the
        next token.
        """
        if self.at + ahead < len(self.tokens):
            return self.tokens[self.at + ahead].text
        if ahead:
            return ""
        raise self._input_error("the text ends before the end of the graph", self.tokens[-1])

    def _next_token(self, expected: str) -> _Token:
        if self.at >= len(self.tokens):
            raise self._input_error(f"the text ends where {expected} is expected", self.tokens[-1])
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect_token(self, text: str) -> None:
        token = self._next_token(f"'{text}'")
        if token.text != text:
            raise self._input_error(
                f"'{_shortened_token(token)}' found where '{text}' is expected", token
            )

    def _input_error(self, message: str, token: _Token) -> InputError:
        return InputError(f"not DOT: {message}", remedy=_REMEDY, path=self.path, line=token.line)


def _shortened_token(token: _Token) -> str:
    return token.text if len(token.text) <= 20 else token.text[:17] + "..."


def _unquote_text(text: str) -> str:
    if text.startswith('"'):
        return re.sub(r"\\(.)", lambda m: m[1] if m[1] in '"\\' else m[0], text[1:-1])
    return text


def dot_text(graph: TaskGraph, path: tuple[int, ...] = ()) -> str:
    """Writes the graph in DOT with exact times. Nodes of `path` are bold."""
    bold = set(path)
    names = list(map(double_quoted, graph.names)) or [f"n{node}" for node in range(graph.nodes)]
    lines = ["digraph tasks {", "  node [shape=box];"]
    for node, seconds in enumerate(graph.seconds.tolist()):
        style = ", style=bold, color=red" if node in bold else ""
        label = "" if graph.names else f", label={double_quoted(graph.name(node))}"
        lines.append(f"  {names[node]} [seconds={seconds!r}{label}{style}];")
    lines += [
        f"  {names[source]} -> {names[target]};"
        for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    ]
    return "\n".join([*lines, "}"]) + "\n"
