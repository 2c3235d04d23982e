"""A declaration of many names is parsed once, in whatever order its names are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regionpredict.frontend import SourceRequest, read
from regionpredict.frontend.pycparser_reader.top_level import ChunkParser


def test_a_declaration_of_many_names_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each of its names took 200 s and 2 GB for two thousand arrays."""
    parsed = []
    original = ChunkParser.parse

    def counting(parser: ChunkParser, start: int, stop: int, **options: Any) -> Any:
        parsed.append(start)
        return original(parser, start, stop, **options)

    monkeypatch.setattr(ChunkParser, "parse", counting)
    pairs = range(10)
    declared = ", ".join(f"a{i}[64], b{i}[64]" for i in pairs)
    body = " ".join(f"a{i}[i] = b{i}[i];" for i in pairs)
    source = f"double {declared};\nvoid f(void) {{\n#pragma omp parallel for\n"
    source += f"for (int i = 0; i < 64; i++) {{ {body} }}\n}}\n"
    (tmp_path / "f.c").write_text(source)
    program = read([SourceRequest(str(tmp_path / "f.c"))], frontend="pycparser")
    assert len(program.regions[0].arrays) == 20
    assert len(parsed) == 3  # the declaration, the head of f, and f


@pytest.mark.parametrize("first_used", ["a", "b"])
def test_the_last_declaration_counts_whichever_name_is_used_first(
    tmp_path: Path, first_used: str
) -> None:
    last_used = "ab".replace(first_used, "")
    source = f"""extern double b[];
double a[8], b[8];
void f(void) {{
#pragma omp parallel for
for (int i = 0; i < 8; i++) {{ {first_used}[i] = 1; {last_used}[i] = 2; }}
}}
"""
    (tmp_path / "f.c").write_text(source)
    program = read([SourceRequest(str(tmp_path / "f.c"))], frontend="pycparser")
    arrays = {array.name: array for array in program.regions[0].arrays}
    assert {name: array.declared.line for name, array in arrays.items()} == {"a": 2, "b": 2}
