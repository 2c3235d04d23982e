"""Collects the sizes that the user is asked to set, with their assumed values and the affected
regions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict import Prediction, size_target
from regionpredict.sizes.ranking import SizeRanking, UnboundSize, deciding_regions
from regionpredict.workload import bound_sizes


class AskedSize(NamedTuple):
    """A size that the user is asked to set.

    `assumed` is the value that predictions use without an answer (the smallest over all regions),
    or None. `regions` are the predictions whose hints the size decides.
    """

    size: UnboundSize
    assumed: int | None
    regions: tuple[Prediction, ...]


def asked_sizes(
    predictions: Sequence[Prediction], ranking: SizeRanking, names: Collection[str],
    machine: Machine,
) -> list[AskedSize]:  # fmt: skip
    """Returns the ranked sizes that are in `names`, in the order of the ranking."""
    decided = deciding_regions(predictions)
    target = size_target(machine)
    asked = []
    for size in ranking.unbound:
        if size.name not in names:
            continue
        here = decided.get(size.name, [])
        values = [bound_sizes(prediction.facts, target, machine.line_bytes).values.get(name)
                  for name, prediction in here]  # fmt: skip
        least = min((int(value) for value in values if value is not None), default=None)
        asked.append(AskedSize(size, least, tuple(prediction for _, prediction in here)))
    return asked
