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
from pathlib import Path
from typing import Any

from regionpredict.documents import input_errors_while_reading, read_text
from regionpredict.errors import InputError
from regionpredict.json_records import Record, json_record
from regionpredict.trace.factors import GIVEN, RunFactors

SUFFIXES = (".csv", ".json")
_CSV_REMEDY = "give processes, load balance, communication (or its parts) and run times"
_TALP_REMEDY = "give a file that TALP wrote (--talp-output-file=NAME.json)"
_WHOLE_RUN = ("Global", "MPI Execution", "Application")  # TALP's names of the whole run, by version
_REGIONS = ("Application", "popMetrics")
_NANOSECOND = 1e-9
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}
_NAMES = {
    "processes": ("number of processes", "processes", "mpi processes", "total threads"),
    "threads": ("threads per process",),
    "load_balance": ("hybrid load balance", "load balance", "mpi load balance"),
    "serialisation": ("serialization", "serialisation", "mpi serialization", "mpi serialisation"),
    "transfer": ("transfer", "mpi transfer"),
    "communication": ("hybrid communication", "communication", "mpi communication"),
    "parallel": ("hybrid parallel", "parallel", "mpi parallel"),
    "computation": ("computation scalability", "computation scaling", "computational scaling"),
    "speedup": ("speedup",),
    "runtime": ("runtime", "run time", "elapsed time", "elapsed"),
    "instructions": ("useful instructions", "instructions"),
    "cycles": ("useful cycles", "cycles"),
}
"""The names of each value in tables. If a table contains several names of a value, the first one in
this list is used. Tables of hybrid programs also have the efficiencies of MPI alone.
"""
_SHARES = ("load_balance", "serialisation", "transfer", "communication", "parallel")
_CLOCKS = ("runtime", "speedup", "computation")
_UNKNOWN = ("", "-", "nan", "non-avail", "n/a", "none")
_ROUNDED = 0.02  # maximum difference of a printed product and the product of printed shares
_PRINTED = 0.0051  # maximum rounding error of TALP's shares, which have two digits
_PERCENT = 1.5  # shares larger than this mean that a table is in percent
_ONE = 1.001  # the largest valid share, since tables round them
_MOST_PROCESSES = 10**9  # larger numbers are damaged
_LARGEST = 1e30  # upper bound of times and counts


def read_factor_table(path: Path, region: str | None = None) -> list[RunFactors]:
    """Reads the runs in a `.csv` or `.json` file. `region` selects a region of a TALP report, and
    None the whole run.

    Raises InputError if the file lacks required values.
    """
    if path.suffix == ".json":
        return [_read_talp_run(path, region)]
    if region is not None:
        raise InputError(
            "a table of POP metrics has whole runs", remedy="leave --phase out", path=str(path)
        )
    return _read_pop_runs(path)


def _run_of_table(
    path: Path, remedy: str, *, name: str, ranks: int, width: int, runtime_s: float,
    shares: Mapping[str, float], **known: Any,
) -> RunFactors:  # fmt: skip
    """Returns the factors of a run in a table or report, with shares limited to 1.

    `shares` are load balance, communication, and its two factors if the table has them. `runtime_s`
    is in seconds, or in an unknown unit if the run is `relative`. `known` are other fields of the
    result. Raises InputError if a value is out of range.
    """
    numbers = {"number": ranks, "threads": width}
    others = {"run time": runtime_s, **{key: known.get(key) for key in ("instructions", "cycles")}}
    for values, most in ((shares, _ONE), (numbers, _MOST_PROCESSES), (others, _LARGEST)):
        for key, value in values.items():
            if value is not None and not 1 / _LARGEST <= value <= most:
                raise InputError(
                    f"{key.replace('_', ' ')} of {ranks:g} processes: {value:g} is out of range",
                    remedy=remedy,
                    path=str(path),
                )
    factors = {key: min(value, 1.0) for key, value in shares.items()}
    balance, communication = factors["load_balance"], factors["communication"]
    transfer, useful_maximum = factors.get("transfer"), communication * runtime_s
    return RunFactors(
        name=name, ranks=ranks, width=width, runtime_s=runtime_s,
        ideal_runtime_s=None if transfer is None else runtime_s * transfer,
        useful_s=balance * useful_maximum * width, useful_maximum_s=useful_maximum,
        own_maximum_s=useful_maximum, load_balance=balance,
        serialisation=factors.get("serialisation"), transfer=transfer, definition=GIVEN,
        serialisations={}, eager=(), undivided=communication, **known,
    )  # fmt: skip


