"""Finds the worksharing loops of a parsed translation unit, and lowers each to a region."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.hand_shared import ManuallySharedLoop, manually_shared_loops
from regionpredict.frontend.lowering.index_lists import with_index_lists
from regionpredict.frontend.lowering.invariant_values import names_in, with_invariant_names
from regionpredict.frontend.lowering.loop_over_threads import loop_over_threads
from regionpredict.frontend.lowering.member_aliases import with_member_names
from regionpredict.frontend.lowering.other_constructs import (
    other_constructs,
    target_note,
    task_note,
)
from regionpredict.frontend.lowering.parallel_constructs import (
    Callers,
    CallingRegions,
    enables_nested_parallelism,
)
from regionpredict.frontend.lowering.pointed_members import declares_variable
from regionpredict.frontend.lowering.qualified_names import with_qualified_names
from regionpredict.frontend.lowering.region_builder import RegionBuilder
from regionpredict.frontend.lowering.region_sites import LoopSite, region_sites
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.thread_numbers import ThreadNumbers
from regionpredict.frontend.syntax import (
    UNKNOWN,
    Compound,
    Decl,
    Directive,
    For,
    Function,
    Pragma,
    every_statement,
)
from regionpredict.ir import (
    WITHHELD,
    Definition,
    Diagnostic,
    OtherName,
    Region,
    Span,
)
from regionpredict.isolation import Failure, attempt
from regionpredict.library import with_critical_sections

_VARIABLE = re.compile(r"\w+'*")  # the variable at the start of an access path such as `s->n`
_DirectiveKey = tuple[
    str, int, int, str
]  # of a directive: file, line, offset, instance of a template


class UnitRegions(NamedTuple):
    """The regions of a translation unit with the definitions of their names, and diagnostics on
    other constructs.

    `by_hand` maps source positions to the loops that threads share by their thread numbers.
    """

    regions: list[tuple[Region, tuple[Definition, ...]]]
    notes: list[Diagnostic]
    by_hand: dict[Span, For]


def regions_of(unit: LinkedUnit) -> UnitRegions:
    """Returns a region for every worksharing loop and every explicit task of the unit, with the
    definitions of its names.
    """
    built: list[tuple[Region, tuple[Definition, ...]]] = []
    seen: set[_DirectiveKey] = set()
    repetitions: dict[_DirectiveKey, int] = {}
    notes: list[Diagnostic] = []
    by_hand: dict[Span, For] = {}
    others: set[Span] = set()
    trees, numbers, around = CallTrees(unit), ThreadNumbers(unit), CallingRegions(unit)
    shared: set[Span] = set()  # parallel regions that start nested parallel regions
    for function in unit.functions:
        here: Counter[_DirectiveKey] = Counter()
        instance = function.name if function.shown else ""
        for site in region_sites(function, is_recursive=trees.is_recursive(function)):
            span = site.directive.span
            if site.nested_in is not None:
                shared.add(site.nested_in)
            elif site.context != "orphaned":
                shared |= around.callers_of(function).inside
            place = (span.file, span.line, site.directive.pragma.offset, instance)
            here[place] += 1
            if place in seen and here[place] == 1 + repetitions.get(place, 0):
                repetitions[place] = repetitions.get(place, 0) + 1
                continue  # an `#include` or a macro repeats the same lines in another function
            lowered = attempt(_region_of_directive, unit, function, site, trees, numbers, around)
            if isinstance(lowered, Failure):
                empty_region = _region_without_loop(
                    unit, function, site.directive.pragma, span, trees, site.context
                )
                lowered = (empty_region.withheld(lowered.reason), ())
            built.append(lowered)
        seen |= set(here)
        understood: set[Span] = set()
        for loop in _manually_shared(unit, function, numbers, trees, notes):
            understood.add(loop.parallel)
            if loop.loop.span not in by_hand:  # two parallel regions may call the same function
                by_hand[loop.loop.span] = loop.loop
                built.append(with_unified_names(unit, loop.region, loop.definitions))
        built += _constructs_without_hint(unit, function, trees, others)
        notes += _parallel_without_loop(function, understood, numbers)
    for (file, line, _, _), count in repetitions.items():
        message = f"included or expanded {count + 1} times: the first instance is shown"
        notes.append(Diagnostic("RP112", Span(file, line), message))
    if shared and enables_nested_parallelism(unit):
        built = _with_nesting_notes(built, shared)
    built += _regions_of_unparsed_code(unit, trees, {place[:3] for place in seen})
    built.sort(key=lambda pair: (pair[0].span.file, pair[0].span.line, pair[0].span.column))
    listed = attempt(with_index_lists, built)
    if isinstance(listed, Failure):
        notes.append(Diagnostic(WITHHELD, built[0][0].span, f"tables of indices: {listed.reason}"))
        listed = built
    return UnitRegions(listed, notes, by_hand)


def withheld_regions(unit: LinkedUnit, reason: str) -> UnitRegions:
    """Returns an empty region for every worksharing directive of the unit, each with the diagnostic
    `reason`.
    """
    lost = _regions_of_unparsed_code(unit, CallTrees(unit), set())
    return UnitRegions([(region.withheld(reason), ()) for region, _ in lost], [], {})


def _region_of_directive(
    unit: LinkedUnit, function: Function, site: LoopSite, trees: CallTrees, numbers: ThreadNumbers,
    calling_regions: CallingRegions,
) -> tuple[Region, tuple[Definition, ...]]:  # fmt: skip
    """Returns the region of one directive, with the definitions of its names."""
    span = site.directive.span
    builder = RegionBuilder(unit, function, site.directive.pragma, span, trees)
    region = builder.build(site.loop, site.context, site.enclosing, site.team)
    defined = definitions_of(unit, function, builder.context, site.directive)
    region = replace(region, others=other_names(unit, region, function, builder.context, defined))
    blocks = loop_over_threads(unit, function, site, region, defined, trees, numbers)
    region, defined = blocks or (region, defined)
    if site.target and region.nest is not None:
        region = replace(region, diagnostics=(*region.diagnostics, target_note(span)))
    if region.is_task and region.nest is not None:
        region = replace(region, diagnostics=(*region.diagnostics, task_note(region)))
    if region.context != "orphaned" and not site.target:
        region = _with_enclosing_parallel(
            unit, region, site.nested_in, calling_regions.callers_of(function)
        )
    return with_unified_names(unit, region, defined)


def _with_enclosing_parallel(
    unit: LinkedUnit, region: Region, nested_in: Span | None, callers: Callers
) -> Region:  # fmt: skip
    """Returns the region with the enclosing parallel region, in its own function or in a caller,
    and with a diagnostic on the nesting.
    """
    inside = sorted({nested_in} if nested_in is not None else callers.inside)
    if not inside:
        return region
    where = f"the parallel region at {inside[0].short}" if nested_in is None else (
        f"the parallel region at line {inside[0].line}"
    )  # fmt: skip
    always = nested_in is not None or not callers.elsewhere
    runs = "runs" if always else "may run"
    if enables_nested_parallelism(unit):
        message = (
            f"it {runs} inside {where}, and each thread there starts a nested parallel region; "
            "remove this directive"
        )
        note = Diagnostic("RP122", region.span, message)
        return replace(
            region, nested_in=inside[0] if always else None, nests=True,
            diagnostics=(*region.diagnostics, note),
        )  # fmt: skip
    if not always:
        note = Diagnostic("RP122", region.span, f"it {runs} inside {where}, with one thread there")
        return replace(region, diagnostics=(*region.diagnostics, note))
    message = f"inside {where}, it has one thread"
    note = Diagnostic("RP121", region.span, f"{message}: remove this directive")
    return replace(region, nested_in=inside[0], diagnostics=(*region.diagnostics, note))


def _with_nesting_notes(
    built: list[tuple[Region, tuple[Definition, ...]]], teams: Collection[Span]
) -> list[tuple[Region, tuple[Definition, ...]]]:
    """Returns the regions. Regions whose `parallel` directive is in `teams` get a note on nested
    parallelism.
    """
    lowered = []
    for region, defined in built:
        own = region.parallel.span if region.parallel is not None else region.span
        if own in teams:
            message = "its threads start nested parallel regions that share the cores"
            note = Diagnostic("RP122", region.span, message)
            notes = (*region.diagnostics, note)
            region = replace(region, nests=True, diagnostics=notes)  # noqa: PLW2901
        lowered.append((region, defined))
    return lowered


def _manually_shared(
    unit: LinkedUnit, function: Function, numbers: ThreadNumbers, trees: CallTrees,
    notes: list[Diagnostic],
) -> list[ManuallySharedLoop]:  # fmt: skip
    """Returns the loops of a function that threads share by their thread numbers. Failures become
    diagnostics in `notes`.
    """
    found = attempt(lambda: list(manually_shared_loops(unit, function, numbers, trees)))
    if isinstance(found, Failure):
        notes.append(Diagnostic(WITHHELD, function.span, f"manually shared loops: {found.reason}"))
        return []
    return found


def _region_without_loop(
    unit: LinkedUnit, function: Function, pragma: Pragma, span: Span, trees: CallTrees, context: str
) -> Region:
    """Returns an empty region for a directive whose loop could not be read."""
    return RegionBuilder(unit, function, pragma, span, trees).build(None, context, ())


def _constructs_without_hint(
    unit: LinkedUnit, function: Function, trees: CallTrees, listed_spans: set[Span]
) -> list[tuple[Region, tuple[Definition, ...]]]:
    """Returns empty regions for the OpenMP constructs of a function that contain no worksharing
    loop.

    `listed_spans` contains the constructs already listed.
    """
    built: list[tuple[Region, tuple[Definition, ...]]] = []
    for directive, rule, message in other_constructs(function.body):
        span = directive.span
        if span in listed_spans:
            continue
        listed_spans.add(span)
        region = _region_without_loop(unit, function, directive.pragma, span, trees, "orphaned")
        built.append((replace(region, diagnostics=(Diagnostic(rule, span, message),)), ()))
    return built


def other_names(
    unit: LinkedUnit, region: Region, function: Function, context: Context,
    definitions: tuple[Definition, ...],
) -> tuple[OtherName, ...]:  # fmt: skip
    """Returns the variables of other functions that occur in the region or in its definitions.

    A variable gets a prime (`n'`) if its name is already used for another variable.
    """
    names = names_in(region).union(*(definition.value.names for definition in definitions))
    used_names = {word[0] for name in names if (word := _VARIABLE.match(name))}
    declarations = {
        name: decl for name, (decl, _) in context.declarations().items()
        if name.endswith("'")
        or (name in used_names and not declares_variable(unit, function, decl))
    }  # fmt: skip
    begins = (
        sorted((f.span.file, f.span.line, f.name) for f in unit.bodies()) if declarations else []
    )
    others = []
    for name, decl in sorted(declarations.items()):
        home = context.homes.get(name)
        before = [function for file, line, function in begins
                  if file == decl.span.file and line <= decl.span.line]  # fmt: skip
        if decl.kind in ("global", "static"):
            home, before = None, before if name.endswith("'") else []
        is_declared_there = home is not None and declares_variable(unit, home, decl)
        function_name = (
            home.name if home is not None and is_declared_there else before[-1] if before else ""
        )
        if name.endswith("'") or function_name:
            others.append(OtherName(name, function_name, decl.span))
    return tuple(others)


def with_unified_names(
    unit: LinkedUnit, region: Region, defined: tuple[Definition, ...]
) -> tuple[Region, tuple[Definition, ...]]:
    """Returns the region with one name per value, and with `critical` constructs instead of lock
    calls.
    """
    region = with_critical_sections(region)
    region, defined = with_invariant_names(region, defined)
    region, defined = with_member_names(region, defined, unit.objects.values(), unit.getters)
    return with_qualified_names(region, defined)


def _regions_of_unparsed_code(
    unit: LinkedUnit, trees: CallTrees, listed_lines: set[tuple[str, int, int]]
) -> list[tuple[Region, tuple[Definition, ...]]]:
    """Returns empty regions for directives in code that the parser could not recover."""
    lost: list[tuple[Region, tuple[Definition, ...]]] = []
    for file, pragma in unit.directives:
        if (file, pragma.line, pragma.offset) in listed_lines:
            continue
        span = Span(file, pragma.line, pragma.column)
        context = "combined" if "parallel" in pragma.kind.split() else "orphaned"
        lost.append(
            (
                _region_without_loop(
                    unit, _function_around(unit, span), pragma, span, trees, context
                ),
                (),
            )
        )
    return lost


def _function_around(unit: LinkedUnit, span: Span) -> Function:
    name = ""
    for function in unit.functions:
        if function.span.file == span.file and function.span.line <= span.line:
            name = function.name
    decl = Decl(name, "function", UNKNOWN, span)
    return Function(name, decl, (), Compound(()), span)


def _parallel_without_loop(
    function: Function, understood: Collection[Span], numbers: ThreadNumbers
) -> list[Diagnostic]:
    """Returns notes on parallel regions whose loops depend on the thread number in an unsupported
    form.
    """
    notes = []
    for statement in every_statement(function.body):
        if not isinstance(statement, Directive) or statement.body is None:
            continue
        directive_tokens = statement.pragma.kind.split()
        if "parallel" not in directive_tokens or statement.pragma.is_loop:
            continue
        inner = [s for s in every_statement(statement.body) if isinstance(s, Directive)]
        if any(d.pragma.is_loop or d.pragma.kind == "task" for d in inner):
            continue
        has_loop = any(isinstance(s, For) for s in every_statement(statement.body))
        if (
            statement.span not in understood
            and has_loop
            and numbers.calls_thread_number(statement.body)
        ):
            notes.append(
                Diagnostic("RP110", statement.span,
                           "parallel region shares its loop by thread number: not predicted")
            )  # fmt: skip
    return notes
