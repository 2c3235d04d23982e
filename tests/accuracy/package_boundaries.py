"""Both models on machines with several packages: `package_boundaries.py DATA [--update]`.

Published measurements are replayed as campaigns, and judged as `regionpredict compare` judges a
campaign of its own. Prints the success per package boundary; with `--update` writes it into
docs/thesis.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from datasets import read_all
from evaluate import Answered, answers_of, outlook_and_hint
from measured import Case, DataSet
from predictor import FULL, machine_named
from tables import percent, table_of, updated

from regionpredict.compare.verdicts import CRITERIA, compare
from regionpredict.machine import Machine
from regionpredict.measure.hints_file import Hint, Hints
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.summary import summarise

PAGE = Path(__file__).resolve().parents[2] / "docs" / "thesis.md"
RULES = dict(zip(CRITERIA, ("the fewest within 10 %", "the area of decision"), strict=True))


class Boundary(NamedTuple):
    """Whether each region needs more than `below` packages: measured, and by each model."""

    data: str
    machine: str
    rule: str
    below: int
    needed: tuple[bool, ...]
    hinted: Mapping[str, tuple[bool, ...]]

    @property
    def right(self) -> list[int]:
        """The right answers: of each model, of always more, and of always fewer."""
        answers = [*self.hinted.values(), (True,) * len(self.needed), (False,) * len(self.needed)]
        return [sum(a == b for a, b in zip(one, self.needed, strict=True)) for one in answers]

    @property
    def shares(self) -> list[float]:
        """The shares of the right answers."""
        return [right / len(self.needed) for right in self.right]


def by_machine(data: DataSet) -> list[DataSet]:
    """The data set of each machine with several packages, of cases that measured whole packages,
    with threads close together and one per core.
    """
    found: dict[str, list[Case]] = {}
    for case in data.cases:
        machine = _machine(case)
        each = machine.cores_per_package
        whole = set(range(each, machine.cores + 1, each))
        close = case.code.binding == "close" and max(case.measured) == machine.cores
        if machine.packages > 1 and close and whole <= {*case.measured}:
            found.setdefault(case.machine, []).append(case)
    return [replace(data, cases=tuple(cases)) for cases in found.values()]


def _machine(case: Case) -> Machine:
    return machine_named(case.machine)


def campaign_of(data: DataSet) -> Campaign:
    """The measurements as if one program had all cases as its regions."""
    machine = _machine(data.cases[0])
    host = Host(machine.name, "", machine.packages, machine.cores_per_package,
                machine.threads_per_core, machine.domains_per_package)  # fmt: skip
    runs = tuple(
        Run(
            threads=threads, repetition=1, warm_up=False, wall_s=0.0, started="", load=0.0,
            program="", compiler="", runtime="",
            regions=tuple(
                _run(case, place, threads) for place, case in enumerate(data.cases, 1)
                if threads in case.measured
            ),
        )
        for threads in sorted({threads for case in data.cases for threads in case.measured})
    )  # fmt: skip
    return Campaign((data.name,), host, {}, "", runs)


def _run(case: Case, place: int, threads: int) -> RegionRun:
    seconds = case.measured[threads]
    return RegionRun(
        file=data_file(place),
        line=place,
        loop_line=place,
        function=case.label,
        directive="parallel for",
        build="",
        executions=1,
        total_s=seconds,
        least_s=seconds,
        most_s=seconds,
        first_s=seconds,
        counted=0,
        trips=0,
        least_trips=0,
        most_trips=0,
        least_team=threads,
        most_team=threads,
    )


def data_file(place: int) -> str:
    """The file of a case, in which its line is the number of the case."""
    return f"case{place}.c"


def hints_of(data: DataSet, packages: Sequence[int | None], model: str) -> Hints:
    """The packages that a model hints for each case."""
    machine = _machine(data.cases[0])
    hints = tuple(
        Hint(
            id=f"{data_file(place)}:{place}", file=data_file(place), line=place, loop_line=place,
            function=case.label, status="predicted" if hinted else "skipped", packages=hinted,
            threads=None, score=None, bottleneck=None, confidence=0.0, borderline=False,
            speedup={}, assumed=(),
        )
        for place, (case, hinted) in enumerate(zip(data.cases, packages, strict=True), 1)
    )  # fmt: skip
    return Hints("", machine.name, machine.packages, machine.cores_per_package, model, hints)


def boundaries_of(data: DataSet, packages: Mapping[str, Sequence[int | None]]) -> list[Boundary]:
    """The boundaries of one machine by both rules, over the regions that all models have a hint
    for. `packages` are the hints of each model.
    """
    machine, campaign = _machine(data.cases[0]), campaign_of(data)
    shape = f"{machine.packages} x {machine.cores_per_package} cores ({machine.name})"
    found = []
    for criterion, rule in RULES.items():
        verdicts = [
            compare(hints_of(data, hinted, model), summarise(campaign), criterion=criterion,
                    host=campaign.host).verdicts
            for model, hinted in packages.items()
        ]  # fmt: skip
        judged = [own for own in zip(*verdicts, strict=True) if None not in {v.right for v in own}]
        found += [
            Boundary(
                data.name, shape, rule, below,
                tuple((own[0].needed or 0) > below for own in judged),
                {
                    model: tuple((own[at].hinted or 0) > below for own in judged)
                    for at, model in enumerate(packages)
                },
            )
            for below in range(1, machine.packages) if judged
        ]  # fmt: skip
    return found


def answered_packages(one: Answered) -> dict[str, list[int | None]]:
    """The packages that each model hints for the cases."""
    answers = [known[FULL.name] for known in one.answers]
    return {
        "density": [answer.density_packages for answer in answers],
        "saturation": [
            outlook_and_hint(case, answer)[1].packages
            for case, answer in zip(one.data.cases, answers, strict=True)
        ],
    }


def table(found: Sequence[Boundary]) -> str:
    """A row per boundary, and per rule the mean over the rows."""
    lines = []
    for rule in RULES.values():
        own = [boundary for boundary in found if boundary.rule == rule]
        lines += [
            [one.data, one.machine, rule, f"{one.below} to {one.below + 1}",
             *(f"{percent(share)} ({right} of {len(one.needed)})"
               for share, right in zip(one.shares, one.right, strict=True))]
            for one in own
        ]  # fmt: skip
        means = [
            percent(fmean(column)) for column in zip(*(one.shares for one in own), strict=True)
        ]
        lines += [["*mean of the rows*", "", rule, "", *means]] if own else []
    return table_of(
        ["data", "machine", "right is", "boundary", "density", "saturation", "always more",
         "always fewer"], lines,
    )  # fmt: skip


def sources(sets: Sequence[DataSet]) -> str:
    """A line per data set: what was measured, and the source."""
    return "\n".join(f"- {own.name}: {own.what}. {own.source}." for own in sets)


def main(arguments: Sequence[str]) -> int:
    """Prints the table. 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="package_boundaries.py")
    parser.add_argument("data", type=Path, help="the folder with the measurements")
    parser.add_argument("--update", action="store_true", help="write the table into docs/thesis.md")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    sets = [own for data in read_all(options.data) for own in by_machine(data)]
    if not sets:
        print(f"package_boundaries.py: {options.data} has no measurements of several packages")
        return 2
    found = [
        boundary
        for one in answers_of(sets, processes=options.processes)
        for boundary in boundaries_of(one.data, answered_packages(one))
    ]
    text = f"{table(found)}\n\n{sources(sets)}"
    print(text)
    if options.update:
        PAGE.write_text(updated(PAGE.read_text(), "packages", text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
