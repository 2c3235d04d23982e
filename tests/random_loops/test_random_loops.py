"""What is said of random loops against what they do when they run: exact, or said to be less."""

from __future__ import annotations

import pytest
from loop_verdicts import BATCH, Verdict, judged, programs_from

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
PROGRAMS = 300
_NEVER_WRONG = ("iterations", "executions", "operations", "references", "front ends")


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_what_random_loops_do(first: int) -> None:
    """Counts are right or withheld, both front ends alike; working sets of 49 in 50 programs."""
    verdicts: list[Verdict] = []
    for batch, known in programs_from(range(first, first + BATCH)):
        assert len(batch) > BATCH // 2
        verdicts += judged(batch, known)
    wrong = [one for one in verdicts if one.outcome == "wrong"]
    assert [one for one in wrong if one.question in _NEVER_WRONG] == []
    sizes = [one for one in wrong if one.question == "working set"]
    assert len({one.seed for one in sizes}) <= BATCH // 50, sizes
    told = [one for one in verdicts if one.question in ("iterations", "executions")]
    withheld = [one for one in told if one.outcome == "withheld"]
    assert len(withheld) < len(told) / 20
