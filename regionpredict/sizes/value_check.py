"""Rejects impossible sizes: arrays would have a negative length, or loops would have no iterations.

Negative values are valid for lower bounds and distances. They are rejected if all loops that depend
on the value have no iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from regionpredict.analysis import RegionFacts, bind_names, facts_of
from regionpredict.analysis.given_sizes import place_of
from regionpredict.errors import InputError, UsageError
from regionpredict.ir import Program, Region

_PLENTY = 1000
"""A size at which every dependent loop has iterations."""

Places = Mapping[str, tuple[str, int]]


def check_values(
    program: Program, facts: Sequence[RegionFacts], given: Mapping[str, int],
    macros: Collection[tuple[str, str]] = (), lines: Places | None = None,
) -> None:  # fmt: skip
    """Raises UsageError for the first invalid value in `given`, or InputError if `lines` contains
    the file and line of the value.

    Also raises UsageError if no region has an iteration with the given sizes and `macros`.
    """
    for name, value in given.items():
        if value < 0 and (wrong := _error_and_remedy(name, program, facts, given)):
            raise _refusal_message(
                f"{name}={value}", wrong, "give 0 or more", (lines or {}).get(name)
            )
    read = [own for own in facts if own.status != "skipped"]
    given_values = [
        *(f"{name}={value}" for name, value in given.items()),
        *(f"-D {name}={value}" for name, value in macros if _is_number(value)),
    ]
    if given_values and read and all(own.iterations.value == 0 for own in read):
        raise _refusal_message(
            ", ".join(given_values), "no parallel loop has an iteration", "give larger sizes", None
        )


def _refusal_message(
    quantity_name: str, wrong: str, remedy: str, place: tuple[str, int] | None
) -> InputError | UsageError:
    if place is not None:
        return InputError(f"{quantity_name}: {wrong}", remedy=remedy, path=place[0], line=place[1])
    return UsageError(f"{quantity_name}: {wrong}", remedy=remedy)


def _error_and_remedy(
    name: str, program: Program, facts: Sequence[RegionFacts], given: Mapping[str, int]
) -> str:
    if place_of(name):
        return "the number of iterations is negative"
    left = False
    empty: Region | None = None
    for own in facts:
        region = own.region
        definitions = program.definitions[region.id]
        other = bind_names(region, definitions, {**given, name: _PLENTY})
        array = next(_of_negative_length(own), None)
        if array is not None and other.values != own.bindings.values:
            return f"{array} in {region.function} would have a negative length"
        for rest in _trial_values_of_others(own, {*given, name}):
            counted = (
                facts_of(region, bind_names(region, definitions, {**rest, **given}))
                if rest
                else own
            )
            there = facts_of(
                region, bind_names(region, definitions, {**rest, **given, name: _PLENTY})
            )
            for here, beyond in zip(_executions_in(counted), _executions_in(there), strict=True):
                if here != beyond:
                    left |= here != 0
                    empty = empty or (region if here == 0 else None)
    if empty is None or left:
        return ""
    return f"leaves no iteration to any loop that counts by it, as at {empty.span.short}"


def _trial_values_of_others(facts: RegionFacts, given: Collection[str]) -> list[dict[str, int]]:
    """Returns a small and a large value for all other unknown names, with which a size is checked.
    Without other unknown names, the result is one empty dictionary.
    """
    names = [name for name in facts.bindings.unbound(facts.free_names) if name not in given]
    return [dict.fromkeys(names, value) for value in (2, _PLENTY)] if names else [{}]


def _of_negative_length(facts: RegionFacts) -> Iterator[str]:
    for array in facts.region.arrays:
        lengths = [facts.bindings.number(extent) for extent in array.dims]
        if any(length is not None and length < 0 for length in lengths):
            yield array.name


def _executions_in(facts: RegionFacts) -> list[int | None]:
    """Returns the number of iterations of a region and the executions of each statement."""
    return [facts.iterations.value, *(fact.executions.value for fact in facts.statements)]


def _is_number(text: str) -> bool:
    return text.lstrip("+-").isdecimal()
