"""Selects the files that affect OpenMP regions, based only on their text.

A file without a directive has no region. Its functions matter only if they may call a region, or if
a function that calls a region may call them. They determine earlier memory accesses and the number
of executions. Other files are not parsed, which saves most of the time in a large program.

Files are matched by names alone, so a word may be a call of any function with this name. If no text
defines a name, a macro may create it by pasting (`##`) any words that a definition passes to the
macro. As a result, too many files may be read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.frontend.headers import guess_include, is_system_path
from regionpredict.frontend.requests import (
    SourceRequest,
    is_cpp,
    is_regular_file,
    read_regular_file,
)
from regionpredict.frontend.syntax import Lookups
from regionpredict.frontend.text import Passage, holds_directives, passages
from regionpredict.ir.nearest_files import folder_of, nearest_files

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:(ifdef|if|ifndef)|(endif))\b", re.MULTILINE)
_INSTANCE = re.compile(rb"^[ \t]*template\s+[A-Za-z_][^;{}=]*;", re.MULTILINE)
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
_MOST_UNFILTERED = 8
"""If fewer files than this have no directive, all files are read."""
_LEAST_STEM = 4
"""Minimum length of a word that is matched with pasted names."""
_TYPES = frozenset((b"double", b"float", b"long", b"char", b"short", b"unsigned", b"void"))
"""Words that macros paste into names, but that occur in most files."""
_MOST = 200
"""Maximum number of files without a directive that are read. The files with the shortest call paths
to a loop are read first. A name such as `size` connects all files of a program, but over long
paths.
"""
_OF_CPP = 5
"""A C++ file counts as this number of files, since reading it takes a few seconds."""


class _Node(NamedTuple):
    """A file of a request, with the folders in which its includes are searched."""

    path: str
    folders: tuple[str, ...]
    roots: tuple[str, ...]


class Selection(NamedTuple):
    """The requests to parse, in order, and the omitted requests.

    `left` maps the path of each omitted request to the files that its omission depends on.
    `undecided` is the number of omitted requests that might affect regions.
    """

    read: list[SourceRequest]
    left: dict[str, Lookups]
    undecided: int = 0

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes on omitted files, one line each."""
        if not self.undecided:
            return ()
        return (
            f"{self.undecided} files without a directive may call these loops or be called by "
            "them, but are not read; pass fewer folders to read them",
        )


def files_to_read(requests: Sequence[SourceRequest], *, every: bool = False) -> Selection:
    """Selects requests. `every` says that the whole program is needed.

    A file that cannot be read is selected, so that the parser reports it.
    """
    if every or sum(not has_directive(request) for request in requests) < _MOST_UNFILTERED:
        return Selection(list(requests), {})
    texts = _IncludeGraph(requests)
    links = _ReferenceGraph(texts.passages)
    with_loops = links.passages_using(dict.fromkeys(links.directed, 0), through_functions=False)
    files = links.files_of(with_loops)
    directed = texts.sources_for(files) | texts.sources_with_instances(files)
    reached = links.passages_used_by(links.passages_using(with_loops, through_functions=True))
    chosen = texts.sources_for(links.files_of(reached)) | directed
    distances = links.distances_to_loops(reached)
    nearest = sorted(chosen - directed, key=lambda path: (distances.get(path, len(reached)), path))
    counts = accumulate(_OF_CPP if is_cpp(path) else 1 for path in nearest)
    undecided = [path for path, count in zip(nearest, counts, strict=True) if count > _MOST]
    chosen.difference_update(undecided)
    read = [request for request in requests if request.path in chosen]
    return Selection(read, {
        request.path: texts.lookups[request.path]
        for request in requests if request.path not in chosen
    }, len(undecided))  # fmt: skip


def has_directive(request: SourceRequest) -> bool:
    """Whether the file itself may contain a directive, or cannot be read."""
    try:
        return holds_directives(read_regular_file(request.path))
    except InputError:
        return True


