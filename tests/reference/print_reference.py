"""Prints `docs/reference.md` and the manual pages in `man/` from what `--help` says.

python tests/reference/print_reference.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from regionpredict import __version__
from regionpredict.cli.group import group

ROOT = Path(__file__).resolve().parents[2]
PAGE, MANUAL = ROOT / "docs" / "reference.md", ROOT / "man"
WIDTH = 80
HEAD = """\
# Commands

What `--help` says of every command, printed from it. The same are manual pages: \
`man regionpredict-predict`.
"""
SECTIONS = re.compile(r"^([A-Z][a-z]+):(?: +(.*))?$")


def commands() -> Iterator[tuple[str, click.Context]]:
    """Each command by its whole name, the group first, with a context as wide as any terminal."""

    def walk(command: click.Command, parent: click.Context | None, name: str):
        context = click.Context(
            command, parent=parent, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH,
            help_option_names=["-h", "--help"],
        )  # fmt: skip
        yield context.command_path, context
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield from walk(found, context, inner)

    yield from walk(group, None, "regionpredict")


def help_text(context: click.Context) -> str:
    """What `--help` prints."""
    lines = context.get_help().replace("\b\n", "").splitlines()
    return "\n".join(line.rstrip() for line in lines)


def reference() -> str:
    """The page of all commands."""
    parts = [HEAD]
    for name, context in commands():
        parts.append(f"## {name}\n\n```text\n{help_text(context)}\n```\n")
    return "\n".join(parts)


def manual_pages() -> dict[str, str]:
    """Name of the file and text of each manual page, in the macros of man(7)."""
    every = list(commands())
    names = [name.replace(" ", "-") for name, _ in every]
    pages = {}
    for (name, context), file in zip(every, names, strict=True):
        pages[f"{file}.1"] = manual_page(name, file, context, names)
    return pages


def manual_page(name: str, file: str, context: click.Context, names: list[str]) -> str:
    short = context.command.get_short_help_str(200).rstrip(".")
    lines = [
        f'.TH "{file.upper()}" "1" "" "regionpredict {__version__}" "regionpredict"',
        ".SH NAME", roff(f"{file} - {short}"), ".SH SYNOPSIS",
    ]  # fmt: skip
    body = help_text(context).splitlines()
    usage = [body[0].removeprefix("Usage: ")]
    rest = iter(body[1:])
    for line in rest:
        if not line.strip():
            break
        usage.append(line.strip())
    lines += [".B " + roff(" ".join(usage)), ".SH DESCRIPTION"]
    verbatim = False
    for line in rest:
        section = SECTIONS.match(line.strip()) if not line.startswith("   ") else None
        if section and section[1] in ("Options", "Commands", "Example", "Examples"):
            lines += [".fi"] if verbatim else []
            lines += [f".SH {section[1].upper()}", ".nf"]
            verbatim = True
        elif verbatim:
            lines.append(roff(re.sub("^ {2}(?: {2}(?=regionpredict ))?", "", line)))
        elif line.strip():
            lines.append(roff(line.strip()))
        else:
            lines.append(".PP")
    lines += [".fi"] if verbatim else []
    others = [other for other in names if other != file and related(file, other)]
    if others:
        lines += [".SH SEE ALSO", roff(", ".join(f"{other}(1)" for other in others))]
    return "\n".join(lines) + "\n"


def related(one: str, other: str) -> bool:
    """The group above a command, and what a group holds."""
    return one.rpartition("-")[0] == other or other.rpartition("-")[0] == one


def roff(text: str) -> str:
    r"""Text that no macro or escape is taken for.

    >>> roff(".x -y\\n")
    '\\&.x \\-y\\en'
    """
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + plain if plain[:1] in (".", "'") else plain


def main() -> None:
    PAGE.write_text(reference(), "utf-8")
    MANUAL.mkdir(exist_ok=True)
    pages = manual_pages()
    for old in MANUAL.glob("*.1"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (MANUAL / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
