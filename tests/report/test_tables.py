"""Tables fit 80 columns, name every region, and say what is assumed, partial and left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from regionpredict.frontend import requests_for
from regionpredict.ir import OtherName, Span
from regionpredict.machine import Machine, load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.report.document import Column, Document, Section, Table, Text, map_texts
from regionpredict.report.document_text import block_lines, document_text
from regionpredict.report.explanation import region_document
from regionpredict.report.fact_document import fact_document
from regionpredict.report.program_document import program_document
from regionpredict.report.program_result import ProgramResult
from regionpredict.report.quantities import show_bytes, show_count
from regionpredict.report.rendered import rendered

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("polybench_samples", "npb_samples", "tests/golden", "tests/report/awkward.c")
each_source = pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name.endswith("_samples") else [])
        for name in SOURCES
    ],
)


@cache
def result_of(source: str, machine: str = "dunnington") -> tuple[Predictions, Machine]:
    loaded = load(machine)
    return predict(analyse(requests_for([source]), {}), loaded), loaded


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a person calls it: paths are shown as they were given."""
    monkeypatch.chdir(ROOT)


def table_of(*parts: Any) -> str:
    return rendered(program_document(ProgramResult(*parts)), "table")


def lines_too_long(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80]


@each_source
def test_the_table_of_hints_fits_80_columns(source: str) -> None:
    result, machine = result_of(source)
    assert not lines_too_long(
        table_of(result.predictions, result.teams, result.plans, machine, "density")
    )


@each_source
def test_the_table_of_facts_fits_80_columns(source: str) -> None:
    result, _ = result_of(source)
    assert not lines_too_long(rendered(fact_document(result.analysis.facts), "table"))


@each_source
def test_the_table_names_every_region(source: str) -> None:
    result, machine = result_of(source)
    text = table_of(result.predictions, result.teams, result.plans, machine, "density")
    for prediction in result.predictions:
        region = prediction.facts.region
        assert f"\n{region.span.file}\n" in text
        assert any(
            line.split()[:1] == [str(region.span.line)]
            and region.function.startswith(line.split()[1].partition("…")[0])
            and region.function.endswith(line.split()[1].rpartition("…")[2])
            for line in text.splitlines()
        ), region.id
    assert f"{len(result.predictions)} loops: " in text


@pytest.mark.parametrize("model", ["density", "saturation"])
def test_a_team_of_several_loops_has_a_row(tmp_path: Path, model: str) -> None:
    source = tmp_path / "f.c"
    name = "a_function_with_a_name_longer_than_its_column"
    loop = "#pragma omp for\nfor (int i = 0; i < 1000000; i++) a[i] += 1;\n"
    source.write_text(f"double a[1000000];\nvoid {name}(void) {{\n#pragma omp parallel\n"
                      f"{{\n{loop}{loop}}}\n}}\n")  # fmt: skip
    machine = load("dunnington")
    result = predict(analyse(requests_for([str(source)]), {}), machine, model)
    text = table_of(result.predictions, result.teams, result.plans, machine, model)
    assert not [line for line in text.splitlines()[3:] if len(line) > 80]
    rows = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows[:3]] == ["3", "5", "7"]
    assert rows[0][2:4] == ["2", "loops"]
    (team,) = result.teams
    assert str(team.packages) in rows[0][4:]


def test_several_files_begin_with_the_whole_program(tmp_path: Path) -> None:
    # One loop of much arithmetic, run ten times, and one of 100 additions, run twice.
    (tmp_path / "heavy.c").write_text("""#include <math.h>
double a[1000000];
void heavy(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) a[i] = exp(sin(a[i]) / cos(a[i]));
}
""")
    (tmp_path / "main.c").write_text("""void heavy(void);
double b[100];
int main(void) {
  for (int t = 0; t < 10; t++) heavy();
  for (int t = 0; t < 2; t++) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) b[i] += 1;
  }
}
""")
    machine = load("skylake-gold-6148")
    result = predict(analyse(requests_for([str(tmp_path)]), {}), machine, "saturation")
    text = table_of(result.predictions, result.teams, result.plans, machine, "saturation")
    lines = text.splitlines()
    threads = result.recommended.together.threads
    assert lines[2].startswith("Plan of each program for ")
    assert lines[4].split()[:3] == ["main.c", "2", f"{threads}"]
    assert "Scaling by time on one thread: 100 % to 2 packages, under 1 % to 1 package" in lines
    assert "1 parallel region stops scaling at one package: overhead (1)" in lines
    assert [team.facts.executions.value for team in result.teams] == [10, 2]
    (plan,) = result.plans
    few = plan._replace(sizes={**plan.sizes, min(plan.sizes): 1})
    text = table_of(result.predictions, result.teams, [few], machine, "saturation")
    assert text.splitlines()[4].split()[:5] == ["main.c", "2", "up", "to", f"{threads}"]
    # Of one file nothing is said but its table.
    alone = predict(analyse(requests_for([str(tmp_path / "heavy.c")]), {}), machine, "saturation")
    text = table_of(alone.predictions, alone.teams, alone.plans, machine, "saturation")
    assert "Plan of each program" not in text


