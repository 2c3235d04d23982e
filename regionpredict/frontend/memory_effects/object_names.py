"""Renames members of the only object of a class to their program-wide name.

A function is read before the others. Therefore `d.m_x` is also recorded as a member of the class,
and renamed if the class has one object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.frontend.syntax import Member, Name
from regionpredict.ir.flow import Block, Event, Flow, Place

_MARK = "\0"  # separates a class from its member, and does not occur in names


def general_name(member: Member) -> str | None:
    """A member of a variable, or of its target, as a member of its class."""
    names: list[str] = []
    inner: object = member
    while isinstance(inner, Member):
        names.append(inner.field.name)
        inner = inner.base
    if not isinstance(inner, Name) or not inner.decl.ctype.class_name:
        return None
    return _MARK.join((inner.decl.ctype.class_name, ".".join(reversed(names))))


def with_object_names(flow: Flow, objects: Mapping[str, str]) -> Flow:
    """The record with members of the program's only objects under their program-wide names."""
    return replace(flow, body=tuple(_event(event, objects) for event in flow.body))


def _event(event: Event, objects: Mapping[str, str]) -> Event:
    if not isinstance(event, Block):
        return event
    names: dict[str, Place] = {}
    known: set[Place] = set()  # under the name of the only object
    for name, place in event.names:
        owner, marked, rest = name.partition(_MARK)
        if marked and owner in objects:
            names[f"{objects[owner]}.{rest}"] = place
            known.add(place)
    for name, place in event.names:
        if _MARK not in name and place not in known:
            names.setdefault(name, place)
    body = tuple(_event(inner, objects) for inner in event.body)
    return replace(event, body=body, names=tuple(names.items()))
