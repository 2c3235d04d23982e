"""`regionpredict sizes`: what is needed, how much it settles, and the file to fill in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.sizes.ranking import greedy_order

SOURCE = """\
void vectors(int n, int shift, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i + shift];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = 2 * a[i];
}
void rows(int m, double *y, double *a, int *row) {
#pragma omp parallel for
  for (int i = 0; i < m; i++)
    for (int k = row[i]; k < row[i + 1]; k++) y[i] += a[k];
}
double fixed[100];
void known(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) fixed[i] = 0;
}
"""


def sizes(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "f.c").write_text(SOURCE)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "sizes", "f.c", "-m", "dunnington", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_names_are_ranked_by_the_hints_that_they_decide(tmp_path: Path) -> None:
    done = sizes(tmp_path, "--format", "json", "--set", "m=20")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["schema"], told["regions"], told["settled"]) == ("regionpredict/sizes/1", 4, 1)
    by_name = {one["name"]: one for one in told["unbound"]}
    # n bounds two of the loops, the length of its rows decides the third, whose twenty are worth a
    # team or not, and
    # how far b is read from its begin moves nothing.
    assert told["unbound"][0] == {
        "name": "n", "file": "f.c", "line": 3, "decides": 2, "settled": 3, "in_part": 0,
    }  # fmt: skip
    assert {name: one["decides"] for name, one in by_name.items()} == {
        "n": 2, "row[i+1]-row[i]": 1, "shift": 0,
    }  # fmt: skip
    assert by_name["row[i+1]-row[i]"]["line"] == 10
    assert max(one["settled"] for one in told["unbound"]) == 4


def test_the_table_says_what_to_give(tmp_path: Path) -> None:
    done = sizes(tmp_path, "--set", "m=20")
    assert done.stdout.startswith(
        "Set these 2 sizes, and the hints of 4 of 4 loops no longer depend on "
        "assumed sizes (now 1): n, row[i+1]-row[i]\n"
    )
    assert "Sizes without effect on the hints: shift" in done.stdout
    bound = sizes(tmp_path, "--set", "n=10", "--set", "m=10", "--set", "f.c:10=7")
    assert bound.stdout.startswith("Hints are known for 4 of 4 loops: no size is needed\n")


UNSEEN = """\
void unseen(double *p, int i);
void f(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp parallel for
  for (int i = 0; i < m; i++) { a[i] = 1; unseen(a, i); }
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) { a[i] = 1; unseen(a, i); }
}
"""


def test_what_is_not_understood_is_settled_in_part(tmp_path: Path) -> None:
    """n settles the first loop; m with it the second, of which unseen() is not known."""

    def told(*words: str) -> str:
        (tmp_path / "u.c").write_text(UNSEEN)
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", *words, "-m", "dunnington"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    needed = (
        "the hints of 3 of 3 loops, 2 of them partial, no longer depend on assumed sizes"
        " (now 1, 1 partial)"
    )
    assert told("sizes", "u.c").startswith(f"Set these 2 sizes, and {needed}: n, m\n")
    assert needed in " ".join(told("predict", "u.c").split())
    document = json.loads(told("sizes", "u.c", "--format", "json"))
    assert (document["settled"], document["in_part"]) == (1, 1)
    assert [(one["settled"], one["in_part"]) for one in document["unbound"]] == [(2, 1), (3, 2)]
    assert told("sizes", "u.c", "--set", "n=9", "--set", "m=9").startswith(
        "Hints are known for 3 of 3 loops, 2 of them partial: no size is needed\n"
    )
    # Where all is understood nothing is said of parts.
    assert "part" not in sizes(tmp_path).stdout


def test_the_file_that_is_filled_in_is_taken_back(tmp_path: Path) -> None:
    blank = sizes(tmp_path, "--format", "yaml").stdout
    (tmp_path / "blank.yaml").write_text(blank)
    assert sizes(tmp_path, "--sizes", "blank.yaml").stdout == sizes(tmp_path).stdout
    (tmp_path / "filled.yaml").write_text(re.sub(r":  #", ": 1000  #", blank))
    filled = sizes(tmp_path, "--sizes", "filled.yaml", "--format", "json")
    assert filled.returncode == 0, filled.stderr
    assert json.loads(filled.stdout)["unbound"] == []


@pytest.mark.parametrize(
    ("deciding", "order"),
    [
        ([], []),
        (["", "n"], ["n"]),
        (["n", "m", "m"], ["m", "n"]),
        # n settles one alone; then k is in two of the open ones, and each settles one.
        (["nk", "kl", "n"], ["n", "k", "l"]),
        # None settles a hint by itself: the one that is in most comes first.
        (["ab", "bc"], ["b", "a", "c"]),
    ],
)
def test_greedy_order_by_hand(deciding: list[str], order: list[str]) -> None:
    assert greedy_order([frozenset(names) for names in deciding]) == order


def test_a_wrong_call_is_one_line(tmp_path: Path) -> None:
    done = sizes(tmp_path, "--dump", "facts")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "regionpredict: --dump is for analyze and predict; leave it out\n"


LENGTHS = """\
#include <stdlib.h>
void gathered(int n, int m, const int *node, double *y) {
  int corners = 8 * n;
  double *x = malloc(corners * sizeof(double));
#pragma omp parallel for
  for (int i = 0; i < m; i++) y[i] += x[node[i]];
  free(x);
}
void unknown(int m, const int *node, double *y, double *z) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) y[i] += z[node[i]];
}
"""


def test_a_length_that_follows_from_a_size_is_not_asked_for(tmp_path: Path) -> None:
    """The size is, though the loop has it nowhere; a length that nothing tells is."""
    (tmp_path / "f.c").write_text(LENGTHS)
    command = [sys.executable, "-m", "regionpredict", "sizes", "f.c", "-m", "dunnington",
               "--format", "json"]  # fmt: skip

    def asked(*words: str) -> tuple[int, set[str]]:
        done = subprocess.run(
            [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        return told["settled"], {one["name"] for one in told["unbound"]}

    assert asked()[1] == {"n", "m", "z[]"}
    given = ("--set", "gathered:m=5000", "--set", "unknown:m=5000")
    assert asked(*given)[1] == {"n", "z[]"}
    assert asked(*given, "--set", "n=1000")[1] == {"z[]"}
    assert asked(*given, "--set", "n=1000", "--set", "z[]=8000") == (2, set())


SHARED_NAME = """\
void fixed(double *a) {
  int n = 1000000;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1;
}
void first(double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] *= 2;
}
void second(double *a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n + m; i++) a[i] *= 3;
}
"""


def answer(folder: Path, command: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", command, "f.c", "-m", "dunnington", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_name_that_has_a_value_elsewhere_is_asked_for_by_its_function(tmp_path: Path) -> None:
    """`n` of all functions would make another loop of that in fixed(); `m` is nobody else's."""
    (tmp_path / "f.c").write_text(SHARED_NAME)
    told = {size["name"] for size in json.loads(answer(tmp_path, "sizes", "--format", "json"))[
        "unbound"]}  # fmt: skip
    assert told == {"first:n", "second:n", "m"}
    before = json.loads(answer(tmp_path, "predict", "--format", "json"))
    assert {size["name"] for size in before["unbound"]} == told
    table = answer(tmp_path, "predict")
    page = answer(tmp_path, "predict", "--format", "html")
    for option in ("--set first:n=...", "--set second:n=..."):
        assert option in " ".join(table.split()) and option in page
    assert not re.search(r"--set n=", table + page)
    # Filled in, the file settles all and leaves the loop alone whose size is known.
    filled = re.sub(r":(  #.*)", r": 5000\1", answer(tmp_path, "sizes", "--format", "yaml"))
    (tmp_path / "sizes.yaml").write_text(filled)
    after = json.loads(answer(tmp_path, "predict", "--sizes", "sizes.yaml", "--format", "json"))
    assert [region["iterations"]["value"] for region in after["regions"]] == [10**6, 5000, 10**4]
    assert after["unbound"] == []


def test_a_name_that_is_open_in_all_functions_is_asked_for_once(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SHARED_NAME.replace("double *a) {\n  int n = 1000000;",
                                                      "double *a, int n) {"))  # fmt: skip
    told = json.loads(answer(tmp_path, "sizes", "--format", "json"))["unbound"]
    assert {size["name"] for size in told} == {"n", "m"}
