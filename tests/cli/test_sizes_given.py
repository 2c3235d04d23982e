"""Sizes given by the names in which results show them, on the command line and in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import Outcome, call

SOURCE = """\
struct sim { int n; int m[3]; };
int grid[3];
extern int cells(struct sim *s);
void copy(struct sim *s, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < grid[0]; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < 2 * s->n; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < s->m[1]; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < cells(s); i++) a[i] = b[i];
}
void sparse(int n, double *y, double *a, int *row) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      y[i] += a[k];
}
void other(int n, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = 1;
}
"""
METHODS = """\
struct Domain { int numElem() const; };
void f(Domain &domain, Domain *d, double *a) {
#pragma omp parallel for
  for (int i = 0; i < domain.numElem(); i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < d->numElem(); i++) a[i] = 1;
}
"""


class Shell:
    """Calls commands on one file."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.call = lambda *words: call(monkeypatch, capsys, *words)
        self.write("f.c", SOURCE)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def analyze(self, *words: str, file: str = "f.c") -> Outcome:
        return self.call("analyze", str(self.folder / file), "--format", "json", *words)

    def counts(self, *words: str, file: str = "f.c") -> dict[int, tuple[int | None, int | None]]:
        """Iterations and bytes by the line of the directive."""
        outcome = self.analyze(*words, file=file)
        assert outcome.code == 0, outcome.err
        return {
            region["line"]: (region["iterations"]["value"], region["working_set"]["bytes"])
            for region in json.loads(outcome.out)["regions"]
        }


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("given", "line", "iterations", "size"),
    [
        ("grid[0]=64", 5, 64, 64 * 16),
        ("s->n=30", 7, 60, 60 * 16),
        ("s->m[1]=7", 9, 7, 7 * 16),
        ("cells(s)=1000", 11, 1000, 16000),
        ("other:n=50", 21, 50, 400),
    ],
)
def test_a_size_is_given_in_the_words_of_the_result(
    shell: Shell, given: str, line: int, iterations: int, size: int
) -> None:
    before, counts = shell.counts(), shell.counts("--set", given)
    assert before.pop(line)[0] is None
    assert counts.pop(line) == (iterations, size)
    assert counts == before  # and nothing else has changed


def test_results_of_methods_are_sizes(shell: Shell) -> None:
    shell.write("m.cpp", METHODS)
    counts = shell.counts(
        "--set", "domain.numElem()=1000", "--set", "d->numElem()=50", file="m.cpp"
    )
    assert counts == {3: (1000, 8000), 5: (50, 400)}


def test_one_name_of_one_function_goes_before_the_same_of_all(shell: Shell) -> None:
    counts = shell.counts("--set", "n=10", "--set", "sparse:n=20")
    assert (counts[15][0], counts[21][0]) == (20, 10)


def test_iterations_of_a_loop_that_is_not_counted(shell: Shell) -> None:
    counts = shell.counts("--set", "n=1000", "--set", "f.c:17=27")
    # y is 1000 doubles, each of 1000 rows has 27 of a; row is read in the bounds, which no
    # statement of the nest holds.
    assert counts[15] == (1000, 8 * 1000 + 8 * 27 * 1000)


def test_no_assumption_is_left_where_all_is_given(shell: Shell) -> None:
    words = ("predict", str(shell.folder / "f.c"), "-m", "dunnington", "--format", "json")
    given = ("--set", "n=100000", "--set", f"{shell.folder}/f.c:17=27")
    by_line = {one["line"]: one for one in json.loads(shell.call(*words).out)["regions"]}
    told = [line for line in by_line[15]["assumed"] if "no value given" in line]
    assert any(line.startswith("row[i+1]-row[i] = 16 (") for line in told)
    settled = {one["line"]: one for one in json.loads(shell.call(*words, *given).out)["regions"]}
    assert not [line for line in settled[15]["assumed"] if "no value given" in line]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("grid[1]=3", "--set grid[1]: no region depends on it; did you mean 'grid[0]'?"),
        ("f.c:18=3", "--set f.c:18: no loop of a region at this line; the nearest are at: 17, 16,"),
        ("g.c:18=3", "--set g.c:18: no loop of a region in a file 'g.c'; write FILE:LINE as"),
        ("spars:n=3", "no region in a function 'spars'; did you mean 'sparse'?"),
        ("other:grid[0]=3", "no region of 'other' depends on it; they depend on: n"),
        ("=3", "--set =3: not NAME=INTEGER; write --set n=4000"),
        ("n=0x", "--set n=0x: not NAME=INTEGER; write --set n=4000"),
        ("n=1e-1", "--set n=1e-1: not NAME=INTEGER; write --set n=4000"),
        ("n=1e999999999", "--set n=1e999999999: not NAME=INTEGER; write --set n=4000"),
        ("n=1e19", "--set n=1e19: does not fit 64 bits; no C integer holds such a value"),
    ],
)
def test_a_wrong_name_is_one_line(shell: Shell, given: str, said: str) -> None:
    outcome = shell.analyze("--set", given)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_size_may_be_a_power_of_ten(shell: Shell) -> None:
    file = shell.write("sizes.yaml", "n: 1.5e3\n")
    plain = shell.analyze("--set", "n=1500").out
    assert shell.analyze("--set", "n=1.5e3").out == plain
    assert shell.analyze("--sizes", file).out == plain


