"""Mutated sources, predicted with sizes set: no traceback, no hang, no file is lost without a word,
and other files keep their answers.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "random_loops"), str(Path(__file__).parent)]
from forked_command import Ended, load_program, run  # noqa: E402
from programs import program  # noqa: E402
from twin import source_of  # noqa: E402

MACHINE = ROOT / "tests" / "accuracy" / "machines" / "nehalem-e5540.yaml"
SIZES = dict.fromkeys(
    ("n", "m", "N", "M", "nx", "ny", "nz", "ni", "nj", "nk", "steps", "size", "count", "rows"), 60
)
"""Of what a program may call its sizes: alike, as several names may be one size."""
LONGEST = 6_000
SHORT = 1_200
BATCH = 12
FORMS = ("html", "json", "html", "table", "html", "sarif", "html", "csv", "html", "openmp", "html",
         "slurm")  # fmt: skip
GOOD = """double untouched[64][64];
void keeps_its_answer(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) untouched[i][j] += 1.5;
}
"""
"""Its names are in no other source, so no mutant says anything of it."""
_SECONDS = 60
_CPLUSPLUS = re.compile(
    r"std::|\btemplate\s*<|\bclass \w|\bnamespace\b|\bauto\b|\[[&=]\]|\boperator\b|"
    r"#include <(vector|array|cmath|algorithm|c?std\w+|iostream)>|\b(double|int|float) &\w"
)
_WORD = re.compile(r"\w+|[^\w\s]")
_NUMBER = re.compile(r"\b\d+\b")
_ODD = (
    "0", "-1", "1", "2147483648", "0x7fffffffffffffff", "18446744073709551615ull", "1e400", "1.5f",
    "'a'", "NULL", "sizeof(int)", "(1/0)", "08", "1" * 60, "0b11", "1uLL", "-2147483647-1",
)  # fmt: skip
_STATEMENTS = (
    "again: ;", "goto again;", "continue;", "break;", "return;", "switch (i) { case 1: ; }",
    "do ; while (0);", "while (i--) ;", "for (;;) ;", "{", "}", "#pragma omp for collapse(3)",
    "#pragma omp parallel for collapse(n) schedule(dynamic,)", "#pragma omp simd reduction(+:)",
    "#include \"nowhere.h\"", "#define i (i + 1)", "#if 0", "#endif", "#else", "int i = i;",
    "double (*p)[n] = (void *)a;", "for (int i = 0, j = 9; i < j; i++, j--) ;", "i += i;",
    "for (unsigned k = 9; k < 10; k--) a[k] = 0;", "*(int *)&n = 3;", "({ i; });",
    "_Pragma(\"omp parallel for\") for (int q = 0; q < 4; q++) ;", "extern int n; n %= 0;",
    "char *s = \"\\", "/*", "*/", "//\\", "typeof(n) m;", "i = i ? i / 0 : i % 0;",
)  # fmt: skip
_CPLUSPLUS_STATEMENTS = (
    "std::vector<double> w(n);", "auto f = [&](int k) { return k + n; };", "for (auto &e : w) e++;",
    "template <class T> struct Q { T t; };", "try { throw n; } catch (...) { n++; }", "w.size();",
    "std::fill(a, a + n, 0);", "auto [p, q] = std::pair(n, n);", "constexpr int n = 4;",
    "class i;", "namespace n { int i; }", "using T = decltype(a[0]);", "int &n = i;",
    "std::sort(w.begin(), w.end(), [](auto x, auto y) { return x < y; });", "this->n = n;",
    "n = static_cast<int>(i);", "delete a;",
    "for (std::size_t k = w.size(); k-- > 0;) w[k] = w.at(k - 1);", "operator int() { return 1; }",
    "std::atomic<int> c{0}; c++;", "if constexpr (sizeof(int) == 4) { ; }", "co_return;",
)  # fmt: skip
_OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "<", "!=", "&&", "||", "=", "+=", ",", "?", "->")


def cut_off(text: str, choose: random.Random) -> str:
    return text[: choose.randrange(len(text) // 4, len(text))]


def lines_moved(text: str, choose: random.Random) -> str:
    """Lines go, come twice, or change places."""
    out: list[str] = []
    for line in text.split("\n"):
        kind = choose.random()
        if kind < 0.03:
            continue
        out += [line] * (2 if kind > 0.97 else 1)
        if kind > 0.99 and len(out) > 5:
            at = choose.randrange(len(out))
            out[at], out[-1] = out[-1], out[at]
    return "\n".join(out)


def words_changed(text: str, choose: random.Random) -> str:
    """Words go, come twice, or are put in place of others."""
    words = _WORD.findall(text)

    def changed(match: re.Match[str]) -> str:
        if choose.random() > 0.015:
            return match.group()
        return choose.choice(["", match.group() * 2, choose.choice(words), "(", ")", "[", "}"])

    return _WORD.sub(changed, text)


def numbers_changed(text: str, choose: random.Random) -> str:
    return _NUMBER.sub(lambda m: choose.choice(_ODD) if choose.random() < 0.1 else m.group(), text)


def operators_changed(text: str, choose: random.Random) -> str:
    return re.sub(
        r"(?<=\s)[-+*/%<>=]=?(?=\s)",
        lambda m: choose.choice(_OPERATORS) if choose.random() < 0.1 else m.group(),
        text,
    )


def statements_added(text: str, choose: random.Random) -> str:
    lines = text.split("\n")
    known = _STATEMENTS + _CPLUSPLUS_STATEMENTS * bool(_CPLUSPLUS.search(text))
    for _ in range(choose.randint(1, 5)):
        lines.insert(choose.randrange(len(lines)), choose.choice(known))
    return "\n".join(lines)


def made_deep(text: str, choose: random.Random) -> str:
    """One expression inside hundreds of brackets, casts or operators."""
    depth = choose.choice([50, 50, 300, 300, 300, 2000])
    left, right = choose.choice([("(", ")"), ("(int)", ""), ("a[", "]"), ("-", ""), ("f(", ")")])
    places = list(re.finditer(r"= ([\w.]+);", text))
    if not places:
        return text
    place = choose.choice(places)
    value = left * depth + place.group(1) + right * depth
    return text[: place.start(1)] + value + text[place.end(1) :]


def bytes_changed(text: str, choose: random.Random) -> str:
    letters = list(text)
    for _ in range(choose.randint(1, 30)):
        letters[choose.randrange(len(letters))] = chr(
            choose.choice([0, 1, 9, 12, 34, 92, 233, 8232])
        )
    return "".join(letters)


def put_together(text: str, choose: random.Random) -> str:
    """The beginning of one file and the end of another."""
    other = _a_seed(choose).text
    return text[: choose.randrange(len(text))] + other[choose.randrange(len(other)) :]


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    cut_off, lines_moved, words_changed, words_changed, numbers_changed, operators_changed,
    statements_added, statements_added, made_deep, bytes_changed, put_together,
)  # fmt: skip


class Source(NamedTuple):
    """A program, and how its file's name ends."""

    text: str
    suffix: str = ".c"


