"""Colors on terminals: red for errors, yellow for doubtful or unknown values, green for valid ones,
cyan for possible gains.

Only words with the same meaning are colored, so no information depends on color alone. Files are
never colored, and pipes only on request. Importing this file loads no heavy module.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from regionpredict.errors import escape_control_characters

if TYPE_CHECKING:
    import click

CHOICE = "regionpredict.colour"
"""The key of the --color option in the context."""
CHOICES = ("auto", "always", "never")
_RED, _GREEN, _YELLOW, _CYAN = 31, 32, 33, 36
_END = "\x1b[0m"

# Patterns of words in tables, each with its color. The first match counts.
_WORDS = (
    (_RED, r"^(?:error|failed)(?=: )|\bnot as expected$|(?<=  )broken$|\bwrong(?=$|\n)"
           r"|\bdoes not hold\b|\bRP22[1-4]\b"),
    (_YELLOW, r"^(?:warning|note)(?=: )|\bborderline\b|\bnot (?:judged|comparable|known)\b"
              r"|\bunknown\b|\babout as expected$|\bnot checked\b|(?<= )\?(?= |$)|^ +assumed(?=: )"
              r"|(?<=\dx)~(?= )"),
    (_GREEN, r"(?<=  )(?:as expected|holds)$"),
    (_CYAN, r"^ +\d+\.\d+x(?=: )|(?<=  )\d+\.\d+x(?=: )"),
)  # fmt: skip
# Patterns of lines on standard error, each with its color.
_NOTICES = (
    (_YELLOW, r"^(?:regionpredict: )?(?:note|warning)(?=: )"),
    (_RED, r"^regionpredict(?=: )"),
)


def _joined_pattern(patterns: Iterable[tuple[int, str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<c{colour}>{text})" for colour, text in patterns), re.MULTILINE)


_TABLE, _NOTICE = _joined_pattern(_WORDS), _joined_pattern(_NOTICES)


def painted_table(text: str) -> str:
    """Colors the words of a table."""
    return _paint_matches(_TABLE, text)


def _paint_matches(pattern: re.Pattern[str], text: str) -> str:
    def paint(match: re.Match[str]) -> str:
        colour = next(name for name, matched in match.groupdict().items() if matched is not None)
        return f"\x1b[{colour[1:]}m{match[0]}{_END}"

    return pattern.sub(paint, text)


def in_colour(stream: TextIO, environment: Mapping[str, str], choice: str = "auto") -> bool:
    """Whether output to a stream is colored.

    In order of precedence: --color, NO_COLOR, FORCE_COLOR (if not empty, as in no-color.org and
    force-color.org), and otherwise a terminal with colors.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return stream.isatty() and environment.get("TERM", "") != "dumb"


def shows_table() -> bool:
    """Whether the running command prints a table, and not another --format or a stage of --dump."""
    from click import get_current_context

    context = get_current_context(silent=True)
    if context is None or context.params.get("stage") is not None:
        return False
    for option in context.command.params:
        if "--format" in option.opts:
            return context.params.get(option.name or "") in ("table", "text", None)
    return True


def color_choice() -> str:
    """Returns the value of --color."""
    from click import get_current_context

    context = get_current_context(silent=True)
    return "auto" if context is None else str(context.meta.get(CHOICE, "auto"))


class NoticeStream:
    """Standard error. If `on`, notes and errors are colored."""

    def __init__(self, stream: TextIO, on: bool) -> None:
        self._stream = stream
        self.on = on

    def write(self, text: str) -> int:
        """Writes the text without control characters, and returns its length.

        A carriage return is kept, since progress lines are overwritten.
        """
        text = "\r".join(map(escape_control_characters, text.split("\r")))
        self._stream.write(_paint_matches(_NOTICE, text) if self.on else text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes each text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def choose_colour(context: click.Context, choice: str, environment: Mapping[str, str]) -> None:
    """Stores the choice of --color for standard output and standard error."""
    context.meta[CHOICE] = choice
    if isinstance(sys.stderr, NoticeStream):
        sys.stderr.on = in_colour(sys.stderr, environment, choice)  # type: ignore[arg-type]
