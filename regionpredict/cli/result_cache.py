"""Caches the results of commands on sources in the user's cache folder.

The key consists of the command line, its folder, the program itself and other inputs. Under the key
are the queries that the last result depended on (`file_dependencies`). Repeated, they give a
fingerprint. Key, queries and fingerprint together identify the result, the output on both streams,
piece by piece. So

A result is JSON after its own digest. It is text to print, and never executed. A damaged or
outdated file counts as missing. This file and its imports are light, because a result is printed
before anything else is loaded.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from regionpredict import __version__
from regionpredict.atomic_file import replace_file
from regionpredict.cli.config_place import nearest_config
from regionpredict.errors import InputError
from regionpredict.file_dependencies import FileDependencies, Tree, dependency_fingerprint
from regionpredict.user_cache import private_folder, user_cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = ("analyze", "predict", "sizes", "explain")
SWITCH = "REGIONPREDICT_CACHE"  # `off` disables the cache
MOST_BYTES = 256 << 20  # the limit for all results; the least recently used ones are removed first
_SCHEMA = 1
_FOLDER = "results"
# Environment variables that make a parser read additional files or options.
_FOREIGN = (
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX", "COMPILER_PATH", "SDKROOT", "CCC_", "CLANG_", "LIBCLANG_",
)  # fmt: skip
_DECIDING = ("PYTHON", "LC_", "LANG", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR")


class CachedFile(NamedTuple):
    """A file of the cache: its size in bytes, and the time of its last use (seconds since 1970)."""

    path: Path
    size: int
    used: float


class RunRecord:
    """The output and dependencies of one run. The result is cached only if `keep` was called."""

    def __init__(self) -> None:
        # resolution of the kernel's clock for file times
        coarse = getattr(time, "CLOCK_REALTIME_COARSE", None)
        self.started_ns = time.time_ns() if coarse is None else time.clock_gettime_ns(coarse)
        self.printed: list[tuple[int, str]] = []
        self.dependencies: FileDependencies | None = None
        self._unchanged: Callable[[], bool] = lambda: False
        self._files: tuple[str, ...] = ()
        self._kept = False
        self._bypassed = False

    def read_sources(
        self, dependencies: FileDependencies | None, unchanged: Callable[[], bool]
    ) -> None:
        """Stores the dependencies of reading the sources. `unchanged` returns whether they are the
        same now.
        """
        self.dependencies = dependencies
        self._unchanged = unchanged

    def read_file(self, path: Path) -> None:
        """Records an additional file that the result depends on."""
        self._files += (str(path),)

    def keep(self, *files: Path) -> None:
        """Marks the run as finished, with additional dependencies. Its result may be cached."""
        self._files += tuple(str(path) for path in files)
        self._kept = True

    def bypass(self) -> None:
        """Records that the command wrote to a stream that is not recorded."""
        self._bypassed = True

    def complete(self) -> FileDependencies | None:
        """Returns all dependencies of the result. None if it must not be cached."""
        known = self.dependencies
        if not self._kept or self._bypassed or known is None:
            return None
        try:
            if not self._unchanged():
                return None
        except InputError:
            return None
        return known._replace(contents=(*known.contents, *self._files))


class _Recorded:
    """A standard stream that records its output."""

    def __init__(self, stream: TextIO, number: int, record: RunRecord) -> None:
        self._stream, self._number, self._record = stream, number, record

    def write(self, text: str) -> int:
        count = self._stream.write(text)
        self._record.printed.append((self._number, text))
        return count

    def writelines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "detach", "fileno"):
            self._record.bypass()
        return getattr(self._stream, name)


class ResultCache:
    """The cached results of one command line."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._cache_key = key
        self._questions = folder / f"{key}.questions"

    def replay(self) -> bool:
        """Prints the cached result for the current files, if there is one. Returns whether it
        did.
        """
        body = _read_body(self._questions)
        dependencies = None if body is None else _parse_dependencies(body)
        if body is None or dependencies is None:
            return False
        now = dependency_fingerprint(dependencies)
        if now is None:
            return False
        path = self._result_file(body, now.digest)
        answer = _read_body(path)
        printed = None if answer is None else _parse_pieces(answer)
        if printed is None:
            return False
        for number, text in printed:
            (sys.stdout if number == 1 else sys.stderr).write(text)
        _mark_used(path)
        _mark_used(self._questions)
        return True

    def store(self, record: RunRecord) -> None:
        """Stores the result of a finished run, unless a file changed since it started."""
        dependencies = record.complete()
        now = None if dependencies is None else dependency_fingerprint(dependencies)
        if now is None or now.changed_ns >= record.started_ns:
            return
        body = json.dumps(dependencies, separators=(",", ":")).encode()
        answer = json.dumps(
            [_SCHEMA, _merge_pieces(record.printed)], separators=(",", ":")
        ).encode()
        try:
            _write_body(self._result_file(body, now.digest), answer)
            _write_body(self._questions, body)
            _remove_oldest(self._folder)
        except OSError:
            return  # a full or read-only disk is no error

    def _result_file(self, questions: bytes, digest: str) -> Path:
        name = sha256(b"\n".join((self._cache_key.encode(), questions, digest.encode())))
        return self._folder / f"{name.hexdigest()}.answer"


