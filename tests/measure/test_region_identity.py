"""Which region is whose: several on one line, one in a file that is included often."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from measured_programs import Measured

from regionpredict.measure.hints_file import Place, match_hint, read_hints
from regionpredict.measure.regions import measured_constructs
from regionpredict.measure.results import read_results

TWO = """#define EACH(a, n) _Pragma("omp parallel for") for (int i = 0; i < n; i++) a[i] = i;
double x[100], y[50];
int main(void)
{
    EACH(x, 100) EACH(y, 50) EACH(y, 25)
    for (int t = 0; t < 3; t++) { EACH(x, 7) }
    return 0;
}
"""


def _line(line: int, ordinal: int, trips: int, pid: int = 1) -> str:
    times = {f"{name}_ns": 10 for name in ("total", "least", "most", "first")}
    team = {"least_team": 1, "most_team": 1, "flags": 1}
    counts = {"executions": 1, "counted": 1, "least_trips": trips, "most_trips": trips}
    place = {"file": "/a/f.c", "line": line, "loop_line": line, "ordinal": ordinal}
    named = {"kind": "region", "pid": pid, "function": "f", "directive": "omp for", "build": ""}
    return json.dumps({**named, **place, **times, **team, **counts, "trips": trips})


def test_a_macro_puts_several_on_one_line(tmp_path: Path, measured: Measured) -> None:
    measured(TWO, threads=2)
    text = (tmp_path / "program.results").read_text()
    regions = {(one.place[1:]): one.trips for one in read_results(text.splitlines()).regions}
    assert regions == {(5, 1): 100, (5, 2): 50, (5, 3): 25, (6, 1): 21}


def test_a_file_included_twice_is_one_region() -> None:
    body = '# 1 "b.h" 1\n#pragma omp for\nfor (i = 0; i < 9; i++) ;\n# 2 "f.c" 2\n'
    text = f'# 1 "f.c"\nvoid f(void) {{\n{body}{body}}}\n'
    found = [(one.file, one.line, one.ordinal) for one in measured_constructs(text, "/a")]
    assert found == [("/a/b.h", 1, 1), ("/a/b.h", 1, 1)]
    regions = read_results([_line(1, 1, 9), _line(1, 1, 4), _line(1, 2, 5)]).regions
    assert [(one.ordinal, one.trips) for one in regions] == [(1, 13), (2, 5)]


@pytest.mark.parametrize(
    ("place", "threads"),
    [
        (Place("/b/src/f.c", 5, 5, 1), 4),
        (Place("/b/src/f.c", 5, 5, 2), 2),
        (Place("/b/src/f.c", 5, 5, 3), 2),  # fewer hints than regions: the last
        (Place("/b/other/f.c", 5, 5, 2), 2),
        (Place("/b/src/f.c", 6, 6, 1), 1),
    ],
)
def test_hints_of_one_line_are_told_apart_by_their_order(
    tmp_path: Path, place: Place, threads: int
) -> None:
    regions = [
        {"id": f"src/f.c:{line}", "file": "src/f.c", "line": line, "function": "f",
         "status": "predicted", "packages": 1, "threads": most, "score": 0.5, "bottleneck": None,
         "confidence": 1.0, "borderline": False, "speedup": [], "assumed": []}
        for line, most in ((5, 4), (5, 2), (6, 1))
    ]  # fmt: skip
    machine = {"name": "m", "packages": 1, "cores_per_package": 4}
    document = {"schema": "regionpredict/hints/1", "machine": machine, "model": "density",
                "regions": regions}  # fmt: skip
    (tmp_path / "hints.json").write_text(json.dumps(document))
    hint = match_hint(read_hints(tmp_path / "hints.json").regions, place)
    assert hint is not None
    assert hint.threads == threads


RANGES = """#include <vector>
#include <map>
struct Box { std::vector<int> items; };
std::vector<int> &asked(std::vector<int> &v) { return v; }
template<class T> void twice(T &v)
{
#pragma omp parallel for
    for (auto &x : v) x *= 2;
}
int main()
{
    std::vector<int> v(30, 1); int fixed[7] = {}; Box box, *p = &box; box.items.resize(11);
#pragma omp parallel for
    for (auto &x : v) x++;
#pragma omp parallel for
    for (int &x : fixed) x++;
#pragma omp parallel for
    for (auto x : p->items) (void)x;
#pragma omp parallel for
    for (auto &x : asked(v)) x++;
    twice(v); twice(fixed); twice(box.items);
    return v[0] != 6;
}
"""


def test_ranges_of_cpp_are_counted_where_asking_is_safe(measured: Measured) -> None:
    regions = measured(RANGES, "-std=c++14", name="code.cpp")
    first = next(n for n, text in enumerate(RANGES.splitlines(), 1) if "int main" in text) + 2
    shown = {line: regions[line]["trips"] for line in (first + 1, first + 3, first + 5)}
    assert shown == {first + 1: 30, first + 3: 7, first + 5: 11}
    assert regions[first + 7]["counted"] == 0  # no call is made that the program does not make
    assert regions[7]["counted"] == regions[7]["executions"]  # by each of the template's instances
