"""Checks the wording of pages, rule pages, messages, `--help`, schemas and docstrings.

python tests/wording/check_wording.py [--list PART-OF-A-PATH] [--shrink] [--counts]

A file may have at most the number of findings that `remaining.txt` lists for it, by default none.
`--shrink` lowers these numbers to what is found. It never raises one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prose import Passage, passages, sentences, words

REMAINING = Path(__file__).with_name("remaining.txt")
EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
LONGEST = 25  # words in a sentence


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a sentence must not contain, and what to write instead.

    With `visible`, docstrings may contain it: they describe code that has these names.
    """

    name: str
    expression: str
    instead: str
    visible: bool = False

    def finds(self, sentence: str) -> bool:
        """Whether the sentence contains the pattern, whatever the case of its letters."""
        return re.search(self.expression, sentence, re.IGNORECASE) is not None


PATTERNS = (
    Pattern("behind", r"\bbehind\b", "after"),
    Pattern("hang on", r"\b(hangs?|hung|hanging) (\w+ )?(on|at)\b", "depend on"),
    Pattern("come to", r"\b(comes?|came|coming) (back )?to\b", "reach"),
    Pattern("tell", r"\b(tells?|told|telling)\b", "say, report, show, give"),
    Pattern("stand", r"\b(stands?|stood|standing)\b", "is"),
    Pattern("beside", r"\bbesides?\b", "next to"),
    Pattern("apart", r"\bapart\b", "separately, different"),
    Pattern("mend", r"\bmend(s|ed|ing)?\b", "fix"),
    Pattern("anew", r"\banew\b", "again"),
    Pattern("hand over", r"\b(hands|handed|handing|hand (over|on|it|them))\b(?! side)", "pass"),
    Pattern("nobody", r"\bnobody\b", "no one, or the passive voice"),
    Pattern("of which", r"\bof (which|whose)\b", "a second sentence"),
    Pattern("so often", r"\bso often\b", "the number of times"),
    Pattern("one more", r"\b(an?|one|two|three|\d+) (?!bit\b|or\b)[a-z]+ more\b", "another"),
    Pattern("as ... does", r"\bas (\w+ ){1,4}(does|do|has it|have it|gets it|get it)\b", "like"),
    Pattern("there is not", r"(?<!if )\bthere (is|are|was|were) (not\b(?! an?\b)|none)", "missing"),
    Pattern("negation", r"(?<!there )\b(is|are|was|were) (in |of )?no (?!longer|more|less|fewer|"
            r"greater|larger|smaller|better|worse|later|one)\w+", "a plain statement"),
    Pattern("held against", r"\b(held?|holds?|holding) (\w+ ){0,4}against\b", "compare with"),
    Pattern("left to", r"\bleft to (?!right)", "a plain statement"),
    Pattern("personified", r"\b(says so|names (it|them)|knows? (of|nothing))\b", "a fact"),
    Pattern("deal out", r"\b(deals?|dealt|dealing) out\b", "distribute, assign"),
    Pattern("be it", r"\bbe (it|they)\b", "whether, even if"),
    Pattern("settled", r"\b(un)?settle[sd]?\b", "known, converge"),
    Pattern("sure", r"\bsure\b", "confidence"),
    Pattern("open size", r"\bopen (sizes?|names?|extents?)\b", "unknown size"),
    Pattern("team", r"\bteams?\b", "parallel region", visible=True),
    Pattern("cleft", r"\b(of|by|with|in|as|than|for|from|on|at) what\b", "a noun"),
    Pattern("None where", r"\b(None|unknown|known|empty|False|True|0) where\b", "if"),
    Pattern("gone through", r"\b(gone|went) (through|over)\b", "visit, traverse, execute"),
    Pattern("so many", r"\bso (many|much)\b", "this number of, this much"),
    Pattern("of its own", r"\bof (its|their|one's|our) own\b", "separate, or a possessive"),
    Pattern("not known", r"\b(is|are|was|were) not (known|seen)\b", "unknown, not visible"),
    Pattern("taken to", r"\b(is|are|was|were|be) taken (to|for)\b", "is assumed, counts as"),
    Pattern("ask for", r"\bask(s|ed|ing)? (for|of)\b", "request, need"),
    Pattern("lie", r"\b(lies|lying|lay|lain)\b|\b(they|that|which|may|pages) lie\b", "is"),
    Pattern("the begin", r"\b(the|its|their|a) begins?\b", "start"),
    Pattern("but once", r"\b(but (once|one)|(has|have|had) but)\b", "only"),
    Pattern("for ever", r"\bfor ever\b", "forever"),
    Pattern("at hand", r"\bat hand\b", "available, current"),
    Pattern("whatever", r"\b(whatever|whoever|whomever)\b", "for any, independent of"),
    Pattern("; None", r"; (None|unknown|empty|none|else)\b", "a second sentence"),
    Pattern("those of", r"^(Those|The same) of\b", "the noun"),
    Pattern("whether it", r"^Whether (it|its|they|their|them)\b", "the noun"),
    Pattern("that do", r"\b(that|which|who) (did|does|do|has one|have one)\.?$", "verb, noun"),
    Pattern("has precedence", r"\b(has|have|had) precedence\b", "takes precedence"),
    Pattern("So at the start", r"^So (?!far\b)", "therefore, or the same holds for"),
    Pattern("surely", r"\b(surely|unsure)\b", "certainly, uncertain"),
    Pattern("all the same", r"\ball the same\b", "nevertheless"),
    Pattern("inside each other", r"\binside each other\b", "nested"),
    Pattern("suffice", r"\bsuffic(e|es|ed)\b", "be enough"),
    Pattern("taken as", r"\btaken as\b", "is assumed to be"),
)  # fmt: skip

