"""Sizes that no 64-bit machine can have are refused: a wrong input, not a prediction."""

from __future__ import annotations

from regionpredict.analysis import RegionFacts
from regionpredict.errors import InputError
from regionpredict.workload.constants import ADDRESS_SPACE, LARGEST_COUNT


def check_sizes(facts: RegionFacts) -> None:
    """Raises InputError where the region counts further than 64 bits or touches more than 128 TiB.

    Only numbers that somebody gave count: a size that the tool itself guessed is never that large.
    """
    span = facts.region.span
    iterations, touched = facts.iterations.value, facts.working_set.value
    what = ""
    if iterations is not None and iterations > LARGEST_COUNT.value:
        what = f"{float(iterations):.3g} iterations do not fit 64 bits"
    elif touched is not None and touched > ADDRESS_SPACE.value:
        what = f"its data of {float(touched):.3g} bytes is more than a process can address, 128 TiB"
    if what:
        sizes = {n: v for n, v in facts.bindings.values.items() if n.isidentifier()}
        largest = max(sizes, key=lambda name: sizes[name], default="")
        raise InputError(
            what,
            remedy=f"{largest} = {sizes[largest]} is too large" if largest else "check the sizes",
            path=span.file,
            line=span.line,
        )
