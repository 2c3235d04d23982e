"""The order of the stages, written once: read -> analyse -> predict.

Each stage takes the value of the one before and gives a frozen value; `dump` shows any of them
as text. Nothing here prints or looks at a clock: the caller passes one in.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from regionpredict.analysis import RegionFacts, bind, facts_of
from regionpredict.analysis.first_writes import follow
from regionpredict.analysis.firsttouch import Placement, placements
from regionpredict.analysis.history import histories
from regionpredict.analysis.values import free_names
from regionpredict.errors import UsageError
from regionpredict.frontend import (
    Lookups,
    Part,
    SourceRequest,
    default_frontend,
    join,
    left_out,
    read_file,
)
from regionpredict.ir import Definition, Program, Region
from regionpredict.ir.pprint import dump_program
from regionpredict.isolation import LIMITS, Failure, Limits, isolated
from regionpredict.machine import Machine
from regionpredict.predict import Prediction, predict_density, predict_saturation
from regionpredict.report.dump import dump_facts, dump_prediction
from regionpredict.workers import spread

STAGES = ("program", "facts", "prediction")
MODELS = ("density", "saturation")
_REGIONS_A_PROCESS = 8  # fewer are predicted sooner than a process starts


@dataclass(frozen=True, slots=True)
class Analysis:
    """A program and the facts of its regions.

    `seconds` a stage, in the caller's clock; `lookups`: what reading each request asked for.
    """

    program: Program
    facts: tuple[RegionFacts, ...]
    seconds: Mapping[str, float]
    lookups: tuple[Lookups | None, ...] = ()


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
    limits: Limits = LIMITS,
    clock: Callable[[], float] = lambda: 0.0,
) -> Analysis:
    """Reads the sources and asks every fact of every region.

    `flows` reads also what tells where pages lie, which the saturation model asks for. Each file
    may take what `limits` says; one that takes more, or ends its process, is left out (RP004).
    Raises UsageError where `given` names nothing that a region depends on.
    """
    chosen = frontend or default_frontend()
    ask = partial(_read_and_ask, given=given, frontend=chosen, alone=len(requests) == 1,
                  flows=flows, clock=clock)  # fmt: skip
    order = sorted(range(len(requests)), key=lambda at: -_length(requests[at].path))
    begin = clock()
    outcomes = isolated(ask, [requests[at] for at in order], processes, limits)
    answers = dict(zip(order, outcomes, strict=True))
    asked = [_answer(answers[at], requests[at], len(requests) == 1) for at in range(len(requests))]
    program = join([one.part for one in asked], chosen)
    both = clock() - begin
    check_names(program, given)
    known = {id(facts.region): facts for one in asked for facts in one.facts}
    facts = tuple(
        known.get(id(region)) or _facts(region, program.definitions[region.id], given)
        for region in program.regions
    )
    reading, asking = sum(one.reading for one in asked), sum(one.asking for one in asked)
    share = reading / (reading + asking) if reading + asking else 1.0
    return Analysis(program, facts, {"read": share * both, "analyse": (1 - share) * both},
                    tuple(one.part.lookups for one in asked))  # fmt: skip


class _Asked(NamedTuple):
    """One file, read and analysed where it was read; how long each took, in the caller's clock."""

    part: Part
    facts: list[RegionFacts]
    reading: float
    asking: float


def _answer(outcome: _Asked | Failure, request: SourceRequest, alone: bool) -> _Asked:
    if not isinstance(outcome, Failure):
        return outcome
    return _Asked(left_out(request, outcome.reason, alone=alone), [], 0.0, 0.0)


def _read_and_ask(
    request: SourceRequest, *, given: Mapping[str, int], frontend: str, alone: bool,
    flows: bool, clock: Callable[[], float],
) -> _Asked:  # fmt: skip
    begin = clock()
    part = read_file(request, frontend, alone=alone, flows=flows)
    read = clock()
    facts = [_facts(region, definitions, given) for region, definitions in part.regions]
    return _Asked(part, facts, read - begin, clock() - read)


def _facts(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int]
) -> RegionFacts:
    return facts_of(region, bind(region, definitions, given))


def _length(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def predict(
    analysis: Analysis,
    machine: Machine,
    model: str = "density",
    combination: str = "relative-difference",
    *,
    threads: Sequence[int] = (),
    first_touch: str | None = None,
    within: float = 0.05,
    processes: int = 1,
) -> Predictions:
    """One prediction a region; `threads`, `first_touch` and `within` concern the curve alone."""
    facts = analysis.facts
    one: Callable[..., Prediction]
    of_region: list[dict[str, Any]] = [{} for _ in facts]
    if model == "saturation":
        _check_threads(threads, machine)
        given = Placement(first_touch, "as given", False) if first_touch else None
        followed = follow(analysis.program.flows)
        seen = placements(analysis.program, followed)
        places = seen if given is None else [given] * len(facts)
        of_region = [
            {"placement": place, "history": history}
            for place, history in zip(
                places, histories(analysis.program, followed), strict=True
            )
        ]  # fmt: skip
        one = partial(predict_saturation, machine=machine, threads=threads, within=within)
    else:
        one = partial(predict_density, machine=machine, combination=combination)
    work = list(zip(facts, of_region, strict=True))
    bare = spread(
        partial(_without_facts, one=one), work, min(processes, len(work) // _REGIONS_A_PROCESS)
    )
    made = tuple(replace(p, facts=own) for p, own in zip(bare, facts, strict=True))
    return Predictions(analysis, machine, model, made)


def _without_facts(
    work: tuple[RegionFacts, dict[str, Any]], *, one: Callable[..., Prediction]
) -> Prediction:
    """A prediction that leaves its facts with the caller, who has them: it may have to travel."""
    facts, of_region = work
    return replace(one(facts, **of_region), facts=cast(RegionFacts, None))


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
