"""Computes the values of names in a region that follow from the program's arguments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.errors import one_line
from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.program_arguments.follow import ProgramInterpreter
from regionpredict.frontend.program_arguments.follow_loops import steps_of_each
from regionpredict.frontend.program_arguments.followed import Entry, InterpretationResult
from regionpredict.frontend.program_arguments.input_files import NO_INPUTS, InputPaths
from regionpredict.frontend.program_arguments.memory import (
    BYTES,
    UNKNOWN,
    Address,
    Place,
    Value,
)
from regionpredict.frontend.syntax import Function
from regionpredict.ir import Definition, Expr, OtherName, Span

_NAME = re.compile(r"(?:[A-Za-z_]\w*:)?[A-Za-z_]\w*'*")
_NO_ARRAYS: Mapping[str, int] = MappingProxyType({})
Work = Callable[[Mapping[str, int]], float]
_STEP = re.compile(r"(->|\.)([A-Za-z_]\w*)|\[(\d+)\]")


def _equal_work(values: Mapping[str, int]) -> float:
    return 1.0


class DefinitionsAtSite(NamedTuple):
    """The definitions that are valid at a region or loop. `share` is the mean work of all
    executions relative to the work with these definitions.
    """

    definitions: tuple[Definition, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class ArgumentValues:
    """The values that follow from the program's arguments.

    `entries` are the values at the start of regions and loops in each program, by source location.
    `remarks` report unsupported code, one line each. `meant` and `decided` are as in
    `InterpretationResult`. `complete`: the whole program is known, so regions without an entry are
    unreachable. `always` are the values that are the same at every execution, if the user gave
    arguments. `to_the_end`: each program reached a parallel region and was interpreted to its end.
    `inputs` are the input files that the programs open.
    """

    entries: Mapping[Span, Sequence[Sequence[Entry]]]
    remarks: tuple[str, ...]
    meant: Mapping[Span, frozenset[str]]
    decided: Mapping[Span, frozenset[bool | None]]
    complete: bool
    always: Mapping[Span, Sequence[Entry]]
    to_the_end: bool = True
    inputs: InputPaths = NO_INPUTS

    def at(
        self, span: Span, names: Iterable[str], in_source: Sequence[Definition],
        elements: Mapping[str, int] = _NO_ARRAYS, given: Collection[str] = (),
        work: Work = _equal_work,
        others: Sequence[OtherName] = (),
    ) -> DefinitionsAtSite:  # fmt: skip
        """Returns the definitions at a region or loop. `said` are the definitions in the source.

        Each of `names` that has the same value at every execution with the user's arguments gets
        this value instead (origin "given"). Other names get the value at the median of the work
        (origin "defaults"). The same applies to names in the definitions `said` that mean the same
        everywhere. `elements` are the element sizes of arrays, which give their lengths, `x[]`.
        `given` names take precedence over values with the origin "defaults". `work` computes the
        work of a region for such values. `others` are the names of variables of other functions.
        """
        own = frozenset(names)
        asked = own.union(*(definition.value.names for definition in in_source))
        homes = {other.name: other for other in others}

        def values_at(entry: Entry) -> Mapping[str, int]:
            values = {name: _value_of(name, entry, homes, shared=name not in own)
                      for name in asked}  # fmt: skip
            values |= {f"{array}[]": _elements(array, size, entry)
                       for array, size in elements.items()}  # fmt: skip
            return {name: value for name, value in values.items() if isinstance(value, int)}

        observed = [values for program in self.entries.get(span, ())
                for values in _always_known([values_at(entry) for entry in program])]  # fmt: skip
        exact = _same_in_all([values_at(entry) for entry in self.always.get(span, ())])
        chosen = _median_values(observed, work)
        known = _common_values(_definitions(chosen, span, "defaults"), in_source, observed)
        kept = _resolvable_definitions(in_source, known, given)
        known = {name: value for name, value in known.items()
                 if name not in {definition.name for definition in kept}}  # fmt: skip
        share = 1.0
        if _varying_names(observed) <= known.keys() - set(given):
            share = _mean_work_ratio(observed, chosen, work)
        known |= _definitions(exact, span, "given")
        left = [definition for definition in in_source if definition.name not in known]
        return DefinitionsAtSite((*left, *known.values()), share)


def _definitions(values: Mapping[str, int], span: Span, origin: str) -> dict[str, Definition]:
    return {name: Definition(name, Expr.const(value), span, origin=origin)
            for name, value in values.items()}  # fmt: skip


def _median_values(observed: Sequence[Mapping[str, int]], work: Work) -> Mapping[str, int]:
    """Returns the values of the execution at the median of the work."""
    if not observed:
        return {}
    known = _best_known(observed)
    known.sort(key=lambda values: (work(values), sum(values.values())))
    done = list(accumulate(map(work, known)))
    return known[bisect_left(done, done[-1] / 2)]


def _same_in_all(observed: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Returns the names with the same known value in all programs."""
    return {name: value for name, value in (observed[0] if observed else {}).items()
            if all(values.get(name) == value for values in observed)}  # fmt: skip


