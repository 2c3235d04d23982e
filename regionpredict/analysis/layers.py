"""Which loop carries the reuse of an array in a cache of a given size: layer conditions.

From the innermost loop outward: as long as what one iteration of a loop touches fits the cache,
whatever the loop touches again is found there, and the whole loop misses each distinct line once.
From the first loop on where it does not fit, its iterations miss what their bodies miss (Stengel
et al. 2015, sec. 2.4, layer conditions; the working sets of loop levels of Ferrante, Sarkar and
Thrash 1991). All lines are those of the threads that share the cache, taken together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.analysis.groups import LINE, Group, NumericLoop
from regionpredict.analysis.groups_footprint import (
    Lines,
    TeamFootprints,
    Volume,
    loop_ranges,
    shared_memo,
)

Env = dict[str, float]
_NODES = ((0.2113248654, 0.5), (0.7886751346, 0.5))
"""Gauss-Legendre points and weights on [0, 1]: exact for polynomials up to degree three."""
_HALVINGS = 6
"""Steps of the search for the place in a triangle from which on an iteration fits."""


class Carrier(NamedTuple):
    """The loop along which an array's reuse hits: `loop` (None: none), `bytes` of an iteration."""

    loop: NumericLoop | None
    window_bytes: float


@dataclass(frozen=True, slots=True)
class Misses:
    """Lines that the threads of a cache miss, an array.

    `carriers` name, an array, the outermost loop whose reuse the cache holds.
    """

    volume: Volume
    carriers: dict[str, Carrier]


