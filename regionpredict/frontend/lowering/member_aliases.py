"""Replaces aliases of a member by the member's name, if its class has a single object.

    Index_t numElem = domain.numElem();      numElem, domain.numElem() -> domain.m_numElem

The aliases remain definitions of the region, so users can set the value by each of its names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from regionpredict.frontend.lowering.invariant_values import names_in, with_values
from regionpredict.ir import Definition, Expr, Region, Span


def with_member_names(
    region: Region,
    definitions: tuple[Definition, ...],
    objects: Collection[str],
    getters: Collection[tuple[str, str]],
) -> tuple[Region, tuple[Definition, ...]]:
    """Returns the region and its definitions, with aliases replaced by members of `objects`.

    `getters` pairs each member with the method that returns it: `.m_numElem` with `numElem()`.
    """
    if not objects:
        return region, definitions
    values = {definition.name: definition.value for definition in definitions}
    used_names = names_in(region).union(*(value.names for value in values.values()))
    members = {name for name in used_names if name.split(".", 1)[0] in objects and "." in name}
    same: dict[str, Expr] = {}
    for name in values:
        end, steps = name, 0
        while end not in members and steps < len(values):
            value = values.get(end)
            names = value.names if value is not None else frozenset[str]()
            if len(names) != 1 or value != Expr.name(*names):
                break
            (end,) = names
            steps += 1
        if end in members and end != name:
            same[name] = Expr.name(end)
    region = with_values(region, same)
    return region, (*definitions, *_alias_definitions(sorted(members), getters, values))


def _alias_definitions(
    members: list[str], getters: Collection[tuple[str, str]], defined: Mapping[str, Expr]
) -> list[Definition]:
    names: dict[str, str] = {}
    for member in members:
        names.setdefault(member.split(".", 1)[-1], member)  # m_numElem
        for ending, method in sorted(getters):
            if member.endswith(ending) and "." not in member[: -len(ending)]:
                names.setdefault(f"{member[: -len(ending)]}.{method}", member)
    return [
        Definition(word, Expr.name(member), Span("", 0))
        for word, member in sorted(names.items())
        if word != member and word not in defined
    ]
