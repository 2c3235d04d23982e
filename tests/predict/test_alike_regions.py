"""What is tried of one region serves those that are alike, and changes no answer."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict.by_size import HintRange, SizeHint

LOOP = """
void {name}(int n, double *x, double *y) {{
#pragma omp parallel for
  for (int i = {first}; i < n; i++) y[i] {op} x[i];
}}
"""
FIRST = LOOP.format(name="first", first=0, op="+=")
ALIKE = LOOP.format(name="alike", first=0, op="+=")
OTHER = LOOP.format(name="other", first=0, op="= 1.0 / y[i] /")


class Answer(NamedTuple):
    """What trials decide of an estimate."""

    threads: int | None
    range: HintRange | None
    by_size: tuple[SizeHint, ...]
    confidence: float


def answers(folder: Path, text: str, **given: int) -> list[Answer]:
    (folder / "f.c").write_text(text)
    names = {name.replace("__", ":"): value for name, value in given.items()}
    analysis = analyse(requests_for([str(folder / "f.c")]), names)
    made = predict(analysis, load("dunnington"), "saturation").predictions
    return [Answer(one.threads, one.range, one.by_size, one.confidence) for one in made]


def test_together_as_apart(tmp_path: Path) -> None:
    together = answers(tmp_path, FIRST + ALIKE + OTHER)
    apart = [answers(tmp_path, text)[0] for text in (FIRST, ALIKE, OTHER)]
    assert together == apart
    assert together[0] == together[1] != together[2]
    assert together[0].range is not None  # the size is open, and decides
    assert len(together[0].by_size) > 1


def test_a_size_of_one_function_is_not_the_others(tmp_path: Path) -> None:
    first, alike = answers(tmp_path, FIRST + ALIKE, first__n=100)
    assert not first.by_size
    assert alike == answers(tmp_path, ALIKE)[0]
