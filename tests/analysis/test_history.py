"""What happened to an array before a region runs, by small programs whose answer is plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.history.data_between import with_data_between
from regionpredict.analysis.history.first_writes import simulate_first_writes
from regionpredict.analysis.history.last_writes import History, histories_of_regions
from regionpredict.frontend import read, requests_for
from regionpredict.pipeline import analyse

HEAD = "#include <stdlib.h>\n"
MAIN = """
int main(void) {
  int n = 100000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  work(n, a, b);
  return 0;
}
"""

pytestmark = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])


def pasts(tmp_path: Path, frontend: str, text: str) -> dict[int, History]:
    """The history of every region, by its place among them."""
    path = tmp_path / "program.c"
    path.write_text(HEAD + text)
    program = read(requests_for([str(path)]), frontend, flows=True)
    return dict(enumerate(histories_of_regions(program, simulate_first_writes(program.flows))))


def test_new_memory_is_fresh_once(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[i];
}
""" + MAIN)  # fmt: skip
    assert found[0].fresh == {"a"}
    assert found[1].fresh == {"b"}
    assert found[2].fresh == frozenset()


def test_what_one_thread_has_written_is_not_fresh(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1.0;
}
""" + MAIN)  # fmt: skip
    assert found[0].fresh == frozenset()
    assert found[0].last["a"].parts is None


def test_the_last_writer_goes_by_memory_not_by_name(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void fill(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[n - 1 - i] = 1.0;
}
static void work(int n, double *a, double *b) {
  fill(n, a);
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
}
""" + MAIN)  # fmt: skip
    last = found[1].last["a"]
    assert last.parts is not None
    assert [(part.dimension, part.slope) for part in last.parts] == [(0, "-1")]
    assert "b" not in found[1].last


def test_a_loop_s_second_turn_counts(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i] = 1.0;
  for (int t = 0; t < 10; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[n - 1 - i] = b[i];
  }
}
""" + MAIN)  # fmt: skip
    # the first turn finds a as the initialisation dealt it out, every other as the third loop did
    last = found[1].last["a"]
    assert last.parts is not None
    assert {part.slope for part in last.parts} == {"-1"}


def test_nobody_has_written_since_the_last_run(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = 1.0;
  for (int t = 0; t < 10; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] += a[i];
  }
}
""" + MAIN)  # fmt: skip
    assert "a" not in found[0].last


def test_who_has_read_it_since(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[n - 1 - i];
}
""" + MAIN)  # fmt: skip
    assert found[1].last["a"].since == frozenset()
    assert {part.slope for part in found[2].last["a"].since} == {"-1"}


def test_fresh_in_every_call_or_not_at_all(tmp_path: Path, frontend: str) -> None:
    """`fill` writes new memory the first time, and the same memory the second time."""
    fill = """
static void fill(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] = 1.0;
}
"""
    for second, fresh in (("fill(n, b);", {"v"}), ("fill(n, a);", set())):
        body = "static void work(int n, double *a, double *b) { fill(n, a); " + second + " }"
        assert pasts(tmp_path, frontend, fill + body + MAIN)[0].fresh == fresh


def test_memory_that_nobody_calls_for_is_not_known(tmp_path: Path, frontend: str) -> None:
    """What a function's caller has done before is open: neither fresh nor written."""
    found = pasts(tmp_path, frontend, """
void work(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1.0;
}
""")  # fmt: skip
    assert found[0] == History()
    assert found[1].fresh == frozenset()
    assert found[1].last["a"].parts is not None


def test_who_has_touched_it_since_by_how_it_reads(tmp_path: Path, frontend: str) -> None:
    """One thread wrote a; two loops read it, forwards and backwards; b is not read by them."""
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[n - 1 - i];
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[2 * i];
}
""" + MAIN)  # fmt: skip
    assert found[0].last["a"].since == frozenset()
    slopes = [{part.slope for part in found[at].last["a"].since} for at in (1, 2)]
    assert slopes == [{"1"}, {"1", "-1"}]
    assert found[2].last["a"].parts is None
    last = found[2].last["b"]
    assert last.parts is not None
    assert last.since == frozenset()  # the loop before wrote it, and nobody came between


def test_a_new_write_takes_the_place_of_the_old(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < n; i++) a[2 * i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
  for (int i = 0; i < n; i++) a[i] = 3.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[i];
}
""" + MAIN)  # fmt: skip
    parts = found[2].last["a"].parts
    assert parts is not None
    assert [(part.slope, part.schedule.kind) for part in parts] == [("2", "dynamic")]
    assert found[3].last["a"].parts is None


