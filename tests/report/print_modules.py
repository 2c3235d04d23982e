"""Lists the modules of a room, each with the first sentence of its docstring.

python tests/report/print_modules.py [ROOM]
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "regionpredict"
DOCSTRING = re.compile(r'r?"""(?:[^\\]|\\.)*?"""', re.DOTALL)


def modules(room: str = "") -> dict[str, str]:
    """Path of a module, from the package -> first sentence of its docstring, "" if it has none."""
    found = {}
    for file in sorted((PACKAGE / room).rglob("*.py")):
        docstring = DOCSTRING.match(file.read_text("utf-8"))
        text = ast.literal_eval(docstring[0]) if docstring else ""
        first = " ".join(text.partition("\n\n")[0].split())
        found[file.relative_to(PACKAGE).as_posix()] = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", first)[0]
    return found


if __name__ == "__main__":
    for name, sentence in modules(*sys.argv[1:]).items():
        print(f"{name}: {sentence}")
