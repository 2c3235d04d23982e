"""Graphs that other runtimes and tools write: each in its own syntax, with the graph by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

import pytest

from regionpredict.errors import InputError
from regionpredict.report.task_picture import task_picture
from regionpredict.tasks import TaskGraph, measure_graph, read_task_graph
from regionpredict.tasks.dot_file import ONCE
from regionpredict.tasks.named_graph import NO_TIMES


def read(tmp_path, text: str) -> TaskGraph:
    (tmp_path / "given").write_text(text)
    return read_task_graph(tmp_path / "given")


def pairs(graph: TaskGraph) -> set[tuple[str, str]]:
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    return {(graph.name(a), graph.name(b)) for a, b in ends}


# A factorization of 2 x 2 blocks: potrf(0) -> trsm(1, 0) -> syrk(1, 0) -> potrf(1).
STARPU_DOT = """digraph G {
\tcolor=white
\trankdir=LR;
subgraph cluster_0 {
\tcolor=black;
\t "tag_0_6"->"task_0_9"->"tag_0_6" [style=dashed]
\t "task_0_6" [ style=filled, label="potrf", fillcolor="#4488aa"]
\t "task_0_7" [ style=filled, label="trsm", fillcolor="#44aa88"]
\t "task_0_6"->"task_0_7" [label="A"]
\t "task_0_8" [ style=filled, label="syrk", fillcolor="#888888"]
\t "task_0_7"->"task_0_8"
}
subgraph cluster_1 {
\tcolor=black;
\t "task_0_9" [ style=filled, label="potrf", fillcolor="#4488aa"]
\t "task_0_8"->"tag_0_6"
}
}
"""
PARSEC_DOT = """digraph G {
potrf_1_0 [shape="polygon",style=filled,fillcolor="#00FF40",fontcolor="black",label="<0/0> potrf(0)<20>",tooltip="hid=1:did=9:tname=potrf:tid=0"];
potrf_1_0 -> trsm_1_1_0 [label="T=>T",color="#00FF00",style="dashed"]
trsm_1_1_0 [shape="polygon",style=filled,fillcolor="#0040FF",fontcolor="black",label="<1/0> trsm(1, 0)<10>",tooltip="hid=1:tname=trsm:tid=1"];
trsm_1_1_0 -> syrk_1_0_1 [label="C=>A",color="#00FF00",style="dashed"]
syrk_1_0_1 [shape="polygon",style=filled,fillcolor="#FF4000",fontcolor="black",label="<0/0> syrk(0, 1)<5>",tooltip="hid=1:tname=syrk:tid=2"];
syrk_1_0_1 -> potrf_1_1 [label="T=>T",color="#FF0000",style="solid"]
potrf_1_1 [shape="polygon",style=filled,fillcolor="#00FF40",fontcolor="black",label="<0/0> potrf(1)<0>",tooltip="hid=1:tname=potrf:tid=3"];
}
"""  # noqa: E501
TASKFLOW_DOT = """digraph Taskflow {
subgraph cluster_p0x7ffe1 {
label="Taskflow: factor";
p0x51[label="potrf 0" ];
p0x51 -> p0x52;
p0x52[label="trsm 1 0" ];
p0x52 -> p0x53;
p0x53[label="3" ];
p0x53 -> p0x54;
p0x54[label="p0x54" shape=diamond color=black fillcolor=aquamarine style=filled ];
}
}
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (STARPU_DOT, ["potrf (task_0_6)", "trsm", "syrk", "potrf (task_0_9)"]),
        (PARSEC_DOT, ["potrf(0)<20>", "trsm(1, 0)<10>", "syrk(0, 1)<5>", "potrf(1)<0>"]),
        (TASKFLOW_DOT, ["potrf 0", "trsm 1 0", "3", "p0x54"]),
    ],
    ids=["StarPU", "PaRSEC", "Taskflow"],
)
def test_dot_of_runtimes_has_no_times(tmp_path, text, names):
    graph = read(tmp_path, text)
    assert sorted(graph.names) == sorted(names)
    assert pairs(graph) == set(pairwise(names))
    assert graph.notes == (NO_TIMES,)
    metrics = measure_graph(graph)
    assert (metrics.work_s, metrics.depth_s, metrics.average_parallelism) == (4, 4, 1)


