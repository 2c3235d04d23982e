"""Compiles the measuring library to an object file, once per compiler and ABI."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from regionpredict.errors import InputError, is_missing
from regionpredict.user_cache import is_private_file

RUNTIME = Path(__file__).parent / "runtime"
SECONDS = 120
OTHER_COMPILER = "this needs a C compiler; set CC to another one"
_PLAIN = ("-x", "c", "-std=gnu11", "-O2", "-fPIC", "-w")


def runtime_object(driver: Sequence[str], options: Sequence[str], cache: Path) -> Path:
    """Returns the object file with the functions that instrumented code calls."""
    return _build(driver, cache, RUNTIME / "runtime.c", [*options, "-c"])


def preload_library(driver: Sequence[str], cache: Path, source: str) -> Path:
    """Compiles a shared library of `runtime/`, to be loaded before the OpenMP library."""
    return _build(driver, cache, RUNTIME / source, ["-shared"])


def shared_library(
    driver: Sequence[str], cache: Path, source: Path, remedy: str = OTHER_COMPILER
) -> Path:
    """Compiles one source file to a shared library, stored in `cache`, a private folder.

    Raises InputError if the compiler is missing or fails, with `remedy` if it fails.
    """
    return _build(driver, cache, source, ["-shared"], remedy)


def runtime_program(driver: Sequence[str], cache: Path, source: str) -> Path:
    """Compiles a program of `runtime/`, with OpenMP."""
    return _build(driver, cache, RUNTIME / source, ["-fopenmp"])


def _build(
    driver: Sequence[str],
    cache: Path,
    source: Path,
    options: Sequence[str],
    remedy: str = OTHER_COMPILER,
) -> Path:
    """Compiles a source file into `cache`, a private folder, unless the result exists.

    Raises InputError if the compiler is missing or fails.
    """
    suffix, libraries = (".o", []) if "-c" in options else (".so", ["-ldl", "-lpthread"])
    if "-fopenmp" in options:
        suffix, libraries = "", []
    program = shutil.which(driver[-1]) or driver[-1]
    key = hashlib.sha256()
    for name in sorted(source.parent.glob("*.[ch]")):
        key.update(name.read_bytes())
    stamp = Path(program).stat().st_mtime_ns if Path(program).exists() else 0
    key.update(repr((list(driver), program, stamp, list(options))).encode())
    target = cache / f"{source.stem}-{key.hexdigest()[:16]}{suffix}"
    if _is_intact(target):
        return target
    try:
        handle, part = tempfile.mkstemp(suffix=suffix, dir=cache)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", remedy="make it yours", path=str(cache)
        ) from None
    os.close(handle)
    line = [*driver, *options, *_PLAIN, str(source), "-o", part, *libraries]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            message = next((t for t in done.stderr.splitlines() if "error" in t), done.stderr)
            raise InputError(
                f"'{' '.join(driver)}' cannot compile {source.name}: {message.strip()[:200]}",
                remedy=remedy,
            )
        if not suffix:
            Path(part).chmod(0o700)
        _store_compiled(Path(part), target)
    except OSError as error:
        if not is_missing(driver[0], error):
            raise
        raise InputError(
            f"no compiler '{driver[0]}'", remedy="name one that is installed"
        ) from None
    finally:
        Path(part).unlink(missing_ok=True)
    return target


def _digest_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _is_intact(target: Path) -> bool:
    """Whether the compiled file is complete, since a truncated library crashes the program that
    loads it.
    """
    digest = _digest_file(target)
    if not (is_private_file(target) and is_private_file(digest)):
        return False
    return digest.read_bytes() == _file_digest(target)


def _file_digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).hexdigest().encode()


def _store_compiled(part: Path, target: Path) -> None:
    """Moves a compiled file with its digest into the cache, and replaces an existing file. Raises
    InputError if the cache cannot be written.
    """
    digest = part.with_name(f"{part.name}.sha256")
    try:
        for name in (target, _digest_file(target)):
            if name.is_dir() and not name.is_symlink():
                shutil.rmtree(name)
        digest.write_bytes(_file_digest(part))
        part.replace(target)
        digest.replace(_digest_file(target))
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", remedy="free some space there, or remove it",
            path=str(target),
        ) from None  # fmt: skip
    finally:
        digest.unlink(missing_ok=True)
