"""Source requests -> one `Program`, with one parser or the other, in one process or several."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.frontend import libclang
from regionpredict.frontend.flows import flows_of
from regionpredict.frontend.regions import regions_of
from regionpredict.frontend.unit import SourceRequest, Unit
from regionpredict.ir import Definition, Diagnostic, Program, Region, Span
from regionpredict.ir.flow import Flow

_DEPTH = 50_000
FRONTENDS = ("libclang", "pycparser")


class _Part(NamedTuple):
    """What one file gave."""

    regions: list[tuple[Region, tuple[Definition, ...]]]
    diagnostics: list[Diagnostic]
    files: tuple[str, ...]
    macros: frozenset[str]
    headers: str
    flows: list[Flow]


def default_frontend() -> str:
    """`libclang` where it has a build for this platform, else `pycparser`."""
    return "libclang" if libclang.library_path() is not None else "pycparser"


def read(
    requests: Sequence[SourceRequest],
    frontend: str | None = None,
    processes: int = 1,
    *,
    flows: bool = False,
) -> Program:
    """Reads every request; a file that cannot be read is a diagnostic unless it is the only one.

    `flows` asks for what all functions do to memory as well, which first touch is told from.

    Raises InputError where a single file cannot be read at all.
    """
    chosen = frontend or default_frontend()
    jobs = [(request, chosen, len(requests) == 1, flows) for request in requests]
    if processes > 1 and len(jobs) > 1:
        with ProcessPoolExecutor(min(processes, len(jobs))) as pool:
            parts = list(pool.map(_read_one, jobs, chunksize=1))
    else:
        parts = [_read_one(job) for job in jobs]
    return _join(parts, chosen)


def _parser(frontend: str) -> Callable[[SourceRequest], Unit]:
    if frontend == "libclang":
        from regionpredict.frontend.clang import parse_unit
    elif frontend == "pycparser":
        from regionpredict.frontend.pycparser import parse_unit
    else:
        raise InputError(
            f"no front end '{frontend}'", remedy=f"choose one of {', '.join(FRONTENDS)}"
        )
    return parse_unit


def _read_one(job: tuple[SourceRequest, str, bool, bool]) -> _Part:
    request, frontend, alone, with_flows = job
    # Generated code has sums of thousands of terms, which nest as deep.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    try:
        unit = _parser(frontend)(request)
    except InputError as error:
        if alone:
            raise
        place = Span(error.path or request.path, error.line or 1, error.column or 0)
        note = Diagnostic("RP004", place, f"{error.message}: file left out")
        return _Part([], [note], (request.path,), frozenset(), "system", [])
    try:
        regions, notes = regions_of(unit)
        flows = flows_of(unit) if with_flows else []
    finally:
        unit.close()
    notes = [*unit.diagnostics, *notes]
    return _Part(regions, notes, unit.files, unit.macros, unit.headers, flows)


def _join(parts: list[_Part], frontend: str) -> Program:
    """One program; a region of a header that several files include is kept once."""
    regions: dict[tuple[str, int, int], Region] = {}
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
            key = (region.span.file, region.span.line, region.span.column)
            count = names.get(region.id, 0)
            if key in before:
                if regions[key].nest is None and region.nest is not None:
                    regions[key] = region  # another file that includes it could read it
                    definitions[region.id] = defined
                continue
            if key in regions:  # one macro, two regions on a line
                key = (*key[:2], key[2] + count * 10_000)
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
    )
