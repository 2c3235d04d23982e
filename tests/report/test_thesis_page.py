"""The page that `make thesis` prints, from a made-up folder of studies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDY = """# Predicted and measured

sh -c 'for program in build/\\*; do $program; done' on node-17.cluster \\(a processor, 1 package \
of 2 cores\\), on 1, 2 threads, 8 runs, begun 2024-05-02; predicted for host.

## Success

| model | right is | success |
| --- | --- | --- |
| density | the area of decision | 50.0 % (1 of 2) |

## Plots

![density model, the area of decision](density-utilisation.svg)

## The models of one loop, without a measurement

![Score and efficiency by stride](sweep-stride.svg)
"""


def test_the_page_has_both_suites_their_plots_and_what_it_cannot_show(tmp_path: Path) -> None:
    folder, page = tmp_path / "out", tmp_path / "docs" / "thesis.md"
    page.parent.mkdir()
    for name in ("polybench", "npb"):
        own = folder / name
        own.mkdir(parents=True)
        (own / "study.md").write_text(STUDY)
        (own / "measurements.jsonl").write_text(
            json.dumps({"kind": "campaign", "host": {"name": "node-17.cluster"}}) + "\n"
        )
        for plot in ("density-utilisation", "sweep-stride"):
            (own / f"{plot}.svg").write_text(f"<svg>{name} {plot}</svg>")
    (folder / "regions.md").write_text("| region |\n| --- |\n| `few` |\n")
    (folder / "pairs.md").write_text("| pair |\n| --- |\n| a and b |\n")
    line = [sys.executable, "tests/benchmarks/thesis_page.py", str(folder), str(page)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "node-17" not in text  # whose host it was is nobody's concern
    assert text.count("Measured on the test host (a processor") == 2
    named = [part.partition(")")[0] for part in text.split("](thesis/")[1:]]
    assert named == [
        "polybench-density-utilisation.svg", "npb-density-utilisation.svg",
        "polybench-sweep-stride.svg",
    ]  # fmt: skip
    for name in named:
        suite, _, plot = name.removesuffix(".svg").partition("-")
        assert (page.parent / "thesis" / name).read_text() == f"<svg>{suite} {plot}</svg>"
    headings = [one for one in text.splitlines() if one.startswith("## ")]
    assert [one.partition(" (")[0] for one in headings][2:] == [
        "## Regions of one program", "## Two programs on one node",
        "## What the models say of one loop", "## What this page cannot show",
    ]  # fmt: skip
    assert "| `few` |" in text
    assert "| a and b |" in text
