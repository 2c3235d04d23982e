"""Every rule has a page, and both of its examples do what the page says.

A page holds a block ```` ```c failing ```` and a block ```` ```c fixed ````, and for some rules
blocks ```` ```c file=NAME ```` with further files. The rule's id must come out of the failing
example and not of the fixed one, which must come out whole.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.report.rules import rule_ids, rule_page

PACKAGE = Path(__file__).resolve().parents[2] / "regionpredict"
BLOCK = re.compile(r"^```(c|cpp) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Only the C parser leaves C++ out; everything else is shown with the default.
FRONTEND = {"RP004": "pycparser"}
# What the saturation model alone has to say, on a machine with several domains.
OF_CURVES = ("RP131", "RP201", "RP202", "RP203", "RP204", "RP205", "RP206", "RP207", "RP226")


def emitted() -> set[str]:
    """The rule ids that the package's code can give a diagnostic."""
    found: set[str] = set()
    for room in (
        "ir",
        "frontend",
        "analysis",
        "workload",
        "predict",
        "pipeline.py",
        "sizes",
    ):
        paths = [PACKAGE / room] if room.endswith(".py") else (PACKAGE / room).rglob("*.py")
        for path in paths:
            found |= set(re.findall(r'"(RP\d{3})"', path.read_text()))
    return found


def blocks(rule: str) -> dict[str, tuple[str, str]]:
    return {name: (language, text) for language, name, text in BLOCK.findall(rule_page(rule))}


def outcome(folder: Path, rule: str, example: str) -> tuple[set[str], Predictions]:
    """Every id that the example gives, and its predictions on a machine of 24 cores."""
    parts = blocks(rule)
    for name, (_, text) in parts.items():
        if name.startswith("file="):
            path = folder / name.removeprefix("file=")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    language, text = parts[example]
    (folder / f"example.{language}").write_text(text)
    (folder / "other.c").write_text("int other;\n")  # a file beside: nothing takes it down
    requests = [
        request
        for request in requests_for([str(folder)])
        if Path(request.path).name in (f"example.{language}", "other.c")
    ]
    analysis = analyse(requests, {}, frontend=FRONTEND.get(rule), flows=rule in OF_CURVES)
    if rule in OF_CURVES:
        result = predict(analysis, load("skylake-gold-6148"), "saturation")
    else:
        result = predict(analysis, load("dunnington"))
    notes = [*analysis.program.diagnostics, *(n for p in result.predictions for n in p.diagnostics)]
    advice = [one for told in result.advice.values() for one in told]
    return {one.id for one in (*notes, *advice)}, result


def test_every_id_in_the_code_has_a_page_and_every_page_an_id() -> None:
    assert set(rule_ids()) == emitted()


# A defect of this program is what RP120 is about: no example shows one for long.
SHOWN = [rule for rule in rule_ids() if rule != "RP120"]


@pytest.mark.parametrize("rule", SHOWN)
def test_the_failing_example_fails(tmp_path: Path, rule: str) -> None:
    found, _ = outcome(tmp_path, rule, "failing")
    assert rule in found


@pytest.mark.parametrize("rule", SHOWN)
def test_the_fixed_example_is_fixed(tmp_path: Path, rule: str) -> None:
    found, result = outcome(tmp_path, rule, "fixed")
    assert rule not in found
    assert {p.status for p in result.predictions} == {"predicted"}, found


@pytest.mark.parametrize("rule", rule_ids())
def test_the_page_has_its_parts(rule: str) -> None:
    lines = rule_page(rule).splitlines()
    assert re.fullmatch(rf"# {rule}: \S.*", lines[0])
    assert lines[2] and not lines[2].startswith(("#", "`")), "a sentence follows the title"
    assert rule not in SHOWN or {"failing", "fixed"} <= set(blocks(rule))
    assert any(line.startswith("Effect on the result: ") for line in lines)


def test_an_unknown_rule() -> None:
    with pytest.raises(UsageError, match=r"RP999.*RP101"):
        rule_page("RP999")
