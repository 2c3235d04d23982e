"""Reads the names of states and events of a Paraver trace (`.pcf`), and of its threads (`.row`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from regionpredict.documents import read_bytes

STATES = {
    0: "Idle",
    1: "Running",
    2: "Not created",
    3: "Waiting a message",
    4: "Blocking Send",
    5: "Synchronization",
    6: "Test/Probe",
    7: "Scheduling and Fork/Join",
    8: "Wait/WaitAll",
    9: "Blocked",
    10: "Immediate Send",
    11: "Immediate Receive",
    12: "I/O",
    13: "Group Communication",
    14: "Tracing Disabled",
    15: "Others",
    16: "Send Receive",
}
"""Extrae's states, as documented by Paraver (`.pcf`, section STATES). Names in the file take
precedence.
"""


@dataclass(frozen=True, slots=True)
class Labels:
    """The names of states, of event types, and of the values of each event type, by number."""

    states: dict[int, str] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    values: dict[int, dict[int, str]] = field(default_factory=dict)

    def state(self, number: int) -> str:
        """Returns the name of a state."""
        return self.states.get(number) or STATES.get(number, f"State {number}")

    def function(self, kind: int, value: int) -> str:
        """Returns the name of a function. If the label also has a short name, the full name is in
        brackets.

        >>> Labels(values={7: {3: "__io_M.. [__io_MOD_read]", 4: "main"}}).function(7, 3)
        'io::read'
        """
        label = self.values.get(kind, {}).get(value, f"function {value}")
        whole = re.search(r"\[(.+)\]$", label)
        name = label if whole is None else whole[1]
        return re.sub(
            r"^__(\w+)_MOD_(\w+)$", r"\1::\2", name
        )  # gfortran's name of a module's function

    def line(self, kind: int, value: int) -> tuple[str, int | None]:
        """Returns the file and line in a label such as `71 (balance.F90, epoch2d)`, or "" and None
        if unknown.

        >>> Labels(values={7: {3: "71 (balance.F90, epoch2d)"}}).line(7, 3)
        ('balance.F90', 71)
        """
        match = re.match(r"(\d{1,18}) \(([^,)]+)", self.values.get(kind, {}).get(value, ""))
        if match is None or not int(match[1]):
            return "", None
        return match[2].strip(), int(match[1])


def read_labels(path: Path) -> Labels:
    """Reads the names in a `.pcf` file. The result is empty if the file is missing."""
    states: dict[int, str] = {}
    types: dict[int, str] = {}
    value_labels: dict[int, dict[int, str]] = {}
    section, open_types = "", list[int]()
    for line in _read_lines(path):
        head = line.strip()
        if re.fullmatch(r"[A-Z][A-Z_ ]*", head) and not line[:1].isspace():
            if head == "EVENT_TYPE" or head != "VALUES":
                open_types = []
            section = head
            continue
        if section == "STATES":
            match = re.match(r"(\d{1,18})\s+(.+)", head)
            if match:
                states[int(match[1])] = match[2].strip()
        elif section == "EVENT_TYPE":
            match = re.match(r"\d+\s+(\d{1,18})\s+(.+)", head)
            if match:
                types[int(match[1])] = match[2].strip()
                open_types.append(int(match[1]))
        elif section == "VALUES":
            match = re.match(r"(-?\d{1,18})\s+(.+)", head)
            if match:
                for number in open_types:
                    value_labels.setdefault(number, {})[int(match[1])] = match[2].strip()
    return Labels(states, types, value_labels)


def read_thread_names(path: Path) -> tuple[str, ...]:
    """Reads the names of all threads in order from a `.row` file. The result is empty if the file
    is missing.
    """
    names: list[str] = []
    left = 0
    for line in _read_lines(path):
        match = re.match(r"LEVEL (\w+) SIZE (\d{1,18})", line)
        if match:
            left = int(match[2]) if match[1] == "THREAD" else 0
        elif left and line.strip():
            names.append(line.strip())
            left -= 1
    return tuple(names)


def _read_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return read_bytes(path, "copy it again, or remove it").decode("utf-8", "replace").splitlines()
