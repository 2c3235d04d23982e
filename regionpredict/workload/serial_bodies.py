"""Splits a region into concurrent work and serial bodies.

Each kind of serial body (`critical`, `ordered`, `single`) is a selection of the region's
statements, in their loops and branches. The rest is another selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from regionpredict.ir import Branch, Loop, Node, Statement, Synchronisation

SERIAL_KINDS: Mapping[str, str] = {
    "critical": "critical", "ordered": "ordered", "single": "single", "master": "single",
    "masked": "single",
}  # fmt: skip
"""The kind of serial body of each construct."""


class SerialKind(NamedTuple):
    """The kind of a serial body: 'critical', 'ordered' or 'single'. `lock` is the name of a
    critical section.
    """

    kind: str
    lock: str = ""


class Selection(NamedTuple):
    """A part of a region: the loops with the selected statements, and the numbers of these
    statements.
    """

    nest: Loop
    statements: tuple[int, ...]


def parts_of(nest: Loop) -> tuple[Selection, dict[SerialKind, Selection]]:
    """Splits a nest into the loops without serial bodies, and the loops with only the serial bodies
    of each kind.
    """
    kinds = sorted(_serial_kinds(nest.body))
    if not kinds:
        return Selection(nest, tuple(range(_statements_in(nest.body)))), {}
    at_once = _Selector(None)
    parallel = Selection(replace(nest, body=at_once.select(nest.body)), tuple(at_once.chosen))
    serial = {}
    for kind in kinds:
        selector = _Selector(kind)
        body = selector.select(nest.body)
        serial[kind] = Selection(replace(nest, body=body), tuple(selector.chosen))
    return parallel, serial


def kind_of(construct: Synchronisation) -> SerialKind | None:
    """Returns the kind of a construct's serial body. None for concurrent code."""
    kind = SERIAL_KINDS.get(construct.kind)
    return None if kind is None else SerialKind(kind, construct.lock)


def _serial_kinds(nodes: tuple[Node, ...]) -> set[SerialKind]:
    kinds: set[SerialKind] = set()
    for node in nodes:
        kind = kind_of(node) if isinstance(node, Synchronisation) and node.body else None
        if kind is not None:
            kinds.add(kind)
        elif isinstance(node, (Loop, Synchronisation)):
            kinds |= _serial_kinds(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                kinds |= _serial_kinds(side)
    return kinds


class _Selector:
    """Selects the statements of one kind of serial body from a loop body.

    With `kind` None, it selects all concurrent statements, and keeps the constructs with empty
    bodies, so that they are still counted.
    """

    def __init__(self, kind: SerialKind | None) -> None:
        self.kind = kind
        self.chosen: list[int] = []
        self._passed = 0

    def select(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Returns the selected nodes."""
        return self._select(nodes, keep=self.kind is None)

    def _select(self, nodes: tuple[Node, ...], *, keep: bool) -> tuple[Node, ...]:
        """Returns the selected nodes. `keep` selects statements outside of constructs."""
        left: list[Node] = []
        for node in nodes:
            if isinstance(node, Statement):
                if keep:
                    left.append(node)
                    self.chosen.append(self._passed)
                self._passed += 1
            elif isinstance(node, Synchronisation):
                left += self._select_construct(node, keep=keep)
            elif isinstance(node, Loop):
                body = self._select(node.body, keep=keep)
                left += [replace(node, body=body)] if body or self.kind is None else []
            else:
                sides = tuple(self._select(side, keep=keep) for side in node.sides)
                left += [replace(node, sides=sides)] if any(sides) or self.kind is None else []
        return tuple(left)

    def _select_construct(self, node: Synchronisation, *, keep: bool) -> tuple[Node, ...]:
        if self.kind is None:
            body = self._select(node.body, keep=node.kind not in SERIAL_KINDS and keep)
            return (replace(node, body=() if node.kind in SERIAL_KINDS else body),)
        # A serial body of another kind is part of the serial body around it.
        inside = keep or kind_of(node) == self.kind
        if not inside and node.kind in SERIAL_KINDS:
            self._passed += _statements_in(node.body)
            return ()
        return self._select(node.body, keep=inside)


def _statements_in(nodes: tuple[Node, ...]) -> int:
    count = 0
    for node in nodes:
        if isinstance(node, Statement):
            count += 1
        elif isinstance(node, Branch):
            count += sum(_statements_in(side) for side in node.sides)
        else:
            count += _statements_in(node.body)
    return count
