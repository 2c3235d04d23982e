"""How the hint changes with an unknown size, and the range of hints.

The sizes in `TRIED_SIZES` are tried. If no number of threads is good at two neighboring sizes, the
threshold between them is found by bisection. The hint need not be monotonic in the size. Impossible
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
    always,
    deciding_at_other_values,
)
from regionpredict.predict.hints import Choice, Hint, common_threads


class SizeHint(NamedTuple):
    """The hint for sizes less than `below` and not covered by the previous hint. None means all
    larger sizes.

    `name` lists the names of the size. `threads` are good at all tried sizes of the range.
    `iterations_below` is the loop's trip count at `below`, which identifies the range at run time.
    It is None for the last range, or if trip counts do not identify it.
    """

    name: str
    below: int | None
    packages: int
    threads: int
    iterations_below: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The single names. A comma between arguments of a call does not separate names.

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

    `unbound` are the names without a value, and `deciding` those that change the hint. `threads`
    are good at all tried sizes. If it is None, the hint is that of the assumed sizes, and the
    others are in `range`. `margin` and `chance` are the smallest values over all sizes. `share` is
    the share of sizes at which the assumed hint loses little enough. `usual` is the hint that is
    good at most sizes, if the loop does not run at the assumed ones. `cut` says that the budget
    excluded some sizes.
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
"""`TRIED_SIZES` in the order of trials. The smallest and largest sizes come first, in case the
budget is too small.
"""


def split_names(names: str) -> tuple[str, ...]:
    """The names of a size, which commas separate.

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


def choices_by_size(ask: Ask, more: More = always) -> dict[int, Choice]:
    """The choices by size in ascending order. There are more trials where the choice changes.

    First come `TRIED_SIZES` from the ends to the middle, then thresholds, as long as `more` sizes
    are allowed and there are fewer than `MOST_TRIALS`.
    """
    return with_thresholds(choices_at_tried_sizes(ask, more)[0], ask, more)


