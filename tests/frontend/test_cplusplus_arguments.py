"""`--args` in C++: constructors, methods, references and `new`, held to what the programs print."""

from __future__ import annotations

import shutil

import pytest
from followed_programs import Programs

pytestmark = pytest.mark.compiler

HEAD = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
static double x[10];
static void work(int n, int m)
{
    std::printf("%d %d\\n", n, m);
#pragma omp parallel for
    for (int i = 0; i < n + m; i++) x[i % 10] = 1;
}
"""
FIRST = "int main(int argc, char **argv) { int first = argc > 1 ? std::atoi(argv[1]) : 5;"
STYLES = {
    "constructor": "class grid { public: grid(int n, int m) : nx(n), ny{m} { cells = nx * ny; }"
    " int &width() { return nx; } int height() const { return ny; } int cells; private:"
    " int nx, ny; };" + FIRST + " grid g(first, 4); work(g.width(), g.cells); return 0; }",
    "one argument": "struct grid { int n, half; explicit grid(int given) { n = given;"
    " half = n / 2; } };" + FIRST + " grid g(first); grid h = g; work(h.n, h.half); return 0; }",
    "no argument": "struct grid { int n = 3, m; grid() : m(n + 1) {} };" + FIRST
    + " grid g; g.n += first; work(g.n, g.m); return 0; }",
    "new": "class grid { public: grid(int s); int nodes() const { return m_nodes; }"
    " int &elems() { return m_elems; } private: int m_nodes, m_elems; };"
    " grid::grid(int s) { int edge = s + 1; m_nodes = edge * edge; elems() = s * s; }"
    " static void run(grid &g) { work(g.nodes() % 9999, g.elems() % 9999); }" + FIRST
    + " grid *g = new grid(first % 1000); run(*g); delete g; return 0; }",
    "temporary": "struct size { int n, m; size(int a, int b) : n(a), m(b) {} };"
    " static size turned(const size &s) { return size(s.m, s.n); }" + FIRST
    + " size s = turned(size(2, first)); work(s.n, s.m); return 0; }",
    "base": "struct shape { int n; shape(int given) : n(given) {} };"
    " struct box : shape { int m; box(int a, int b) : shape(a), m(b) {} int wide()"
    " { return n + 1; } };" + FIRST + " box b(first, 6); work(b.wide(), b.m); return 0; }",
    "methods call": "class counter { public: counter(int at) : value(at) {} void add(int by)"
    " { value += by; } void twice(counter &other) { other.add(value); add(1); } int value; };"
    + FIRST + " counter a(first), b(2); a.twice(b); work(a.value, b.value); return 0; }",
    "references": "static void put(int &target, const int &value) { target = value; }" + FIRST
    + " int n = 1, m; int &alias = n; put(alias, first); put(m, 7); work(n, m); return 0; }",
    "options": "struct options { int n = 5, m = 3; void read(int argc, char **argv) {"
    ' for (int i = 1; i + 1 < argc; i += 2) { std::string word = argv[i]; if (word == "-s")'
    ' n = std::stoi(argv[i + 1]); else if (word == "-r") m = std::atoi(argv[i + 1]); } } };'
    " int main(int argc, char **argv) { for (int i = 1; i < argc; i++)"
    ' if (!std::isdigit(argv[i][0]) && std::strcmp(argv[i], "-s") && std::strcmp(argv[i], "-r"))'
    " return 1; options o; o.read(argc, argv); work(o.n, o.m); return 0; }",
    "array": "struct list { int *sizes; int count; list(int n) : count(n) { sizes = new int[n];"
    " for (int i = 0; i < n; i++) sizes[i] = i; } ~list() { delete[] sizes; } };"
    + FIRST + " list l(4); l.sizes[2] = first; work(l.sizes[2], l.count); return 0; }",
    "empty or not": "struct data { std::vector<int> v; int n; data(int s) : n(s)"
    " { v.resize(3); } bool none() { return v.empty(); } };" + FIRST
    + " data d(first); int m = 2; if (!d.none()) d.v[0] = 1; work(d.n, m); return 0; }",
    # What only the run itself knows has to stay unknown, and nothing else.
    "counted somewhere": "struct bins { int *of; bins(int n) { of = new int[n]();"
    " for (int i = 0; i < n; i++) of[i] = 0; } int &at(int i) { return of[i]; } };" + FIRST
    + " bins b(2); b.at(std::rand() % 2)++; work(first, b.at(0)); return 0; }",
    "either class": "struct shape { virtual int size() { return 3; } virtual ~shape() {} };"
    " struct wide : shape { int size() override { return 30; } };" + FIRST
    + " shape *s = std::rand() ? new wide : new shape; int m = s->size(); work(first, m); }",
}  # fmt: skip
HIDDEN = {"counted somewhere": "m", "either class": "nm"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The programs, each compiled when it is first asked for."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("programs")
    texts = {style: HEAD + text for style, text in STYLES.items()}
    return Programs(folder, texts, ("g++", "-w"), ".cpp")


QUICK = ("options", "either class")


@pytest.mark.parametrize(
    "style",
    [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in STYLES],
)
def test_what_is_said_is_what_the_program_prints(programs: Programs, style: str) -> None:
    programs.check(style, "libclang", hidden=HIDDEN.get(style, ""))
