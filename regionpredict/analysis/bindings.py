"""Gives values to the names of a region.

A name gets its value from the caller (`--set ni=4000`). Otherwise, it gets it from the source
(`int ni = 4000;`, or an argument that is equal in all calls). Otherwise, the variable of a serial
loop around the region gets the middle of its range, which is listed as an assumption.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from regionpredict.analysis.given_sizes import sizes_in
from regionpredict.ir import Definition, Expr, Loop, Region
from regionpredict.ir.folding import Number
from regionpredict.ir.reached import reached

_THREAD = "omp_get_thread_num()"
_COUNTERS_TRIED = 64  # maximum number of tried values of a counter
SIZE_ORIGINS = ("large", "typical", "defaults", "run", "given", "source")
"""Origins of sizes, least certain first. Large and typical sizes are assumed. Defaults are computed
by `main` without arguments. The other origins are a recorded run, the caller, and the source code.
"""
INTERPRETED_ORIGINS = frozenset(("defaults", "given"))
"""The origins of sizes that come from interpreting `main`, without and with arguments."""
_LONGEST = 80  # maximum size of an expression; longer ones are not readable


@dataclass(frozen=True, slots=True)
class Bindings:
    """Values of names. `assumed` lists assumptions in one line each.

    `thread_numbers` are the names of the thread number. `derived` are names that the source
    computes from names without a value: `m_numElem` of a domain is `nx*nx*nx`. `origin` is the
    least certain of the `SIZE_ORIGINS` in use. `typical` is the assumed number of elements of a
    loop of unknown size, if a run from `main` shows the scale. `common_size` is set if another
    region uses the same size for more data. It is the size that is assumed in the other region.
    """

    values: Mapping[str, Number]
    assumed: tuple[str, ...] = ()
    thread_numbers: frozenset[str] = frozenset()
    derived: Mapping[str, Expr] = field(default_factory=dict)
    origin: str = SIZE_ORIGINS[-1]
    typical: float | None = None
    common_size: int | None = None

    def number(self, expression: Expr | None) -> Number | None:
        """Returns the exact value of an expression. None if a name in it has no value."""
        return None if expression is None else expression.evaluate(self.values)

    def unbound(self, names: Collection[str]) -> list[str]:
        """Returns the smallest set of unknown names that determines all `names`. It omits names
        that are computed from others.
        """
        open_names = set(names) - self.values.keys()
        made = open_names & self.derived.keys()
        roots = {root for name in made for root in self.derived[name].names}
        return sorted((open_names - made) | (roots - self.values.keys()))

    def in_unbound(self, expression: Expr) -> Expr:
        """Returns an expression in terms of the names that `unbound` returns."""
        return expression.substitute(self.derived) if self.derived else expression

    def with_derived(self, values: Mapping[str, Number]) -> dict[str, Number]:
        """Returns the values, and the values of names that are computed from them."""
        known = dict(values)
        for name, made in self.derived.items():
            value = made.evaluate(values) if name not in known else None
            if value is not None:
                known[name] = value
        return known

    def whole(self, expression: Expr | None) -> int | None:
        """Returns the value rounded down to an integer. None if unknown."""
        value = self.number(expression)
        return None if value is None else int(value // 1)


def bind_names(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int],
    recorded: Mapping[str, int] = MappingProxyType({}),
) -> Bindings:  # fmt: skip
    """Gives a value to every name of the region for which a value is available.

    Values from the caller and the source take precedence over values `recorded` in a run.

    >>> from regionpredict.ir import Span
    >>> from regionpredict.ir.region import Region
    >>> place = Span("f.c", 1)
    >>> region = Region("f.c:1", place, "f", "parallel for", (), "combined", 1, None, ())
    >>> n, m = Expr.name("n"), Expr.name("m")
    >>> definitions = (Definition("n", m + 1, place), Definition("m", Expr.const(7), place))
    >>> known = bind_names(region, definitions, {})
    >>> known.values["n"]
    8
    """
    # A recorded run takes precedence over an interpreted run without arguments.
    definitions = tuple(d for d in definitions if d.origin != "defaults" or d.name not in recorded)
    defined = {d.name: d.value for d in definitions}
    fixed = {d.name: d.value for d in definitions if d.range is None}
    values: dict[str, Number] = dict(sizes_in(region, given))
    from_caller = frozenset(values)
    _evaluate_definitions(fixed, values)
    without_run = frozenset(values)
    _add_recorded(recorded, fixed, values)
    used = _used_names(region, defined)
    origins = {d.origin for d in definitions if d.name in used - from_caller}
    origins |= {"given"} if used & from_caller else set()
    origins |= {"run"} if used & recorded.keys() - without_run else set()
    assumed = _add_counters(region, definitions, fixed, values, used)
    for loop in region.enclosing:
        if loop.variable in values:
            continue
        middle = middle_of(loop, values)
        if middle is not None:
            values[loop.variable] = middle
            if loop.variable in used:
                assumed.append(
                    f"{loop.variable} = {middle} (the middle of the loop around the region)"
                )
            _evaluate_definitions(defined, values)
    numbers = {_THREAD} | {name for name, value in defined.items() if value == Expr.name(_THREAD)}
    values.update(dict.fromkeys(numbers & used, 0))  # one thread represents all
    derived = _derived_names(region, defined, values)
    return Bindings(
        values, tuple(assumed), frozenset(numbers), derived, least_certain_origin(origins)
    )


def least_certain_origin(origins: Collection[str]) -> str:
    """Returns the least certain of some origins of sizes.

    >>> least_certain_origin({"given", "large"}), least_certain_origin(())
    ('large', 'source')
    """
    return next((origin for origin in SIZE_ORIGINS if origin in origins), SIZE_ORIGINS[-1])


def _add_counters(
    region: Region, definitions: tuple[Definition, ...], fixed: Mapping[str, Expr],
    values: dict[str, Number], used: set[str],
) -> list[str]:  # fmt: skip
    """Gives values to the counters of loops in callers, outer loops first. Returns one line per
    counter with an assumed value.
    """
    assumed: list[str] = []
    waiting = [definition for definition in definitions if definition.range is not None]
    while waiting:
        left = [definition for definition in waiting
                if not _add_counter(region, definition, fixed, values, used, assumed)]  # fmt: skip
        if len(left) == len(waiting):
            break
        waiting = left
    return assumed


def _add_counter(
    region: Region, definition: Definition, fixed: Mapping[str, Expr], values: dict[str, Number],
    used: set[str], assumed: list[str],
) -> bool:  # fmt: skip
    """Gives a value to a counter. Returns whether the counter has a value."""
    name = definition.name
    if name in values:
        return True
    if definition.range is None:
        return False
    low, high = (end.evaluate(values) for end in definition.range)
    if low is None or high is None:
        return False
    values[name], which = _typical_counter(region, name, (int(low), int(high)), fixed, values)
    _evaluate_definitions(fixed, values)
    if name in used:
        assumed.append(f"{name} = {values[name]} (runs from {low} to {high} in a loop around the "
                       f"call: {which})")  # fmt: skip
    return True


def _typical_counter(
    region: Region, name: str, ends: tuple[int, int], fixed: Mapping[str, Expr],
    values: Mapping[str, Number],
) -> tuple[int, str]:  # fmt: skip
    """Returns the counter value at which the region's loop has its average number of iterations,
    and a description of this value. If there are several, the one closest to the middle is used.
    If there is none, the middle of the range is used.
    """
    low, high = ends
    middle = (low + high) // 2
    trips = region.nest.trips if region.nest is not None else None
    if trips is None or high <= low:
        return middle, "its middle"
    tried = sorted({low + (high - low) * k // _COUNTERS_TRIED for k in range(_COUNTERS_TRIED + 1)})
    counts: dict[int, Number] = {}
    for counter in tried:
        known = {**values, name: counter}
        _evaluate_definitions(fixed, known)
        count = trips.evaluate(known)
        if count is None:
            return middle, "its middle"
        counts[counter] = max(0, count)
    mean = sum(counts.values()) / len(counts)
    nearest = min(counts, key=lambda at: (abs(counts[at] - mean), abs(at - middle)))
    if counts[nearest] == counts.get(middle):
        return middle, "its middle"
    return nearest, "with the average number of iterations"


def _derived_names(
    region: Region, defined: Mapping[str, Expr], values: Mapping[str, Number]
) -> dict[str, Expr]:
    """Returns expressions for the names without a value that the source computes from other
    names.
    """
    moved = {loop.variable for loop in (*region.enclosing, *region.loops())}
    made: dict[str, Expr] = {}
    for name in free_names(region) - values.keys():
        value, steps = Expr.name(name), 0
        while steps <= len(defined):
            steps += 1
            inner = {other: defined[other] for other in value.names - values.keys()
                     if other in defined}  # fmt: skip
            if not inner:
                break
            value = value.substitute(inner)
        open_names = value.names - values.keys()
        plain = not value.has_unreadable_part and not open_names & (moved | defined.keys())
        if plain and name not in open_names and open_names and value.size <= _LONGEST:
            made[name] = value
    return made


def with_middles(region: Region, values: Mapping[str, Number]) -> dict[str, Number]:
    """Returns the values, with the middle of the range for variables of loops around the region
    that have no value.

    A variable without a known range gets 0 if its value only shifts all addresses of the region by
    the same distance.
    """
    known = dict(values)
    for loop in region.enclosing:
        if loop.variable in known:
            continue
        middle = middle_of(loop, known)
        if middle is not None:
            known[loop.variable] = middle
        elif not any(loop.variable in names_of_header(inner) for inner in region.loops()):
            known[loop.variable] = 0
    return known


def middle_of(loop: Loop, values: Mapping[str, Number]) -> int | None:
    """Returns the middle of a loop's range for these values. None if unknown."""
    if loop.start is None or loop.bound is None:
        return None
    start, bound = loop.start.evaluate(values), loop.bound.evaluate(values)
    return None if start is None or bound is None else int((start + bound) // 2)


def bind_definitions(definitions: tuple[Definition, ...], given: Mapping[str, int]) -> Bindings:
    """Gives values to the names in `definitions`. Values that the caller gave are kept."""
    values: dict[str, Number] = dict(given)
    _evaluate_definitions({definition.name: definition.value for definition in definitions}, values)
    return Bindings(values)


def _add_recorded(
    recorded: Mapping[str, int], defined: Mapping[str, Expr], values: dict[str, Number]
) -> None:
    """Gives the remaining names the values of a recorded run. Names that the source computes from
    other names come last.
    """
    waiting = sorted(recorded.keys() - values.keys())
    while waiting:
        free = [
            name for name in waiting
            if name not in defined or not defined[name].names & set(waiting)
        ]  # fmt: skip
        for name in free or waiting:
            values.setdefault(name, recorded[name])
        _evaluate_definitions(defined, values)
        waiting = [name for name in waiting if name not in values]


def _evaluate_definitions(defined: Mapping[str, Expr], values: dict[str, Number]) -> None:
    waiting = [name for name in defined if name not in values]
    progress = True
    while waiting and progress:
        progress = False
        for name in list(waiting):
            value = defined[name].evaluate(values)
            if value is not None:
                values[name] = value if isinstance(value, int) else Fraction(value)
                waiting.remove(name)
                progress = True


def _used_names(region: Region, defined: Mapping[str, Expr]) -> set[str]:
    """Returns the names that the region's counts depend on, directly or through definitions."""
    return set(
        reached(names_inside(region), lambda name: defined[name].names if name in defined else ())
    )


def names_inside(region: Region) -> frozenset[str]:
    """Returns the names that the region's loops and subscripts depend on."""
    names: set[str] = set()
    for loop in region.loops():
        names |= names_of_header(loop)
    for statement, _ in region.statements():
        for access in statement.accesses:
            for subscript in access.subscripts:
                names |= subscript.names
    for array in region.arrays:
        for extent in array.dims:
            names |= extent.names if extent is not None else frozenset()
    return frozenset(names)


def free_names(region: Region) -> frozenset[str]:
    """Returns the names that the region's loops and subscripts depend on, without loop
    variables.
    """
    own = {loop.variable for loop in region.enclosing}
    own |= {loop.variable for loop in region.loops()}
    outer = [names_of_header(loop) for loop in region.enclosing]
    return names_inside(region).union(*outer) - own


def names_of_header(loop: Loop) -> frozenset[str]:
    """Returns the names that a loop's header depends on."""
    bounds = (loop.start, loop.bound, loop.step)
    return frozenset().union(*(bound.names for bound in bounds if bound is not None))
