"""The size of a domain's memory: read with its unit, left out without one, refused where odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.machine import load

_TEXT = """
name: box
source: "made up"
node: {{packages: 2, cores_per_package: 4, clock: 2 GHz}}
caches:
  - {{level: 1, size: 32 KiB, cores: 1}}
memory:
  bandwidth: {{load: {{1: 10, 4: 20}}}}
{size}"""


def _load(tmp_path: Path, size: str) -> object:
    path = tmp_path / "box.yaml"
    path.write_text(_TEXT.format(size=size))
    return load(str(path)).memory.size_bytes


def test_size_is_bytes_of_one_domain(tmp_path: Path) -> None:
    """32 GiB are 32 * 2**30 bytes, GB are powers of ten, and no entry is no limit."""
    assert _load(tmp_path, "  size: 32 GiB\n").value == 32 * 2**30  # type: ignore[attr-defined]
    assert _load(tmp_path, "  size: 64 GB\n").value == 64e9  # type: ignore[attr-defined]
    assert _load(tmp_path, "") is None


@pytest.mark.parametrize("size", ["-3 GiB", "0", "many", "32 GHz"])
def test_odd_sizes_are_refused_with_their_place(tmp_path: Path, size: str) -> None:
    """A size that is none, negative or of the wrong unit is one line with file and line."""
    with pytest.raises(InputError) as caught:
        _load(tmp_path, f"  size: {size}\n")
    assert "memory.size" in str(caught.value) or "size" in str(caught.value)
