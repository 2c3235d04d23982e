"""The trip counts that the programs see are the analysis' expressions at the same sizes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured_programs import ROOT, WRAPPER, environment, run_measured

from regionpredict.analysis import RegionFacts, bind_names
from regionpredict.frontend import requests_for
from regionpredict.ir import Definition, Expr, Loop
from regionpredict.pipeline import analyse

pytestmark = pytest.mark.slow

SUITES = {
    "polybench_samples": ("MINI_DATASET", ["DATASET=MINI"]),
    "npb_samples": ("CLASS_S", ["CLASS=S"]),
}


# Bounds that no line of the source says, for each execution in turn, by hand: the rows k of wave
# j + k = w with 1 <= j, k <= 10 (class S: 12 points a side), and a function called for each axis.
WAVES = [{"first": max(1, wave - 10), "last": min(10, wave - 1)} for wave in range(2, 21)]
GIVEN = {
    ("lu_sweep.c", "make_blocks"): WAVES,
    ("lu_sweep.c", "lower_solve"): WAVES,
    ("lu_sweep.c", "upper_solve"): WAVES,
    ("fdtd-apml.c", "init_profile"): [{"n": 32}, {"n": 33}, {"n": 33}],
}


@pytest.mark.parametrize("suite", SUITES)
def test_every_region(tmp_path: Path, gcc: str, suite: str) -> None:
    macro, settings = SUITES[suite]
    build = tmp_path / "build"
    subprocess.run(
        ["make", "-j2", "-s", "-C", str(ROOT / suite), f"CC={' '.join(WRAPPER)} {gcc}",
         f"BUILD={build}", *settings],
        check=True, timeout=600, env=environment(), capture_output=True,
    )  # fmt: skip
    seen: dict[tuple[str, int], dict[str, Any]] = {}
    for program in sorted(build.iterdir()):
        if program.is_file() and not program.name.startswith("."):
            for line in run_measured([str(program)])[1:]:
                seen[(line["file"], line["line"])] = line
    analysis = analyse(requests_for([str(ROOT / suite)], [(macro, "1")]), {})
    regions = {(f.region.span.file, f.region.span.line): f for f in analysis.facts}
    assert set(seen) == set(regions)
    definitions = analysis.program.definitions
    for place, line in seen.items():
        assert line["counted"] == line["executions"], place
        counts = list(_iterations(regions[place], definitions[regions[place].region.id]))
        assert None not in counts, place
        assert min(counts) == line["least_trips"], place
        assert max(counts) == line["most_trips"], place
        assert line["trips"] * len(counts) == sum(counts) * line["executions"], place


def _iterations(facts: RegionFacts, defined: tuple[Definition, ...]) -> Iterator[int | None]:
    """The iterations of every execution, one for each turn of the serial loops around."""
    region = facts.region
    if by_hand := GIVEN.get((Path(region.span.file).name, region.function)):
        assert facts.iterations.expr is not None
        yield from (int(facts.iterations.expr.evaluate(values) or 0) for values in by_hand)
        return
    if not facts.bindings.assumed:
        yield facts.iterations.value
        return
    known = bind_names(replace(facts.region, enclosing=()), defined, {}).values
    for turn in _turns(facts.region.enclosing, dict(known)):
        given = {loop.variable: turn[loop.variable] for loop in facts.region.enclosing}
        value = bind_names(facts.region, defined, given).whole(facts.iterations.expr)
        yield None if value is None else max(0, value)


def _turns(loops: Sequence[Loop], names: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if not loops:
        yield names
        return
    loop = loops[0]
    start, bound, step = (_number(part, names) for part in (loop.start, loop.bound, loop.step))
    assert start is not None
    assert bound is not None
    assert step is not None
    past = (1 if step > 0 else -1) * (loop.comparison in ("<=", ">="))
    for value in range(start, bound + past, step):
        yield from _turns(loops[1:], {**names, loop.variable: value})


def _number(part: Expr | None, names: dict[str, Any]) -> int | None:
    value = None if part is None else part.evaluate(names)
    return None if value is None else int(value)