def test_a_write_that_may_not_happen_hides_who_wrote_last(tmp_path: Path, frontend: str) -> None:
    """A branch on what is not known, around the loop of one thread."""
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1.0;
#pragma omp parallel
  for (int i = 0; i < n; i++) a[i] = 2.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i];
}
""" + MAIN)  # fmt: skip
    assert "a" not in found[1].last  # all threads wrote all of it: nobody knows who was the last


def test_an_array_that_lives_in_the_body_has_no_past(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = b[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double t[3];
    for (int q = 0; q < 3; q++) t[q] = b[i] * q;
    a[i] = t[0] + t[2];
  }
}
""" + MAIN)  # fmt: skip
    assert set(found[0].last) == {"a", "b"}
    assert not found[0].fresh & {"a", "b"}


def test_who_runs_again(tmp_path: Path, frontend: str) -> None:
    """The first loop runs once, the others 50 times; between two runs of the third one another
    array is touched, between those of the second none that it does not touch itself.
    """
    found = pasts(tmp_path, frontend, """
static void once(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] = 1.0;
}
static void both(int n, double *v, double *w) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] += w[i];
}
static void one(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] += 1.0;
}
static void work(int n, double *a, double *b) {
  once(n, a);
  for (int t = 0; t < 50; t++) { both(n, a, b); one(n, a); }
}
""" + MAIN)  # fmt: skip
    assert [found[k].repeats for k in range(3)] == [False, True, True]
    assert found[0].between == found[1].between == ()
    ((span, name),) = found[2].between
    assert (span.line, name) == (8, "w")


def test_what_ran_before_the_first_run_does_not_come_between_two(
    tmp_path: Path, frontend: str
) -> None:
    """`c` is touched before the loop over `t`, `d` in it: only that lies between two runs."""
    found = pasts(tmp_path, frontend, """
static void fill(int n, double *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) c[i] = 1.0;
}
static void turn(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] += 1.0;
}
static void other(int n, double *d) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) d[i] += 2.0;
}
static void work(int n, double *a, double *b) {
  double *c = malloc(n * sizeof(double));
  fill(n, c);
  for (int t = 0; t < 50; t++) { turn(n, a); other(n, b); }
  free(c);
}
""" + MAIN)  # fmt: skip
    assert [found[k].repeats for k in range(3)] == [False, True, True]
    ((span, name),) = found[1].between
    assert (span.line, name) == (12, "d")


def test_a_function_that_two_calls_hand_the_same_array(tmp_path: Path, frontend: str) -> None:
    text = """
static void add(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] += 1.0;
}
static void work(int n, double *a, double *b) { add(n, a); add(n, %s); }
"""
    assert pasts(tmp_path, frontend, text % "a" + MAIN)[0].repeats
    assert not pasts(tmp_path, frontend, text % "b" + MAIN)[0].repeats


ADD = """
static void add(int n, const double *v, double *w) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) w[i] += v[i];
}
static void work(int n, double *a, double *b) {
  double *c = malloc(8000), *d = malloc(8000);
  for (int t = 0; t < 50; t++) { %s }
}
"""


@pytest.mark.parametrize(
    ("calls", "bytes_between"),
    [
        ("add(n, a, b);", 0.0),
        ("add(n, a, b); add(n, c, d);", 16_000.0),  # the two of the other call
        ("add(n, a, b); add(n, b, a);", 0.0),  # the same two
        ("add(n, a, b); add(n, a, d);", 8_000.0),  # that of the other call
    ],
)
def test_what_calls_of_one_function_hand_it(
    tmp_path: Path, frontend: str, calls: str, bytes_between: float
) -> None:
    path = tmp_path / "program.c"
    path.write_text(HEAD + ADD % calls + MAIN)
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    program = analysis.program
    (own,) = with_data_between(
        histories_of_regions(program, simulate_first_writes(program.flows)), analysis.facts
    )
    assert own.repeats
    assert (own.bytes_between, own.untouched) == (bytes_between, frozenset())


def test_memory_that_is_another_each_time_is_not_in_a_cache(tmp_path: Path, frontend: str) -> None:
    """`w` is what a function gives that nobody has seen; `v` is the same each time."""
    calls = "add(n, a, next(b));"
    own = pasts(tmp_path, frontend, "double *next(double *);\n" + ADD % calls + MAIN)[0]
    assert (own.repeats, own.untouched) == (True, frozenset("w"))


def test_what_lies_between_a_write_and_the_only_run(tmp_path: Path, frontend: str) -> None:
    """`b` is filled, then `a` once more: its 8,000 bytes lie between, though nothing repeats."""
    path = tmp_path / "program.c"
    path.write_text(HEAD + """
static void work(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) b[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) b[i] += 1.0;
}
""" + MAIN)  # fmt: skip
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    program = analysis.program
    *_, own = with_data_between(
        histories_of_regions(program, simulate_first_writes(program.flows)), analysis.facts
    )
    assert (own.repeats, own.bytes_between) == (False, 8_000.0)


