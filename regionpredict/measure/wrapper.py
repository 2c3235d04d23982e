"""Compiles with measured regions: preprocesses, inserts calls, compiles, and adds the library.

The original compiler call runs first. Its diagnostics, exit code and additional files
(dependencies, listings) are unchanged. Then the measured object replaces the original object.

The preprocessed text is instrumented instead of the source, so macros, headers and inactive code
are as the compiler sees them. Line markers keep debug information on the original lines. If
anything fails, the original object stays.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regionpredict.file_presence import is_file, path_exists
from regionpredict.measure.compiler_call import CompilerCall, Source
from regionpredict.measure.compiler_passthrough import missing_compiler
from regionpredict.measure.runtime_library import runtime_object
from regionpredict.scratch_folder import scratch_folder

if TYPE_CHECKING:
    from regionpredict.measure.entry_values import NamesAt
    from regionpredict.measure.instrument import Instrumented

_MAYBE = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp\b[^\n]*\b(?:for|parallel)\b", re.M)
_REFUSED = re.compile(r"^regionpredict-values:(\d+):", re.M)  # `entry_values.VALUES_FILE`
_ATTEMPTS = 5  # an undeclared name is reported once per function
_SPOILS = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a compiler call: its exit code, remarks, and the numbers of measured loops and
    parallel regions.
    """

    code: int
    notes: tuple[str, ...] = ()
    regions: int = 0
    teams: int = 0


def compile_measured(call: CompilerCall, cache: Path) -> Outcome | None:
    """Runs the call with measured regions. None if there are none, so that the original call should
    be used.
    """
    with scratch_folder() as folder:
        return _Build(call, cache, folder).run()


@dataclass(frozen=True, slots=True)
class _Text:
    """A source's preprocessed text with the names to record, and its numbers of loops, of parallel
    regions and of recorded values.
    """

    plain: str
    cpp: bool
    names: NamesAt
    regions: int
    teams: int
    values: int