def _always_known(observed: Sequence[Mapping[str, int]]) -> list[Mapping[str, int]]:
    """Returns the values at the executions in one program, without names that are unknown at some
    executions.

    A sum is omitted if it becomes unknown because an unknown condition adds to it. Lengths of
    arrays, `x[]`, are kept, since they do not change.
    """
    names = set(observed[0]).intersection(*observed)
    return [{name: value for name, value in values.items() if name in names or name.endswith("[]")}
            for values in observed]  # fmt: skip


def _best_known(observed: Sequence[Mapping[str, int]]) -> list[Mapping[str, int]]:
    """Returns the executions with the largest number of known values."""
    most = max(map(len, observed))
    return [values for values in observed if len(values) == most]


def _varying_names(observed: Sequence[Mapping[str, int]]) -> set[str]:
    """Returns the names that have several values."""
    return {name for values in observed for name, value in values.items()
            if any(other.get(name, value) != value for other in observed)}  # fmt: skip


def _mean_work_ratio(
    observed: Sequence[Mapping[str, int]], selected_values: Mapping[str, int], work: Work
) -> float:
    """Returns the mean work of the executions relative to the work with the selected values."""
    if len(observed) < 2:
        return 1.0
    works = list(map(work, _best_known(observed)))
    own = work(selected_values)
    return sum(works) / len(works) / own if own > 0 else 1.0


def _common_values(
    known: Mapping[str, Definition],
    in_source: Sequence[Definition],
    observed: Sequence[Mapping[str, int]],
) -> dict[str, Definition]:
    """Returns the known values, without varying names whose range is in the source."""
    changing = {definition.name for definition in in_source
                if not all(definition.name in values for values in observed)}  # fmt: skip
    ranged = {definition.name for definition in in_source
              if definition.range is not None and definition.name in changing}  # fmt: skip
    while True:
        made = {definition.name for definition in in_source
                if definition.name in changing - ranged and definition.value.names & ranged
                and definition.value.names <= ranged | known.keys()}  # fmt: skip
        if not made:
            return {name: value for name, value in known.items() if name not in ranged}
        ranged |= made


def _resolvable_definitions(
    in_source: Sequence[Definition], known: Mapping[str, Definition], given: Collection[str]
) -> tuple[Definition, ...]:
    """Returns the definitions whose names all have a value.

    They take precedence over the result of a run without arguments. A value from --set therefore
    also changes everything derived from the name.
    """
    names = {definition.name for definition in in_source}
    resolved = (known.keys() - names) | set(given)
    left = list(in_source)
    while True:
        made = [definition for definition in left
                if definition.range is None and definition.value.names <= resolved]  # fmt: skip
        if not made:
            break
        resolved = resolved | {definition.name for definition in made}
        left = [definition for definition in left if definition not in made]
    return tuple(definition for definition in in_source
                 if definition not in left or definition.name not in known)  # fmt: skip


