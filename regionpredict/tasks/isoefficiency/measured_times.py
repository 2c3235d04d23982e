"""Stores the results of an isoefficiency campaign in a file of JSON lines, which are appended
immediately.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from regionpredict.documents import input_errors_while_reading, read_text
from regionpredict.errors import InputError
from regionpredict.json_records import Positive, Record, json_record
from regionpredict.measure.store import append_line

SCHEMA = "regionpredict/isoefficiency-campaign/1"
WHAT = "an isoefficiency campaign"
_REMEDY = "give the -o FILE of regionpredict tasks isoefficiency"


@dataclass(frozen=True, slots=True)
class HostActivity:
    """The load of other processes during a measurement. `others` is the mean number of cores that
    they used, and `stolen` the share of processor time taken by the hypervisor. `discarded` is the
    number of runs discarded because of the load. `disturbed` means that the remaining runs are also
    disturbed.
    """

    others: float
    stolen: float
    discarded: int
    disturbed: bool


@dataclass(frozen=True, slots=True)
class SizeGraph:
    """The metrics of the task graph of one size, in seconds without contention. `undivided_s` is
    the work of undivided loops, whose parallelism is missing. `host` is None if the host's load was
    not observed.
    """

    size: float
    tasks: int
    work_s: float
    depth_s: float
    undivided_s: float = 0.0
    host: HostActivity | None = None

    @property
    def parallelism(self) -> float:
        """The average parallelism pi = T_1 / T_inf."""
        return self.work_s / self.depth_s if self.depth_s > 0 else 1.0


@dataclass(frozen=True, slots=True)
class SizeTime:
    """The times of one size on a number of threads. `actual_s` are the times in parallel regions of
    runs without a recording, `cpu_s` the processor times of the whole runs, and `free_s` the time
    without contention. `how` says whether the latter was replayed or simulated. `host` is None if
    it was not observed.
    """

    size: float
    threads: Positive
    actual_s: tuple[float, ...]
    free_s: float
    how: str
    cpu_s: tuple[float, ...] = ()
    host: HostActivity | None = None

    @property
    def mean_s(self) -> float:
        """The mean of the actual times."""
        return sum(self.actual_s) / len(self.actual_s)

    @property
    def mean_cpu_s(self) -> float | None:
        """The mean of the processor times. None if they are unknown."""
        return sum(self.cpu_s) / len(self.cpu_s) if self.cpu_s else None


@dataclass(frozen=True, slots=True)
class IsoefficiencyData:
    """All measurements of one program on one host. `command` has {n} in place of the size."""

    command: tuple[str, ...]
    host: str
    graphs: tuple[SizeGraph, ...] = ()
    times: tuple[SizeTime, ...] = ()

    def graph(self, size: float) -> SizeGraph | None:
        """Returns the graph of a size, or None if it is not recorded yet."""
        return next((graph for graph in self.graphs if graph.size == size), None)

    def time(self, size: float, threads: int) -> SizeTime | None:
        """Returns the times of a size on a number of threads, or None if they are not
        measured yet.
        """
        return next((t for t in self.times if (t.size, t.threads) == (size, threads)), None)


def begin_file(path: Path, data: IsoefficiencyData) -> None:
    """Writes the first line of a campaign file."""
    append_line(path, {"schema": SCHEMA, "command": list(data.command), "host": data.host})


def add_to_file(path: Path, part: SizeGraph | SizeTime) -> None:
    """Appends one result to a campaign file."""
    kind = "graph" if isinstance(part, SizeGraph) else "time"
    append_line(path, {"kind": kind, **asdict(part)})


def read_file(path: Path) -> IsoefficiencyData:
    """Reads a campaign file. An incomplete last line is ignored.

    Raises InputError with the invalid line.
    """
    text = read_text(path, _REMEDY)
    lines = text.split("\n")[:-1]
    if not lines:
        raise InputError(f"empty: not {WHAT}", remedy=_REMEDY, path=str(path))
    with input_errors_while_reading(path, WHAT, _REMEDY):
        first = json_record(lines[0], WHAT, path, _REMEDY, 1)
        if first.text("schema") != SCHEMA:
            raise first.error("schema", f"is not '{SCHEMA}'")
        graphs: dict[float, SizeGraph] = {}
        times: dict[tuple[float, int], SizeTime] = {}
        for number, line in enumerate(lines[1:], 2):
            record = json_record(line, WHAT, path, _REMEDY, number)
            if record.text("kind") == "graph":
                graph = record.fill(SizeGraph)
                graphs[graph.size] = graph
            else:
                time = _time_from_json(record)
                times[time.size, time.threads] = time
        return IsoefficiencyData(
            first.texts("command"), first.text("host"), tuple(graphs.values()),
            tuple(times.values()),
        )  # fmt: skip


def _seconds_from_json(record: Record, key: str) -> tuple[float, ...]:
    values = record.items(key)
    if not all(type(value) in (int, float) and 0 <= value < 1e9 for value in values):
        raise record.error(key, "must be a list of seconds")
    return tuple(map(float, values))


def _time_from_json(record: Record) -> SizeTime:
    seconds = _seconds_from_json(record, "actual_s")
    if not seconds or not all(seconds):
        raise record.error("actual_s", "must be a list of seconds")
    processor = _seconds_from_json(record, "cpu_s") if "cpu_s" in record.value else ()
    return record.fill(SizeTime, actual_s=seconds, cpu_s=processor)
