"""The wording check finds each pattern that it names, and lets plain sentences pass."""

from __future__ import annotations

import check_wording
import pytest
from prose import Passage, page_passages, python_passages

WRONG = [
    ("behind", "It names the file behind the option."),
    ("hang on", "The result hangs on the size."),
    ("come to", "The program comes to the loop."),
    ("tell", "The table tells of two regions."),
    ("tell", "No size was told."),
    ("stand", "The reason stands in the last column."),
    ("beside", "The range is beside the value."),
    ("apart", "Each region is predicted apart."),
    ("mend", "Mend the file."),
    ("anew", "Predict anew with these sizes."),
    ("hand over", "The caller hands the size over."),
    ("nobody", "Nobody gave a size."),
    ("of which", "It has two loops, of which one is serial."),
    ("so often", "The loop runs so often that it counts."),
    ("one more", "One package more must gain 10 %."),
    ("as ... does", "It counts as the compiler does."),
    ("there is not", "A key that there is not is an error."),
    ("negation", "They are in no plan."),
    ("negation", "It is no loop."),
    ("held against", "Predictions are held against measurements."),
    ("left to", "It is left to numbers in memory whether threads meet."),
    ("personified", "A command that needs an extra says so."),
    ("deal out", "A schedule deals out the iterations."),
    ("be it", "It takes the file, be it a link."),
    ("settled", "38 of 40 regions are settled."),
    ("sure", "The hint is 48 % sure."),
    ("open size", "Open sizes decide 35 of 40 regions."),
    ("team", "It starts a team of threads."),
    ("cleft", "It depends on what the program sets."),
    ("None where", "None where the size is missing."),
    ("gone through", "The array is gone through once."),
    ("so many", "It takes so many iterations."),
    ("of its own", "Each has a file of its own."),
    ("not known", "The size is not known."),
    ("taken to", "The branch is taken to hold."),
    ("ask for", "It asks for a size."),
    ("lie", "The pages lie in one domain."),
    ("the begin", "It is at the begin of the run."),
    ("but once", "The machine has but one package."),
    ("for ever", "The ranks wait for ever."),
    ("at hand", "The source is not at hand."),
    ("whatever", "The result is the same, whatever the size."),
    ("; None", "The size in bytes; None if unknown."),
    ("those of", "Those of the loop are counted."),
    ("whether it", "Whether it holds in all iterations."),
    ("that do", "The sizes are taken from the next run that did."),
    ("that do", "The folders that have one."),
    ("has precedence", "The command line has precedence."),
    ("So at the start", "So each line has its own place."),
    ("surely", "The error does not surely fall."),
    ("all the same", "Disturbed runs count all the same."),
    ("inside each other", "It has 65 lists inside each other."),
    ("suffice", "The memory does not suffice."),
    ("taken as", "The macro is taken as defined."),
    ("fronted clause", "What needs an extra names it."),
    ("fronted clause", "Of 2 regions no single size decides."),
    ("fronted clause", "Not counted are the scalars."),
    ("chain", "The answer: two sockets; one is slower: it waits."),
    ("long", "One " + "word " * 24 + "more."),
]

PLAIN = [
    "Commands name any missing optional dependency.",
    "Two regions depend on several sizes.",
    "sockets, threads: the best choice for this loop alone.",
    "Set these 5 sizes to get hints for 38 of 40 loops (now 5).",
    "12 regions stop scaling at one socket.",
    "What limits it?",
    "There is no such file.",
    "So far, no size is known.",
    "It is no longer used.",
    "Sort from left to right.",
    "Each hand-written loop is on the right-hand side.",
    "The word " * 2 + "is repeated.",
]


def found(text: str, kind: str = "page") -> set[str]:
    return {name for name, _ in check_wording.findings(Passage("f", 1, kind, text))}


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_each_pattern_is_found(name: str, text: str) -> None:
    assert name in found(text)


def test_every_pattern_has_a_sentence_here() -> None:
    names = {pattern.name for pattern in check_wording.PATTERNS}
    assert {name for name, _ in WRONG} == names | {"fronted clause", "chain", "long"}


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_sentence_passes(text: str) -> None:
    assert found(text) == set()


def test_a_docstring_may_name_a_team() -> None:
    assert found("The loops of a team.", "docstring") == set()
    assert found("The loops of a team.", "message") == {"team"}


def test_code_tables_and_links_of_a_page() -> None:
    page = (
        "# Apart\n\n```sh\ntold\n```\n\n"
        "See [this `x` page](behind.md),\nor\n\n| a `told` b | new: old |\n"
    )
    shown = [(part.line, part.text) for part in page_passages("p.md", page)]
    assert shown == [(7, "See this `code` page, or"), (10, "a `code` b"), (10, "new: old")]


def test_docstrings_and_messages_of_a_file() -> None:
    code = (
        '"""First line.\n\n>>> 1 + 1\n2\n"""\n'
        'raise E(f"{x} is behind", "\\\\bno message\\\\b here")\nKEY = "a"\n'
    )
    shown = [(part.kind, part.text) for part in python_passages("p.py", code)]
    assert shown == [("docstring", "First line."), ("message", "{} is behind")]


def test_the_numbers_only_shrink() -> None:
    text = "# reason\na.py 3\nb.py 2\nc.py 1\n"
    assert (
        check_wording.shrunk(text, {"a.py": 5, "b.py": 1, "d.py": 4})
        == "# reason\na.py 3\nb.py 1\n"
    )
    allowed = check_wording.remaining(text)
    assert check_wording.too_many({"a.py": 3, "b.py": 3, "d.py": 1}, allowed) == ["b.py", "d.py"]
