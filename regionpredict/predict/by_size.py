"""Computes how the hint depends on an unknown size, and the range of hints.

The model is evaluated at `TRIED_SIZES`. If no number of threads is good at two neighboring sizes,
bisection finds the threshold between them. The hint need not be monotonic in the size. Impossible
sizes (data larger than the memory, a loop without iterations) are excluded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from regionpredict.predict.constants import (
    MOST_TRIALS,
    SIZE_PRECISION,
    THREADS_PRECISION,
)
from regionpredict.predict.deciding_names import (
    SIZES_OF_ONE,
    TRIED_SIZES,
    AskAll,
    More,
    always_true,
    deciding_at_other_values,
)
from regionpredict.predict.hints import Choice, Hint, common_threads


class SizeHint(NamedTuple):
    """The hint for a range of sizes, from the previous hint's limit up to `below` (exclusive).
    `below` is None for the last range.

    `name` lists the names of the size. `threads` is good at all tried sizes of the range.
    `iterations_below` is the loop's trip count at `below`, which identifies the range at run time.
    It is None for the last range, and if the trip count does not increase with the size.
    """

    name: str
    below: int | None
    packages: int
    threads: int
    iterations_below: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the size. Commas between arguments of a call do not separate names.

        >>> SizeHint("n, size(p, 3)", None, 1, 1).names
        ('n', 'size(p, 3)')
        """
        return split_names(self.name)


class HintRange(NamedTuple):
    """The smallest and the largest hint over all tried sizes."""

    packages: tuple[int, int]
    threads: tuple[int, int]


class OpenHint(NamedTuple):
    """The hint for unknown sizes.

    `unbound` are the names without a value, and `deciding` the names that change the hint.
    `threads` is good at all tried sizes. If it is None, the hint depends on the size, and `range`
    contains all hints. `margin` and `chance` are the smallest values over all sizes. `share` is the
    share of sizes at which the assumed hint is within the allowed loss. `usual` is the hint that is
    good at most sizes, if the loop has no iterations at the assumed sizes. `cut` says that the
    budget excluded some sizes.
    """

    unbound: tuple[str, ...]
    deciding: frozenset[str]
    by_size: tuple[SizeHint, ...]
    range: HintRange
    threads: int | None
    margin: float
    chance: float
    share: float = 1.0
    usual: Hint | None = None
    cut: bool = False


Ask = Callable[[int], Choice | None]

