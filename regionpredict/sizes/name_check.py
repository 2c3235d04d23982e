"""Checks that the program depends on the names that the user gave, and explains invalid names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from regionpredict.analysis.bindings import free_names, names_of_header
from regionpredict.analysis.given_shares import skew_name
from regionpredict.analysis.given_sizes import (
    every_loop,
    extent_name,
    functions_owning,
    order_name,
    place_of,
    scope_of,
)
from regionpredict.analysis.tabulated_trips import entry_trips
from regionpredict.analysis.uneven_work import is_target, skew_targets
from regionpredict.errors import InputError, UsageError
from regionpredict.ir import Program, Region
from regionpredict.sizes.line_check import wrong_at_place

_SHOWN = 8
SKEW_LIMITS = {"skew": 1, "powerlaw": 2}
"""The minimum ratio of longest to mean iteration, and the exponent above which a power law has a
mean (Newman 2005, sec. 3.2).
"""
_SURELY_MEANT = 0.6
"""The minimum similarity (by difflib) of a name and its misspelling."""
_OF_RUN_TIME = re.compile(r"omp_\w+\(\)")  # values of the run-time system, not sizes


def check_names(
    program: Program, given: Mapping[str, int | Fraction],
    lines: Mapping[str, tuple[str, int]] | None = None,
) -> None:  # fmt: skip
    """Raises UsageError for a name in `given` on which no prediction depends, and for an invalid
    value for a line.

    Raises InputError instead if `lines` contains the file and line of the value.
    """
    if not given:
        return
    by_function: dict[str, set[str]] = {}
    for region in program.regions:
        by_function.setdefault(region.function, set()).update(_names_of(program, region))
    for region in program.regions:  # local names of variables of other functions
        for name in [*by_function[region.function]]:
            for function, own in functions_owning(region, name):
                by_function.setdefault(function, set()).add(own)
    known = set().union(*by_function.values())
    known.update(_names_of_executions(program))
    for name, value in given.items():
        if name in known and isinstance(value, int):
            continue
        wrong = _error_and_remedy(name, value, program, by_function, known)
        if wrong is None:
            continue
        message, remedy = wrong
        if lines is not None and name in lines:
            path, line = lines[name]
            raise InputError(f"{name}: {message}", remedy=remedy, path=path, line=line)
        raise UsageError(f"--set {name}: {message}", remedy=remedy)


def _names_of_executions(program: Program) -> Iterator[str]:
    """Yields the names on which the number of executions of regions depends, through calls of their
    functions.
    """
    for loop in program.loops:
        yield from names_of_header(loop.loop)
        for definition in loop.definitions:
            yield definition.name
            yield from definition.value.names
    for branch in program.branches:
        yield from branch.condition.names - {name for name, _ in branch.counters}
        for definition in branch.definitions:
            yield definition.name
            yield from definition.value.names


def _names_of(program: Program, region: Region) -> Iterator[str]:
    yield from free_names(region)
    yield from (
        entry.name for loop in every_loop(region) if (entry := entry_trips(loop)) is not None
    )
    for array in region.arrays:
        yield extent_name(array)
    for statement, _ in region.statements():
        for access in statement.accesses:
            for subscript in access.subscripts:
                yield from (order_name(a.label) for a in subscript.atoms() if a.kind == "ref")
    for definition in program.definitions[region.id]:
        yield definition.name
        yield from definition.value.names


def _error_and_remedy(
    name: str, value: int | Fraction, program: Program, by_function: Mapping[str, set[str]],
    known: set[str],
) -> tuple[str, str] | None:  # fmt: skip
    """Returns an error message and a remedy for an invalid name. None for a valid name."""
    if skew := skew_name(name):
        return _wrong_skew(program, name, *skew, value)
    if place := place_of(name):
        return wrong_at_place(program, *place, value)
    if not isinstance(value, int):
        return "a size is a whole number", "give a share by the line of an `if`: FILE:LINE=0.25"
    if scope := scope_of(name):
        function, inner = scope
        if function not in by_function:
            near = _similar_names("the regions are in", function, set(by_function))
            return f"no region in a function '{function}'", near
        if inner in by_function[function]:
            return None
        near = _similar_names("they depend on", inner, by_function[function])
        return f"no region of '{function}' depends on it", near
    if name in program.macros:
        return "a macro, not a variable", f"use -D {name}=VALUE"
    return "no region depends on it", _similar_names("the regions depend on", name, known)


def _wrong_skew(
    program: Program, name: str, kind: str, target: str, value: int | Fraction
) -> tuple[str, str] | None:  # fmt: skip
    least = SKEW_LIMITS[kind]
    if value < least or (kind == "powerlaw" and value == least):
        what = "the longest iteration over the mean one" if kind == "skew" else "an exponent"
        return (
            f"{kind} is {what}, {'at least' if kind == 'skew' else 'larger than'} {least}",
            f"give one as {kind}({target})={'9' if kind == 'skew' else '2.5'}",
        )
    if any(region.skew is not None and region.skew.name == name for region in program.regions):
        return None
    targets = {known for region in program.regions for known in skew_targets(region)}
    if is_target(target, frozenset(targets)):
        return None
    return f"no loop or table '{target}'", _similar_names("there are", target, targets)


def _similar_names(introduction: str, name: str, known: set[str]) -> str:
    """Returns a remedy that lists the existing names, most similar first. A very similar name is
    suggested by a question. Otherwise, the remedy starts with `introduction`.

    >>> _similar_names("the regions depend on", "gird", {"n", "grid", "m"})
    "did you mean 'grid'? There are also: m, n"
    >>> _similar_names("the regions depend on", "nz", {"m", "nx", "ny"})
    'the regions depend on: nx, ny, m'
    """
    extents = name.endswith("[]")
    alike = {
        other: difflib.SequenceMatcher(None, name, other).ratio() for other in known
        if other.endswith("[]") == extents and not _OF_RUN_TIME.fullmatch(other)
    }  # fmt: skip
    plain = re.compile(r"\w+")
    names = sorted(alike, key=lambda other: (-alike[other], not plain.fullmatch(other), other))
    near = names[:1] if names and alike[names[0]] >= _SURELY_MEANT else []
    rest = names[len(near) :]
    listed = ", ".join(rest[:_SHOWN])
    if len(rest) > _SHOWN:
        listed += f", and {len(rest) - _SHOWN} more"
    if near:
        return f"did you mean '{near[0]}'?" + (f" There are also: {listed}" if listed else "")
    return f"{introduction}: {listed or 'none'}"
