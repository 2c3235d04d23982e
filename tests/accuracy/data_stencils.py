"""Stencil scaling inside one NUMA domain (RRZE INSPECT), with the Roofline and ECM predictions."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code, machine_named
from stencil_sources import stencil_source

MACHINES = {
    "HaswellEP_E5-2695v3_CoD": "haswell-e5-2695v3-cod",
    "IvyBridgeEP_E5-2660v2": "ivybridge-e5-2660v2",
    "SkylakeSP_Gold-6148": "skylake-gold-6148",
}
TOOLS = {"Mlup_s_roofline": "Roofline, published", "Mlup_s_ecm": "ECM, published"}


def read(path: Path) -> DataSet:
    """Every curve of at least two measured numbers of threads."""
    table: dict[tuple[str, str, int], dict[str, dict[int, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows(path):
        key = row["stencil"], row["machine"], int(row["N"])
        for name in ("Mlup_s", *TOOLS):
            if row[name]:
                table[key][name][int(row["threads"])] = 1e6 * float(row[name])
    cases = []
    for (stencil, name, size), curves in sorted(table.items()):
        cores = machine_named(MACHINES[name]).cores_per_domain
        inner = (size - 2 * int(stencil.split("/")[1][1:])) ** int(stencil[0])
        times = {
            kind: {t: inner / rate for t, rate in sorted(rates.items()) if t <= cores}
            for kind, rates in curves.items()
        }
        if len(times.get("Mlup_s", {})) < 2:
            continue
        published = {label: times[kind] for kind, label in TOOLS.items() if times.get(kind)}
        code = Code(stencil_source(stencil), sizes=(("N", size),))
        label = f"{stencil} on {MACHINES[name]}, {size}"
        cases.append(Case(label, code, MACHINES[name], times["Mlup_s"], True, published))
    return DataSet(
        "stencils", "stencil curves in one domain", "stencil_scaling.csv (RRZE INSPECT)",
        tuple(cases), "threads", "in",
        "the root of squares; that far pages are one piece, and 95 % of a domain's memory",
    )  # fmt: skip
