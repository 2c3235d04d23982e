"""Reuse of every reference of small nests, against the nests run one access after the other.

A line is one element here, so that nothing hangs on where arrays begin: how many executions find
their element again, in which loop's iteration before, is counted exactly. Distances are those in
the middle of the loops; at the ends of a loop some elements less lie between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from further_cases import further_slow
from nest_texts import nest_of
from simulated_nest import values_of

from regionpredict.workload.loop_nest import LoopNest, NestLoop
from regionpredict.workload.reuse_distance import reuse_distances

ELEMENT = 8
PARAMETERS = (
    "int n, int m, double a[n][m], double b[n][m], double c[n][m], double *x, double *y, double *z"
)


class Met(NamedTuple):
    """One execution of a reference: its number, its element, and the iteration of each loop."""

    number: int
    element: tuple[str, int]
    at: tuple[tuple[str, float], ...]


def executed(loop: NestLoop, env: Mapping[str, float]) -> Iterator[Met]:
    """The references of one iteration in the order of the source, loops in their places."""
    own: list[tuple[int, NestLoop | tuple[str, int]]] = []
    for group in loop.groups:
        base = sum(slope * env[variable] for variable, slope in group.slopes.items())
        for number, place in zip(group.order, group.places, strict=True):
            own.append((number, (group.array, round(base + place) // ELEMENT)))
    for child in loop.children:
        own.append((min(n for group in child.groups_below for n in group.order), child))
    for number, one in sorted(own, key=lambda each: each[0]):
        if isinstance(one, NestLoop):
            for value in values_of(one, env):
                yield from executed(one, {**env, one.variable: float(value)})
        else:
            yield Met(number, one, tuple(env.items()))


def carrier(before: Met, now: Met) -> str | None:
    """The outermost loop of both in whose other iteration it was."""
    for (variable, old), (_, new) in zip(before.at, now.at, strict=False):
        if old != new:
            return variable
    return None


Found = dict[int, dict[str | None, list[int]]]


def run(nest: LoopNest) -> tuple[Found, dict[int, int], dict[int, int]]:
    """By reference: distances by carrier, first uses, executions."""
    stack: list[tuple[str, int]] = []
    last: dict[tuple[str, int], Met] = {}
    again: Found = {}
    first: dict[int, int] = {}
    executions: dict[int, int] = {}
    for value in values_of(nest.root, {}):
        for met in executed(nest.root, {nest.root.variable: float(value)}):
            executions[met.number] = executions.get(met.number, 0) + 1
            if met.element in last:
                place = stack.index(met.element)
                distance = len(stack) - 1 - place
                del stack[place]
                by = carrier(last[met.element], met)
                again.setdefault(met.number, {}).setdefault(by, []).append(distance)
            else:
                first[met.number] = first.get(met.number, 0) + 1
            stack.append(met.element)
            last[met.element] = met
    return again, first, executions


NESTS = {
    "matrix product": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];",
    "by rows": "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++)"
    " for (int j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];",
    "outer product": "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++)"
    " for (int j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];",
    "matrix by vector": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " y[i] += a[i][j] * x[j];",
    "transposed": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[j] += a[j][i] * x[i];",
    "again and again": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j] += x[j];",
    "rows above and below": "for (int i = 1; i < n-1; i++) for (int j = 0; j < m; j++)"
    " b[i][j] = a[i-1][j] + a[i][j] + a[i+1][j];",
    "two rows apart": "for (int i = 0; i < n-2; i++) for (int j = 0; j < m; j++)"
    " b[i][j] = a[i][j] + a[i+2][j];",
    "falling": "for (int i = n-2; i > 0; i--) for (int j = 0; j < m; j++)"
    " b[i][j] = a[i-1][j] + a[i][j];",
    "neighbours in a row": "for (int i = 0; i < n; i++) for (int j = 1; j < m-1; j++)"
    " b[i][j] = a[i][j-1] + a[i][j] + a[i][j+1];",
    "far ahead": "for (int i = 0; i < n; i++) z[i] = x[i] + x[i+5];",
    "far behind": "for (int i = n - 1; i > 4; i--) z[i] = x[i] + x[i-5];",
    "by steps": "for (int i = 0; i < n; i += 2) for (int j = 0; j < m; j += 3)"
    " b[i][j] = x[j] + y[i];",
    "row after row": "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < m; j++) b[i][j] = a[i][j];"
    " for (int k = 0; k < m; k++) c[i][k] = a[i][k] + x[k]; }",
    "row, vector, row": "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < m; j++) z[j] = a[i][j];"
    " for (int l = 0; l < m; l++) y[l] = i;"
    " for (int k = 0; k < m; k++) x[k] = a[i][k]; }",
    "before and behind a loop": "for (int i = 0; i < n; i++) { y[i] = 0;"
    " for (int j = 0; j < m; j++) y[i] += a[i][j]; z[i] = y[i]; }",
    "an array of the body": "for (int i = 0; i < n; i++) { double t[9];"
    " for (int j = 0; j < 9; j++) t[j] = a[i][j];"
    " for (int k = 0; k < 9; k++) b[i][k] = t[k]; }",
    "what the loop has left": "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < m; j++) b[i][j] = x[j]; y[i] = b[i][3]; }",
}  # fmt: skip

ROUGH = {"row, vector, row": 0.22, "an array of the body": 0.7}
"""Two rows of `a` lie between two uses of `y`, of which one iteration has one; between the last
read and the next write of `t` less than an iteration."""


@pytest.mark.parametrize(("n", "m"), further_slow(1, [(11, 14), (9, 20)]))
@pytest.mark.parametrize("name", NESTS)
def test_each_reference_by_running_the_nest(name: str, n: int, m: int) -> None:
    rows = {"m": m} if "][" in NESTS[name] else {}
    nest = nest_of(NESTS[name], PARAMETERS, n=n, **rows)
    again, first, executions = run(nest)
    reuse = reuse_distances(nest, ELEMENT)
    assert [one.number for one in reuse] == sorted(executions)
    for one in reuse:
        assert one.executions == executions[one.number]
        found = again.get(one.number, {})
        told: dict[str | None, float] = {}
        for use in one.uses:
            if use.lines is not None:
                told[use.carried_by] = told.get(use.carried_by, 0.0) + use.share * one.executions
        assert told == pytest.approx({by: len(away) for by, away in found.items()}), one
        new = sum(use.share for use in one.uses if use.lines is None) * one.executions
        assert new == pytest.approx(first.get(one.number, 0)), one
        for use in one.uses:
            if use.carried_by is not None:
                assert use.lines is not None
                away = found[use.carried_by]
                slack = max(1.0, ROUGH.get(name, 0.12) * max(away))
                assert min(away) - slack <= use.lines <= max(away) + slack, (one, found)


def test_a_row_that_an_earlier_loop_of_the_iteration_has_read() -> None:
    """Between its two uses lie at most what both loops touch, and any loop between them: three
    rows of `y`, `a` and `c`, and neither what came before nor what comes behind.
    """
    text = (
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) z[j] = x[j];"
        " for (int l = 0; l < m; l++) y[l] = a[i][l]; {between}"
        " for (int k = 0; k < m; k++) c[i][k] = a[i][k]; {behind} }"
    )
    another = " for (int o = 0; o < m; o++) b[i][o] = 1;"
    for between, behind, rows in (("", "", 3), (another, "", 4), ("", another, 3)):
        loops = text.replace("{between}", between).replace("{behind}", behind)
        nest = nest_of(loops, PARAMETERS, n=9, m=20)
        again, _, _ = run(nest)
        number = max(number for number, by in again.items() if set(by) == {None})
        (one,) = (one for one in reuse_distances(nest, ELEMENT) if one.number == number)
        (use,) = one.uses
        assert (use.share, use.lines, use.carried_by) == (1.0, rows * 20 - 1, None)
        assert max(again[number][None]) <= use.lines
