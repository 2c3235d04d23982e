"""Describes the input to which a recommendation applies, and the options for another input.

Sizes: lulesh.cc without arguments (27000 iterations in lulesh.cc:1009).
Options: --format slurm for a job script, --args '...' for other sizes.
"""

from __future__ import annotations

from pathlib import PurePath

from regionpredict.machine import Machine
from regionpredict.predict import Recommendation, size_target
from regionpredict.predict.teams import region_seconds
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.quantities import show_count

_KNOWN = {
    "large": "assumed large, {}",
    "typical": "{} {}",
    "defaults": "{} {}",
    "run": "a recorded run",
    "given": "as given",
    "source": "from the source",
}
_OTHER = {"typical": "--args '...'", "defaults": "--args '...'", "run": "--sizes-from",
          "source": "-D NAME=VALUE"}  # fmt: skip
"""The options that set other sizes, by the origin of the sizes. The default is --set."""


def input_lines(result: ProgramResult) -> list[str]:
    """Returns the sizes to which the recommendation applies, and the options for a job script and
    other sizes.

    The sizes include the iterations of the most expensive loop. Empty without a recommendation.
    """
    hint = result.recommended.together
    if hint is None:
        return []
    option = _OTHER.get(hint.sizes_from, "--set NAME=VALUE")
    return [
        sizes_sentence(hint, result.machine, result.arguments, _longest_loop(result)),
        f"Options: --format slurm for a job script, {option} for other sizes.",
    ]


def sizes_sentence(
    hint: Recommendation, machine: Machine, arguments: str = "", example: str = ""
) -> str:
    """Returns the origin of the sizes to which a recommendation applies, followed by an example of
    a size. `arguments` are those of the program.
    """
    large = hint.sizes_from == "large"
    source = size_target(machine).reason if large else PurePath(hint.main).name or "the programs"
    run = "with the given arguments" if arguments else "without arguments"
    return f"Sizes: {_KNOWN[hint.sizes_from].format(source, run)}{example}."


def _longest_loop(result: ProgramResult) -> str:
    """Describes the longest loop, such as ` (27000 iterations in lulesh.cc:1009)`. Empty if its
    number of iterations is unknown.
    """
    times = region_seconds(result.predictions, result.teams)
    timed = [own for own in result.predictions if times.get(own.facts.region.id)]
    if not timed:
        return ""
    loop = max(timed, key=lambda own: times[own.facts.region.id])
    count = loop.facts.iterations.value
    span = loop.facts.region.span
    if not isinstance(count, int):
        return ""
    return f" ({show_count(count)} iterations in {span.short})"
