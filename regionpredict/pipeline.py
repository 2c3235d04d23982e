"""The order of the stages, written once: read -> analyse -> predict.

Each stage takes the value of the one before and gives a frozen value; `dump` shows any of them
as text. Nothing here prints or looks at a clock: the caller passes one in.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from regionpredict.analysis import RegionFacts, bind, facts_of
from regionpredict.analysis.firsttouch import Placement, placements
from regionpredict.analysis.values import free_names
from regionpredict.errors import UsageError
from regionpredict.frontend import SourceRequest, read
from regionpredict.ir import Program
from regionpredict.ir.pprint import dump_program
from regionpredict.machine import Machine
from regionpredict.predict import Prediction, predict_density, predict_saturation
from regionpredict.report.dump import dump_facts, dump_prediction

STAGES = ("program", "facts", "prediction")
MODELS = ("density", "saturation")


@dataclass(frozen=True, slots=True)
class Analysis:
    """A program and the facts of its regions; `seconds` a stage, in the caller's clock."""

    program: Program
    facts: tuple[RegionFacts, ...]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Predictions:
    """An analysis with one prediction a region, in the same order."""

    analysis: Analysis
    machine: Machine
    model: str
    predictions: tuple[Prediction, ...]


def analyse(
    requests: Sequence[SourceRequest],
    given: Mapping[str, int],
    *,
    frontend: str | None = None,
    processes: int = 1,
    flows: bool = True,
    clock: Callable[[], float] = lambda: 0.0,
) -> Analysis:
    """Reads the sources and asks every fact of every region.

    `flows` reads also what tells where pages lie, which the saturation model asks for.
    Raises UsageError where `given` names nothing that a region depends on.
    """
    begin = clock()
    program = read(requests, frontend, processes, flows=flows)
    parsed = clock()
    check_names(program, given)
    facts = tuple(
        facts_of(region, bind(region, program.definitions[region.id], given))
        for region in program.regions
    )
    return Analysis(program, facts, {"read": parsed - begin, "analyse": clock() - parsed})


def predict(
    analysis: Analysis,
    machine: Machine,
    model: str = "density",
    combination: str = "relative-difference",
    *,
    threads: Sequence[int] = (),
    first_touch: str | None = None,
    within: float = 0.05,
) -> Predictions:
    """One prediction a region; `threads`, `first_touch` and `within` concern the curve alone."""
    if model == "saturation":
        _check_threads(threads, machine)
        given = Placement(first_touch, "as given", False) if first_touch else None
        seen = placements(analysis.program) if given is None else ()
        places = [given] * len(analysis.facts) if given is not None else seen
        curves = tuple(
            predict_saturation(
                facts, machine, threads=threads, within=within,
                placement=place,
            )
            for facts, place in zip(analysis.facts, places, strict=True)
        )  # fmt: skip
        return Predictions(analysis, machine, model, curves)
    made = tuple(predict_density(facts, machine, combination) for facts in analysis.facts)
    return Predictions(analysis, machine, model, made)


def _check_threads(threads: Sequence[int], machine: Machine) -> None:
    wrong = [count for count in threads if not 1 <= count <= machine.cores]
    if wrong:
        raise UsageError(
            f"--threads: {wrong[0]} threads on {machine.name}",
            remedy=f"choose from 1 to {machine.cores}, one a core",
        )


def check_names(program: Program, given: Mapping[str, int]) -> None:
    """Raises UsageError for a name in `given` that no region depends on."""
    if not given:
        return
    known: set[str] = set()
    for region in program.regions:
        known |= free_names(region)
        for definition in program.definitions[region.id]:
            known |= {definition.name} | definition.value.names
    for name in given:
        if name in known:
            continue
        if name in program.macros:
            raise UsageError(
                f"--set {name}: a macro, not a variable", remedy=f"use -D {name}=VALUE"
            )
        near = difflib.get_close_matches(name, known, 1)
        names = ", ".join(sorted(n for n in known if re.fullmatch(r"\w+", n))[:8]) or "none"
        hint = f"did you mean '{near[0]}'?" if near else f"the regions depend on: {names}"
        raise UsageError(f"--set {name}: no region depends on it", remedy=hint)


def dump(stage: str, analysis: Analysis, predictions: Predictions | None) -> str:
    """One stage's value as text."""
    if stage == "program":
        return dump_program(analysis.program)
    if stage == "facts":
        return "\n".join(dump_facts(facts) for facts in analysis.facts)
    if predictions is None:
        raise UsageError("--dump prediction needs a machine", remedy="use predict -m MACHINE")
    return "\n".join(dump_prediction(one) for one in predictions.predictions)
