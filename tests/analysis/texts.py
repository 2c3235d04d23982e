"""Regions and facts of short C texts, for tests that say what a loop does by its source."""

from __future__ import annotations

import tempfile
from pathlib import Path

from regionpredict.analysis import AccessFact, RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

_FOLDER = tempfile.TemporaryDirectory()


def facts_of_texts(text: str, **sizes: int) -> tuple[RegionFacts, ...]:
    """The facts of every region of a C text, with `sizes` given for names."""
    path = Path(_FOLDER.name, "text.c")
    path.write_text(text)
    return analyse(requests_for([str(path)]), sizes).facts


def facts_of_loop(loops: str, declarations: str = "", **sizes: int) -> RegionFacts:
    """The facts of one parallel loop, in a function of n, m and w, behind `declarations`."""
    text = (
        f"{declarations}\nvoid f(int n, int m, int w) {{\n#pragma omp parallel for\n{loops}\n}}\n"
    )
    (facts,) = facts_of_texts(text, **sizes)
    return facts


def accesses_of(facts: RegionFacts) -> dict[str, AccessFact]:
    """The references by their text; of those with the same text the last."""
    return {fact.access.text: fact for statement in facts.statements for fact in statement.accesses}


def the_access(loops: str, array: str, declarations: str = "") -> AccessFact:
    """The only reference to an array in one parallel loop."""
    facts = facts_of_loop(loops, declarations)
    (found,) = (f for s in facts.statements for f in s.accesses if f.access.array == array)
    return found
