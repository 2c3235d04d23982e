"""Libraries that are kept between calls: a damaged one is built again, not loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from regionpredict.measure.runtime_library import shared_library

pytestmark = pytest.mark.compiler


def inverted(path: Path) -> None:
    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").write_text("x")


def a_link(path: Path) -> None:
    path.rename(path.with_suffix(".else"))
    path.symlink_to(path.with_suffix(".else"))


def absent(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("which", ["library", "digest"])
@pytest.mark.parametrize("damage", [inverted, truncated, a_folder, a_link, absent])
def test_a_damaged_library_is_built_again(
    tmp_path: Path, damage: Callable[[Path], None], which: str
) -> None:
    (tmp_path / "code").mkdir()
    source = tmp_path / "code" / "seven.c"
    source.write_text("int seven(void) { return 7; }\n")
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    built = shared_library(["gcc"], cache, source)
    assert shared_library(["gcc"], cache, source) == built
    damage(built if which == "library" else built.with_name(f"{built.name}.sha256"))
    again = shared_library(["gcc"], cache, source)
    assert again == built
    assert ctypes.CDLL(str(again)).seven() == 7
    assert not again.is_symlink()
