"""`regionpredict bench`: measures the thesis' synthetic loops on this host, and compares both
models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from regionpredict.cli.curve_options import parse_threads
from regionpredict.cli.durations import parse_duration
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.number_range import NumberRange
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.quiet_host import QuietHost, note_once
from regionpredict.cli.this_host import allowed_threads, first_compiler, free_bytes
from regionpredict.errors import InputError, UsageError
from regionpredict.scratch_folder import scratch_folder

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.model_sweeps import ModelAnswer, SyntheticLoop
    from regionpredict.report.bench import BenchRow

_CUSTOM = "own"
_QUIET_WAIT_S = 10.0
_PATTERNS = ("streaming", "random")


@click.command("bench")
@machine_option
@click.option("--threads", default=None, metavar="LIST",
              help="Thread counts, such as 1,2,4 or 1-24. Default: 1 and all cores.")  # fmt: skip
@click.option(
    "--dimensions",
    default=None,
    type=click.IntRange(1, 3),
    metavar="N",
    help="Measure one loop of your own, on an array of this many dimensions.",
)
@click.option("--order", default=None, metavar="ORDER",
              help="Order of the loops: i, ij, ji, ijk, ... kji; i counts the first "
              "dimension.")  # fmt: skip
@click.option("--operations", default=None, type=click.IntRange(1, 10_000), metavar="N",
              help="Operations on each element of the loop.")  # fmt: skip
@click.option("--working-set", default=None, type=NumberRange(0.001, 64), metavar="X",
              help="Size of the loop's array, in multiples of the largest cache.")  # fmt: skip
@click.option("--pattern", default=None, type=click.Choice(_PATTERNS),
              help="Order of accesses: streamed or at random.")  # fmt: skip
@click.option("--cc", "compiler", default=None, metavar="COMPILER", help="The C compiler.")
@click.option("--time-budget", default="2m", show_default=True, metavar="TIME",
              help="Stop measuring after this time, even if loops remain.")  # fmt: skip
@result_options("table csv html")
def command(
    machine_name: str | None, threads: str | None, dimensions: int | None, order: str | None,
    operations: int | None, working_set: float | None, pattern: str | None, compiler: str | None,
    time_budget: str, form: str, output: str | None,
) -> None:  # fmt: skip
    """Measure synthetic loops on this host, and compare them with both models.

    Without options for a loop of your own: working set, operations, stride and order of loops as in
    figures 4.2 to 4.8 of the thesis. MACHINE is this host's model.
    """
    from regionpredict.measure.synthetic_run import synthetic_times
    from regionpredict.model_sweeps import loops_source, model_answers, order_loops, sweep_loops
    from regionpredict.report.bench import bench_document
    from regionpredict.report.machine import convergence_sentence
    from regionpredict.report.quantities import show_bytes
    from regionpredict.report.rendered import rendered

    own = _own_loop(dimensions, order, operations, working_set, pattern)
    budget = parse_duration(time_budget, "--time-budget")
    machine, _ = machine_for(machine_name or "host")
    asked = parse_threads(threads)
    cores = len(allowed_threads(tuple(range(machine.cores))))
    counts = sorted({1, *(asked or (min(machine.cores, cores),))})
    loops = (own,) if own is not None else (*sweep_loops(), *order_loops())
    largest = max(loop.bytes_on(machine) for loop in loops)
    if largest > free_bytes():
        raise InputError(
            f"the largest loop needs {show_bytes(largest)}, more than the host's free memory",
            remedy="give a smaller --working-set",
        )
    with scratch_folder() as folder:
        models = folder / "models.c"
        models.write_text(loops_source(machine, loops), encoding="utf-8")
        answers = model_answers(machine, models, counts)
        text = loops_source(machine, loops, timed=True)
        quiet = QuietHost(_QUIET_WAIT_S, note_once())
        quiet.wait()
        times = synthetic_times(text, counts, compiler or first_compiler(), folder, budget)
    if busy := quiet.remark():
        click.echo(f"warning: {busy}", err=True)
    for sentence in convergence_sentence(machine):
        click.echo(f"warning: {sentence}", err=True)
    rows = _result_rows(loops, answers, times, counts, machine)
    left = len(loops) * len(counts) - len(times)
    if left:
        click.echo(
            f"warning: {left} of {len(loops) * len(counts)} times are missing: the budget of "
            f"{time_budget} ended; raise --time-budget", err=True,
        )  # fmt: skip
    result = rendered(bench_document(machine.name, _figure_axes(), rows), form)
    write_result(result, output, verbatim=form != "table")


def _own_loop(
    dimensions: int | None, order: str | None, operations: int | None, working_set: float | None,
    pattern: str | None,
) -> SyntheticLoop | None:  # fmt: skip
    """Returns the loop that the options describe, or None without such options. Raises UsageError
    for impossible values.
    """
    from regionpredict.model_sweeps import RANDOM, STREAMING, SyntheticLoop

    if {dimensions, order, operations, working_set, pattern} == {None}:
        return None
    count = dimensions or len(order or "i")
    letters = "ijk"[:count]
    if order is not None and sorted(order) != list(letters):
        known = ", ".join("".join(way) for way in itertools.permutations(letters))
        raise UsageError(f"--order {order}: not for {count} dimensions", remedy=f"give {known}")
    if pattern == RANDOM and count > 1:
        raise UsageError(
            "--pattern random needs one dimension", remedy="leave out --dimensions and --order"
        )
    return SyntheticLoop(
        _CUSTOM, 1, 10.0 if working_set is None else working_set,
        1 if operations is None else operations, order or letters, pattern=pattern or STREAMING,
    )  # fmt: skip


def _figure_axes() -> dict[str, str]:
    from regionpredict.model_sweeps import ORDER_FIGURES, SWEEP_AXES

    orders = {
        name: f"order of loops ({', '.join(f'{n} {order}' for n, order in enumerate(known, 1))}), "
        f"working set {share} x the largest cache"
        for name, share, known in ORDER_FIGURES
    }
    return {**SWEEP_AXES, **orders, _CUSTOM: "the loop"}


def _result_rows(
    loops: Sequence[SyntheticLoop], answers: Sequence[ModelAnswer],
    times: dict[tuple[int, int], float], counts: Sequence[int], machine: Machine,
) -> list[BenchRow]:  # fmt: skip
    from regionpredict.report.bench import BenchRow

    return [
        BenchRow(
            figure=loop.figure, x=float(loop.x), loop=loop.shown,
            working_set_bytes=loop.bytes_on(machine), iterations=loop.iterations(machine),
            dimensions=len(loop.order), order=loop.order, operations=loop.operations,
            stride=loop.stride, pattern=loop.pattern, threads=count,
            seconds=times.get((place, count)), predicted_seconds=answer.seconds.get(count),
            alone=times.get((place, 1)), predicted_alone=answer.seconds.get(1),
            score=answer.score,
        )
        for place, (loop, answer) in enumerate(zip(loops, answers, strict=True))
        for count in counts
    ]  # fmt: skip
