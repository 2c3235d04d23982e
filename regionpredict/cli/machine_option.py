"""`-m MACHINE`: a shipped name, a file, or `host`, which is calibrated once and cached."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from regionpredict.atomic_file import replace_file
from regionpredict.cli.quiet_host import QuietHost, note_once
from regionpredict.cli.source_options import run_record
from regionpredict.cli.this_host import allowed_threads, first_compiler, free_bytes
from regionpredict.errors import InputError, UsageError, plural
from regionpredict.file_presence import is_folder
from regionpredict.user_cache import is_private_file, private_folder, user_cache_folder

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.machine.detect import Topology

HOST = "host"
CALIBRATION_S = 20.0
"""The duration of the first measurement of the host. `regionpredict calibrate -o FILE` takes
minutes and is more accurate.
"""

QUIET_WAIT_S = 10.0
"""Maximum time that the first measurement waits for an idle host."""

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hpp", ".hh", ".hxx", ".cu")


def _reject_source_file(ctx: click.Context, _: click.Parameter, name: str | None) -> str | None:
    """Raises UsageError if the argument of -m is a source file. Without this check, the first error
    would be a missing PATH.
    """
    if name is None or not (Path(name).suffix in _SOURCES or is_folder(name)):
        return name
    from regionpredict.machine import shipped_aliases, shipped_names

    known = (HOST, *shipped_names(), *shipped_aliases())
    if name in known:  # a folder may have the same name
        return name
    takes_paths = any(parameter.name == "paths" for parameter in ctx.command.params)
    example = f": {ctx.command_path} {name} -m dunnington" if takes_paths else ", as -m dunnington"
    what = "a folder" if is_folder(name) else "a source"
    raise UsageError(
        f"-m {name}: {what}, no machine",
        remedy=f"choose a machine{example}, or -m host for this one",
    )


def complete_machine(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The shipped machines and `host` for shell completion, or files if none of them matches."""
    from regionpredict.machine import shipped_names

    names = [name for name in (HOST, *shipped_names()) if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


machine_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "-m", "machine_name", default=None, metavar="MACHINE", callback=_reject_source_file,
    shell_complete=complete_machine,
    help="A shipped machine, a YAML file, or host (this one, measured once).",
)  # fmt: skip


def machine_for(name: str | None) -> tuple[Machine, Path]:
    """Returns the machine of -m, and its file. Raises UsageError if -m is missing, and InputError
    if there is no such machine.
    """
    from regionpredict.machine import file_of
    from regionpredict.machine.shipped import load_file

    if name is None:
        raise UsageError(
            "no machine",
            remedy="add -m host for this one, -m FILE, or -m NAME of `regionpredict machines list`",
        )
    if name == HOST:
        path = _host_file()
        return load_file(path, str(path)), path
    path, shown = file_of(name)
    return load_file(path, shown), path


def _host_file() -> Path:
    """Returns the machine file of this host in the user's cache folder, and creates it if it is
    missing.

    The key consists of the host's name, processor, caches, packages, domains and kernel. Therefore,
    hosts with a common folder have separate files. The memory size is excluded, because it changes
    between starts of a virtual machine.
    """
    from regionpredict.machine.detect import read_sysfs
    from regionpredict.machine.writer import write

    record = run_record()
    if record is not None:
        record.bypass()  # the result is only valid on this host
    topology = read_sysfs()
    shape = hashlib.sha256(repr(_host_key(topology)).encode()).hexdigest()[:12]
    folder = private_folder(user_cache_folder(os.environ) / "hosts")
    stem = "".join(c if c.isalnum() or c in "-." else "_" for c in os.uname().nodename)
    path = folder / f"{stem}-{shape}.yaml"
    what = f"{topology.packages} x {topology.cores_per_package} cores"
    if is_private_file(path):
        age = _age_text(time.time() - path.stat().st_mtime)
        click.echo(f"note: host: {what}, as measured {age} ({path})", err=True)
        return path
    began = time.monotonic()
    try:
        text = _measure_host(topology, folder / f"{stem}-{os.getpid()}.samples.json")
    except InputError as error:
        path = path.with_suffix(".shape.yaml")
        replace_file(path, write(topology, HOST).encode())
        click.echo(f"note: host: {what}, not measured: {error.message} ({path})", err=True)
        return path
    replace_file(path, text.encode())
    took = time.monotonic() - began
    click.echo(f"note: host: {what}, measured in {took:.0f} s, kept in {path}", err=True)
    return path


def _host_key(topology: Topology) -> tuple[object, ...]:
    """Returns all properties of a host that affect its measured figures."""
    return (
        topology.name, topology.identity, topology.packages, topology.cores_per_package,
        topology.domains_per_package, topology.threads_per_core, topology.caches,
        topology.simd_bits, topology.page_bytes, os.uname().release,
    )  # fmt: skip


def _age_text(seconds: float) -> str:
    """Describes the age of a measurement.

    >>> _age_text(40), _age_text(7200), _age_text(86400), _age_text(3 * 86400)
    ('today', 'today', '1 day ago', '3 days ago')
    """
    days = int(seconds // 86400)
    return f"{plural(days, 'day')} ago" if days > 0 else "today"


def _measure_host(topology: Topology, state: Path) -> str:
    """Returns the host's machine file after a short calibration. Raises InputError if the host
    cannot be measured.
    """
    from regionpredict.machine.calibrate import calibrate
    from regionpredict.machine.writer import write

    quiet = QuietHost(QUIET_WAIT_S, note_once())
    try:
        result = calibrate(
            topology, compiler=first_compiler(), budget_s=CALIBRATION_S, state_path=state,
            free_bytes=free_bytes(), cpus=allowed_threads(topology.threads), quiet=quiet.wait,
        )  # fmt: skip
    finally:
        state.unlink(missing_ok=True)
    busy = quiet.remark()
    if busy:
        click.echo(f"warning: {busy}", err=True)
    return write(topology, HOST, result.figures)
