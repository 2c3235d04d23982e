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
model, measures them, and counts how often the hinted number of packages was the right one. \
`make thesis` does so with both sample suites and both models on the host that it runs on; this \
page is what came out on the test host, printed by `make thesis UPDATE=1`.

- *the area of decision*: right is the area in which the measured utilisation lies (section 6.4); \
*the fewest within 10 %*: right is the smallest number as fast as the best one.
- Beside each rate stand its 95 % interval and what trivial answers score on the same regions. A \
model that is no better than these has shown nothing here.
"""
LIMITS = """\
## What this page cannot show

- **Packages.** The thesis decides between packages of machines with two and four of them. A host \
with one package decides between numbers of threads; its density hint is always all of its one \
package, and says nothing of the model. [accuracy.md](accuracy.md) holds both models against \
measurements of machines with several packages, made elsewhere.
- **Sizes.** The thesis takes ten times the largest cache. The sets measured here end in minutes, \
and many of their regions lie in the caches, or are so short that a team costs more than they do.
- **A virtual machine** hides what its host does. Runs beside which others were busy are left out.
- **Pinning.** Where every core has a second-level cache to itself, threads over second-level \
caches first lie as close ones do; on two cores, as spread ones do, too.
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
    lines = [HEAD]
    models = ""
    for name, title in SUITES.items():
        measured, alone = suite(folder / name, plots)
        lines += [f"## {title}", "", measured, ""]
        models = models or alone
    lines += [
        "## Regions of one program (chapter 3)", "",
        "The sample `uneven_regions`: the fewest threads within 10 % of the best, and the speedup "
        "on the most; predicted for threads that lie close, measured with threads close, spread, "
        "and over second-level caches first.", "", (folder / "regions.md").read_text("utf-8"),
        "## Two programs on one node (section 3.3)", "",
        "Half of the cores each against one after the other: how many times as long each takes as "
        "alone, and how many times as fast both are done.", "",
        (folder / "pairs.md").read_text("utf-8"),
        "## What the models say of one loop (figures 4.2 to 4.4)", "",
        models, "", LIMITS,
    ]  # fmt: skip
    page.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    print(f"written: {page}")


if __name__ == "__main__":
    main()
