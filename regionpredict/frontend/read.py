"""Source requests -> one `Program`, with one parser or the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.errors import InputError, one_line
from regionpredict.frontend.lowering import (
    regions_of,
    serial_loops_of,
)
from regionpredict.frontend.memory_effects import (
    flows_of,
)
from regionpredict.frontend.requests import (
    SourceRequest,
)
from regionpredict.frontend.syntax import (
    Lookups,
    Unit,
)
from regionpredict.ir import Definition, Diagnostic, Program, Region, SerialLoop, Span
from regionpredict.ir.flow import Flow, loops_with_calls
from regionpredict.isolation import LIMITS, recursion_limit

FRONTENDS = ("libclang", "pycparser")


class Part(NamedTuple):
    """What one file gave: its regions, each with what the source says of its names' values."""

    regions: list[tuple[Region, tuple[Definition, ...]]]
    diagnostics: list[Diagnostic]
    files: tuple[str, ...]
    macros: frozenset[str]
    headers: str
    flows: list[Flow]
    lookups: Lookups | None = None  # where the file could not be read
    loops: tuple[SerialLoop, ...] = ()


def default_frontend() -> str:
    """`libclang` where it has a build for this platform, else `pycparser`."""
    from regionpredict.frontend.libclang_reader import library_path

    return "libclang" if library_path() is not None else "pycparser"


def read(
    requests: Sequence[SourceRequest], frontend: str | None = None, *, flows: bool = False
) -> Program:
    """Reads every request; a file that cannot be read is a diagnostic unless it is the only one.

    `flows` asks for what all functions do to memory as well, which first touch is told from.

    Raises InputError where a single file cannot be read at all.
    """
    chosen = frontend or default_frontend()
    alone = len(requests) == 1
    return join(
        [read_file(request, chosen, alone=alone, flows=flows) for request in requests], chosen
    )


def _parser(frontend: str) -> Callable[[SourceRequest], Unit]:
    if frontend == "libclang":
        from regionpredict.frontend.libclang_reader import (
            parse_unit,
        )
    elif frontend == "pycparser":
        from regionpredict.frontend.pycparser_reader import (
            parse_unit,
        )
    else:
        raise InputError(
            f"no front end '{frontend}'", remedy=f"choose one of {', '.join(FRONTENDS)}"
        )
    return parse_unit


def read_file(
    request: SourceRequest, frontend: str, *, alone: bool = False, flows: bool = False
) -> Part:
    """Reads one file with the parser of that name; where it cannot be read, a part that says so.

    `flows` asks for what all its functions do to memory as well. Raises InputError for a file
    that cannot be read where it stands `alone`.
    """
    with recursion_limit(LIMITS.recursion):
        return _read(request, frontend, alone=alone, flows=flows)


def _read(request: SourceRequest, frontend: str, *, alone: bool, flows: bool) -> Part:
    try:
        if not request.path.isprintable():
            raise InputError(
                "a file name that is no line of UTF-8 text", remedy="rename it", path=request.path
            )
        unit = _parser(frontend)(request)
    except InputError as error:
        if alone:
            raise
        place = Span(one_line(error.path or request.path), error.line or 1, error.column or 0)
        return _without_regions(request, error.message, place)
    try:
        regions, notes = regions_of(unit)
        seen = flows_of(unit) if flows else []
        loops = serial_loops_of(unit, loops_with_calls(seen))
    finally:
        unit.close()
    notes = [*unit.diagnostics, *notes]
    return Part(regions, notes, unit.files, unit.macros, unit.headers, seen, unit.lookups,
                tuple(loops))  # fmt: skip


def left_out(request: SourceRequest, reason: str, *, alone: bool = False) -> Part:
    """The part of a file whose reading was ended from outside, which says so.

    Raises InputError where it stands `alone`.
    """
    if alone:
        raise InputError(
            reason, remedy="shorten it, or try the other --frontend", path=request.path
        )
    return _without_regions(request, reason, Span(one_line(request.path), 1))


def _without_regions(request: SourceRequest, reason: str, place: Span) -> Part:
    note = Diagnostic("RP004", place, f"{reason}: file left out")
    return Part([], [note], (one_line(request.path),), frozenset(), "system", [])


def join(parts: Sequence[Part], frontend: str) -> Program:
    """One program of the parts, in the order of the requests.

    A region of a header that several files include is kept once, but where it is a template's:
    then once for each instance. Regions keep their identity
    (`is`) but where two that stand on one line are given ids of their own.
    """
    regions: dict[tuple[str, int, int, str], Region] = {}
    names: dict[str, int] = {}
    definitions: dict[str, tuple[Definition, ...]] = {}
    notes: dict[Diagnostic, None] = {}
    files: dict[str, None] = {}
    flows: dict[tuple[Span, str], Flow] = {}
    for part in parts:
        for flow in part.flows:
            flows.setdefault((flow.span, flow.function), flow)
        files.update(dict.fromkeys(part.files))
        notes.update(dict.fromkeys(part.diagnostics))
        before = set(regions)
        for region, defined in part.regions:
            span = region.span
            key = (span.file, span.line, span.column, region.instance)
            count = names.get(region.id, 0)
            if key in before:
                if regions[key].nest is None and region.nest is not None:
                    regions[key] = region  # another file that includes it could read it
                    definitions[region.id] = defined
                continue
            if key in regions:  # one macro, two regions on a line
                key = (*key[:2], key[2] + count * 10_000, region.instance)
            kept = replace(region, id=f"{region.id}.{count + 1}") if count else region
            names[region.id] = count + 1
            regions[key] = kept
            definitions[kept.id] = defined
    ordered = sorted(regions.values(), key=lambda r: (r.span.file, r.span.line, r.span.column))
    return Program(
        regions=tuple(ordered),
        diagnostics=tuple(notes),
        frontend=frontend,
        files=tuple(files),
        definitions=definitions,
        macros=frozenset().union(*(part.macros for part in parts)),
        headers="shipped" if any(part.headers == "shipped" for part in parts) else "system",
        flows=tuple(flows.values()),
        loops=tuple({loop.loop.span: loop for part in parts for loop in part.loops}.values()),
    )
