"""Removes source locations from a region. Regions that differ only in their locations are then
equal.

Simple loops over vectors, for example, occur often. Results that do not depend on the location are
computed once for equal regions.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from regionpredict.analysis.history.first_touch import Placement
from regionpredict.ir import Definition, Region, Span

_NOWHERE = Span("", 0)


def location_free_region(region: Region) -> Region:
    """Returns the region without its file, lines and function. Names and texts are unchanged."""
    moved: Region = _without_locations(replace(region, id="", function=""))
    return moved


def location_free_definitions(definitions: tuple[Definition, ...]) -> tuple[Definition, ...]:
    """Returns the definitions without files, lines and functions."""
    return tuple(definition._replace(span=_NOWHERE) for definition in definitions)


def location_free_placement(placement: Placement) -> Placement:
    """Returns the placement of pages without locations and reasons."""
    arrays = tuple(array._replace(reason="", span=None) for array in placement.arrays)
    return placement._replace(reason="", arrays=arrays)


def _without_locations(value: Any) -> Any:
    """Returns a value of a region with all source locations removed from its fields."""
    if isinstance(value, Span):
        return _NOWHERE
    if isinstance(value, tuple):
        parts = [_without_locations(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_dataclass(value) and not isinstance(value, type):
        changes = {}
        for field in fields(value):
            old = getattr(value, field.name)
            new = _without_locations(old)
            if new is not old:
                changes[field.name] = new
        return replace(value, **changes) if changes else value
    return value
