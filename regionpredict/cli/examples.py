"""The examples at the end of `--help`. Each is a complete command line."""

from __future__ import annotations

import click

EXAMPLES: dict[str, tuple[str, ...]] = {
    "analyze": ("analyze src", "analyze gemm.c --set ni=4000 --format csv"),
    "predict": (
        "predict src -m dunnington",
        "predict gemm.c -m host --set ni=4000 --plot curves.pdf",
        "predict src -m node.yaml --format json -o hints.json",
    ),
    "sizes": ("sizes src -m dunnington", "sizes src -m host --format yaml -o sizes.yaml"),
    "explain": (
        "explain gemm.c:41 -m dunnington",
        "explain src/solve.c:40 src -m dunnington",
        "explain RP101",
    ),
    "machines": ("machines list",),
    "machines list": ("machines list",),
    "machines show": ("machines show dunnington",),
    "machines check": ("machines check node.yaml",),
    "machines detect": ("machines detect -o node.yaml",),
    "calibrate": (
        "calibrate -o node.yaml",
        "calibrate src --from runs.jsonl -m node.yaml -o better.yaml",
    ),
    "fit": (
        "fit points.csv --predict p=1024",
        "fit sort.txt --plot sort.pdf",
        "fit runs.jsonl --tree --format json",
    ),
    "isoefficiency": (
        "isoefficiency times.csv --at p=60 --efficiency 0.8",
        'isoefficiency --formula "1 - 0.3*p^0.5*n^-0.25" --at p=60',
    ),
    "expect": ("expect growth.yaml", "expect openmp --run 1,2,3,4,6 --junit results.xml"),
    "tasks": ("tasks record -o run -- ./program", "tasks show run --plot graph.pdf"),
    "tasks record": ("tasks record -o run --threads 2 -- ./program 1000",),
    "tasks show": ("tasks show run", "tasks show run --plot graph.pdf"),
    "tasks simulate": ("tasks simulate run --threads 1-64", "tasks simulate run --what-if"),
    "tasks replay": ("tasks replay run --threads 1,2",),
    "tasks isoefficiency": (
        "tasks isoefficiency --sizes 20,22,24,26,28 -- ./program {n}",
        "tasks isoefficiency --cores 64 --plot contours.pdf",
    ),
    "cc": ("cc -- gcc -O2 -fopenmp -c gemm.c", "cc -v -- clang -fopenmp gemm.c -o gemm"),
    "measure": (
        "measure --threads 1,2,4 -o runs.jsonl -- ./program 2000",
        "measure --resume -o runs.jsonl -- ./program 2000",
    ),
    "compare": (
        "compare hints.json runs.jsonl",
        "compare hints.json runs.jsonl --plot scatter.pdf",
        "compare hints.json runs.jsonl --min-success 75",
    ),
    "diff": (
        "diff HEAD~1 src -m dunnington",
        "diff old.json new.json --fail-if 'packages<baseline'",
    ),
    "lsp": ("lsp -m dunnington",),
    "study": ("study --source src -m host -o study -- ./program",),
    "bench": ("bench -m host --format html -o bench.html",),
    "coschedule": ("coschedule a.json b.json -m dunnington",),
    "trace": ("trace record -o traces -- mpirun -n 4 ./program", "trace waits traces.otf2"),
    "trace record": ("trace record -o traces -- mpirun -n 4 ./program",),
    "trace waits": ("trace waits traces.otf2", "trace waits traces.otf2 --plot timeline.pdf"),
    "trace delays": ("trace delays traces.otf2 --top 5",),
    "trace export": ("trace export traces.otf2 -o timeline.json",),
    "trace critical-path": ("trace critical-path traces.otf2 --plot timeline.pdf",),
    "trace messages": ("trace messages traces.otf2 --format csv -o matrix.csv",),
    "trace imbalance": ("trace imbalance traces.otf2",),
    "trace what-if": ("trace what-if traces.otf2 --top 5",),
    "trace convert": ("trace convert traces.otf2 --ranks 0-3 -o store",),
    "trace factors": ("trace factors run_*.prv --extrapolate 1e6 --plot factors.pdf",),
    "trace history": ("trace history factors/*.json --badge badge.svg",),
    "run": (
        "run --hints hints.json -- ./program",
        "run --share night --hints hints.json -- ./program",
    ),
    "cache": ("cache show",),
    "cache show": ("cache show",),
    "cache clear": ("cache clear",),
}


def with_examples(command: click.Command, name: str) -> click.Command:
    """Adds the examples of a command to the end of its help, and those of its subcommands to
    theirs.
    """
    lines = EXAMPLES.get(name, ())
    if lines:
        title = "Example:" if len(lines) == 1 else "Examples:"
        command.epilog = "\n".join(["\b", title, *(f"  regionpredict {line}" for line in lines)])
    if isinstance(command, click.Group):
        for inner, subcommand in command.commands.items():
            with_examples(subcommand, f"{name} {inner}")
    return command
