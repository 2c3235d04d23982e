"""Converts preprocessed tokens to the tokens that pycparser can parse.

Attributes, assembler and other language extensions are removed. Alignments in attributes are
recorded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.frontend.pycparser_reader.tokens import Spot, Token

ASSEMBLER = "__regionpredict_assembler"
IMAGINARY = "__regionpredict_imaginary_unit"
OMITTED = "__regionpredict_omitted_operand"
VECTORS = tuple(f"__regionpredict_{name}" for name in ("m64", "m128", "m128d", "m128i"))

_KEYWORDS = {
    word: word.upper()
    for word in [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "offsetof",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "typeof",
    ]
}
_KEYWORDS.update({
    "_Bool": "_BOOL", "_Complex": "_COMPLEX", "_Generic": "_GENERIC", "_Noreturn": "_NORETURN",
    "_Thread_local": "_THREAD_LOCAL", "_Static_assert": "_STATIC_ASSERT", "_Atomic": "_ATOMIC",
    "_Alignof": "_ALIGNOF", "_Alignas": "_ALIGNAS", "__int128": "__INT128",
    "__builtin_va_arg": "__BUILTIN_VA_ARG",
})  # fmt: skip
_OPERATORS = {
    "...": "ELLIPSIS", "<<=": "LSHIFTEQUAL", ">>=": "RSHIFTEQUAL", "++": "PLUSPLUS",
    "--": "MINUSMINUS", "->": "ARROW", "&&": "LAND", "||": "LOR", "<<": "LSHIFT", ">>": "RSHIFT",
    "<=": "LE", ">=": "GE", "==": "EQ", "!=": "NE", "*=": "TIMESEQUAL", "/=": "DIVEQUAL",
    "%=": "MODEQUAL", "+=": "PLUSEQUAL", "-=": "MINUSEQUAL", "&=": "ANDEQUAL", "|=": "OREQUAL",
    "^=": "XOREQUAL", "=": "EQUALS", "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "DIVIDE",
    "%": "MOD", "|": "OR", "&": "AND", "~": "NOT", "^": "XOR", "!": "LNOT", "<": "LT", ">": "GT",
    "?": "CONDOP", "(": "LPAREN", ")": "RPAREN", "[": "LBRACKET", "]": "RBRACKET", "{": "LBRACE",
    "}": "RBRACE", ",": "COMMA", ".": "PERIOD", ";": "SEMI", ":": "COLON",
}  # fmt: skip
_SPELLINGS = {
    "__inline": "inline", "__inline__": "inline", "__restrict": "restrict",
    "__restrict__": "restrict", "__const": "const", "__const__": "const",
    "__volatile": "volatile", "__volatile__": "volatile", "__signed": "signed",
    "__signed__": "signed", "__typeof": "typeof", "__typeof__": "typeof",
    "__alignof": "_Alignof", "__alignof__": "_Alignof", "__thread": "_Thread_local",
    "__complex": "_Complex", "__complex__": "_Complex", "__builtin_offsetof": "offsetof",
    "_Float32": "float", "_Float64": "double", "__int128_t": "__int128",
}  # fmt: skip
_PAIRS = {"_Float128": ("long", "double"), "__float128": ("long", "double"),
          "_Float64x": ("long", "double"), "__uint128_t": ("unsigned", "__int128")}  # fmt: skip
_ATTRIBUTES = frozenset(("__attribute__", "__attribute", "__declspec", "__nonnull"))
_ASM = frozenset(("asm", "__asm", "__asm__"))
_DROPPED = frozenset(("__extension__", "__real__", "__real", "__imag__", "__imag", "#", "##"))
_STATEMENT_ENDS = frozenset((";", "{", "}", ")", "else", "do", ":"))
_FLOATING = re.compile(r"(?![0]?[xXbB])[^eE.]*[eE.]|0[xX][^pP]*[pP]")
_NOWHERE = Spot("", 0, 0, 0)
_OPENING = {"(": ")", "[": "]", "{": "}"}


class CToken:
    """A token for pycparser. `column` is the index of the token in the file, and `spot` the source
    position.
    """

    __slots__ = ("column", "filename", "lineno", "spot", "type", "value")

    def __init__(self, kind: str, value: str, spot: Spot, index: int) -> None:
        self.type = kind
        self.value = value
        self.spot = spot
        self.filename = spot.file
        self.lineno = spot.line
        self.column = index


class CleanTokens(NamedTuple):
    """The tokens for pycparser, and information from removed tokens.

    `pragmas` are the texts of `_Pragma` operators with their positions. `attributes` maps the index
    of the token before an attribute to the alignment that it sets (0 for packed). `never_return`
    contains the indices of tokens before a `noreturn` attribute.
    """

    c_tokens: list[CToken]
    pragmas: list[tuple[str, Spot]]
    attributes: dict[int, int]
    never_return: frozenset[int]


def remove_extensions(tokens: list[Token]) -> CleanTokens:
    """Returns the tokens for pycparser, without unsupported language extensions."""
    cleaner = _ExtensionRemover(tokens)
    while cleaner.at < len(tokens):
        cleaner.step()
    return CleanTokens(
        cleaner.c_tokens, cleaner.pragmas, cleaner.attributes, frozenset(cleaner.never_return)
    )


class _ExtensionRemover:
    """Removes language extensions in one pass over the tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.c_tokens: list[CToken] = []
        self.pragmas: list[tuple[str, Spot]] = []
        self.attributes: dict[int, int] = {}
        self.never_return: set[int] = set()

    def step(self) -> None:
        """Processes the next token, including the parentheses of an attribute."""
        token = self.tokens[self.at]
        self.at += 1
        value, kind = token.value, token.type
        spot = token.source or _NOWHERE
        if kind == "CPP_ID":
            self._identifier(value, spot)
        elif kind in ("CPP_INTEGER", "CPP_FLOAT"):
            self._number(value, spot)
        elif kind == "CPP_STRING":
            self._add(value, spot, "STRING_LITERAL" if value[0] == '"' else "WSTRING_LITERAL")
        elif kind == "CPP_CHAR":
            self._add(value, spot, "CHAR_CONST")
        else:
            self._operator(value, spot)

    def _add(self, value: str, spot: Spot, kind: str = "") -> None:
        tokens = self.c_tokens
        tokens.append(CToken(kind or _KEYWORDS.get(value, "ID"), value, spot, len(tokens)))

    def _next(self, *spellings: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].value in spellings

    def _identifier(self, value: str, spot: Spot) -> None:
        if value in _ATTRIBUTES:
            text = self._skip_parentheses()
            alignment = _alignment(text)
            if alignment is not None:
                self.attributes[len(self.c_tokens) - 1] = alignment
            if "noreturn" in text:
                self.never_return.add(len(self.c_tokens) - 1)
        elif value in _ASM:
            self._assembler(spot)
        elif value == "_Pragma" and self._next("("):
            self.pragmas.append((self._skip_parentheses()[1:-1], spot))
        elif value in _PAIRS:
            for part in _PAIRS[value]:
                self._add(part, spot)
        elif value not in _DROPPED:
            self._add(_SPELLINGS.get(value, value), spot)

    def _skip_parentheses(self) -> str:
        """Skips the following parentheses, and returns their text."""
        end = _after_parentheses(self.tokens, self.at)
        text = "".join(token.value for token in self.tokens[self.at : end])
        self.at = end
        return text

    def _assembler(self, spot: Spot) -> None:
        before = self.c_tokens[-1].value if self.c_tokens else ";"
        while self._next("volatile", "__volatile__", "goto", "inline"):
            self.at += 1
        self._skip_parentheses()
        if self.depth and before in _STATEMENT_ENDS:
            self._add(ASSEMBLER, spot)
        elif not self.depth and self._next(";") and before in ";}":
            self.at += 1

    def _number(self, value: str, spot: Spot) -> None:
        imaginary = value[-1] in "iIjJ" or value[-2:-1] in ("i", "j")
        hexadecimal = value[:2] in ("0x", "0X")
        if imaginary and not hexadecimal:
            self._add(IMAGINARY, spot)
        elif _FLOATING.match(value):
            self._add(value, spot, "HEX_FLOAT_CONST" if hexadecimal else "FLOAT_CONST")
        else:
            self._add(value, spot, "INT_CONST_DEC")

    def _operator(self, value: str, spot: Spot) -> None:
        before = self.c_tokens[-1].value if self.c_tokens else ""
        if value == "..." and before not in ("", ",", "("):
            while self.at < len(self.tokens) and not self._next(":"):  # case 1 ... 5:
                self.at += 1
            return
        if value == "{":
            self.depth += 1
        elif value == "}":
            self.depth -= 1
        elif value == ":" and before == "?":
            self._add(OMITTED, spot)  # a ?: b
        operator = _OPERATORS.get(value)
        if operator:
            self._add(value, spot, operator)


