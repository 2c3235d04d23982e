"""Which number of threads a team has by a program's plan: what `run` gives it, and clauses say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping


def planned_sizes(
    plans: Iterable[Mapping[str, int]], several_a_core: Collection[str] = (),
    most: int | None = None,
) -> dict[str, int]:  # fmt: skip
    """Threads by team, where its own hint does not stand; `plans` are each program's, by team.

    A team of several programs that want different sizes of it keeps its hint. So do all teams of a
    plan where each of them asks for several threads on a core (`several_a_core`), since plans know
    of one. No team has more than the `most` that are recommended for all programs; where there is
    one plan, and it has one size for all teams, that is this number.

    >>> planned_sizes([{"a:3": 8, "a:9": 4}, {"a:3": 6, "b:5": 2}])
    {'a:9': 4, 'b:5': 2}
    >>> planned_sizes([{"a:3": 8, "a:9": 8}], ["a:3"]), planned_sizes([{"a:3": 8}], ["a:3"])
    ({'a:3': 8, 'a:9': 8}, {})
    >>> planned_sizes([{"a:3": 8, "a:9": 4}], most=6)
    {'a:3': 6, 'a:9': 4}
    >>> planned_sizes([{"a:3": 1, "a:9": 1}], most=4)
    {'a:3': 4, 'a:9': 4}
    """
    sizes: dict[str, set[int]] = {}
    known = list(plans)
    for plan in known:
        if plan.keys() <= set(several_a_core):
            continue
        whole = most if len(known) == 1 and len(set(plan.values())) == 1 else None
        for team, threads in plan.items():
            sizes.setdefault(team, set()).add(whole or threads)
    agreed = {team: own.pop() for team, own in sizes.items() if len(own) == 1}
    return {team: at_most(threads, most) for team, threads in agreed.items()}


def at_most(threads: int, most: int | None) -> int:
    """The threads of a team in a program for which `most` are recommended, if that is known."""
    return threads if most is None else min(threads, most)
