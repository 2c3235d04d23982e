"""What is said of tasks that took longer, or less long, together than alone."""

from __future__ import annotations

import pytest

from regionpredict.report.task_graphs import SHRANK, growth_table
from regionpredict.tasks.growth import LineGrowth


@pytest.mark.parametrize(("together_s", "shrank"), [(0.74, True), (2.0, False), (3.0, False)])
def test_a_time_that_shrank_is_no_contention(together_s: float, shrank: bool) -> None:
    table = growth_table([LineGrowth("a.c:1", "task", 4, 2.0, together_s)], 5)
    assert (SHRANK in table.legend) == shrank
