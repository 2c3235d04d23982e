"""The runner of mutants: a change that a test sees is caught, what is drawn is fixed by a seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import mutants_of
from run_mutants import WarmTests, copies_of_package, draw

pytestmark = pytest.mark.slow

TEST = "tests/predict/density/test_density_by_hand.py::test_one_statement"


def test_a_change_is_seen_by_a_test_that_reads_a_file() -> None:
    """In a process that has loaded everything but the room, and reads files where it runs."""
    with copies_of_package(1) as folders:
        folder = folders.get()
        tests = WarmTests("predict", folder)
        try:
            assert tests.run([TEST], 60)[:2] == (0, True)
            model = folder / "regionpredict" / "predict" / "density" / "model.py"
            text = model.read_text()
            model.write_text(text.replace("(good - bad) / (good + bad)", "(good + bad)"))
            assert model.read_text() != text
            assert tests.run([TEST], 60)[:2] == (1, True)
            model.write_text(text)
            assert tests.run([TEST], 60)[:2] == (0, True)
        finally:
            tests.close()


def test_changes_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        '"""Text with 1 + 1."""\n'
        "def f(a: int = 3) -> int:\n"
        "    if not a > -2 and all([a]):\n"
        "        raise ValueError(f'{a + 1}')\n"
        "    return (a * 0.5) // min(a, 0)\n"
    )
    changes = {mutant.shown.split(" -> ")[1] for mutant in mutants_of(path, Path("f.py"))}
    assert changes == {
        "4", "a >= -2", "(2)", "3", "not a > -2 or all([a])", "any", "a / 0.5",
        "a", "1.0", "(a * 0.5) * min(a, 0)", "a * 0.5", "max", "1",
    }  # fmt: skip
    for mutant in mutants_of(path, Path("f.py")):
        compile(mutant.apply(path.read_text()), "f.py", "exec")


def test_a_seed_draws_the_same_ones_no_two_of_a_line() -> None:
    here = Path(__file__).with_name("mutations.py")
    every = mutants_of(here, here)
    drawn = draw(every, 20, 7)
    assert drawn == draw(every, 20, 7) != draw(every, 20, 8)
    assert len({mutant.line for mutant in drawn}) == 20
