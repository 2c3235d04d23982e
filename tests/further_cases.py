"""Cases that check one property again: the first ones run in `make test`, all in `make test-slow`.

`make test` has eight minutes on two cores. What a further case costs there is not worth what it
finds, where the first cases show the property and each takes most of a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest


def further_slow(first: int, cases: Iterable[Any]) -> list[Any]:
    """The cases, those after the `first` ones marked slow."""
    marked: list[Any] = []
    for number, case in enumerate(cases):
        if number < first:
            marked.append(case)
        elif isinstance(case, type(pytest.param())):
            marks = (*case.marks, pytest.mark.slow)
            marked.append(pytest.param(*case.values, marks=marks, id=case.id))
        else:
            values = case if isinstance(case, tuple) else (case,)
            marked.append(pytest.param(*values, marks=pytest.mark.slow))
    return marked


def of_each_kind(samples: Mapping[str, Path]) -> list[Any]:
    """The names of sample programs. All but the first three of each folder are marked slow."""
    found: Counter[Path] = Counter()
    names = []
    for name, path in samples.items():
        kind = path.parent.parent
        found[kind] += 1
        names.append(pytest.param(name, marks=[pytest.mark.slow] * (found[kind] > 3)))
    return names
