"""Finds OpenMP runtimes with the tools interface OMPT, and runs programs with them.

LLVM's runtime (the same as Intel's) supports OMPT, and gcc's does not. A program built by gcc can
run on LLVM's runtime if that has all functions the program calls.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError, with_extra

NAMES = ("libomp.so.5", "libomp.so", "libiomp5.so")
SECONDS = 60
_ELF = b"\x7fELF"
_EXECUTABLE = 2  # e_type of programs with a fixed load address
_INSTALL = f"install libomp5 (Debian), or {with_extra('tasks')}, or build it with clang"


def find_runtime() -> Path | None:
    """Finds LLVM's or Intel's runtime: in the loader's paths, from clang, or next to this
    Python.
    """
    listing = _tool_output(["ldconfig", "-p"]) or _tool_output(["/sbin/ldconfig", "-p"])
    for name in NAMES:
        match = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", listing, re.MULTILINE)
        if match:
            return Path(match[1])
    libraries = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so*"), key=_version_key)
    beside = [
        Path(sys.prefix, "lib", name) for name in NAMES
    ]  # the layout of the wheel intel-openmp
    return libraries[-1] if libraries else next((path for path in beside if path.exists()), None)


def _version_key(path: Path) -> int:
    match = re.search(r"llvm-(\d+)", str(path))
    return int(match[1]) if match else 0


def runtime_for(program: Path, runtime: Path | None = None) -> Path | None:
    """Returns the runtime to load before the program's own. None if none is needed.

    Raises InputError for a program built by gcc if no runtime can replace gcc's, or if gcc's is
    linked statically.
    """
    symbols = _read_symbols(program)
    gcc = {name for name in symbols.imported if name.startswith("GOMP_")}
    if not gcc:
        if any(name.startswith("GOMP_") for name in symbols.defined):
            raise InputError(
                "is statically linked with gcc's OpenMP runtime, which has no support for tools",
                remedy="link it without -static, or build it with clang", path=str(program),
            )  # fmt: skip
        return None
    path = runtime or find_runtime()
    if path is None:
        raise InputError(
            "built by gcc, whose runtime does not support tools (OMPT)",
            remedy=_INSTALL,
            path=str(program),
        )
    lacking = sorted(gcc - _read_symbols(path).defined)
    if lacking:
        raise InputError(
            f"built by gcc, and {path.name} does not know its call {lacking[0]}",
            remedy="build it with clang -fopenmp", path=str(program),
        )  # fmt: skip
    return path


def stand_in(runtime: Path, cache: Path) -> Path:
    """Returns the runtime as loaded into programs.

    Intel's runtime is linked into a separate folder. If it finds libumf next to itself, it crashes:
    version 2025.0 unloads libumf before its last call. Raises InputError if the cache cannot be
    written.
    """
    if not any(runtime.parent.glob("libumf.so*")):
        return runtime
    folder = cache / f"runtime-{hashlib.sha256(str(runtime).encode()).hexdigest()[:16]}"
    link = folder / runtime.name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(runtime.resolve())
    except FileExistsError:  # another run has created the link
        pass
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            remedy="change its owner to your user",
            path=str(folder),
        ) from None
    return link


def has_fixed_address(module: Path) -> bool:
    """Whether a program is loaded at fixed addresses, as without -pie."""
    try:
        with module.open("rb") as stream:
            head = stream.read(18)
    except OSError:
        return False
    return head[:4] == _ELF and int.from_bytes(head[16:18], "little") == _EXECUTABLE


class _Symbols(NamedTuple):
    """The imported and defined names in the dynamic symbol table of a file."""

    imported: frozenset[str]
    defined: frozenset[str]


def _read_symbols(path: Path) -> _Symbols:
    """Reads the dynamic symbols of a file. Both sets are empty unless it is an executable or a
    library.
    """
    imported: set[str] = set()
    defined: set[str] = set()
    for line in _tool_output(["nm", "-D", str(path)]).splitlines():
        words = line.split()  # an address, unless it is imported, a type, and a name
        if len(words) > 1:
            (imported if len(words) == 2 else defined).add(words[-1].partition("@")[0])
    return _Symbols(frozenset(imported), frozenset(defined))


def _tool_output(line: Sequence[str]) -> str:
    if shutil.which(line[0]) is None:
        return ""
    try:
        done = subprocess.run(
            list(line), capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