def argument_values(
    units: Iterable[LinkedUnit], argv: Sequence[str] | None
) -> ArgumentValues | None:
    """Interprets the programs of some units with `argv`. Returns None if there is no `main`.

    If `argv` is None, the programs run without arguments, and programs that reach no parallel
    region are excluded. Unsupported code gives unknown values.
    """
    entries: dict[Span, list[Sequence[Entry]]] = {}
    always: dict[Span, list[Entry]] = {}
    remarks: dict[str, None] = {}
    meant: dict[Span, frozenset[str]] = {}
    decided: dict[Span, frozenset[bool | None]] = {}
    any_main, complete, to_the_end = False, True, True
    read_files: dict[str, None] = {}
    unread_files: dict[str, None] = {}
    programs = [(unit, main) for unit in units if (main := _main_of(unit)) is not None]
    for unit, main in programs:
        seen = ProgramInterpreter(
            unit, ["program", *(argv or ())], assumed=argv is None,
            most_steps=steps_of_each(len(programs)),
        ).run(main)  # fmt: skip
        read_files |= seen.files.read
        unread_files |= seen.files.absent | seen.files.unknown
        to_the_end = to_the_end and seen.parallel and not seen.cut
        if argv is None and not seen.parallel:
            continue
        any_main = True
        for span, own in seen.entries.items():
            entries.setdefault(span, []).append(list(own.sampled.values()))
            if own.always is not None:
                always.setdefault(span, []).append(own.always)
        for place, names in seen.meant.items():
            meant[place] = meant.get(place, frozenset()) | names
        for place, outcomes in seen.decided.items():
            decided[place] = decided.get(place, frozenset()) | outcomes
        complete = complete and not seen.gaps and not seen.ended
        remarks.update(dict.fromkeys((*seen.remarks, *_unread_arguments(unit, seen, argv or ()))))
    if not any_main:
        return None
    asked = argv is not None
    return ArgumentValues(
        entries, tuple(remarks) if asked else (), meant, decided, complete and asked, always,
        to_the_end,
        InputPaths(tuple(read_files), tuple(unread_files)),
    )  # fmt: skip


def _main_of(unit: LinkedUnit) -> Function | None:
    return next((body for body in unit.bodies() if body.name == "main"), None)


def _unread_arguments(
    unit: LinkedUnit, interpretation: InterpretationResult, argv: Sequence[str]
) -> list[str]:
    unread = [word for number, word in enumerate(argv, 1) if number not in interpretation.read]
    # Unread arguments are no error if the program ends early.
    if not unread or interpretation.handed_on or interpretation.ended:
        return []
    named = one_line(" ".join(unread))
    return [f"{unit.path}: no code that can be executed reads the argument {named}"]


def _value_of(
    name: str, entry: Entry, homes: Mapping[str, OtherName], *, shared: bool = False
) -> Value:
    """Returns the value of `n`, `s->n`, `main:n` or `grid[0]` at an entry."""
    root = _NAME.match(name)
    if root is None:
        return UNKNOWN
    home = homes.get(root.group())
    if home is not None and home.function:
        decl = entry.frames.get(home.function, {}).get(home.plain)
    else:
        decl = (entry.shared if shared else entry.names).get(root.group())
    if decl is None:
        return UNKNOWN
    place, at = Place(decl), root.end()
    while at < len(name):
        step = _STEP.match(name, at)
        if step is None:
            return UNKNOWN
        at = step.end()
        content = entry.memory.read(place)
        number = int(step[3]) if step[3] else None
        if isinstance(content, Address):
            place = content.place
            last = place.steps[-1] if place.steps else None
            if number is not None and isinstance(last, int):
                place = Place(place.decl, (*place.steps[:-1], last + number))
                continue
        elif step[1] == "->":
            return UNKNOWN
        place = place.at(step[2] if number is None else number)
    return entry.memory.read(place)


def _elements(pointer: str, size: int, entry: Entry) -> Value:
    """Returns the number of elements of `size` bytes in an allocated block, if `pointer` points to
    the start of the block.
    """
    content = _value_of(pointer, entry, {})
    if not isinstance(content, Address) or content.place.steps not in ((), (0,)):
        return UNKNOWN
    block = entry.memory.read(Place(content.place.decl, (BYTES,)))
    return block // size if isinstance(block, int) else UNKNOWN
