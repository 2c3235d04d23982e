"""A compiler's command line, as far as measuring has to change it: sources, outputs, dependencies.

Understood are the options of gcc and of compilers that take the same ones (clang, icx, the MPI
wrappers).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_C = frozenset((".c",))
_CPP = frozenset((".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP"))
_CPP_DRIVERS = ("g++", "c++", "clang++", "mpicxx", "mpic++", "mpiCC", "icpx", "icpc")
_OPENMP = ("-fopenmp", "-qopenmp", "-fiopenmp", "-openmp")
_SIDE_PATHS = frozenset(
    ("-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "-fdirectives-only", "-fpreprocessed", "-",
     "-save-temps", "--save-temps", "--help", "--version", "-dumpversion", "-dumpmachine", "-cc1")
)  # fmt: skip
_VALUED = frozenset(
    ("-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-A", "-G", "-e", "-B", "-include",
     "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
     "-iwithprefixbefore", "-isysroot", "-imultilib", "-Xlinker", "-Xassembler", "-Xpreprocessor",
     "-Xclang", "-mllvm", "-MF", "-MT", "-MQ", "-arch", "-target", "-aux-info", "--param",
     "-wrapper", "-dumpbase", "-dumpdir", "-dumpbase-ext", "-framework", "--sysroot",
     "-gcc-toolchain")
)  # fmt: skip
_PREPROCESSOR_VALUED = frozenset(
    ("-I", "-D", "-U", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
     "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-Xpreprocessor", "-MF", "-MT", "-MQ")
)  # fmt: skip
_PREPROCESSOR_PLAIN = frozenset(
    ("-MD", "-MMD", "-MP", "-MG", "-nostdinc", "-nostdinc++", "-undef", "-P", "-C", "-CC",
     "-trigraphs", "-H")
)  # fmt: skip
_PREPROCESSOR_JOINED = ("-I", "-D", "-U", "-Wp,", "-isystem", "-iquote", "-idirafter", "-MF", "-MT",
                        "-MQ")  # fmt: skip
_LINKER_VALUED = frozenset(("-L", "-l", "-T", "-u", "-z", "-e", "-Xlinker", "-framework"))
_LINKER_PLAIN = frozenset(
    ("-shared", "-static", "-pie", "-no-pie", "-rdynamic", "-s", "-nostartfiles", "-nostdlib",
     "-nodefaultlibs", "-static-libgcc", "-static-libstdc++", "-static-pie", "-r")
)  # fmt: skip
_LINKER_JOINED = ("-L", "-l", "-Wl,", "-fuse-ld=")
_ABI = ("-m32", "-m64", "-mx32", "-mabi", "-march", "-mcpu", "-mfloat", "-mfpu", "-mthumb", "-marm",
        "--target", "--sysroot", "--gcc-toolchain")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A source file on the command line: its place there, and whether it is C++."""

    position: int
    path: str
    cpp: bool


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """A command line taken apart.

    `driver` is what stands before the options (`ccache gcc` is two words); `words` are the rest,
    response files read in. `kinds` says of each word whether it is for the 'preprocessor', the
    'linker', an 'input', the 'output', the 'language', 'compile' (-c) or an 'option'.
    """

    driver: tuple[str, ...]
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    sources: tuple[Source, ...]
    output: str | None
    compiles_only: bool
    measurable: bool

    @property
    def clang(self) -> bool:
        """Whether the driver's name says clang, which complains of options it does not use."""
        return "clang" in Path(self.driver[-1]).name or "icx" in Path(self.driver[-1]).name

    @property
    def lto(self) -> bool:
        """Whether objects hold the compiler's own code for the linker, which cannot be joined."""
        return any(word.startswith("-flto") for word in self.words)

    @property
    def links(self) -> bool:
        """Whether the call ends in a program or library."""
        return not self.compiles_only and "input" in self.kinds

    def only(self, *kinds: str) -> list[str]:
        """The words of these kinds."""
        return [w for w, kind in zip(self.words, self.kinds, strict=True) if kind in kinds]

    def abi_options(self) -> list[str]:
        """The options that an object must share to be linked with this call's."""
        return [word for word in self.only("option") if word.startswith(_ABI)]

    def object_of(self, source: Source) -> str:
        """The object file that the compiler would write for the source."""
        if self.compiles_only and self.output is not None:
            return self.output
        return Path(source.path).stem + ".o"

    @property
    def writes_dependencies(self) -> bool:
        """Whether a dependency file is asked for."""
        return any(
            w in ("-MD", "-MMD") or w.startswith(("-Wp,-MD", "-Wp,-MMD")) for w in self.words
        )

    @property
    def names_dependencies(self) -> bool:
        """Whether that file's name is given too."""
        return any(w.startswith(("-MF", "-Wp,-MD,", "-Wp,-MMD,")) for w in self.words)

    @property
    def names_target(self) -> bool:
        """Whether the name of the dependency file's target is given."""
        return any(w.startswith(("-MT", "-MQ")) for w in self.words)

    def described(self) -> str:
        """The compiler and the options that change the code it makes, for the record."""
        options = [w for w in self.only("option") if not w.startswith(("-W", "-pipe", "-fdiag"))]
        return " ".join([Path(self.driver[-1]).name, *options])


