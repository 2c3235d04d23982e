"""Small files of other tools about several runs of a program, in the form that each writes."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from regionpredict.cli.this_host import allowed_threads, free_bytes
from regionpredict.machine.calibrate.plan import plan
from regionpredict.machine.calibrate.run import _signature
from regionpredict.machine.calibrate.samples import SCHEMA as SAMPLES
from regionpredict.machine.detect import read_sysfs

P = (2, 4, 8, 16, 32)
SCHEMA = "regionpredict/isoefficiency-campaign/1"


def tau_profiles() -> dict[str, bytes]:
    """A call path, a flat function and an event, on one rank each."""
    text = """3 templated_functions_MULTI_TIME
# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>
"main" 1 1 3e6 9e6 0 GROUP="TAU_USER"
"main => solve [{solve.c} {3,1}-{9,2}]" 2 0 %d 6e6 0 GROUP="TAU_USER"
"solve" 2 0 7e6 7e6 0 GROUP="TAU_USER"
0 aggregates
1 userevents
"Memory" 1 2 3 4 5"""
    return {f"run.p{p}.r1/profile.0.0.0": (text % (1e6 * p)).encode() for p in P}


def caliper_profiles() -> dict[str, bytes]:
    """Caliper's own records: two ranks, a call path with a comma."""
    text = """\
__rec=node,id=20,attr=10,data=276,parent=3
__rec=node,id=21,attr=8,data=region,parent=20
__rec=node,id=22,attr=10,data=65,parent=5
__rec=node,id=23,attr=8,data=time,parent=22
__rec=node,id=24,attr=10,data=65,parent=1
__rec=node,id=25,attr=8,data=mpi.rank,parent=24
__rec=node,id=26,attr=10,data=524,parent=3
__rec=node,id=27,attr=8,data=mpi.world.size,parent=26
__rec=node,id=30,attr=21,data=main
__rec=node,id=31,attr=21,data=solve\\,fast,parent=30
__rec=node,id=40,attr=27,data=%d
__rec=ctx,ref=30,attr=23=25,data=3=0
__rec=ctx,ref=31,attr=23=25,data=%d=1
__rec=ctx,attr=23,data=100
__rec=globals,ref=40
"""
    return {f"run{p}.cali": (text % (p, p * p)).encode() for p in P}


def caliper_documents() -> dict[str, bytes]:
    """Caliper's JSON: two ranks and two nested regions."""
    return {f"run.p{p}.json": json.dumps({
        "data": [[0, 0, 1.0, 0], [0, 1, 1.5, 0], [1, 0, 0.5 * p, 1], [1, 1, 0.5 * p, 1]],
        "columns": ["Node order", "mpi.rank", "time", "path"],
        "column_metadata": [
            {"is_value": True, "attribute.alias": "Node order"}, {"is_value": True},
            {"is_value": True, "attribute.alias": "time", "attribute.unit": "sec"},
            {"is_value": False},
        ],
        "nodes": [{"label": "main", "column": "path"},
                  {"label": "solve", "column": "path", "parent": 0}],
        "mpi.world.size": str(p), "jobsize": str(p), "launchdate": str(1685046480 + p),
        "problem_size": "30",
    }).encode() for p in P}  # fmt: skip


def talp_reports() -> dict[str, bytes]:
    """Reports of TALP on the elapsed time of two regions."""
    return {f"{p}.json": json.dumps({
        "dlbVersion": "3.5.0", "timestamp": "2026-01-01T00:00:00",
        "Application": {
            "Global": {"elapsedTime": 5 * 10**9},
            "solve": {"name": "solve", "elapsedTime": p * 10**9, "parallelEfficiency": 1 - p / 64},
        },
        "resources": {"numCpus": 2 * p, "numMpiRanks": p},
    }).encode() for p in P}  # fmt: skip


def talp_factors(ranks: int) -> bytes:
    """A report of TALP with what efficiency factors need."""
    region = {
        "numCpus": ranks, "numMpiRanks": ranks, "elapsedTime": 10**10,
        "usefulTime": 6 * 10**9 * ranks, "maxUsefulNormdProc": 8 * 10**9, "mpiLoadBalance": 0.9,
        "ompLoadBalance": 0.8,
    }  # fmt: skip
    return json.dumps({"Application": {"solve": region, "Global": region}}).encode()


