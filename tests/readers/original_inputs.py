"""A small input of each reader, as text that its reader takes."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zlib
from dataclasses import replace
from pathlib import Path

from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store

P = (1, 2, 4, 8, 16)


def short_json() -> bytes:
    rows = [{"point": [p], "values": [2 + p, 2.5 + p]} for p in P]
    return json.dumps({"parameters": ["p"], "measurements": {"main": {"time": rows}}}).encode()


def legacy_json() -> bytes:
    return json.dumps(
        {
            "parameters": [{"id": 0, "name": "p"}],
            "callpaths": [{"id": 0, "name": "main"}],
            "metrics": [{"id": 0, "name": "time"}],
            "coordinates": [
                {"id": i, "parameter_value_pairs": [{"parameter_id": 0, "parameter_value": p}]}
                for i, p in enumerate(P)
            ],
            "measurements": [
                {"coordinate_id": i, "callpath_id": 0, "metric_id": 0, "value": [p, p + 0.5]}
                for i, p in enumerate(P)
            ],
        }
    ).encode()


def lines(separator: str = ",", key: str = "params") -> bytes:
    entry = '{"%s":{"p":%d,"n":3}%s"callpath":"main"%s"metric":"time"%s"value":%f}'
    return "".join(
        entry % (key, p, separator, separator, separator, p + 1) + "\n" for p in P
    ).encode()


TEXT = b"PARAMETER p\nPARAMETER n\nPOINTS ( 1 2 ) ( 2 2 ) ( 4 2 ) ( 8 3 ) ( 16 3 )\n" + (
    b"REGION main->f\nMETRIC time\nDATA 1 2 3\nDATA 2 3 4\nDATA 4 5 nan\nDATA 8\nDATA 16 17\n"
)
TABLE = b"callpath,metric,p,value\n" + b"".join(b"main,time,%d,%d.5\n" % (p, p) for p in P)


def profile() -> bytes:
    anchor = (
        b'<cube><metrics><metric id="0" type="EXCLUSIVE"><uniq_name>time</uniq_name>'
        b"<dtype>DOUBLE</dtype></metric></metrics><program>"
        b'<region id="0"><name>main</name></region><region id="1"><name>f</name></region>'
        b'<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"/></cnode></program></cube>'
    )
    index = b"CUBEX.INDEX" + struct.pack("<ihbi2i", 1, 0, 0, 2, 0, 1)
    packed = zlib.compress(struct.pack("<4d", 1, 2, 3, 4))
    data = b"ZCUBEX.DATA" + struct.pack("<4q", 1, 0, 32, len(packed)) + packed
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in (("anchor.xml", anchor), ("0.index", index), ("0.data", data)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()[:6144]


def campaign(folder: Path) -> bytes:
    region = RegionRun(
        "a/f.c", 3, 4, "f", "omp parallel for", "b", 10, 1.0, 0.05, 0.2, 0.1, 10, 1000, 100, 100,
        1, 2,
    )  # fmt: skip
    run = Run(1, 1, False, 1.0, "2026-01-01", 0.5, "p", "gcc", "gomp", (region,))
    path = folder / "original.jsonl"
    store = Store(path)
    store.begin(Campaign(("./p",), Host("h", "cpu", 1, 2, 1, 1), {"places": "cores"}, "now"))
    for p in P:
        store.add(replace(run, threads=p))
    return path.read_bytes()


def hints() -> bytes:
    region = {
        "id": "f.c:3", "file": "f.c", "line": 3, "loop_line": 4, "function": "f",
        "status": "predicted", "packages": 1, "threads": 4, "score": 0.5,
        "bottleneck": "compute", "confidence": 0.9, "borderline": False,
        "speedup": [{"threads": 1, "value": 1.0}, {"threads": 2, "value": 1.9}], "assumed": ["n"],
    }  # fmt: skip
    machine = {"name": "m", "packages": 1, "cores_per_package": 4}
    return json.dumps(
        {"schema": "regionpredict/hints/1", "machine": machine, "model": "saturation",
         "regions": [region, {**region, "id": "f.c:9", "line": 9}]}
    ).encode()  # fmt: skip


EXPECTATIONS = (
    b"schema: regionpredict/expectations/1\nmeasurements: m.txt\nparameter: p\nmetric: time\n"
    b"statistic: mean\ndeviation: sqrt(p)\nsearch: p log p\nbetter: deviation\nsteps: 2\n"
    b"expectations:\n  - {callpath: f, expect: log p}\n  - {callpath: g, expect: p, model: p^2}\n"
    b"  - callpath: h\nlitmus: [f]\nrules:\n  - f <= g + h\n"
)
MEASURED = b"POINTS 1 2 4 8 16\n" + b"".join(
    b"REGION %s\nMETRIC time\n" % name + b"".join(b"DATA %d\n" % (2 + p) for p in P)
    for name in (b"f", b"g", b"h")
)