class _IncludeGraph:
    """The text of all requests and of their headers, without duplicates.

    `passages` maps a path to the file's passages. `lookups` maps the path of a request to the files
    that this request included first, and to its missing headers.
    """

    def __init__(self, requests: Sequence[SourceRequest]) -> None:
        self.passages: dict[str, list[Passage]] = {}
        self.lookups: dict[str, Lookups] = {}
        self._sources = {request.path: _node_for(request) for request in requests}
        self._includes: dict[str, list[str]] = {}
        self._headers: dict[_Node, list[_Node]] = {}
        self._optional: dict[str, set[str]] = {}  # includes of a file that are in an `#ifdef`
        self._optional_headers: dict[_Node, set[_Node]] = {}
        self._header_paths: dict[tuple[str, str, _Node], str | None] = {}
        self._opaque: set[str] = (
            set()
        )  # files that are unreadable or include a file named by a macro
        self._instances: set[str] = set()  # files with `template void f<int>(int);`
        given = dict.fromkeys(macro for request in requests for macro in request.defines)
        lines = "".join(f"#define {name} {value}\n" for name, value in given)
        self.passages[""] = passages(os.fsencode(lines))
        for request in requests:
            self._add_includes(request)

    def sources_for(self, needed: set[str]) -> set[str]:
        """Returns the sources that must be read so that all `needed` files are read, and the
        sources whose text is incomplete. If no selected source includes a header, the first source
        that includes the header is added. If all sources include a header under a condition, the
        first few are added.
        """
        needed = needed | self._opaque
        chosen = self._sources.keys() & needed
        known = self._included_from((self._sources[path] for path in chosen), certain=True)
        left = dict.fromkeys(needed - {node.path for node in known}, 0)
        for certain in (True, False):
            for path, node in self._sources.items():
                if not left:
                    break
                for own in {
                    inner.path for inner in self._included_from([node], certain=certain)
                } & left.keys():
                    chosen.add(path)
                    left[own] += 1
                    if certain or left[own] == _MOST_UNFILTERED:
                        del left[own]
        return chosen

    def sources_with_instances(self, files: set[str]) -> set[str]:
        """Returns the sources that include one of these files and instantiate templates."""
        if not self._instances:
            return set()
        reached = {path: {inner.path for inner in self._included_from([node])}
                   for path, node in self._sources.items()}  # fmt: skip
        return {path for path, own in reached.items() if own & files and own & self._instances}

    def _add_includes(self, request: SourceRequest) -> None:
        """Adds the files that a request includes and that were not visited before."""
        files: list[str] = []
        forced = [value for option, value in pairwise(request.extra)
                  if option in ("-include", "-imacros")]  # fmt: skip
        missing: dict[str, None] = {}
        waiting = [self._sources[request.path]]
        while waiting:
            node = waiting.pop()
            if node in self._headers:
                continue
            files.append(node.path)
            self._read_file(node.path)
            headers = self._headers[node] = []
            optional = self._optional_headers[node] = set()
            for name in self._includes[node.path] + (forced if not files[1:] else []):
                path = self._header_path(name, node, request)
                if path is None:
                    missing[name] = None
                elif not is_system_path(path):
                    headers.append(node._replace(path=path))
                    if name in self._optional[node.path]:
                        optional.add(headers[-1])
            waiting += headers
        self.lookups[request.path] = Lookups(tuple(files), node.folders, tuple(missing))

    def _read_file(self, path: str) -> None:
        if path in self.passages:
            return
        try:
            data = read_regular_file(path)
        except InputError:
            data = b""
            self._opaque.add(path)
        self.passages[path] = passages(data)
        if _INSTANCE.search(data):
            self._instances.add(path)
        if _COMPUTED.search(data):
            self._opaque.add(path)
        self._includes[path] = [os.fsdecode(name) for name in _INCLUDE.findall(data)]
        self._optional[path] = _optional_includes(data)

    def _header_path(self, name: str, node: _Node, request: SourceRequest) -> str | None:
        """Returns the path of a header, or None if it is missing. The parser's search order is used
        first, and then guesses.
        """
        own = str(Path(node.path).parent)
        asked = (name, own, node._replace(path=""))
        if asked not in self._header_paths:
            paths = (f"{folder}/{name}" for folder in (own, *node.folders))
            file = next((path for path in paths if is_regular_file(path)), None)
            if file is None and (folder := guess_include(name, request)):
                file = f"{folder}/{name}"
            self._header_paths[asked] = None if file is None else os.path.normpath(file)
        return self._header_paths[asked]

    def _included_from(self, nodes: Iterable[_Node], *, certain: bool = False) -> set[_Node]:
        """Returns the given files and all files that they include. `certain` excludes conditional
        includes.
        """
        seen: set[_Node] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                left_out = self._optional_headers[node] if certain else ()
                waiting += (header for header in self._headers[node] if header not in left_out)
        return seen


