"""Graphs in DOT and JSON: what is read, written, and refused with one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from drawn_graphs import KNOWN, drawn, graphs
from hypothesis import given, settings

from regionpredict.errors import InputError
from regionpredict.tasks import read_task_graph
from regionpredict.tasks.dot_file import dot_graph, dot_text
from regionpredict.tasks.json_file import json_graph, json_text


def pairs(graph):
    return sorted(
        (graph.names[a], graph.names[b])
        for a, b in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    ("text", "seconds", "edges"),
    [
        ("digraph g { a [seconds=1.5]; }", {"a": 1.5}, []),
        ("strict digraph { a [time=1]\n b [weight=2]\n a -> b }", {"a": 1, "b": 2}, [("a", "b")]),
        ('digraph "g" { "x y" [label="0.25 * 17"]; z [label="3"]; "x y" -> z }',
         {"x y": 0.25, "z": 3}, [("x y", "z")]),
        ("digraph { node [work=2]; a -> b -> c; c [work=1e-3] }",
         {"a": 2, "b": 2, "c": 0.001}, [("a", "b"), ("b", "c")]),
        ("digraph { node [seconds=1]; a -> {b c} -> d; }", dict.fromkeys("abcd", 1),
         [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]),
        ("/* c */ digraph { rankdir=LR; // x\n# y\n graph [x=1]; edge [color=red];"
         " subgraph cluster_0 { node [seconds=3]; a; b } a:n -> b:s [label=e]; }",
         {"a": 3, "b": 3}, [("a", "b")]),
        ("digraph { a [seconds=1, label=\"x\"]; a -> a2; a2 [seconds=0]; a -> a2 }",
         {"a": 1, "a2": 0}, [("a", "a2")]),
        ("digraph { n-1 [seconds=1]; b [seconds=1]; n-1->b }", {"n-1": 1, "b": 1}, [("n-1", "b")]),
    ],
)  # fmt: skip
def test_dot_that_is_read(text, seconds, edges):
    graph = dot_graph(text, "g.dot")
    assert dict(zip(graph.names, graph.seconds.tolist(), strict=True)) == seconds
    assert pairs(graph) == edges


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("digraph g {\n a [seconds=1]; b [seconds=1];\n a -> b; b -> a }",
         r"g\.dot: there is a cycle: (a -> b -> a|b -> a -> b); a task graph has none"),
        ("digraph g { }", "a graph without nodes"),
        ("digraph g {\n a -> b; b [seconds=1] }",
         "g.dot:2: node 'a' has no time; write a .seconds=0.5."),
        ("digraph g {\n a [seconds=x]; }", "g.dot:2: node 'a': seconds=x is not a number"),
        ("digraph g {\n a [seconds=-1]; }", r"node 'a' has no time from 0 to 1e\+18 seconds"),
        ("graph g { a -- b }", "an undirected graph has no order"),
        ("digraph g { a -- b }", "'--' has no direction"),
        ("digraph g { a [seconds=1]", "the text ends before the end of the graph"),
        ("digraph g { a [seconds=", "the text ends where a value is expected"),
        ("digraph g { a -> ", "the text ends before the end of the graph"),
        ("digraph g { a [seconds=1] } more", "'more' after the end"),
        ("digraph g { a -> ; }", "';' found where a node is expected"),
        ("diagram g { }", "'diagram' found where 'digraph' is expected"),
        ('digraph g { "a }', "g.dot:1: not DOT"),
        ("", "empty"),
    ],
)  # fmt: skip
def test_dot_that_is_not(text, said):
    with pytest.raises(InputError, match=said) as caught:
        dot_graph(text, "g.dot")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"nodes": [], "edges": []}', "a graph without nodes"),
        ('{"nodes": [{"id": "a"}], "edges": []}', r"'nodes\[0\].seconds' is missing"),
        ('{"nodes": [{"id": "a", "seconds": 1}]}', "'edges' is missing"),
        ('{"nodes": [{"id": "a", "seconds": 1}], "edges": [{"source": "a", "target": "b"}]}',
         r"'edges\[0\].target' is 'b', which is not a node"),
        ('{"nodes": [{"id": 1, "seconds": 1}, {"id": "1", "seconds": 1}], "edges": []}',
         "a second time"),
        ('{"nodes": [{"id": 1, "seconds": 1, "kind": "x"}], "edges": []}', "must be one of task"),
        ('{"nodes": [{"id": 1, "seconds": 1}], "edges": [{"source": 1, "target": 1}]}',
         "there is a cycle: 1 -> 1"),
        ('{"nodes": [{"id": 1, "seconds": 1e308}, {"id": 2, "seconds": 1e308}], "edges": []}',
         r"node '1' has no time from 0 to 1e\+18 seconds"),
        ("[1", "not a task graph"),
        ("[1]", "a list, no object"),
    ],
)  # fmt: skip
def test_json_that_is_not(text, said):
    with pytest.raises(InputError, match=said):
        json_graph(text, "g.json")


def test_tasks_have_numbers_below_that_of_nodes():
    """Memory and time depend on the largest. 9e18 is the next free number."""
    given = {"a": 9 * 10**18, "b": 0, "c": 9 * 10**18, "d": 2}
    nodes = [{"id": name, "seconds": 1, "task": task} for name, task in given.items()]
    graph = json_graph(json.dumps({"nodes": nodes, "edges": []}), "g.json")
    assert graph.tasks.tolist() == [1, 0, 1, 2]
    assert graph.task_count == 3


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(graph):
    for back in (dot_graph(dot_text(graph), ""), json_graph(json_text(graph), "")):
        assert np.array_equal(back.seconds, graph.seconds)
        assert sorted(zip(back.sources, back.targets, strict=True)) == sorted(
            zip(graph.sources, graph.targets, strict=True)
        )


def test_names_with_quotes_survive():
    graph = drawn({'a"': 1, "b\\": 2}, "")
    assert dot_graph(dot_text(graph), "").names == graph.names


def test_files_are_told_by_what_they_hold(tmp_path):
    times, edges, _ = KNOWN[0]
    graph = drawn(times, edges)
    for name, text in (("x", dot_text(graph)), ("y", json_text(graph))):
        (tmp_path / name).write_text(text)
        assert read_task_graph(tmp_path / name).edges == graph.edges
    (tmp_path / "z").write_text("  \n")
    with pytest.raises(InputError, match="empty"):
        read_task_graph(tmp_path / "z")
    with pytest.raises(InputError, match="cannot be read"):
        read_task_graph(tmp_path / "none")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="a folder without events"):
        read_task_graph(tmp_path / "folder")
