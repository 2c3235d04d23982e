"""Rows of the table of hints for teams: what the loops of one `parallel` can use together.

9 solve            team of 3 loops       5.8x  1   6 memory-bandwidth  71 %
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.predict import TeamPrediction

NAME_WIDTH = 16


def shared_teams(teams: Sequence[TeamPrediction]) -> list[TeamPrediction]:
    """The teams of more than one loop."""
    return [team for team in teams if len(team.facts.members) > 1]


def team_row(team: TeamPrediction, model: str, names: Mapping[str, str]) -> str:
    """The row of one team; `model` says which columns the table has, `names` has its function's
    name as it fits there.
    """
    loops = f"team of {len(team.facts.members)} loops"
    head = f"{team.facts.span.line:>6} {names[team.facts.function]:<{NAME_WIDTH}} {loops:<19}"
    if team.threads is None:
        return f"{head} no hint"
    mark = "~" if team.borderline else " "
    gain = {point.threads: point.value for point in team.speedup}.get(team.threads)
    if model == "saturation" and gain is not None:
        choice = f"{gain:5.1f}x{mark}{team.packages:>2}{team.threads:>4} "
    else:
        choice = f"      {mark}{team.packages:>3}  "
    partial = "?" if team.status == "partial" else ""
    sure = f"{100 * team.confidence:3.0f} %{partial}"
    return f"{head}{choice}{team.bottleneck or '':<16} {sure}".rstrip()
