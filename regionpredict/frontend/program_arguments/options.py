"""Parses options like `getopt` and `getopt_long` of the GNU C library, at any position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class LongOption(NamedTuple):
    """One entry of the option table. `argument` is 0 (none), 1 (required) or 2 (optional).

    `getopt_long` returns `value`, or writes it to the address in the table.
    """

    name: str
    argument: int
    value: int


class ParsedOption(NamedTuple):
    """The result of one call of `getopt`. `value` is -1 at the end, and the code of `?` for an
    invalid option.

    `argument` is the position of the option's argument: the index in `argv`, and the offset in this
    string. `entry` is the index of a long option in the table.
    """

    value: int
    argument: tuple[int, int] | None = None
    entry: int | None = None


@dataclass(slots=True)
class OptionScan:
    """The state of a program's option parsing. `argv` are its arguments, and `index` is `optind`.

    `order` is the order of the arguments. After parsing, all arguments that are not options are
    last.
    """

    argv: Sequence[str]
    index: int = 1
    inside: int = 0
    rest: list[int] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    order: list[int] = field(init=False)
    ended: bool = False

    def __post_init__(self) -> None:
        self.order = list(range(len(self.argv)))

    @property
    def any_left(self) -> bool:
        """Whether one of the remaining arguments is an option."""
        return bool(self.inside) or any(map(self._is_option, self.argv[self.index :]))

    def next(self, short: str, table: Sequence[LongOption] = ()) -> ParsedOption:
        """Parses and returns the next option.

        >>> scan = OptionScan(["p", "-vn", "5", "file", "--size=7"])
        >>> table = [LongOption("size", 1, 115)]
        >>> [scan.next("vn:", table) for _ in range(4)][1:]  # doctest: +NORMALIZE_WHITESPACE
        [ParsedOption(value=110, argument=(2, 0), entry=None),
         ParsedOption(value=115, argument=(4, 7), entry=0),
         ParsedOption(value=-1, argument=None, entry=None)]
        """
        if self.ended:
            return ParsedOption(-1)
        plain = short.lstrip("+-:")
        if not self.inside:
            while self.index < len(self.argv) and not self._is_option(self.argv[self.index]):
                if short.startswith("+"):
                    return self._finish()
                self.rest.append(self.index)
                self.index += 1
            if self.index >= len(self.argv):
                return self._finish()
            word = self.argv[self.index]
            self.read.add(self.index)
            if word == "--":
                self.index += 1
                return self._finish()
            if word.startswith("--") and table:
                return self._parse_long(word[2:], table)
            self.inside = 1
        return self._parse_short(plain)

    def _finish(self) -> ParsedOption:
        last = [*self.rest, *range(self.index, len(self.argv))]
        self.order = [at for at in self.order if at not in last] + last
        self.index = len(self.order) - len(last)
        self.ended = True
        return ParsedOption(-1)

    @staticmethod
    def _is_option(word: str) -> bool:
        return word.startswith("-") and word != "-"

    def _parse_short(self, short: str) -> ParsedOption:
        word = self.argv[self.index]
        letter = word[self.inside]
        self.inside += 1
        at = short.find(letter) if letter != ":" else -1
        argument_kind = 0
        if at >= 0:
            suffix = short[at + 1 : at + 3]
            argument_kind = 2 if suffix == "::" else 1 if suffix.startswith(":") else 0
        argument = None
        if argument_kind and self.inside < len(word):
            argument = (self.index, self.inside)
            self.inside = len(word)
        if self.inside >= len(word):
            self.inside = 0
            self.index += 1
        if at < 0:
            return ParsedOption(ord("?"))
        if argument_kind == 1 and argument is None:
            if self.index >= len(self.argv):
                return ParsedOption(ord("?"))
            argument = (self.index, 0)
            self.read.add(self.index)
            self.index += 1
        return ParsedOption(ord(letter), argument)

    def _parse_long(self, word: str, table: Sequence[LongOption]) -> ParsedOption:
        name, equals, _ = word.partition("=")
        at = self.index
        self.index += 1
        exact = [number for number, option in enumerate(table) if option.name == name]
        matching = exact or [n for n, option in enumerate(table) if option.name.startswith(name)]
        if len(matching) != 1:
            return ParsedOption(ord("?"))
        option = table[matching[0]]
        if equals:
            if not option.argument:
                return ParsedOption(ord("?"))
            return ParsedOption(option.value, (at, 3 + len(name)), matching[0])
        if option.argument == 1:
            if self.index >= len(self.argv):
                return ParsedOption(ord("?"))
            argument = (self.index, 0)
            self.read.add(self.index)
            self.index += 1
            return ParsedOption(option.value, argument, matching[0])
        return ParsedOption(option.value, None, matching[0])
