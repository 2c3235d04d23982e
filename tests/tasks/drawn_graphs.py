"""Small graphs with known answers, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from regionpredict.tasks import TaskGraph, graph_of_tasks

# Times and edges drawn by hand so that work, depth and concurrency are what Shudler 2018 states of
# figures 4.1 and 4.6, which do not survive in its text. By hand, the first: the longest path is
# 7 -> 9 -> 8; {9, 10, 1, 3} are unordered, and 7, 4 and the last two each come before or behind
# two of them at least.
FIGURE_4_1 = (
    {"a": 7, "b": 4, "c": 9, "d": 10, "e": 1, "f": 3, "g": 3, "h": 8},
    "ac bc bd ae bf eg ch dh fh gh",
    (45, 24, 4),
)
# 5 -> 10 -> 10 is the longest; beside it 5 tasks of 5 behind the first, of which nothing waits.
WORK_50 = (
    {"a": 5, "b": 10, "c": 10, "d": 5, "e": 5, "f": 5, "g": 5, "h": 5},
    "ab bc ad ae af ag ah",
    (50, 25, 6),
)
# T_1 = 11 and T_inf = 6 twice, with another concurrency: six ones behind each other and five beside
# them, or one chain of six and one of five (fig. 4.6).
WIDE_11 = (
    dict.fromkeys("abcdefghijk", 1),
    "ab bc cd de ef",
    (11, 6, 6),
)
NARROW_11 = (
    dict.fromkeys("abcdefghijk", 1),
    "ab bc cd de ef gh hi ij jk",
    (11, 6, 2),
)
KNOWN = [FIGURE_4_1, WORK_50, WIDE_11, NARROW_11]


def drawn(times: dict[str, int], edges: str) -> TaskGraph:
    names = list(times)
    pairs = [(names.index(edge[0]), names.index(edge[1])) for edge in edges.split()]
    return graph_of_tasks(list(times.values()), pairs, names)


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> TaskGraph:
    """Random graphs; times are whole, so that sums are exact."""
    count = draw(st.integers(1, most))
    seconds = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    shuffled = draw(st.permutations(range(count)))
    return graph_of_tasks(
        [seconds[shuffled[v]] for v in range(count)],
        [(shuffled.index(a), shuffled.index(b)) for a, b in edges],
    )


def reachable(graph: TaskGraph) -> list[set[int]]:
    """For each node what comes behind it."""
    behind: list[set[int]] = [set() for _ in range(graph.nodes)]
    for _ in range(graph.nodes):
        for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
            behind[source] |= {target} | behind[target]
    return behind
