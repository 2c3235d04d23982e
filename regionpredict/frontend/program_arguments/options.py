"""`getopt` and `getopt_long` as in the GNU C library. Options may be at any position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class LongOption(NamedTuple):
    """One entry of the option table. `argument` is 0 (none), 1 (required) or 2 (optional).

    `value` is returned or written to the address in the table.
    """

    name: str
    argument: int
    value: int


class Found(NamedTuple):
    """The result of a call. It is -1 at the end, and the code of `?` for an invalid option.

    `argument` is the position of the option's argument: the number of the program's argument, and
    the offset in it. `entry` is the index of a long option in the table.
    """

    value: int
    argument: tuple[int, int] | None = None
    entry: int | None = None


@dataclass(slots=True)
class OptionScan:
    """The state of a program's option parsing. `argv` are its arguments, and `index` is `optind`.

    `order` is the order of the arguments. When parsing is complete, all non-options are at its end.
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

    def next(self, short: str, table: Sequence[LongOption] = ()) -> Found:
        """The next option.

        >>> scan = OptionScan(["p", "-vn", "5", "file", "--size=7"])
        >>> table = [LongOption("size", 1, 115)]
        >>> [scan.next("vn:", table) for _ in range(4)][1:]  # doctest: +NORMALIZE_WHITESPACE
        [Found(value=110, argument=(2, 0), entry=None),
         Found(value=115, argument=(4, 7), entry=0), Found(value=-1, argument=None, entry=None)]
        """
        if self.ended:
            return Found(-1)
        plain = short.lstrip("+-:")
        if not self.inside:
            while self.index < len(self.argv) and not self._is_option(self.argv[self.index]):
                if short.startswith("+"):
                    return self._end()
                self.rest.append(self.index)
                self.index += 1
            if self.index >= len(self.argv):
                return self._end()
            word = self.argv[self.index]
            self.read.add(self.index)
            if word == "--":
                self.index += 1
                return self._end()
            if word.startswith("--") and table:
                return self._long(word[2:], table)
            self.inside = 1
        return self._short(plain)

    def _end(self) -> Found:
        last = [*self.rest, *range(self.index, len(self.argv))]
        self.order = [at for at in self.order if at not in last] + last
        self.index = len(self.order) - len(last)
        self.ended = True
        return Found(-1)

    @staticmethod
    def _is_option(word: str) -> bool:
        return word.startswith("-") and word != "-"

    def _short(self, short: str) -> Found:
        word = self.argv[self.index]
        letter = word[self.inside]
        self.inside += 1
        at = short.find(letter) if letter != ":" else -1
        takes = 0
        if at >= 0:
            behind = short[at + 1 : at + 3]
            takes = 2 if behind == "::" else 1 if behind.startswith(":") else 0
        argument = None
        if takes and self.inside < len(word):
            argument = (self.index, self.inside)
            self.inside = len(word)
        if self.inside >= len(word):
            self.inside = 0
            self.index += 1
        if at < 0:
            return Found(ord("?"))
        if takes == 1 and argument is None:
            if self.index >= len(self.argv):
                return Found(ord("?"))
            argument = (self.index, 0)
            self.read.add(self.index)
            self.index += 1
        return Found(ord(letter), argument)

    def _long(self, word: str, table: Sequence[LongOption]) -> Found:
        name, equals, _ = word.partition("=")
        at = self.index
        self.index += 1
        exact = [number for number, option in enumerate(table) if option.name == name]
        alike = exact or [n for n, option in enumerate(table) if option.name.startswith(name)]
        if len(alike) != 1:
            return Found(ord("?"))
        option = table[alike[0]]
        if equals:
            if not option.argument:
                return Found(ord("?"))
            return Found(option.value, (at, 3 + len(name)), alike[0])
        if option.argument == 1:
            if self.index >= len(self.argv):
                return Found(ord("?"))
            argument = (self.index, 0)
            self.read.add(self.index)
            self.index += 1
            return Found(option.value, argument, alike[0])
        return Found(option.value, None, alike[0])
