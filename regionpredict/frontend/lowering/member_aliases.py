"""Gives each size one name: replaces aliases of a member of a class that has a single object.

    Index_t numElem = domain.numElem();      numElem, domain.numElem() -> domain.m_numElem

Aliases remain definitions of the region, so the user can set the value under each name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from regionpredict.frontend.lowering.invariant_values import names_in, with_values
from regionpredict.ir import Definition, Expr, Region, Span


def with_one_name(
    region: Region,
    definitions: tuple[Definition, ...],
    objects: Collection[str],
    getters: Collection[tuple[str, str]],
) -> tuple[Region, tuple[Definition, ...]]:
    """Returns the region with aliases replaced by members of `objects`.

    `getters` maps a member to the method that returns it: `.m_numElem` to `numElem()`.
    """
    if not objects:
        return region, definitions
    values = {definition.name: definition.value for definition in definitions}
    said = names_in(region).union(*(value.names for value in values.values()))
    members = {name for name in said if name.split(".", 1)[0] in objects and "." in name}
    same: dict[str, Expr] = {}
    for name in values:
        end, steps = name, 0
        while end not in members and steps < len(values):
            value = values.get(end)
            words = value.names if value is not None else frozenset[str]()
            if len(words) != 1 or value != Expr.name(*words):
                break
            (end,) = words
            steps += 1
        if end in members and end != name:
            same[name] = Expr.name(end)
    region = with_values(region, same)
    return region, (*definitions, *_other_words(sorted(members), getters, values))


def _other_words(
    members: list[str], getters: Collection[tuple[str, str]], taken: Mapping[str, Expr]
) -> list[Definition]:
    words: dict[str, str] = {}
    for member in members:
        words.setdefault(member.split(".", 1)[-1], member)  # m_numElem
        for ending, method in sorted(getters):
            if member.endswith(ending) and "." not in member[: -len(ending)]:
                words.setdefault(f"{member[: -len(ending)]}.{method}", member)
    return [
        Definition(word, Expr.name(member), Span("", 0))
        for word, member in sorted(words.items())
        if word != member and word not in taken
    ]