def _read_talp_run(path: Path, region: str | None) -> RunFactors:
    text = read_text(path, _TALP_REMEDY)
    record = json_record(text, "a report of TALP", path, _TALP_REMEDY)
    place = next((key for key in _REGIONS if key in record.value), _REGIONS[0])
    if isinstance(record.value.get(place), list):
        regions = {entry.text("name"): entry for entry in record.inner_records(place)}
    else:
        whole = record.inner(place)
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
    balance = _talp_balance(found, cpus, ranks, elapsed, useful)
    if not 0 < balance <= 1:
        raise found.error("mpiLoadBalance", "is not a share above 0")
    return _run_of_table(
        path, _TALP_REMEDY, name=path.stem, ranks=max(ranks, 1), width=cpus,
        runtime_s=elapsed * _NANOSECOND,
        shares={"load_balance": balance, "communication": min(parallel / balance, 1.0)},
        instructions=_counter_sum(found, "instructions"), cycles=_counter_sum(found, "cycles"),
    )  # fmt: skip


def _talp_balance(region: Record, cpus: int, ranks: int, elapsed: float, useful: float) -> float:
    """Returns the load balance of the ranks times the load balance of their threads. Times are in
    nanoseconds.

    TALP prints both balances with two digits. They are computed from the times (hybrid model of
    DLB's user guide) if the result agrees with the printed value.
    """

    def time(key: str) -> float:
        return region.number(key) if key in region.value else 0.0

    if cpus == ranks and time("maxUsefulNormdProc"):  # DLB 3.5
        return min(useful / cpus / time("maxUsefulNormdProc"), 1.0)
    mpi = time("mpiTime")
    ranked = elapsed - mpi / cpus, elapsed - time("minMpiNormdProc")
    busy = useful + mpi + time("gpuRuntimeTime") + time("ompSerializationTime")
    threaded = busy, busy + time("ompLoadImbalanceTime")
    balance = 1.0
    for key, (mean, largest) in (("mpiLoadBalance", ranked), ("ompLoadBalance", threaded)):
        # without threads, and in older versions, there is no balance of threads
        printed = region.number(key) if key == "mpiLoadBalance" else time(key) or 1.0
        exact = mean / largest if largest > 0 else printed
        balance *= exact if abs(exact - printed) <= _PRINTED else printed
    return balance


def _counter_sum(region: Record, key: str) -> float | None:
    """Returns the sum of a counter, or None if it was not read. TALP writes 0 if it did not count,
    and negative sums are overflows.
    """
    value = region.number(key, -math.inf) if key in region.value else 0.0
    return value if value > 0 else None


def _read_pop_runs(path: Path) -> list[RunFactors]:
    text = read_text(path, _CSV_REMEDY)
    first = text.partition("\n")[0]
    separator = next((mark for mark in (";", "\t") if mark in first), ",")
    with input_errors_while_reading(path, "a table of POP metrics", _CSV_REMEDY):
        rows = [row for row in csv.reader(text.splitlines(), delimiter=separator) if len(row) > 1]
    if rows and not any(
        _value_name_and_unit(row[0])[0] in ("load_balance", "parallel") for row in rows
    ):
        width = min(map(len, rows))
        rows = [[row[column] for row in rows] for column in range(width)]
    table: dict[str, list[float | None]] = {}
    preferences: dict[str, int] = {}
    unit = 1.0
    for row in rows:
        key, preference, own_unit = _value_name_and_unit(row[0])
        if key and preference < preferences.get(key, len(_NAMES)):
            # Some tables end each row with a separator.
            cells = row[1:-1] if not row[-1].strip() else row[1:]
            table[key] = [_parse_number(cell, row[0], path, key == "processes") for cell in cells]
            preferences[key] = preference
            unit = own_unit if key == "runtime" else unit
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
    shares = [value for key in _SHARES for value in table.get(key, ()) if value is not None]
    scale = 0.01 if max(shares, default=0.0) > _PERCENT else 1.0
    clock = next((key for key in _CLOCKS if None not in table.get(key, (None,))), None)
    return [
        _pop_run_of_row(
            {key: found for key, values in table.items() if (found := values[at]) is not None},
            clock, unit, scale, path,
        )
        for at in range(count)
    ]  # fmt: skip


