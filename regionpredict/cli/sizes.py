"""`regionpredict sizes`: lists the unknown sizes that decide the hints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import format_option, write_result
from regionpredict.cli.progress import StageLine
from regionpredict.cli.sizes_ask import ask_sizes, check_terminal
from regionpredict.cli.source_options import (
    keep_answer,
    processes_of,
    run_analysis,
    source_options,
)
from regionpredict.errors import UsageError, one_line
from regionpredict.quoting import yaml_text
from regionpredict.report.page_width import PAGE_WIDTH, page_lines

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.predict import Prediction
    from regionpredict.sizes.deciding_shares import DecidingShare
    from regionpredict.sizes.ranking import SizeRanking

SCHEMA = "regionpredict/sizes/1"
_LEGEND = (
    "decides: loops whose hint depends on the size. known: loops with a known hint once this size "
    "and those above it are set."
)
_AS_SHARE = "25%"
_SHARES = (
    "the share of executions in which the condition at that line holds. Set it with --set. 50% is "
    "assumed. The hint changes if the share is close to 0 or 1."
)
_BELOW = 22  # columns by which a source position on its own line is indented


@click.command("sizes")
@source_options
@machine_option
@format_option("table json yaml", "yaml: a file to fill in for --sizes.")
@click.option(
    "--ask",
    is_flag=True,
    help=(
        "Request the sizes on the terminal, and write them to a file for --sizes.  [default "
        "file: sizes.yaml]"
    ),
)
def command(
    paths: tuple[str, ...], machine_name: str | None, stage: str | None, output: str | None,
    form: str, ask: bool, **options: Any,
) -> None:  # fmt: skip
    """List the unknown sizes in PATH that decide hints on MACHINE, the strongest first.

    Each name is tried from 2 to 100,000,000 (2, 10, 100, ...) with the others as assumed. It
    decides the hints that differ. Set the values with --set, or in a file with --sizes.
    """
    from regionpredict.pipeline import predict
    from regionpredict.report.size_hints import other_names
    from regionpredict.sizes.deciding_shares import deciding_shares
    from regionpredict.sizes.ranking import rank_sizes

    if stage is not None:
        raise UsageError("--dump is for analyze and predict", remedy="leave it out")
    if ask:
        output = check_terminal(output, form)
    machine, machine_file = machine_for(machine_name)
    analysis = run_analysis(paths, **options, flows=True, defaults=False)
    processes = processes_of(options["processes"])
    with StageLine() as line:
        result = predict(
            analysis, machine, "saturation", processes=processes, advised=False, tell=line
        )
    ranking = rank_sizes(result.predictions)
    shares = deciding_shares(result.predictions, result.pasts, machine, processes)
    if ask:
        _ask_on_terminal(result.predictions, ranking, shares, machine, str(output))
        return
    if form == "json":
        text = _as_json(ranking, shares, machine.name)
    elif form == "yaml":
        text = _as_yaml(ranking, shares)
        text += "".join(f"# {one_line(line)}\n" for line in other_names(result.predictions, text))
    else:
        text = _as_table(ranking, shares)
        text += "".join(f"{one_line(line)}\n" for line in other_names(result.predictions, text))
    write_result(text, output)
    keep_answer(output, machine_file)


def _ask_on_terminal(
    predictions: Sequence[Prediction], ranking: SizeRanking, shares: Sequence[DecidingShare],
    machine: Machine, output: str,
) -> None:  # fmt: skip
    from regionpredict.report.size_hints import needed_names
    from regionpredict.sizes.asked_sizes import asked_sizes

    click.echo(_summary_line(ranking, shares), err=True)
    shown = needed_names(ranking)
    names = [size.name for size in ranking.unbound if one_line(size.name) in shown]
    answers = ask_sizes(asked_sizes(predictions, ranking, names, machine), ranking)
    if answers:
        write_result(_as_yaml(ranking, shares, answers), output)


def _as_table(ranking: SizeRanking, shares: Sequence[DecidingShare]) -> str:
    lines = [_summary_line(ranking, shares)]
    deciding = [size for size in ranking.unbound if size.decides]
    if deciding or shares:
        lines += ["", "  decides    known  name"]
    for size in deciding:
        name = one_line(size.name)
        place = one_line(f"{size.file}:{size.line}")
        row = f"  {size.decides:>7}  {size.settled:>7}  {name}"
        if place == name:
            lines.append(row)
        elif len(row) + len(place) + 4 <= PAGE_WIDTH:
            lines.append(f"{row}  ({place})")
        else:
            lines += [row, " " * _BELOW + f"({place})"]
    lines += [f"  {share.decides:>7}        -  {one_line(share.name)}={_AS_SHARE}"
              for share in shares]  # fmt: skip
    if deciding or shares:
        lines += ["", *page_lines(_LEGEND, then="")]
    if shares:
        lines += ["", *page_lines(f"{_AS_SHARE}: {_SHARES}", then="")]
    without = [one_line(size.name) for size in ranking.unbound if not size.decides]
    if without:
        lines += ["", f"Sizes without effect on the hints: {', '.join(without)}"]
    return "\n".join(lines) + "\n"


def _summary_line(ranking: SizeRanking, shares: Sequence[DecidingShare]) -> str:
    """`Set these 4 sizes, and the hints of 34 of 39 loops no longer ...: n, m, ...`."""
    from regionpredict.report.size_hints import known_hints_sentence, needed_names, needed_sizes

    needed = needed_sizes(ranking)
    if not needed:
        return f"{known_hints_sentence(ranking)}: no size is needed"
    return f"{needed}: {', '.join(needed_names(ranking))}"


def _as_json(ranking: SizeRanking, shares: Sequence[DecidingShare], machine: str) -> str:
    document = {
        "schema": SCHEMA,
        "machine": machine,
        "regions": ranking.regions,
        "settled": ranking.settled,
        "in_part": ranking.in_part,
        "unbound": [size._asdict() for size in ranking.unbound],
        "shares": [share._asdict() for share in shares],
    }
    return json.dumps(document, indent=1) + "\n"


def _as_yaml(
    ranking: SizeRanking, shares: Sequence[DecidingShare],
    answers: Mapping[str, int] = MappingProxyType({}),
) -> str:  # fmt: skip
    lines = [f"# {_summary_line(ranking, shares)}"]
    for size in ranking.unbound:
        name = size.name if re.fullmatch(r"[A-Za-z_]\w*", size.name) else yaml_text(size.name)
        what = (
            f"decides {size.decides} of {ranking.regions} hints"
            if size.decides
            else "decides no hint"
        )
        value = f" {answers[size.name]}" if size.name in answers else ""
        lines.append(f"{name}:{value}  # {one_line(size.file)}:{size.line}, {what}")
    for share in shares:
        what = f"how often its condition holds, decides {share.decides} of {ranking.regions} hints"
        lines.append(f"{yaml_text(share.name)}:  # as {_AS_SHARE}: {what}")
    return "\n".join(lines) + "\n"
