"""Determines the schedule of a region."""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.documents import whole_number
from regionpredict.ir import Region


class Schedule(NamedTuple):
    """A loop schedule. `kind` is 'static', 'dynamic' or 'guided' (auto and runtime count as
    static). `chunk` is the number of iterations per chunk, or None if it is not given.
    """

    kind: str
    chunk: float | None


def schedule_of(region: Region) -> Schedule:
    """Returns the schedule of a region. Without a schedule clause, it is static without a chunk.

    A thread that has finished a section or a task takes the next one. Without `grainsize`, a
    `taskloop` has about one task per thread, as in GCC.
    """
    if region.is_sections or region.is_task:
        return Schedule("dynamic", 1.0)
    if region.is_taskloop:
        given = region.clause("grainsize")
        size = (given.text or "").split(":")[-1].strip() if given is not None else ""
        return Schedule("dynamic", float(size)) if whole_number(size) else Schedule("static", None)
    clause = region.clause("schedule")
    text = (clause.text or "") if clause is not None else ""
    kind = re.split(r"[,:]", text.split(":")[-1])[0].strip().lower()
    after = text.split(",")[-1].strip() if "," in text else ""
    chunk = float(after) if whole_number(after) else None
    if kind in ("dynamic", "guided"):
        return Schedule(kind, chunk or 1.0)
    return Schedule("static", chunk)
