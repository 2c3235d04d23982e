"""Writes hints as clauses for each directive.

// num_threads: of the plan, best for the whole program's time, as run takes it

gemm.c
  39: #pragma omp parallel for   num_threads(6) proc_bind(close)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest

from regionpredict.analysis import RACES, RegionFacts
from regionpredict.analysis.given_sizes import place_of, scope_of
from regionpredict.errors import plural
from regionpredict.ir import Clause, Diagnostic
from regionpredict.measure.planned_sizes import at_most, planned_threads
from regionpredict.predict import (
    Estimate,
    Plan,
    Prediction,
    Recommendation,
    SizeHint,
    TeamEstimate,
    TeamPrediction,
)
from regionpredict.report.page_width import PAGE_WIDTH, page_lines
from regionpredict.report.size_hints import dependence_sentence

_SLASHES = "// "
_SPLICE = " \\"
_CONTINUATION_INDENT = 4  # additional indentation, in columns
_PIECE = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s,])*,?\s*""")
"""Breaks after a blank or a comma, between two C tokens, where a line may be continued (C17,
5.1.1.2). Blanks in string literals are kept.
"""
_COMMENT = " " * 8 + _SLASHES


def openmp_clauses(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], plans: Sequence[Plan],
    binding: str = "close", hint: Recommendation | None = None,
) -> str:  # fmt: skip
    """Returns one line per directive, grouped by file, with its clauses or the reason why it has
    none.

    If threads make a region's result wrong, its clauses are a comment with the reason. Threads are
    those that `run` uses: from the plan, else from the parallel region, and at most the program's
    `hint`. `binding` is the thread placement of the predictions. Close fills one domain after the
    other.
    """
    sizes = planned_threads(teams, plans, hint)
    lines = _head_comments(teams, sizes, hint)
    most = None if hint is None else hint.threads
    teams = [
        replace(
            team, threads=sizes.get(team.facts.id, team.threads),
            by_size=_choices_within_limit(team.by_size, most),
        )
        for team in teams
    ]  # fmt: skip
    threads = {
        member.facts.region.id: team.threads for team in teams if team.facts.id in sizes
        for member in team.facts.members
    }  # fmt: skip
    predictions = [
        replace(
            prediction, threads=threads.get(prediction.facts.region.id, prediction.threads),
            by_size=_choices_within_limit(prediction.by_size, most),
        )
        for prediction in predictions
    ]  # fmt: skip
    rows = [
        (prediction.facts.region.span, *_loop_row(prediction, teams, binding),
         _assumption_text(prediction, [prediction.facts]))
        for prediction in predictions
    ]  # fmt: skip
    rows += [
        (team.facts.span, *_team_row(team, binding),
         _assumption_text(team, [member.facts for member in team.facts.members]))
        for team in teams if _is_without_loop(team)
    ]  # fmt: skip
    rows.sort(key=lambda row: row[0])
    for file, group in groupby(rows, key=lambda row: row[0].file):
        lines += ([""] if lines else []) + [file]
        for span, own, clauses, guess in group:
            lines += clause_lines(span.line, own, clauses)
            if guess and not clauses.startswith("//"):
                lines += page_lines(guess, first=_COMMENT, then=_COMMENT)
    return "\n".join(lines) + "\n" if lines else ""


def _head_comments(
    teams: Sequence[TeamPrediction], planned: Mapping[str, int], hint: Recommendation | None
) -> list[str]:
    """Explains the numbers of threads."""
    known = [team.facts.id for team in teams if team.threads is not None]
    alone = [name for name in known if name not in planned]
    if not planned:
        return ["// num_threads: best for each parallel region alone"] if known else []
    lines = ["// num_threads: from the plan, best for the whole program, as in run"]
    if hint is not None:
        lines.append(f"// no loop gets more than the program's {plural(hint.threads, 'thread')}")
    if alone:
        lines.append(
            f"// without a plan for {plural(len(alone), 'parallel region')}: best for it alone"
        )
    return lines


def _choices_within_limit(choices: tuple[SizeHint, ...], most: int | None) -> tuple[SizeHint, ...]:
    """Returns choices by size, limited to the program's number of threads."""
    return tuple(
        choice._replace(threads=at_most(choice.threads, most)) for choice in choices
    )  # fmt: skip


def _assumption_text(estimate: Estimate | TeamEstimate, loops: Sequence[RegionFacts]) -> str:
    """Describes the assumption of a clause with one number, if another size changes the number."""
    if estimate.range is None or _by_size(estimate, loops):
        return ""
    return f"at assumed large sizes; otherwise {dependence_sentence(estimate)}"


def _is_without_loop(team: TeamPrediction) -> bool:
    """Whether the directive is a `parallel` without a loop."""
    return team.facts.forks and all(
        member.facts.region.span != team.facts.span for member in team.facts.members
    )


def _team_row(team: TeamPrediction, binding: str) -> tuple[str, str]:
    clauses = team.facts.construct.clauses if team.facts.construct is not None else ()
    own = " ".join(["#pragma omp parallel", *_kept_clauses(clauses)])
    if team.facts.size_set_before:
        own = " ".join(["#pragma omp parallel", *map(str, clauses)])
        number = "the number of threads" if team.threads is None else plural(team.threads, "thread")
        return (
            own,
            f"// {number}: its loops use {team.facts.size_set_before}, change it there",
        )
    return own, _hint_clauses(team, binding, [member.facts for member in team.facts.members])