_FROM_THE_ENDS = tuple(
    sorted(TRIED_SIZES, key=lambda size: -abs(TRIED_SIZES.index(size) - len(TRIED_SIZES) // 2))
)
"""`TRIED_SIZES` in the order of trials. The smallest and largest sizes are tried first, because a
small budget may exclude the last ones.
"""


def split_names(names: str) -> tuple[str, ...]:
    """Splits a comma-separated list of names. Commas inside parentheses do not separate names.

    >>> split_names("n"), split_names("a[i, j], size(p, f(1, 2)), m")
    (('n',), ('a[i, j]', 'size(p, f(1, 2))', 'm'))
    """
    parts = [""]
    depth = 0
    for char in names:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(name.strip() for name in parts)


def choices_by_size(ask: Ask, more: More = always_true) -> dict[int, Choice]:
    """Returns the choices by size, in ascending order.

    `TRIED_SIZES` are tried from the ends to the middle, then thresholds are refined. Trials end if
    `more()` is false or after `MOST_TRIALS`.
    """
    return with_thresholds(choices_at_tried_sizes(ask, more)[0], ask, more)


def choices_at_tried_sizes(
    ask: Ask, more: More = always_true
) -> tuple[dict[int, Choice], tuple[int, ...]]:
    """Returns the choices at `TRIED_SIZES`, tried from the ends to the middle until `more()` is
    false, and the sizes that were not tried.
    """
    known: dict[int, Choice] = {}
    for at, size in enumerate(_FROM_THE_ENDS):
        if not more():
            return dict(sorted(known.items())), _FROM_THE_ENDS[at:]
        choice = ask(size)
        if choice is not None:
            known[size] = choice
    return dict(sorted(known.items())), ()


def with_thresholds(
    choices: Mapping[int, Choice], ask: Ask, more: More = always_true, *, of_packages: bool = False
) -> dict[int, Choice]:
    """Adds choices near thresholds by bisection. Thresholds between numbers of sockets come first,
    and are the only ones with `of_packages`.
    """
    known = dict(choices)
    asked = len(TRIED_SIZES)
    while asked < MOST_TRIALS.value:
        turns = [
            (known[low].kind == known[high].kind, middle)
            for low, high in part_boundaries(known)
            if high - low > max(1, int(_threshold_precision(known[low], known[high]) * low))
            and (middle := max(low + 1, math.isqrt(low * high))) not in known
        ]  # fmt: skip
        first = min((only_threads for only_threads, _ in turns), default=True)
        if not turns or (of_packages and first):
            break
        waiting = [middle for only_threads, middle in turns if only_threads == first]
        for size in waiting:
            if not more():
                return dict(sorted(known.items()))
            choice = ask(size)
            if choice is not None:
                known[size] = choice
        asked += len(waiting)
        known = dict(sorted(known.items()))
    return known


def _threshold_precision(before: Choice, after: Choice) -> float:
    """Returns the relative precision of a threshold. Thresholds of sockets are more precise than
    thresholds of threads.
    """
    return SIZE_PRECISION.value if before.kind != after.kind else THREADS_PRECISION.value


def part_boundaries(choices: Mapping[int, Choice]) -> list[tuple[int, int]]:
    """Returns the pairs of neighboring tried sizes with a threshold in between.

    >>> from regionpredict.predict.hints import Choice, Hint
    >>> one, more = Choice(Hint(1, 1, 1.0), frozenset({1})), Choice(Hint(1, 4, 1.0), frozenset({4}))
    >>> part_boundaries({2: one, 10: one, 100: more})
    [(10, 100)]
    """
    pairs = []
    part: list[Choice] = []
    before = 0
    for size, choice in choices.items():
        if part and not common_threads([*part, choice]):
            pairs.append((before, size))
            part = []
        part.append(choice)
        before = size
    return pairs


def hints_by_size(
    names: tuple[str, ...],
    choices: Mapping[int, Choice],
    iterations: Callable[[int], int | None] = lambda _: None,
) -> tuple[SizeHint, ...]:
    """Returns the hints by size in ascending order. Empty if no size has a hint.

    `iterations` returns the loop's trip count for a size.

    >>> from regionpredict.predict.hints import Choice, Hint
    >>> def ask(n):
    ...     return Choice(Hint(1 if n < 1100 else 2, 8, 1.0), frozenset({8}))
    >>> hints = hints_by_size(("n",), choices_by_size(ask), lambda n: n - 2)
    >>> [(one.packages, one.below is None or 1100 <= one.below <= 1155) for one in hints]
    [(1, True), (2, True)]
    >>> hints[0].below - hints[0].iterations_below
    2
    """
    if not choices:
        return ()
    counts = {size: iterations(size) for size in choices}
    told = counts if _increase_strictly([*counts.values()]) else {}
    return tuple(
        SizeHint(", ".join(names), part.below, part.kind[0], min(part.threads),
                 None if part.below is None else told.get(part.below))
        for part in _steady_parts(choices)
    )  # fmt: skip


class _SizeRange(NamedTuple):
    """A range of sizes up to `below` with one kind of hint.

    `threads` are the numbers of threads that are good at all sizes of the range. `serving` are the
    numbers of threads within the allowed loss at all sizes.
    """

    below: int | None
    kind: tuple[int, bool]
    threads: frozenset[int]
    serving: frozenset[int]

    def joined(self, after: _SizeRange) -> _SizeRange | None:
        """Returns the union of this range and the next range `after`, with the hint of this range.
        None if this hint exceeds the allowed loss in `after`.
        """
        threads = self.threads & after.serving
        if not threads:
            return None
        return _SizeRange(after.below, self.kind, threads, self.serving & after.serving)


def _steady_parts(choices: Mapping[int, Choice]) -> list[_SizeRange]:
    """Returns the ranges of a size in ascending order. Ranges are merged if one hint stays within
    the allowed loss, so that the hint does not alternate.
    """
    ends = [high for _, high in part_boundaries(choices)]
    parts: list[_SizeRange] = []
    for begin, end in zip([0, *ends], [*ends, None], strict=True):
        own = [
            choice for size, choice in choices.items()
            if begin <= size and (end is None or size < end)
        ]  # fmt: skip
        serving = frozenset.intersection(*(choice.serving for choice in own))
        parts = _with_part(parts, _SizeRange(end, own[0].kind, common_threads(own), serving))
    return parts


def _with_part(parts: Sequence[_SizeRange], part: _SizeRange) -> list[_SizeRange]:
    """Appends a range. If possible, the range is merged with all ranges since the last one of its
    kind.
    """
    back = [at for at, known in enumerate(parts) if known.kind == part.kind]
    if not back or parts[-1].kind == part.kind:
        return [*parts, part]
    last = parts[-1].joined(part)
    if last is not None:
        return [*parts[:-1], last]
    whole: _SizeRange | None = parts[back[-1]]
    for after in (*parts[back[-1] + 1 :], part):
        whole = None if whole is None else whole.joined(after)
    return [*parts, part] if whole is None else [*parts[: back[-1]], whole]


def _increase_strictly(counts: Sequence[int | None]) -> bool:
    """Whether the trip counts increase strictly, so that each trip count identifies a size."""
    return all(a is not None and b is not None and a < b for a, b in pairwise(counts))


def range_of(choices: Sequence[Choice]) -> HintRange:
    """Returns the smallest and the largest hint of some choices."""
    packages = [choice.hint.packages for choice in choices]
    threads = [choice.hint.threads for choice in choices]
    return HintRange((min(packages), max(packages)), (min(threads), max(threads)))


def choices_by_name(
    names: Sequence[str], ask: AskAll, more: More = always_true
) -> dict[str, Mapping[int, Choice]]:
    """Returns the choices for values of each single name. The other names have their assumed
    values.

    Each name is tried at all `SIZES_OF_ONE`, because some of these sizes prove nothing. Trials end
    before the next name if `more()` is false.
    """
    by_name: dict[str, Mapping[int, Choice]] = {}
    for name in names:
        if not more():
            break
        own = {size: ask({name: size}) for size in SIZES_OF_ONE}
        by_name[name] = {size: choice for size, choice in own.items() if choice is not None}
    return by_name


def open_hint(
    names: Sequence[str], now: Choice, size: tuple[str, ...], common_choices: Mapping[int, Choice],
    by_name: Mapping[str, Mapping[int, Choice]],
    iterations: Callable[[int], int | None] = lambda _: None,
    ask: AskAll = lambda _: None, more: More = always_true,
    untried_names: Collection[str] = (), *,
    impossible_sizes: Collection[int] = (), now_runs: bool = True,
) -> OpenHint:  # fmt: skip
    """Combines the choices at all tried sizes to the hint for unknown `names`.

    `now` is the choice at the assumed values. It is ignored if `now_runs` is false: the loop has no
    iterations there. `common_choices` are the choices for values of the common size of the names
    `size`, and `by_name` the choices for values of a single name. `ask` makes further trials for
    other values of the deciding names, as long as `more()` is true. The budget excluded the
    `untried_names` names and the `impossible_sizes` values of the common size. With any of these,
    the hint is unknown. `impossible_sizes` values count as wrong hints, so that a smaller budget
    does not raise the share.
    """
    tried = [
        *common_choices.values(),
        *(choice for own in by_name.values() for choice in own.values()),
    ]
    known = [now] if now_runs else []
    common = common_threads([*known, *tried])
    deciding = {
        name for name, own in by_name.items()
        if (known or own) and not common_threads([*known, *own.values()])
    }  # fmt: skip
    if not common and not deciding:
        deciding = set(size) or set(names)  # the names decide only together
    deciding |= deciding_at_other_values(deciding, by_name, ask, more) | {*untried_names}
    deciding |= {*size} if impossible_sizes else set()
    tried = [*known, *tried] or [now]
    threads, share, usual = None, 1.0, None
    if common and not untried_names and not impossible_sizes:
        threads = now.hint.threads if now.hint.threads in common else min(common)
    else:
        even = [
            _spread_evenly(common_choices, impossible_sizes),
            *map(_spread_evenly, by_name.values()),
        ]
        groups = [group for group in even if group] or [[]]
        groups += [[] for _ in untried_names]
        if not now_runs:
            usual = max(
                tried, key=lambda choice: share_within_loss(choice.hint.threads, groups)
            ).hint
        share = share_within_loss((usual or now.hint).threads, groups)
    return OpenHint(
        unbound=tuple(names),
        deciding=frozenset(deciding),
        by_size=hints_by_size(
            tuple(name for name in size if name in deciding) or size, common_choices, iterations
        ),
        range=range_of(tried),
        threads=threads,
        margin=min(choice.hint.margin for choice in tried),
        chance=min(choice.chance for choice in tried),
        share=share,
        usual=usual,
    )


def _spread_evenly(
    choices: Mapping[int, Choice], impossible_sizes: Collection[int] = ()
) -> list[Choice | None]:
    """Returns only the choices at `TRIED_SIZES`, without sizes near thresholds. `impossible_sizes`
    sizes are None.
    """
    return [
        choices.get(size) for size in TRIED_SIZES if size in choices or size in impossible_sizes
    ]


def share_within_loss(threads: int, groups: Iterable[Sequence[Choice | None]]) -> float:
    """Returns the share of sizes at which a hint is within the allowed loss, for the worst group of
    sizes. A choice of None counts as a larger loss.

    The share follows the rule of succession, and is 1/2 for a group without trials. If all sizes of
    a group are within the loss, its share is 1.

    >>> from regionpredict.predict.hints import Choice, Hint
    >>> one, more = Choice(Hint(1, 1, 1.0), frozenset({1})), Choice(Hint(1, 4, 1.0), frozenset({4}))
    >>> share_within_loss(4, [[more, more], [one, more]]), share_within_loss(1, [[one]])
    (0.5, 1.0)
    """
    shares = [1.0]
    for group in groups:
        served = sum(choice is not None and threads in choice.serving for choice in group)
        if served < len(group) or not group:
            shares.append((served + 1) / (len(group) + 2))
    return min(shares)