class Layers:
    """Misses of a team's part of a nest in a cache of `capacity` bytes.

    `least` bytes, or more, the team touches in one piece of the whole region.
    """

    def __init__(self, team: TeamFootprints, capacity: float, least: float = 0.0) -> None:
        self.team = team
        self.capacity = capacity
        self.least = least
        self._held: set[int] = set()  # groups that a loop further out has counted already
        self._carriers: dict[str, Carrier] = {}
        self._known = shared_memo(team.nest, "misses", dict[tuple[object, ...], Misses]())

    def misses(self, root: NumericLoop) -> Misses:
        """What the team's part of the region misses, the cache empty at first."""
        volume = self._loop(root, {})
        for group in self.team.groups_below(root):
            if group.irregular:
                _add(volume, {group.array: self._gathered(group)})
        return Misses(volume, self._carriers)

    def _gathered(self, group: Group) -> Lines:
        """Misses of random accesses: each with P = 1 - C/WS (Chatzopoulos 2012, eq. 4.2)."""
        number = self.team.threads
        for one in loop_ranges(group.loops, {}).values():
            number *= max(0.0, one.trips)
        extent = group.extent * (self.team.threads if group.private else 1.0)
        lines = max(1.0, extent / LINE)
        first = lines * -math.expm1(-number / lines)
        missing = max(first, number * max(0.0, 1.0 - self.capacity / max(1.0, extent)))
        return Lines(missing, missing if group.written else 0.0)

    def window(self, loop: NumericLoop, env: Env) -> float:
        """Bytes that the team touches in one iteration of `loop`."""
        return self.team.bytes(loop.children, env, self.team.groups_below(loop))

    def _loop(self, loop: NumericLoop, env: Env) -> Volume:
        """The misses of one run of a loop; an inner loop's are the same on any number of pieces."""
        if loop.parallel:
            return self._run(loop, env)
        held = tuple(sorted(self._held))
        asked = (self.team.key, self.capacity, id(loop), held, *env.values())
        known = self._known.get(asked)
        if known is None:
            around, self._carriers = self._carriers, {}
            known = self._known[asked] = Misses(self._run(loop, env), self._carriers)
            self._carriers = around
        self._carriers.update(known.carriers)
        return known.volume

    def _run(self, loop: NumericLoop, env: Env) -> Volume:
        _, trips = loop.piece(env)
        total: Volume = {}
        if trips <= 0:
            return total
        slanted = loop.variable in loop.below() and trips > 1
        middle = self._at(loop, env, 0.5)
        window = self.window(loop, middle)
        fits = window <= self.capacity
        if fits:
            for group in self.team.groups_below(loop):
                self._carriers[group.array] = Carrier(loop, window)
        parts = self._parts(loop, env) if slanted else [(0.0, 1.0, fits)]
        for begin, end, held in parts:
            loop.part = (begin, end) if slanted else None
            if held:
                fresh = self._fresh(self.team.groups_below(loop))
                _add(total, self._whole(loop, env, fresh))
                loop.part = None
                continue
            still = self._fresh([*self._standing(loop), *self._hot(loop, middle)])
            if still:
                _add(total, self._whole(loop, env, still))
            loop.part = None
            known = {id(group) for group in still}
            self._held |= known
            nodes = _NODES if slanted else ((0.5, 1.0),)
            for place, weight in nodes:
                inside = self._at(loop, env, begin + place * (end - begin))
                # Threads in step read a shared line at about the same time: it comes once for all.
                _add(total, self._body(loop, inside), weight * (end - begin) * trips)
            self._held -= known
        return total

    def _whole(self, loop: NumericLoop, env: Env, groups: Sequence[Group]) -> Volume:
        """The lines of a loop whose every iteration fits: each once, or once for each thread."""
        everything = loop.part in (None, (0.0, 1.0)) and len(groups) == len(
            self.team.groups_below(loop)
        )
        large = env == {} and everything and self.least > self.capacity
        if loop.parallel and not large and self.team.bytes((loop,), env, groups) <= self.capacity:
            return self.team.footprint((loop,), env, groups)
        return self.team.footprint((loop,), env, groups, apart=True)

    def _at(self, loop: NumericLoop, env: Env, place: float) -> Env:
        """The environment at a place (0..1) of the team's mean piece of a loop."""
        # Threads stand at places far apart: their mean moves over a part of the range only.
        spread = 1.0 / self.team.threads if loop.parallel else 1.0
        along = 0.5 + (place - 0.5) * spread
        value = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) * along
        return {**env, loop.variable: value}

    def _parts(self, loop: NumericLoop, env: Env) -> list[tuple[float, float, bool]]:
        """(from, to, whether an iteration fits) of a loop whose iterations grow or shrink."""

        def fits(place: float) -> bool:
            return self.window(loop, self._at(loop, env, place)) <= self.capacity

        first, last = fits(0.0), fits(1.0)
        if first == last:
            return [(0.0, 1.0, first)]
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if fits(middle) == first:
                low = middle
            else:
                high = middle
        edge = (low + high) / 2
        return [(0.0, edge, first), (edge, 1.0, last)]

    def _body(self, loop: NumericLoop, env: Env) -> Volume:
        """Misses of an iteration that does not fit: its inner loops, neighbours that fit joined."""
        total: Volume = {}
        waiting = list(loop.children)
        if loop.groups:
            _add(total, self.team.footprint((), env, self._fresh(loop.groups)))
        while waiting:
            cluster = [waiting.pop(0)]
            groups = self.team.groups_below(cluster[0])
            while waiting:
                more = [*groups, *self.team.groups_below(waiting[0])]
                if self.team.bytes([*cluster, waiting[0]], env, more) > self.capacity:
                    break
                groups = more
                cluster.append(waiting.pop(0))
            if len(cluster) > 1:
                _add(total, self.team.footprint(cluster, env, self._fresh(groups), apart=True))
            else:
                _add(total, self._loop(cluster[0], env))
        return total

    def _fresh(self, groups: Sequence[Group]) -> list[Group]:
        return [g for g in groups if not g.irregular and id(g) not in self._held]

    def _standing(self, loop: NumericLoop) -> list[Group]:
        """Groups that stand still in everything inside `loop`: `c[i][j]` in the loop over k.

        Touched in the last inner iteration and again in the first of the next, their line is
        still there however much the inner loops bring in.
        """
        if len(loop.children) != 1:
            return []
        found = []
        for group in self.team.groups_below(loop.children[0]):
            below = group.loops[group.loops.index(loop) + 1 :]
            if not group.irregular and not any(group.slopes.get(one.variable) for one in below):
                found.append(group)
        for group in loop.groups:
            if any(g.array == group.array and g.slopes == group.slopes for g in found):
                found.append(group)
        return found

    def _hot(self, loop: NumericLoop, env: Env) -> list[Group]:
        """Groups that every iteration of an inner loop touches all over again: a small matrix.

        Where such an iteration fits, what it touched is there for the next one, be it the first
        of the next turn of `loop`.
        """
        if len(loop.children) != 1 or loop.groups:
            return []
        inner = loop.children[0]
        if loop.variable in inner.depends:
            return []
        inside = self._at(inner, env, 0.5)
        if self.window(inner, inside) > self.capacity:
            still = (loop.variable, inner.variable)
            return [g for g in self._hot(inner, inside) if not any(map(g.slopes.get, still))]
        return [
            group
            for group in self.team.groups_below(inner)
            if not group.irregular
            and not group.slopes.get(loop.variable)
            and not group.slopes.get(inner.variable)
            and not any({loop.variable, inner.variable} & one.depends for one in group.loops)
        ]


def _add(total: Volume, volume: Volume, factor: float = 1.0) -> None:
    for array, lines in volume.items():
        known = total.get(array)
        if known is None:
            total[array] = Lines(lines.touched * factor, lines.written * factor)
        else:
            total[array] = Lines(
                known.touched + lines.touched * factor, known.written + lines.written * factor
            )
