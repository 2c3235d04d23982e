"""Sizes that functions without a body give: asked for by names that a user can give back."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of

_TEXT = """\
extern int ask(const char *what, int otherwise);
extern int rows(void *file);
void *malloc(unsigned long);
double *a;
static void clear(double *x, int length) {
#pragma omp parallel for
  for (int i = 0; i < length; i++) x[i] = 0.0;
}
int main(int argc, char **argv) {
  int n = ask("n", 10), m = ask("m", 20);
  a = malloc(n * sizeof(double));
  double *b = malloc(sizeof(double) * m);
  %s
  return 0;
}
"""
LOOP = "\n#pragma omp parallel for\nfor (int i = 0; i < %s; i++) a[i] = 1.0;\n"


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "line", "name"),
    [
        (LOOP % "n", 14, "n"),  # `ask(?, 10)` is no name
        ("clear(b, m);", 6, "m"),  # through a parameter
        (LOOP % "ask(\"q\", 3)", 14, 'ask("q", 3)'),  # by no variable: as it is written
        ("int k = rows(argv[1]);" + LOOP % "k", 14, "rows(argv[1])"),  # the same for all variables
    ],
    ids=["a variable", "handed over", "in the loop", "of what has a name"],
)  # fmt: skip
def test_the_name_that_is_asked_for_gives_the_size(
    tmp_path: Path, frontend: str, body: str, line: int, name: str
) -> None:
    text = _TEXT % body
    facts = {f.region.span.line: f for f in analysis_of(tmp_path, text, frontend).facts}[line]
    assert facts.bindings.unbound(facts.free_names) == [name]
    given = analysis_of(tmp_path, text, frontend, given={name: 1234}).facts
    (bound,) = [f for f in given if f.region.span.line == line]
    assert bound.iterations.value == 1234


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_two_calls_are_two_sizes(tmp_path: Path, frontend: str) -> None:
    """They differ in a text alone."""
    body = LOOP % 'ask("p", 1)' + LOOP % 'ask("q", 1)'
    facts = analysis_of(tmp_path, _TEXT % body, frontend, given={'ask("p", 1)': 7}).facts
    assert [f.iterations.value for f in facts if f.region.function == "main"] == [7, None]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_length_of_an_array_follows_from_the_variable(tmp_path: Path, frontend: str) -> None:
    body = "int *ix = malloc(4 * n);" + LOOP.replace("a[i] = 1.0", "b[ix[i]] += a[i]") % "n"
    facts = analysis_of(tmp_path, _TEXT % body, frontend, given={"m": 500, "n": 100}).facts
    (loop,) = [f for f in facts if f.region.function == "main"]
    assert [loop.bindings.values[name] for name in ("a[]", "b[]", "ix[]")] == [100, 500, 100]
