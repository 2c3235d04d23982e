"""Describes the recommendation for a whole program, in words and in JSON.

Use 18 threads on 1 package: 3.8x faster than 1 thread.
Why: the fewest threads within 10 % of the shortest time. On 40 threads: 3.5x.
Confidence: 60 %. Speedup: 3.4x-3.9x with 80 % probability.
Serial parts: 41 % of the time at 18 threads, most of it in setup.c:40 (30 %).
Sizes: lulesh.cc without arguments (27000 iterations in lulesh.cc:1009).
Options: --format slurm for a job script, --args '...' for other sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.machine import Machine
from regionpredict.predict import Recommendation, Recommended, size_target
from regionpredict.predict.constants import MOST_OF_THE_TIME, PROGRAM_SLACK
from regionpredict.predict.teams import region_seconds
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import several
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.quantities import plural, show_count, show_times

_RULE = f"the fewest threads within {100 * PROGRAM_SLACK.value:.3g} % of the shortest time"
_NAMED = 3  # maximum number of loops that a sentence lists
_SHOWN = 0.005  # minimum share of the time that is mentioned: smaller shares are shown as 0 %
_NOTABLE = 0.015  # share of the time
_EXPLAINED = 0.1  # serial share of the time with named loops
_OTHER = "code that no main reaches"
_ASSUMED = ("large", "typical")
_MOST_DAYS = 100
_UNREAL = 30 * 86400.0  # seconds: no job runs longer
_SIZES_FROM = {
    "large": "assumed large, {}",
    "typical": "{} {}",
    "defaults": "{} {}",
    "run": "a recorded run",
    "given": "as given",
    "source": "from the source",
}
_SIZE_OPTIONS = {"typical": "--args '...'", "defaults": "--args '...'", "run": "--sizes-from",
          "source": "-D NAME=VALUE"}  # fmt: skip
"""The options that set other sizes, by the origin of the sizes. The default is --set."""


def recommendation_lines(hint: Recommendation, each: Sequence[Recommendation] = ()) -> list[str]:
    """Returns the recommendation, and the share of serial time and of loops with data races.

    `hint` is the recommendation for several programs together, and `each` are their separate
    recommendations.
    """
    what = f" for {len(each)} programs together" if len(each) > 1 else ""
    use = f"Use {plural(hint.threads, 'thread')} on {plural(hint.packages, 'package')}{what}"
    confidence = f"Confidence: {100 * hint.confidence:.0f} %"
    if hint.seconds is None:  # a model without times has no speedup
        lines = [f"{use}.", f"{confidence}."]
    else:
        why = [f"Why: {_RULE}.{_on_all_threads(hint)}"] if hint.threads > 1 else []
        sure = f"{confidence} that no other number is clearly faster."
        gain = f"{show_times(hint.speedup)}x faster than 1 thread"
        if hint.threads == 1:
            racing = hint.race_share > MOST_OF_THE_TIME.value
            gain = "fix the data races first" if racing else "more threads gain too little"
        lines = [f"{use}: {gain}.", *why, sure, *_interval_text(hint)]
        if hint.sizes_from in _ASSUMED and hint.seconds > _UNREAL:
            days = hint.seconds / 86400.0
            time = f"{days:,.0f} days" if days < _MOST_DAYS else f"more than {_MOST_DAYS} days"
            lines.append(f"At these sizes, a run would take {time}: set real sizes.")
    if len(each) > 1:
        lines.append(_by_program(each))
    if hint.threads_per_core > 1:
        lines.append(f"Each core runs {hint.threads_per_core} of the threads.")
    if hint.serial_share >= _NOTABLE:
        lines.append(
            f"Serial parts: {100 * hint.serial_share:.0f} % of the time at "
            f"{plural(hint.threads, 'thread')}{_longest_of(hint)}."
        )
    if hint.race_share >= _SHOWN:
        lines.append(
            f"Data races: in regions with {100 * hint.race_share:.0f} % of the time. Such regions "
            "count as on 1 thread until the race is fixed."
        )
    return lines + _excluded_text(hint)


def _by_program(each: Sequence[Recommendation]) -> str:
    """Returns the text `By program: train.c 37 threads, predict.c 11 and tools/main.c 1.`, longest
    first. Files with the same name have their folder.
    """
    files = Counter(PurePath(own.main).name for own in each)
    named: list[str] = []
    for own in each:
        path = PurePath(own.main)
        name = "/".join(path.parts[-2:]) if files[path.name] > 1 else path.name
        threads = own.threads if named else plural(own.threads, "thread")
        named.append(f"{name or _OTHER} {threads}")
    if len(named) > _NAMED + 1:  # a single other program is named
        named[_NAMED:] = [f"{len(named) - _NAMED} more"]
    return f"By program: {', '.join(named[:-1])} and {named[-1]}."


def _longest_of(hint: Recommendation) -> str:
    """Lists the fewest loops with half of the serial time, if they are few.

    The text is like `, most of it in setup.c:40 (30 %) and read.c:12 (8 %)`, or "" without such
    loops.
    """
    named: list[str] = []
    if hint.serial_share < _EXPLAINED:
        return ""
    left = hint.serial_share / 2
    for place, share in hint.serial_loops[:_NAMED] if len(hint.serial_loops) > 1 else ():
        named.append(f"{place} ({100 * share:.0f} %)")
        left -= share
        if left <= 0.0:
            return f", most of it in {' and '.join(named)}"
    return ""


def _on_all_threads(hint: Recommendation) -> str:
    """Describes the speedup on all threads, and why it is lower, if it is.

    ` On 40 threads: 7.6x, because 22 parallel regions are slower (overhead). They take 9 % of the
    time on 1 thread, and 61 % on 40.`
    """
    most, spent = hint.curve[-1]
    if hint.threads_per_core > 1 or most <= hint.threads or hint.seconds is None:
        return ""
    speedup = show_times(hint.speedup * hint.seconds / spent)
    if spent <= hint.seconds or not hint.slower:
        return f" On {most} threads: {speedup}x."
    one = len(hint.slower) == 1
    name, count = PurePath(hint.slower[0].id).name, len(hint.slower)
    which = f"{name} is" if one else f"{count} parallel regions are"
    causes: dict[str, float] = {}
    for region in hint.slower:
        causes[region.bottleneck or ""] = causes.get(region.bottleneck or "", 0.0) + region.share
    cause = max(causes, key=lambda name: causes[name])
    alone, share = (100 * sum(getattr(own, name) for own in hint.slower)
                    for name in ("alone", "share"))  # fmt: skip
    return (
        f" On {most} threads: {speedup}x, because {which} slower{f' ({cause})' if cause else ''}. "
        f"{'It takes' if one else 'They take'} {alone:.0f} % of the time on 1 thread, and "
        f"{share:.0f} % on {most}."
    )


def _interval_text(hint: Recommendation) -> list[str]:
    """Returns the text `Speedup: 3.4x-3.9x with 80 % probability.`"""
    if hint.low == hint.high or hint.threads == 1:
        return []
    at_sizes = " at assumed sizes" if hint.sizes_from in _ASSUMED else ""
    low, high = show_times(hint.low), show_times(hint.high)
    return [f"Speedup: {low}x-{high}x with 80 % probability{at_sizes}."]


def _excluded_text(hint: Recommendation) -> list[str]:
    """Lists what the recommendation excludes.

    `Excluded: 1 parallel region without a prediction (fib.c:7), 2 serial loops of unknown length
    (main.c:12, read.c:40), and serial calls of functions without source (solve).`
    """
    parts = []
    if hint.left_out:
        number = plural(len(hint.left_out), "parallel region")
        names = [PurePath(name).name for name in hint.left_out]
        parts.append(f"{number} without a prediction ({several(names, _NAMED)})")
    if hint.unknown_serial:
        number = plural(len(hint.unknown_serial), "serial loop")
        parts.append(f"{number} of unknown length ({several(hint.unknown_serial, _NAMED)})")
    if hint.unseen_serial:
        functions = several(hint.unseen_serial, _NAMED)
        parts.append(f"serial calls of functions without source ({functions})")
    if len(parts) > 1:
        parts[-1] = f"and {parts[-1]}"
    return [f"Excluded: {', '.join(parts)}."] if parts else []


def input_lines(result: ProgramResult) -> list[str]:
    """Returns the sizes to which the recommendation applies, and the options for a job script and
    other sizes.

    The sizes include the iterations of the most expensive loop. Empty without a recommendation.
    """
    hint = result.recommended.together
    if hint is None:
        return []
    option = _SIZE_OPTIONS.get(hint.sizes_from, "--set NAME=VALUE")
    return [
        sizes_sentence(hint, result.machine, result.arguments, _longest_loop(result)),
        f"Options: --format slurm for a job script, {option} for other sizes.",
    ]


def sizes_sentence(
    hint: Recommendation, machine: Machine, arguments: str = "", example: str = ""
) -> str:
    """Returns the origin of the sizes to which a recommendation applies, followed by an example of
    a size. `arguments` are those of the program.
    """
    large = hint.sizes_from == "large"
    source = size_target(machine).reason if large else PurePath(hint.main).name or "the programs"
    run = "with the given arguments" if arguments else "without arguments"
    return f"Sizes: {_SIZES_FROM[hint.sizes_from].format(source, run)}{example}."


def _longest_loop(result: ProgramResult) -> str:
    """Describes the longest loop as ` (27000 iterations in lulesh.cc:1009)`, if known."""
    times = region_seconds(result.predictions, result.teams)
    timed = [own for own in result.predictions if times.get(own.facts.region.id)]
    if not timed:
        return ""
    loop = max(timed, key=lambda own: times[own.facts.region.id])
    count = loop.facts.iterations.value
    span = loop.facts.region.span
    if not isinstance(count, int):
        return ""
    return f" ({show_count(count)} iterations in {span.short})"


def program_documents(recommended: Recommended) -> dict[str, Any]:
    """Returns the JSON entries `program`, for all programs together, and `programs`."""
    together = recommended.together
    return {
        "program": None if together is None else _json_record(together),
        "programs": [_json_record(own) for own in recommended.each],
    }


def _json_record(hint: Recommendation) -> dict[str, Any]:
    shares = ("speedup", "low", "high", "serial_share", "race_share", "confidence")
    return {
        **fields_of(hint, "main packages threads threads_per_core seconds sizes_from assumed rule"),
        **{name: round(getattr(hint, name), 4) for name in shares}, "ranks": 1, "by_size": [],
    }  # fmt: skip
