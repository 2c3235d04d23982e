"""Whatever a compile_commands.json holds, it gives requests or the one error of a wrong input."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for

MUTANTS = 300
SNIPPETS = [
    b"\xe9", b"\x00", b"\\u0000", b"\\ud800", b"9" * 5000, b"[" * 3000, b"null", b"{}", b"1e999",
    b'"', b"\\", b"a" * 5000, b"-D", b"-I", b"'", b"/dev/zero", b"\n", b"\xef\xbb\xbf", b"..",
]  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Path:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int x;\n")
    path = tmp_path / "compile_commands.json"
    entries = [
        {"directory": ".", "file": "a.c", "command": "gcc -DN=4 -Iinclude -std=c99 -c a.c"},
        {"directory": str(tmp_path), "file": "b.c", "output": "b.o",
         "arguments": ["cc", "-isystem", "inc", "-D", "M", "-UK", "b.c"]},
    ]  # fmt: skip
    path.write_text(json.dumps(entries, indent=1))
    return path


def test_what_the_commands_say_is_taken(database: Path) -> None:
    first, second = requests_for([str(database)])
    assert Path(first.path).name == "a.c"
    assert first.defines == (("N", "4"),)
    assert first.includes == (str(database.parent / "include"),)
    assert first.standard == "c99"
    assert second.defines == (("M", "1"),)
    assert second.extra == ("-isystem", str(database.parent / "inc"), "-UK")


@pytest.mark.parametrize(
    ("command", "free"),
    [
        ("gcc -O3 a.c", False),
        ("gcc -O3 -ffast-math a.c", True),
        ("clang -Ofast -fno-associative-math a.c", False),
        ("/opt/bin/icx -O2 a.c", True),
        ("icc -fp-model precise a.c", False),
        ("icpx-2024 -fp-model=strict -c a.c", False),
        ("gcc -fp-model", False),
    ],
)
def test_commands_that_free_the_order_of_sums(database: Path, command: str, free: bool) -> None:
    database.write_text(json.dumps([{"directory": ".", "file": "a.c", "command": command}]))
    (request,) = requests_for([str(database)])
    assert request.reassociates == free


def mutated(data: bytes, choose: random.Random) -> bytes:
    """One to three cuts, repetitions, changed bytes or snippets."""
    for _ in range(choose.randint(1, 3)):
        at, end = sorted(choose.randrange(len(data) + 1) for _ in range(2))
        kind = choose.randrange(5)
        if kind == 0:
            data = data[:at] + data[min(end, at + 20) :]
        elif kind == 1:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif kind == 2:
            data = data[:at] + bytes([choose.randrange(256)]) + data[at + 1 :]
        elif kind == 3:
            data = data[:at] + choose.choice(SNIPPETS) + data[at:]
        else:  # inside a text, where it stays JSON
            quotes = [i for i, byte in enumerate(data) if byte == ord('"')]
            at = choose.choice(quotes) + 1 if quotes else 0
            data = data[:at] + choose.choice(SNIPPETS) + data[at:]
    return data


def test_mutants_raise_nothing_else(database: Path) -> None:
    choose = random.Random(20_240_501)
    sane = database.read_bytes()
    outcomes = set()
    for _ in range(MUTANTS):
        data = mutated(sane, choose)
        database.write_bytes(data)
        try:
            outcomes.add(bool(requests_for([str(database)])))
        except InputError as error:
            outcomes.add(False)
            assert str(error).startswith(str(database)), data
            assert "\n" not in str(error), data
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b'[{"directory": ".", "file": "a\xe9.c"}]', "not UTF-8 text"),
        (b'[{"file": "a.c", "n": ' + b"9" * 5000 + b"}]", "not a compilation database"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"file": "a\\u0000.c"}]', "an entry with a NUL"),
        (b'[{"file": "\\ud800.c"}]', "not UTF-8 text"),
        (b'[{"file": "a.c", "command": "gcc \'"}]', "not a shell command"),
        (b'[{"file": ["a.c"]}]', "fields are not text"),
        (b'{"file": "a.c"}', "not a compilation database"),
        (b"[1]", "an entry without 'file'"),
        (b'[{"file": "' + b"a" * 5000 + b'.c"}]', "no C or C++ file listed"),
        (b"", "not JSON"),
    ],
)
def test_what_is_wrong_is_said(database: Path, text: bytes, what: str) -> None:
    database.write_bytes(text)
    with pytest.raises(InputError, match=what.replace("+", r"\+")) as caught:
        requests_for([str(database)])
    assert caught.value.path == str(database)


def test_a_pipe_is_no_database(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "compile_commands.json")
    with pytest.raises(InputError, match="not a regular file"):
        requests_for([str(tmp_path / "compile_commands.json")])