def test_loops_of_taskflow_count_once(tmp_path):
    """A condition that repeats the body or goes on: the first edge leads back."""
    loop = """digraph Taskflow {
    subgraph cluster_p0x1 { label="Taskflow: loop";
    a[label="init" ]; a -> b; b[label="body" ]; b -> c;
    c[label="again" shape=diamond color=black fillcolor=aquamarine style=filled ];
    c -> b [style=dashed label="0"]; c -> d [style=dashed label="1"]; d[label="done" ]; } }"""
    graph = read(tmp_path, loop)
    assert pairs(graph) == {("init", "body"), ("body", "again"), ("again", "done")}
    assert graph.notes == (NO_TIMES, ONCE)
    with pytest.raises(InputError, match="there is a cycle"):
        read(tmp_path, loop.replace("Taskflow", "other"))


def test_modules_and_subflows_of_taskflow_are_in_their_tasks(tmp_path):
    """b is a subflow of x -> y; m holds module m1, of u and v."""
    text = """digraph Taskflow {
    subgraph cluster_p0x1 { label="Taskflow: nested";
    a[label="a" ]; a -> b; b[label="b" ]; b -> m;
    subgraph cluster_b { label="Subflow: b"; x[label="x" ]; x -> y; y[label="y" ]; y -> b; }
    m[shape=box3d, color=blue, label="m [m1]"]; m -> z; z[label="z" ]; }
    subgraph cluster_p0x2 { label="m1"; u[label="u" ]; v[label="v" ]; } }"""
    graph = read(tmp_path, text)
    assert pairs(graph) == {
        ("a", "b"), ("a", "x"), ("x", "y"), ("y", "b"),
        ("b", "m [m1]"), ("b", "u"), ("b", "v"), ("u", "m [m1]"), ("v", "m [m1]"), ("m [m1]", "z"),
    }  # fmt: skip
    assert measure_graph(graph).depth_s == 7  # a x y b u m z


def test_their_tasks_are_grouped_by_kernel(tmp_path):
    groups = task_picture(graph := read(tmp_path, PARSEC_DOT), measure_graph(graph)).groups
    assert {group.name: group.tasks for group in groups} == {"potrf": 2, "trsm": 1, "syrk": 1}


STARPU_RECORDS = """Name: potrf
Model: chol_model_11
JobId: 0_6
SubmitOrder: 1
Priority: 2
Tag: 0
WorkerId: 3
MemoryNode: 0
SubmitTime: 1.000000
StartTime: 10.000000
EndTime: 12.500000
Footprint: af5f8211

Model: chol_model_21
JobId: 0_7
DependsOn: 0_6 0_99
StartTime: 12.600000
EndTime: 14.600000

Name: sync
JobId: 0_8
DependsOn: 0_6 0_7
Tag: 0
"""


def test_records_of_starpu_have_times_in_milliseconds(tmp_path):
    graph = read(tmp_path, STARPU_RECORDS)
    assert graph.names == ("potrf", "chol_model_21", "sync")
    assert graph.seconds.tolist() == pytest.approx([0.0025, 0.002, 0.0])
    assert pairs(graph) == {
        ("potrf", "chol_model_21"), ("potrf", "sync"), ("chol_model_21", "sync"),
    }  # fmt: skip
    assert graph.notes == ()


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="node" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="d0">source</data><data key="d1">2</data><port name="out"/></node>
    <node id="n1"><data key="d0">left</data><data key="d1">3</data></node>
    <node id="n2"><data key="d0">right</data><data key="d1">0.5</data></node>
    <edge source="n0" target="n1" sourceport="out"/>
    <edge source="n0" target="n2"/>
  </graph>
