"""`regionpredict sizes --ask`: requests the deciding sizes one by one on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.errors import InputError, UsageError, one_line, plural

if TYPE_CHECKING:
    from regionpredict.sizes.asked_sizes import AskedSize
    from regionpredict.sizes.ranking import SizeRanking

FILE = "sizes.yaml"
_SHOWN = 3  # maximum number of loops shown per size
_LARGEST = 1 << 63


def check_terminal(output: str | None, form: str) -> str:
    """Returns the name of the file to write. Raises UsageError without a terminal, InputError if
    `sizes.yaml` exists and no other file is named.
    """
    if form == "json":
        raise UsageError("--ask writes YAML", remedy="leave --format out")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "--ask needs a terminal", remedy=f"use --format yaml -o {FILE}, and fill the file in"
        )
    if output is None and Path(FILE).exists():
        raise InputError("exists", remedy="choose another -o FILE", path=FILE)
    return output or FILE


def ask_sizes(questions: Sequence[AskedSize], ranking: SizeRanking) -> dict[str, int]:
    """Returns the answers by name. An empty line takes the assumed value. Without an assumed value,
    the size is left out. The end of the input ends the questions.
    """
    answers: dict[str, int] = {}
    _print_line("An empty line accepts the value in brackets. Ctrl-D ends the questions.")
    for number, one in enumerate(questions, 1):
        name = one_line(one.size.name)
        place = one_line(f"{one.size.file}:{one.size.line}")
        _print_line("")
        _print_line(
            f"{number} of {len(questions)}: {name}" + ("" if place == name else f"  ({place})")
        )
        _print_line(
            f"  decides {one.size.decides} of {plural(ranking.regions, 'loop')}: {_loop_list(one)}"
        )
        try:
            answer = _read_answer(name, one.assumed)
        except EOFError:
            _print_line("")
            break
        if answer is not None:
            answers[one.size.name] = answer
    return answers


def _read_answer(name: str, assumed: int | None) -> int | None:
    from regionpredict.sizes.integer_texts import integer_of_text

    shown = "" if assumed is None else f" [{assumed}]"
    while True:
        click.echo(f"  {name}{shown}: ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        text = line.strip()
        if not text:
            return assumed
        try:
            value = integer_of_text(text)
        except ValueError:
            _print_line("  Not an integer. Write for example 4000, 0x1000 or 1e6.")
            continue
        if -_LARGEST <= value < _LARGEST:
            return value
        _print_line("  No C integer holds such a value.")


def _loop_list(size: AskedSize) -> str:
    places = [
        one_line(f"{prediction.facts.region.id} {prediction.facts.region.function}")
        for prediction in size.regions
    ]
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more


def _print_line(text: str) -> None:
    click.echo(text, err=True)
