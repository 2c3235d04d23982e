"""`regionpredict machines`: lists, shows and checks machine models, and detects the host's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.machine_option import complete_machine
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.terminal_width import within_width
from regionpredict.report.page_width import PAGE_WIDTH

if TYPE_CHECKING:
    from regionpredict.machine.detect import Topology


@click.group("machines", help="List, show, check and detect machine models.")
def command() -> None:
    """The group of the four commands below."""


@command.command("list")
def list_machines() -> None:
    """List the shipped machines and their aliases for -m."""
    from regionpredict.machine import load, shipped_aliases, shipped_names
    from regionpredict.report.aligned_table import aligned_lines

    aliases = shipped_aliases()
    rows = []
    for name in shipped_names():
        machine = load(name)
        shape = f"{machine.packages} x {machine.cores_per_package}"
        others = ", ".join(alias for alias, own in aliases.items() if own == name)
        also = f"; also -m {others}" if others else ""
        rows.append((name, f"{shape:>8} cores", f"{machine.description}{also}"))
    write_result(within_width("\n".join(aligned_lines(rows)) + "\n", PAGE_WIDTH), None)


@command.command("show")
@click.argument("machine", shell_complete=complete_machine)
@result_options("table html", "html: one self-contained page with every figure.")
def show_machine(machine: str, form: str, output: Path | None) -> None:
    """Draw the node of MACHINE and show its key figures."""
    from regionpredict.cli.machine_option import machine_for
    from regionpredict.report.machine import machine_document
    from regionpredict.report.rendered import rendered

    model, _ = machine_for(machine)
    write_result(rendered(machine_document(model), form), output)


@command.command("check")
@click.argument("machine", shell_complete=complete_machine)
def check_machine(machine: str) -> None:
    """Report errors, missing figures and assumptions in MACHINE."""
    from regionpredict.cli.machine_option import machine_for
    from regionpredict.machine.check import check
    from regionpredict.report.quantities import plural

    model, _ = machine_for(machine)
    findings = check(model)
    lines = [f"{finding.severity}: {finding.key}: {finding.message}" for finding in findings]
    counts = {
        severity: sum(finding.severity == severity for finding in findings)
        for severity in ("error", "warning", "note")
    }
    summary = ", ".join(plural(number, severity) for severity, number in counts.items())
    write_result("\n".join([*lines, f"{model.path}: {summary}"]) + "\n", None)
    if counts["error"]:
        sys.exit(1)


@command.command("detect")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the file here.")
@click.option(
    "--hwloc",
    type=click.Path(path_type=Path),
    help="Read another machine's hwloc XML instead (`lstopo machine.xml`).",
)
@click.option("--name", default=None, help="Name of the machine.  [default: from the output file]")
@click.option("--sysfs", type=click.Path(path_type=Path), hidden=True)
@click.option("--cpuinfo", type=click.Path(path_type=Path), hidden=True)
def detect_machine(
    output: Path | None,
    hwloc: Path | None,
    name: str | None,
    sysfs: Path | None,
    cpuinfo: Path | None,
) -> None:
    """Read packages, cores, NUMA domains and caches of this host, as a machine file."""
    from regionpredict.machine.detect import read_hwloc, read_sysfs
    from regionpredict.machine.detect.sysfs import CPUINFO, SYSTEM
    from regionpredict.machine.writer import write

    if hwloc is not None:
        topology = read_hwloc(hwloc)
    else:
        topology = read_sysfs(sysfs or SYSTEM, cpuinfo or CPUINFO)
    report_remarks(topology, lambda text: click.echo(text, err=True))
    text = write(topology, name or (output.stem if output else "this-host"))
    write_result(text, output, verbatim=True)


def report_remarks(topology: Topology, say: Callable[[str], None]) -> None:
    """Reports what is implausible or not uniform about the host, one line each."""
    for remark in topology.remarks:
        say(f"warning: {remark}")
