"""What a change saves of a program's time."""

from __future__ import annotations

from regionpredict.predict.advice import Advice
from regionpredict.predict.program_advice import program_advice
from regionpredict.workload import Span


def test_a_change_saves_no_more_than_its_gain_on_the_whole_time() -> None:
    """A gain of 2 saves at most half of 10 s, also if its region was counted with more."""
    places = [Span("f.c", line) for line in (3, 8)]
    advice = {
        "a": [Advice("RP202", places[0], "write schedule(guided)", 2.0, 12.0)],
        "b": [Advice("RP206", places[1], "write nowait", 1.25, 1.0)],
    }
    assert [(change.id, change.saved) for change in program_advice(advice, 10.0)] == [
        ("RP202", 5.0), ("RP206", 1.0),
    ]  # fmt: skip
