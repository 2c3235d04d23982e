"""Compiles microbenchmarks with the user's compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

from regionpredict.errors import InputError, is_missing

SOURCES = Path(__file__).parent
_PLAIN = ("-std=gnu99", "-w")
_FAST = ("-O3", "-fno-tree-loop-distribute-patterns", "-fopenmp")
_SCALAR = ("-O1", "-ffp-contract=off")
PROGRAMS: dict[str, tuple[str, ...]] = {
    # Loops must not become calls of memcpy, which bypasses the caches.
    "bandwidth": _FAST,
    "clock": ("-O1", "-fopenmp"),
    "latency": ("-O1",),
    "operations": _SCALAR,
    "openmp": ("-O2", "-fopenmp"),
}
SECONDS = 60


def build(compiler: str, folder: Path) -> dict[str, Path]:
    """Compiles every microbenchmark program into `folder`. Returns the paths by name.

    Raises InputError with the compiler's first error line.
    """
    return {
        name: compiled(compiler, SOURCES / f"{name}.c", flags, folder / name)
        for name, flags in PROGRAMS.items()
    }


def compiled(compiler: str, source: Path, flags: tuple[str, ...], target: Path) -> Path:
    """Compiles one program for this host's processor. Raises InputError like `build`."""
    message = ""
    for native in (("-march=native",), ("-mcpu=native",), ()):
        line = [compiler, *_PLAIN, *flags, *native, str(source), "-o", str(target), "-lm"]
        try:
            done = subprocess.run(
                line, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as failure:
            if isinstance(failure, OSError) and is_missing(compiler, failure):
                raise InputError(
                    f"no compiler '{compiler}'", remedy="name one with --cc, for example --cc gcc"
                ) from None
            raise InputError(
                f"the compiler '{compiler}' does not run: {failure}",
                remedy="name another with --cc",
            ) from None
        if done.returncode == 0 and target.exists():
            return target
        message = next((text for text in done.stderr.splitlines() if "error" in text), done.stderr)
    raise InputError(
        f"'{compiler}' cannot compile {source.name}: {message.strip()[:200] or 'no program'}",
        remedy="pass a C compiler with -fopenmp to --cc",
    )
