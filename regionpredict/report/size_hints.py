"""Describes hints that depend on unknown sizes, and lists the sizes to set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, islice, takewhile

from regionpredict.analysis.given_sizes import qualified_name
from regionpredict.errors import one_line
from regionpredict.predict import (
    Estimate,
    HintRange,
    Prediction,
    SizeHint,
    TeamEstimate,
    split_names,
)
from regionpredict.predict.estimate import CUT_TRAFFIC
from regionpredict.quoting import shell_word
from regionpredict.report.names import first_of, several
from regionpredict.report.quantities import plural
from regionpredict.sizes.ranking import SizeRanking, UnboundSize, differs_by_element

_MOST = 0.9
"""The listed names decide at least this share of the hints that names can decide."""
_OF_COMMAND_LINE = re.compile(r"\barg[cv]\b")
_EQUAL = 3  # maximum listed names of one size
_DECIDING = 4  # maximum listed deciding names
_PRIMED = 6  # maximum explained names with a prime
_NAMED = 5  # maximum names requested from the user at once
_NO_INPUT = re.compile(r"[(?]|\[\]$|:\d+$")
"""Array lengths and trip counts in names of results, which no user knows: `size(x)`, `f.c:7`."""


def size_sentence(hints: Sequence[SizeHint], *, whole: bool = False) -> str:
    """Describes a hint by size: `1 thread below n = 90, 1 package (2 to 20 threads) below 1,100, 2
    packages above`.

    Ranges with the same number of packages are merged, unless `whole`. Empty if the hint does not
    change.

    >>> size_sentence([SizeHint("n", 90, 1, 1), SizeHint("n", None, 2, 36)])
    '1 thread below n = 90, 2 packages (36 threads) above'
    """
    if len(hints) < 2:
        return ""
    parts: list[str] = []
    numbered = enumerate(hints)
    for _, group in groupby(
        numbered, lambda own: own[0] if whole else (own[1].packages, own[1].threads > 1)
    ):
        own = [hint for _, hint in group]
        name = "" if parts else size_name(own[0].name, whole=whole) + " = "
        below = own[-1].below
        what = _number_text(own)
        parts.append(f"{what} above" if below is None else f"{what} below {name}{below:,}")
    return ", ".join(parts)


def _number_text(hints: Sequence[SizeHint]) -> str:
    """Returns `1 package (2 to 20 threads)` for ranges with the same number of packages."""
    threads = sorted({hint.threads for hint in hints})
    if threads == [1]:
        return "1 thread"
    told = str(threads[0]) if len(threads) == 1 else f"{threads[0]} to {threads[-1]}"
    return f"{plural(hints[0].packages, 'package')} ({told} threads)"


def dependence_sentence(estimate: Estimate | TeamEstimate, *, whole: bool = False) -> str:
    """Describes how a hint depends on assumptions: by size if one size decides, else its range.
    Empty if the hint is known.

    >>> range_sentence(HintRange((1, 2), (1, 36)), ["n", "m"])
    '1 to 2 packages, 1 to 36 threads: depends on n, m'
    """
    if estimate.range is None:
        return ""
    told = size_sentence(estimate.by_size, whole=whole)
    own = set(estimate.by_size[0].names) if told else set()
    if not told:
        return range_sentence(estimate.range, estimate.deciding, whole=whole)
    others = [name for name in estimate.deciding if name not in own]
    return told + (f"; depends on {_name_list(others, whole)}, too" if others else "")


def range_sentence(range_: HintRange, deciding: Sequence[str], *, whole: bool = False) -> str:
    """Returns the range of a hint, and the sizes that it depends on."""
    packages, threads = (
        plural(most, noun) if least == most else f"{least} to {most} {noun}s"
        for (least, most), noun in zip(range_, ("package", "thread"), strict=True)
    )
    return f"{packages}, {threads}: depends on {_name_list(deciding, whole)}"


def size_name(names: str, *, whole: bool = False) -> str:
    """Joins the names of a size. Names that are varied together are joined by `=`. Long lists are
    shortened, unless `whole`.

    >>> size_name("n, m"), size_name("a, b, c, d"), size_name("a, b, c, d", whole=True)
    ('n = m', 'a = ... (4 names)', 'a = b = c = d')
    >>> size_name("length(p, 3, 8, 0)")
    'length(p, 3, 8, 0)'
    """
    apart = split_names(names)
    if whole or len(apart) <= _EQUAL:
        return " = ".join(apart)
    return f"{apart[0]} = ... ({len(apart)} names)"


def _name_list(names: Sequence[str], whole: bool) -> str:
    """Joins names to a list, shortened unless `whole`."""
    return several(names, len(names) if whole else _DECIDING)


def needed_sizes(ranking: SizeRanking) -> str:
    """Describes the sizes to set: `Set these 4 sizes, and the hints of 34 of 39 loops no longer
    depend on assumed sizes (now 12)`. Empty if all hints are known.
    """
    few = _requested_sizes(ranking)
    return _needed_text(few, ranking) if few else ""


def _needed_text(few: Sequence[UnboundSize], ranking: SizeRanking) -> str:
    which = "this size" if len(few) == 1 else f"these {len(few)} sizes"
    enough = _settling_most(ranking)
    now = f", {ranking.in_part} partial" if ranking.in_part else ""
    rest = f", {enough[-1].settled} with {len(enough)} sizes" if len(enough) > len(few) else ""
    hints = _known_text(few[-1], ranking.regions) + ("," if few[-1].in_part else "")
    return (
        f"Set {which}, and the hints of {hints} no longer depend on "
        f"assumed sizes (now {ranking.settled}{now}{rest})"
    )


def known_hints_sentence(ranking: SizeRanking) -> str:
    """Returns a sentence such as `Hints are known for 34 of 39 loops, 3 of them partial`."""
    return f"Hints are known for {_known_text(ranking, ranking.regions)}"


def _known_text(told: UnboundSize | SizeRanking, regions: int) -> str:
    """Counts the known hints, and partial loops, which sizes do not complete."""
    part = f", {told.in_part} of them partial" if told.in_part else ""
    return f"{told.settled} of {plural(regions, 'loop')}{part}"


def needed_names(ranking: SizeRanking) -> list[str]:
    """Returns the names to set, sorted by their effect."""
    return [one_line(size.name) for size in _requested_sizes(ranking)]


def cut_sentence(predictions: Sequence[Estimate]) -> list[str]:
    """Counts the loops with fewer sizes or less detailed traffic than usual."""
    less = sum(CUT_TRAFFIC in prediction.cut for prediction in predictions)
    fewer = sum(bool({*prediction.cut} - {CUT_TRAFFIC}) for prediction in predictions)
    lines = []
    if fewer:
        loops = plural(fewer, "loop")
        lines.append(f"Fewer sizes than usual were tried for {loops}: --effort full tries all.")
    if less:
        loops = plural(less, "loop")
        lines.append(f"Traffic is less detailed than usual for {loops}: --effort full counts all.")
    return lines


def needed_sentence(ranking: SizeRanking) -> list[str]:
    """Lists the sizes to set, with their options: `...: --set n=... --set m=...`.

    Empty if all hints are known. If a size is known only at run time, or there are too many, the
    sentence recommends a recorded run. After one, it names the sizes that the run lacks. Names in
    `main` follow from its arguments.
    """
    most = _settling_most(ranking)
    if not most:
        return []
    few = list(takewhile(lambda size: not differs_by_element(size.name), _requested_sizes(ranking)))
    if not few or few[-1].settled == ranking.settled:
        left = ranking.regions - ranking.settled
        verb = "depends" if left == 1 else "depend"
        which = f"{left} of {plural(ranking.regions, 'loop')} {verb} on sizes that"
        if ranking.recorded:
            names = several([one_line(size.name) for size in most], _DECIDING)
            return [f"{which} the recorded run does not have: {names}"]
        return [
            f"{which} the program computes. Record a run with regionpredict measure, then use "
            "--sizes-from."
        ]
    options = [f"--set {_shell_quoted(size.name)}=..." for size in few]
    if any(_OF_COMMAND_LINE.search(size.name) for size in few):
        options[-1] += ", or --args '...'"
    return [f"{_needed_text(few, ranking)}: {' '.join(options)}"]


def _shell_quoted(name: str) -> str:
    """Quotes a name for the shell.

    >>> print(_shell_quoted("n"), _shell_quoted("s->n"), _shell_quoted("n'"))
    n 's->n' "n'"
    """
    if name.isidentifier():
        return name
    plain = "'" in name and not set('"$`\\!') & set(name)
    return f'"{name}"' if plain else shell_word(name)


def _requested_sizes(ranking: SizeRanking) -> list[UnboundSize]:
    """Returns the names to request first, while they are inputs of the program."""
    asked = takewhile(lambda size: _is_input(size.name), _settling_most(ranking))
    return list(islice(asked, _NAMED))


def _is_input(name: str) -> bool:
    """Whether a user can know a size, because its name is an input of the program.

    >>> [_is_input(name) for name in ("n", "s->nx", "atoi(argv[1])", "size(x, 1)", "f.c:7", "a[]")]
    [True, True, True, False, False, False]
    """
    return bool(_OF_COMMAND_LINE.search(name)) or not _NO_INPUT.search(name)


def _settling_most(ranking: SizeRanking) -> list[UnboundSize]:
    """Returns the first names of the ranking that decide almost all hints that names can decide."""
    deciding = [size for size in ranking.unbound if size.decides]
    if not deciding:
        return []
    enough = _MOST * (deciding[-1].settled - ranking.settled)
    few = next(
        number
        for number, size in enumerate(deciding, 1)
        if size.settled - ranking.settled >= enough
    )
    return deciding[:few]


def other_names(predictions: Sequence[Prediction], text: str) -> list[str]:
    """Explains names with a prime in `text`, as in `x' is the x of scale (cg.c:35)`. One line per
    variable.
    """
    lines: dict[str, None] = {}
    for prediction in predictions:
        primed = [other for other in prediction.facts.region.others if other.name.endswith("'")]
        for other in primed:
            if re.search(rf"(?<![\w']){re.escape(other.name)}(?![\w'])", text):
                function = f" of {other.function}" if other.function else ""
                place = f"{other.span.file}:{other.span.line}"
                at_home = qualified_name(prediction.facts.region, other.name)
                asked = other.name in prediction.unbound and at_home
                given = f", given as {at_home}" if asked else ""
                lines[f"{other.name} is the {other.plain}{function} ({place}){given}"] = None
    return first_of(list(lines), _PRIMED, "more names")
