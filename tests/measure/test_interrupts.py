"""What is left when a command, or the program that it runs, is ended from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regionpredict.scratch_folder import PREFIX, scratch_folder

WAITS = """
import sys
from regionpredict.measure.child import run_with_interrupts
code, interrupted = run_with_interrupts([sys.executable, "-c", sys.argv[1]], {})
print(code, interrupted)
"""
HOLDS = """
import sys, time
from pathlib import Path
from regionpredict.scratch_folder import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "kept").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


@contextmanager
def started(program: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    line = [sys.executable, "-c", program, *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_an_interrupt_of_the_command_alone_reaches_its_program() -> None:
    sleeps = "print('up', flush=True)\nimport time\ntime.sleep(60)"
    with started(WAITS, sleeps) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().split() in (["1", "True"], [str(-signal.SIGINT), "True"])


def test_a_second_interrupt_ends_a_program_that_goes_on_after_the_first() -> None:
    # Without a buffer, which is busy if the signal comes while "up" is written.
    goes_on = "import os, signal, time\nsignal.signal(2, lambda *_: os.write(1, b'heard\\n'))\n" \
              "os.write(1, b'up\\n')\ntime.sleep(600)"  # fmt: skip
    with started(WAITS, goes_on) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "heard\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == f"{-signal.SIGKILL} True\n"


def test_a_killed_process_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    with started(HOLDS, str(tmp_path)) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with scratch_folder(tmp_path) as other:
            assert (left / "kept").exists()  # it lives
            process.send_signal(signal.SIGKILL)
            process.wait()
            with scratch_folder(tmp_path):
                assert not left.exists()
                assert other.exists()
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_not_ours_stay(tmp_path: Path) -> None:
    kept = [tmp_path / f"{PREFIX}notes", tmp_path / f"{PREFIX}12345678", tmp_path / "other"]
    for folder in kept:
        folder.mkdir(mode=0o755)
    (tmp_path / f"{PREFIX}abcdefgh").symlink_to(tmp_path / "other")
    with scratch_folder(tmp_path):
        pass
    assert all(folder.is_dir() for folder in kept)
    assert (tmp_path / f"{PREFIX}abcdefgh").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("size", ["64k", "2m"])
def test_a_full_disk_is_said(tmp_path: Path, size: str) -> None:
    (tmp_path / "p.c").write_text(
        "int main(void) {\n#pragma omp parallel\n#pragma omp single\n"
        "  for (int i = 0; i < 90000; i++) {\n#pragma omp task\n    {}\n  }\n  return 0; }\n"
    )
    line = ["gcc", "-g", "-fopenmp", "p.c", "-o", "p"]
    assert subprocess.run(line, cwd=tmp_path, check=False).returncode == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("this container mounts nothing")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", "tasks", "record", "-o", "disk/r", "--",
             "./p"], cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "no OpenMP runtime" in done.stderr or "runtime of LLVM" in done.stderr:
            pytest.skip(done.stderr)
        if size == "2m":
            assert done.returncode == 0
            assert "disk/r: the disk was full, so the recording is incomplete" in done.stderr
        else:
            told = "regionpredict: disk/r: the disk is full; choose another -o FOLDER\n"
            assert (done.returncode, done.stderr) == (1, told)
            assert not (disk / "r").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