def parse_call(command: Sequence[str]) -> CompilerCall:
    """Takes a compiler's command line apart.

    >>> call = parse_call(["ccache", "gcc", "-fopenmp", "-O3", "-c", "src/f.c", "-o", "f.o"])
    >>> call.driver, [source.path for source in call.sources], call.output, call.measurable
    (('ccache', 'gcc'), ['src/f.c'], 'f.o', True)
    """
    begin = 1
    while begin < len(command) and _is_launcher(command, begin):
        begin += 1
    driver, words = tuple(command[:begin]), _expanded(command[begin:])
    reader = _WordReader(any(Path(d).name.startswith(_CPP_DRIVERS) or _is_cpp(d) for d in driver))
    for word in words:
        reader.take(word)
    openmp = any(word.startswith(_OPENMP) for word in words) and "-fno-openmp" not in words
    aside = any(
        word in _SIDE_PATHS or word.startswith(("-save-temps", "-print-")) for word in words
    )
    return CompilerCall(
        driver=driver,
        words=tuple(words),
        kinds=tuple(reader.kinds),
        sources=tuple(reader.sources),
        output=reader.output,
        compiles_only="compile" in reader.kinds,
        measurable=openmp and not aside and bool(reader.sources) and not reader.foreign,
    )


def _is_cpp(driver: str) -> bool:
    return "++" in Path(driver).name


def _is_launcher(command: Sequence[str], at: int) -> bool:
    """`ccache gcc`: a second word that is no option and no file of the compiler's."""
    word = command[at]
    return not word.startswith(("-", "@")) and not Path(word).suffix and (
        Path(command[at - 1]).name in ("ccache", "distcc", "sccache", "icecc", "nice", "env")
    )  # fmt: skip


def _expanded(words: Sequence[str]) -> list[str]:
    """The words with response files (`@file`) read in; one that is not there stays."""
    found: list[str] = []
    for word in words:
        if word.startswith("@") and len(word) > 1:
            try:
                found += _expanded(shlex.split(Path(word[1:]).read_text(encoding="utf-8")))
                continue
            except (OSError, ValueError, UnicodeDecodeError):
                pass
        found.append(word)
    return found


class _WordReader:
    """The state while the words of a command line are read from left to right."""

    def __init__(self, cpp_driver: bool) -> None:
        self.cpp_driver = cpp_driver
        self.kinds: list[str] = []
        self.sources: list[Source] = []
        self.output: str | None = None
        self.language = "none"
        self.foreign = False
        self.pending = ""

    def take(self, word: str) -> None:
        """Reads one word."""
        if self.pending:
            self._take_value(word)
        elif word in _VALUED:
            self.pending = word
            self.kinds.append(_kind_of_valued(word))
        elif not word.startswith("-") or word == "-":
            self._take_input(word)
        elif word.startswith("-o") and not word.startswith("-openmp"):
            self.output = word[2:]
            self.kinds.append("output")
        elif word.startswith("-x"):
            self.language = word[2:]
            self.kinds.append("language")
        else:
            self.kinds.append(_kind_of_plain(word))

    def _take_value(self, word: str) -> None:
        if self.pending == "-o":
            self.output = word
        elif self.pending == "-x":
            self.language = word
        self.kinds.append(_kind_of_valued(self.pending))
        self.pending = ""

    def _take_input(self, word: str) -> None:
        suffix = Path(word).suffix
        position = len(self.kinds)
        self.kinds.append("input")
        if self.language in ("c", "c++"):
            self.sources.append(Source(position, word, self.language == "c++"))
        elif self.language != "none":
            self.foreign = True
        elif suffix in _C:
            self.sources.append(Source(position, word, self.cpp_driver))
        elif suffix in _CPP:
            self.sources.append(Source(position, word, True))
        elif suffix in (".s", ".S", ".i", ".ii", ".m", ".mm", ".cu", ".f", ".f90", ".F90", ".h"):
            self.foreign = True


def _kind_of_valued(word: str) -> str:
    if word == "-o":
        return "output"
    if word == "-x":
        return "language"
    if word in _PREPROCESSOR_VALUED:
        return "preprocessor"
    return "linker" if word in _LINKER_VALUED else "option"


def _kind_of_plain(word: str) -> str:
    if word == "-c":
        return "compile"
    if word in _PREPROCESSOR_PLAIN or word.startswith(_PREPROCESSOR_JOINED):
        return "preprocessor"
    if word in _LINKER_PLAIN or word.startswith(_LINKER_JOINED):
        return "linker"
    return "option"
