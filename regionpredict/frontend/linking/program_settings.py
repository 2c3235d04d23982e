"""Finds integers in structs and arrays that the program assigns at exactly one place, and all
assignments of an integer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from regionpredict.frontend.linking.stored_functions import FunctionsOfProgram, Place
from regionpredict.frontend.linking.stored_sizes import (
    ALL,
    OMITTED_MEMBERS,
    AssignmentSite,
    Stored,
    StoredSizes,
)
from regionpredict.frontend.syntax import (
    Assign,
    Decl,
    Expression,
    Function,
    all_expressions,
    elements_listed,
    member_named,
    set_place,
)
from regionpredict.ir import Span
from regionpredict.ir.reached import reached

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_ZERO = AssignmentSite(Span("", 0), ALL, 0)


class SettingsOfProgram:
    """Finds integers in structs and arrays that a program assigns at exactly one place."""

    def __init__(
        self, units: Sequence[StoredSizes], defined: Collection[str],
        variables: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Collects the assignments of all units of a run. `defined` are the symbols of functions
        with a body, and `variables` the symbols of variables with an initializer.
        """
        self._set_at = _group_by_first(pair for unit in units for pair in unit.set_at)
        self._moved = _group_by_first(pair for unit in units for pair in unit.moved)
        self._addressed = _group_by_first(pair for unit in units for pair in unit.addressed)
        self._owners = _group_by_first(pair for unit in units for pair in unit.owners)
        self._at_once = _group_by_first(pair for unit in units for pair in unit.whole)
        self._spoilt = frozenset[Stored]().union(*(unit.spoilt for unit in units))
        self._listed: dict[tuple[str, str], set[AssignmentSite]] = {}
        self._kept = {integer for unit in units for integer, symbol in unit.kept
                      if not symbol or symbol in defined}  # fmt: skip
        self._whole = {struct for unit in units for struct, _ in unit.whole}
        nested = [place for unit in units for place in unit.inside]
        inside = _group_by_first((outer, inner) for inner, outer, _ in nested)
        members = {(outer, member): inner for inner, outer, member in nested}
        known_lost = {struct for unit in units for struct in unit.lost}
        handed: set[str] = set()
        for unit in units:
            for symbol, struct, where in unit.handed:
                if symbol not in defined:
                    handed.add(struct)
                    self._at_once.setdefault(struct, set()).add(where)
        for struct, member, where in frozenset().union(*(unit.listed for unit in units)):
            owner, name = _owner_of(struct, member, members)
            if owner is not None:
                key = name if owner else name.partition("[")[0]
                self._listed.setdefault((owner, key), set()).add(where)
            inner = members.get((owner or "", name.partition("[")[0]), "")
            if inner and "[" in name:
                known_lost.add(inner)  # members without a name, or an array of these structs
        self._outside = _group_by_first((inner, outer) for inner, outer, _ in nested)
        self._members = members
        self.is_program = any(unit.has_main for unit in units)
        self.functions = FunctionsOfProgram(
            [unit.functions for unit in units], handed, inside, variables
        )
        handed |= self._passed_through_pointers([unit.through for unit in units], defined)
        self._lost_alone = reached(known_lost, lambda outer: inside.get(outer, ())).keys()
        self._lost = reached(known_lost | handed, lambda outer: inside.get(outer, ())).keys()
        self._pointed = frozenset[str]().union(*(unit.pointed for unit in units))

    def _passed_through_pointers(
        self, units: Iterable[Iterable[tuple[Place, str, AssignmentSite]]], defined: Collection[str]
    ) -> set[str]:
        """Returns the structs that calls through pointers, as in `op->apply(op, x)`, may pass to
        functions of another program.

        Calls that can only reach functions of the program are excluded. Any other call makes the
        structs that it passes unknown, which may affect further calls.
        """
        calls = [call for unit in units for call in unit]
        handed: set[str] = set()
        while True:
            unseen = [
                call for call in calls
                if not self.is_program or not self.functions.have_bodies(call[0], defined)
            ]  # fmt: skip
            new = {struct for _, struct, _ in unseen} - handed
            if not new:
                break
            handed |= new
            self.functions.mark_unknown(new)
        for _, struct, where in unseen:
            self._at_once.setdefault(struct, set()).add(where)
        return handed

    def only_setting(self, integer: Stored) -> AssignmentSite | None:
        """Returns the only assignment of a stored integer. None if there is no assignment or
        possibly several, as in a library without `main`.
        """
        if not self.is_program:
            return None
        whole = integer._replace(element=ALL)
        if integer in self._spoilt or whole in self._spoilt:
            return None
        owners = self._owners.get(whole, set())
        if owners & self._lost:
            return None
        settings = set(self._set_at.get(integer, ()))
        if owners and (
            self._listed.get(("", integer.name))
            or self._has_unsupported_initializer(owners, integer)
        ):
            return None
        listed = self._listed_assignments(owners, integer)
        settings |= listed
        around = self._containing_structs(whole)
        lists = self._omitting_initializers(around)
        if listed and (len(lists) > len(listed) or self._are_several_in_a_list(around, owners)):
            return None  # the list of another object omits the member
        if not settings and lists and all(where.number == 0 for where in lists):
            return _ZERO
        return next(iter(settings)) if len(settings) == 1 else None

    def settings_of(self, integer: Stored) -> set[AssignmentSite] | None:
        """Returns the assignments of a stored integer in the files of the run. None if an
        assignment updates the old value or assigns the whole struct.
        """
        whole = integer._replace(element=ALL)
        if integer in self._moved or whole in self._moved:
            return None
        if any(struct in self._whole for struct in self._containing_structs(whole)):
            return None
        return {
            *self._set_at.get(integer, ()), *self._addressed.get(whole, ()),
            *self._listed_assignments(self._owners.get(whole, set()), integer),
        }  # fmt: skip

    def all_settings_of(self, integer: Stored) -> set[AssignmentSite] | None:
        """Returns all expressions that may assign a member directly, through its address, or as a
        part of its struct. None if other code may assign the member, too. Initializers outside
        functions are excluded, since they run first.
        """
        owners = self._owners.get(integer, set())
        if not self.is_program or not owners or integer.element != ALL or integer in self._kept:
            return None
        around = self._containing_structs(integer)
        if around & self._lost_alone or self._listed.get(("", integer.name)):
            return None
        settings = {
            *self._set_at.get(integer, ()), *self._moved.get(integer, ()),
            *self._addressed.get(integer, ()), *self._listed_assignments(owners, integer),
        }  # fmt: skip
        for struct in around:
            settings |= self._at_once.get(struct, set())
        return {where for where in settings if where.at != ALL}

    def has_pointer(self, function: Decl) -> bool:
        """Whether a function may be called through a pointer."""
        return (function.symbol or function.name) in self._pointed

    def _containing_structs(self, integer: Stored) -> set[str]:
        """Returns the structs that contain a member, directly or inside other structs."""
        owners = self._owners.get(integer, ())
        return set(reached(owners, lambda inner: self._outside.get(inner, ())))

    def _are_several_in_a_list(self, enclosing_structs: set[str], owners: set[str]) -> bool:
        """Whether an initializer list creates several structs with the member, for example as array
        elements.
        """
        paths = [outer for (outer, _), inner in self._members.items() if inner in enclosing_structs]
        return len(paths) > 1 and bool(self._omitting_initializers(enclosing_structs - owners))

    def _omitting_initializers(self, owners: set[str]) -> set[AssignmentSite]:
        """Returns the initializers of these structs that omit members."""
        return set().union(*(self._listed.get((owner, OMITTED_MEMBERS), ()) for owner in owners))

    def _listed_assignments(self, owners: Iterable[str], integer: Stored) -> set[AssignmentSite]:
        name = integer.name if integer.element == ALL else f"{integer.name}[{integer.element}]"
        return set().union(*(self._listed.get((owner, name), ()) for owner in owners))

    def _has_unsupported_initializer(self, owners: Iterable[str], integer: Stored) -> bool:
        """Whether an initializer sets the integer in a form that is not supported."""
        names = (integer.name, f"{integer.name}[]") if integer.element != ALL else ()
        return bool(owners) and (
            ("", integer.name) in self._listed
            or any((owner, name) in self._listed for owner in owners for name in names)
        )