</graphml>
"""


def test_graphml(tmp_path):
    graph = read(tmp_path, GRAPHML)
    assert dict(zip(graph.names, graph.seconds.tolist(), strict=True)) == {
        "source": 2, "left": 3, "right": 0.5,
    }  # fmt: skip
    assert pairs(graph) == {("source", "left"), ("source", "right")}
    assert measure_graph(graph).depth_s == 5
    bare = GRAPHML.replace('attr.name="weight"', 'attr.name="colour"')
    assert read(tmp_path, bare).notes == (NO_TIMES,)


def test_graphml_of_graphs_in_graphs(tmp_path):
    inner = """<graphml><graph edgedefault="directed">
      <node id="a"/><node id="box"><graph edgedefault="directed">
        <node id="b"/><node id="c"/><edge source="b" target="c"/></graph></node>
      <edge source="a" target="box"/></graph></graphml>"""
    graph = read(tmp_path, inner)
    assert set(graph.names) == {"a", "b", "c"}
    assert pairs(graph) == {("a", "b"), ("a", "c"), ("b", "c")}


def slice_(name: str, thread: int, begin: float, length: float) -> dict:
    return {"ph": "X", "pid": 1, "tid": thread, "name": name, "ts": begin, "dur": length}


def flow(number: int, source: tuple[int, float], target: tuple[int, float]) -> list[dict]:
    return [
        {"ph": "s", "id": number, "pid": 1, "tid": source[0], "ts": source[1], "name": "dep"},
        {"ph": "f", "id": number, "pid": 1, "tid": target[0], "ts": target[1], "name": "dep",
         "bp": "e"},
    ]  # fmt: skip


TRACE = {
    "traceEvents": [
        slice_("main", 0, 0, 10),
        slice_("inside main", 0, 1, 2),
        slice_("work", 1, 5, 20),
        slice_("work", 2, 12, 20),
        {"ph": "B", "pid": 1, "tid": 0, "name": "end", "ts": 40},
        {"ph": "E", "pid": 1, "tid": 0, "ts": 41},
        # Created by main after 4 of its 10 microseconds, and when it ends.
        *flow(1, (0, 4), (1, 5)),
        *flow(2, (0, 10), (2, 12)),
        *flow(3, (1, 25), (0, 40)),
        *flow(4, (2, 32), (0, 40)),
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}},
    ]
}


@pytest.mark.parametrize("value", [TRACE, TRACE["traceEvents"]])
def test_flows_of_a_chrome_trace_are_dependences(tmp_path, value):
    graph = read(tmp_path, json.dumps(value))
    assert graph.task_count == 4
    assert sorted(graph.seconds.tolist()) == pytest.approx([1e-6, 4e-6, 6e-6, 20e-6, 20e-6])
    metrics = measure_graph(graph)
    # main 4 + 6, then the second task, then the end.
    assert metrics.depth_s == pytest.approx(31e-6)
    assert metrics.work_s == pytest.approx(51e-6)
    assert {line.place: line.count for line in metrics.lines} == {"main": 1, "work": 2, "end": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"traceEvents": []}', "a Chrome trace without slices"),
        (json.dumps([slice_("a", 1, 0, 1)]), "a Chrome trace without flows"),
        ('[{"ph": "X", "ts": "x", "name": "a"}]', "'ts' of event 'a' is not a time"),
        ("[1]", "no list of events"),
        ("<graphml>", "not XML"),
        ("<graphml/>", "a graph without nodes"),
        (GRAPHML.replace('edgedefault="directed"', 'edgedefault="undirected"'),
         "an undirected edge has no order"),
        (GRAPHML.replace('target="n2"', 'target="n9"'), "the target 'n9', which is not a node"),
        (GRAPHML.replace(">3<", ">x<"), "weight 'x' is not a number of seconds"),
        (GRAPHML.replace('<data key="d1">3</data>', ""), "node 'n1' has no time"),
        (STARPU_RECORDS.replace("EndTime: 12.5", "EndTime: x"), "task 0_6 has a time that is not"),
        ("JobId: 1\nDependsOn: 2\n\nJobId: 2\nDependsOn: 1\n", "there is a cycle"),
        ("JobId: 1\n???\n", "given:2: not StarPU's records"),
    ],
)  # fmt: skip
def test_files_that_are_none(tmp_path, text, said):
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_the_command_says_that_there_are_no_times(tmp_path):
    (tmp_path / "flow.dot").write_text(TASKFLOW_DOT)
    line = [sys.executable, "-m", "regionpredict", "tasks", "show", "flow.dot"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == f"note: flow.dot: {NO_TIMES}\n"
    assert "Critical path: 4 nodes" in done.stdout
