"""Prints docs/thesis.md from what `make thesis` measured.

    python tests/benchmarks/thesis_page.py FOLDER PAGE

FOLDER holds a study for each suite (`polybench`, `npb`) and the tables `regions.md` and `pairs.md`;
PAGE is written, and the plots into a folder of its name beside it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

SUITES = {
    "polybench": "PolyBench, and the samples of one effect each (set SMALL)",
    "npb": "NAS kernels (class S)",
}
NAME = "the test host"
HEAD = """\
# The experiment of Chatzopoulos 2012, on one host

Chapter 6 of the thesis predicts the regions of PolyBench and of NAS kernels by the density \
model. It measures them, and counts how often the hinted number of packages is right. `make \
thesis` repeats this on its host with both sample suites and both models. This page has the \
results of the test host, as printed by `make thesis UPDATE=1`.

- *The area of decision*: the right answer is the area of the measured utilization (section 6.4).
- *The fewest within 10 %*: the right answer is the smallest number that is at most 10 % slower \
than the best one.
- The weighted density model counts each reference by its executions and the size of its elements.
- Each rate has its 95 % interval, and the rates of fixed answers for the same regions. A model \
that is no better than these has shown nothing.
"""
PACKAGES = re.compile(
    r"^## Machines with several packages\n.*?<!-- end of packages -->\n", re.MULTILINE | re.DOTALL
)
"""The section of the page that `tests/accuracy/package_boundaries.py` prints. It is kept."""
LIMITS = """\
## What this page cannot show

- **Packages.** The thesis decides between packages of machines with two and four of them. A host \
with one package decides between numbers of threads. Its density hint is always its one package, \
which says nothing about the model. Published measurements decide between packages, see above.
- **Sizes.** The thesis uses ten times the largest cache. The sets measured here end in minutes. \
Many of their regions are in the caches, or shorter than the costs of their threads.
- **A virtual machine** hides what its host does. Disturbed runs are left out.
- **Pinning.** If every core has a second-level cache of its own, `caches` and `close` are the \
same. On two cores, so is `spread`.
"""


def suite(folder: Path, plots: Path) -> tuple[str, str]:
    """The text of one suite's study, with its plots, and what the models say of one loop."""
    text = (folder / "study.md").read_text("utf-8")
    host = json.loads((folder / "measurements.jsonl").read_text("utf-8").splitlines()[0])
    name = host["host"]["name"]
    text = text.partition("\n\n")[2].replace("\\(", "(").replace("\\)", ")")
    text = text.replace(f" on {name} (", f" on {NAME} (")
    text = re.sub(rf"^.*? on {re.escape(NAME)} ", f"Measured on {NAME} ", text, flags=re.S)

    def moved(match: re.Match[str]) -> str:
        file = f"{folder.name}-{match[1]}"
        plots.mkdir(parents=True, exist_ok=True)
        (plots / file).write_text((folder / match[1]).read_text("utf-8"), "utf-8")
        return f"]({plots.name}/{file})"

    measured, _, alone = text.partition("\n## The models of one loop, without a measurement\n")
    measured = re.sub(r"^## .*\n\n", "", measured, flags=re.M)
    picture = re.compile(r"\]\(([\w.-]+\.svg)\)")
    return picture.sub(moved, measured).strip(), picture.sub(moved, alone).strip()


def main() -> None:
    folder, page = Path(sys.argv[1]), Path(sys.argv[2])
    plots = page.with_suffix("")
    for old in plots.glob("*.svg"):
        old.unlink()
    kept = PACKAGES.search(page.read_text("utf-8")) if page.exists() else None
    lines = [HEAD]
    models = ""
    for name, title in SUITES.items():
        measured, alone = suite(folder / name, plots)
        lines += [f"## {title}", "", measured, ""]
        models = models or alone
    lines += [kept[0]] if kept else []
    lines += [
        "## Regions of one program (chapter 3)", "",
        "The regions of the sample `uneven_regions`, with the fewest threads within 10 % of the "
        "best, and the speedup on all threads. The prediction is for close threads. The "
        "measurements bind threads close, spread, and over second-level caches first.", "",
        (folder / "regions.md").read_text("utf-8"),
        "## Two programs on one node (section 3.3)", "",
        "Each program gets half of the cores. The slowdown of a program refers to its time alone. "
        "*Sharing for turns* is the speedup over running one program after the other.", "",
        (folder / "pairs.md").read_text("utf-8"),
        "## What the models say of one loop (figures 4.2 to 4.4)", "",
        models, "", LIMITS,
    ]  # fmt: skip
    page.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    print(f"written: {page}")


if __name__ == "__main__":
    main()
