"""Documents models as a call tree: the exclusive and inclusive cost, and the dominant calls."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.call_tree import Call, CallTree
from regionpredict.fit.model.fitted_model import growth_key
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.model.terms import FloatArray, term_text
from regionpredict.report.document import Cell, Column, Drawing, Table
from regionpredict.report.model_curves import evenly_spaced, parameter_index
from regionpredict.report.quantities import show_percent, show_share

Order = Literal["growth", "value", "name", "file"]
_SHARES_REACH = 64.0  # how far pictures of shares extend beyond the largest measured value
_BARS = 13  # number of bars in a picture of shares
_SHARED = 5  # number of calls with a separate part of a bar
_SHOWN_SHARE = 0.05  # percent: smaller shares are not drawn


def call_tree_table(
    tree: CallTree,
    points: Sequence[Mapping[str, float]],
    *,
    pattern: str | None = None,
    order: Order = "growth",
) -> Table:
    """Returns the calls, indented under their callers, with their values and shares at each point.

    `pattern` (with `*` and `?`) keeps call paths that match, and their callers. Callees of one call
    are sorted by `order`: by growth, by value at the last point, by name, or in input order. The
    legend names the dominant call at each point.
    """
    calls = _call_rows(tree, points, pattern, order)
    own = "With callees" if tree.measured == "inclusive" else "Itself"
    columns = [Column("Call path"), Column(own), Column("Whole growth", minor=True)]
    for point in points:
        columns += [
            Column(f"Itself {point_text(point)}", "{:.4g}".format),
            Column("With callees", "{:.4g}".format), Column("Share", show_percent, bar=1.0),
        ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            "  " * own.call.depth + (own.call.name or "-"),
            own.call.model.formula() if own.call.model is not None else None,
            own.growth, *(value for values in own.values for value in values),
        ]
        for own in calls
    ]  # fmt: skip
    exclusive = tree.exclusive(_point_coordinates(tree, points))
    most = [
        f"Most is spent in {tree.calls[best].callpath or '-'} at {point_text(point)}: "
        f"{show_share(column[best] / (column.sum() or 1.0))} of {column.sum():.4g}"
        for point, column in zip(points, exclusive.T, strict=True) for best in [column.argmax()]
    ]  # fmt: skip
    title = f"{tree.metric or 'values'} over {', '.join(tree.parameters)}"
    return Table(title, columns, rows, legend=most, repeat=True)


def call_tree_records(
    tree: CallTree,
    points: Sequence[Mapping[str, float]],
    *,
    pattern: str | None = None,
    order: Order = "growth",
) -> list[dict[str, Any]]:
    """Returns the data of `call_tree_table`, with one dictionary per call. Part of
    `regionpredict/models/1`.
    """
    return [
        {
            "callpath": own.call.callpath, "metric": tree.metric, "depth": own.call.depth,
            "measured": tree.measured if own.call.model is not None else None,
            "growth": own.growth,
            "at": [
                {"point": dict(point), **dict(zip(_VALUES, values, strict=True))}
                for point, values in zip(points, own.values, strict=True)
            ],
        }
        for own in _call_rows(tree, points, pattern, order)
    ]  # fmt: skip


_VALUES = ("exclusive", "inclusive", "share")


class _Call(NamedTuple):
    """A call with `_VALUES` at each point."""

    call: Call
    growth: str
    values: list[list[float]]


def _call_rows(
    tree: CallTree, points: Sequence[Mapping[str, float]], pattern: str | None, order: Order
) -> list[_Call]:
    coordinates = _point_coordinates(tree, points)
    inclusive, growths = tree.inclusive(coordinates), tree.growths()
    values = np.stack([tree.exclusive(coordinates), inclusive, tree.shares(coordinates)], axis=2)
    return [
        _Call(tree.calls[index], growth_text(growths[index], tree.parameters),
              values[index].tolist())
        for index in _sorted_calls(tree, inclusive, growths, order, _matching_calls(tree, pattern))
    ]  # fmt: skip


def growth_text(monomial: Monomial, parameters: Sequence[str]) -> str:
    """Formats a monomial without its coefficient, as in O().

    >>> growth_text({0: (1.0, 1.0)}, ("p",)), growth_text({}, ("p",))
    ('p*log2(p)', '1')
    """
    return "*".join(term_text(parameters[i], t) for i, t in sorted(monomial.items())) or "1"


def _point_coordinates(tree: CallTree, points: Sequence[Mapping[str, float]]) -> FloatArray:
    for point in points:
        missing = [name for name in tree.parameters if name not in point]
        if missing:
            raise InputError(
                f"there is no value for '{missing[0]}'",
                remedy=f"the parameters are {', '.join(tree.parameters)}",
            )
    numbers = [[point[name] for name in tree.parameters] for point in points]
    return np.array(numbers, dtype=np.float64).reshape(len(points), len(tree.parameters))


def point_text(point: Mapping[str, float]) -> str:
    """Formats a point as text: `p = 64, n = 100`."""
    return ", ".join(f"{name} = {value:g}" for name, value in point.items())


def _matching_calls(tree: CallTree, pattern: str | None) -> set[int]:
    kept: set[int] = set()
    for index, call in enumerate(tree.calls):
        if pattern is None or matches(call.callpath, pattern):
            above: int | None = index
            while above is not None and above not in kept:
                kept.add(above)
                above = tree.calls[above].parent
    return kept


def matches(callpath: str, pattern: str) -> bool:
    """Whether a call path, or its last part, matches a pattern with `*` and `?`.

    >>> matches("main->MPI_Send", "MPI_*"), matches("main->solve", "main*"), matches("a", "b")
    (True, True, False)
    """
    last = callpath.rsplit("->", 1)[-1]
    return fnmatch.fnmatchcase(callpath, pattern) or fnmatch.fnmatchcase(last, pattern)


def _sorted_calls(
    tree: CallTree, inclusive: FloatArray, growths: Sequence[Monomial], order: Order, kept: set[int]
) -> list[int]:
    """Sorts the kept calls, callers first, with the callees of each caller in the given order."""
    children: dict[int | None, list[int]] = {}
    for index in sorted(kept):
        children.setdefault(tree.calls[index].parent, []).append(index)
    for below in children.values():
        if order == "growth":
            below.sort(key=lambda index: growth_key(growths[index]), reverse=True)
        elif order == "value" and inclusive.shape[1]:
            below.sort(key=lambda index: -inclusive[index, -1])
        elif order == "name":
            below.sort(key=lambda index: tree.calls[index].name)
    listed: list[int] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        index = waiting.pop()
        listed.append(index)
        waiting += children.get(index, [])[::-1]
    return listed


def call_shares(
    tree: CallTree, *, parameter: str | None = None, fixed: Mapping[str, float] | None = None,
    until: float | None = None,
) -> Drawing:  # fmt: skip
    """Returns the shares of the largest calls and of all others together, which add up to 100 %.

    `parameter` (by default the first) is on the axis, up to `until` (by default 64 times the
    largest measured value). The others have their value in `fixed`, or the largest measured one.
    Raises `InputError` for an unknown parameter.
    """
    name = parameter or tree.parameters[0]
    index = parameter_index(tree.parameters, name)
    points = np.concatenate([call.model.points for call in tree.calls if call.model is not None])
    low = float(points[:, index].min())
    most = float(points[:, index].max())
    high = until if until is not None else max(_SHARES_REACH * most, low + 1)
    if not low < high:
        raise InputError(
            f"shares from {name} = {low:g} to {high:g} are empty", remedy="give a larger end"
        )
    grid = evenly_spaced(low, high, _BARS)
    coordinates = np.tile(points.max(0), (_BARS, 1))
    for asked, value in (fixed or {}).items():
        coordinates[:, parameter_index(tree.parameters, asked)] = value
    coordinates[:, index] = grid
    shares = 100 * tree.shares(coordinates)
    largest = np.argsort(-shares.max(1), kind="stable")[:_SHARED]
    rest = shares.sum(0) - shares[largest].sum(0)
    names = [tree.calls[k].callpath for k in largest]
    layers = [shares[k] for k in largest]
    if rest.max() > _SHOWN_SHARE:
        names.append("the others")
        layers.append(rest)
    rows = [
        {"label": f"{float(f'{x:.3g}'):g}", "values": [float(layer[at]) for layer in layers]}
        for at, x in enumerate(grid.tolist())
    ]
    what = f"share of {tree.metric or 'all'} (%)"
    return {"kind": "stack", "title": f"Calls: {what} by {name}", "x": name, "y": what,
            "names": names, "rows": rows}  # fmt: skip
