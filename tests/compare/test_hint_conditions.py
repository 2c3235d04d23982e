"""Conditions on hints, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_region_matching import region

from regionpredict.compare.hint_conditions import parse_condition
from regionpredict.compare.hint_outline import ProgramOutline
from regionpredict.errors import UsageError

NOW = replace(region(1), packages=2, threads=4, speedup={1: 1.0, 4: 3.0}, seconds=6.0)
"""Two packages, four threads, 3.0 times one: 2 s an execution."""


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("packages<2", False), ("packages <= 2", True), ("packages==2", True),
        ("packages!=2", False), ("threads>4", False), ("threads>=4", True), ("gain<3.5", True),
        ("gain<3", False), ("seconds>1.9", True), ("confidence<.5", False), ("gain>1e1", False),
    ],
)  # fmt: skip
def test_a_hint_against_a_number(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(NOW) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("gain<0.9*baseline", True), ("gain<0.7*baseline", False), ("gain<baseline", True),
        ("packages<baseline", False), ("seconds>1.3 * baseline", True),
    ],
)  # fmt: skip
def test_a_hint_against_what_it_was(text: str, holds: bool) -> None:
    before = replace(NOW, speedup={1: 1.0, 4: 4.0})  # 1.5 s: 4/3 as long now, 3/4 of the gain
    assert parse_condition(text).holds(NOW, before) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("program.threads<8", True), ("program.threads<6", False), ("program.gain<5", True),
        ("program.packages > 1", False), ("program.seconds>1.5*baseline", True),
    ],
)  # fmt: skip
def test_the_hint_for_the_whole_program(text: str, holds: bool) -> None:
    now = ProgramOutline(1, 6, 4.5, 8.0, 0.8)
    condition = parse_condition(text)
    assert condition.program
    assert condition.holds(now, now._replace(hinted_seconds=5.0)) is holds


def test_what_is_not_known_meets_nothing() -> None:
    unknown = replace(NOW, packages=None, threads=None)
    for text in ("packages<9", "packages>=0", "gain<9", "seconds>0"):
        assert not parse_condition(text).holds(unknown)
    assert not parse_condition("gain<9*baseline").holds(NOW)
    assert not parse_condition("gain<9*baseline").holds(NOW, unknown)


@pytest.mark.parametrize(
    "text", ["", "packages", "packages<", "packages=<2", "packages<two", "2>packages",
             "packages<2*threads", "PACKAGES<2", "packages<2; rm", "gain<-1", "gain<0.9baseline"],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--fail-if"):
        parse_condition(text)


def test_an_unknown_field_is_told_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no field efficiency; there are packages, threads"):
        parse_condition("efficiency<1")
