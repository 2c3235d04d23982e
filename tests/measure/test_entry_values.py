"""Values of names at a region's entries: compiled under the wrapper, run, and read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from measured_programs import Measured

from regionpredict.measure.recording import read_recording

pytestmark = pytest.mark.compiler

SIZES = """\
#include <stdlib.h>
struct sim { int n; short m[3]; struct sim *next; unsigned char few; };
int grid[3];
static double a[1000], b[1000];
int calls;
int cells(struct sim *s) { calls++; return s ? 9 : 3; }
void copy(struct sim *s, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 0; i < grid[0]; i++) a[i] = b[i];
    }
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < s->m[1]; i++) a[i] = b[i];
#pragma omp for
        for (int i = 0; i < s->few; i++)
            if (s->next)
                for (int k = 0; k < s->next->n; k++) a[i] += b[k];
    }
}
void hidden(double *y, long long size)
{
#pragma omp parallel for
    for (int i = 0; i < 2; i++) {
        int inner = rand() % 3;
        for (int k = 0; k < inner; k++) y[k] = size;
        for (long long k = 0; k < size; k++) y[i] += k;
    }
}
int main(void)
{
    struct sim s = {100, {1, -7, 2}, 0, 200};
    grid[0] = 50;
    copy(&s, 4);
    s.m[1] = 30;
    copy(&s, 2);
    hidden(a, -5000000000LL);
    hidden(a, 3);
    return 0;
}
"""


def _sizes(folder: Path) -> dict[tuple[int, str], tuple[int, ...]]:
    lines = (folder / "program.results").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    return {
        (one["line"], one["name"]): (one["entries"], one["first"], one["least"], one["most"])
        for one in entries
        if one["kind"] == "size"
    }


def test_each_name_has_its_values_at_every_entry(tmp_path: Path, measured: Measured) -> None:
    measured(SIZES)
    # entries, first, least and most, from the calls in main
    assert _sizes(tmp_path) == {
        (10, "grid[0]"): (6, 50, 50, 50),
        (10, "steps"): (6, 4, 2, 4),
        (15, "s->m[1]"): (2, -7, -7, 30),
        (17, "s->few"): (2, 200, 200, 200),  # s->next is a null pointer: nothing behind it
        (25, "size"): (2, -5000000000, -5000000000, 3),  # `inner` is not there at the entry
    }


DANGLING = """\
#include <sys/mman.h>
struct box { int n; int *list; };
double x[100];
void work(struct box *b, int go)
{
#pragma omp parallel for
    for (int i = 0; i < 10; i++)
        if (go)
            for (int k = 0; k < b->n; k++) x[i] += b->list[0] + b->list[1];
}
int main(void)
{
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct box *b = (struct box *)page;
    int list[2] = {5, 6};
    b->n = 3;
    b->list = list;
    work(b, 1);
    munmap(page, 4096);
    work(b, 0);
    work(0, 0);
    work((struct box *)3, 0);
    return 0;
}
"""


def test_memory_that_is_gone_is_not_read(tmp_path: Path, measured: Measured) -> None:
    regions = measured(DANGLING)  # fails where the program does
    assert regions[6]["executions"] == 4
    assert _sizes(tmp_path)[6, "b->n"] == (1, 3, 3, 3)


ACCESSORS = """\
#include <vector>
struct Domain {
    int count; std::vector<int> parts;
    int numElem() const;
    int &operator[](int i) { return parts[i]; }
};
int asked;
int Domain::numElem() const { asked++; return count; }
double x[100];
void work(Domain &domain, Domain *other)
{
#pragma omp parallel for
    for (int i = 0; i < domain.numElem(); i++) x[i] = 1;
#pragma omp parallel for
    for (int i = 0; i < other->count; i++) x[i] = 1;
}
int main()
{
    Domain d; d.count = 42;
    work(d, &d);
    return 0;
}
"""


def test_members_and_accessors_of_cpp(tmp_path: Path, measured: Measured) -> None:
    measured(ACCESSORS, name="code.cpp")
    values = {name: known[1] for (_, name), known in _sizes(tmp_path).items()}
    assert values == {"other->count": 42, "domain.numElem()": 42}


def test_a_written_file_is_a_recording(tmp_path: Path, measured: Measured) -> None:
    measured(SIZES, "-DCLASS_S", "-D", "N=3")
    recording = read_recording(tmp_path / "program.results")
    [grid] = [one for one in recording.regions if one.line == 10]
    assert (grid.executions, grid.least_trips, grid.most_trips) == (6, 50, 50)
    assert grid.sizes["steps"].most == 4
    assert grid.lines == 2
    assert grid.macros == {"-DCLASS_S", "-DN=3"}
