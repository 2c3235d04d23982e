"""`subprocess.run` of the command without its cold start.

A start of `python -m regionpredict` loads the program for about 1.5 s of processor time, which is
most of what a test of a command takes. Here one process a test run loads it once and forks for
each call: the child has its own folder, environment, streams and exit code as a started process
has, and nothing that an earlier call left. It reads files itself (`read_here.py`), unless the test
is marked `isolated_defects`. What a fork cannot stand for is started as ever: another interpreter's
settings (`PYTHON*`, `LC_*`, `LD_*`), or limits of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from read_here import in_children, read_here

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "regionpredict"]
SCRIPT = [str(Path(sys.executable).parent / "regionpredict")]
_KNOWN = {"cwd", "env", "capture_output", "text", "check", "timeout", "stdout", "stderr",
          "encoding", "errors", "input", "stdin"}  # fmt: skip
_APART = {"__main__", "pytest_plugin", "cli.language_server", "measure.launch_slurm"}  # of extras
_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS_")


class WarmCommand:
    """Takes the place of `subprocess.run`. Commands read files `in_children`, or by themselves."""

    in_children = False

    def __init__(self) -> None:
        self._started = subprocess.run
        self._free = threading.Lock()
        self._server: socket.socket | None = None

    def run(self, words: Any, *more: Any, **options: Any) -> subprocess.CompletedProcess[Any]:
        """As `subprocess.run`."""
        if more or not _by_fork(words, options) or not self._free.acquire(blocking=False):
            return self._started(words, *more, **options)
        try:
            return self._forked(list(map(os.fspath, words)), **options)
        finally:
            self._free.release()

    def _forked(
        self, words: list[str], *, cwd: Any = None, env: Mapping[str, str] | None = None,
        check: bool = False, timeout: float | None = None, capture_output: bool = False,
        stdout: Any = None, stderr: Any = None, input: Any = None,
        stdin: int | None = None, text: bool | None = None, encoding: str | None = None,
        errors: str | None = None,
    ) -> subprocess.CompletedProcess[Any]:  # fmt: skip
        as_text = bool(text or encoding or errors)
        if capture_output:
            stdout = stderr = subprocess.PIPE
        with contextlib.ExitStack() as files:

            def stream(asked: Any, own: int) -> Any:
                if asked == subprocess.PIPE:
                    return files.enter_context(tempfile.TemporaryFile())
                if asked == subprocess.DEVNULL:
                    return files.enter_context(Path(os.devnull).open("r+b"))
                return own if asked is None else asked

            out = stream(stdout, 1)
            err = out if stderr == subprocess.STDOUT else stream(stderr, 2)
            given: Any = 0 if stdin is None else stream(stdin, 0)
            if input is not None:
                given = files.enter_context(tempfile.TemporaryFile())
                given.write(input.encode(encoding or "utf-8") if as_text else input)
                given.seek(0)
            code = self._call(words[_begin(words) :], cwd, env, timeout, (given, out, err))

            def printed(asked: Any, file: Any) -> Any:
                if asked != subprocess.PIPE:
                    return None
                file.seek(0)
                if not as_text:
                    return file.read()
                return io.TextIOWrapper(file, encoding or "utf-8", errors or "strict").read()

            told = printed(stdout, out), printed(stderr, err)
        if code is None:
            raise subprocess.TimeoutExpired(words, timeout or 0, *told)
        if check and code:
            raise subprocess.CalledProcessError(code, words, *told)
        return subprocess.CompletedProcess(words, code, *told)

    def _call(
        self, words: Sequence[str], cwd: Any, env: Mapping[str, str] | None,
        timeout: float | None, streams: Sequence[Any],
    ) -> int | None:  # fmt: skip
        """Its exit code, as `subprocess` has it; nothing where it was killed for its time."""
        server = self._server = self._server or _start()
        request = {"words": [*words], "cwd": os.fspath(cwd or Path.cwd()),
                   "in_children": self.in_children,
                   "env": dict(os.environ if env is None else env)}  # fmt: skip
        told = json.dumps(request).encode() + b"\n"
        numbers = [file if isinstance(file, int) else file.fileno() for file in streams]
        socket.send_fds(server, [told[:1]], numbers)
        server.sendall(told[1:])
        answers = server.makefile("r")
        process = int(answers.readline())
        server.settimeout(timeout)
        try:
            return int(answers.readline())
        except TimeoutError:
            os.killpg(process, signal.SIGKILL)
            server.close()
            self._server = None
            return None
        finally:
            if self._server is not None:
                server.settimeout(None)


def _by_fork(words: Any, options: Mapping[str, Any]) -> bool:
    if isinstance(words, (str, bytes)) or not _begin(words) or options.keys() - _KNOWN:
        return False
    try:
        Path(options.get("cwd") or ".").resolve(strict=True)
        json.dumps([os.fspath(word) for word in words]).encode()
    except (OSError, TypeError, UnicodeError):
        return False
    env = options.get("env")
    given = _settings_at_start(os.environ if env is None else env)
    own = _settings_at_start(_OWN)
    if given.get("PYTHONPATH", str(ROOT)) == str(ROOT):  # where the program is found as it is
        given.pop("PYTHONPATH", None)
        own.pop("PYTHONPATH", None)
    return given == own


def _begin(words: Sequence[Any]) -> int:
    """How many words start the command; none where they start something else."""
    starts = (start for start in (COMMAND, SCRIPT) if list(words[: len(start)]) == start)
    return len(next(starts, ()))


def _settings_at_start(env: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter looks at before a program can set it; without any locale it takes this
    one (PEP 538), and how streams are buffered and modules kept changes no answer."""
    found = {name: value for name, value in env.items() if name.startswith(_AT_START)}
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        found.pop(name, None)
    return found if "LC_ALL" in found else {"LANG": "C.UTF-8", **found}