def test_what_is_not_known_is_said() -> None:
    result, machine = result_of("tests/report/awkward.c")
    text = table_of(result.predictions, result.teams, result.plans, machine, "density")
    assert "* assumed:" in text and "10 x largest cache" in text
    assert "? partial:" in text
    assert "skipped: " in text
    statuses = [p.status for p in result.predictions]
    assert f"{statuses.count('predicted')} predicted" in text
    assert f"{statuses.count('partial')} partial" in text
    assert f"{statuses.count('skipped')} skipped" in text


def test_explanations_tell_the_whole_derivation() -> None:
    result, machine = result_of("tests/golden")
    prediction = next(
        p for p in result.predictions if p.facts.region.span.file.endswith("listing_4_3.c")
    )
    text = document_text(region_document(prediction, machine))
    assert "i: 1000 iterations" in text and "k: 3000 iterations" in text
    assert "8 * (1000*3000 + 2000*3000 + 1000*2000)" not in text  # no arithmetic left undone
    assert "88000000" in text  # 8 (Ni Nk + Nj Nk + Ni Nj) bytes
    for word in ("matrixC[i][j]: hit", "matrixA[i][k]: hit", "matrixB[j][k]: streaming miss"):
        assert word in text
    assert "eq. 4.1" in text and "eq. 4.2" in text
    assert "25 %, 50 %, 75 %" in text
    assert prediction.score is not None and f"{prediction.score:.3f}" in text


def test_an_explanation_of_every_awkward_region() -> None:
    result, machine = result_of("tests/report/awkward.c")
    for prediction in result.predictions:
        text = document_text(region_document(prediction, machine))
        assert text.startswith(prediction.facts.region.id)
        for note in prediction.diagnostics:
            assert note.id in text


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (10 * 1024, "10 KiB"),
     (4 << 20, "4 MiB"), (384_000_000, "366 MiB"), (1 << 50, "1 PiB"), (None, "?")],
)  # fmt: skip
def test_sizes(size: int | None, shown: str) -> None:
    assert show_bytes(size) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (999_999, "999999"), (1_000_000, "1.0e6"), (4_000_000_000_000, "4.0e12"),
     (None, "?")],
)  # fmt: skip
def test_counts(count: int | None, shown: str) -> None:
    assert show_count(count) == shown


def test_a_column_on_the_next_line_takes_no_room_from_names() -> None:
    """The name has what the first line leaves: 80 columns, less the time, a space of two."""
    name, source = "main/" + "n" * 60 + "/last", "s" * 75
    columns = [Column("Call path", cut=True), Column("Time", str), Column("Source")]
    lines = block_lines(Table("", columns, [[name, "1.23456789012345 s", source]]))
    assert lines[-1].strip() == source
    shown = lines[-2].split()[0]
    assert len(shown) == 80 - len("1.23456789012345 s") - 2
    assert shown.startswith("main/") and shown.endswith("/last")


def test_names_of_other_functions_are_words_in_texts() -> None:
    """In the region, `n'` is the `n` of `scale`, and `c''` belongs to no function."""
    region = result_of("tests/golden")[0].predictions[0].facts.region
    others = (OtherName("n'", "scale", Span("a.c", 3)), OtherName("c''", "", Span("src/a.c", 1)))
    text = "row[n'] = 16, n'' = c''*n, 'n' is kept, and so is xn'"
    assert replace(region, others=others).in_words(text) == (
        "row[scale:n] = 16, n'' = a.c:c*n, 'n' is kept, and so is xn'"
    )


def test_a_document_with_other_texts() -> None:
    table = Table("n'", [Column("n'", str)], [[("n'", 1)], [2]], lambda at: [Text(f"n' {at}")])
    document = Document("n'", ["n'"], [Section("n'", lambda: [table, {"title": "n'"}])],
                        lambda: {"n'": 1})  # fmt: skip
    changed = map_texts(document, lambda text: text.replace("'", "x"))
    (shown, drawing) = changed.sections[0].at("text")
    assert isinstance(shown, Table)
    assert (changed.title, list(changed.lead), shown.title) == ("nx", ["nx"], "nx")
    assert [list(row) for row in shown.rows] == [[("nx", 1)], [2]]
    assert shown.details is not None
    assert list(shown.details(3)) == [Text("nx 3")]
    assert (drawing, changed.record()) == ({"title": "nx"}, {"n'": 1})
