"""Parses a compiler's command line: sources, outputs, dependencies.

It supports the options of gcc and compatible compilers (clang, icx, the MPI wrappers) that matter
for measuring.
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
     "--help", "--version", "-dumpversion", "-dumpmachine", "-cc1", "--", "-emit-llvm", "-emit-ast",
     "--analyze", "--precompile", "--compile", "--assemble", "--preprocess", "--output",
     "--dependencies", "--user-dependencies", "--define-macro", "--undefine-macro", "--include",
     "--imacros", "--include-directory", "--language")
)  # fmt: skip
_SIDE_JOINED = ("-print-", "--output=", "--language=")
_TIED = ("--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs", "-fprofile-generate",
         "-gsplit-dwarf")  # fmt: skip
_NO_CODE = ("-W", "-pedantic", "-save-temps", "--save-temps", "-v", "--verbose",
            "-ftime-report", "-Q", "-fdiagnostics-", "-ftime-trace", "-fstack-usage",
            "-fcallgraph-info", "-fdump-", "-fopt-info", "-fsave-optimization-record")  # fmt: skip
_VALUED = frozenset(
    ("-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-A", "-G", "-e", "-B", "-include",
     "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
     "-iwithprefixbefore", "-isysroot", "-imultilib", "-Xlinker", "-Xassembler", "-Xpreprocessor",
     "-Xclang", "-mllvm", "-MF", "-MT", "-MQ", "-arch", "-target", "-aux-info", "--param",
     "-wrapper", "-dumpbase", "-dumpdir", "-dumpbase-ext", "-framework", "--sysroot",
     "-gcc-toolchain", "-include-pch", "-MJ", "-ivfsoverlay", "-working-directory", "-resource-dir",
     "-cxx-isystem", "--serialize-diagnostics", "-serialize-diagnostics", "-Xanalyzer",
     "-Xopenmp-target")
)  # fmt: skip
_PREPROCESSOR_VALUED = frozenset(
    ("-I", "-D", "-U", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
     "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-Xpreprocessor", "-MF", "-MT", "-MQ", "-MJ",
     "-include-pch", "-cxx-isystem")
)  # fmt: skip
_DEPENDENCIES = ("-MD", "-MMD", "-MP", "-MG", "-MF", "-MT", "-MQ", "-MJ", "-Wp,-M")
_TEXT_FORM = ("-P", "-C", "-CC", "-H", "-dD", "-dI", "-dN", "-dU")
_PREPROCESSOR_PLAIN = frozenset(
    ("-MD", "-MMD", "-MP", "-MG", "-nostdinc", "-nostdinc++", "-undef", "-P", "-C", "-CC",
     "-trigraphs", "-H")
)  # fmt: skip
_PREPROCESSOR_JOINED = ("-I", "-D", "-U", "-Wp,", "-isystem", "-iquote", "-idirafter", "-MF", "-MT",
                        "-MQ")  # fmt: skip
_PRECOMPILED = {"-include-pch": "precompiled", "-include": "preprocessor"}
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
    """A source file on the command line: its position, whether it is C++, and the language of a
    preceding `-x`.
    """

    position: int
    path: str
    cpp: bool
    named: str | None = None


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """A parsed command line.

    `command` is the whole command line. `driver` is the part before the options (`ccache gcc` is
    two words). `arguments` are the rest, with response files expanded. `kinds` has the kind of each
    argument: 'preprocessor', 'linker', 'input', 'output', 'language', 'compile' (-c), 'precompiled'
    (a header), or 'option'.
    """

    command: tuple[str, ...]
    driver: tuple[str, ...]
    arguments: tuple[str, ...]
    kinds: tuple[str, ...]
    sources: tuple[Source, ...]
    output: str | None
    compiles_only: bool
    measurable: bool

    @property
    def clang(self) -> bool:
        """Whether the driver is clang, which warns about unused options."""
        return "clang" in Path(self.driver[-1]).name or "icx" in Path(self.driver[-1]).name

    @property
    def lto(self) -> bool:
        """Whether objects contain intermediate code for link-time optimization, which cannot be
        joined.
        """
        return any(word.startswith("-flto") for word in self.arguments)

    @property
    def links(self) -> bool:
        """Whether the call creates a program or library."""
        return not self.compiles_only and "input" in self.kinds

    def only(self, *kinds: str) -> list[str]:
        """Returns the arguments of these kinds."""
        return [w for w, kind in zip(self.arguments, self.kinds, strict=True) if kind in kinds]

    def abi_options(self) -> list[str]:
        """Returns the options that must be equal for linking other objects with those of this
        call.
        """
        return [word for word in self.only("option") if word.startswith(_ABI)]

    def object_of(self, source: Source) -> str:
        """Returns the object file that the compiler writes for the source."""
        if self.compiles_only and self.output is not None:
            return self.output
        return Path(source.path).stem + ".o"

    @property
    def has_tied_outputs(self) -> bool:
        """Whether the compiler writes additional files that belong to exactly this code."""
        return any(word.startswith(_TIED) for word in self.arguments)

    def preprocessing(self) -> list[str]:
        """Returns the arguments that affect preprocessing, without those that write files."""
        return [
            word
            for at, word in self.without_side_files()
            if self.kinds[at] in ("option", "preprocessor") and word not in _TEXT_FORM
        ]

    def without_side_files(self) -> list[tuple[int, str]]:
        """Returns the arguments with their positions, without those that only write additional
        files or messages.
        """
        kept = []
        skip = False
        for position, word in enumerate(self.arguments):
            if skip:
                skip = False
            elif word.startswith(_DEPENDENCIES):
                skip = word in _VALUED
            elif not _is_no_code(word):
                kept.append((position, word))
        return kept

    def code_options(self) -> list[str]:
        """Returns the options that affect the code generated from preprocessed text."""
        return [word for word in self.only("option") if not _is_no_code(word)]

    def macros(self) -> list[str]:
        """Returns the macros that the call defines and undefines, as `-DNAME=VALUE` and
        `-UNAME`.
        """
        arguments = iter(self.arguments)
        given = []
        for word in arguments:
            if word in ("-D", "-U"):
                given.append(word + next(arguments, ""))
            elif word.startswith(("-D", "-U")):
                given.append(word)
        return given

    def description(self) -> str:
        """Returns the compiler and the options that affect the generated code, as one text."""
        options = [w for w in self.only("option") if not w.startswith(("-W", "-pipe", "-fdiag"))]
        options += self.macros()
        return " ".join([Path(self.driver[-1]).name, *options])


def parse_call(command: Sequence[str]) -> CompilerCall:
    """Parses a compiler's command line.

    >>> call = parse_call(["ccache", "gcc", "-fopenmp", "-O3", "-c", "src/f.c", "-o", "f.o"])
    >>> call.driver, [source.path for source in call.sources], call.output, call.measurable
    (('ccache', 'gcc'), ['src/f.c'], 'f.o', True)
    """
    begin = 1
    while begin < len(command) and _is_launcher(command, begin):
        begin += 1
    driver, arguments = tuple(command[:begin]), _expand_response_files(command[begin:])
    reader = _WordReader(any(Path(d).name.startswith(_CPP_DRIVERS) or _is_cpp(d) for d in driver))
    for word in arguments:
        reader.take(word)
    aside = any(word in _SIDE_PATHS or word.startswith(_SIDE_JOINED) for word in arguments)
    return CompilerCall(
        command=tuple(command),
        driver=driver,
        arguments=tuple(arguments),
        kinds=_with_precompiled(arguments, reader.kinds),
        sources=tuple(reader.sources),
        output=reader.output,
        compiles_only="compile" in reader.kinds,
        measurable=_has_openmp(arguments) and not aside and bool(reader.sources) and not reader.odd,
    )


def _with_precompiled(arguments: Sequence[str], kinds: Sequence[str]) -> tuple[str, ...]:
    """Corrects the kinds of arguments where clang uses a precompiled header.

    Its options are `-Xclang -include-pch -Xclang X.pch -Xclang -include -Xclang X.h`. Preprocessing
    uses the header itself.
    """
    new_kinds = list(kinds)
    for at in range(len(arguments) - 3):
        if arguments[at] == arguments[at + 2] == "-Xclang" and arguments[at + 1] in _PRECOMPILED:
            new_kinds[at : at + 4] = [_PRECOMPILED[arguments[at + 1]]] * 4
    return tuple(new_kinds)


def _has_openmp(arguments: Sequence[str]) -> bool:
    """Whether OpenMP is enabled. The last OpenMP option decides."""
    on = False
    for word in arguments:
        if word.startswith(_OPENMP) and not word.startswith("-fopenmp-"):
            on = True
        elif word in ("-fno-openmp", "-qno-openmp"):
            on = False
    return on


def _is_no_code(word: str) -> bool:
    if word.startswith(("-Wa,", "-Wl,", "-Wp,")):
        return False
    return word == "-w" or word.startswith(_NO_CODE)


def _is_cpp(driver: str) -> bool:
    return "++" in Path(driver).name


def _is_launcher(command: Sequence[str], at: int) -> bool:
    """Whether the first word is a launcher, as in `ccache gcc`. The second word is then neither an
    option nor a file.
    """
    word = command[at]
    return not word.startswith(("-", "@")) and not Path(word).suffix and (
        Path(command[at - 1]).name in ("ccache", "distcc", "sccache", "icecc", "nice", "env")
    )  # fmt: skip


def _expand_response_files(arguments: Sequence[str]) -> list[str]:
    """Replaces response files (`@file`) among the arguments by their contents. A missing file is
    left unchanged.
    """
    expanded: list[str] = []
    for word in arguments:
        if word.startswith("@") and len(word) > 1:
            try:
                expanded += _expand_response_files(
                    shlex.split(Path(word[1:]).read_text(encoding="utf-8"))
                )
                continue
            except (OSError, ValueError, UnicodeDecodeError):
                pass
        expanded.append(word)
    return expanded


class _WordReader:
    """Parses the arguments from left to right, and holds the state between them."""

    def __init__(self, cpp_driver: bool) -> None:
        self.cpp_driver = cpp_driver
        self.kinds: list[str] = []
        self.sources: list[Source] = []
        self.output: str | None = None
        self.language = "none"
        self.odd = False
        self.pending = ""

    def take(self, word: str) -> None:
        """Parses the next word."""
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
        elif self.pending == "-Xpreprocessor":
            self.kinds[-1] = "option" if word.startswith(_OPENMP) else "preprocessor"
            self.odd = self.odd or word.startswith("-M")
            self.pending = ""
            self.kinds.append(self.kinds[-1])
            return
        self.kinds.append(_kind_of_valued(self.pending))
        self.pending = ""

    def _take_input(self, word: str) -> None:
        suffix = Path(word).suffix
        position = len(self.kinds)
        self.kinds.append("input")
        if self.language in ("c", "c++"):
            self.sources.append(Source(position, word, self.language == "c++", self.language))
        elif self.language != "none":
            return
        elif suffix in _C:
            self.sources.append(Source(position, word, self.cpp_driver))
        elif suffix in _CPP:
            self.sources.append(Source(position, word, True))


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