def _optional_includes(data: bytes) -> set[str]:
    """Returns the headers that a file includes only inside an `#if` or `#ifdef`. An `#ifndef` is
    ignored, since it is usually an include guard.
    """
    optional, always = set[str](), set[str]()
    depth: list[bool] = []
    marks = sorted(
        [*_CONDITION.finditer(data), *_INCLUDE.finditer(data)], key=lambda mark: mark.start()
    )
    for mark in marks:
        if mark.re is _INCLUDE:
            (optional if any(depth) else always).add(os.fsdecode(mark[1]))
        elif mark[1]:
            depth.append(mark[1] != b"ifndef")
        elif depth:
            depth.pop()
    return optional - always


def _node_for(request: SourceRequest) -> _Node:
    named = [value for option, value in pairwise(request.extra)
             if option in ("-isystem", "-idirafter", "-iquote")]  # fmt: skip
    return _Node(request.path, (*request.includes, *named),
                 (request.root, *request.other_roots))  # fmt: skip


class _ReferenceGraph:
    """The references between passages, by number. `directed` are the passages with directives."""

    def __init__(self, texts: Mapping[str, Sequence[Passage]]) -> None:
        passages = [passage for own in texts.values() for passage in own]
        self._files = [path for path, own in texts.items() for _ in own]
        self.directed = {
            number for number, own_passage in enumerate(passages) if own_passage.directed
        }
        passages = _with_pasted_names(passages)
        defined = frozenset[bytes]().union(*(own_passage.names for own_passage in passages))
        self._passages = passages
        self._used_names = [own_passage.used_names & defined for own_passage in passages]
        self._naming: dict[bytes, list[int]] = {}
        self._defining: dict[bytes, list[int]] = {}
        for number, own_passage in enumerate(passages):
            for word in self._used_names[number]:
                self._naming.setdefault(word, []).append(number)
            for name in own_passage.names:
                self._defining.setdefault(name, []).append(number)
        self._folders = {path: folder_of(path) for path in texts}
        self._directives = Counter(self._folders[self._files[number]] for number in self.directed)
        self._same_named_files = {
            name: variants for name, own in self._defining.items()
            if (variants := _same_named_files({self._files[number] for number in own}))
        }  # fmt: skip
        self._left_out: dict[tuple[str, bytes], frozenset[str]] = {}
        self._lengths: dict[bytes, int] = {}

    def _is_definition_of(self, user: int, name: bytes, definer: int) -> bool:
        """Whether `name` in the passage `user` refers to this definition. Files with the same name
        in several folders are variants of a program, and only the nearest variant counts.
        """
        variants = self._same_named_files.get(name)
        if not variants:
            return True
        file, here = self._files[definer], self._files[user]
        if file == here:
            return True
        asked = (self._folders[here], name)
        left_out = self._left_out.get(asked)
        if left_out is None:
            left_out = self._left_out[asked] = frozenset(
                file for files in variants
                for file in {*files}.difference(nearest_files(here, files, self._directives))
            )  # fmt: skip
        return file not in left_out

    def files_of(self, passages: Iterable[int]) -> set[str]:
        """Returns the files of those passages that are not macros."""
        return {self._files[at] for at in passages if not self._passages[at].macro}

    def distances_to_loops(self, passages: Mapping[int, int]) -> dict[str, int]:
        """Returns the smallest distance between a loop and a passage of each file."""
        nearest: dict[str, int] = {}
        for at, distance in passages.items():
            file = self._files[at]
            nearest[file] = min(distance, nearest.get(file, distance))
        return nearest

    def passages_using(
        self, passages: Mapping[int, int], *, through_functions: bool
    ) -> dict[int, int]:
        """Returns the given passages and all passages that may use them, with their distances.

        References in macros always count. References in functions count with `through_functions`.
        """

        def names_of(at: int) -> frozenset[bytes]:
            passage = self._passages[at]
            return passage.names if passage.macro or through_functions else frozenset()

        return self._with_reachable(passages, names_of, self._naming, lambda definer, name, user:
                             self._is_definition_of(user, name, definer))  # fmt: skip

    def passages_used_by(self, passages: Mapping[int, int]) -> dict[int, int]:
        """Returns all passages that the given ones reach through names, with their distances."""
        return self._with_reachable(
            passages, self._used_names.__getitem__, self._defining, self._is_definition_of
        )

    def _with_reachable(
        self, passages: Mapping[int, int], names_of: Callable[[int], frozenset[bytes]],
        linked: Mapping[bytes, Sequence[int]], is_link: Callable[[int, bytes, int], bool],
    ) -> dict[int, int]:  # fmt: skip
        """Returns the given passages and all passages that they reach, with their smallest
        distances (Dijkstra's algorithm).
        """
        reached, done = dict(passages), set[tuple[bytes, str]]()
        waiting = [(distance, at) for at, distance in passages.items()]
        heapify(waiting)
        while waiting:
            distance, at = heappop(waiting)
            if distance > reached[at]:
                continue
            for name in names_of(at):
                known = (name, self._files[at] if name in self._same_named_files else "")
                if known in done:
                    continue
                done.add(known)
                further = distance + self._reference_length(name)
                for number in linked.get(name, ()):
                    if further < reached.get(number, further + 1) and is_link(at, name, number):
                        reached[number] = further
                        heappush(waiting, (further, number))
        return reached

    def _reference_length(self, name: bytes) -> int:
        """Returns the length of a reference by name. It grows with the number of files that define
        the name, since a common name such as `size` rarely refers to a specific definition.
        """
        if name not in self._lengths:
            files = {self._files[at] for at in self._defining.get(name, ())}
            self._lengths[name] = max(1, len(files).bit_length())
        return self._lengths[name]


