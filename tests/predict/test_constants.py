"""Numbers of the models: each a constant with unit, evidence and source, and shown on the page.

`python tests/predict/test_constants.py` writes the table of docs/saturation.md anew.
"""

from __future__ import annotations

import ast
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from regionpredict.constant import Constant, Evidence
from regionpredict.predict import constants as of_hints
from regionpredict.predict.density import constants as of_density
from regionpredict.predict.saturation import constants as of_saturation
from regionpredict.predict.uncertainty import constants as of_sureness
from regionpredict.workload import constants as of_workload

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "saturation.md"
BEGIN, END = "<!-- constants -->\n", "<!-- end of constants -->\n"
MODULES: dict[str, ModuleType] = {
    "workload": of_workload,
    "predict": of_hints,
    "predict/saturation": of_saturation,
    "predict/uncertainty": of_sureness,
    "predict/density": of_density,
}
CONSTANTS = [
    pytest.param(value, id=f"{room}-{name}")
    for room, module in MODULES.items()
    for name, value in vars(module).items()
    if isinstance(value, Constant)
]

ARITHMETIC = {0, 1, 2}
"""Nothing, one, a half or a square, and their negatives: no choice stands behind them."""
ALLOWED: dict[tuple[str, float], str] = {
    ("predict/density/model.py", 3): "digits of a confidence that are shown",
    ("predict/uncertainty/confidence.py", 3): "digits of a confidence that are shown",
    ("predict/uncertainty/doubts.py", 6): "digits of a factor, so that equal ones compare equal",
    ("predict/saturation/region_doubts.py", 0.005): "half a per cent, which no text shows",
    ("predict/region_timeline.py", 0.5): "the middle of a share",
    ("predict/core_handover.py", 3): "digits of a part, so that equal states compare equal",
    ("predict/hints.py", 9): "digits of a cost, so that equal ones compare equal",
    ("predict/saturation/deciding_figures.py", 100): "per cent of a spread, for a text",
    ("predict/saturation/superlinear.py", 20): "2**20 bytes are a MiB, for a text",
    ("predict/saturation/superlinear.py", 1024): "MiB of a GiB, for a text",
    (
        "predict/saturation/superlinear.py",
        1000,
    ): "from where on three digits are too few, of a text",
    ("predict/hints.py", 6): "digits of a margin, so that equal ones compare equal",
    (
        "predict/saturation/page_faults_and_coherence.py",
        1e6,
    ): "microseconds of a second, for a text",
    ("predict/saturation/memory_overflow.py", 30): "2**30 bytes are a GiB, for a text",
    ("predict/saturation/core.py", 0.5): "of a lane: what idles below it is not told, of a text",
    ("predict/saturation/core.py", 16): "of all lanes, a sixteenth: the same, of a text",
    ("predict/roofline.py", 64): "bits of a floating-point number, a type and no model",
    ("workload/line_lattice.py", 0.5): "rounding to the nearest",
    ("workload/line_lattice.py", 3): "digits of a byte, so that equal offsets compare equal",
    ("workload/layer_conditions.py", 0.5): "the middle of a range",
    ("workload/stack_distances.py", 16): "bits of a digit, by which numpy sorts in one pass",
    ("workload/traced_traffic.py", 4): "times as long a table costs what sorting does",
    ("workload/held_branches.py", 0.5): "the middle of a sample",
    ("workload/loop_nest.py", 0.5): "the middle of a sample",
    ("workload/work_distribution.py", 0.5): "the middle of a sample, and the mean of a last piece",
}


def _literals() -> set[tuple[str, float]]:
    found = set()
    package = ROOT / "regionpredict"
    for room in ("predict", "workload"):
        for path in sorted((package / room).rglob("*.py")):
            if path.name == "constants.py":
                continue
            name = path.relative_to(package).as_posix()
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                    found.add((name, node.value))
    return {(name, value) for name, value in found if value not in ARITHMETIC}


def test_no_number_stands_in_the_models_themselves() -> None:
    assert _literals() - ALLOWED.keys() == set()


def test_what_is_allowed_is_there() -> None:
    assert ALLOWED.keys() - _literals() == set()


def _bare_numbers(text: str) -> list[int]:
    """Lines of numbers that are in no `Constant`, and in no value whose docstring says how it is
    known.
    """
    lines = []
    body = ast.parse(text).body
    for statement, behind in zip_longest(body, body[1:]):
        told = ast.get_docstring(ast.Module([behind], [])) if behind is not None else None
        if told is not None and any(word in told for word in get_args(Evidence)):
            continue
        sourced = {
            inner
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Constant"
            for inner in ast.walk(node)
        }
        lines += [
            node.lineno for node in ast.walk(statement)
            if isinstance(node, ast.Constant) and type(node.value) in (int, float)
            and node not in sourced
        ]  # fmt: skip
    return lines


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
def test_every_number_of_a_file_of_constants_has_its_source(module: ModuleType) -> None:
    assert module.__file__ is not None
    assert _bare_numbers(Path(module.__file__).read_text()) == []


def test_a_bare_number_is_seen() -> None:
    known = 'A = Constant(3.0, "1", "assumed", "of 4")\nB = (5, 6)\n"""Places, assumed."""\n'
    assert _bare_numbers(known) == []
    assert _bare_numbers(known + "C = 7\n") == [4]
    assert _bare_numbers('D = {"a": 8}\n"""What nobody knows."""\n') == [1]


def test_every_file_of_constants_is_looked_at() -> None:
    package = ROOT / "regionpredict"
    files = [path for room in ("predict", "workload") for path in (package / room).rglob("*.py")]
    found = {path.parent for path in files if path.name == "constants.py"}
    assert {folder.relative_to(package).as_posix() for folder in found} == MODULES.keys()


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_says_where_it_comes_from(constant: Constant) -> None:
    assert constant.evidence in ("measured", "derived", "assumed")
    assert constant.unit.strip()
    assert len(constant.source.split()) > 1


def test_the_page_lists_every_constant() -> None:
    page = PAGE.read_text()
    assert page[page.index(BEGIN) + len(BEGIN) : page.index(END)] == table()


def table() -> str:
    """The constants as they stand in docs/saturation.md."""
    lines = [
        "",
        "| constant | value | unit | evidence | source |",
        "| --- | --- | --- | --- | --- |",
    ]
    for room, module in MODULES.items():
        for name, value in vars(module).items():
            if isinstance(value, Constant):
                lines.append(
                    f"| `{room}`: {name} | {value.value:,.10g} | {value.unit} | {value.evidence} "
                    f"| {value.source} |"
                )
    return "\n".join([*lines, "", ""])


if __name__ == "__main__":
    old = PAGE.read_text()
    PAGE.write_text(old[: old.index(BEGIN) + len(BEGIN)] + table() + old[old.index(END) :])
