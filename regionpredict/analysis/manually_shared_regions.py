"""Assigns manually shared loops to the `parallel` constructs whose threads execute them."""

from __future__ import annotations

from regionpredict.analysis.team_order import team_orders
from regionpredict.ir import Program, Span


def manually_shared_regions(program: Program) -> dict[str, tuple[Span, ...]]:
    """Returns the `parallel` constructs whose threads execute each manually shared loop, by the
    loop's id. They are in the loop's own function, or in a function that calls it.
    """
    teams: dict[str, dict[Span, None]] = {
        region.id: {} for region in program.regions if region.by_hand
    }
    if not teams:
        return {}
    for region in program.regions:
        if region.by_hand and region.parallel is not None:
            teams[region.id][region.parallel.span] = None
    for order in team_orders(program.flows, program.regions, {}):
        for key, members in order.members.items():
            if key.parallel is not None:
                for name in members.keys() & teams.keys():
                    teams[name][key.parallel] = None
    return {name: tuple(spans) for name, spans in teams.items() if spans}
