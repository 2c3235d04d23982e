"""Names in text against the plain pattern of the same question, on texts that are built to trap."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend.text.name_occurrences import (
    functions_holding,
    named_at,
    written_at,
)

PIECES = ["n", "nn", "n_", "_n", "m", "(", ")", "=", "==", "+=", "<<=", "<<", "++", "--", "&", " ",
          "\n", "n1", "1", ";", "<=", "!="]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=30).map(lambda parts: "".join(parts).encode())


@given(texts)
def test_whole_words_only(text: bytes) -> None:
    assert [at for at, _ in named_at(text, "n")] == [
        m.start() for m in re.finditer(rb"\bn\b", text)
    ]


@given(texts)
def test_writes(text: bytes) -> None:
    before = rb"(?:&|\+\+|--)\s*$"
    behind = rb"\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
    expected = [
        m.start()
        for m in re.finditer(rb"\bn\b", text)
        if re.match(behind, text[m.end() :]) or re.search(before, text[: m.start()])
    ]
    assert written_at(text, "n") == expected


def test_only_functions_that_hold_a_place() -> None:
    functions = [("f", "a.c", 0, 10), ("g", "a.c", 10, 20), ("h", "b.c", 0, 99), ("i", "c.c", 0, 9)]
    assert functions_holding(functions, {"a.c": [3, 5, 20], "b.c": [98]}) == ["f", "h"]
