"""Defines the options that all commands on source code share, and evaluates them."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.output import output_option
from regionpredict.cli.progress import StageLine
from regionpredict.cli.result_cache import RunRecord
from regionpredict.cli.stage_seconds import show_seconds
from regionpredict.errors import InputError, UsageError
from regionpredict.file_presence import is_folder, path_exists

if TYPE_CHECKING:
    from regionpredict.ir import Diagnostic
    from regionpredict.measure.recording import Recording
    from regionpredict.pipeline import Analysis
    from regionpredict.sizes.sizes_file import SizesFile

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OF_SOURCES = (
    "machine_name", "defines", "includes", "excludes", "standard", "given", "sizes", "sizes_from",
    "arguments", "frontend", "processes",
)  # fmt: skip
"""The options that have no effect if a command has no sources."""

_OF_CONFIG = "regionpredict.config.given"
"""The key in click's context for the names of sizes from regionpredict.toml."""


def _and_config(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns a repeatable option's values, after those of regionpredict.toml."""
    from regionpredict.cli.group import CONFIG

    config: tuple[str, ...] = ctx.meta.get(CONFIG, {}).get(param.name, ())
    if not config:
        return value
    from regionpredict.cli.config_file import with_config

    both = with_config(value, config, named=param.name in ("defines", "given"))
    if param.name == "given":
        kept = both[: len(both) - len(value)]
        ctx.meta[_OF_CONFIG] = frozenset(pair.rpartition("=")[0] for pair in kept)
    return both


_STANDARD = re.compile(
    r"(c|gnu)(89|9[09x]|11|1[17x8]|2[3xy])|iso9899:\d+|(c|gnu)\+\+(98|0[3x]|1[147yz]|2[0-9a-c])"
)


def _known_standard(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Checks the language standard, since parsers report an unknown one without explanation."""
    if value and not _STANDARD.fullmatch(value):
        raise UsageError(f"--std {value}: no such standard", remedy="write c99, c11, gnu11, c++17")
    return value


_READING: tuple[Decorator, ...] = (
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", callback=_and_config,
                 help="Define a macro."),
    click.option("-I", "includes", multiple=True, metavar="DIR", callback=_and_config,
                 help="Search DIR for headers."),
    click.option("--exclude", "excludes", multiple=True, metavar="PATTERN", callback=_and_config,
                 help="Exclude files, for example 'tests/*' or '*_old.c'."),
    click.option("--std", "standard", default="", metavar="STD", callback=_known_standard,
                 help="Language standard, for example c99."),
    click.option(
        "--set", "given", multiple=True, metavar="NAME=VALUE", callback=_and_config,
        help="Set a size by its name in the results: n=64, 'grid[0]=64', s->n=64, or solve:n=64 in "
        "one function. FILE:LINE=64 sets the iterations of a loop, FILE:LINE=25% the share of true "
        "conditions of an if, 'skew(row)=9' the imbalance of iterations.",
    ),
    click.option("--sizes", "sizes", default=None, metavar="FILE[:NAME]",
                 help="Read sizes from a file, or from one set in it."),
    click.option("--sizes-from", "sizes_from", default=None, metavar="RUNS",
                 help="Take other sizes from a run recorded by regionpredict measure."),
    click.option("--args", "arguments", default=None, metavar="'ARG...'",
                 help="Arguments of the program. Sizes are derived from them."),
    click.option(
        "--frontend", type=click.Choice(["libclang", "pycparser"]), default=None,
        help="Parser.  [default: libclang where available]",
    ),
    click.option("-j", "processes", type=click.IntRange(1), default=None, metavar="N",
                 help="Number of processes.  [default: all cores]"),
    click.option("--no-cache", is_flag=True, expose_value=False,
                 help="Do not read or write the cache of results."),
)  # fmt: skip
_OPTIONS: tuple[Decorator, ...] = (
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    *_READING,
    click.option("--dump", "stage", default=None, metavar="STAGE",
                 help="Print an intermediate stage instead: program, facts or prediction."),
    output_option,
    click.option("--timings", is_flag=True, help="Print the time of each stage on standard error."),
)  # fmt: skip


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options for reading sources and for the origin of sizes."""
    for option in reversed(_READING):
        command = option(command)
    return command


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds PATH... and the options for reading sources and writing the result."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def parse_pairs(pairs: Sequence[str]) -> list[tuple[str, str]]:
    """Parses `NAME=VALUE` or `NAME` (with value 1) of -D."""
    macros = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name.isidentifier():
            raise UsageError(
                f"-D {pair}: not a macro name", remedy="write -D NAME or -D NAME=VALUE"
            )
        if _is_whole(value) and int(value, 0) >= 1 << 64:
            raise UsageError(
                f"-D {pair}: does not fit 64 bits", remedy="no C integer holds such a value"
            )
        macros.append((name, value if equals else "1"))
    return macros


def _is_whole(text: str) -> bool:
    try:
        int(text, 0)
    except ValueError:
        return False
    return True


def sizes_of(
    given: Sequence[str], file: str | None
) -> tuple[dict[str, int | Fraction], SizesFile | None]:
    """Returns the values of --set and --sizes, and the file with its lines. --set takes
    precedence.
    """
    from regionpredict.sizes.set_option import parse_given

    values = parse_given(given)
    if file is None:
        return values, None
    from regionpredict.sizes.sizes_file import read_sizes

    path, chosen = _file_and_set(file)
    sizes = read_sizes(path, chosen)
    record = run_record()
    if record is not None:
        record.read_file(path)
    return {**sizes.values, **values}, sizes


def _file_and_set(text: str) -> tuple[Path, str | None]:
    """Splits `sizes.yaml:small` into file and set. A file with this whole name takes precedence."""
    name, colon, chosen = text.rpartition(":")
    if not colon or not name or path_exists(text):
        return Path(text), None
    return Path(name), chosen


def run_analysis(
    paths: Sequence[str], defines: Sequence[str], includes: Sequence[str], standard: str,
    given: Sequence[str], frontend: str | None, processes: int | None, *, timings: bool,
    sizes: str | None = None, sizes_from: str | None = None, arguments: str | None = None,
    flows: bool = False, recorded: Recording | None = None, excludes: Sequence[str] = (),
    defaults: bool = True,
) -> Analysis:  # fmt: skip
    """Reads and analyzes the sources of the common options. Diagnostics go to standard error.

    `flows`: also analyze page placement. `recorded` is a run that was already read, instead of
    `sizes_from`. Without `defaults`, sizes from a run without arguments stay unknown.
    """
    from regionpredict.analysis.given_shares import split_by_kind
    from regionpredict.frame_memory import keep_freed_memory
    from regionpredict.frontend import dependencies_of, requests_for
    from regionpredict.pipeline import analyse
    from regionpredict.sizes.set_option import parse_given
    from regionpredict.sizes.value_check import check_values

    keep_freed_memory()
    pairs = parse_pairs(defines)
    requests = requests_for(paths, pairs, includes, standard, excludes)
    values, file = sizes_of(given, sizes)
    lines = _lines_of_sizes(file, parse_given(given))
    with StageLine() as line:
        analysis = analyse(
            requests, values, frontend=frontend, processes=processes_of(processes),
            flows=flows, clock=time.perf_counter, lines=lines,
            recording=recorded or _read_recording(sizes_from),
            arguments=_split_arguments(arguments),
            optional=_of_config(file), tell=line, defaults=defaults,
        )  # fmt: skip
    check_values(analysis.program, analysis.facts, split_by_kind(values).whole, pairs, lines)
    if timings:
        show_seconds(analysis.seconds)
    _check_something(paths, analysis)
    show_notes(analysis.program.diagnostics)
    for remark in analysis.remarks:
        click.echo(f"note: {remark}", err=True)
    if analysis.program.headers == "shipped":
        click.echo("note: no system headers found; using the shipped minimum", err=True)
    for folder in includes:
        if not is_folder(folder):
            click.echo(f"note: -I {folder}: no such folder", err=True)
    for name in _unused_names(pairs, analysis):
        click.echo(f"note: -D {name} is unused", err=True)
    if not analysis.facts:
        click.echo(f"note: {_without_loops(analysis)}", err=True)
    record = run_record()
    if record is not None and not timings:
        record.read_sources(
            dependencies_of(paths, requests, analysis.lookups, analysis.inputs),
            lambda: requests_for(paths, pairs, includes, standard, excludes) == requests,
        )
    return analysis


def _unused_names(macros: Sequence[tuple[str, str]], analysis: Analysis) -> list[str]:
    """Returns the unused macros of the command line. Names in regionpredict.toml are excluded,
    because they are for the whole project.
    """
    from regionpredict.cli.group import CONFIG
    from regionpredict.cli.unused_macros import unused_macros

    config = click.get_current_context().meta.get(CONFIG, {}).get("defines", ())
    of_project = {pair.partition("=")[0] for pair in config}
    own = [(name, value) for name, value in macros if name not in of_project]
    if not own:
        return []
    read = dict.fromkeys(
        file for lookups in analysis.lookups if lookups is not None for file in lookups.files
    )
    return unused_macros(own, (*analysis.program.files, *read))


def _split_arguments(text: str | None) -> list[str] | None:
    """Splits the arguments of --args as in a shell."""
    if text is None:
        return None
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"--args {text}: {str(error).lower()}", remedy="write it as in a shell"
        ) from None


def _read_recording(path: str | None) -> Recording | None:
    """Reads the recorded run of --sizes-from."""
    if path is None:
        return None
    from regionpredict.measure.recording import read_recording

    recording = read_recording(Path(path))
    record = run_record()
    if record is not None:
        record.read_file(Path(path))
    return recording


def _lines_of_sizes(file: SizesFile | None, given: Collection[str]) -> dict[str, tuple[str, int]]:
    """Returns the source position of each size in the file that --set does not replace."""
    if file is None:
        return {}
    return {name: (file.path, line) for name, line in file.lines.items() if name not in given}


def _of_config(file: SizesFile | None) -> frozenset[str]:
    """Returns the sizes in regionpredict.toml, which are for the whole project."""
    context = click.get_current_context()
    names: set[str] = set(context.meta.get(_OF_CONFIG, ()))
    if context.get_parameter_source("sizes") is click.core.ParameterSource.DEFAULT_MAP:
        names.update(file.values if file is not None else ())
    return frozenset(names)


def run_record() -> RunRecord | None:
    """Returns the record of this run, if its result may be cached."""
    record = click.get_current_context().obj
    return record if isinstance(record, RunRecord) else None


def keep_answer(output: str | None, *files: Path) -> None:
    """Caches the result with these additional dependencies, unless a file was written."""
    record = run_record()
    if record is not None and output is None:
        record.keep(*files)


def processes_of(requested: int | None) -> int:
    """Returns N of `-j N`, or by default the number of available cores."""
    from regionpredict.workers import allowed_cores

    return requested or allowed_cores()


def _without_loops(analysis: Analysis) -> str:
    left = sum(note.id == "RP006" for note in analysis.program.diagnostics)
    if not left:
        return "no OpenMP worksharing loop found"
    which = "the only OpenMP loop" if left == 1 else f"all {left} OpenMP loops"
    return f"the preprocessor removes {which}: add the -D that RP006 names"


def _check_something(paths: Sequence[str], analysis: Analysis) -> None:
    if analysis.facts:
        return
    errors = [n for n in analysis.program.diagnostics if n.id == "RP002"]
    if len(paths) == 1 and Path(paths[0]).is_file() and errors:
        note = errors[0]
        raise InputError(
            f"cannot be read as C ({note.message.removesuffix('; the rest was read')})",
            remedy="is it a C source file?", path=note.span.file, line=note.span.line,
            column=note.span.column,
        )  # fmt: skip


def show_notes(notes: Sequence[Diagnostic]) -> None:
    """Prints diagnostics of reading to standard error. Identical ones share one line."""
    from regionpredict.report.reading_notes import note_lines

    for line in note_lines(notes):
        click.echo(line, err=True)
