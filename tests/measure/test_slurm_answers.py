"""Damaged answers of Slurm's commands cost no traceback."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("submitit")
sys.path.append(str(Path(__file__).parents[1] / "readers"))
from spoilt_inputs import mutants

from regionpredict.measure.launch_slurm import JobFailedError, JobState, look, node_of

QUEUE = b"RUNNING|None|n[1-2]\nPENDING|Resources|\n"
NODES = b"NodeName=n1 Arch=x86_64 NodeHostName=host1 State=IDLE\nNodeName=n2 NodeHostName=host2\n"
COUNT = 300


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that squeue and scontrol print."""
    for name in ("squeue", "scontrol"):
        (tmp_path / name).write_text(f"#!/bin/sh\nexec cat '{tmp_path}/answer'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return tmp_path / "answer"


def test_states_and_nodes(answer: Path) -> None:
    answer.write_bytes(b"\nslurm is \xe9 busy\n" + QUEUE)
    assert look("7") == JobState("RUNNING", "None", "n[1-2]")
    answer.write_bytes(NODES)
    assert node_of("host2.site") == "n2"
    answer.write_bytes(b"NodeHostName=host2\n")
    with pytest.raises(JobFailedError, match="not a node"):
        node_of("host2")


def test_damaged_answers(answer: Path) -> None:
    for text in mutants(QUEUE, COUNT, seed=1):
        answer.write_bytes(text)
        assert look("7") is not None
    for text in mutants(NODES, COUNT, seed=2):
        answer.write_bytes(text)
        with suppress(JobFailedError):
            node_of("host1")


def test_without_slurm_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert look("7") is None and node_of("host1") is None
