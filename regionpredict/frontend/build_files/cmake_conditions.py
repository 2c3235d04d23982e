"""Evaluates the conditions of CMake's `if`.

if(NOT DEFINED ORDER OR (KIND MATCHES "^real" AND ORDER GREATER 2))
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from regionpredict.documents import whole_number

_REFERENCE = re.compile(r"\$\{([\w.+/-]+)\}|@([\w.+/-]+)@")
_FALSE = frozenset(("", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"))
_TRUE = frozenset(("1", "ON", "YES", "TRUE", "Y"))
_UNKNOWN_TESTS = frozenset(
    ("EXISTS", "TARGET", "COMMAND", "POLICY", "TEST", "IS_DIRECTORY", "IS_ABSOLUTE", "IS_SYMLINK")
)
_COMPARISONS = frozenset(
    ("STREQUAL", "EQUAL", "VERSION_EQUAL", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL",
     "VERSION_LESS", "VERSION_GREATER", "VERSION_LESS_EQUAL", "VERSION_GREATER_EQUAL", "STRLESS",
     "STRGREATER", "MATCHES", "IN_LIST")
)  # fmt: skip
_PLAIN_PATTERN = re.compile(r"\^?[\w ./|:-]*\$?")  # a pattern that takes linear time
_DEEPEST = 50  # maximum depth of parentheses
_MOST_EXPANSIONS = 4  # of a variable whose name contains a variable


def is_true(value: str) -> bool:
    """Whether CMake considers a value true.

    >>> [is_true(value) for value in ("ON", "2.5", "off", "MPI-NOTFOUND", "")]
    [True, True, False, False, False]
    """
    return value.upper() not in _FALSE and not value.upper().endswith("-NOTFOUND")


def replace_variables(text: str, values: Mapping[str, str]) -> str:
    """Replaces the variable references in a text.

    >>> replace_variables("#define V ${MAJOR}.@MINOR@", {"MAJOR": "3", "MINOR": "1"})
    '#define V 3.1'
    """
    return _REFERENCE.sub(lambda match: values.get(match.group(1) or match.group(2), ""), text)


def expanded(word: str, values: Mapping[str, str]) -> str:
    """Replaces the variable references in a word of a command, also in the names of variables.

    >>> expanded("${${NAME}}", {"NAME": "ORDER", "ORDER": "4"})
    '4'
    """
    for _ in range(_MOST_EXPANSIONS):
        if "${" not in word and "@" not in word:
            break
        word = replace_variables(word, values)
    return word


def condition_holds(words: Sequence[str], values: Mapping[str, str]) -> bool:
    """Whether a condition holds. A test that is not supported does not hold.

    >>> condition_holds(["NOT", "FAST", "AND", "(", "N", "LESS", "9", ")"], {"N": "4"})
    True
    """
    return _Condition(words, values).holds()


class _Condition:
    """A condition, and the position of the next word to evaluate."""

    def __init__(self, words: Sequence[str], values: Mapping[str, str]) -> None:
        self._words, self._values = words, values
        self._at = 0

    def holds(self, depth: int = 0) -> bool:
        """Evaluates alternatives up to the end or to a closing parenthesis."""
        found = False
        while True:
            every = self._term_holds(depth)
            while self._takes("AND"):
                every = self._term_holds(depth) and every
            found = found or every
            if not self._takes("OR"):
                return found

    def _takes(self, word: str) -> bool:
        taken = self._at < len(self._words) and self._words[self._at] == word
        self._at += taken
        return taken

    def _term_holds(self, depth: int) -> bool:
        expected = True
        while self._takes("NOT"):
            expected = not expected
        if self._takes("("):
            if depth == _DEEPEST:
                self._at = len(self._words)
                return False
            holds = self.holds(depth + 1)
            self._takes(")")
            return holds == expected
        return self._test_holds() == expected

    def _test_holds(self) -> bool:
        words = self._words[self._at : self._at + 3]
        if words[:1] == ["DEFINED"] and len(words) > 1:
            self._at += 2
            return expanded(words[1], self._values) in self._values
        if len(words) > 1 and words[0] in _UNKNOWN_TESTS:
            self._at += 2
            return False
        if len(words) == 3 and words[1] in _COMPARISONS:
            self._at += 3
            return self._comparison_holds(*words)
        self._at += 1
        if not words:
            return False
        known = expanded(words[0], self._values)
        return known.upper() in _TRUE or is_true(self._values.get(known, ""))

    def _comparison_holds(self, left: str, test: str, right: str) -> bool:
        own, other = self._value_of(left), self._value_of(right)
        if test == "MATCHES":
            pattern = expanded(right, self._values)
            return bool(_PLAIN_PATTERN.fullmatch(pattern) and re.search(pattern, own))
        if test == "IN_LIST":
            return own in other.split(";")
        kind = test.removeprefix("VERSION_").removeprefix("STR")
        if kind == "EQUAL" and not test.startswith("VERSION_"):
            return own == other
        if test.startswith("STR"):
            return own < other if kind == "LESS" else own > other
        numbers = [[whole_number(part) for part in text.split(".")] for text in (own, other)]
        if any(None in parts for parts in numbers):
            return False
        first, second = ([part or 0 for part in parts] for parts in numbers)
        if kind in ("EQUAL", "LESS_EQUAL", "GREATER_EQUAL") and first == second:
            return True
        return first < second if kind.startswith("LESS") else (
            kind.startswith("GREATER") and first > second
        )  # fmt: skip

    def _value_of(self, word: str) -> str:
        return self._values.get(word, expanded(word, self._values))
