"""The first screen for many loops: the most expensive loops, recommended changes, and sizes to set.

Use 18 threads on 1 package: 3.8x faster than 1 thread (80 % interval 3.4-3.9).
The fewest threads within 10 % of the shortest time. Confidence 60 %.
skylake-gold-6148: 2 packages (sockets) x 20 cores, saturation model

Loops by share of time:
     time  gain  pk thr  limited by        conf  where
   61.2 %  9.2x   1  10  imbalance         57 %  bt/solve.c:12 x_solve
12 more loops take 8 % of the time: --all shows every loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regionpredict.predict import Prediction, TeamPrediction
from regionpredict.predict.constants import MOST_OF_THE_TIME
from regionpredict.report.advice import ByTeam
from regionpredict.report.names import common_folder
from regionpredict.report.page_width import page_lines
from regionpredict.report.program_summary import CONFLICTS, WRONG, advised_lines
from regionpredict.report.quantities import plural
from regionpredict.report.ranked_table import ranked_rows
from regionpredict.report.size_hints import cut_lines, needed_lines
from regionpredict.report.teams_table import GUESSED, HARDWARE_THREADS
from regionpredict.report.thread_rules import row_rule
from regionpredict.report.view import region_seconds
from regionpredict.sizes.ranking import rank_sizes

MANY_LOOPS = 10
"""The number of loops that one screen shows in full. With more loops, it shows the most expensive
ones.
"""


def first_screen(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], advice: ByTeam, model: str,
    spent: float | None = None,
) -> list[str]:  # fmt: skip
    """The lines below the recommendation. `--all` shows the loops that are left out. The program
    takes `spent` seconds.
    """
    times = region_seconds(predictions, teams)
    whole = sum(times.values())
    ranked = sorted(predictions, key=lambda own: -times.get(own.facts.region.id, 0.0))
    shown = list(_taking_the_time(ranked, times, whole))
    rest = ranked[len(shown) :]
    lines = ["", "Loops by share of time:"] if whole else [""]
    lines += ranked_rows(shown, times, whole, model, data=False)
    if rest:
        share = sum(times.get(own.facts.region.id, 0.0) for own in rest) / whole if whole else 0.0
        took = f" take {100 * share:.0f} % of the time" if whole else ""
        lines.append(f"{plural(len(rest), 'more loop')}{took}: --all shows every loop")
    folder = common_folder([team.facts.span.file for team in teams])
    lines += [part for line in advised_lines(advice, folder, spent) for part in page_lines(line)]
    return [
        *lines, *_marks(shown, ranked), *needed_lines(rank_sizes(predictions)),
        *cut_lines(predictions),
    ]  # fmt: skip


def _taking_the_time(
    ranked: Sequence[Prediction], times: dict[str, float], whole: float
) -> Iterator[Prediction]:
    """The loops that take 90 % of the time together, limited to one screen."""
    taken = 0.0
    for own in ranked[:MANY_LOOPS]:
        if whole and taken >= MOST_OF_THE_TIME.value * whole:
            return
        taken += times.get(own.facts.region.id, 0.0)
        yield own


def _assumed(predictions: Sequence[Prediction]) -> str:
    typical = any(own.facts.bindings.typical is not None for own in predictions)
    return "sizes, taken from the known ones" if typical else "large sizes"


def _marks(shown: Sequence[Prediction], predictions: Sequence[Prediction]) -> Iterator[str]:
    """The legend of the columns and marks, and the parts of the program without a row."""
    yield from row_rule(shown)
    if any(own.range is not None for own in shown):
        yield from page_lines(
            f"{GUESSED} for assumed {_assumed(predictions)}; --all shows the thresholds",
            then="  ",
        )  # fmt: skip
    if any(own.status == "partial" for own in shown):
        yield "? part of the loop is unknown"
    if any(own.borderline for own in shown):
        yield "~ another number of packages is about as good"
    if any(own.threads_per_core > 1 for own in shown):
        yield f"{HARDWARE_THREADS} hardware threads: several on each core"
    yield from _conflict_lines(predictions)
    skipped = sum(own.status == "skipped" for own in predictions)
    if skipped:
        yield f"{plural(skipped, 'region')} without a prediction: see --all"


def _conflict_lines(predictions: Sequence[Prediction]) -> Iterator[str]:
    """The number of loops with conflicts, and one example.

    ! conflicts between threads in 5 loops (RP222): see --all. One is gemm.c:82: k is one variable
      for all threads, and every iteration counts in it
    """
    notes = [[n for n in own.diagnostics if n.id in CONFLICTS] for own in predictions]
    notes = [own for own in notes if own]
    if not notes:
        return
    rules = sorted({note.id for own in notes for note in own})
    first = notes[0][0]
    yield from page_lines(
        f"{WRONG} conflicts between threads in {plural(len(notes), 'loop')} ({', '.join(rules)}): "
        f"see --all. One is {first.span.short}: {first.message}", then="  ",
    )  # fmt: skip