def _with_pasted_names(passages: list[Passage]) -> list[Passage]:
    """Adds to the names of passages the used names that a macro may create by pasting."""
    pasting, last = {b"##"}, 0
    while len(pasting) > last:
        last = len(pasting)
        pasting |= {name for own in passages
                    if own.macro and own.used_names & pasting for name in own.names}  # fmt: skip
    stems = {word for own in passages for macro, word in own.stems
             if macro in pasting and len(word) >= _LEAST_STEM}  # fmt: skip
    if not stems:
        return passages
    defined = frozenset[bytes]().union(*(own.names for own in passages))
    used = frozenset[bytes]().union(*(own.used_names for own in passages)) - defined
    names: dict[bytes, set[bytes]] = {}
    for name in used - _TYPES:
        for stem in stems.intersection(_possible_stems(name)):
            names.setdefault(stem, set()).add(name)
    return [
        own._replace(names=(own.names - pasting).union(*(
            names[word] for macro, word in own.stems if macro in pasting and word in names
        ))) if own.stems else own for own in passages
    ]  # fmt: skip


def _possible_stems(name: bytes) -> Iterator[bytes]:
    """Yields all substrings of a name that may be stems: `scale`, `scal` and `cale` for `scale`."""
    for start in range(len(name) - _LEAST_STEM + 1):
        for end in range(start + _LEAST_STEM, len(name) + 1):
            yield name[start:end]


def _same_named_files(files: Collection[str]) -> list[list[str]]:
    """Returns the groups of files with the same name."""
    if len(files) < 2:
        return []
    by_name: dict[str, list[str]] = {}
    for file in sorted(files):
        by_name.setdefault(file.rpartition("/")[2], []).append(file)
    return [own for own in by_name.values() if len(own) > 1]
