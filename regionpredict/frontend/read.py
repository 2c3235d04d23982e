"""Reads source requests into one `Program`, with either parser."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from regionpredict.errors import InputError, one_line
from regionpredict.frontend.library_models import models_of
from regionpredict.frontend.linking import (
    LinkedUnit,
    PackedUnit,
    ProgramUnits,
    Trees,
    linked_alone,
    pack_unit,
    trees_of,
    with_models,
)
from regionpredict.frontend.lowering import (
    choices_of,
    has_serial_loops,
    passed_tables,
    regions_of,
    serial_branches_of,
    serial_loops_of,
    serial_nests_of,
    withheld_regions,
)
from regionpredict.frontend.memory_effects import (
    flows_of,
    with_calls_through_pointers,
    with_choices,
    with_manual_worksharing,
    with_object_names,
    worksharing_block,
)
from regionpredict.frontend.program_arguments import ArgumentValues, argument_values
from regionpredict.frontend.requests import (
    SourceRequest,
)
from regionpredict.frontend.syntax import (
    For,
    Lookups,
    Unit,
)
from regionpredict.ir import (
    WITHHELD,
    Definition,
    Diagnostic,
    Program,
    Region,
    SerialBranch,
    SerialLoop,
    SerialNest,
    Span,
)
from regionpredict.ir.flow import (
    Flow,
    Place,
    branches_with_calls,
    calls_through_pointers,
    loops_with_calls,
    serial_nests,
)
from regionpredict.isolation import LIMITS, Failure, attempt, recursion_limit

FRONTENDS = ("libclang", "pycparser")


class FileResult(NamedTuple):
    """The result of reading one file: its regions with the definitions of their names."""

    regions: list[tuple[Region, tuple[Definition, ...]]]
    diagnostics: list[Diagnostic]
    files: tuple[str, ...]
    macros: frozenset[str]
    headers: str
    flows: list[Flow]
    lookups: Lookups | None = None  # None where the file could not be read
    loops: tuple[SerialLoop, ...] = ()
    branches: tuple[SerialBranch, ...] = ()
    arguments: ArgumentValues | None = None  # only if the program is a single file
    # Loops that are shared by thread number, including loops in other files, with their arrays.
    by_hand: tuple[tuple[Span, tuple[tuple[str, Place], ...]], ...] = ()
    serial: tuple[SerialNest, ...] = ()
    work_shares: tuple[tuple[Span, float], ...] = ()  # like in Program


class Parsed(NamedTuple):
    """The result of parsing one file. `unit` is None if the file is unreadable or the only file.

    `idle` says that the file contains no region and no loop with calls. `deferred` says that the
    file has no active directive, so that its functions were not read.
    """

    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    macros: frozenset[str]
    headers: str
    flows: list[Flow]
    idle: bool
    lookups: Lookups | None
    unit: PackedUnit | None = None
    deferred: bool = False


class Linked(NamedTuple):
    """The translation units of a run. `numbers` maps the index of a file to the number of its
    unit.
    """

    units: ProgramUnits
    numbers: dict[int, int]

    def get(self, place: int) -> LinkedUnit | None:
        """Returns the unit of the file with this index. None if the file could not be read."""
        number = self.numbers.get(place)
        return None if number is None else self.units.linked_unit(number)


def default_frontend() -> str:
    """Returns `libclang` if there is a build for this platform, otherwise `pycparser`."""
    from regionpredict.frontend.libclang_reader import library_path

    return "libclang" if library_path() is not None else "pycparser"


def read(
    requests: Sequence[SourceRequest], frontend: str | None = None, *, flows: bool = False
) -> Program:
    """Reads every request. An unreadable file becomes a diagnostic, unless it is the only file.

    `flows` requests the memory accesses of all functions, which the first-touch analysis needs.

    Raises InputError if a single file cannot be read.
    """
    chosen = frontend or default_frontend()
    if len(requests) == 1:
        return join([read_alone(requests[0], chosen, flows=flows)], chosen)
    parsed = [parse_file(request, chosen, flows=flows) for request in requests]
    units = linked(parsed)
    alone = serial_nests_in(parsed)
    return join(
        [lower_file(file, units.get(at), serial=alone) for at, file in enumerate(parsed)], chosen
    )


def serial_nests_in(parsed: Sequence[Parsed]) -> frozenset[Span]:
    """Returns the locations of the serial loops in all files."""
    return serial_nests([flow for file in parsed for flow in file.flows], has_serial_loops)


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


def read_alone(
    request: SourceRequest, frontend: str, *, flows: bool = False,
    arguments: Sequence[str] | None = None, withheld: str = "", defaults: bool = True,
) -> FileResult:  # fmt: skip
    """Reads a program in one file, and interprets it with its `arguments`.

    If `arguments` is None, the program is interpreted without arguments if `defaults` is true.

    `withheld` has the same meaning as in `lower_file`. Raises InputError if the file cannot be
    read.
    """
    with recursion_limit(LIMITS.recursion):
        given, trees = _parse(request, frontend, flows=flows, defer=arguments is None)
        if trees is None:
            return lower_file(given, None)
        unit = linked_alone(request.path, trees)
        if withheld:
            return lower_file(given, unit, withheld=withheld)
        followed: ArgumentValues | Failure | None = None
        if arguments is not None:
            followed = argument_values([unit], arguments)
        elif defaults:  # not requested, so failures are ignored
            followed = attempt(argument_values, [unit], None)
        followed = None if isinstance(followed, Failure) else followed
        alone = serial_nests_in([given])
        return lower_file(given, unit, serial=alone)._replace(arguments=followed)


def follow_arguments(units: Linked, arguments: Sequence[str] | None) -> ArgumentValues | None:
    """Returns the values that a program of several files derives from its arguments. None without
    `main`.

    `arguments` has the same meaning as in `argument_values`.
    """
    with recursion_limit(LIMITS.recursion):
        linked_units = (units.get(at) for at in units.numbers)
        return argument_values([unit for unit in linked_units if unit is not None], arguments)


def parse_file(
    request: SourceRequest, frontend: str, *, flows: bool = False, defer: bool = False
) -> Parsed:
    """Parses one of several files with the given parser. An unreadable file becomes a diagnostic.

    `flows` requests the memory effects of all functions in the file. `defer` says that the
    functions of a file without an active directive are not read.
    """
    with recursion_limit(LIMITS.recursion):
        try:
            given, trees = _parse(request, frontend, flows=flows, defer=defer)
        except InputError as error:
            place = Span(one_line(error.path or request.path), error.line or 1, error.column or 0)
            return _unreadable_file(request, error.message, place)
        return given if trees is None else given._replace(unit=pack_unit(request.path, trees))


def _parse(
    request: SourceRequest, frontend: str, *, flows: bool, defer: bool
) -> tuple[Parsed, Trees | None]:
    if not request.path.isprintable():
        raise InputError(
            "a file name that is not one line of UTF-8 text", remedy="rename it", path=request.path
        )
    unit = _parser(frontend)(request)
    busy = unit.directives or unit.functions
    if defer and not busy:
        unit.close()
        return Parsed(unit.diagnostics, unit.files, unit.macros, unit.headers, [], True,
                      unit.lookups, deferred=True), None  # fmt: skip
    try:
        trees = trees_of(unit)
    finally:
        unit.close()
    trees = _with_models(trees, frontend)
    seen = flows_of(body.function for body in trees.bodies) if flows else []
    if unit.errors:
        seen = [replace(flow, partial=True) for flow in seen]
    idle = not (busy or loops_with_calls(seen) or calls_through_pointers(seen))
    return Parsed(unit.diagnostics, unit.files, unit.macros, unit.headers, seen, idle,
                  unit.lookups), trees  # fmt: skip


def _with_models(trees: Trees, frontend: str) -> Trees:
    called = models_of(trees.words_in_functions() | trees.called_names())
    models = [(_model_trees(path, frontend), names) for path, names in called.items()]
    return with_models(trees, models) if models else trees


@cache
def _model_trees(path: str, frontend: str) -> Trees:
    unit = _parser(frontend)(SourceRequest(path))
    try:
        return trees_of(unit)
    finally:
        unit.close()


def linked(parsed: Sequence[Parsed]) -> Linked:
    """Links the units of all readable files."""
    known = [at for at, file in enumerate(parsed) if file.unit is not None]
    units = ProgramUnits([unit for file in parsed if (unit := file.unit) is not None])
    return Linked(units, {at: number for number, at in enumerate(known)})


def lower_file(
    parsed: Parsed, unit: LinkedUnit | None, *, withheld: str = "", serial: Collection[Span] = ()
) -> FileResult:
    """Returns the regions of one file. `unit` is None if there is nothing to lower.

    `withheld` is the error that ended the lowering, and the reason why the regions have no result.
    `serial` are the locations of the serial loops.
    """
    part = FileResult([], list(parsed.diagnostics), parsed.files, parsed.macros, parsed.headers,
                      parsed.flows, parsed.lookups)  # fmt: skip
    if unit is None or parsed.idle:
        return part
    if withheld:
        return part._replace(regions=withheld_regions(unit, withheld).regions)
    with recursion_limit(LIMITS.recursion):
        regions, notes, by_hand = regions_of(unit)
        program = attempt(_calls_and_loops, parsed, unit, by_hand)
        alone = attempt(serial_nests_of, unit, {span for span in serial if span not in by_hand})
    if isinstance(program, Failure):
        place = Span(parsed.files[0], 1)
        notes.append(Diagnostic(WITHHELD, place, f"the callers of the regions: {program.reason}"))
        program = _CallsAndLoops(parsed.flows, (), (), ())
    if isinstance(alone, Failure):
        place = Span(parsed.files[0], 1)
        notes.append(Diagnostic(WITHHELD, place, f"the serial loops: {alone.reason}"))
        alone = []
    return part._replace(
        regions=regions, diagnostics=[*part.diagnostics, *notes], **program._asdict(),
        serial=tuple(alone),
    )  # fmt: skip


class _CallsAndLoops(NamedTuple):
    """The calls and loops of a file that lead to its regions, as fields of `FileResult`."""

    flows: list[Flow]
    loops: tuple[SerialLoop, ...]
    branches: tuple[SerialBranch, ...]
    by_hand: tuple[tuple[Span, tuple[tuple[str, Place], ...]], ...]


def _calls_and_loops(
    parsed: Parsed, unit: LinkedUnit, by_hand: Mapping[Span, For]
) -> _CallsAndLoops:
    loops = serial_loops_of(unit, loops_with_calls(parsed.flows))
    choices = choices_of(unit) if parsed.flows else {}
    picked = {span for (span, _), own in choices.items() if any(choice.picked for choice in own)}
    branches = serial_branches_of(unit, branches_with_calls(parsed.flows) | picked)
    flows = [with_object_names(flow, unit.objects) for flow in parsed.flows]
    if flows:
        pointed = {body.span for body in unit.bodies() if unit.has_pointer(body.decl)}
        handing = passed_tables(unit)
        flows = [
            with_choices(flow, choices, handing)
            for flow in with_calls_through_pointers(flows, pointed)
        ]
    shared = [worksharing_block(loop, unit.objects) for loop in by_hand.values()]
    blocks = tuple((block.span, block.names) for block in shared)
    return _CallsAndLoops(flows, tuple(loops), tuple(branches), blocks)


def aborted_reading(request: SourceRequest, reason: str) -> Parsed:
    """Returns the result for a file whose reading was stopped, with its diagnostic."""
    return _unreadable_file(request, reason, Span(one_line(request.path), 1))


def _unreadable_file(request: SourceRequest, reason: str, place: Span) -> Parsed:
    note = Diagnostic("RP004", place, f"{reason}: file left out")
    return Parsed((note,), (one_line(request.path),), frozenset(), "system", [], True, None)


def join(parts: Sequence[FileResult], frontend: str) -> Program:
    """Combines the parts into one program, in the order of the requests.

    A region in a header that several files include is kept once. A region in a template is kept
    once per instance, and in its generic form only if there is no instance. Regions remain the same
    objects (`is`), except that several regions on one line get separate ids.
    """
    regions: dict[tuple[str, int, int, str], Region] = {}
    names: dict[str, int] = {}
    definitions: dict[str, tuple[Definition, ...]] = {}
    notes: dict[Diagnostic, None] = {}
    files: dict[str, None] = {}
    flows: dict[tuple[Span, str], Flow] = {}
    by_hand = {span: names for part in parts for span, names in part.by_hand}
    instances = {region.span for part in parts for region, _ in part.regions if region.instance}
    for part in parts:
        for flow in part.flows:
            flows.setdefault((flow.span, flow.function), with_manual_worksharing(flow, by_hand))
        files.update(dict.fromkeys(part.files))
        notes.update(dict.fromkeys(part.diagnostics))
        before = set(regions)
        for region, defined in part.regions:
            span = region.span
            if not region.instance and span in instances:
                continue
            key = (span.file, span.line, span.column, region.instance)
            count = names.get(region.id, 0)
            if key in before:
                if regions[key].nest is None and region.nest is not None:
                    regions[key] = region  # another including file was read successfully
                    definitions[region.id] = defined
                continue
            if key in regions:  # a macro with two regions on one line
                key = (*key[:2], key[2] + count * 10_000, region.instance)
            kept = replace(region, id=f"{region.id}.{count + 1}") if count else region
            names[region.id] = count + 1
            regions[key] = kept
            definitions[kept.id] = defined
    read = {(file, line) for file, line, _, _ in regions}
    for note in [note for note in notes if note.id == "RP006"]:
        if (note.span.file, note.span.line) in read:  # inactive only in some of the including files
            del notes[note]
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
        branches=tuple(
            {
                (branch.span, branch.side): branch for part in parts for branch in part.branches
            }.values()
        ),
        serial=tuple({nest.region.span: nest for part in parts for nest in part.serial}.values()),
        work_shares={span: share for part in parts for span, share in part.work_shares},
    )
