"""Matches the regions of two source trees. Lines, functions and files may have moved.

Files match if they have the same name, or otherwise the longest common end of their paths. In a
file, the regions of a function are aligned in order by directive, trip count and arrays. The
remaining ones in a function are paired in order if their numbers are equal. Finally, a region with
unique properties may have moved to another function or file.
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
    """Returns pairs of regions that exist before and after, in the new order, the removed regions,
    and the added regions.
    """
    files = same_files({outline.file for outline in old}, {outline.file for outline in new})
    before = _by_function(old, files)
    known: dict[str, RegionOutline] = {}
    for place, regions in _by_function(new, {}).items():
        known.update((after.id, first) for first, after in _align_regions(before[place], regions))
    known.update((after.id, first) for first, after in _moved_regions(known, old, new))
    taken = {outline.id for outline in known.values()}
    return (
        [(known[outline.id], outline) for outline in new if outline.id in known],
        [outline for outline in old if outline.id not in taken],
        [outline for outline in new if outline.id not in known],
    )


def _by_function(
    regions: Sequence[RegionOutline], files: Mapping[str, str]
) -> defaultdict[tuple[str, str], list[RegionOutline]]:
    """Groups the regions by (file, function). A renamed file has its new name."""
    grouped: defaultdict[tuple[str, str], list[RegionOutline]] = defaultdict(list)
    for region in regions:
        grouped[files.get(region.file, region.file), region.function].append(region)
    return grouped


def same_files(old: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """Maps each matched old file to its new name.

    >>> same_files({"a/src/x.c", "a/src/y.c"}, {"b/src/x.c", "b/lib/y.c", "b/lib/x.c"})
    {'a/src/x.c': 'b/src/x.c', 'a/src/y.c': 'b/lib/y.c'}
    """
    left, right = set(old), set(new)
    pairs = {name: name for name in left & right}
    tails = sorted(
        (-_common_end(a, b), a, b)
        for a in left - pairs.keys()
        for b in right - pairs.keys()
        if PurePath(a).name == PurePath(b).name
    )
    taken = set(pairs.values())
    for _, a, b in tails:
        if a not in pairs and b not in taken:
            pairs[a] = b
            taken.add(b)
    return dict(sorted(pairs.items()))


def _common_end(first: str, other: str) -> int:
    """Counts the equal path components at the end of two paths.

    >>> _common_end("a/src/x.c", "b/src/x.c")
    2
    """
    count = 0
    for a, b in zip(reversed(PurePath(first).parts), reversed(PurePath(other).parts), strict=False):
        if a != b:
            break
        count += 1
    return count


def _align_regions(old: Sequence[RegionOutline], new: Sequence[RegionOutline]) -> list[Pair]:
    """Aligns the regions of one function, in order."""
    first, second = (
        [_region_signature(outline) for outline in old],
        [_region_signature(outline) for outline in new],
    )
    pairs: list[Pair] = []
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            pairs += zip(old[a:b], new[c:d], strict=True)
        elif kind == "replace":
            pairs += _pairs_with_common_arrays(old[a:b], new[c:d])
    return pairs


def _pairs_with_common_arrays(
    old: Sequence[RegionOutline], new: Sequence[RegionOutline]
) -> list[Pair]:
    """Pairs regions that share arrays, most similar first."""
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


def _shared_arrays(outline: RegionOutline, other: RegionOutline) -> float:
    mine, theirs = set(outline.arrays), set(other.arrays)
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _moved_regions(
    known: Mapping[str, RegionOutline], old: Sequence[RegionOutline], new: Sequence[RegionOutline]
) -> list[Pair]:
    """Pairs the remaining regions that have unique properties."""
    taken = {outline.id for outline in known.values()}
    gone = [outline for outline in old if outline.id not in taken]
    come = [outline for outline in new if outline.id not in known]
    before, after = Counter(map(_region_signature, gone)), Counter(map(_region_signature, come))
    first = {_region_signature(outline): outline for outline in gone}
    return [
        (first[mark], outline)
        for outline in come
        if outline.arrays and before[mark := _region_signature(outline)] == after[mark] == 1
    ]


def _region_signature(outline: RegionOutline) -> _Signature:
    return outline.directive, outline.iterations[0], outline.arrays
