"""Documents programs that share a node, also as JSON and as commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from regionpredict.machine import Machine
from regionpredict.predict import Allocation, Coschedule, Handover, Part
from regionpredict.predict.constants import COSCHEDULE_GAIN
from regionpredict.quoting import shell_comment, shell_word
from regionpredict.report.document import Block, Cell, Column, Document, Section, Table, Text
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.names import several
from regionpredict.report.quantities import plural, show_factor, show_seconds

_NAMED = 4  # parallel regions named in a message about sizes
_STEPS = 12  # shown steps of a schedule


def coschedule_document(
    result: Coschedule, machine: Machine, top: int, over_time: Handover | None = None
) -> Document:
    """Returns the verdict, the `top` ways to share the node, and the schedule that moves cores."""
    alone = f"Alone on {machine.name}, each by its plan, one after the other"
    tables: list[Block] = [
        _share_table(alone, result.sequential_seconds, result.alone, shared=False)
    ]
    tables += [
        _share_table(_allocation_text(way), way.seconds, way.parts)
        for way in result.allocations[:top]
    ]
    sections = [
        Section("Programs", tables),
        Section("Schedule", [] if over_time is None else [_schedule_blocks(over_time)]),
    ]
    lead = [_verdict_text(result), *assumed_size_lines(result)]
    return Document("Programs that share a node", lead, sections,
                    lambda: _json_record(result, machine, top, over_time))  # fmt: skip


def _share_table(
    title: str, seconds: float, parts: Sequence[Part], *, shared: bool = True
) -> Table:
    columns = [Column("Program", cut=True), Column("Cores", str), Column("Time", show_seconds),
               Column("Slowdown", show_factor, optional=True)]  # fmt: skip
    rows: list[list[Cell]] = [
        [part.name, part.cores, part.seconds, part.slowdown if shared else None] for part in parts
    ]
    return Table(f"{title}: {show_seconds(seconds)}", columns, rows)


def _schedule_blocks(schedule: Handover) -> Block:
    shares = ", ".join(
        f"{name} {plural(cores, 'core')}"
        for name, cores in zip(schedule.names, schedule.fixed_cores, strict=True)
    )
    title = (
        "Cores that move between the programs after each region: "
        f"{show_seconds(schedule.seconds)}. Simulated region by region, taking turns takes "
        f"{show_seconds(schedule.turns_seconds)}, and the best fixed cores take "
        f"{show_seconds(schedule.fixed_seconds)} ({shares})."
    )
    if schedule.over_turns < COSCHEDULE_GAIN.value or schedule.over_fixed < COSCHEDULE_GAIN.value:
        return Text(title)
    rows: list[list[Cell]] = [
        [step.begin, name, turn.threads or ("waits", 0), turn.region]
        for step in schedule.steps[:_STEPS]
        for name, turn in zip(schedule.names, step.turns, strict=True)
        if turn.region
    ]
    columns = [
        Column("From", show_seconds), Column("Program", cut=True), Column("Cores", str),
        Column("Region", cut=True),
    ]  # fmt: skip
    more = plural(len(schedule.steps) - _STEPS, "more step")
    legend = [f"... {more}; all: --format json"] if len(schedule.steps) > _STEPS else []
    return Table(title, columns, rows, legend=legend)


def assumed_size_lines(result: Coschedule) -> list[str]:
    """Returns a line about assumed sizes. Empty if no assumed size decides."""
    if not result.open:
        return []
    every = [team for teams in result.open.values() for team in teams]
    return [
        f"sizes assumed large: {several(every, _NAMED)}; predict {', '.join(result.open)} with "
        "--set"
    ]


def _verdict_text(result: Coschedule) -> str:
    if not result.allocations:
        return "take turns: there are fewer cores than programs"
    best = result.allocations[0]
    gain = result.sequential_seconds / best.seconds if best.seconds else 1.0
    if result.shares:
        return f"share, {_allocation_text(best)}: {gain:.2f} times as fast as taking turns"
    if gain > 1.0:
        return f"take turns: the best way to share is only {gain:.2f} times as fast"
    return f"take turns: the best way to share takes {1 / gain:.2f} times as long"


def _allocation_text(allocation: Allocation) -> str:
    if allocation.kind == "packages":
        return "separate packages"
    return "cores of every NUMA domain"


def _json_record(
    result: Coschedule, machine: Machine, top: int, over_time: Handover | None
) -> dict[str, Any]:  # fmt: skip
    return {
        "schema": "regionpredict/coschedule/1", "machine": machine.name,
        **fields_of(result, "open", share="shares", turns_seconds="sequential_seconds"),
        "alone": [
            {**plain(part), "sizes": dict(result.sizes.get(part.name, {}))}
            for part in result.alone
        ],
        "allocations": [
            fields_of(allocation, "kind seconds", programs="parts")
            for allocation in result.allocations[:top]
        ],
        "over_time": None if over_time is None else _over_time_document(over_time),
    }  # fmt: skip


def _over_time_document(schedule: Handover) -> dict[str, Any]:
    return {
        **fields_of(schedule, "seconds turns_seconds fixed_seconds"),
        "fixed_cores": dict(zip(schedule.names, schedule.fixed_cores, strict=True)),
        "ended": dict(zip(schedule.names, schedule.ended, strict=True)),
        "steps": [
            {
                **fields_of(step, "begin seconds"),
                "programs": {
                    name: plain(turn)
                    for name, turn in zip(schedule.names, step.turns, strict=True) if turn.region
                },
            }
            for step in schedule.steps
        ],
    }  # fmt: skip


def slurm_steps(result: Coschedule, hints: Mapping[str, Path]) -> str:
    """Returns the job steps of an exclusive node, in the background if programs run at the same
    time.

    `hints` has the hints file of each program. If a program has whole packages, Slurm fills one
    socket after the other. If it has cores of every NUMA domain, Slurm distributes cores over the
    sockets in turn.
    """
    own_packages = not result.shares or result.allocations[0].kind == "packages"
    where = "block:block" if own_packages else "block:cyclic"
    return _bound_commands(result, hints, [
        f"srun --exact --ntasks=1 --cpus-per-task={part.cores} --distribution={where} "
        "--cpu-bind=cores" for part in _shares_of_faster_way(result)
    ])  # fmt: skip


def taskset_lines(result: Coschedule, machine: Machine, hints: Mapping[str, Path]) -> str:
    """Returns shell commands that pin each program to its cores, which are numbered package by
    package. `hints` is as in `slurm_steps`.
    """
    spread = result.shares and result.allocations[0].kind == "cores"
    parts, each = _shares_of_faster_way(result), machine.cores_per_domain
    widths = [part.cores // machine.domains if spread else part.cores for part in parts]
    begins = list(accumulate(widths, initial=0)) if result.shares else [0] * len(parts)
    starts = []
    for begin, wide in zip(begins, widths, strict=False):
        firsts = [domain * each + begin for domain in range(machine.domains if spread else 1)]
        ranges = [f"{at}-{at + wide - 1}" if wide > 1 else str(at) for at in firsts]
        starts.append(f"taskset -c {','.join(ranges)}")
    return _bound_commands(result, hints, starts)


def _bound_commands(result: Coschedule, hints: Mapping[str, Path], starts: Sequence[str]) -> str:
    """Returns the commands of the programs, each after the `starts` that bind it to its cores."""
    end = " &" if result.shares else ""
    lines = [
        f"OMP_NUM_THREADS={part.cores} {start} {_program_command(part, result, hints)}{end}"
        for part, start in zip(_shares_of_faster_way(result), starts, strict=True)
    ]
    return "\n".join([*_head_comments(result), *lines, *(["wait"] if end else [])]) + "\n"


def _program_command(part: Part, result: Coschedule, hints: Mapping[str, Path]) -> str:
    """Returns the command. `regionpredict run` sets threads that differ between regions."""
    program = f"./{shell_word(hints[part.name].stem)}"
    if not result.several_sizes(part.name):
        return program
    return f"regionpredict run --hints {shell_word(str(hints[part.name]))} -- {program}"


def _head_comments(result: Coschedule) -> list[str]:
    """Returns comments and settings for pinned threads, which the times assume."""
    comments = [shell_comment(line) for line in assumed_size_lines(result)]
    names = [part.name for part in result.alone if result.several_sizes(part.name)]
    if names:
        comments.append(
            shell_comment(
                f"{', '.join(names)}: regionpredict run sets the threads of each region; "
                "compile with -g"
            )
        )
    return [*comments, "export OMP_PLACES=cores", "export OMP_PROC_BIND=close"]


def _shares_of_faster_way(result: Coschedule) -> tuple[Part, ...]:
    """Returns the cores of each program in the faster schedule."""
    return result.allocations[0].parts if result.shares else result.alone
