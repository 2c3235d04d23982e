"""Reads factors computed by other tools: a table of POP metrics (CSV), or a report of TALP (JSON).

A CSV file has a row or a column per run, like the output of the scripts `modelfactors.py` and
PyPOP. TALP, of the DLB library, writes a JSON file per run, which does not separate serialization
from transfer.
"""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from regionpredict.documents import read_text, reading
from regionpredict.errors import InputError
from regionpredict.json_records import Record, json_record
from regionpredict.trace.factors import GIVEN, RunFactors

SUFFIXES = (".csv", ".json")
_CSV_REMEDY = "give processes, load balance, communication (or its parts) and run times"
_TALP_REMEDY = "give a file that TALP wrote (--talp-output-file=NAME.json)"
_WHOLE_RUN = ("Global", "MPI Execution", "Application")  # TALP's names of the whole run, by version
_NANOSECOND = 1e-9
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}
_NAMES = {
    "processes": ("number of processes", "processes", "mpi processes", "total threads"),
    "threads": ("threads per process",),
    "load_balance": ("load balance", "mpi load balance"),
    "serialisation": ("serialization", "serialisation", "mpi serialization", "mpi serialisation"),
    "transfer": ("transfer", "mpi transfer"),
    "communication": ("communication", "mpi communication"),
    "parallel": ("parallel", "mpi parallel"),
    "speedup": ("speedup",),
    "runtime": ("runtime", "run time", "elapsed time", "elapsed"),
    "instructions": ("useful instructions", "instructions"),
    "cycles": ("useful cycles", "cycles"),
}
_SHARES = ("load_balance", "serialisation", "transfer", "communication", "parallel")
_PERCENT = 1.5  # larger shares mean that a table is in percent
_ONE = 1.001  # the largest share, as printed with few digits
_MOST_PROCESSES = 10**9  # larger numbers are damaged
_LARGEST = 1e30  # upper bound of times and counts


@dataclass(frozen=True, slots=True)
class _Given:
    """The values of a source for one run. Shares are from 0 to 1, and `runtime_s` is in seconds or
    relative.
    """

    name: str
    ranks: int
    width: int
    runtime_s: float
    load_balance: float
    communication: float
    serialisation: float | None = None
    transfer: float | None = None
    instructions: float | None = None
    cycles: float | None = None


def read_factor_table(path: Path, region: str | None = None) -> list[RunFactors]:
    """The runs in a `.csv` or `.json` file. `region` selects a region of TALP, None the whole run.

    Raises InputError if the file lacks required values.
    """
    if path.suffix == ".json":
        return [_factors(_talp_run(path, region))]
    if region is not None:
        raise InputError(
            "a table of POP metrics has whole runs", remedy="leave --phase out", path=str(path)
        )
    return [_factors(run) for run in _pop_runs(path)]


def _factors(run: _Given) -> RunFactors:
    useful_maximum = run.communication * run.runtime_s
    return RunFactors(
        name=run.name,
        ranks=run.ranks,
        width=run.width,
        runtime_s=run.runtime_s,
        ideal_runtime_s=None if run.transfer is None else run.runtime_s * run.transfer,
        useful_s=run.load_balance * useful_maximum * run.width,
        useful_maximum_s=useful_maximum,
        own_maximum_s=useful_maximum,
        load_balance=run.load_balance,
        serialisation=run.serialisation,
        transfer=run.transfer,
        definition=GIVEN,
        serialisations={},
        eager=(),
        instructions=run.instructions,
        cycles=run.cycles,
        undivided=run.communication,
    )


def _talp_run(path: Path, region: str | None) -> _Given:
    text = read_text(path, _TALP_REMEDY)
    record = json_record(text, "a report of TALP", path, _TALP_REMEDY)
    if "popMetrics" in record.value:
        regions = {entry.text("name"): entry for entry in record.inners("popMetrics")}
    else:
        whole = record.inner("Application")
        regions = {name: whole.inner(name) for name in whole.value}
    named = (region,) if region is not None else _WHOLE_RUN
    found = next((regions[name] for name in named if name in regions), None)
    if found is None and region is None and regions:
        found = next(iter(regions.values()))
    if found is None:
        known = ", ".join(regions) or "none"
        name = "" if region is None else f" '{region}'"
        raise InputError(f"there is no region{name}", remedy=f"there are: {known}", path=str(path))
    cpus, ranks = found.whole("numCpus", 1), found.whole("numMpiRanks", 0)
    elapsed = found.number("elapsedTime")
    useful = found.number("usefulTime")
    if elapsed <= 0 or useful <= 0:
        raise found.error("usefulTime", "is not positive")
    parallel = min(useful / (cpus * elapsed), 1.0)
    most = found.number("maxUsefulNormdProc") if "maxUsefulNormdProc" in found.value else 0.0
    if cpus == ranks and most > 0:
        balance = min(useful / cpus / most, 1.0)
    else:  # with several CPUs per rank, TALP has the balance of ranks and of threads
        balance = found.number("mpiLoadBalance")
        if "ompLoadBalance" in found.value:
            balance *= found.number("ompLoadBalance") or 1.0
    if not 0 < balance <= 1:
        raise found.error("mpiLoadBalance", "is not a share above 0")
    return _Given(
        name=path.stem,
        ranks=max(ranks, 1),
        width=cpus,
        runtime_s=elapsed * _NANOSECOND,
        load_balance=balance,
        communication=min(parallel / balance, 1.0),
        instructions=_counted(found, "instructions"),
        cycles=_counted(found, "cycles"),
    )


