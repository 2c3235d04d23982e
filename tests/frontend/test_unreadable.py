"""Files that may not be read: one line each, whoever runs the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for

NOBODY = 65534


@pytest.fixture
def plain_user(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file that even a test run by root may not read."""
    (tmp_path / "kept.c").write_text("int a;\n")
    (tmp_path / "kept.c").chmod(0)
    root = os.geteuid() == 0
    for folder in (tmp_path, *tmp_path.parents[:2]):
        if root:
            folder.chmod(0o755)
    if root:
        os.seteuid(NOBODY)
    yield tmp_path
    if root:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["kept.c", "."])
def test_a_file_without_leave_is_one_line(plain_user: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        requests_for([str(plain_user / name)])
    assert str(plain_user / "kept.c") in str(caught.value)
    assert "cannot be read: Permission denied" in str(caught.value)