def _pop_run_of_row(
    row: Mapping[str, float], clock: str | None, unit: float, scale: float, path: Path
) -> RunFactors:
    """Creates a run from a row of a table. Its run time follows from the value named `clock`."""
    share = {key: row[key] * scale for key in _SHARES if key in row}
    balance, whole = share.get("load_balance"), share.get("parallel")
    communication = share.get("communication")
    parts = {key: share[key] for key in ("serialisation", "transfer") if share.get(key)}
    product = math.prod(parts.values()) if len(parts) == 2 else None
    if communication is None:
        communication = product
    notes = []
    if (
        balance
        and whole
        and (communication is None or abs(balance * communication - whole) > _ROUNDED)
    ):
        if communication is not None:
            notes.append(
                "communication is parallel efficiency / load balance, since the table's "
                "communication efficiency x load balance has another value"
            )
        communication = whole / balance
    if product is None or communication is None or abs(product - communication) > _ROUNDED:
        parts = {}
    else:
        communication = product
    ranks, threads = round(row["processes"]), round(row.get("threads", 1.0))
    runtime = row[clock] * unit if clock == "runtime" else None
    if clock == "speedup" and row[clock]:
        runtime = 1.0 / row[clock]
    elif clock == "computation" and row[clock] and balance and communication and ranks * threads:
        # In an arbitrary unit, the total useful time is 1 / computation scalability.
        runtime = 1.0 / (row[clock] * balance * communication * ranks * threads)
    needed = {
        "load balance": balance, "communication efficiency": communication, "run time": runtime,
    }  # fmt: skip
    for name, value in needed.items():
        if value is None:
            raise InputError(
                f"has no {name} of {row['processes']:g} processes",
                remedy=_CSV_REMEDY,
                path=str(path),
            )
    # Counters that were not read are 0. With relative times, counters cannot be used.
    counted = {
        name: row[name]
        for name in ("instructions", "cycles")
        if row.get(name) and clock == "runtime"
    }
    assert balance is not None and communication is not None and runtime is not None
    return _run_of_table(
        path, _CSV_REMEDY, name=f"{path.stem}, {ranks}", ranks=ranks, width=ranks * threads,
        runtime_s=runtime,
        shares={"load_balance": balance, "communication": communication, **parts},
        relative=clock != "runtime", notes=tuple(notes), **counted,
    )  # fmt: skip


def _value_name_and_unit(cell: str) -> tuple[str, int, float]:
    """Returns the value that a name in the table stands for, the name's position in `_NAMES`, and
    its unit in seconds. The value is "" for names that are not used.
    """
    name = re.sub(r"[#\-\s]+", " ", cell.lower()).strip()
    unit = re.search(r"[(\[](ns|us|ms|s)[)\]]", name)
    if "(ideal" in name:
        return "", 0, 1.0
    name = re.sub(r"\s*[(\[].*?[)\]]", "", name)
    name = re.sub(r"\s*efficiency$", "", name)
    for key, names in _NAMES.items():
        if name in names:
            return key, names.index(name), _UNITS[unit[1] if unit is not None else ""]
    return "", 0, 1.0


def _parse_number(cell: str, name: str, path: Path, needed: bool) -> float | None:
    """Returns the number in a cell, or None for an unknown number that is not `needed`. A run's
    number in parentheses after the number of processes is ignored.
    """
    cell = cell.strip()
    if needed:
        cell = re.sub(r"\(\d+\)$", "", cell)
    elif cell.lower() in _UNKNOWN:
        return None
    with contextlib.suppress(ValueError):
        value = float(cell)
        if math.isfinite(value):
            return value
    raise InputError(
        f"'{name.strip()}': '{cell[:30]}' is not a number", remedy=_CSV_REMEDY, path=str(path)
    )
