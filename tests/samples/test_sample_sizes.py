"""The sizes of the samples follow the data set, a single override, and the cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from further_cases import further_slow, of_each_kind

ROOM = Path(__file__).resolve().parents[2] / "polybench_samples"
SAMPLES = {path.stem: path for path in sorted(ROOM.glob("*/*/*.c"))}
COMPILER = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
# Their point is to be small.
SMALL_ON_PURPOSE = {"short_region", "many_barriers", "false_sharing", "hardware_threads"}
ELEMENT = {"double": 8, "int": 4, "unsigned": 4}

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(COMPILER is None, reason="needs a C compiler"),
]


def main_of(path: Path, *defines: str) -> str:
    """The text of `main` after the preprocessor."""
    assert COMPILER is not None
    command = [COMPILER, "-E", "-P", "-std=c99", *(f"-D{define}" for define in defines), path]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return result.stdout[result.stdout.index("int main(") :]


def sizes(main: str) -> dict[str, int]:
    """The integer sizes that `main` sets: constant expressions of literals alone."""
    found = {}
    for name, expression in re.findall(r"^\s*int (\w+) =\s*([^;]+);", main, flags=re.M):
        if re.fullmatch(r"[\d\s()+*/]+", expression):
            found[name] = int(eval(expression.replace("/", "//")))
    return found


def allocated_bytes(main: str) -> int:
    """Bytes of all arrays that `main` allocates."""
    known = sizes(main)
    total = 0
    cells = re.search(r"size_t cells = \(size_t\)([^;]+);", main)
    if cells:
        known["cells"] = eval(cells[1], {}, known)
    for count, element in re.findall(r"sample_allocate\((.+), sizeof\((\w+)\)\)", main):
        total += eval(count.replace("(size_t)", ""), {}, known) * ELEMENT[element]
    return total


@pytest.mark.parametrize("name", of_each_kind(SAMPLES))
def test_data_sets_grow(name: str) -> None:
    def allocated(data_set: str) -> int:
        return allocated_bytes(main_of(SAMPLES[name], f"{data_set}_DATASET"))

    mini, standard, large = (allocated(s) for s in ("MINI", "STANDARD", "EXTRALARGE"))
    assert 0 < mini < standard <= large
    assert allocated_bytes(main_of(SAMPLES[name])) == standard


@pytest.mark.parametrize("cache", further_slow(1, [12 << 20, 1 << 20, 1 << 30]))
@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - SMALL_ON_PURPOSE))
def test_cache_bytes_give_ten_times_the_cache(name: str, cache: int) -> None:
    # The samples of pages hold their vectors twice, and random_gather an index besides.
    most = 2 if name in {"serial_first_touch", "interleaved_pages", "random_gather"} else 1.05
    ratio = allocated_bytes(main_of(SAMPLES[name], f"CACHE_BYTES={cache}")) / cache
    assert 9.5 <= ratio <= 10 * most


def test_one_size_can_be_set_alone() -> None:
    gemm = sizes(main_of(SAMPLES["gemm"], "MINI_DATASET", "NJ=77"))
    assert gemm == {"ni": 32, "nj": 77, "nk": 32}
