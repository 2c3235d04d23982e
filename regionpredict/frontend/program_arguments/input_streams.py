"""Implements C++ streams from which an interpreted program reads files (ISO C++17, 30.7 and 30.9).

`std::ifstream in("input.dat"); in >> n; std::getline(in, line);` is interpreted like `fscanf` and
`fgets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from regionpredict.frontend.program_arguments.input_files import (
    InputFiles,
    Stream,
    stream_of,
    text_of_input,
)
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Memory,
    Place,
    Text,
    Value,
)
from regionpredict.frontend.syntax import UNKNOWN as UNKNOWN_TYPE
from regionpredict.frontend.syntax import CallExpr, CType, Expression, Unary
from regionpredict.frontend.syntax.integer_types import type_of

INPUT_STREAM = "basic_ifstream"
"""The class whose constructor opens a file for reading."""
_FORMS = {"int": "%ld", "float": "%lf"}
_WORD = "%s"


def stream_value(
    files: InputFiles, memory: Memory, call: CallExpr, arguments: Sequence[Value], *, assumed: bool
) -> Value | None:
    """Returns the result of a call on an input stream. None for any other call."""
    if not arguments or not isinstance(arguments[0], Address):
        return None
    if call.name == "open":
        if INPUT_STREAM not in _type_of(call.args[0]).name:
            return None
        name = arguments[1] if len(arguments) > 1 else UNKNOWN
        return open_stream(files, memory, arguments[0].place, name, assumed=assumed)
    handler = _HANDLERS.get(call.name)
    stream = stream_of(memory, arguments[0]) if handler is not None else None
    return None if handler is None or stream is None else handler(stream, call, arguments)


def open_stream(
    files: InputFiles, memory: Memory, place: Place, name: Value, *, assumed: bool
) -> Value:
    """Opens the file with this name. `place` is the memory location of the `std::ifstream`."""
    memory.forget(place)
    name = memory.read(name.place) if isinstance(name, Address) else name
    text = text_of_input(files, name, assumed=assumed)
    if isinstance(text, Text):
        Stream.open(memory, place, text.text)
    elif text == 0:
        Stream.open(memory, place, None)
    return UNKNOWN


def _extract(stream: Stream, call: CallExpr, arguments: Sequence[Value]) -> Value | None:
    """Interprets `in >> x`: reads a number or a word, depending on the type of x."""
    target = arguments[1] if len(arguments) == 2 else UNKNOWN
    ctype = _type_of(call.args[1]) if len(call.args) == 2 else UNKNOWN_TYPE
    if not isinstance(target, Address):
        stream.forget()
        return None
    form = _FORMS.get(ctype.kind, _WORD if "string" in ctype.name else "")
    if not form or (ctype.kind == "int" and ctype.bits == 8):
        stream.forget()
        return None
    if not stream.failed:  # an unreadable value becomes 0, but not after a failure
        stream.memory.forget(target.place)
    values = [] if stream.failed else stream.scan(form).values
    if values:
        (value,) = values
        stream.memory.write(target.place, Text(value) if isinstance(value, str) else value,
                            ctype if form != _WORD else None)  # fmt: skip
    else:
        stream.fail()
    return arguments[0]


def _getline(stream: Stream, _: CallExpr, arguments: Sequence[Value]) -> Value | None:
    """Interprets `std::getline(in, line)`: reads a line without its end."""
    target = arguments[1] if len(arguments) == 2 else UNKNOWN
    if not isinstance(target, Address):
        stream.forget()
        return None
    if stream.failed:  # a failed stream leaves the line unchanged
        return arguments[0]
    stream.memory.forget(target.place)
    line = stream.line()
    if not line:
        stream.fail()
    stream.memory.write(target.place, Text(line.removesuffix("\n")))
    return arguments[0]


def _state(test: Callable[[Stream], bool]) -> Callable[..., Value]:
    return lambda stream, _call, _arguments: int(test(stream))


def _close(stream: Stream, _call: CallExpr, _arguments: Sequence[Value]) -> Value:
    stream.forget()
    return UNKNOWN


def _type_of(argument: Expression) -> CType:
    """Returns the type of an argument, or of its target if it is an address."""
    return type_of(argument.operand if isinstance(argument, Unary) else argument)


_HANDLERS: dict[str, Callable[[Stream, CallExpr, Sequence[Value]], Value | None]] = {
    "operator>>": _extract,
    "getline": _getline,
    "is_open": _state(lambda stream: not stream.missing),
    "eof": _state(lambda stream: stream.at_end),
    "good": _state(lambda stream: not stream.failed and not stream.at_end),
    "fail": _state(lambda stream: stream.failed),
    "operator bool": _state(lambda stream: not stream.failed),
    "operator!": _state(lambda stream: stream.failed),
    "close": _close,
}
