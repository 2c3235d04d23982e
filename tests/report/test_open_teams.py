"""The first lines of a program whose sizes are open: what they say holds for its teams."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regionpredict.cli.sizes import command as sizes_command
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import TRIED_SIZES
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.rendered import rendered
from regionpredict.report.size_hints import needed_sentence
from regionpredict.sizes.ranking import SizeRanking, UnboundSize

PLAN = re.compile(r"^code that no main reaches +(\d+) +(?:up to )?(\d+) ", re.MULTILINE)
STREAM = """\
void stream(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2.0 * b[i];
}
void rows(int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) a[i * m + j] += 1.0;
}
"""
KNOWN = """\
double fixed[50000000];
void known(void) {
#pragma omp parallel for
  for (int i = 0; i < 50000000; i++) fixed[i] = 0.0;
}
"""
SERIAL = """\
double sum;
void queue(int k, double *c) {
#pragma omp parallel for
  for (int i = 0; i < k; i++) {
#pragma omp critical
    sum += c[i];
  }
}
"""


def shown(
    folder: Path, *texts: str, given: dict[str, int] | None = None
) -> tuple[Predictions, list[str]]:
    """The predictions of files with these texts, and the first lines of their table."""
    for number, text in enumerate(texts):
        (folder / f"f{number}.c").write_text(text)
    machine = load("dunnington")
    result = predict(analyse(requests_for([str(folder)]), given or {}), machine, "saturation")
    program = ProgramResult(
        result.predictions, result.teams, result.plans, machine, "saturation", result.advice
    )
    table = rendered(program_document(program), "table")
    first = [line for line in table.splitlines() if line]
    assert all(len(line) <= 80 for line in first)
    return result, first


def test_without_any_given_size_the_first_lines_still_answer(tmp_path: Path) -> None:
    result, first = shown(tmp_path, STREAM, STREAM.replace("stream", "other"))
    (plan,) = result.plans
    assert {team.facts.id for team in result.teams} == {*plan.sizes}
    threads = result.recommended.together.threads
    assert PLAN.search("\n".join(first)).group(1, 2) == ("2", f"{threads}")
    told = first.index("All 4 parallel regions depend on unknown sizes")
    assert first[told + 1 : told + 4] == [
        "Set these 2 sizes, and the hints of 4 of 4 loops no longer depend on assumed",
        "  sizes (now 0): --set m=... --set n=...",
        "Packages by size for 4 of them: n (2), m (2)",
    ]


def test_the_rows_count_teams_by_size(tmp_path: Path) -> None:
    """Each cell is counted anew from what each team's hint says of that size."""
    result, first = shown(tmp_path, STREAM, KNOWN)
    turning = [team.by_size for team in result.teams if len(team.by_size) > 1]
    assert len(turning) == 2
    (head,) = (line for line in first if line.startswith("hint "))
    ends = [found.end() for found in re.finditer(r"\S+", head)]
    rows = {line[:10].strip(): line for line in first
            if re.match(r"(1 thread|\d packages?) ", line)}  # fmt: skip
    for column, size in enumerate(10**power for power in range(1, 9)):
        expected: dict[str, int] = {}
        for hints in turning:
            hint = next(one for one in hints if one.below is None or size < one.below)
            several = f"{hint.packages} package" + ("s" if hint.packages > 1 else "")
            label = several if hint.threads > 1 else "1 thread"
            expected[label] = expected.get(label, 0) + 1
        cells = {label: text[max(ends[column], 10) : ends[column + 1]].strip()
                 for label, text in rows.items()}  # fmt: skip
        assert {label: int(cell) for label, cell in cells.items() if cell} == expected


@pytest.mark.parametrize("given", [{}, {"n": 1000, "m": 1000}])
def test_all_teams_are_in_the_plan(tmp_path: Path, given: dict[str, int]) -> None:
    _, first = shown(tmp_path, STREAM, KNOWN, given=given)
    assert PLAN.search("\n".join(first))
    told = [line for line in first if "depend on unknown sizes" in line]
    assert told == ([] if given else ["2 of 3 parallel regions depend on unknown sizes"])