FOLDERS: list[Path] = []
"""Folders of further sources to mutate."""


@cache
def seeds() -> dict[str, tuple[list[Source], list[Source]]]:
    """What is mutated, by suffix: short sources and long ones. Files, and strings of tests."""
    patterns = ("tests/golden/*.c", "tests/frontend/*/**/*.c*", "polybench_samples/*/*/*.c",
                "npb_samples/*/*.c")  # fmt: skip
    files = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    files += [path for folder in FOLDERS for path in sorted(folder.glob("*.c*"))]
    texts = [path.read_text(errors="replace")[:LONGEST] for path in files]
    for path in sorted(ROOT.glob("tests/*/**/*.py")):
        code = path.read_text()
        if "#pragma omp" in code:
            texts += filter(_is_a_program, _strings(code))
    known: dict[str, tuple[list[Source], list[Source]]] = {".c": ([], []), ".cpp": ([], [])}
    for text in dict.fromkeys(texts):
        suffix = ".cpp" if _CPLUSPLUS.search(text) else ".c"
        known[suffix][len(text) > SHORT].append(Source(text, suffix))
    return known


def _strings(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("@", "")


def _is_a_program(text: str) -> bool:
    """Whether it has a directive and, before it, a function's head."""
    return re.search(r"\w+\s*\([^()]*\)[^;]*\{.*#pragma omp", text, re.DOTALL) is not None


def _a_seed(choose: random.Random, suffix: str = ".c") -> Source:
    """A source to change: most are short, a fifth are random loops."""
    if suffix == ".c" and choose.random() < 0.2:
        return Source(source_of([program(choose.randrange(1_000_000))], twin=False)[0])
    short, long = seeds()[suffix]
    return choose.choice(long if long and choose.random() < 0.05 else short)


def mutant(number: int, frontend: str) -> Source:
    """One mutant: one to three changes of one source. A third of libclang's are C++."""
    choose = random.Random(number)
    both = frontend == "libclang" and choose.random() < 0.33
    text, suffix = _a_seed(choose, ".cpp" if both else ".c")
    for _ in range(choose.choice([1, 1, 2, 3])):
        if len(text) > 8:
            text = choose.choice(MUTATIONS)(text, choose)
    return Source(text, suffix)


def findings(numbers: range, frontend: str, folder: Path) -> Iterator[tuple[int, str]]:
    """The mutants that the package does not get over, each with what went wrong.

    They are one program of many files. Where it ends in a way that it should not, each mutant is
    tried alone.
    """
    load_program()
    wrong = _wrong(numbers, frontend, folder)
    if not wrong:
        return
    alone = [
        (one, _wrong(range(one, one + 1), frontend, folder, _form(numbers))) for one in numbers
    ]
    named = [(one, said) for one, said in alone if said]
    yield from named or [(numbers.start, f"with {len(numbers)} mutants together: {wrong}")]


def _form(numbers: range) -> int:
    return numbers.start // BATCH


def _wrong(numbers: range, frontend: str, folder: Path, turn: int | None = None) -> str:
    """What is wrong with the answers for some mutants and a good file; empty where nothing is."""
    turn = _form(numbers) if turn is None else turn
    form = FORMS[turn % len(FORMS)]
    model = "density" if turn % 5 == 4 and form not in ("slurm", "openmp") else "saturation"
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    (place / "src").mkdir(parents=True)
    (place / "src" / "good.c").write_text(GOOD)
    sizes = ", ".join(f"{name} = {value}" for name, value in SIZES.items())
    (place / "regionpredict.toml").write_text(f"set = {{{sizes}}}\n")
    loops = ["good.c"]
    for number in numbers:
        text, suffix = mutant(number, frontend)
        name = f"mutant{number}{suffix}"
        (place / "src" / name).write_text(text, encoding="utf-8")
        loops += [name] * _has_a_loop(place / "src" / name)
    words = ["predict", "src", "-m", str(MACHINE), "--frontend", frontend, "--model", model,
             "-j", "1"]  # fmt: skip
    words += ["--format", form, "--no-cache"]
    for headers in ("polybench_samples/common", "npb_samples/common"):
        words += ["-I", str(ROOT / headers)]
    words += ["--all"] * (form == "table")
    ended = run(words, place, _SECONDS)
    if ended.wrong:
        return f"{form}: {ended.wrong}"
    answer = ended.said + ended.shown
    if (late := answer.find("took longer than")) >= 0:
        return f"{form}: {answer[max(0, late - 200) : late + 100]}"
    for name in loops:
        if form != "slurm" and name not in answer:
            return f"{form}: lost: neither a region nor a word of {name}"
    return _good_answer(ended) if form == "json" else ""


def _good_answer(ended: Ended) -> str:
    """The difference in the answer for the unchanged file. Empty if there is none."""
    regions = json.loads(ended.shown)["regions"]
    own = [region for region in regions if Path(region["file"]).name == "good.c"]
    told = [(one["iterations"]["value"], one["working_set"]["bytes"], one["status"]) for one in own]
    expected = [(60, 8 * 59 * 59, "predicted")]
    return "" if told == expected else f"good.c has another answer: {told}"


def _has_a_loop(path: Path) -> bool:
    """Whether a directive shares a loop, as far as lines show comments and `#if 0`."""
    text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    text = text.partition("#if 0")[0]
    text = re.sub(r"/\*.*?(\*/|\Z)", "", text, flags=re.DOTALL)
    return re.search(r"^[ \t]*#pragma omp (parallel )?for\b", text, re.MULTILINE) is not None
