"""Inputs spoilt at random, the same way every time."""

from __future__ import annotations

import random

TOKENS = (
    b"-1", b"0", b"1e999999", b"9" * 500, b"null", b"true", b"{}", b"[]", b'"x"', b"nan", b"{",
    b"}", b"[", b"]", b'"', b",", b":", b"\n", b"\0", b"\xff", b"&a", b"*a", b"- ", b"(", b")",
    b"^", b";", b"1:1:1:1", b"2001-02-31", b"!!binary", b"<<:", b"%d", b"\\u0000", b"[" * 300,
    b"-" * 50, b"1e308", b"1e-320", b"9223372036854775807", b"1" + b"0" * 18, b"4294967296",
)  # fmt: skip


def mutants(original: bytes, count: int, seed: int) -> list[bytes]:
    """`count` spoilt copies: bytes changed, removed, doubled, cut off, or replaced by tokens."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        data = bytearray(original)
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            at = chance.randrange(len(data) + 1)
            end = min(len(data), at + chance.choice((1, 2, 5, 20)))
            kind = chance.randrange(7)
            if kind == 0:
                data[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
            elif kind == 1:
                del data[at:end]
            elif kind == 2:
                data[at:at] = data[at:end] * chance.choice((1, 2, 50))
            elif kind == 3:
                data[at:end] = chance.choice(TOKENS)
            elif kind == 4:
                data[at:at] = chance.choice(TOKENS)
            elif kind == 5 and chance.random() < 0.3:
                del data[at:]
            else:
                number = _a_number(data, at)
                data[number[0] : number[1]] = chance.choice(TOKENS)
        made.append(bytes(data))
    return made


def _a_number(data: bytearray, at: int) -> tuple[int, int]:
    """Where the next run of digits from `at` on is."""
    begin = at
    while begin < len(data) and not 48 <= data[begin] < 58:
        begin += 1
    end = begin
    while end < len(data) and 48 <= data[end] < 58:
        end += 1
    return begin, end