# The beginning of a sentence that puts off its subject.
FRONTED = re.compile(
    r"(What|Whatever|Who|Whoever|Whom) (?!if\b)[^?]*$"
    r"|Of (?!course\b)|(Not|Left|Meant|Given|Shown|Told|Assumed|Beside|Missing) (\w+ )?"
    r"(is|are|was|were|stands?)\b"
)

# What a line on standard error begins with: the program, the kind of the message, its place.
PREFIX = re.compile(r"(regionpredict: )?(note: |warning: )?(\{\}: )?", re.IGNORECASE)


def findings(passage: Passage) -> Iterator[tuple[str, str]]:
    """Name of the pattern and what to write instead, for each offence of each sentence."""
    if any(exception in passage.text for exception in exceptions()):
        return
    for sentence in sentences(passage.text):
        for pattern in PATTERNS:
            if not (pattern.visible and passage.kind == "docstring") and pattern.finds(sentence):
                yield pattern.name, f"'{pattern.name}': write: {pattern.instead}"
        if FRONTED.match(sentence):
            yield "fronted clause", "begin with the subject"
        if len(re.findall(r"[:;](?=\s)", PREFIX.sub("", sentence))) > 1:
            yield "chain", "a chain of colons and semicolons: write sentences or a list"
        if words(sentence) > LONGEST:
            yield "long", f"{words(sentence)} words: at most {LONGEST} in a sentence"


def exceptions() -> list[str]:
    """Texts that may stay as they are; their reasons are in the file."""
    if not _EXCEPTIONS:
        _EXCEPTIONS.append("\0")
        for line in EXCEPTIONS.read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                text, _, reason = line.partition(" | ")
                assert reason.strip(), f"{EXCEPTIONS.name}: no reason for {text!r}"
                _EXCEPTIONS.append(text)
    return _EXCEPTIONS


_EXCEPTIONS: list[str] = []


def remaining(text: str) -> dict[str, int]:
    """File -> findings that it may have, from lines of `path number`."""
    lines = [line.split() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return {path: int(number) for path, number in lines}


def shrunk(text: str, found: dict[str, int]) -> str:
    """`remaining.txt` with no number above what was found, and no line for a clean file."""
    lines = []
    for line in text.splitlines():
        path, _, number = line.partition(" ")
        if line.strip() and line[0] != "#":
            least = min(int(number), found.get(path, 0))
            lines += [f"{path} {least}"] if least else []
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def too_many(found: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """Files with more findings than they may have."""
    return sorted(file for file, count in found.items() if count > allowed.get(file, 0))


def report(all_passages: Iterable[Passage], part: str) -> list[tuple[Passage, str, str]]:
    """Each finding in the files whose path contains `part`."""
    return [
        (passage, name, advice)
        for passage in all_passages
        if part in passage.file
        for name, advice in findings(passage)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", metavar="PART", help="list findings in files whose path has PART")
    parser.add_argument("--shrink", action="store_true", help="lower the numbers in remaining.txt")
    parser.add_argument("--counts", action="store_true", help="count findings by pattern")
    options = parser.parse_args()
    every = report(passages(), options.list or "")
    found = Counter(passage.file for passage, _, _ in every)
    allowed = remaining(REMAINING.read_text("utf-8"))
    if options.counts:
        for name, count in Counter(name for _, name, _ in every).most_common():
            print(f"{count:6} {name}")
        return 0
    if options.shrink:
        REMAINING.write_text(shrunk(REMAINING.read_text("utf-8"), found), "utf-8")
        allowed = remaining(REMAINING.read_text("utf-8"))
    wrong = too_many(found, allowed)
    for passage, _, advice in every:
        if options.list is not None or passage.file in wrong:
            shown = passage.text if len(passage.text) < 400 else passage.text[:400] + " ..."
            print(f"{passage.file}:{passage.line}: {advice}\n    {shown}")
    for file in wrong if options.list is None else ():
        print(f"{file}: {found[file]} findings, {allowed.get(file, 0)} allowed")
    return 1 if wrong or (options.list is not None and every) else 0


if __name__ == "__main__":
    sys.exit(main())
