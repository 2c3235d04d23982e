"""Streaming kernels by cache level and cores (machine files of kerncraft, likwid-bench)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code, machine_named

MACHINES = {
    "A64FX_qpace4": "a64fx",
    "ARMv8_ThunderX2-CN9980": "thunderx2",
    "BroadwellEP_E5-2697v4_CoD": "broadwell-e5-2697v4-cod",
    "CascadelakeSP_Gold-6248_SNC": "cascadelake-gold-6248-snc",
    "HaswellEP_E5-2695v3_CoD": "haswell-e5-2695v3-cod",
    "IvyBridgeEP_E5-2660v2": "ivybridge-e5-2660v2",
    "SandyBridgeEP_E5-2680": "sandybridge-e5-2680",
    "SkylakeSP_Gold-6148": "skylake-gold-6148",
    "SkylakeSP_Gold-6148_SNC": "skylake-gold-6148-snc",
    "Zen2_EPYC-7452": "epyc-7452",
    "Zen_EPYC-7451": "epyc-7451",
}
STATEMENTS = {  # text, arrays, bytes that the table counts
    "load": ("s += a[{i}];", "a", 8),
    "copy": ("a[{i}] = b[{i}];", "ab", 16),
    "update": ("a[{i}] = q * a[{i}];", "a", 16),
    "triad": ("a[{i}] = b[{i}] + c[{i}] * d[{i}];", "abcd", 32),
    "daxpy": ("a[{i}] = a[{i}] + q * b[{i}];", "ab", 24),
}
SWEEPS = 1000


def _one_sweep(kernel: str) -> str:
    """All threads over shared arrays, once."""
    text, arrays, _ = STATEMENTS[kernel]
    declared = ", ".join(f"double *{a}" for a in arrays)
    reduction = " reduction(+:s)" if kernel == "load" else ""
    return (
        f"double sweep(long n, double q, {declared}) {{\n  double s = 0.0;\n"
        f"#pragma omp parallel for simd schedule(static){reduction}\n"
        f"  for (long i = 0; i < n; i++) {text.format(i='i')}\n  return s;\n}}\n"
    )


def _own_sweeps(kernel: str) -> str:
    """Each thread many times over arrays of its own."""
    text, arrays, _ = STATEMENTS[kernel]
    declared = ", ".join(f"double {a}[p][n]" for a in arrays)
    body = text
    for array in arrays:
        body = body.replace(f"{array}[{{i}}]", f"{array}[t][i]")
    reduction = " reduction(+:s)" if kernel == "load" else ""
    return (
        f"double sweep(int p, int n, double q, {declared}) {{\n  double s = 0.0;\n"
        f"#pragma omp parallel for schedule(static){reduction}\n"
        f"  for (int t = 0; t < p; t++) for (int r = 0; r < {SWEEPS}; r++)\n"
        f"#pragma omp simd{reduction}\n    for (int i = 0; i < n; i++) {body}\n  return s;\n}}\n"
    )


def _table(path: Path) -> dict[tuple[str, str, str], dict[int, float]]:
    table: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if row["machine"] in MACHINES:
            key = MACHINES[row["machine"]], row["level"], row["kernel"]
            table[key][int(row["cores"])] = 1e9 * float(row["GBps"])
    return table


def read_memory(path: Path) -> DataSet:
    """Curves inside one domain, arrays of ten times the largest cache in all."""
    cases = []
    for (machine, level, kernel), rates in sorted(_table(path).items()):
        if level != "MEM":
            continue
        known = machine_named(machine)
        _, arrays, moved = STATEMENTS[kernel]
        n = 10 * known.largest_cache_bytes // 8 // len(arrays)
        cores = known.cores_per_domain
        times = {t: n * moved / rate for t, rate in sorted(rates.items()) if t <= cores}
        code = Code(_one_sweep(kernel), sizes=(("n", n),))
        cases.append(Case(f"{kernel} on {machine}", code, machine, times, True))
    return DataSet(
        "bandwidth, memory", "streaming kernels from memory, one domain",
        "bandwidth_by_cores.csv (kerncraft 0.8)", tuple(cases), "threads", "in",
        "the memory tables of the machine files", tabulated=True,
    )  # fmt: skip


def read_caches(path: Path) -> DataSet:
    """Times on one core and on all of a domain, each core's data half of its part of a cache."""
    cases = []
    for (machine, level, kernel), rates in sorted(_table(path).items()):
        known = machine_named(machine)
        if level == "MEM" or int(level[1]) > len(known.caches):
            continue
        cache = known.caches[int(level[1]) - 1]
        _, arrays, moved = STATEMENTS[kernel]
        cores = known.cores_per_domain
        for threads in sorted({1, cores} & set(rates)):
            part = cache.size_bytes.value / min(threads, cache.shared_by_cores.whole)
            n = int(0.5 * part / 8 / len(arrays))
            time = SWEEPS * n * threads * moved / rates[threads]
            code = Code(_own_sweeps(kernel), sizes=(("n", n), ("p", threads)))
            label = f"{kernel} {level} on {machine}, {threads}"
            cases.append(Case(label, code, machine, {threads: time}, True))
    return DataSet(
        "bandwidth, caches", "streaming kernels from each cache, 1 core and a domain",
        "bandwidth_by_cores.csv (kerncraft 0.8)", tuple(cases), "none", "in",
        "the cache tables of the machine files", tabulated=True,
    )  # fmt: skip
