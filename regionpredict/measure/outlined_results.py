"""Converts the output of the preloaded library to the regions of one run, by debug information."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from regionpredict.measure.binary import OutlinedFunction
from regionpredict.measure.results import Results, read_results, result_entries


def outlined_entries(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Parses the entries of outlined functions. Truncated or foreign lines are left out."""
    return [entry for entry in result_entries(lines) if entry.get("kind") == "outlined"]


def read_outlined(lines: Sequence[str], functions: Sequence[OutlinedFunction]) -> Results:
    """Returns the results of outlined functions, as in `read_results`. Functions without a known
    line are left out.
    """
    by_address = {(function.module, function.offset): function for function in functions}
    translated = []
    for entry in outlined_entries(lines):
        function = by_address.get((entry["module"], entry["offset"]))
        if function is not None:
            translated.append(json.dumps({**entry, **_region_fields(function)}))
    runs = [line for line in lines if '"kind":"run"' in line]
    return read_results([*runs, *translated])


def _region_fields(function: OutlinedFunction) -> dict[str, Any]:
    later = [n for file, n in function.lines if file == function.file and n > function.line]
    return {
        "kind": "region",
        "file": function.file,
        "line": function.line,
        "loop_line": min(later, default=function.line),
        "function": function.function,
        "directive": "omp parallel",
        "build": "",
        "flags": 1,
    }
