"""Escapes untrusted text for output that another program parses, with one function per format.

Names of machines, files, call paths and tasks may contain any characters. Each function returns
text that the format parses as one value, on one line. Text for terminals is escaped by `one_line`
and `escape_control_characters` in `errors.py`. JSON is written by `json.dumps`.
"""

from __future__ import annotations

import csv
import io
import json
import keyword
import re
import shlex
from collections.abc import Iterable, Sequence

from regionpredict.errors import one_line

# XML 1.0, sec. 2.2, excludes other control characters, half surrogate pairs, U+FFFE and U+FFFF.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|<>&~@])")
_FORMULA = ("=", "+", "-", "@")
_LATEX = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    **{char: f"\\{char}" for char in "{}$&#_%"},
}  # fmt: skip


def shell_word(text: str) -> str:
    r"""One word of a shell command, also for text with line breaks.

    >>> print(shell_word("a.out"), shell_word("$(x)"), shell_word("a\n'b"))
    a.out '$(x)' $'a\n\'b'
    """
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{one_line(escaped)}'"


def shell_comment(text: str) -> str:
    r"""A comment in a shell script, on one line.

    >>> print(shell_comment("on m\ntouch x"))
    # on m\ntouch x
    """
    return f"# {one_line(text)}"


def double_quoted(text: str) -> str:
    r"""Text in double quotes, as in DOT and C.

    >>> print(double_quoted('a"b\n'))
    "a\"b\n"
    """
    return '"' + one_line(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def yaml_text(text: str) -> str:
    r"""A quoted YAML string, also for keys.

    >>> print(yaml_text("a: b\n"))
    "a: b\n"
    """
    return json.dumps(text, ensure_ascii=not text.isprintable())


def xml_text(text: str) -> str:
    r"""Escapes characters that XML cannot contain. The XML writer escapes `<` and `&`.

    >>> print(xml_text("a\x1b.c"))
    a\x1b.c
    """
    return _NOT_XML.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def markdown_text(text: str) -> str:
    r"""Escapes Markdown and HTML markup, and `|`, which ends a table cell.

    >>> print(markdown_text("a|b <i> `x`"))
    a\|b \<i\> \`x\`
    """
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def markdown_code(text: str) -> str:
    """The text as Markdown code if possible, else as plain text.

    >>> print(markdown_code("a.c:3"), markdown_code("a|`x`"))
    `a.c:3` a\\|\\`x\\`
    """
    return markdown_text(text) if "`" in text else f"`{one_line(text)}`".replace("|", "\\|")


def python_name(text: str) -> str:
    """A Python identifier for a parameter of any name.

    >>> python_name("n"), python_name("omp threads"), python_name("2x"), python_name("if")
    ('n', 'omp_threads', '_2x', 'if_')
    """
    name = re.sub(r"\W", "_", text)
    if keyword.iskeyword(name):
        return f"{name}_"
    return name if name.isidentifier() else f"_{name}"


def latex_name(text: str) -> str:
    r"""A name in a LaTeX formula, as text if it is not one word.

    >>> print(latex_name("p"), latex_name("n_x"))
    p \text{n\_x}
    """
    if text.isalnum():
        return text
    return f"\\text{{{''.join(_LATEX.get(char, char) for char in one_line(text))}}}"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under a header row. None is an empty cell.

    Spreadsheets execute text that begins with `=`, `+`, `-` or `@` as a formula, so such text is
    prefixed with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_csv_cell(value) for value in row] for row in (header, *rows))
    return out.getvalue()


def _csv_cell(value: object) -> object:
    if value is None or isinstance(value, (int, float)):
        return value
    text = str(value)
    return one_line(f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