class _Build:
    """The work of one call, in one temporary folder."""

    def __init__(self, call: CompilerCall, cache: Path, folder: Path) -> None:
        self.call = call
        self.cache = cache
        self.folder = folder
        self.notes: list[str] = []

    def run(self) -> Outcome | None:
        """Compiles each source next to the original call, then links."""
        call = self.call
        texts = {s: text for s in call.sources if (text := self._instrument_text(s)) is not None}
        if not texts or (not call.links and not _are_files(call, texts)):
            return None
        if call.links and call.has_tied_outputs:
            return self._report_unmeasured("profiled and linked in one call")
        own = self._start_original()
        objects = {} if call.has_tied_outputs else self._compile_objects(texts)
        code = own.wait()
        if code:
            return Outcome(code if code > 0 else 128 - code)
        if call.has_tied_outputs:
            objects = self._compile_objects(texts)
            if len(objects) < len(texts):
                self._run_quietly(list(call.command))
        if call.links:
            objects = self._link_measured(objects)
        else:
            for source, made in objects.items():
                shutil.copyfile(made, call.object_of(source))
        self.notes += [
            f"{source.path}: does not compile with measurement calls, so it is compiled without "
            f"and not measured"
            for source in texts
            if source not in objects
        ]
        measured = [texts[source] for source in objects]
        return Outcome(
            0, tuple(self.notes), sum(text.regions for text in measured),
            sum(text.teams for text in measured),
        )  # fmt: skip

    def _start_original(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(list(self.call.command))
        except OSError as error:
            raise missing_compiler(self.call.driver[0], error) from None

    def _report_unmeasured(self, reason: str) -> Outcome:
        code = self._start_original().wait()
        paths = ", ".join(source.path for source in self.call.sources)
        return Outcome(code if code >= 0 else 128 - code, (f"{paths}: {reason}: not measured",))

    # -- one source -------------------------------------------------------------------------------

    def _instrument_text(self, source: Source) -> _Text | None:
        """Returns the instrumented text. None without regions, or if the preprocessor fails."""
        call = self.call
        language = "c++" if source.cpp else "c"
        done = self._run_quietly(
            [*call.driver, *call.preprocessing(), "-E", "-x", language, source.path]
        )
        if done.returncode or not _MAYBE.search(done.stdout):
            return None
        # Imported here, because it is slow and most files have no region.
        from regionpredict.measure.entry_values import NamesAt, names_at  # noqa: PLC0415

        plain = done.stdout.decode("utf-8", "surrogateescape")
        unnamed = _Text(plain, source.cpp, NamesAt(), 0, 0, 0)
        if (instrumented := self._with_calls(unnamed)) is None:
            return None
        arguments = [word for _, word in call.without_side_files()]
        names = names_at(source.path, arguments, str(Path.cwd()))
        text = replace(unnamed, names=names, regions=instrumented.regions, teams=instrumented.teams)
        with_calls = self._with_calls(text)
        return text if with_calls is None else replace(text, values=with_calls.values)

    def _with_calls(
        self, text: _Text, without: Collection[int] = (), *, ask: bool = True
    ) -> Instrumented | None:
        """Returns the text with its calls, without some of the recorded values."""
        from regionpredict.measure.instrument import instrument  # noqa: PLC0415

        return instrument(
            text.plain, str(Path.cwd()), self.call.description(), cpp=text.cpp, ask=ask,
            names=text.names, without=without,
        )  # fmt: skip

    def _compile_objects(self, texts: dict[Source, _Text]) -> dict[Source, Path]:
        """Returns the measured objects of the sources that compile with the calls."""
        made = {}
        for number, (source, text) in enumerate(texts.items()):
            if (file := self._compile_measured(source, text, number)) is not None:
                made[source] = file
        return made

    def _compile_measured(self, source: Source, text: _Text, number: int) -> Path | None:
        """Compiles the object with the calls that the compiler accepts.

        Compiler errors show which values cannot be read at the start of their loop. For other
        errors, the source is compiled without all values, then without the query of the number of
        threads.
        """
        every = range(1, text.values + 1)
        refused: set[int] = set()
        tried: set[str] = set()
        attempts = [(refused, True)] * _ATTEMPTS + [(every, True), (every, False)]
        for without, ask in attempts:
            made = self._with_calls(text, without, ask=ask)
            if made is None:
                return None
            if made.text in tried:
                continue
            tried.add(made.text)
            file, said = self._compile_instrumented(source, made.text, number)
            if file is not None:
                return file
            refused |= {int(match[1]) for match in _REFUSED.finditer(said)}
        return None

    def _compile_instrumented(
        self, source: Source, text: str, number: int
    ) -> tuple[Path | None, str]:
        """Compiles the instrumented text. Returns the object linked with the library, or the
        compiler's messages.
        """
        call = self.call
        name = f"{number}-{Path(source.path).stem}"
        copy = self.folder / (name + (".ii" if source.cpp else ".i"))
        copy.write_bytes(text.encode("utf-8", "surrogateescape"))
        whole = self.folder / f"{name}.o"
        plain = self.folder / f"{name}.plain.o"
        if call.has_tied_outputs:  # the names of additional files are derived from the object's
            plain = Path(call.object_of(source))
        made = whole if call.lto else plain
        language = "c++-cpp-output" if source.cpp else "cpp-output"
        options = [*call.code_options(), "-w"]
        if call.clang:
            options.append("-Wno-unused-command-line-argument")
        line = [*call.driver, *options, "-c", "-x", language, str(copy), "-o", str(made)]
        done = self._run_quietly(line)
        if done.returncode:
            return None, done.stderr.decode("utf-8", "replace")
        if call.lto or self._join_objects(plain, whole):
            return whole, ""
        return None, ""

    def _join_objects(self, plain: Path, whole: Path) -> bool:
        """Combines the object and the library into one object that any linker accepts."""
        library = runtime_object(self.call.driver, self.call.abi_options(), self.cache)
        line = [*self.call.driver, *self.call.abi_options(), "-r", "-nostdlib"]
        return (
            self._run_quietly([*line, str(plain), str(library), "-o", str(whole)]).returncode == 0
        )

    # -- the link ---------------------------------------------------------------------------------

    def _link_measured(self, objects: dict[Source, Path]) -> dict[Source, Path]:
        """Links again with the measured objects. Returns those in the program."""
        if not objects:
            return {}
        call = self.call
        by_position = {source.position: source for source in objects}
        arguments = []
        for position, word in call.without_side_files():
            source = by_position.get(position)
            if source is None:
                arguments.append(word)
            elif source.named is None:
                arguments.append(str(objects[source]))
            else:
                arguments += ["-x", "none", str(objects[source]), "-x", source.named]
        if call.lto:
            arguments.append(str(runtime_object(call.driver, call.abi_options(), self.cache)))
        if self._run_quietly([*call.driver, *arguments, "-w"]).returncode == 0:
            return objects
        self._run_quietly(list(call.command))
        return {}

    def _run_quietly(self, line: list[str]) -> subprocess.CompletedProcess[bytes]:
        settings = {name: value for name, value in os.environ.items() if name not in _SPOILS}
        try:
            return subprocess.run(
                line, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=settings
            )
        except OSError as error:
            raise missing_compiler(line[0], error) from None


def _are_files(call: CompilerCall, texts: dict[Source, _Text]) -> bool:
    """Whether every object is a file, not for example /dev/null."""
    targets = [Path(call.object_of(source)) for source in texts]
    return all(is_file(target) or not path_exists(target) for target in targets)
