"""A compiler call with its regions measured: preprocess, insert calls, compile, join the library.

The preprocessed text is instrumented, not the source, so that macros, headers and inactive code
are what the compiler sees; its line markers keep diagnostics and debug information on the
original. Where anything fails, the original is compiled.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.measure.compiler_call import CompilerCall, Source
from regionpredict.measure.instrument import instrument
from regionpredict.measure.runtime_library import runtime_object


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: the exit code, what the compiler said, and what there is to add to it."""

    code: int
    said: str
    notes: tuple[str, ...] = ()


def needs_library(call: CompilerCall) -> bool:
    """Whether a call that compiles nothing must still be given the library: a link of LTO code."""
    return call.lto and call.links


def compile_measured(call: CompilerCall, cache: Path) -> Outcome | None:
    """Runs the call with its regions measured; None where it has none and is to run as it is."""
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        return _Build(call, cache, Path(folder)).run()


class _Build:
    """One call's work, in one temporary folder."""

    def __init__(self, call: CompilerCall, cache: Path, folder: Path) -> None:
        self.call = call
        self.cache = cache
        self.folder = folder
        self.said: list[str] = []
        self.notes: list[str] = []

    def run(self) -> Outcome | None:
        """Each source on its own, then the link."""
        texts = {source: self._instrumented(source) for source in self.call.sources}
        if not any(texts.values()):
            if needs_library(self.call):
                return self._link({})
            return None
        objects: dict[Source, str] = {}
        for number, (source, text) in enumerate(texts.items()):
            target = self.call.object_of(source)
            if self.call.links:
                target = str(self.folder / f"{number}-{Path(source.path).stem}.o")
            code = self._object(source, text, target)
            if code:
                return Outcome(code, "".join(self.said), tuple(self.notes))
            objects[source] = target
        if self.call.links:
            return self._link(objects)
        return Outcome(0, "".join(self.said), tuple(self.notes))

    # -- one source -------------------------------------------------------------------------------

    def _instrumented(self, source: Source) -> tuple[str, str] | None:
        """The instrumented text, asking for the team's size and not; None without regions."""
        done = self._say_nothing(self._preprocessing(source))
        if done.returncode:
            return None
        text = done.stdout.decode("utf-8", "surrogateescape")
        build = self.call.described()
        full = instrument(text, str(Path.cwd()), build, cpp=source.cpp)
        if full is None:
            return None
        less = instrument(text, str(Path.cwd()), build, cpp=source.cpp, ask=False)
        self.said.append(done.stderr.decode("utf-8", "replace"))
        return full, less or full

    def _preprocessing(self, source: Source) -> list[str]:
        call = self.call
        words = call.only("option", "preprocessor")
        if call.writes_dependencies and call.compiles_only:
            target = call.object_of(source)
            if not call.names_dependencies:
                words += ["-MF", str(Path(target).with_suffix(".d"))]
            if not call.names_target:
                words += ["-MQ", target]
        elif call.writes_dependencies:
            words = [w for w in words if not w.startswith(("-M", "-Wp,-M"))]
        language = "c++" if source.cpp else "c"
        return [*call.driver, *words, "-E", "-x", language, source.path]

    def _object(self, source: Source, text: tuple[str, str] | None, target: str) -> int:
        """Compiles one source into `target`; the exit code, 0 also where it is left unmeasured."""
        if text is None:
            return self._original(source, target)
        if self._compiled(source, text[0], target, (), report=True):
            return 0
        code = self._original(source, target)
        if code:
            return code
        if any(self._compiled(source, one, target, ("-w",), report=False) for one in text):
            return 0
        self.notes.append(
            f"{source.path}: does not compile with the calls in it: compiled without, not measured"
        )
        return 0

    def _original(self, source: Source, target: str) -> int:
        call = self.call
        words = call.only("option", "preprocessor")
        if not call.compiles_only:
            words = [w for w in words if not w.startswith("-M")]
        language = "c++" if source.cpp else "c"
        line = [*call.driver, *words, "-c", "-x", language, source.path, "-o", target]
        done = self._say_nothing(line)
        self.said.append(done.stderr.decode("utf-8", "replace"))
        return done.returncode

    def _compiled(
        self, source: Source, text: str, target: str, more: Sequence[str], *, report: bool
    ) -> bool:
        """Whether the instrumented text became an object that holds the library."""
        call = self.call
        copy = self.folder / (Path(source.path).stem + (".ii" if source.cpp else ".i"))
        copy.write_bytes(text.encode("utf-8", "surrogateescape"))
        plain = self.folder / f"{Path(source.path).stem}.plain.o"
        made = target if call.lto else str(plain)
        language = "c++-cpp-output" if source.cpp else "cpp-output"
        words = [*call.only("option"), *more]
        if call.clang:
            words += ["-Wno-unused-command-line-argument", "-Wno-gnu-line-marker"]
        line = [*call.driver, *words, "-c", "-x", language, str(copy), "-o", made]
        done = self._say_nothing(line)
        if done.returncode:
            return False
        if not call.lto and not self._joined(plain, target):
            return False
        if report:
            self.said.append(done.stderr.decode("utf-8", "replace"))
        return True

    def _joined(self, plain: Path, target: str) -> bool:
        """Puts the object and the library into one object, so that any linker can take it."""
        library = runtime_object(self.call.driver, self.call.abi_options(), self.cache)
        line = [*self.call.driver, *self.call.abi_options(), "-r", "-nostdlib"]
        line += [str(plain), str(library), "-o", target]
        return self._say_nothing(line).returncode == 0

    # -- the link ---------------------------------------------------------------------------------

    def _link(self, objects: dict[Source, str]) -> Outcome:
        call = self.call
        by_position = {source.position: name for source, name in objects.items()}
        words = []
        for position, (word, kind) in enumerate(zip(call.words, call.kinds, strict=True)):
            if position in by_position:
                words.append(by_position[position])
            elif kind != "preprocessor" and not (objects and kind == "language"):
                words.append(word)
        if call.lto:
            library = runtime_object(call.driver, call.abi_options(), self.cache)
            words.append(str(library))
        done = self._say_nothing([*call.driver, *words])
        self.said.append(done.stderr.decode("utf-8", "replace"))
        return Outcome(done.returncode, "".join(self.said), tuple(self.notes))

    def _say_nothing(self, line: list[str]) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(line, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise InputError(
                f"no compiler '{line[0]}'", remedy="name one that is installed behind --"
            ) from None
        except OSError as error:
            raise InputError(
                f"the compiler '{line[0]}' does not run: {error.strerror}", remedy="name another"
            ) from None


def run_as_it_is(command: Sequence[str]) -> None:
    """Becomes the compiler; returns only by raising InputError."""
    sys.stdout.flush()
    sys.stderr.flush()
    if shutil.which(command[0]) is None:
        raise InputError(
            f"no compiler '{command[0]}'", remedy="name one that is installed behind --"
        )
    os.execvp(command[0], list(command))
