"""Holds facts against truths: exact, withheld, at most (a bound that says it is one), or wrong."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from programs import RandomProgram, program
from twin import Truth, source_of, truths

from regionpredict.analysis import RegionFacts, StatementFact
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

FRONTENDS = ("libclang", "pycparser")
QUESTIONS = ("iterations", "executions", "working set", "operations", "references", "front ends")
BATCH = 50


class Verdict(NamedTuple):
    """One answer: `seed` of the program, what was asked (with the line), how it came out."""

    seed: int
    frontend: str
    question: str
    outcome: str  # 'exact' | 'withheld' | 'at most' | 'wrong'
    told: str


def programs_from(seeds: Sequence[int]) -> Iterator[tuple[list[RandomProgram], list[Truth]]]:
    """The programs of the seeds, in batches, with what they do; without those that run astray."""
    for begin in range(0, len(seeds), BATCH):
        batch = [program(seed) for seed in seeds[begin : begin + BATCH]]
        known = truths(batch)
        kept = [(one, truth) for one, truth in zip(batch, known, strict=True) if truth is not None]
        yield [one for one, _ in kept], [truth for _, truth in kept]


def facts_of(batch: Sequence[RandomProgram], frontend: str) -> list[RegionFacts]:
    """The facts of each program's region, from one file."""
    text, _ = source_of(batch, twin=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "random.c")
        path.write_text(text)
        facts = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    by_function = {one.region.function: one for one in facts}
    return [by_function[one.name] for one in batch]


def judged(batch: Sequence[RandomProgram], known: Sequence[Truth]) -> Iterator[Verdict]:
    """All verdicts on a batch."""
    _, firsts = source_of(batch, twin=False)
    told: dict[str, list[RegionFacts]] = {name: facts_of(batch, name) for name in FRONTENDS}
    for position, one in enumerate(batch):
        for frontend in FRONTENDS:
            facts, truth = told[frontend][position], known[position]
            for question, outcome, detail in _verdicts(facts, truth, firsts[position]):
                yield Verdict(one.seed, frontend, question, outcome, detail)
        left, right = (_digest(told[frontend][position]) for frontend in FRONTENDS)
        same = "exact" if left == right else "wrong"
        differ = "" if left == right else str([(a, b) for a, b in zip(left, right, strict=False)
                                               if a != b][:1])  # fmt: skip
        yield Verdict(one.seed, "both", "front ends", same, differ)


def _outcome(value: int | None, true: int, *, at_most: bool) -> str:
    if value is None:
        return "withheld"
    if at_most and value >= true:
        return "at most"
    return "exact" if value == true else "wrong"


def _verdicts(facts: RegionFacts, truth: Truth, first: int) -> Iterator[tuple[str, str, str]]:
    shared = facts.iterations
    yield ("iterations", _outcome(shared.value, truth.iterations, at_most=shared.at_most),
           f"{shared} for {truth.iterations}")  # fmt: skip
    by_line: dict[int, list[StatementFact]] = {}
    for fact in facts.statements:
        by_line.setdefault(fact.statement.span.line - first, []).append(fact)
    incomplete = facts.status != "complete"
    for line, runs in truth.runs.items():
        found = by_line.get(line, [])
        if not found:
            if runs:
                yield ("executions", "withheld" if incomplete else "wrong",
                       f"line {line}: no statement for {runs}")  # fmt: skip
            continue
        yield _executions(line, found, runs)
        if line in truth.operations:
            yield _operations(line, found, truth)
            yield _references(line, found, truth, facts)
    size = facts.working_set
    yield ("working set", _outcome(size.value, truth.working_set, at_most=size.at_most),
           f"{size} for {truth.working_set}")  # fmt: skip


def _executions(line: int, found: list[StatementFact], runs: int) -> tuple[str, str, str]:
    """The statements of one line with one text are one statement, in several places."""
    totals: dict[str, int | None] = {}
    at_most = any(fact.executions.at_most for fact in found)
    for fact in found:
        before, value = totals.get(fact.statement.text, 0), fact.executions.value
        totals[fact.statement.text] = None if before is None or value is None else before + value
    outcomes = [_outcome(value, runs, at_most=at_most) for value in totals.values()]
    worst = max(outcomes, key=["exact", "at most", "withheld", "wrong"].index)
    return "executions", worst, f"line {line}: {list(totals.values())} for {runs}"


def _operations(line: int, found: list[StatementFact], truth: Truth) -> tuple[str, str, str]:
    mine: Counter[tuple[str, int]] = Counter()
    for fact in {fact.statement.text: fact for fact in found}.values():
        for operation, number in fact.statement.operations:
            mine[(operation.arithmetic, operation.bits)] += number
    true = truth.operations[line]
    return ("operations", "exact" if mine == true else "wrong",
            f"line {line}: {sorted(mine.items())} for {sorted(true.items())}")  # fmt: skip


def _references(
    line: int, found: list[StatementFact], truth: Truth, facts: RegionFacts
) -> tuple[str, str, str]:
    private = {array.name for array in facts.region.arrays if array.storage == "private"}
    mine: Counter[tuple[str, str, int]] = Counter()
    for fact in {fact.statement.text: fact for fact in found}.values():
        for one in fact.statement.accesses:
            if one.array not in private:
                mine[(_named(one.array), one.kind, one.bytes)] += 1
    true = truth.references[line]
    exact = mine == true
    said = any(note.id in ("RP106", "RP111") for note in facts.region.diagnostics)
    outcome = "exact" if exact else "withheld" if said else "wrong"
    return ("references", outcome,
            f"line {line}: {sorted(mine.items())} for {sorted(true.items())}")  # fmt: skip


def _named(array: str) -> str:
    """The array itself: of `cells[].v`, and of `y@float32`, a view of it."""
    return array.partition("[].")[0].partition("@")[0]


def _digest(facts: RegionFacts) -> list[str]:
    """What both front ends must agree on, a line each."""
    return [
        f"iterations {facts.iterations}",
        f"working set {facts.working_set}",
        *(f"{one.statement.span.line} {one.executions} {one.statement.operations}"
          f" {[(a.access.array, a.access.kind, a.access.subscripts) for a in one.accesses]}"
          for one in facts.statements),
    ]  # fmt: skip