def result_cache(argv: Sequence[str], environment: Mapping[str, str]) -> ResultCache | None:
    """Returns the cached results of a command line. None if the cache is off.

    The cache is off for other commands, with `--no-cache`, with parser options in the environment,
    for a stream that cannot be replayed, and without a private folder.
    """
    if not argv or argv[0] not in COMMANDS or "--no-cache" in argv:
        return None
    if environment.get(SWITCH, "") == "off" or any(n.startswith(_FOREIGN) for n in environment):
        return None
    if any(stream is None or stream.encoding.lower() != "utf-8" for stream in _stream_properties()):
        return None
    try:
        folder = private_folder(results_folder(environment))
        return ResultCache(folder, _cache_key(argv, environment))
    except (InputError, OSError):
        return None


def results_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder of cached results. Raises InputError if the user has no cache folder."""
    return user_cache_folder(environment) / _FOLDER


def recorded(record: RunRecord) -> tuple[TextIO, TextIO]:
    """Returns replacements for standard output and standard error that record the output."""
    out, err = _Recorded(sys.stdout, 1, record), _Recorded(sys.stderr, 2, record)
    return out, err  # type: ignore[return-value]


def kept_files(folder: Path) -> list[CachedFile]:
    """Returns the files of the cache, the least recently used first."""
    files = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith((".questions", ".answer", ".part")):
                    status = entry.stat(follow_symlinks=False)
                    files.append(CachedFile(Path(entry.path), status.st_size, status.st_mtime))
    except FileNotFoundError:
        return []
    return sorted(files, key=lambda kept: kept.used)


def _stream_properties() -> tuple[TextIO, TextIO]:
    return sys.stdout, sys.stderr


def _cache_key(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Returns everything that a result depends on, except files."""
    streams = [
        [stream.errors, os.get_terminal_size(stream.fileno()) if stream.isatty() else None]
        for stream in _stream_properties()
    ]
    deciding = sorted(item for item in environment.items() if item[0].startswith(_DECIDING))
    parts = (
        _SCHEMA, __version__, sys.version, sys.platform, _package_files(), _installed_packages(),
        list(argv), str(Path.cwd()), deciding, streams, _config_options(),
    )  # fmt: skip
    return sha256(json.dumps(parts).encode()).hexdigest()


def _config_options() -> tuple[str, str] | None:
    """Returns the options in the project's configuration file."""
    path = nearest_config()
    return None if path is None else (str(path), sha256(path.read_bytes()).hexdigest())


def _package_files() -> list[tuple[str, int, int]]:
    """Lists the files of the package by name, size and time. A change of the program changes the
    key.
    """
    package = str(Path(__file__).parent.parent)
    program = []
    waiting = [package]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        waiting.append(entry.path)
                else:
                    status = entry.stat()
                    program.append((entry.path, status.st_size, status.st_mtime_ns))
    return sorted(program)


def _installed_packages() -> list[str]:
    """Lists names and versions of the packages installed with the program."""
    installed: list[str] = []
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")):
            try:
                names = os.listdir(folder)  # noqa: PTH208 (hundreds of names)
            except OSError:
                continue
            installed += (name for name in names if name.endswith("-info"))
    return sorted(installed)


def _merge_pieces(printed: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Merges consecutive pieces of output on the same stream."""
    joined: list[tuple[int, list[str]]] = []
    for number, text in printed:
        if joined and joined[-1][0] == number:
            joined[-1][1].append(text)
        elif text:
            joined.append((number, [text]))
    return [(number, "".join(texts)) for number, texts in joined]


def _read_body(path: Path) -> bytes | None:
    """Returns the body of a cached file. None if it is missing or damaged."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return body if head == sha256(body).hexdigest().encode() else None


def _write_body(path: Path, body: bytes) -> None:
    """Writes a cached file after its digest, which reveals a truncated file."""
    digest = sha256(body).hexdigest().encode()
    replace_file(path, digest + b"\n" + body, mode=0o600, durable=False)


def _mark_used(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:
        return  # the cache was cleared meanwhile


def _remove_oldest(folder: Path) -> None:
    files = kept_files(folder)
    over = sum(kept.size for kept in files) - MOST_BYTES
    for kept in files:
        if over <= 0:
            return
        kept.path.unlink(missing_ok=True)
        over -= kept.size


def _parse_dependencies(body: bytes) -> FileDependencies | None:
    """Returns the stored queries. None if they are invalid."""
    try:
        contents, identities, presence, searches, listings, trees = json.loads(body)
        return FileDependencies(
            _parse_texts(contents), _parse_texts(identities), _parse_texts(presence),
            tuple((_parse_texts(folders), _parse_texts(names)) for folders, names in searches),
            _parse_texts(listings),
            tuple(Tree(str(top), _parse_texts(names), _parse_texts(suffixes), _parse_texts(skipped),
                       int(most))
                  for top, names, suffixes, skipped, most in trees),
        )  # fmt: skip
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _parse_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError
    return tuple(value)


def _parse_pieces(body: bytes) -> list[tuple[int, str]] | None:
    """Returns the pieces of a cached result. None if they are invalid."""
    try:
        schema, pieces = json.loads(body)
        printed = [(int(number), text) for number, text in pieces]
        "".join(text for _, text in printed).encode()
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    texts = all(number in (1, 2) and isinstance(text, str) for number, text in printed)
    return printed if schema == _SCHEMA and texts else None
