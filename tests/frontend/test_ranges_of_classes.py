"""Loops over ranges of the program's own classes, and objects of the C++ library with a state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import predict

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

_GRAPH = """\
#include <cstddef>
class graph {
  class row {
    int n_; int **index_; size_t from_;
   public:
    row(int n, int **index, size_t from) : n_(n), index_(index), from_(from) {}
    typedef int *iterator;
    iterator begin() { return index_[n_] + from_; }
    iterator end() { return index_[n_ + 1]; }
  };
 public:
  row neighbours(int n, size_t from = 0) const { return row(n, index_, from); }
  long nodes_;
  int **index_;
};
void sums(const graph &g, float *total, const float *part) {
#pragma omp parallel for
  for (int u = 0; u < g.nodes_; u++) {
    float sum = 0;
LOOP
    total[u] = sum;
  }
}
"""
_RANGE = "for (int v : g.neighbours(u)) sum += part[v];"
_POINTERS = """\
    int *end = g.index_[u + 1];
    for (int *v = g.index_[u]; v != end; ++v) sum += part[*v];"""
_SPAN = """\
struct span { double *from, *to; double *begin() const { return from; }
              double *end() const { return to; } };
void half(long n, double *a) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    span s = {a + 10 * i, a + 10 * i + 10};
    for (double &x : s) x *= 0.5;
  }
}
"""
_RANDOM = """\
#include <random>
std::mt19937 shared;
void own(long n, double *out) {
#pragma omp parallel
  {
    std::mt19937 mine;
    std::normal_distribution<double> normal(0, 1);
#pragma omp for
    for (long b = 0; b < n; b++) {
      mine.seed(b);
      out[b] = normal(mine);
    }
  }
}
void one(long n, double *out) {
  std::uniform_int_distribution<int> uniform(0, 100);
#pragma omp parallel for
  for (long b = 0; b < n; b++) out[b] = uniform(shared);
}
"""
_VECTORS = """\
#include <vector>
void own(long n, double *a) {
#pragma omp parallel for
  for (long b = 0; b < n; b++) {
    std::vector<double> mine;
    mine.reserve(64);
    for (int k = 0; k < 64; k++) mine.push_back(a[64 * b + k]);
    for (int k = 0; k < 64; k++) a[64 * b + k] = mine[63 - k];
  }
}
void one(long n, double *a) {
  std::vector<double> all;
#pragma omp parallel for
  for (long b = 0; b < n; b++) all.push_back(a[b]);
}
"""


def _facts(folder: Path, source: str) -> tuple[RegionFacts, ...]:
    path = folder / "a.cpp"
    path.write_text(source)
    return analyse(requests_for([str(path)]), {}, frontend="libclang").facts


def _races(facts: RegionFacts) -> list[str]:
    return [note.message.split()[0] for note in facts.diagnostics if note.id == "RP222"]


def _accesses(facts: RegionFacts, array: str) -> set[tuple[str, str]]:
    return {
        (one.access.kind, one.pattern) for part in facts.statements for one in part.accesses
        if one.access.array == array
    }  # fmt: skip


def test_a_range_is_the_loop_from_its_begin_to_its_end(tmp_path: Path) -> None:
    (ranged,) = _facts(tmp_path, _GRAPH.replace("LOOP", _RANGE))
    (plain,) = _facts(tmp_path, _GRAPH.replace("LOOP", _POINTERS))
    assert ranged.status == plain.status == "complete"
    assert str(ranged.iterations.expr) == str(plain.iterations.expr) == "g.nodes_"
    for name in ("part", "total"):
        assert _accesses(ranged, name) and _accesses(ranged, name) == _accesses(plain, name)


def test_a_reference_to_the_element_is_written(tmp_path: Path) -> None:
    (facts,) = _facts(tmp_path, _SPAN)
    assert facts.status == "complete"
    assert _accesses(facts, "a") == {("read", "streaming"), ("write", "streaming")}


@pytest.mark.parametrize("source", [_RANDOM, _VECTORS], ids=["random", "vector"])
def test_objects_with_a_state_are_known_and_race_if_shared(tmp_path: Path, source: str) -> None:
    own, one = _facts(tmp_path, source)
    assert own.status == one.status == "complete"
    assert not _races(own)
    assert _races(one) == ["shared" if source is _RANDOM else "all"]


_EDGES = """\
struct edge { int from, to; };
struct list {
  edge *first_, *last_;
  edge *begin() const { return first_; }
  edge *end() const { return last_; }
};
void count(const list &l, int *degree) {
#pragma omp parallel for
  for (edge *e = l.begin(); e < l.end(); e++) degree[e->from] += 1;
}
void halves(double *first, double *last, double *a) {
#pragma omp parallel for
  for (int i = 0; i < 10; i++)
    for (double *p = last; p != first; --p) a[i] += p[-1];
}
"""


def test_two_pointers_have_one_length_between_them(tmp_path: Path) -> None:
    count, halves = _facts(tmp_path, _EDGES)
    assert count.status == halves.status == "complete"
    assert str(count.iterations.expr) == "-l.first_ + l.last_"
    (statement,) = halves.statements
    assert str(executions_in_loops(statement.loops).expr) == "10*(-first + last)"


_ROWS = """\
#include <algorithm>
#include <cstddef>
template <typename T> class graph {
  class row {
    T n_; T **index_; size_t start_;
   public:
    row(T n, T **index, size_t start) : n_(n), index_(index), start_(0) {
      size_t most = end() - begin();
      start_ = std::min(start, most);
    }
    T *begin() { return index_[n_] + start_; }
    T *end() { return index_[n_ + 1]; }
  };
  T **index_;
 public:
  row of(T n, size_t start = 0) const { return row(n, index_, start); }
};
void sums(const graph<int> &g, double *total, const double *part, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j : g.of(i)) sum += part[j];
    for (int j : g.of(n - i)) sum += part[j];
    total[i] = sum;
  }
}
"""


def test_what_a_constructor_sets_belongs_to_the_new_object(tmp_path: Path) -> None:
    """`start_` is set in each iteration, but each has its own row."""
    source = tmp_path / "rows.cpp"
    source.write_text(_ROWS)
    done = predict(source)
    assert done.returncode == 0, done.stderr
    (region,) = json.loads(done.stdout)["regions"]
    assert not {"RP222", "RP223"} & {note["id"] for note in region["diagnostics"]}
