"""Implements the functions of the C library that programs use to read their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from regionpredict.frontend.program_arguments.conversions import (
    Scanned,
    real_number,
    scanned,
    whole_number,
)
from regionpredict.frontend.program_arguments.input_files import (
    END_OF_FILE,
    InputFiles,
    opened,
    stream_of,
)
from regionpredict.frontend.program_arguments.input_streams import stream_value
from regionpredict.frontend.program_arguments.memory import (
    BYTES,
    UNKNOWN,
    Address,
    Arguments,
    Memory,
    Place,
    Text,
    Value,
    array_at,
)
from regionpredict.frontend.program_arguments.options import LongOption, OptionScan
from regionpredict.frontend.syntax import (
    CallExpr,
    CType,
    Decl,
    Expression,
    Name,
    initial_values,
    member_named,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir import Span
from regionpredict.library import FILLED_CONTAINER, allocated

_INT = CType("int", 32)
_TOKENS = Place(Decl("(strtok)", "global", CType("unknown"), Span("", 0)))
"""The memory location where `strtok` stores the rest of its string."""
_HEAP = CType("unknown")


class Caller(Protocol):
    """The interpreted program that calls a library function."""

    memory: Memory
    options: OptionScan
    option_text: Value
    files: InputFiles
    assumed: bool

    def value(self, expression: Expression | None) -> Value:
        """Returns the value of an expression."""

    def place(self, expression: Expression | None) -> Place | None:
        """Returns the memory location of an lvalue."""

    def argument(self, number: int) -> Value:
        """Returns the argument `argv[number]` of the program."""

    def first_value(self, decl: Decl) -> Decl:
        """Returns the declaration that gives a variable its first value."""

    def remark(self, call: CallExpr, what: str) -> None:
        """Reports code that cannot be interpreted."""

    def record_read(self, value: Value) -> None:
        """Records that the program reads a string."""


Handler = Callable[[Caller, CallExpr], Value]


def _argument_values(caller: Caller, call: CallExpr, least: int) -> list[Value]:
    """Evaluates a call's arguments, and returns at least `least` values. Omitted arguments are
    unknown. Argument strings are recorded as read.
    """
    arguments = [caller.value(argument) for argument in call.args]
    for value in arguments:
        caller.record_read(value)
    return arguments + [UNKNOWN] * (least - len(arguments))


def _string_value(caller: Caller, value: Value) -> Value:
    """Returns the text of a `std::string`, which is passed by address, or of a character array."""
    text = value
    if isinstance(value, Address):
        text = caller.memory.read(value.place)
        if isinstance(text, int):
            text = _characters_at(caller.memory, value.place)
        elif text is UNKNOWN and value.place.steps[-1:] == (0,):
            text = caller.memory.read(array_at(value.place))  # copied into allocated memory
    caller.record_read(text)
    return text


def _characters_at(memory: Memory, place: Place) -> Value:
    """Returns the string that starts at an array element. Unknown if its end is not visible."""
    text = ""
    while place.steps and isinstance(place.steps[-1], int):
        character = memory.read(place)
        if not isinstance(character, int):
            return UNKNOWN
        if character == 0:
            return Text(text)
        text += chr(character & 0xFF)
        place = Place(place.decl, (*place.steps[:-1], place.steps[-1] + 1))
    return UNKNOWN


def _to_integer(caller: Caller, call: CallExpr) -> Value:
    text = _string_value(caller, _argument_values(caller, call, 1)[0])
    if not isinstance(text, Text):
        return UNKNOWN
    value = whole_number(text.rest).value
    if call.name in ("atoi", "stoi") and not -(1 << 31) <= value < 1 << 31:
        return UNKNOWN  # undefined in C
    return value


def _to_real(caller: Caller, call: CallExpr) -> Value:
    text = _string_value(caller, _argument_values(caller, call, 1)[0])
    return real_number(text.rest).value if isinstance(text, Text) else UNKNOWN


def _strto(caller: Caller, call: CallExpr) -> Value:
    text, end, base = _argument_values(caller, call, 3)[:3]
    read = None
    if isinstance(text, Text) and call.name in ("strtod", "strtof", "strtold"):
        read = real_number(text.rest)
    elif isinstance(text, Text) and isinstance(base, int):
        read = whole_number(text.rest, base, unsigned=call.name.startswith("strtou"))
    if read is None or not isinstance(text, Text):
        if isinstance(end, Address):
            caller.memory.forget(end.place)
        return UNKNOWN
    if isinstance(end, Address):
        caller.memory.write(end.place, text._replace(offset=text.offset + read.length))
    return read.value


def _compare_strings(caller: Caller, call: CallExpr) -> Value:
    first, second, most = (
        _string_value(caller, argument) for argument in _argument_values(caller, call, 3)[:3]
    )
    if not isinstance(first, Text) or not isinstance(second, Text):
        return UNKNOWN
    left, right = first.rest, second.rest
    if call.name in ("strncmp", "strncasecmp"):
        if not isinstance(most, int):
            return UNKNOWN
        left, right = left[:most], right[:most]
    if "case" in call.name:
        left, right = left.lower(), right.lower()
    return (left > right) - (left < right)


def _equal_strings(caller: Caller, call: CallExpr) -> Value:
    first, second = (
        _string_value(caller, argument) for argument in _argument_values(caller, call, 2)[:2]
    )
    if not isinstance(first, Text) or not isinstance(second, Text):
        return UNKNOWN
    return int((first.rest == second.rest) == (call.name == "operator=="))


def _c_string(caller: Caller, call: CallExpr) -> Value:
    return _string_value(caller, _argument_values(caller, call, 1)[0])


def _string_length(caller: Caller, call: CallExpr) -> Value:
    text = _string_value(caller, _argument_values(caller, call, 1)[0])
    return len(text.rest) if isinstance(text, Text) else UNKNOWN


def _find_in_string(caller: Caller, call: CallExpr) -> Value:
    text, wanted = (_string_value(caller, value) for value in _argument_values(caller, call, 2)[:2])
    if not isinstance(text, Text):
        return UNKNOWN
    if call.name == "strstr":
        sought = wanted.rest if isinstance(wanted, Text) else None
    else:
        sought = chr(wanted & 0xFF) if isinstance(wanted, int) else None
    if sought is None:
        return UNKNOWN
    at = text.rest.rfind(sought) if call.name == "strrchr" else text.rest.find(sought)
    return text._replace(offset=text.offset + at) if at >= 0 else 0


def _first_argument(caller: Caller, call: CallExpr) -> Value:
    return _argument_values(caller, call, 1)[0]


def _copy_string(caller: Caller, call: CallExpr) -> Value:
    target, source, most = _argument_values(caller, call, 3)[:3]
    whole = call.name == "strcpy" or (
        call.name == "strncpy" and isinstance(source, Text) and isinstance(most, int)
        and len(source.rest) < most
    )  # fmt: skip
    _store_text(caller, call.args[0], target, source if whole else UNKNOWN)
    return target


def _store_text(caller: Caller, argument: Expression, target: Value, text: Value) -> None:
    """Replaces the string that `target` points to."""
    if isinstance(target, Address):
        steps = target.place.steps
        whole = Place(target.place.decl, steps[:-1] if steps and steps[-1] == 0 else steps)
    elif isinstance(target, Text) and (place := caller.place(argument)) is not None:
        whole = place
    else:
        return
    caller.memory.forget(whole)
    if isinstance(text, Text):
        caller.memory.write(whole, text)


def _scan_string(caller: Caller, call: CallExpr) -> Value:
    source, form, *targets = _argument_values(caller, call, 2)
    text = _string_value(caller, source)
    read = _assign_scanned(caller, call, text, form, targets)
    if read is None:
        return UNKNOWN
    return read.counted if read.counted or (isinstance(text, Text) and text.rest.strip()) else -1


def _assign_scanned(
    caller: Caller, call: CallExpr, text: Value, form: Value, targets: list[Value]
) -> Scanned | None:
    """Assigns the values in a text to the targets of `sscanf`. Returns None if anything is
    unknown.
    """
    arguments = call.args[2:]
    if not (isinstance(text, Text) and isinstance(form, Text) and len(targets) == len(arguments)
            and all(isinstance(target, (Address, Text)) for target in targets)):  # fmt: skip
        for argument, target in zip(arguments, targets, strict=False):
            _store_text(caller, argument, target, UNKNOWN)
        return None
    read = scanned(text.rest, form.rest)
    for argument, target, value in zip(arguments, targets, read.values, strict=False):
        if isinstance(value, str):
            _store_text(caller, argument, target, Text(value))
        elif isinstance(target, Address):
            caller.memory.forget(target.place)
            caller.memory.write(target.place, value, type_of(argument).element)
    return read


def _open_stream(caller: Caller, call: CallExpr) -> Value:
    name, mode = (_string_value(caller, value) for value in _argument_values(caller, call, 2)[:2])
    return opened(caller.files, caller.memory, call, name, mode, assumed=caller.assumed)


def _scan_file(caller: Caller, call: CallExpr) -> Value:
    file, form, *targets = _argument_values(caller, call, 2)
    stream = stream_of(caller.memory, file)
    text = UNKNOWN if stream is None else stream.text
    known = _assign_scanned(caller, call, text, form, targets) is not None
    if stream is None:
        return UNKNOWN
    if not known or not isinstance(form, Text):
        stream.forget()
        return UNKNOWN
    read = stream.scan(form.rest)
    return read.counted if read.counted or not stream.at_end else END_OF_FILE


def _read_line(caller: Caller, call: CallExpr) -> Value:
    target, most, file = _argument_values(caller, call, 3)[:3]
    stream = stream_of(caller.memory, file)
    line: str | None = None
    if stream is not None and isinstance(most, int):
        line = stream.line(most - 1)
    elif stream is not None:
        stream.forget()
    if line == "":
        return 0
    _store_text(caller, call.args[0], target, UNKNOWN if line is None else Text(line))
    return UNKNOWN if line is None else target


def _read_allocated_line(caller: Caller, call: CallExpr) -> Value:
    arguments = _argument_values(caller, call, 3)
    if len(call.args) == 2:  # std::getline
        made = stream_value(
            caller.files, caller.memory, call, arguments[:2], assumed=caller.assumed
        )
        return UNKNOWN if made is None else made
    target, size, file = arguments[:3]
    stream = stream_of(caller.memory, file)
    for value in (target, size):
        if isinstance(value, Address):
            caller.memory.forget(value.place)
    if stream is None:
        return UNKNOWN
    line = stream.line()
    if line and isinstance(target, Address):
        caller.memory.write(target.place, Text(line))
    return len(line) or END_OF_FILE


def _next_character(caller: Caller, call: CallExpr) -> Value:
    stream = stream_of(caller.memory, _argument_values(caller, call, 1)[0])
    if stream is None:
        return UNKNOWN
    character = stream.take(1)
    return ord(character) if character else END_OF_FILE


def _is_at_end(caller: Caller, call: CallExpr) -> Value:
    stream = stream_of(caller.memory, _argument_values(caller, call, 1)[0])
    return UNKNOWN if stream is None else int(stream.at_end)


def _move_to_start(caller: Caller, call: CallExpr) -> Value:
    file, offset, origin = _argument_values(caller, call, 3)[:3]
    stream = stream_of(caller.memory, file)
    if stream is not None and (call.name == "rewind" or (offset, origin) == (0, 0)):
        stream.move(0)
    elif stream is not None:
        stream.forget()
    return 0


def _close_stream(caller: Caller, call: CallExpr) -> Value:
    stream = stream_of(caller.memory, _argument_values(caller, call, 1)[0])
    if stream is not None:
        stream.forget()
    return 0


def _next_token(caller: Caller, call: CallExpr) -> Value:
    text, delimiters = _argument_values(caller, call, 2)[:2]
    left = caller.memory.read(_TOKENS) if text == 0 else _string_value(caller, text)
    caller.memory.forget(_TOKENS)
    if not isinstance(left, Text) or not isinstance(delimiters, Text):
        return UNKNOWN
    rest = left.rest.lstrip(delimiters.rest)
    if not rest:
        return 0
    length = next((at for at, one in enumerate(rest) if one in delimiters.rest), len(rest))
    caller.memory.write(_TOKENS, Text(rest[length + 1 :]))
    return Text(rest[:length])


def _classify_character(caller: Caller, call: CallExpr) -> Value:
    value = _argument_values(caller, call, 1)[0]
    if not isinstance(value, int) or not 0 <= value < 128:
        return UNKNOWN
    text = chr(value)
    if call.name in ("tolower", "toupper"):
        return ord(text.lower() if call.name == "tolower" else text.upper())
    tests = {"isdigit": text.isdigit, "isalpha": text.isalpha, "isspace": text.isspace,
             "isalnum": text.isalnum, "isupper": text.isupper, "islower": text.islower}  # fmt: skip
    return int(tests[call.name]())


def _absolute_value(caller: Caller, call: CallExpr) -> Value:
    value = _argument_values(caller, call, 1)[0]
    return abs(value) if isinstance(value, (int, float)) else UNKNOWN


def _new_object(caller: Caller, call: CallExpr) -> Value:
    block = Decl("(heap)", "local", _HEAP, call.span)
    arguments = [caller.value(argument) for argument in call.args]
    positions = allocated(call.name) or ()
    sizes = [arguments[at] for at in positions if at < len(arguments)]
    whole = [size for size in sizes if isinstance(size, int)]
    if sizes and len(whole) == len(sizes):
        caller.memory.write(Place(block, (BYTES,)), math.prod(whole))
    return Address(Place(block, (0,)))


def _no_effect(caller: Caller, call: CallExpr) -> Value:
    _argument_values(caller, call, 0)
    return UNKNOWN


def _getopt(caller: Caller, call: CallExpr) -> Value:
    arguments = _argument_values(caller, call, 5)
    short = arguments[2]
    table = () if call.name == "getopt" else _long_options(caller, call.args[3:4])
    index = arguments[4]
    if isinstance(index, Address):
        caller.memory.forget(index.place)
    if isinstance(arguments[1], Arguments) and not caller.options.any_left:
        short, table = Text(""), []  # no options are given
    if not isinstance(arguments[1], Arguments) or not isinstance(short, Text) or table is None:
        caller.remark(call, f"the options that {call.name}() is given are unknown")
        caller.option_text = UNKNOWN
        return UNKNOWN
    parsed = caller.options.next(short.rest, [option for option, _ in table])
    caller.option_text = 0
    if parsed.argument is not None:
        number, offset = parsed.argument
        text = caller.argument(number)
        caller.option_text = text._replace(offset=offset) if isinstance(text, Text) else UNKNOWN
    if parsed.entry is not None:
        if isinstance(index, Address):
            caller.memory.write(index.place, parsed.entry)
        flag = table[parsed.entry][1]
        if flag is not None:
            caller.memory.write(flag, parsed.value, _INT)
            return 0
    return parsed.value


def _long_options(
    caller: Caller, argument: tuple[Expression, ...]
) -> list[tuple[LongOption, Place | None]] | None:
    """Returns the entries of a table of long options, with the location that each entry writes to.
    None if unknown.
    """
    if not argument or not isinstance(argument[0], Name):
        return None
    init = caller.first_value(argument[0].decl).init
    listed = initial_values(init) if init is not None else None
    if listed is None:
        return None
    entries: list[tuple[LongOption, Place | None]] = []
    for entry in listed:
        parts = [
            (member_named(initial_value) or ("", initial_value))[1]
            for initial_value in initial_values(entry) or ()
        ]
        fields = [caller.value(part) for part in parts]
        if not fields or not isinstance(fields[0], Text):
            break
        if len(fields) != 4 or not isinstance(fields[1], int) or not isinstance(fields[3], int):
            return None
        flag = fields[2].place if isinstance(fields[2], Address) else None
        entries.append((LongOption(fields[0].rest, fields[1], fields[3]), flag))
    return entries


WRITING = frozenset((
    "strtol", "strtoll", "strtoul", "strtoull", "strtod", "strtof", "strtold", "strtoimax",
    "strtoumax", "strcpy", "strncpy", "strcat", "sprintf", "snprintf", "sscanf", "getopt",
    "getopt_long", "fopen", "fscanf", "fgets", "getline", "fgetc", "getc", "feof", "rewind",
    "fseek", "fclose", "strtok",
))  # fmt: skip
"""Functions that write through pointers or use the program's arguments and files."""
LIBRARY: dict[str, Handler] = {
    **dict.fromkeys(("atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul"), _to_integer),
    **dict.fromkeys(("atof", "stod", "stof"), _to_real),
    **dict.fromkeys(("strtol", "strtoll", "strtoul", "strtoull", "strtod", "strtof", "strtold",
                     "strtoimax", "strtoumax"), _strto),
    **dict.fromkeys(("strcmp", "strncmp", "strcasecmp", "strncasecmp"), _compare_strings),
    "strlen": _string_length,
    **dict.fromkeys(("operator==", "operator!="), _equal_strings),
    "c_str": _c_string,
    **dict.fromkeys(("strchr", "strrchr", "strstr"), _find_in_string),
    "strdup": _first_argument,
    **dict.fromkeys(("strcpy", "strncpy", "strcat", "sprintf", "snprintf"), _copy_string),
    "sscanf": _scan_string,
    "fopen": _open_stream,
    "fscanf": _scan_file,
    "fgets": _read_line,
    "getline": _read_allocated_line,
    **dict.fromkeys(("fgetc", "getc"), _next_character),
    "feof": _is_at_end,
    **dict.fromkeys(("rewind", "fseek"), _move_to_start),
    "fclose": _close_stream,
    "strtok": _next_token,
    **dict.fromkeys(("tolower", "toupper", "isdigit", "isalpha", "isspace", "isalnum", "isupper",
                     "islower"), _classify_character),
    **dict.fromkeys(("abs", "labs", "llabs"), _absolute_value),
    **dict.fromkeys(("malloc", "calloc", "aligned_alloc", "memalign", "_mm_malloc",
                     FILLED_CONTAINER), _new_object),
    **dict.fromkeys(("printf", "fprintf", "puts", "fputs", "fflush", "putchar", "perror", "free"),
                    _no_effect),
    **dict.fromkeys(("getopt", "getopt_long"), _getopt),
}  # fmt: skip
