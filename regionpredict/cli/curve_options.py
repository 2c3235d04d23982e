"""The options of the models, shared by `predict` and `explain`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from regionpredict.cli.number_range import NumberRange
from regionpredict.cli.progress import StageLine
from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from regionpredict.analysis.history.first_touch import Placement
    from regionpredict.machine import Machine
    from regionpredict.pipeline import Analysis, Predictions
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


class CurveOptions(NamedTuple):
    """The values of `curve_options`. `within` is a percentage."""

    model: str
    combination: str
    statement_weight: str
    miss_weight: str
    threads: tuple[int, ...]
    first_touch: str | None
    pages: str | None
    binding: str
    runtime: str | None
    within: float

    def check(self) -> None:
        """Raises UsageError for an option of one model that has no effect on the other."""
        from regionpredict.predict import TO_THE_LETTER

        if self.first_touch is not None and self.pages not in (None, "first-touch"):
            raise UsageError(
                f"--first-touch {self.first_touch} with --pages {self.pages}",
                remedy="leave one out: the first touch has no effect on placed pages",
            )
        bound = None if self.binding == "close" else self.binding
        asked = {"--first-touch": self.first_touch, "--pages": self.pages, "--bind": bound,
                 "--runtime": self.runtime}  # fmt: skip
        named = next((name for name, value in asked.items() if value is not None), None)
        if self.model == "density" and named is not None:
            raise UsageError(
                f"{named} belongs to the saturation model", remedy="leave --model density out"
            )
        names = ("--combination", "--statement-weight", "--miss-weight")
        forms = zip(names, self.density, TO_THE_LETTER, strict=True)
        changed = next((name for name, chosen, usual in forms if chosen != usual), None)
        if self.model == "saturation" and changed is not None:
            raise UsageError(
                f"{changed} belongs to the density model", remedy="add --model density"
            )

    @property
    def density(self) -> DensityForm:
        """The variant of the density model."""
        from regionpredict.predict import DensityForm

        return DensityForm(self.combination, self.statement_weight, self.miss_weight)

    def on(self, machine: Machine) -> Machine:
        """Returns the machine with the costs of the runtime. A note reports if the machine has
        none. Raises UsageError for places of threads or pages that it does not have.
        """
        from regionpredict.machine import thread_places

        if self.runtime is not None and self.runtime not in machine.by_runtime:
            click.echo(
                f"note: {machine.name} has no separate costs for the {self.runtime} runtime; "
                "using its common ones",
                err=True,
            )
        bound = machine.as_run(binding=self.binding, runtime=self.runtime)
        thread_places(bound, 1)
        self.placement(bound)
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
        derived = self.first_touch is None and self.pages in (None, "first-touch")
        return self.model == "saturation" and derived

    def predict(self, analysis: Analysis, machine: Machine, **settings: Any) -> Predictions:
        """Predicts the regions on a machine, and shows the progress. `settings` are other arguments
        of `pipeline.predict`.
        """
        from regionpredict.pipeline import predict

        with StageLine() as line:
            return predict(
                analysis, machine, self.model, self.density, threads=self.threads,
                pages=self.placement(machine), within=self.within / 100, tell=line, **settings,
            )  # fmt: skip


def curve_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --model, --threads, --first-touch, --pages, --bind, --runtime and --within, and the
    options of the density model. The command receives them as `curve`.
    """

    @functools.wraps(function)
    def command(threads: str | None, **options: Any) -> Any:
        own = {name: options.pop(name) for name in CurveOptions._fields if name != "threads"}
        return function(curve=CurveOptions(threads=parse_threads(threads), **own), **options)

    for option in reversed(_OPTIONS + _DENSITY):
        command = option(command)
    return command


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
