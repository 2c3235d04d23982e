"""The cache is its owner's alone, or is not used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.user_cache import is_private_file, private_folder, user_cache_folder

ROOT = Path(__file__).resolve().parents[2]
SOMEBODY_ELSE = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_environment_says_where_the_cache_is():
    assert user_cache_folder({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/regionpredict")
    assert user_cache_folder({"HOME": "/h"}) == Path("/h/.cache/regionpredict")
    # A relative one is invalid by the specification; so is an empty one.
    assert user_cache_folder({"XDG_CACHE_HOME": "c", "HOME": "/h"}).is_relative_to("/h")
    assert user_cache_folder({"XDG_CACHE_HOME": "", "HOME": "/h"}).is_relative_to("/h")


def test_without_home_the_account_says_it():
    pwd = pytest.importorskip("pwd")
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        pytest.skip("the user has no account")
    assert user_cache_folder({}) == Path(home, ".cache", "regionpredict")


def test_new_folders_are_for_their_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path / "a" / "b" / "regionpredict")
    finally:
        os.umask(before)
    assert [mode(path) for path in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3
    assert private_folder(folder) == folder


@pytest.mark.parametrize("bits", [0o720, 0o702, 0o777, 0o1777])
def test_what_others_can_write_to_is_refused(tmp_path, bits):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(bits)
    with pytest.raises(InputError, match="writable by others"):
        private_folder(folder)


def test_what_others_can_only_read_is_taken(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    assert private_folder(folder) == folder


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "cache").symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="is a link"):
        private_folder(tmp_path / "cache")


def test_a_link_of_ones_own_above_the_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert private_folder(tmp_path / "home" / "cache") == (tmp_path / "real" / "cache").resolve()


def test_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(InputError, match="no folder"):
        private_folder(tmp_path / "cache")
    with pytest.raises(InputError, match="cannot be made"):
        private_folder(tmp_path / "cache" / "regionpredict")


@pytest.mark.parametrize("bits", [0o777, 0o770])
def test_a_folder_above_that_others_can_write_to_is_refused(tmp_path, bits):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(bits)
    with pytest.raises(InputError, match="could replace"):
        private_folder(above / "cache")
    assert list(above.iterdir()) == []  # nothing was made in it


def test_below_a_sticky_folder_it_is_safe(tmp_path):
    above = tmp_path / "tmp"
    above.mkdir()
    above.chmod(0o1777)
    assert mode(private_folder(above / "cache")) == 0o700


@as_root
def test_somebody_elses_folder_is_refused(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    os.chown(folder, SOMEBODY_ELSE, SOMEBODY_ELSE)
    with pytest.raises(InputError, match=f"belongs to user {SOMEBODY_ELSE}"):
        private_folder(folder)


@as_root
def test_below_somebody_elses_folder_nothing_is_made(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    os.chown(home, SOMEBODY_ELSE, SOMEBODY_ELSE)
    with pytest.raises(InputError, match=f"belongs to user {SOMEBODY_ELSE}"):
        private_folder(home / ".cache" / "regionpredict")
    assert list(home.iterdir()) == []


@as_root
def test_behind_somebody_elses_link_nothing_is_made(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    link = tmp_path / "home"
    link.symlink_to(tmp_path / "real")
    os.chown(link, SOMEBODY_ELSE, SOMEBODY_ELSE, follow_symlinks=False)
    with pytest.raises(InputError, match=f"belongs to user {SOMEBODY_ELSE}"):
        private_folder(link / "cache")


def test_private_files(tmp_path):
    path = tmp_path / "library.so"
    assert not is_private_file(path)
    path.write_text("")
    path.chmod(0o600)
    assert is_private_file(path)
    path.chmod(0o620)
    assert not is_private_file(path)
    (tmp_path / "link.so").symlink_to(path)
    path.chmod(0o600)
    assert not is_private_file(tmp_path / "link.so")
    assert not is_private_file(tmp_path)
    if os.geteuid() == 0:
        os.chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE)
        assert not is_private_file(path)


PROGRAM = """
#include <stdio.h>
int main(void) {
    double s = 0;
#pragma omp parallel for reduction(+:s)
    for (int i = 0; i < 1000; ++i) s += i;
    printf("%g\\n", s);
    return 0;
}
"""


@pytest.mark.compiler
def test_a_library_put_into_the_cache_by_others_is_not_loaded(tmp_path):
    """A library in a cache that others can write to is not loaded into the measured program."""
    (tmp_path / "p.c").write_text(PROGRAM)
    build = ["gcc", "-g", "-fopenmp", "p.c", "-o", "p"]
    subprocess.run(build, cwd=tmp_path, check=True)
    cache = tmp_path / "cache"
    settings = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}

    def measure(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "regionpredict", "measure", "--binary", "--quiet-wait", "none",
             "--repeat", "1", "--threads", "1", "-o", name, "--", "./p"],
            cwd=tmp_path, env=settings, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = measure("1.jsonl")
    assert done.returncode == 0, done.stderr
    (library,) = (cache / "regionpredict").glob("preload-*.so")
    (tmp_path / "bad.c").write_text(
        "#include <stdio.h>\n__attribute__((constructor)) static void f(void)"
        '{ fclose(fopen("loaded", "w")); }\n'
    )
    bad = ["gcc", "-shared", "-fPIC", "bad.c", "-o", str(library)]
    subprocess.run(bad, cwd=tmp_path, check=True)
    library.chmod(0o777)  # as one that somebody else wrote into a folder that was open
    done = measure("2.jsonl")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "loaded").exists()
    subprocess.run(bad, cwd=tmp_path, check=True)
    (cache / "regionpredict").chmod(0o777)
    done = measure("3.jsonl")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "writable by others" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "loaded").exists()
