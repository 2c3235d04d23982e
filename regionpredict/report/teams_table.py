"""Table rows of parallel regions with several loops.

9 solve            region of 3 loops     5.8x  1   6 memory-bandwidth  71 %
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.errors import one_line
from regionpredict.predict import Estimate, TeamEstimate, TeamPrediction
from regionpredict.report.page_width import page_lines
from regionpredict.report.program_summary import wrong_mark
from regionpredict.report.quantities import show_times
from regionpredict.report.size_hints import open_sentence

NAME_WIDTH = 16
HARDWARE_THREADS = "h"
GUESSED = "^"
"""The mark of a hint that depends on assumed sizes."""


def shared_teams(teams: Sequence[TeamPrediction]) -> list[TeamPrediction]:
    """The parallel regions with more than one loop."""
    return [team for team in teams if len(team.facts.members) > 1]


def team_rows(team: TeamPrediction, model: str, names: Mapping[str, str]) -> list[str]:
    """The row of one parallel region, and how it changes with sizes. `model` selects the columns,
    and `names` has the shortened name of its function.
    """
    loops = f"region of {len(team.facts.members)} loops"
    head = f"{team.facts.span.line:>6} {names[team.facts.function]:<{NAME_WIDTH}} {loops:<19}"
    notes = [note for member in team.facts.members for note in member.facts.diagnostics]
    partial = ("?" if team.status == "partial" else "") + wrong_mark(notes)
    if team.threads is None:
        return [f"{head} no hint"]
    mark = "~" if team.borderline else " "
    gain = team.shared_core_speedup or {point.threads: point.value for point in team.speedup}.get(
        team.threads
    )
    if model == "saturation" and gain is not None:
        choice = (
            f"{show_times(gain):>5}x{mark}{team.packages:>2}{team.threads:>4}{seats_mark(team)}"
        )
    else:
        choice = f"      {mark}{team.packages:>3}  "
    sure = f"{100 * team.confidence:3.0f} %{guess_mark(team)}{partial}"
    return [f"{head}{choice}{limit_cell(team)} {sure}".rstrip(), *open_lines(team)]


def guess_mark(estimate: Estimate | TeamEstimate) -> str:
    """The mark of a hint that another size would change."""
    return GUESSED if estimate.range is not None else ""


def seats_mark(estimate: Estimate | TeamEstimate) -> str:
    """The mark after a number of threads if several share a core."""
    return HARDWARE_THREADS if estimate.threads_per_core > 1 else " "


def limit_cell(estimate: Estimate | TeamEstimate) -> str:
    """The limiting factor, without the mark."""
    separator = " " if estimate.threads_per_core > 1 else ""
    return f"{separator + (estimate.bottleneck or ''):<16}"


def open_lines(estimate: Estimate | TeamEstimate) -> list[str]:
    """How a hint depends on sizes, as lines below its row. Empty if it is known."""
    indent = " " * 7
    sentence = one_line(open_sentence(estimate))
    return page_lines(sentence, first=indent, then=indent)