def _alignment(text: str) -> int | None:
    """Returns the alignment in an attribute such as `((aligned(16)))`, and 0 for `((packed))`."""
    if "packed" in text:
        return 0
    match = re.search(r"aligned(?:__)?\((\d+)", text)
    if match:
        return int(match.group(1))
    return 16 if re.search(r"aligned(?:__)?\)", text) else None


def _after_parentheses(tokens: list[Token], at: int) -> int:
    """Returns the index after the `)` that matches the `(` at `at`. Returns `at` if there is no
    parenthesis.
    """
    if at >= len(tokens) or tokens[at].value != "(":
        return at
    depth = 0
    for index in range(at, len(tokens)):
        if tokens[index].value == "(":
            depth += 1
        elif tokens[index].value == ")":
            depth -= 1
            if not depth:
                return index + 1
    return len(tokens)


def close_blocks(tokens: list[CToken]) -> int:
    """Adds the missing `}` tokens at the end of a truncated file. Returns their number."""
    depth = 0
    for word in tokens:
        if word.type == "LBRACE":
            depth += 1
        elif word.type == "RBRACE" and depth:
            depth -= 1
    for _ in range(depth):
        tokens.append(CToken("RBRACE", "}", tokens[-1].spot, len(tokens)))
    return depth


def matching_brackets(tokens: list[CToken]) -> list[int]:
    """Returns, for each token, the index of its matching bracket, or -1."""
    partner = [-1] * len(tokens)
    open_: list[int] = []
    for index, word in enumerate(tokens):
        value = word.value
        if value in _OPENING and word.type[0] == "L":
            open_.append(index)
        elif value in (")", "]", "}"):
            # Brackets without a matching bracket are ignored.
            depth = len(open_) - 1
            while depth >= 0 and _OPENING[tokens[open_[depth]].value] != value:
                depth -= 1
            if depth >= 0:
                partner[open_[depth]], partner[index] = index, open_[depth]
                del open_[depth:]
    return partner
