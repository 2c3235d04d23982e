"""Commits of a repository that its user does not trust: no program runs, no file is outside."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from regionpredict.cli.source_trees import checked_out, side_of


def git(folder: Path, *words: str, given: bytes | None = None) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@x")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, input=given
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.c").write_text("int a;\n")
    git(folder, "init", "-q")
    monkeypatch.chdir(folder)
    return folder


def committed(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def files_of(commit: str) -> dict[str, str]:
    """The files of a commit as they are checked out, and links with `->` before their targets."""
    found = {}
    with checked_out(side_of(commit, ".")):
        for path in sorted(Path().rglob("*")):
            if path.is_symlink():
                found[str(path)] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path)] = path.read_text()
    return found


def test_the_filters_of_a_repository_do_not_run(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.c filter=x\n*.h export-subst\n")
    (repository / "b.h").write_text("// $Format:%H$\n")
    git(repository, "config", "filter.x.smudge", f"touch {repository}/run; cat")
    git(repository, "config", "filter.x.clean", "cat")
    found = files_of(committed(repository))
    assert found["src/a.c"] == "int a;\n"
    assert found["b.h"] == "// $Format:%H$\n"
    assert not (repository / "run").exists()


def test_links_that_lead_out_are_left_out(repository: Path) -> None:
    targets = {
        "inside": "src/a.c", "src/up": "../src", "absolute": "/etc/passwd", "loop": "loop",
        "out": "../../../etc", "src/over": "up/../../x", "dangling": "src/none",
    }  # fmt: skip
    for name, target in targets.items():
        (repository / name).symlink_to(target)
    found = files_of(committed(repository))
    links = {path for path, text in found.items() if text.startswith("->")}
    assert links == {"inside", "src/up", "loop", "dangling"}


def test_names_that_lead_out_are_left_out(repository: Path) -> None:
    """Such a tree has to be written by hand: `git add` and `git mktree` refuse it."""
    blob = git(repository, "hash-object", "-w", "--stdin", given=b"int b;\n")
    entries = b"".join(
        b"%s %s\0%s" % (mode, name, bytes.fromhex(number))
        for mode, name, number in (
            (b"120000", b"a", git(repository, "hash-object", "-w", "--stdin", given=b"..")),
            (b"100644", b"a/b.c", blob), (b"100644", b"c.c", blob), (b"100644", b"../d.c", blob),
        )
    )  # fmt: skip
    tree = git(repository, "hash-object", "-w", "-t", "tree", "--literally", "--stdin",
               given=entries)  # fmt: skip
    commit = git(repository, "commit-tree", tree, "-m", "x")
    assert files_of(commit) == {"a/b.c": "int b;\n", "c.c": "int b;\n"}
    assert not Path(tempfile.gettempdir(), "d.c").exists()
