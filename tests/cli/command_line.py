"""Calls the command line in this process, as a shell would, and gives what it printed."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from regionpredict.cli.main import main


class Outcome(NamedTuple):
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> Outcome:
    monkeypatch.setattr(sys, "argv", ["regionpredict", *words])
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    return Outcome(code, printed.out, printed.err)