def test_what_stays_on_one_package_is_told_with_its_cause(tmp_path: Path) -> None:
    """A critical section around all that the loop does: no size makes it scale."""
    result, first = shown(tmp_path, STREAM, SERIAL)
    (queue,) = (team for team in result.teams if team.facts.function == "queue")
    assert (queue.packages, queue.bottleneck) == (1, "serialization")
    (plan,) = result.plans
    assert plan.threads == result.recommended.together.threads
    assert PLAN.search("\n".join(first))[2] == f"{plan.threads}"
    assert plan.sizes[queue.facts.id] == 1


def test_what_follows_from_the_command_line_is_asked_for_as_one() -> None:
    def needed(name: str) -> str:
        size = UnboundSize(name, "f.c", 3, decides=1, settled=1)
        return " ".join(needed_sentence(SizeRanking(1, 0, (size,))))

    assert needed("atoi(argv[1])") == (
        "Set this size, and the hints of 1 of 1 loop no longer depend on "
        "assumed sizes (now 0): --set 'atoi(argv[1])'=..., or "
        "--args '...'"
    )
    assert "--args" not in needed("cargo")


def test_names_that_settle_nothing_by_themselves_are_not_asked_for() -> None:
    """Each of two hints depends on six sizes of its own: no five settle any."""
    settled = (0,) * 5 + (1,) * 6 + (2,)
    sizes = [UnboundSize(f"n{at}", "f.c", 3, decides=1, settled=now)
             for at, now in enumerate(settled)]  # fmt: skip
    assert needed_sentence(SizeRanking(2, 0, tuple(sizes))) == [
        "2 of 2 loops depend on sizes that the program computes. Record a run with "
        "regionpredict measure, then use --sizes-from."
    ]
    assert needed_sentence(SizeRanking(2, 0, tuple(sizes[5:])))[0].startswith("Set these ")
    # After a recorded run, another one is no help: the sentence names what the run lacks.
    assert needed_sentence(SizeRanking(2, 0, tuple(sizes), recorded=True)) == [
        "2 of 2 loops depend on sizes that the recorded run does not have: n0, n1, n2, n3 and 8 "
        "more"
    ]


def test_what_differs_by_element_is_left_to_a_recorded_run() -> None:
    def shown(*names: str) -> str:
        sizes = [UnboundSize(name, "f.c", 3, decides=1, settled=at)
                 for at, name in enumerate(names, 1)]  # fmt: skip
        return " ".join(needed_sentence(SizeRanking(len(names), 0, tuple(sizes))))

    assert shown("row[i+1]-row[i]").startswith("1 of 1 loop depends on sizes that the program")
    assert shown("s->count[i]", "n").startswith("2 of 2 loops depend on sizes")
    assert shown("n", "s->count[i]") == (
        "Set this size, and the hints of 1 of 2 loops no longer depend on "
        "assumed sizes (now 0, 2 with 2 sizes): --set n=..."
    )
    assert (
        shown("grid[0]") == "Set this size, and the hints of 1 of 1 loop no longer depend on "
        "assumed sizes (now 0): --set 'grid[0]'=..."
    )


ROWS = """\
void rows(int *row, double *y, double *a) {
#pragma omp parallel for
  for (int i = 0; i < 20; i++)
    for (int k = row[i]; k < row[i + 1]; k++) y[i] += a[k];
}
"""


def test_where_no_single_size_tells_it_is_said_what_to_give(tmp_path: Path) -> None:
    """The name that the row names, which the line points to."""
    result, first = shown(tmp_path, ROWS, KNOWN)
    line = " ".join(" ".join(first).split())
    assert "1 parallel region depends on several sizes: see 'depends on' below its row" in line
    program = ProgramResult(
        result.predictions, result.teams, result.plans, load("dunnington"), "saturation"
    )
    table = " ".join(rendered(program_document(program), "table").split())
    assert "depends on row[i+1]-row[i]" in table


def test_the_help_says_which_sizes_are_tried() -> None:
    told = " ".join((sizes_command.help or "").split())
    least, most = TRIED_SIZES[0], TRIED_SIZES[-1]
    assert f"from {least} to {most:,} ({', '.join(map(str, TRIED_SIZES[:3]))}, ...)" in told
