"""Resolves calls through elements of function tables that are passed as arguments.

A function that receives a table as an argument is cloned for each table, in the same way as for
function arguments (`callbacks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.analysis.callees import Callees, without_uncalled
from regionpredict.constant import Constant
from regionpredict.ir.flow import (
    CallEvent,
    CallThroughTableParameter,
    Choice,
    Flow,
    changed_flow,
    every_event,
)

MOST_COPIES = Constant(
    500.0, "functions", "assumed", "a program has about ten tables; limits a recursion"
)

Rows = tuple[tuple[tuple[str, str], ...], ...]


class _KnownArguments(NamedTuple):
    """The tables and constants that a function receives, by the position of the parameter."""

    tables: Mapping[int, Rows]
    numbers: Mapping[int, int]


_NOTHING = _KnownArguments({}, {})


def with_passed_tables(flows: Sequence[Flow]) -> tuple[Flow, ...]:
    """Adds clones of functions for the tables that they receive."""
    events = (event for flow in flows for event in every_event(flow.body))
    if not any(isinstance(event, CallEvent) and event.tables for event in events):
        return tuple(flows)
    return _TableCloner(flows).all()


class _TableCloner:
    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = flows
        self.callees = Callees(flows)
        self.copies: dict[tuple[str, str, tuple[object, ...]], Flow | None] = {}

    def all(self) -> tuple[Flow, ...]:
        own = [self._clone_for(flow, _NOTHING) for flow in self.flows]
        made = [*own, *(copy for copy in self.copies.values() if copy is not None)]
        return without_uncalled(self.flows, made)

    def _clone_for(self, flow: Flow, given: _KnownArguments) -> Flow:
        """Returns a function that receives these tables and numbers."""
        return changed_flow(
            flow,
            lambda event: (
                self._resolve_call(flow, event, given) if isinstance(event, CallEvent) else event
            ),
        )

    def _resolve_call(self, flow: Flow, call: CallEvent, given: _KnownArguments) -> CallEvent:
        call = call._replace(
            choices=tuple(_choice_for_table(choice, given) for choice in call.choices)
        )
        tables = {table.position: table.rows for table in call.tables if table.parameter is None}
        tables |= {
            table.position: given.tables[table.parameter] for table in call.tables
            if table.parameter is not None and table.parameter in given.tables
        }  # fmt: skip
        callee = self.callees.of(flow, call.function, call.file) if tables else None
        if callee is None:
            return call
        used = {at: rows for at, rows in tables.items() if at in _table_parameters(callee)}
        if not used:
            return call
        handed = (*call.numbers, *((p.position, p.at(given.numbers)) for p in call.passed))
        numbers = {at: value for at, value in handed if isinstance(value, int)}
        name = self._name_of_clone(callee, _KnownArguments(used, numbers))
        return call._replace(function=name, file=callee.span.file)

    def _name_of_clone(self, flow: Flow, given: _KnownArguments) -> str:
        """Returns the name of the clone of `flow` for these arguments: `run_all(table 2)`."""
        key = (flow.span.file, flow.function,
               (*sorted(given.tables.items()), *sorted(given.numbers.items())))  # fmt: skip
        names = [other for other in self.copies if other[:2] == key[:2]]
        if key in names:
            return f"{flow.function}(table {names.index(key) + 1})"
        if len(self.copies) >= MOST_COPIES.value:
            return flow.function
        name = f"{flow.function}(table {len(names) + 1})"
        self.copies[key] = None  # set during the construction, since the function may be recursive
        self.copies[key] = replace(self._clone_for(flow, given), function=name)
        return name


def _table_parameters(flow: Flow) -> set[int]:
    """Returns the parameters whose elements a function calls, or that it passes on as tables."""
    calls = [event for event in every_event(flow.body) if isinstance(event, CallEvent)]
    used = {
        choice.handed.parameter for call in calls for choice in call.choices
        if choice.handed is not None
    }  # fmt: skip
    passed_on = (table.parameter for call in calls for table in call.tables)
    return used | {parameter for parameter in passed_on if parameter is not None}


def _choice_for_table(choice: Choice, given: _KnownArguments) -> Choice:
    """Returns the targets of a call whose table is known."""
    element = choice.handed
    rows = given.tables.get(element.parameter) if element is not None else None
    if element is None or rows is None:
        return choice
    names = [dict(row).get(element.member, "") for row in rows]
    if "=" in names:
        return choice
    others = tuple(name for name in names if name)
    if element.sign == 0:  # always the first element
        return choice._replace(functions=(names[0],), loop=None, others=others, handed=None)
    if choice.loop is None:
        return choice._replace(functions=tuple(names), others=others, handed=None)
    last = _end_of_table_loop(element, rows, given)
    whole = last is not None
    kept = range(len(names) if last is None else min(last, len(names)))
    values = tuple(element.sign * (at - element.offset) for at in kept)
    if element.length is not None and last is not None:
        values = tuple(value for value in values if 0 <= value < last)
    numbers = [element.sign * value + element.offset for value in values]
    return choice._replace(
        functions=tuple(names[at] for at in numbers), values=values, whole=whole, others=others,
        handed=None,
    )  # fmt: skip


def _end_of_table_loop(
    element: CallThroughTableParameter, rows: Rows, given: _KnownArguments
) -> int | None:
    """Returns the iteration at which the loop over a table ends. None if it is unknown."""
    if element.length is not None:
        return given.numbers.get(element.length)
    if element.ends is None:
        return None
    null_rows = (at for at, row in enumerate(rows) if not dict(row).get(element.ends))
    return next(null_rows, None)
