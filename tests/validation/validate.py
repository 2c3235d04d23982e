"""Holds the saturation model against outside measurements: `validate.py DATA` prints the table.

DATA holds stencil_scaling.csv, lulesh_scaling.csv and ntua_8core_game_of_life.csv.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median

from game_of_life_case import game_choices
from lulesh_case import lulesh_choices
from package_choice import lines
from stencil_sources import stencil_source

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict_region
from regionpredict.predict.curve import saturation_point

MACHINES = {
    "HaswellEP_E5-2695v3_CoD": "haswell-e5-2695v3-cod",
    "IvyBridgeEP_E5-2660v2": "ivybridge-e5-2660v2",
    "SkylakeSP_Gold-6148": "skylake-gold-6148",
}
Curve = dict[int, float]


def predicted_curve(source: str, given: dict[str, int], machine: Machine, cores: int) -> Curve:
    """Threads -> speedup of the first region of a C text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(source)
        analysis = analyse(requests_for((str(path),), [], [], ""), given)
    result = predict_region(analysis.facts[0], machine, threads=range(1, cores + 1))
    return dict(result.speedup)


def stencil_rows(path: Path) -> list[tuple[str, str, int, int, dict[str, Curve]]]:
    """(stencil, machine, N, cores of a domain, curves by name) of every measured curve."""
    table: dict[tuple[str, str, int], dict[str, Curve]] = defaultdict(lambda: defaultdict(dict))
    with path.open() as file:
        for row in csv.DictReader(file):
            key = row["stencil"], row["machine"], int(row["N"])
            for name in ("Mlup_s", "Mlup_s_roofline", "Mlup_s_ecm"):
                if row[name]:
                    table[key][name][int(row["threads"])] = float(row[name])
    found = []
    for (stencil, name, size), curves in sorted(table.items()):
        if len(curves["Mlup_s"]) < 2:
            continue
        machine = load(MACHINES[name])
        cores = machine.cores_per_domain
        made = predicted_curve(stencil_source(stencil), {"N": size}, machine, cores)
        roomy = replace(machine, memory=replace(machine.memory, size_bytes=None))
        inside = {n: {t: v for t, v in c.items() if t <= cores} for n, c in curves.items()}
        inside["ours"] = made
        inside["roomy"] = predicted_curve(stencil_source(stencil), {"N": size}, roomy, cores)
        found.append((stencil, name, size, cores, inside))
    return found


def judge(rows: list[tuple[str, str, int, int, dict[str, Curve]]], name: str) -> str:
    """Class right, point within one core, median error of the speedup: one line of the table."""
    right = near = 0
    errors = []
    rows = [row for row in rows if name in row[4] or " " in name]  # not every curve was predicted
    for _, _, _, cores, curves in rows:
        true = saturation_point(curves["Mlup_s"])
        made = _point(name, curves, cores)
        right += (true <= 0.75 * cores) == (made <= 0.75 * cores)
        near += abs(true - made) <= 1
        guess = curves.get(name)
        if guess and 1 in guess:
            one, own = curves["Mlup_s"].get(1), guess[1]
            errors += [
                abs(guess[t] / own / (v / one) - 1)
                for t, v in curves["Mlup_s"].items()
                if one and t in guess
            ]
    error = f"{100 * median(errors):5.1f} %" if errors else "      -"
    number = len(rows)
    return f"{100 * right / number:6.1f} % {100 * near / number:6.1f} % {error}"


def _point(name: str, curves: dict[str, Curve], cores: int) -> int:
    if name == "always saturating, half the domain":
        return -(-cores // 2)
    if name == "never saturating, the whole domain":
        return cores
    return saturation_point(curves[name])


def main() -> int:
    """Prints the tables; the exit status says whether the command could run at all."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        print("usage: validate.py DATA [--curves]: DATA is the folder with the measurements")
        return 2
    data = Path(sys.argv[1])
    rows = stencil_rows(data / "stencil_scaling.csv")
    print(f"stencil_scaling.csv: {len(rows)} measured curves, inside one NUMA domain")
    print(f"{'':38} {'class':>8} {'within 1':>8} {'error':>7}")
    for label, name in (
        ("this model", "ours"),
        ("  were memory without end", "roomy"),
        ("Roofline (published)", "Mlup_s_roofline"),
        ("ECM (published)", "Mlup_s_ecm"),
        ("always saturating, half the domain",) * 2,
        ("never saturating, the whole domain",) * 2,
    ):
        print(f"  {label:36} {judge(rows, name)}")
    for name, shipped in MACHINES.items():
        some = [row for row in rows if row[1] == name]
        label = f"this model, {len(some)} on {shipped}"
        print(f"  {label:36.36} {judge(some, 'ours')}")
    if "--curves" in sys.argv:
        _print_curves(rows)
    for table, machine, choices in (
        ("lulesh_scaling.csv", "icelake-8360y", lulesh_choices),
        ("ntua_8core_game_of_life.csv", "clovertown", game_choices),
    ):
        print(f"\n{table} on {machine}: one or two packages, 5 % of the best speed allowed;")
        print("best speedup on one package and on all, measured and predicted; median error")
        print("\n".join(lines(choices(data / table))))
    return 0


def _print_curves(rows: list[tuple[str, str, int, int, dict[str, Curve]]]) -> None:
    for stencil, name, size, _, curves in rows:
        true, ours = curves["Mlup_s"], curves["ours"]
        points = saturation_point(true), saturation_point(ours)
        print(f"{stencil} {name} {size}: point {points[0]} predicted {points[1]}")
        print(
            "   ", " ".join(f"{t}:{v / true[1]:.2f}/{ours[t]:.2f}" for t, v in sorted(true.items()))
        )


if __name__ == "__main__":
    sys.exit(main())