REFRAME = (
    "result|job_completion_time|name|num_tasks|jobid|time_value|time_unit|time_ref|bw_value\n"
    + "".join(f"pass|2024-05-01T10:00:00|f %n={p} /ab|{p}|9|{3 + p}.5|s|0|{p}.0\n" for p in P)
).encode()
FACTORS_BY_ROW = b"""\
Number of processes;1;2;4
Parallel efficiency;100;72;60
Load balance;100;90;80
Communication efficiency;100;80;75
Serialization efficiency;100;100;93.75
Transfer efficiency;100;80;80
#
#Runtime (us);8000000;5000000;3000000
#Runtime (ideal);8000000;4000000;2400000
#Useful duration (total);8000000;7200000;7200000
#Useful instructions (total);1e9;1e9;1.1e9
#Useful cycles (total);2e9;2e9;2e9
"""
FACTORS_BY_COLUMN = b"""\
Number of Processes,Threads per Process,MPI Load Balance,MPI Communication Efficiency,Speedup
1,2,0.9,1,1
2,2,0.8,0.75,1.5
"""
VERSION = json.dumps({
    "schema": "regionpredict/factors/1",
    "runs": [
        {"name": f"r{p}", "ranks": p, "runtime_s": 9.0 / p, "load_balance": 0.9,
         "serialisation": None, "transfer": 0.8, "communication": 0.8, "parallel": 0.72}
        for p in (2, 4)
    ],
}).encode()  # fmt: skip
EFFICIENCIES = ("p,n,efficiency\n" + "".join(
    f"{p},{n},{1 - 0.1 * p**0.5 / n**0.25}\n" for p in P for n in (10, 100, 1000, 10_000, 100_000)
)).encode()  # fmt: skip
ISOEFFICIENCY = "".join(
    json.dumps(line) + "\n" for line in (
        {"schema": SCHEMA, "command": ["./p", "{n}"], "host": "h"},
        *({"kind": "graph", "size": n, "tasks": 10, "work_s": 0.5 * n, "depth_s": 0.01 * n,
           "host": {"others": 0.1, "stolen": 0.0, "discarded": 1, "disturbed": False}}
          for n in (64.0, 128.0, 256.0, 512.0, 1024.0)),
        *({"kind": "time", "size": n, "threads": p, "actual_s": [0.6 * n / p, 0.61 * n / p],
           "free_s": 0.55 * n / p, "how": "replayed", "cpu_s": [0.6 * n]}
          for n in (64.0, 128.0, 256.0, 512.0, 1024.0) for p in (1, 2, 4, 8, 16)),
    )
).encode()  # fmt: skip


def recorded_ranks() -> dict[str, bytes]:
    """What the recorders write in a run of two ranks: a message, a barrier, a team of two threads.

    A record of MPI has the time, two numbers, its kind, partner, communicator and tag.
    """
    call, done, send, receive_begin, receive, begin, end = 0, 1, 2, 6, 7, 10, 11
    first = (
        (10, 1, 0, call, -1, -1, -1), (20, 0, 0, done, -1, -1, -1),
        (50, 2, 0, call, -1, -1, -1), (51, 0, 4, send, 1, 0, 7), (60, 0, 0, done, -1, -1, -1),
        (70, 3, 0, call, -1, -1, -1), (71, 0, 0, begin, -1, -1, -1),
        (90, 0, 0, end, -1, 0, 0), (91, 0, 0, done, -1, -1, -1),
        (95, 4, 0, call, -1, -1, -1), (99, 0, 0, done, -1, -1, -1),
    )  # fmt: skip
    second = (
        (11, 1, 0, call, -1, -1, -1), (21, 0, 0, done, -1, -1, -1),
        (40, 2, 0, call, -1, -1, -1), (41, 1, 0, receive_begin, -1, -1, -1),
        (65, 1, 4, receive, 0, 0, 7), (66, 0, 0, done, -1, -1, -1), *first[5:],
    )  # fmt: skip
    names = "process {} -\ncomm 0 0 1\nname 1 MPI_Init\nname 2 {}\nname 3 MPI_Barrier\n" \
        "name 4 MPI_Finalize\ngrid 0 2 1 {}\ncost 42 -\n"  # fmt: skip
    packed = [
        b"".join(struct.pack("<3Q4i", *record) for record in rank) for rank in (first, second)
    ]
    parallel, parallel_end, implicit, implicit_end, sync, sync_end, enter, leave = (
        2, 3, 4, 5, 8, 9, 21, 22
    )  # fmt: skip
    region, barrier = 5, 2 << 8
    team = (
        (implicit | 2 << 32, 31, 0, region), (sync | barrier, 35, 0, region),
        (sync_end | barrier, 36, 0, region), (implicit_end, 37, 0, region),
    )  # fmt: skip
    main = (
        (1, 0, 0, 7), (enter | 1 << 32, 25, 0, 0), (parallel | 2 << 32, 30, 0, region), *team,
        (parallel_end, 38, 0, region), (leave, 45, 0, 0),
    )  # fmt: skip
    return {
        "0-0.events": packed[0], "1-0.events": packed[1],
        "0.names": names.format(7, "MPI_Send", 0).encode(),
        "1.names": names.format(8, "MPI_Recv", 1).encode(),
        "events-7-0": b"".join(struct.pack("<4Q", *event) for event in main),
        "events-7-1": b"".join(struct.pack("<4Q", *event) for event in ((1, 0, 0, 7), *team)),
        "names-7": b"1 solve\n", "sites-7": b"2 1a2b 40001a2b /usr/bin/env\n",
    }  # fmt: skip


def calibration(compiler: Path) -> bytes:
    """The samples of a calibration of this host that measured everything. `compiler` becomes a
    script whose programs print samples."""
    compiler.write_text("""#!/bin/sh
for word; do [ "$before" = -o ] && target=$word; before=$word; done
printf '#!/bin/sh\\necho 1 1 1 1 1\\n' >"$target"
chmod +x "$target"
""")
    compiler.chmod(0o755)
    topology = read_sysfs()
    planned = plan(topology, free_bytes(), allowed_threads(topology.threads))
    samples = {measurement.key: [1.0, 1.01, 0.99, 1.0, 1.0] for measurement in planned}
    signature = _signature(topology, str(compiler))
    return json.dumps({"schema": SAMPLES, "host": signature, "samples": samples}).encode()