def test_two_values_for_one_name_are_refused(shell: Shell) -> None:
    outcome = shell.analyze("--set", "n=3", "--set", "n=4")
    assert (outcome.code, outcome.err) == (
        2, "regionpredict: --set n: two values, 3 and 4; give it once\n",
    )  # fmt: skip


def test_sizes_come_from_a_file_of_several_sets(shell: Shell) -> None:
    file = shell.write(
        "sizes.yaml",
        "small:\n  other:n: 10\n  grid[0]: 0x40\nlarge:\n  other:n: 1000\n  cells(s):\n",
    )
    assert shell.counts("--sizes", f"{file}:small")[21] == (10, 80)
    assert shell.counts("--sizes", f"{file}:small")[5][0] == 64
    large = shell.counts("--sizes", f"{file}:large")
    assert (large[21][0], large[5][0], large[11][0]) == (1000, None, None)
    assert shell.counts("--sizes", f"{file}:large", "--set", "other:n=7")[21][0] == 7


def test_a_file_may_be_one_set_without_a_name(shell: Shell) -> None:
    file = shell.write("sizes.yaml", "grid[0]: 64\nf.c:17: 5\n")
    assert shell.counts("--sizes", file)[5][0] == 64


@pytest.mark.parametrize(
    ("text", "chosen", "said"),
    [
        ("a:\n  n: 1\nb:\n  n: 2\n", "", ": several sets of sizes; choose one with sizes.yaml:NAM"),
        ("a:\n  n: 1\nb:\n  n: 2\n", ":c", ": no set 'c'; the sets are: a, b"),
        ("n: 1\n", ":c", ": no set 'c': the file is one set without a name; leave the name out"),
        ("a:\n  n: 1\na:\n  n: 2\n", ":a", ":1: a size outside of the sets, or a set twice; write"),
        ("? [a]\n: {n: 1}\n", "", ":1: the name of a set is not text; write lines NAME: INTEGER"),
        ("a:\n  n: 1\nm: 2\n", ":a", ":3: a size outside of the sets, or a set twice; write it"),
        ("n: 1\ngird[0]: 2\n", "", ":2: gird[0]: no region depends on it; did you mean 'grid[0]'?"),
        ("n: 1\nm: 1.5\n", "", ":2: 'm' is not an integer; write lines NAME: INTEGER"),
        ("n: 1\nn: 2\n", "", ":2: 'n' has two values; the other is at line 1"),
        ("n: [1]\n", "", ":1: not NAME: INTEGER; write lines"),
        ("n: 9223372036854775808\n", "", ":1: 'n' does not fit 64 bits; no C integer"),
        ("", "", ": no sizes in it; write lines NAME: INTEGER"),
        ("n: {\n", "", "not YAML"),
    ],
)
def test_a_wrong_file_of_sizes_is_one_line(shell: Shell, text: str, chosen: str, said: str) -> None:
    file = shell.write("sizes.yaml", text)
    outcome = shell.analyze("--sizes", file + chosen)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"{file}" in outcome.err
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_kept_answer_is_not_given_for_another_file_of_sizes(shell: Shell) -> None:
    file = shell.write("sizes.yaml", "grid[0]: 64\n")
    assert shell.counts("--sizes", file)[5][0] == 64
    shell.write("sizes.yaml", "grid[0]: 65\n")
    assert shell.counts("--sizes", file)[5][0] == 65
