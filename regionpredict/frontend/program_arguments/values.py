"""What a program's arguments make of the names of its regions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regionpredict.frontend.program_arguments.follow import Entry, Follower
from regionpredict.frontend.program_arguments.memory import UNKNOWN, Address, Place, Value
from regionpredict.frontend.syntax import Decl, Unit
from regionpredict.ir import Definition, Expr, Region, Span

_NAME = re.compile(r"[A-Za-z_]\w*")
_STEP = re.compile(r"(->|\.)([A-Za-z_]\w*)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class ArgumentValues:
    """`variables` have one value wherever a function is called with them; `entries` are the values
    at the regions' begin. `remarks` tell what could not be followed, a line each."""

    variables: Mapping[Decl, int]
    entries: Mapping[Span, Sequence[Entry]]
    remarks: tuple[str, ...]

    def definitions(self, region: Region, names: Sequence[str]) -> tuple[Definition, ...]:
        """The names of a region that have one value at all of its entries."""
        entries = self.entries.get(region.span, ())
        known = []
        for name in names:
            values = {_value_of(name, entry) for entry in entries}
            if len(values) == 1 and isinstance(value := values.pop(), int):
                known.append(Definition(name, Expr.const(value), region.span))
        return tuple(known)


def argument_values(unit: Unit, words: Sequence[str]) -> ArgumentValues | None:
    """Follows the program of a unit with the `words` behind its name; None where it has no `main`.

    Raises nothing: what is not understood is not known.
    """
    main = next((one for one in unit.bodies() if one.name == "main"), None)
    if main is None:
        return None
    seen = Follower(unit, ["program", *words]).run(main)
    variables = {
        decl: value for decl, values in seen.handed.items()
        if len(values) == 1 and isinstance(value := next(iter(values)), int)
    }  # fmt: skip
    unread = [word for number, word in enumerate(words, 1) if number not in seen.read]
    remarks = list(seen.remarks)
    if unread:
        remarks.append(f"{unit.path}: nothing that is followed reads {' '.join(unread)}")
    return ArgumentValues(variables, seen.entries, tuple(remarks))


def _value_of(name: str, entry: Entry) -> Value:
    """The value of `n`, `s->n` or `grid[0]` at an entry."""
    root = _NAME.match(name)
    decl = None if root is None else entry.names.get(root.group())
    if root is None or decl is None:
        return UNKNOWN
    place, at = Place(decl), root.end()
    while at < len(name):
        step = _STEP.match(name, at)
        if step is None:
            return UNKNOWN
        held = entry.memory.read(place)
        if step[1] == "->" or (step[3] and isinstance(held, Address)):
            if not isinstance(held, Address):
                return UNKNOWN
            place = held.place
        if step[3]:
            last = place.steps[-1] if place.steps and isinstance(held, Address) else None
            number = int(step[3])
            place = (
                Place(place.decl, (*place.steps[:-1], last + number))
                if isinstance(last, int) else place.at(number)
            )  # fmt: skip
        else:
            place = place.at(step[2])
        at = step.end()
    return entry.memory.read(place)
