"""Mutated sources, predicted with sizes set, as an HTML page: no traceback, no hang, no file is
lost without a word, and other files keep their answers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for
from regionpredict.isolation import LIMITS
from regionpredict.machine import Machine
from regionpredict.pipeline import Analysis, analyse, predict
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.rendered import rendered
from regionpredict.report.run_settings import run_settings
from regionpredict.stage_dumps import dump

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "accuracy" / "machines" / "nehalem-e5540.yaml"
THREADS = (1, 4, 8)
SIZES = dict.fromkeys(
    ("n", "m", "N", "M", "nx", "ny", "nz", "ni", "nj", "nk", "steps", "size", "count", "rows"), 60
)
"""Of what a program may call its sizes: alike, as several names may be one size."""
SOURCES = sorted(
    path
    for pattern in (
        "tests/golden/*.c",
        "tests/frontend/cases/**/*.c",
        "polybench_samples/*/*/*.c",
        "npb_samples/*/*.c",
    )
    for path in ROOT.glob(pattern)
)
LONGEST = 6_000
BATCH = 12
LOW = LIMITS._replace(seconds=12)
GOOD = """double a[64][64];
void good(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) a[i][j] += 1.5;
}
"""
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
    for _ in range(choose.randint(1, 5)):
        lines.insert(choose.randrange(len(lines)), choose.choice(_STATEMENTS))
    return "\n".join(lines)


def made_deep(text: str, choose: random.Random) -> str:
    """One expression inside hundreds of brackets, casts or operators."""
    depth = choose.choice([50, 300, 2000])
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
    other = choose.choice(SOURCES).read_text()[:LONGEST]
    return text[: choose.randrange(len(text))] + other[choose.randrange(len(other)) :]


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    cut_off, lines_moved, words_changed, words_changed, numbers_changed, operators_changed,
    statements_added, statements_added, made_deep, bytes_changed, put_together,
)  # fmt: skip


def mutant(number: int) -> str:
    """The text of one mutant: one to three changes of one source."""
    choose = random.Random(number)
    text = choose.choice(SOURCES).read_text()[:LONGEST]
    for _ in range(choose.choice([1, 1, 2, 3])):
        if len(text) > 8:
            text = choose.choice(MUTATIONS)(text, choose)
    return text


def good_answer(analysis: Analysis) -> str:
    """What is said of the file that nobody changed."""
    kept = [f for f in analysis.facts if Path(f.region.span.file).name == "good.c"]
    return "\n".join(f"{f.iterations} {f.working_set} {f.statements}" for f in kept)


def findings(
    numbers: range, frontend: str, folder: Path, machine: Machine
) -> Iterator[tuple[int, str]]:
    """The mutants that the package does not get over, each with what went wrong."""
    for path in folder.glob("*.c"):
        path.unlink()
    (folder / "good.c").write_text(GOOD)
    good = requests_for([str(folder / "good.c")])
    expected = good_answer(analyse(good, SIZES, frontend=frontend, optional=SIZES))
    for number in numbers:
        (folder / f"mutant{number}.c").write_text(mutant(number), encoding="utf-8")
    try:
        requests = requests_for([str(folder)], (), [str(ROOT / "polybench_samples/common"),
                                                    str(ROOT / "npb_samples/common")])  # fmt: skip
        analysis = analyse(requests, SIZES, frontend=frontend, limits=LOW, optional=SIZES)
        dump("program", analysis, None)
        dump("facts", analysis, None)
    except InputError as error:
        yield numbers.start, f"InputError took all files down: {error}"
        return
    except Exception as error:  # what a fuzzer is for
        yield numbers.start, f"{type(error).__name__}: {error}"
        return
    for note in analysis.program.diagnostics:
        if "internal error" in note.message or "time" in note.message.split(":")[0]:
            yield _number_in(note.span.file), note.message
    known = {Path(facts.region.span.file).name for facts in analysis.facts}
    known |= {Path(note.span.file).name for note in analysis.program.diagnostics}
    for name in (path.name for path in folder.glob("*.c") if _has_a_loop(path)):
        if name not in known:
            yield _number_in(name), "lost: neither a region nor a word of it"
    if good_answer(analysis) != expected and not _rivals(analysis):
        yield numbers.start, f"good.c has another answer: {good_answer(analysis)}"
    for model in ("density", "saturation"):
        try:
            page, errors = _page(analysis, machine, model)
        except InputError:
            continue
        except Exception as error:
            yield numbers.start, f"predict, {model}: {type(error).__name__}: {error}"
            continue
        yield from ((_number_in(place), f"{model}: {said}") for place, said in errors)
        places = (facts.region.span for facts in analysis.facts)
        missing = [f"{Path(place.file).name}:{place.line}" for place in places]
        missing = [place for place in missing if place not in page]
        if missing:
            yield numbers.start, f"{model}: not on the page: {missing[0]}"


def _page(analysis: Analysis, machine: Machine, model: str) -> tuple[str, list[tuple[str, str]]]:
    """The HTML page, and the internal errors of regions with their files."""
    made = predict(analysis, machine, model, threads=THREADS if model == "saturation" else ())
    errors = [
        (one.facts.region.span.file, note.message)
        for one in made.predictions for note in one.diagnostics if "internal error" in note.message
    ]  # fmt: skip
    result = ProgramResult(
        made.predictions, made.teams, made.plans, made.machine, model, made.advice,
        run_settings(made.machine, made.pages), analysis.program.diagnostics, made.recommended,
    )  # fmt: skip
    return rendered(program_document(result), "html"), errors


def _has_a_loop(path: Path) -> bool:
    """Whether a directive shares a loop, outside comments and strings as far as one line tells."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.search(r"^[ \t]*#pragma omp (parallel )?for\b", text, re.MULTILINE) is not None


def _number_in(file: str) -> int:
    found = re.search(r"\d+", Path(file).name)
    return int(found.group()) if found else -1


def _rivals(analysis: Analysis) -> bool:
    """Whether a mutant is one that says something of the good file's names: calls of `good`."""
    return any("good" in note.message for note in analysis.program.diagnostics)
