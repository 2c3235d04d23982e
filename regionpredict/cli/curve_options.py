"""The options of the models, shared by `predict` and `explain`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from regionpredict.cli.number_range import NumberRange
from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from regionpredict.analysis.history.first_touch import Placement
    from regionpredict.machine import Machine
    from regionpredict.predict import DensityForm


def _checked_binding(_: click.Context, __: click.Parameter, text: str) -> str:
    from regionpredict.machine import check_binding

    try:
        return check_binding(text)
    except UsageError as error:
        remedy = f"write close, spread or caches; {error.remedy}"
        raise UsageError(f"--bind {error.message}", remedy=remedy) from None


bind_option = click.option(
    "--bind", "binding", default="close", show_default=True, metavar="PLACES",
    callback=_checked_binding,
    help="Placement of threads: close or spread (OMP_PROC_BIND), caches (one thread per L2 cache "
    "first), or a list of places as in OMP_PLACES, for example {0},{2}.",
)  # fmt: skip
MOST_THREADS = 65536  # the maximum number of cores in a machine file


_OPTIONS = (
    click.option(
        "--model", type=click.Choice(["density", "saturation"]), default="saturation",
        show_default=True, help="saturation: a speedup curve. density: a score (Chatzopoulos).",
    ),
    click.option(
        "--threads", default=None, metavar="LIST",
        help="Thread counts to choose from: 1-24 or 1,2,4.  [default: all cores]",
    ),
    click.option(
        "--first-touch", "first_touch", type=click.Choice(["parallel", "serial"]), default=None,
        help="Threads that write the data first.  [default: derived from the source]",
    ),
    click.option(
        "--pages", default=None, metavar="POLICY",
        help="Memory placement: first-touch, interleave (numactl --interleave=all), or the number "
        "of a NUMA domain (numactl --membind).",
    ),
    bind_option,
    click.option(
        "--runtime", type=click.Choice(["gcc", "llvm"]), default=None,
        help="OpenMP runtime. Its costs are used if the machine model has them.",
    ),
    click.option(
        "--within", type=NumberRange(0, 100, max_open=True), default=5.0, show_default=True,
        metavar="PERCENT",
        help="Loss of speed that a hint accepts. Another package must gain twice that.",
    ),
)  # fmt: skip


_DENSITY = (
    click.option(
        "--combination", type=click.Choice(["relative-difference", "ratio"]),
        default="relative-difference", show_default=True,
        help="Formula of the density model for its good and bad scores.",
    ),
    click.option(
        "--statement-weight", "statement_weight", type=click.Choice(["equal", "executions"]),
        default="equal", show_default=True,
        help="Weight of a statement in the density model: equal, or by executions.",
    ),
    click.option(
        "--miss-weight", "miss_weight", type=click.Choice(["reference", "element-size"]),
        default="reference", show_default=True,
        help="Weight of a streaming miss in the density model: uniform, or by bytes.",
    ),
)  # fmt: skip


def curve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --model, --threads, --first-touch, --pages, --bind, --runtime and --within, and the
    options of the density model.
    """
    for option in reversed(_OPTIONS + _DENSITY):
        command = option(command)
    return command


class RunOptions(NamedTuple):
    """The settings of the run: the values of --first-touch, --pages, --bind and --runtime."""

    first_touch: str | None
    pages: str | None
    binding: str
    runtime: str | None

    def on(self, machine: Machine) -> Machine:
        """Returns the machine with the costs of the runtime. A note reports if the machine has
        none.
        """
        from regionpredict.machine import thread_places

        if self.runtime is not None and self.runtime not in machine.by_runtime:
            click.echo(
                f"note: {machine.name} has no separate costs for the {self.runtime} runtime; "
                "using its common ones",
                err=True,
            )
        bound = machine.as_run(binding=self.binding, runtime=self.runtime)
        thread_places(bound, 1)  # raises an error for missing places
        return bound

    def placement(self, machine: Machine) -> Placement | None:
        """Returns the placement of all pages, or None if the source decides."""
        from regionpredict.analysis.history.first_touch import INTERLEAVED, first_touched, in_domain

        if self.first_touch is not None:
            return first_touched(self.first_touch)
        if self.pages is None or self.pages == "first-touch":
            return None
        if self.pages == INTERLEAVED.kind:
            return INTERLEAVED
        if not re.fullmatch("[0-9]{1,9}", self.pages) or int(self.pages) >= machine.domains:
            domains = f"0 to {machine.domains - 1}" if machine.domains > 1 else "0"
            raise UsageError(
                f"--pages {self.pages}: no such place on {machine.name}",
                remedy=f"choose first-touch, interleave, or one of its NUMA domains, {domains}",
            )
        return in_domain(int(self.pages))

    @property
    def flows(self) -> bool:
        """Whether the placement of pages is derived from the source."""
        return self.first_touch is None and self.pages in (None, "first-touch")


def density_form(
    model: str, combination: str, statement_weight: str, miss_weight: str
) -> DensityForm:
    """Returns the variant of the density model. Raises UsageError if another model is requested."""
    from regionpredict.predict import TO_THE_LETTER, DensityForm

    form = DensityForm(combination, statement_weight, miss_weight)
    if model == "saturation" and form != TO_THE_LETTER:
        names = ("--combination", "--statement-weight", "--miss-weight")
        changed = next(
            name for name, chosen, usual in zip(names, form, TO_THE_LETTER, strict=True)
            if chosen != usual
        )  # fmt: skip
        raise UsageError(f"{changed} belongs to the density model", remedy="add --model density")
    return form


def check_model_options(model: str, run: RunOptions) -> None:
    """Raises UsageError for an option of the saturation model that has no effect."""
    if run.first_touch is not None and run.pages not in (None, "first-touch"):
        raise UsageError(
            f"--first-touch {run.first_touch} with --pages {run.pages}",
            remedy="leave one out: the first touch has no effect on placed pages",
        )
    asked = (
        ("--first-touch", run.first_touch), ("--pages", run.pages),
        ("--bind", None if run.binding == "close" else run.binding), ("--runtime", run.runtime),
    )  # fmt: skip
    for name, value in asked:
        if model == "density" and value is not None:
            raise UsageError(
                f"{name} belongs to the saturation model", remedy="leave --model density out"
            )


def parse_threads(text: str | None) -> tuple[int, ...]:
    """Parses `1-24` or `1,2,4` to sorted thread counts. Empty without a text.

    >>> parse_threads("1-3,8"), parse_threads(None)
    ((1, 2, 3, 8), ())
    """
    if text is None:
        return ()
    counts: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(-?[0-9]{1,18})(?:-([0-9]{1,18}))?\s*", part)
        if match is None:
            raise UsageError(f"--threads {text}: not a list", remedy="write 1-24 or 1,2,4")
        low = int(match[1])
        high = int(match[2]) if match[2] else low
        if low < 1:
            raise UsageError(
                f"--threads {text}: {low} threads", remedy="a loop needs at least one thread"
            )
        if high < low:
            raise UsageError(
                f"--threads {text}: {high} is below {low}", remedy="write the lower one first"
            )
        if high > MOST_THREADS:
            raise UsageError(
                f"--threads {text}: {high} threads are more than any node has",
                remedy=f"at most {MOST_THREADS}, and no more than the machine's cores",
            )
        counts.update(range(low, high + 1))
    return tuple(sorted(counts))
