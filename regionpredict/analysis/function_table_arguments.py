"""Resolves calls through elements of function tables that are passed as arguments.

A function that traverses a table argument becomes a separate function for each table, as for each
function argument (`callbacks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.analysis.callees import Callees, without_idle
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


class _Given(NamedTuple):
    """The tables and constants that a function receives. The key is the position of the
    parameter.
    """

    tables: Mapping[int, Rows]
    numbers: Mapping[int, int]


_NOTHING = _Given({}, {})


def with_passed_tables(flows: Sequence[Flow]) -> tuple[Flow, ...]:
    """The functions, and clones of functions for the tables that they receive."""
    events = (event for flow in flows for event in every_event(flow.body))
    if not any(isinstance(event, CallEvent) and event.tables for event in events):
        return tuple(flows)
    return _Copying(flows).all()


class _Copying:
    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = flows
        self.callees = Callees(flows)
        self.copies: dict[tuple[str, str, tuple[object, ...]], Flow | None] = {}

    def all(self) -> tuple[Flow, ...]:
        own = [self._clone_for(flow, _NOTHING) for flow in self.flows]
        made = [*own, *(copy for copy in self.copies.values() if copy is not None)]
        return without_idle(self.flows, made)

    def _clone_for(self, flow: Flow, given: _Given) -> Flow:
        """A function that receives these tables and numbers."""
        return changed_flow(
            flow,
            lambda event: self._call(flow, event, given) if isinstance(event, CallEvent) else event,
        )

    def _call(self, flow: Flow, call: CallEvent, given: _Given) -> CallEvent:
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
        name = self._name_of_clone(callee, _Given(used, numbers))
        return call._replace(function=name, file=callee.span.file)

    def _name_of_clone(self, flow: Flow, given: _Given) -> str:
        """The name of the clone of `flow` for its arguments: `run_all(table 2)`."""
        key = (flow.span.file, flow.function,
               (*sorted(given.tables.items()), *sorted(given.numbers.items())))  # fmt: skip
        names = [other for other in self.copies if other[:2] == key[:2]]
        if key in names:
            return f"{flow.function}(table {names.index(key) + 1})"
        if len(self.copies) >= MOST_COPIES.value:
            return flow.function
        name = f"{flow.function}(table {len(names) + 1})"
        self.copies[key] = None  # during its construction, since it may be recursive
        self.copies[key] = replace(self._clone_for(flow, given), function=name)
        return name


def _table_parameters(flow: Flow) -> set[int]:
    """The parameters whose elements a function calls, or that it passes on as tables."""
    calls = [event for event in every_event(flow.body) if isinstance(event, CallEvent)]
    used = {
        choice.handed.parameter for call in calls for choice in call.choices
        if choice.handed is not None
    }  # fmt: skip
    handed_on = (table.parameter for call in calls for table in call.tables)
    return used | {parameter for parameter in handed_on if parameter is not None}


def _choice_for_table(choice: Choice, given: _Given) -> Choice:
    """The choice of a call whose table is known."""
    asked = choice.handed
    rows = given.tables.get(asked.parameter) if asked is not None else None
    if asked is None or rows is None:
        return choice
    names = [dict(row).get(asked.member, "") for row in rows]
    if "=" in names:
        return choice
    others = tuple(name for name in names if name)
    if asked.sign == 0:  # the target element
        return choice._replace(functions=(names[0],), loop=None, others=others, handed=None)
    if choice.loop is None:
        return choice._replace(functions=tuple(names), others=others, handed=None)
    last = _end_of_table_loop(asked, rows, given)
    whole = last is not None
    kept = range(len(names) if last is None else min(last, len(names)))
    values = tuple(asked.sign * (at - asked.offset) for at in kept)
    if asked.length is not None and last is not None:
        values = tuple(value for value in values if 0 <= value < last)
    numbers = [asked.sign * value + asked.offset for value in values]
    return choice._replace(
        functions=tuple(names[at] for at in numbers), values=values, whole=whole, others=others,
        handed=None,
    )  # fmt: skip


def _end_of_table_loop(asked: CallThroughTableParameter, rows: Rows, given: _Given) -> int | None:
    """The iteration at which the loop over a table ends. None if its header does not show it."""
    if asked.length is not None:
        return given.numbers.get(asked.length)
    if asked.ends is None:
        return None
    filled = (at for at, row in enumerate(rows) if not dict(row).get(asked.ends))
    return next(filled, None)
