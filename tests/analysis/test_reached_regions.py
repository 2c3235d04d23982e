"""What a program does with the arguments that it will be given: which regions it comes to, how
often, held against programs that count."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import Analysis, analyse
from tests.analysis.test_possible_callees import TESTS, executions, frontends, program

PICKED = (
    TESTS,
    """const struct test *t = NULL;
  for (int i = 0; tests[i].name; i++) if (!strcmp(tests[i].name, argv[1])) t = &tests[i];
  if (t == NULL) return 1;
  int steps = atoi(argv[2]);
  for (int s = 0; s < steps; s++) t->run();""",
)
BY_NAME = (
    "",
    """int steps = atoi(argv[2]), every = steps / 4;
  for (int s = 0; s < steps; s++) {
    if (!strcmp(argv[1], "a")) a(); else b();
    if (s % every == 0) c();
  }""",
)


def with_arguments(path: Path, frontend: str, *words: str) -> Analysis:
    return analyse(requests_for([str(path)]), {}, frontend=frontend, arguments=words)


def counted(source: Path, *words: str) -> list[int]:
    built = source.with_suffix("")
    subprocess.run(["cc", "-w", str(source), "-o", str(built)], check=True, timeout=600)
    ran = subprocess.run([str(built), *words], check=True, timeout=600, capture_output=True)
    return [int(word) for word in ran.stdout.split()]


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("words", [("b", "12"), ("a", "400")])
@pytest.mark.parametrize("case", [PICKED, BY_NAME])
def test_runs_with_arguments_are_those_of_the_program(
    case: tuple[str, str], words: tuple[str, str], frontend: str, tmp_path: Path
) -> None:
    source = tmp_path / "case.c"
    source.write_text(program(*case))
    analysis = with_arguments(source, frontend, *words)
    runs = counted(source, *words)
    reached = {region.function for region in analysis.program.regions}
    assert reached == {name for name, often in zip("abc", runs, strict=True) if often}
    assert [each.value for each in executions(analysis)] == runs
    left = [name for name in "abc" if name not in reached]
    (said,) = [line for line in analysis.remarks if "not reached" in line] or [""]
    assert all(f"{name}() at case.c:" in said for name in left)


@frontends
@pytest.mark.parametrize(
    "body",
    ["qsort(x, 100, 8, (int (*)(const void *, const void *))a); b();", "goto out; a(); out: b();"],
)
def test_what_is_not_followed_may_be_reached(body: str, frontend: str, tmp_path: Path) -> None:
    source = tmp_path / "case.c"
    source.write_text(program("", body))
    analysis = with_arguments(source, frontend)
    assert {region.function for region in analysis.program.regions} == {"a", "b", "c"}


@frontends
def test_sizes_of_what_is_not_reached_are_not_asked_for(frontend: str, tmp_path: Path) -> None:
    source = tmp_path / "case.c"
    before = "static void sized(int n) {\n#pragma omp parallel for\n"
    before += "  for (int i = 0; i < n; i++) x[i] += 1;\n}\n"
    source.write_text(program(before, "if (argc > 2) sized(atoi(argv[2])); a();"))
    one = with_arguments(source, frontend, "1")
    assert [own.region.function for own in one.facts] == ["a"]
    two = with_arguments(source, frontend, "1", "77")
    assert {own.region.function: own.iterations.value for own in two.facts}["sized"] == 77
