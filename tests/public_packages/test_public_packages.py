"""Public packages with OpenMP loops, as a user would read them: no loop of theirs is lost.

The sources are downloaded, and none is kept. What is expected was counted in their text: the
lines with a loop directive, outside comments. Each is a region, or a note says with which option
it would be one (RP006), or it is where no compiler looks: in a file that no source includes, in
CUDA, or under `#if 0`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from source_archives import NotHere, debian_source, python_source

from regionpredict.frontend import requests_for

pytestmark = [pytest.mark.slow]


class Package(NamedTuple):
    """A package with what its text holds: `files` that are sources, `loops` with a directive of
    their own, those that an option leaves out, and those where no compiler looks.

    `regions` has more where a macro or a template makes several of one line, where tasks or
    loops shared by thread number are, and fewer where loops are left out.
    """

    index: str
    name: str
    version: str
    files: int
    loops: int
    regions: int
    left_out: int = 0
    unread: int = 0


PACKAGES = (
    Package("python", "fastgeodis", "1.0.5", files=5, loops=4, regions=4),
    Package("python", "multicoretsne", "0.1", files=2, loops=3, regions=6),
    Package("python", "batman-package", "2.5.2", files=10, loops=5, regions=5),
    Package("python", "cc-csf", "1.0.3", files=9, loops=13, regions=13),
    Package("python", "histmp", "0.0.6", files=4, loops=8, regions=40),
    Package("python", "orc-bound", "0.2.1", files=1, loops=2, regions=2),
    Package("python", "projectq", "0.8.0", files=1, loops=38, regions=28, unread=10),
    Package("python", "py-sphviewer", "1.2.4", files=5, loops=9, regions=9),
    Package("python", "pygram11", "0.9.1", files=2, loops=12, regions=12),
    Package("python", "pykdtree", "1.4.3", files=1, loops=4, regions=4),
    Package("python", "somoclu", "1.7.6", files=6, loops=14, regions=8, left_out=4, unread=2),
    Package("python", "sparse-dot-topn", "1.2.0", files=4, loops=5, regions=0, left_out=5),
    Package("python", "finufft", "2.5.1", files=9, loops=12, regions=12),
    Package("python", "pyfwht", "2.0.1", files=6, loops=4, regions=8),
    Package("python", "scs", "3.3.1", files=55, loops=2, regions=2),
    Package("python", "reboundx", "5.1.0", files=33, loops=3, regions=3),
    Package("python", "galpy", "1.9.2", files=65, loops=38, regions=38),
    Package("python", "treecorr", "5.1.4", files=6, loops=16, regions=16),
    Package("debian", "fasttree", "2.1.11-2", files=1, loops=5, regions=7),
    Package("debian", "freecontact", "1.0.21-13", files=3, loops=3, regions=3),
    Package("debian", "libsharp", "1.0.0-2", files=12, loops=5, regions=5),
    Package("debian", "healpix-cxx", "3.80.0-5", files=56, loops=13, regions=18),
    Package("debian", "clustalo", "1.2.4-7", files=59, loops=21, regions=16, unread=5),
)
SUFFIXES = {".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hpp", ".hh", ".hxx", ".cu"}


@pytest.fixture(scope="session")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apt")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_loop_of_the_text_is_accounted_for(
    package: Package, tmp_path: Path, lists: Path
) -> None:
    folder = tmp_path / "source"
    try:
        if package.index == "python":
            python_source(package.name, package.version, folder)
        else:
            debian_source(package.name, package.version, folder, lists)
    except NotHere as reason:
        pytest.skip(str(reason))
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "analyze", "source", "--format", "json", "-j", "1"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    notes = [
        *told["diagnostics"],
        *(note for one in told["regions"] for note in one["diagnostics"]),
    ]
    assert [note for note in notes if note["id"] in ("RP004", "RP120")] == []
    left_out = {(note["file"], note["line"]) for note in notes if note["id"] == "RP006"}
    regions = {(one["file"], one["line"]) for one in told["regions"]}
    loops = loops_in_text(tmp_path)
    counted = package._replace(
        files=len(requests_for([str(folder)])), loops=len(loops), regions=len(told["regions"]),
        left_out=len(loops & left_out), unread=len(loops - left_out - regions),
    )  # fmt: skip
    assert counted == package


def loops_in_text(top: Path) -> set[tuple[str, int]]:
    """File and line of every directive of a loop, outside comments."""
    found = set()
    for file in (one for one in top.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
        text = file.read_text(errors="replace")
        text = re.sub(
            r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL
        )
        for match in re.finditer(r"^[ \t]*#\s*pragma\s+omp\b((?:\\\n|.)*)", text, re.MULTILINE):
            if re.search(r"\b(for|taskloop)\b", match[1].partition("//")[0]):
                line = text.count("\n", 0, match.start()) + 1
                found.add((str(file.relative_to(top)), line))
    return found