def _loop_row(
    prediction: Prediction, teams: Sequence[TeamPrediction], binding: str
) -> tuple[str, str]:
    region = prediction.facts.region
    own = " ".join(["#pragma omp", region.directive, *_kept_clauses(region.clauses)])
    if region.by_hand:
        own = "a loop shared by thread number"
    around = [
        str(team.facts.span.line)
        if team.facts.span.file == region.span.file
        else f"{team.facts.span.file}:{team.facts.span.line}"
        for team in teams if _is_without_loop(team)
        and any(member.facts.region.id == region.id for member in team.facts.members)
    ]  # fmt: skip
    if around:
        return own, f"// in the parallel region at line {', '.join(around)}"
    if prediction.threads is None or "parallel" in region.directive.split():
        return own, _hint_clauses(prediction, binding, [prediction.facts])
    if race_of([prediction.facts]) is not None:
        return own, _unless_wrong(f"num_threads({prediction.threads})", [prediction.facts])
    return own, (
        f"// {plural(prediction.threads, 'thread')}: write num_threads({prediction.threads}) "
        "at the parallel directive around it"
    )


def _hint_clauses(
    estimate: Estimate | TeamEstimate, binding: str, loops: Sequence[RegionFacts]
) -> str:
    """Returns the clauses. If one size decides, the clause chooses by its run-time value."""
    if estimate.threads is None:
        return "// no hint"
    number = _by_size(estimate, loops) or str(estimate.threads)
    return _unless_wrong(f"num_threads({number}) proc_bind({binding})", loops)


def _unless_wrong(clauses: str, loops: Sequence[RegionFacts]) -> str:
    """Returns the clauses, as a comment with the reason if they make the result wrong."""
    note = race_of(loops)
    if note is None:
        return clauses
    return f"// {clauses}: fix {note.id} in line {note.span.line} first: {note.message}"


def race_of(loops: Sequence[RegionFacts]) -> Diagnostic | None:
    """Returns the first note about a certain or possible data race in the loops."""
    notes = (note for facts in loops for note in facts.diagnostics if note.id in RACES)
    return next(notes, None)


def _by_size(estimate: Estimate | TeamEstimate, loops: Sequence[RegionFacts]) -> str:
    """Returns an expression such as `n < 90 ? 1 : n < 1100 ? 7 : 36`. Empty unless a single name
    decides and the loops contain it.
    """
    if len(estimate.by_size) < 2 or estimate.deciding != (estimate.by_size[0].name,):
        return ""
    (name,) = estimate.deciding
    if place_of(name) or scope_of(name) or name.endswith("[]"):
        return ""
    if not any(name in facts.free_names for facts in loops):
        return ""  # a size of another function, from which the loops' sizes are computed
    kept = [  # neighbors may differ in packages alone
        part for part, larger in zip_longest(estimate.by_size, estimate.by_size[1:])
        if larger is None or larger.threads != part.threads
    ]  # fmt: skip
    if len(kept) < 2:
        return ""
    parts = [str(part.threads) if part.below is None else f"{name} < {part.below} ? {part.threads}"
             for part in kept]  # fmt: skip
    return " : ".join(parts)


def _kept_clauses(clauses: Sequence[Clause]) -> list[str]:
    """Returns the existing clauses that the hint does not replace."""
    return [str(own) for own in clauses if own.name not in ("num_threads", "proc_bind")]


def clause_lines(number: int, directive: str, clauses: str) -> list[str]:
    """Returns the directive of line `number`, followed by clauses or a comment.

    >>> for line in clause_lines(7, "#pragma omp parallel for collapse(2) private(t, u, v)",
    ...                          "num_threads(n < 90 ? 1 : 36) proc_bind(close)"): print(line)
         7: #pragma omp parallel for collapse(2) private(t, u, v) \\
                num_threads(n < 90 ? 1 : 36) proc_bind(close)
    >>> told = "// num_threads(36) proc_bind(close): fix RP221 in line 9 first"
    >>> for line in clause_lines(7, "#pragma omp for", told): print(line)
         7: #pragma omp for
            // num_threads(36) proc_bind(close): fix RP221 in line 9 first
    """
    head = f"{number:>6}: "
    line = f"{head}{directive}   {clauses}"
    if len(line) <= PAGE_WIDTH:
        return [line]
    within, further = " " * len(head), " " * (len(head) + _CONTINUATION_INDENT)
    own = _with_continuation_lines(directive, head, further)
    if clauses.startswith(_SLASHES):
        begin = within + _SLASHES
        return [*own, *page_lines(clauses.removeprefix(_SLASHES), first=begin, then=begin)]
    return [*own[:-1], own[-1] + _SPLICE, *_with_continuation_lines(clauses, further, further)]


def _with_continuation_lines(text: str, first: str, then: str) -> list[str]:
    """Wraps a directive with continuation lines. Longer words are not broken."""
    lines, line = [], ""
    indent = first
    for piece in _PIECE.findall(text):
        if line and len(indent + line + piece.rstrip() + _SPLICE) > PAGE_WIDTH:
            lines.append(indent + line.rstrip() + _SPLICE)
            line, indent = "", then
        line += piece
    return [*lines, indent + line.rstrip()]
