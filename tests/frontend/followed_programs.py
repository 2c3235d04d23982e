"""Programs that print the sizes of their one loop, held against what following them says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from regionpredict.analysis.bindings import bind_names, free_names
from regionpredict.frontend import ArgumentValues, SourceRequest, read_alone

WORDS = st.one_of(
    st.integers(-3, 10**6).map(str),
    st.sampled_from([
        "-s", "-r", "-v", "-w", "-vs", "--", "-", "--size", "--siz", "--s", "--rows", "--fast",
        "--size=12", "--rows=4", "--fast=1", "--verbose", "-s7", "-r8", "-o5", "-o", "-x", "-rs",
        "3x4", "10x", "0x20", "017", "1e3", " 9", "2.75", "12k", "abc", "", "+5", "file",
    ]),
)  # fmt: skip


@dataclass(frozen=True)
class Programs:
    """Texts by style, compiled in a folder when they are first asked for."""

    folder: Path
    texts: Mapping[str, str]
    compiler: tuple[str, ...]
    ending: str

    def built(self, style: str) -> Path:
        """The source of a program, beside which it lies compiled."""
        source = self.folder / f"{style.replace(' ', '_')}{self.ending}"
        if not source.exists():
            source.write_text(self.texts[style])
            line = [*self.compiler, str(source), "-o", str(source.with_suffix(""))]
            subprocess.run(line, check=True, timeout=600)
        return source

    def check(self, style: str, frontend: str, hidden: str = "") -> None:
        """Whatever is said of `n` and `m` is what is printed, and all but the hidden is said."""
        source = self.built(style)

        @settings(
            max_examples=6,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        )
        @given(st.lists(WORDS, max_size=5))
        @example(["60"])
        @example(["-s", "60", "-r", "7"])
        @example(["--size", "60", "--rows=7", "5", "--fast"])
        @example(["-vs60", "8", "-r", "7", "9"])
        def check(words: list[str]) -> None:
            printed = _printed(source, words)
            known, remarks = said_of(source, words, frontend)
            if printed is None:
                return
            for name, value in zip("nm", printed, strict=True):
                assert known.get(name, value) == value, (words, remarks)
                if name not in hidden:
                    assert name in known, (words, remarks)

        check()


def _printed(source: Path, words: Sequence[str]) -> tuple[int, int] | None:
    """What the program prints in front of its loop; None where it does not come there."""
    done = subprocess.run(
        [str(source.with_suffix("")), *words], capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    pairs = {(int(line[0]), int(line[1])) for line in lines if len(line) == 2}
    assert len(pairs) <= 1
    return pairs.pop() if pairs else None


def said_of(
    source: Path, words: Sequence[str], frontend: str
) -> tuple[dict[str, object], list[str]]:
    """The values that following a program gives its free names, and what could not be followed."""
    request = SourceRequest(str(source), defines=(("_GNU_SOURCE", "1"),))
    part = read_alone(request, frontend, arguments=list(words))
    [(region, said)] = part.regions
    assert isinstance(part.arguments, ArgumentValues)
    names = free_names(region) | {name for one in said for name in one.value.names}
    known = part.arguments.at(region.span, names, said).definitions
    return dict(bind_names(region, known, {}).values), list(part.arguments.remarks)
