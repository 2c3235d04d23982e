"""Computes the number of threads of each parallel region by a program's plan, for `run` and for
clauses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from regionpredict.predict import Plan, Recommendation, TeamPrediction


def planned_sizes(
    plans: Iterable[Mapping[str, int]], several_a_core: Collection[str] = (),
    most: int | None = None,
) -> dict[str, int]:  # fmt: skip
    """Returns the threads of each parallel region that differ from its own hint.

    `plans` has each program's plan, by region. A region of several programs that have different
    numbers for it keeps its hint. All regions of a plan keep their hints if each of them uses
    several threads per core (`several_a_core`), since plans support only one. No region has more
    than the `most` threads recommended for all programs.

    >>> planned_sizes([{"a:3": 8, "a:9": 4}, {"a:3": 6, "b:5": 2}])
    {'a:9': 4, 'b:5': 2}
    >>> planned_sizes([{"a:3": 8, "a:9": 8}], ["a:3"]), planned_sizes([{"a:3": 8}], ["a:3"])
    ({'a:3': 8, 'a:9': 8}, {})
    >>> planned_sizes([{"a:3": 8, "a:9": 4}], most=6)
    {'a:3': 6, 'a:9': 4}
    """
    sizes: dict[str, set[int]] = {}
    for plan in plans:
        if plan.keys() <= set(several_a_core):
            continue
        for team, threads in plan.items():
            sizes.setdefault(team, set()).add(threads)
    agreed = {team: own.pop() for team, own in sizes.items() if len(own) == 1}
    return {team: at_most(threads, most) for team, threads in agreed.items()}


def at_most(threads: int, most: int | None) -> int:
    """Limits the threads of a parallel region to the `most` recommended threads of its program, if
    known.
    """
    return threads if most is None else min(threads, most)


def planned_threads(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> dict[str, int]:
    """Returns the threads of the parallel regions that run with other threads than their rows show.
    They come from the plans, limited to the program's `hint`.
    """
    several = [team.facts.id for team in teams if team.threads_per_core > 1]
    most = None if hint is None else hint.threads
    planned = planned_sizes([plan.sizes for plan in plans], several, most)
    limited = {
        team.facts.id: at_most(team.threads, most) for team in teams
        if team.threads is not None and at_most(team.threads, most) < team.threads
    }  # fmt: skip
    return limited | planned
