"""Calls of virtual methods: each class that overrides the method is a possible target."""

from __future__ import annotations

from pathlib import Path

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

SHAPES = """struct Shape { double w; virtual double area(double s) const = 0; };
struct Disc : Shape { double area(double s) const override { return 3.0 * w * w + s; } };
struct Square : Shape { double area(double s) const override; };
struct Round : Disc { double area(double s) const override; };
"""
OTHERS = """#include "shape.h"
double Square::area(double s) const { return w * w * s; }
double Round::area(double s) const { return w / s; }
"""
MAIN = """#include "shape.h"
double out[1000];
int main(int argc, char **argv) {
  Round round;
  Shape *one = argc > 1 ? (Shape *)new Square : new Disc;
  Disc *disc = argc > 2 ? &round : new Disc;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) out[i] = one->area(2.0);
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) out[i] = disc->area(2.0);
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) out[i] = round.area(2.0);
  return 0;
}
"""


def facts_of(folder: Path, **files: str) -> tuple[RegionFacts, ...]:
    (folder / "shape.h").write_text(SHAPES)
    for name, text in files.items():
        (folder / f"{name}.cpp").write_text(text)
    return tuple(analyse(requests_for([str(folder)]), {}, defaults=False).facts)


def test_all_overriding_methods_are_targets_and_others_are_none(tmp_path: Path) -> None:
    any_shape, any_disc, known = facts_of(tmp_path, main=MAIN, others=OTHERS)
    assert [facts.status for facts in (any_shape, any_disc, known)] == ["complete"] * 3
    notes = [
        [note.message for note in facts.diagnostics if note.id == "RP117"]
        for facts in (any_shape, any_disc, known)
    ]
    assert [len(some) for some in notes] == [1, 1, 0]
    assert "shape.h:2" in notes[0][0]
    assert "others.cpp:2" in notes[0][0]
    assert "others.cpp:3" in notes[0][0]
    assert "others.cpp:2" not in notes[1][0]  # no Square is a Disc


def test_the_user_of_a_library_may_override_a_method(tmp_path: Path) -> None:
    library = MAIN.replace("int main(int argc, char **argv)", "int run(int argc, char **argv)")
    any_shape, *_ = facts_of(tmp_path, run=library, others=OTHERS)
    assert [note.id for note in any_shape.diagnostics] == ["RP123"]


def test_without_any_body_the_region_is_partial(tmp_path: Path) -> None:
    text = MAIN.replace("one->area(2.0)", "one->weight()")
    head = SHAPES.replace("double w;", "double w; virtual double weight();")
    (tmp_path / "shape.h").write_text(head)
    (tmp_path / "main.cpp").write_text(text)
    (tmp_path / "others.cpp").write_text(OTHERS)
    any_shape, *_ = analyse(requests_for([str(tmp_path)]), {}, defaults=False).facts
    assert any_shape.status == "partial"