def test_an_array_of_the_body_is_no_new_memory(tmp_path: Path, frontend: str) -> None:
    found = pasts(tmp_path, frontend, """
static void work(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = b[i] = 1.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double t[3];
    for (int q = 0; q < 3; q++) t[q] = b[i] * q;
    a[i] = t[0] + t[2];
  }
}
""" + MAIN)  # fmt: skip
    assert found[0].fresh == frozenset()


def test_bytes_between(tmp_path: Path, frontend: str) -> None:
    """800,000 bytes of w, as the loop that touches it has them; an unknown size counts nothing."""
    path = tmp_path / "program.c"
    text = HEAD + """
static void both(int n, double *v, double *w) {
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) v[i] += w[i];
}
static void one(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) v[i] += 1.0;
}
static void work(int n, double *a, double *b) {
  for (int t = 0; t < 50; t++) { both(n, a, b); one(n, a); }
}
""" + MAIN  # fmt: skip
    for bound, expected in (("100000", 800_000.0), ("rand()", 0.0)):
        path.write_text(text.replace("i < 100000", f"i < {bound}"))
        analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
        program = analysis.program
        known = histories_of_regions(program, simulate_first_writes(program.flows))
        assert with_data_between(known, analysis.facts)[1].bytes_between == expected


def test_bytes_between_are_not_those_of_arrays_of_each_thread(
    tmp_path: Path, frontend: str
) -> None:
    """8,000 bytes of w; what a thread has for itself is counted for no cache that others share."""
    path = tmp_path / "program.c"
    path.write_text(HEAD + """
static void both(double *v, double *w) {
  double u[300];
#pragma omp parallel for private(u)
  for (int i = 0; i < 1000; i++) {
    double t[100];
    for (int k = 0; k < 100; k++) { t[k] = w[i]; u[k] = t[k]; }
    v[i] += t[5] + u[4];
  }
}
static void one(double *v) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) v[i] += 1.0;
}
static void work(int n, double *a, double *b) {
  for (int t = 0; t < 50; t++) { both(a, b); one(a); }
}
""" + MAIN)  # fmt: skip
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    program = analysis.program
    known = histories_of_regions(program, simulate_first_writes(program.flows))
    assert {name for _, name in known[1].between} == {"t", "u", "w"}
    assert with_data_between(known, analysis.facts)[1].bytes_between == 8_000.0


def test_bytes_between_of_open_sizes(tmp_path: Path, frontend: str) -> None:
    """8 (n - 2) of w and nothing else, as soon as n has a value."""
    path = tmp_path / "program.c"
    path.write_text(
        HEAD
        + """
static void both(int n, double *v, double *w) {
#pragma omp parallel for
  for (int i = 2; i < n; i++) v[i] += w[i];
}
static void one(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) v[i] += 1.0;
}
static void work(int n, double *a, double *b) {
  for (int t = 0; t < 50; t++) { both(n, a, b); one(n, a); }
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *a = malloc(n * 8), *b = malloc(n * 8);
  work(n, a, b);
  return a[3] > b[3];
}
"""
    )
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    program = analysis.program
    _, own = with_data_between(
        histories_of_regions(program, simulate_first_writes(program.flows)), analysis.facts
    )
    (part,) = own.open_between
    assert (own.bytes_between, part.function) == (0.0, "both")
    (name,) = part.bytes.names
    given = own.at({name: 1002})
    assert (given.bytes_between, given.open_between) == (8_000.0, ())
    assert own.at({"other": 3}) == own and given.at({name: 7}) == given
    assert own._replace(bytes_between=50.0).at({name: 1}).bytes_between == 50.0  # no loop at all


def test_bytes_between_of_rows_of_a_table(tmp_path: Path, frontend: str) -> None:
    """A thousand rows of 5 entries of 8 bytes each; x, whose elements no size tells, and the limits
    that the header of the loop reads count nothing."""
    path = tmp_path / "program.c"
    path.write_text(
        HEAD
        + """
static void both(double *v, double *w, double *x, int *row, int *col) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++)
    for (int k = row[i]; k < row[i + 1]; k++) v[i] += w[k] * x[col[k]];
}
static void one(double *v, int *col) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) v[i] += 1.0 * col[i];
}
static void work(double *a, double *b, double *c, int *row, int *col) {
  for (int t = 0; t < 50; t++) { both(a, b, c, row, col); one(a, col); }
}
int main(void) {
  double *a = malloc(8000), *b = malloc(800000), *c = malloc(8000);
  int *row = malloc(4004), *col = malloc(400000);
  work(a, b, c, row, col);
  return a[3] > b[3];
}
"""
    )
    analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
    program = analysis.program
    _, own = with_data_between(
        histories_of_regions(program, simulate_first_writes(program.flows)), analysis.facts
    )
    assert {name for part in own.open_between for name in part.bytes.names} == {"row[i+1]-row[i]"}
    given = own.at({"row[i+1]-row[i]": 5})
    assert (given.bytes_between, given.open_between) == (40_000.0, ())