def choices_at_tried_sizes(
    ask: Ask, more: More = always
) -> tuple[dict[int, Choice], tuple[int, ...]]:
    """The choices at `TRIED_SIZES`, from the ends to the middle, as long as `more` trials are
    allowed. Also returns the remaining sizes.
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
    choices: Mapping[int, Choice], ask: Ask, more: More = always, *, of_packages: bool = False
) -> dict[int, Choice]:
    """The choices, including those at thresholds. Thresholds between packages come first. With
    `of_packages`, there are no others.
    """
    known = dict(choices)
    asked = len(TRIED_SIZES)
    while asked < MOST_TRIALS.value:
        turns = [
            (known[low].kind == known[high].kind, middle)
            for low, high in part_boundaries(known)
            if high - low > max(1, int(_precision(known[low], known[high]) * low))
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


def _precision(before: Choice, after: Choice) -> float:
    """The precision of a threshold. It is lower between ranges with the same number of packages."""
    return SIZE_PRECISION.value if before.kind != after.kind else THREADS_PRECISION.value


def part_boundaries(choices: Mapping[int, Choice]) -> list[tuple[int, int]]:
    """Pairs of neighboring sizes between which one range ends and the next begins.

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
    """The hints by size in ascending order. Empty if no size has a hint.

    `iterations` gives the loop's trip count for a size.

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
    told = counts if _grow([*counts.values()]) else {}
    return tuple(
        SizeHint(", ".join(names), part.below, part.kind[0], min(part.threads),
                 None if part.below is None else told.get(part.below))
        for part in _steady_parts(choices)
    )  # fmt: skip


class _Part(NamedTuple):
    """Sizes less than `below` that have one kind of hint. `threads` are good at all of them.
    `serving` lose at most what a hint may lose.
    """

    below: int | None
    kind: tuple[int, bool]
    threads: frozenset[int]
    serving: frozenset[int]

    def joined(self, after: _Part) -> _Part | None:
        """Merges this range with the following one `after`, with the hint of this range. None if
        this hint loses more than allowed in `after`.
        """
        threads = self.threads & after.serving
        if not threads:
            return None
        return _Part(after.below, self.kind, threads, self.serving & after.serving)


def _steady_parts(choices: Mapping[int, Choice]) -> list[_Part]:
    """The ranges of a size in ascending order. If one hint stays within the allowed loss, the hint
    does not change back and forth.
    """
    ends = [high for _, high in part_boundaries(choices)]
    parts: list[_Part] = []
    for begin, end in zip([0, *ends], [*ends, None], strict=True):
        own = [
            choice for size, choice in choices.items()
            if begin <= size and (end is None or size < end)
        ]  # fmt: skip
        serving = frozenset.intersection(*(choice.serving for choice in own))
        parts = _with_part(parts, _Part(end, own[0].kind, common_threads(own), serving))
    return parts


def _with_part(parts: Sequence[_Part], part: _Part) -> list[_Part]:
    """The ranges with the next one, which is merged with all ranges since the last one of its
    kind.
    """
    back = [at for at, known in enumerate(parts) if known.kind == part.kind]
    if not back or parts[-1].kind == part.kind:
        return [*parts, part]
    last = parts[-1].joined(part)
    if last is not None:
        return [*parts[:-1], last]
    whole: _Part | None = parts[back[-1]]
    for after in (*parts[back[-1] + 1 :], part):
        whole = None if whole is None else whole.joined(after)
    return [*parts, part] if whole is None else [*parts[: back[-1]], whole]


def _grow(counts: Sequence[int | None]) -> bool:
    """Whether the values increase strictly, so that each identifies a size."""
    return all(a is not None and b is not None and a < b for a, b in pairwise(counts))


def range_of(choices: Sequence[Choice]) -> HintRange:
    """The range of hints."""
    packages = [choice.hint.packages for choice in choices]
    threads = [choice.hint.threads for choice in choices]
    return HintRange((min(packages), max(packages)), (min(threads), max(threads)))


def choices_by_name(
    names: Sequence[str], ask: AskAll, more: More = always
) -> dict[str, Mapping[int, Choice]]:
    """The choices for each of `names`. The other names have their assumed values.

    A name is tried at all of `SIZES_OF_ONE` or at none, because a part of these sizes proves
    nothing. No further name is tried if no `more` sizes are allowed.
    """
    by_name: dict[str, Mapping[int, Choice]] = {}
    for name in names:
        if not more():
            break
        own = {size: ask({name: size}) for size in SIZES_OF_ONE}
        by_name[name] = {size: choice for size, choice in own.items() if choice is not None}
    return by_name


def open_hint(
    names: Sequence[str], now: Choice, size: tuple[str, ...], together: Mapping[int, Choice],
    by_name: Mapping[str, Mapping[int, Choice]],
    iterations: Callable[[int], int | None] = lambda _: None,
    ask: AskAll = lambda _: None, more: More = always,
    untried: Collection[str] = (), *, refused: Collection[int] = (), now_runs: bool = True,
) -> OpenHint:  # fmt: skip
    """The hint for unknown `names`. `now` is the choice at the assumed values. It is ignored if the
    loop does not run at them. If the loop runs at no tried size, all names decide.

    `together` are the choices if all names have the same value, their common `size`. `by_name` are
    those for values of a single name, with the others as assumed. `ask` tries further names that
    decide only for other values of the deciding names, as long as `more` trials are allowed. The
    budget excluded the `untried` names and the `refused` values of the common size. Any of them may
    decide, so the hint is unknown. It is assumed to be wrong at `refused` values, so that a smaller
    budget does not raise its share.
    """
    tried = [
        *together.values(),
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
    deciding |= deciding_at_other_values(deciding, by_name, ask, more) | {*untried}
    deciding |= {*size} if refused else set()
    tried = [*known, *tried] or [now]
    threads, share, usual = None, 1.0, None
    if common and not untried and not refused:
        threads = now.hint.threads if now.hint.threads in common else min(common)
    else:
        even = [_spread_evenly(together, refused), *map(_spread_evenly, by_name.values())]
        groups = [group for group in even if group] or [[]]
        groups += [[] for _ in untried]
        if not now_runs:
            usual = max(
                tried, key=lambda choice: share_within_loss(choice.hint.threads, groups)
            ).hint
        share = share_within_loss((usual or now.hint).threads, groups)
    return OpenHint(
        unbound=tuple(names),
        deciding=frozenset(deciding),
        by_size=hints_by_size(
            tuple(name for name in size if name in deciding) or size, together, iterations
        ),
        range=range_of(tried),
        threads=threads,
        margin=min(choice.hint.margin for choice in tried),
        chance=min(choice.chance for choice in tried),
        share=share,
        usual=usual,
    )


def _spread_evenly(
    choices: Mapping[int, Choice], refused: Collection[int] = ()
) -> list[Choice | None]:
    """The choices without those at sizes that were added to find thresholds. None for `refused`
    sizes.
    """
    return [choices.get(size) for size in TRIED_SIZES if size in choices or size in refused]


def share_within_loss(threads: int, groups: Iterable[Sequence[Choice | None]]) -> float:
    """The share of sizes at which a hint loses little enough, for the worst group of sizes. 1 if it
    always does. None is a size at which the hint is assumed to lose more.

    It is computed by the rule of succession. Without trials it is one half.

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
