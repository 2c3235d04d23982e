"""Which region of one tree is which region of another: lines move, functions and files too.

Files are the same that have the same name, or else the longest common end of their paths. In a
file, the regions of a function are aligned in order by what they are (directive, trip count and
arrays); what is left in a function is paired in order where equally many are left. Last, a region
that is alone in being what it is may have moved to another function or file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import PurePath

from regionpredict.compare.hint_outline import RegionOutline

Pair = tuple[RegionOutline, RegionOutline]
_Signature = tuple[str, str | None, tuple[str, ...]]


def matched_regions(
    old: Sequence[RegionOutline], new: Sequence[RegionOutline]
) -> tuple[list[Pair], list[RegionOutline], list[RegionOutline]]:
    """(the same region before and after, in the new order; those removed; those added)."""
    files = same_files({one.file for one in old}, {one.file for one in new})
    before = _by_function(old, files)
    known: dict[str, RegionOutline] = {}
    for place, regions in _by_function(new, {}).items():
        known.update((after.id, first) for first, after in _aligned(before[place], regions))
    known.update((after.id, first) for first, after in _moved(known, old, new))
    taken = {one.id for one in known.values()}
    return (
        [(known[one.id], one) for one in new if one.id in known],
        [one for one in old if one.id not in taken],
        [one for one in new if one.id not in known],
    )


def _by_function(
    regions: Sequence[RegionOutline], files: Mapping[str, str]
) -> defaultdict[tuple[str, str], list[RegionOutline]]:
    """The regions of each (file, function), the file by its new name where it has one."""
    grouped: defaultdict[tuple[str, str], list[RegionOutline]] = defaultdict(list)
    for one in regions:
        grouped[files.get(one.file, one.file), one.function].append(one)
    return grouped


def same_files(old: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """The new name of each old file that has one.

    >>> same_files({"a/src/x.c", "a/src/y.c"}, {"b/src/x.c", "b/lib/y.c", "b/lib/x.c"})
    {'a/src/x.c': 'b/src/x.c', 'a/src/y.c': 'b/lib/y.c'}
    """
    left, right = set(old), set(new)
    found = {name: name for name in left & right}
    tails = sorted(
        (-_common_end(a, b), a, b)
        for a in left - found.keys()
        for b in right - found.keys()
        if PurePath(a).name == PurePath(b).name
    )
    taken = set(found.values())
    for _, a, b in tails:
        if a not in found and b not in taken:
            found[a] = b
            taken.add(b)
    return dict(sorted(found.items()))


def _common_end(one: str, other: str) -> int:
    """Parts of two paths that are alike, from the end.

    >>> _common_end("a/src/x.c", "b/src/x.c")
    2
    """
    count = 0
    for a, b in zip(reversed(PurePath(one).parts), reversed(PurePath(other).parts), strict=False):
        if a != b:
            break
        count += 1
    return count


def _aligned(old: Sequence[RegionOutline], new: Sequence[RegionOutline]) -> list[Pair]:
    """The regions of one function, in order."""
    first, second = [_signature(one) for one in old], [_signature(one) for one in new]
    pairs: list[Pair] = []
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            pairs += zip(old[a:b], new[c:d], strict=True)
        elif kind == "replace":
            pairs += _most_alike(old[a:b], new[c:d])
    return pairs


def _most_alike(old: Sequence[RegionOutline], new: Sequence[RegionOutline]) -> list[Pair]:
    """Pairs that share arrays, the most first."""
    shares = sorted(
        (
            (-_shared_arrays(a, b), at, to)
            for at, a in enumerate(old)
            for to, b in enumerate(new)
            if _shared_arrays(a, b)
        )
    )
    pairs: dict[int, int] = {}
    for _, at, to in shares:
        if at not in pairs and to not in pairs.values():
            pairs[at] = to
    return [(old[at], new[to]) for at, to in sorted(pairs.items())]


def _shared_arrays(one: RegionOutline, other: RegionOutline) -> float:
    mine, theirs = set(one.arrays), set(other.arrays)
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _moved(
    known: Mapping[str, RegionOutline], old: Sequence[RegionOutline], new: Sequence[RegionOutline]
) -> list[Pair]:
    """Those left over that are alone in being what they are."""
    taken = {one.id for one in known.values()}
    gone = [one for one in old if one.id not in taken]
    come = [one for one in new if one.id not in known]
    before, after = Counter(map(_signature, gone)), Counter(map(_signature, come))
    first = {_signature(one): one for one in gone}
    return [
        (first[mark], one)
        for one in come
        if one.arrays and before[mark := _signature(one)] == after[mark] == 1
    ]


def _signature(one: RegionOutline) -> _Signature:
    return one.directive, one.iterations[0], one.arrays
