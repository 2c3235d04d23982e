"""Applies the results of interpreting the program with its command-line arguments: values of names,
conditions, called functions, and reachable regions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from regionpredict.analysis.bindings import free_names, names_of_header
from regionpredict.analysis.iterations import executed_statements
from regionpredict.frontend import ArgumentValues, FileResult
from regionpredict.ir import Definition, Expr, Program, Region, SerialBranch, Span
from regionpredict.ir.flow import Block, CallEvent, Choice, Event

_SHOWN = 6


def with_arguments(
    part: FileResult, argument_values: ArgumentValues, given: Collection[str] = ()
) -> FileResult:
    """Returns the content of a source file with the values that follow from the program's
    arguments. `given` are the names that the user set.
    """
    shares: dict[Span, float] = {}
    regions = [
        (region, _with_definitions(region, defined, argument_values, given, shares))
        for region, defined in part.regions
    ]
    serial = tuple(
        nest._replace(
            definitions=_with_definitions(
                nest.region, nest.definitions, argument_values, given, shares
            )
        )
        for nest in part.serial
    )
    # The trip count of a loop also depends on names in the headers of enclosing loops.
    names = {name for loop in part.loops for name in names_of_header(loop.loop)}
    loops = tuple(
        loop._replace(
            definitions=argument_values.at(
                loop.loop.span, names, loop.definitions, given=given
            ).definitions
        )
        for loop in part.loops
    )
    flows = [
        replace(flow, body=tuple(_resolved_call(event, argument_values) for event in flow.body))
        for flow in part.flows
    ]
    branches = tuple(_evaluated_branch(branch, argument_values, given) for branch in part.branches)
    return part._replace(
        regions=regions, loops=loops, flows=flows, branches=branches, serial=serial,
        work_shares=tuple(shares.items()),
    )  # fmt: skip


def _with_definitions(
    region: Region, definitions: tuple[Definition, ...], argument_values: ArgumentValues,
    given: Collection[str], shares: dict[Span, float],
) -> tuple[Definition, ...]:  # fmt: skip
    here = argument_values.at(
        region.span, free_names(region), definitions, _elements_of_open_arrays(region), given,
        partial(executed_statements, region), region.others,
    )  # fmt: skip
    if here.share != 1.0:
        shares[region.span] = here.share
    return here.definitions


def _elements_of_open_arrays(region: Region) -> dict[str, int]:
    """Returns the element sizes in bytes of arrays without a declared length, by name."""
    return {
        array.name: array.element_bytes for array in region.arrays
        if array.dims and array.dims[0] is None and array.storage != "private"
    }  # fmt: skip


def _resolved_call(event: Event, argument_values: ArgumentValues) -> Event:
    """Replaces a call through a function pointer with a single observed target by a direct call."""
    if isinstance(event, Block):
        return replace(
            event, body=tuple(_resolved_call(inner, argument_values) for inner in event.body)
        )
    if not isinstance(event, CallEvent) or not event.pointer:
        return event
    meant = argument_values.meant.get(event.span, frozenset())
    if len(meant) != 1 or "" in meant:
        return event
    handed = [choice for choice in event.choices if choice.position is not None]
    return event._replace(choices=(Choice((*meant,), event.pointer), *handed))


def _evaluated_branch(
    branch: SerialBranch, argument_values: ArgumentValues, given: Collection[str]
) -> SerialBranch:
    """Returns a condition with the values of its names. A condition that always had the same result
    becomes a constant.
    """
    outcomes = argument_values.decided.get(branch.span, frozenset())
    if branch.side in (0, 1) and len(outcomes) == 1 and None not in outcomes:
        holds = (True in outcomes) == (branch.side == 0)
        return branch._replace(condition=Expr.const(int(holds)), counters=())
    names = branch.condition.names - {name for name, _ in branch.counters}
    return branch._replace(
        definitions=argument_values.at(
            branch.span, names, branch.definitions, given=given
        ).definitions
    )


def not_entered(program: Program, followed: Sequence[ArgumentValues]) -> frozenset[str]:
    """Returns the regions that the programs do not enter. Empty if the interpretation did not reach
    the end of a program.
    """
    if not followed or not all(values.to_the_end for values in followed):
        return frozenset()
    entered = {span for values in followed for span in values.entries}
    return frozenset(region.id for region in program.regions if region.span not in entered)


def reached_only(
    program: Program, followed: Sequence[ArgumentValues]
) -> tuple[Program, tuple[str, ...]]:
    """Returns the program without unreachable regions, and remarks that list these regions."""
    if not followed or not all(argument_values.complete for argument_values in followed):
        return program, ()
    entered = {span for argument_values in followed for span in argument_values.entries}
    idle = [region for region in program.regions if region.span not in entered]
    if not idle or len(idle) == len(program.regions):
        return program, ()
    shown = [f"{region.function}() at {region.id.rsplit('/', 1)[-1]}" for region in idle]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    remark = f"not reached with these arguments: {', '.join(shown[:_SHOWN])}{more}"
    kept = tuple(region for region in program.regions if region not in idle)
    return replace(program, regions=kept), (remark,)
