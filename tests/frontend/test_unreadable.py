"""Files that may not be read: one line each, whoever runs the tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.frontend import FRONTENDS, read, requests_for

NOBODY = 65534
LOOP = """void f(int n, double *a)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i;
}
"""


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder with a file that even a test run by root may not read."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kept.c").write_text("int a;\n")
        (folder / "kept.c").chmod(0)
        (folder / "other.c").write_text(LOOP)
        folder.chmod(0o755)  # pytest's own folders are closed to others
        if root:
            for frontend in FRONTENDS:  # loaded while the package can be read, wherever it lies
                read(requests_for([str(folder / "other.c")]), frontend)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)


def test_a_file_without_leave_is_one_line(plain_user: Path) -> None:
    with pytest.raises(InputError) as caught:
        requests_for([str(plain_user / "kept.c")])
    assert str(plain_user / "kept.c") in str(caught.value)
    assert "cannot be read: Permission denied" in str(caught.value)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_below_a_folder_it_takes_no_other_down(plain_user: Path, frontend: str) -> None:
    program = read(requests_for([str(plain_user)]), frontend)
    assert [Path(region.span.file).name for region in program.regions] == ["other.c"]
    (said,) = [one for one in program.diagnostics if one.span.file.endswith("kept.c")]
    assert "cannot be read" in said.message


@pytest.mark.parametrize(
    "file, said",
    [("notes.txt", "no C or C++ source in this folder; name a folder with .c files"),
     ("only.hpp", "only headers in this folder; name those to read, such as ")],
)  # fmt: skip
def test_a_folder_without_sources_says_what_to_name(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / file).write_text(LOOP)
    with pytest.raises(InputError) as caught:
        requests_for([str(tmp_path)])
    assert said in str(caught.value)