class IntegerAssignment(NamedTuple):
    """The value that is assigned to a stored integer: an expression with its function, or a number
    in a global initializer.
    """

    value: Expression
    by: Expression
    function: Function | None


class AssignmentTarget(NamedTuple):
    """The target of an assignment, with the function that contains the assignment."""

    place: Expression
    function: Function


def assignment_in(trees: Iterable[Function], setting: AssignmentSite) -> IntegerAssignment | None:
    """Returns the value that an assignment in one of these functions stores."""
    known = expression_of(trees, setting)
    if known is None:
        return None
    function, expression = known
    if isinstance(expression, Assign):
        return IntegerAssignment(expression.right, expression, function)
    given = member_named(expression)
    value = None if given is None else given[1]
    if value is not None and setting.element != ALL:
        value = (elements_listed(value) or {}).get(setting.element)
    return None if value is None else IntegerAssignment(value, expression, function)


def assignment_target_in(
    trees: Iterable[Function], setting: AssignmentSite
) -> AssignmentTarget | None:
    """Returns the target of an assignment in one of these functions."""
    known = expression_of(trees, setting)
    place = set_place(known[1]) if known is not None else None
    return AssignmentTarget(place, known[0]) if known is not None and place is not None else None


def expression_of(
    trees: Iterable[Function], setting: AssignmentSite
) -> tuple[Function, Expression] | None:
    """Returns the expression of an assignment in one of these functions, with the function."""
    for function in trees:
        if function.span == setting.function:
            expression = next(islice(all_expressions(function), setting.at, None), None)
            if expression is not None:
                return function, expression
    return None


def _owner_of(
    struct: str, member: str, members: Mapping[tuple[str, str], str]
) -> tuple[str | None, str]:
    """Returns the struct of a nested member, and the member's name in it, such as `box.nx`. The
    struct is None if it is unknown.
    """
    owner: str | None = struct
    *around, name = member.split(".")
    for part in around:
        owner = members.get((owner, part)) if owner else owner
    return owner, name


def _group_by_first(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, set[_Value]]:
    """Groups the second values of some pairs by their first values."""
    groups: dict[_Key, set[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, set()).add(value)
    return groups
