"""Writes docs/sample_predictions.md: the density model's answers on the samples.

    python tests/benchmarks/sample_tables.py

Every worksharing loop of polybench_samples (sizes: working sets ten times the machine's largest
cache, as in Chatzopoulos 2012, sec. 6.2) and of npb_samples (class C), on the thesis' two
machines, beside the success rates that the thesis published.
"""

from __future__ import annotations

from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import Prediction

ROOT = Path(__file__).parents[2]
MACHINES = ("clovertown", "dunnington")
# Chatzopoulos 2012, sec. 6.4: share of regions whose package hint was right.
RATES = (
    ("PolyBench, 41 regions", "clovertown, 2 packages", "78.05 %"),
    ("PolyBench, 41 regions", "dunnington, 2 of 4 packages", "87.8 %"),
    ("PolyBench, 41 regions", "dunnington, 4 packages", "78.05 %"),
    ("NPB, 39 regions", "dunnington, 2 of 4 packages", "92.31 %"),
    ("NPB, 39 regions", "dunnington, 4 packages", "89.74 %"),
)
HEAD = """# What the density model says of the samples

Made by `python tests/benchmarks/sample_tables.py`. PolyBench samples with working sets of ten
times the machine's largest cache, NAS samples at class C, both as in Chatzopoulos 2012, chapter 6;
the density model with equation 4.1.

The thesis published success rates (shares of right package hints), but **no values of single
regions**, and it used other programs. The tables below cannot be compared with it region by region.
They have no success rates, since these regions were not measured on those machines.

| thesis: suite | machine | success rate |
| --- | --- | --- |
"""


def predictions_on(name: str) -> dict[str, list[Prediction]]:
    """Suite -> the predictions of its regions."""
    machine = load(name)
    cache = str(machine.largest_cache_bytes)
    predicted = {}
    for suite, defines in (
        ("polybench_samples", [("CACHE_BYTES", cache)]),
        ("npb_samples", [("CLASS_C", "1")]),
    ):
        requests = requests_for([suite], defines)
        predicted[suite] = list(predict(analyse(requests, {}), machine, "density").predictions)
    return predicted


def row(here: Prediction, there: Prediction) -> str:
    """One region on both machines."""
    region = here.facts.region
    place = "/".join(region.span.file.split("/")[-2:]) + f":{region.span.line}"
    cells = [f"`{place}`", region.function]
    for prediction in (here, there):
        mark = "~" if prediction.borderline else ""
        partial = " (partial)" if prediction.status == "partial" else ""
        cells += [
            f"{prediction.score:.2f}{mark}",
            str(prediction.packages),
            f"{prediction.bottleneck}{partial}",
        ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Writes the page."""
    tables = {name: predictions_on(name) for name in MACHINES}
    lines = [HEAD + "\n".join(f"| {suite} | {where} | {rate} |" for suite, where, rate in RATES)]
    for suite in ("polybench_samples", "npb_samples"):
        pairs = list(zip(*(tables[name][suite] for name in MACHINES), strict=True))
        lines.append(f"\n## {suite}: {len(pairs)} regions\n")
        lines.append("Score (~ within 0.05 of a boundary), packages and bottleneck on each.\n")
        lines.append(
            "| region | function | Clovertown | of 2 | limited by "
            "| Dunnington | of 4 | limited by |"
        )
        lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
        lines += [row(here, there) for here, there in pairs]
    (ROOT / "docs" / "sample_predictions.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
