"""Reads a recording, a DOT, JSON or GraphML file, a Chrome trace or StarPU's records into a
`TaskGraph`.
"""

from __future__ import annotations

from pathlib import Path

from regionpredict.documents import input_errors_while_reading, read_text
from regionpredict.errors import InputError
from regionpredict.file_presence import is_folder
from regionpredict.tasks.chrome_trace import chrome_graph, is_chrome_trace
from regionpredict.tasks.dot_file import dot_graph
from regionpredict.tasks.graphml_file import graphml_graph
from regionpredict.tasks.json_file import json_graph
from regionpredict.tasks.recorded_graph import recorded_graph
from regionpredict.tasks.recording import read_recording
from regionpredict.tasks.starpu_file import is_starpu_records, starpu_graph
from regionpredict.tasks.task_graph import TaskGraph

_REMEDY = "give a recording of regionpredict tasks record, a DOT, JSON or GraphML file, or a trace"


def read_task_graph(path: Path) -> TaskGraph:
    """The graph in `path`. Raises InputError if it has another format, is empty, or is damaged."""
    if is_folder(path):
        return recorded_graph(read_recording(path), str(path))
    text = read_text(path, _REMEDY)
    if not text.strip():
        raise InputError("empty", remedy=_REMEDY, path=str(path))
    with input_errors_while_reading(path, "a task graph", _REMEDY):
        if text.lstrip().startswith(("{", "[")):
            read = chrome_graph if is_chrome_trace(text) else json_graph
            return read(text, str(path))
        if text.lstrip().startswith("<"):
            return graphml_graph(text, str(path))
        if is_starpu_records(text):
            return starpu_graph(text, str(path))
        return dot_graph(text, str(path))