_OWN = dict(os.environ)


def _start() -> socket.socket:
    here, there = socket.socketpair()
    server = subprocess.Popen(
        [sys.executable, __file__, str(there.fileno())], pass_fds=[there.fileno()], cwd=ROOT,
        stdin=subprocess.DEVNULL, env=_OWN,
    )  # fmt: skip
    there.close()
    atexit.register(server.wait)
    atexit.register(here.close)  # the last that is registered goes first
    return here


def _serve(number: int) -> None:
    """One call after the other, until the tests are done."""
    sys.path[0] = str(ROOT)
    load_program()
    with socket.socket(fileno=number) as client:
        while True:
            told, streams, _, _ = socket.recv_fds(client, 1 << 16, 3)
            if not told:
                return
            while not told.endswith(b"\n"):
                told += client.recv(1 << 16)
            process = os.fork()
            if process == 0:
                client.close()
                _become(json.loads(told), streams)
            for stream in streams:
                os.close(stream)
            client.sendall(f"{process}\n".encode())
            _, status = os.waitpid(process, 0)
            with contextlib.suppress(BrokenPipeError):
                client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def load_program() -> None:
    """Loads all of the program, without what is optional. Later forks start with it."""
    import regionpredict

    for module in pkgutil.walk_packages(regionpredict.__path__, "regionpredict."):
        if module.name.removeprefix("regionpredict.") not in _APART:
            importlib.import_module(module.name)
    importlib.import_module("regionpredict.frontend.libclang_reader.bindings").load_libclang()
    gc.collect()
    gc.freeze()


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """In the child: the command, as a start of it would be."""
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    gc.unfreeze()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = request["cwd"]
    sys.argv = [str(ROOT / "regionpredict" / "__main__.py"), *request["words"]]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    code = 1
    try:
        from regionpredict import isolated_reading
        from regionpredict.cli.main import program

        isolated_reading.run_isolated = in_children if request["in_children"] else read_here
        sys.exit(program())  # as the installed script does
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
