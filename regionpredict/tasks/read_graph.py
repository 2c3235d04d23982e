"""A recording, a DOT or a JSON file -> `TaskGraph`."""

from __future__ import annotations

from pathlib import Path

from regionpredict.documents import read_text, reading
from regionpredict.errors import InputError
from regionpredict.file_presence import is_folder
from regionpredict.tasks.dot_file import dot_graph
from regionpredict.tasks.json_file import json_graph
from regionpredict.tasks.recorded_graph import recorded_graph
from regionpredict.tasks.recording import read_recording
from regionpredict.tasks.task_graph import TaskGraph

_REMEDY = "give a recording of regionpredict tasks record, a DOT or a JSON file"


def read_task_graph(path: Path) -> TaskGraph:
    """The graph of what `path` is; raises InputError where it is none of them, empty or broken."""
    if is_folder(path):
        return recorded_graph(read_recording(path), str(path))
    text = read_text(path, _REMEDY)
    if not text.strip():
        raise InputError("empty", remedy=_REMEDY, path=str(path))
    with reading(path, "a task graph", _REMEDY):
        if text.lstrip().startswith(("{", "[")):
            return json_graph(text, str(path))
        return dot_graph(text, str(path))
