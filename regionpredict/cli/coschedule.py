"""`regionpredict coschedule`: assigns cores to programs that share one node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.prediction_request import read_request, repeated
from regionpredict.errors import InputError, UsageError
from regionpredict.file_presence import path_exists

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.predict import CoscheduledProgram

MOST_PROGRAMS = 4


@click.command("coschedule")
@click.argument("hints", nargs=-1, required=True, type=click.Path(path_type=Path))
@machine_option
@result_options(
    "table json slurm taskset", "slurm and taskset give the commands that start the programs."
)
@click.option("--top", default=3, show_default=True, type=click.IntRange(1), metavar="N",
              help="Number of placements to show.")  # fmt: skip
def command(
    hints: tuple[Path, ...], machine_name: str | None, form: str, top: int, output: str | None
) -> None:
    """Assign the cores of MACHINE to the programs of HINTS, and predict the cost of sharing.

    HINTS are files of regionpredict predict --format json, one per program. Their sources must
    still exist. Sharing is compared with running one program after the other. Shares are fixed, or
    change when a program reaches another region.
    """
    from regionpredict.predict import best_handover, coschedule
    from regionpredict.report.coschedule import (
        coschedule_document,
        slurm_steps,
        taskset_lines,
    )
    from regionpredict.report.rendered import rendered

    if not 2 <= len(hints) <= MOST_PROGRAMS:
        raise UsageError(
            f"{len(hints)} program{'s' * (len(hints) != 1)}",
            remedy=f"give 2 to {MOST_PROGRAMS} hints files",
        )
    if form in ("slurm", "taskset"):
        context = click.get_current_context()
        refuse_options(context, ("top",), f"does not apply to --format {form}")
    machine, _ = machine_for(machine_name)
    files = _by_program_name(hints)
    programs = [_read_program(name, path, machine, len(hints)) for name, path in files.items()]
    result = coschedule(programs, machine)
    if form == "slurm":
        text = slurm_steps(result, files)
    elif form == "taskset":
        text = taskset_lines(result, machine, files)
    else:
        shown = coschedule_document(result, machine, top, best_handover(programs, machine))
        text = rendered(shown, form)
    write_result(text, output)


def _by_program_name(hints: Sequence[Path]) -> dict[str, Path]:
    """Maps the names of the programs to their hints files. Equal names are numbered.

    >>> list(_by_program_name([Path("a/h.json"), Path("b/h.json"), Path("c.json")]))
    ['h (1)', 'h (2)', 'c']
    """
    stems = [path.stem for path in hints]
    return {
        stem if stems.count(stem) == 1 else f"{stem} ({stems[:place].count(stem) + 1})": path
        for place, (stem, path) in enumerate(zip(stems, hints, strict=True))
    }


def _check_regions(path: Path, current_regions: Collection[str]) -> None:
    """Raises InputError if a region of the hints is missing from the current sources, because they
    moved or changed.
    """
    from regionpredict.measure.hints_document import read_hints_document

    document = read_hints_document(path)
    for region in document.inner_records("regions"):
        name = region.text("id")
        if name not in current_regions:
            raise InputError(
                f"its region {name} is in none of the sources that it names here", path=str(path),
                remedy="run this in the folder where the hints were made, or make new hints",
            )  # fmt: skip


def _read_program(name: str, path: Path, machine: Machine, sharers: int) -> CoscheduledProgram:
    """Returns the program of a hints file on the machine, with whole caches and with parts of
    them.
    """
    from regionpredict.predict import CoscheduledProgram, phases_of, with_cache_share

    request = replace(read_request(path), model="saturation", threads=(), binding="close")
    gone = next((source for source in request.paths if not path_exists(source)), None)
    if gone is not None:
        raise InputError(
            f"its source {gone} is not here", path=str(path),
            remedy="run this where the hints were made, or make new hints",
        )  # fmt: skip
    alone = repeated(request, machine)
    _check_regions(path, {facts.region.id for facts in alone.analysis.facts})
    beside = repeated(request, with_cache_share(machine, sharers), analysis=alone.analysis)
    phases = phases_of(alone.teams, beside.teams)
    if not phases:
        raise InputError(
            "no parallel region has a predicted time",
            path=str(path),
            remedy="set the sizes that it depends on",
        )
    opened = tuple(team.facts.id for team in alone.teams if team.range is not None)
    return CoscheduledProgram(name, phases, alone.changes, opened)
