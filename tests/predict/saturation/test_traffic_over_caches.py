"""Threads over second-level caches first: what each of them has for itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# 2 MiB of which each thread goes through its part again and again: a thread per 3 MiB cache keeps
# more of it than two.
SOURCE = """\
static double a[1048576], b[1048576];
int main(void)
{
    for (int t = 0; t < 1000; t++) {
#pragma omp parallel for
        for (int i = 0; i < 1048576; i++)
            a[i] += b[i];
    }
    return 0;
}
"""


def _speedup(folder: Path, binding: str) -> dict[int, float]:
    (folder / "p.c").write_text(SOURCE)
    words = ["predict", "p.c", "-m", "dunnington", "--bind", binding, "--format", "json"]
    done = subprocess.run([sys.executable, "-m", "regionpredict", *words], cwd=folder,
                          capture_output=True, text=True, timeout=600, check=True)  # fmt: skip
    document = json.loads(done.stdout)
    assert document["run"]["binding"] == binding
    return {point["threads"]: point["value"] for point in document["regions"][0]["speedup"]}


def test_a_cache_of_two_cores_is_shared_last(tmp_path: Path) -> None:
    close, over = (_speedup(tmp_path, binding) for binding in ("close", "caches"))
    assert over[1] == close[1] == 1.0
    assert over[12] > 1.1 * close[12]  # 12 caches with a thread each, against 6 with two
    assert abs(over[24] / close[24] - 1.0) < 0.01  # all cores, either way
