"""What teams on several packages cost: by hand."""

from __future__ import annotations

import pytest
from round_machine import round_machine

from regionpredict.predict.saturation.team_costs import team_cost

INSIDE = (
    ("{1: 1000, 4: 4000, 8: 8000}", "{1: 1000, 4: 4000}"),
    ("barrier: {1: 100, 2: 300, 4: 700, 8: 1500}", "far_line: 500\n  barrier: {1: 100, 4: 700}"),
)


def test_a_table_of_both_packages_is_taken_as_it_is() -> None:
    machine = round_machine()
    assert team_cost(machine, "barrier", 8) == 1500
    assert team_cost(machine, "fork_join", 8) == 8000


@pytest.mark.parametrize(
    ("name", "threads", "cycles"),
    [
        ("barrier", 4, 700),
        ("barrier", 5, 700 + 500),  # one thread beyond the link
        ("barrier", 8, 700 + 4 * 500),
        ("fork_join", 4, 4000),
        ("fork_join", 6, 4000 + 2 * 2 * 500),  # told of the work, and counted at its end
    ],
)
def test_each_thread_of_another_package_adds_far_lines(
    name: str, threads: int, cycles: float
) -> None:
    assert team_cost(round_machine(*INSIDE), name, threads) == cycles


def test_two_spread_threads_meet_across_the_link() -> None:
    spread = round_machine(*INSIDE).as_run(binding="spread")
    assert team_cost(spread, "barrier", 2) == 100 + 500
    assert team_cost(spread, "barrier", 1) == 100


def test_without_a_figure_a_far_line_takes_as_long_as_far_memory() -> None:
    assert round_machine().overheads.far_line.value == 300
    assert round_machine().overheads.far_line.evidence == "assumed"


def test_a_run_time_system_has_its_own_costs_and_the_common_ones() -> None:
    text = "far_line: 500\n  llvm: {barrier: {1: 10, 4: 90}}\n  barrier: {1: 100, 4: 700}"
    machine = round_machine((INSIDE[1][0], text))
    assert team_cost(machine, "barrier", 4) == 700
    llvm = machine.as_run(runtime="llvm")
    assert team_cost(llvm, "barrier", 4) == 90
    assert team_cost(llvm, "reduction", 4) == 60
    assert team_cost(machine.as_run(runtime="gcc"), "barrier", 4) == 700
