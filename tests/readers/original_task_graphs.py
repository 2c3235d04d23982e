"""Small task graphs, in the form of each program that writes them, and a recording."""

from __future__ import annotations

import json
import struct

TEXTS = {
    "Taskflow": b"""digraph Taskflow {
subgraph cluster_p0x1 { label="Taskflow: nested";
a[label="a" ]; a -> b; b[label="b" ]; b -> m;
subgraph cluster_b { label="Subflow: b"; x[label="x" ]; x -> y; y[label="y" ]; y -> b; }
m[shape=box3d, color=blue, label="m [m1]"]; m -> z; z[label="z" ]; }
subgraph cluster_p0x2 { label="m1"; u[label="u" ]; v[label="v" ]; } }
""",
    "PaRSEC": b"""digraph G {
p0 [shape="polygon",label="<0/0> potrf(0)<20>",tooltip="hid=1:did=9:tname=potrf:tid=0"];
p0 -> t1 [label="T=>T",color="#00FF00",style="dashed"]
t1 [shape="polygon",label="<1/0> trsm(1, 0)<10>",tooltip="hid=1:tname=trsm:tid=1"];
}
""",
    "StarPU": b"""Name: potrf
Model: chol_model_11
JobId: 0_6
SubmitOrder: 1
Tag: 0
WorkerId: 3
StartTime: 10.000000
EndTime: 12.500000

Model: chol_model_21
JobId: 0_7
DependsOn: 0_6 0_99
StartTime: 12.600000
EndTime: 14.600000

Name: sync
JobId: 0_8
DependsOn: 0_6 0_7
""",
    "GraphML": b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="node" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="d0">source</data><data key="d1">2</data><port name="out"/></node>
    <node id="n1"><data key="d0">left</data><data key="d1">3</data></node>
    <node id="n2"><graph edgedefault="directed"><node id="n3"><data key="d1">0.5</data></node>
    </graph></node>
    <edge source="n0" target="n1" sourceport="out"/><edge source="n0" target="n2"/>
  </graph>
</graphml>
""",
    "Chrome trace": json.dumps({"traceEvents": [
        {"ph": "X", "pid": 1, "tid": 0, "name": "main", "ts": 0, "dur": 10},
        {"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 5, "dur": 20},
        {"ph": "B", "pid": 1, "tid": 0, "name": "end", "ts": 40},
        {"ph": "E", "pid": 1, "tid": 0, "ts": 41},
        {"ph": "s", "id": 1, "pid": 1, "tid": 0, "ts": 4, "name": "dep"},
        {"ph": "f", "id": 1, "pid": 1, "tid": 1, "ts": 5, "name": "dep", "bp": "e"},
        {"ph": "s", "id": 2, "pid": 1, "tid": 1, "ts": 25, "name": "dep"},
        {"ph": "f", "id": 2, "pid": 1, "tid": 0, "ts": 40, "name": "dep", "bp": "e"},
    ]}).encode(),
}  # fmt: skip
_HEADER, _PARALLEL, _BEGIN, _END, _CREATE, _SCHEDULE, _FINISHED = 1, 2, 4, 5, 6, 7, 16
_COUNTERS, _PREEMPTED = 17, 25
_COMPLETE = 1
_INITIAL, _REGION, _THREAD, _CHILD = 1, 2, 3, 4


def recording() -> dict[str, bytes]:
    """A folder of `tasks record`: a thread's task that creates another, with two counters."""
    events = (
        (_event(_HEADER, aux=1), 0, 0, 7),
        (_event(_BEGIN, site=1), 1, _INITIAL, 0), (_COUNTERS, 10, 1, 0),
        (_event(_PARALLEL), 2, _INITIAL, _REGION), (_COUNTERS, 20, 1, 0),
        (_event(_BEGIN, site=1), 3, _THREAD, _REGION), (_COUNTERS, 1000, 1, 0),
        (_event(_CREATE, site=2), 4, _THREAD, _CHILD), (_COUNTERS, 1060, 2, 0),
        (_event(_SCHEDULE), 5, _THREAD, _CHILD), (_COUNTERS, 1100, 3, 0),
        (_event(_SCHEDULE, aux=_COMPLETE), 20, _CHILD, _THREAD), (_COUNTERS, 1130, 5, 0),
        (_PREEMPTED, 20, 9, 0),
        (_event(_END), 30, _THREAD, 0), (_COUNTERS, 1135, 9, 0),
        (_event(_FINISHED), 99, 0, 0),
    )  # fmt: skip
    return {
        "events-7-0": b"".join(struct.pack("<4Q", *event) for event in events),
        "sites-7": b"1 1a2b 40001a2b /usr/bin/p\n2 1a5c 40001a5c /usr/bin/p\n",
        "lines.json": b'{"1": "f.c:3", "2": "f.c:7"}\n',
        "counters.json": b'["instructions", "misses"]\n',
    }


def _event(kind: int, aux: int = 0, site: int = 0) -> int:
    """The first word of an event."""
    return kind | aux << 8 | site << 32