def _counted(region: Record, key: str) -> float | None:
    """A counter's sum. TALP writes 0 if it did not count."""
    return (region.number(key) if key in region.value else 0.0) or None


def _pop_runs(path: Path) -> list[_Given]:
    text = read_text(path, _CSV_REMEDY)
    first = text.partition("\n")[0]
    separator = next((mark for mark in (";", "\t") if mark in first), ",")
    with reading(path, "a table of POP metrics", _CSV_REMEDY):
        rows = [row for row in csv.reader(text.splitlines(), delimiter=separator) if len(row) > 1]
    if rows and not any(_key(row[0])[0] in ("load_balance", "parallel") for row in rows):
        width = min(map(len, rows))
        rows = [[row[column] for row in rows] for column in range(width)]
    table: dict[str, list[float]] = {}
    units: dict[str, float] = {}
    for row in rows:
        key, unit = _key(row[0])
        if key and key not in table:
            table[key] = [_number(cell, row[0], path) for cell in row[1:] if cell.strip()]
            units[key] = unit
    if not table.get("processes"):
        raise InputError("has no numbers of processes", remedy=_CSV_REMEDY, path=str(path))
    count = len(table["processes"])
    short = next((key for key, values in table.items() if len(values) != count), None)
    if short is not None:
        raise InputError(
            f"has {count} runs, but not as many values of '{short}'",
            remedy=_CSV_REMEDY,
            path=str(path),
        )
    shares = [value for key in _SHARES for value in table.get(key, ())]
    scale = 0.01 if max(shares, default=0.0) > _PERCENT else 1.0
    return [
        _pop_run({key: values[at] for key, values in table.items()}, units, scale, path)
        for at in range(count)
    ]


def _pop_run(
    row: Mapping[str, float], units: Mapping[str, float], scale: float, path: Path
) -> _Given:
    share = {key: row[key] * scale for key in _SHARES if key in row}
    parts = {key: share[key] for key in ("serialisation", "transfer") if key in share}
    communication = share.get("communication")
    if len(parts) == 2:
        communication = math.prod(parts.values())
    else:
        parts = {}
    balance = share.get("load_balance")
    if communication is None and balance and "parallel" in share:
        communication = share["parallel"] / balance
    runtime = row["runtime"] * units["runtime"] if "runtime" in row else None
    if runtime is None and row.get("speedup"):
        runtime = 1.0 / row["speedup"]
    ranks, threads = round(row["processes"]), round(row.get("threads", 1.0))
    needed = {
        "number": (ranks, _MOST_PROCESSES),
        "threads": (ranks * threads, _MOST_PROCESSES),
        "load balance": (balance, _ONE),
        "communication efficiency": (communication, _ONE),
        "run time": (runtime, _LARGEST),
    }
    # counters are 0 if they were not read
    counted = {name: row[name] for name in ("instructions", "cycles") if row.get(name)}
    limits = needed | {name: (value, _LARGEST) for name, value in (counted | parts).items()}
    for name, (value, most) in limits.items():
        if value is None or not 1 / _LARGEST <= value <= most:
            raise InputError(
                f"has no {name} of {row['processes']:g} processes"
                if value is None
                else f"{name} of {row['processes']:g} processes: {value:g} is out of range",
                remedy=_CSV_REMEDY,
                path=str(path),
            )
    assert balance is not None and communication is not None and runtime is not None
    return _Given(
        name=f"{path.stem}, {ranks}",
        ranks=ranks,
        width=ranks * threads,
        runtime_s=runtime,
        load_balance=min(balance, 1.0),
        communication=min(communication, 1.0),
        **{name: min(value, 1.0) for name, value in parts.items()},
        **counted,
    )


def _key(cell: str) -> tuple[str, float]:
    """The meaning of a name in the table ("" if unused), and its unit in seconds."""
    name = re.sub(r"[#\-\s]+", " ", cell.lower()).strip()
    unit = re.search(r"[(\[](ns|us|ms|s)[)\]]", name)
    if "(ideal" in name:
        return "", 1.0
    name = re.sub(r"\s*[(\[].*?[)\]]", "", name)
    name = re.sub(r"\s*efficiency$", "", name)
    for key, names in _NAMES.items():
        if name in names:
            return key, _UNITS[unit[1] if unit is not None else ""]
    return "", 1.0


def _number(cell: str, name: str, path: Path) -> float:
    with contextlib.suppress(ValueError):
        value = float(cell)
        if math.isfinite(value):
            return value
    raise InputError(
        f"'{name.strip()}': '{cell.strip()[:30]}' is no number", remedy=_CSV_REMEDY, path=str(path)
    )
