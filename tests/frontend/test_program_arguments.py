"""`--args`: what real programs make of their arguments, and what following them says.

Every program prints the sizes of its loop just in front of it. Whatever is said of a size has to be
what it prints; for the styles listed as followed it has to be said.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from followed_programs import Programs, said_of
from further_cases import further_slow

pytestmark = pytest.mark.compiler

HEAD = """\
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static double x[10];
static void work(int n, int m)
{
    printf("%d %d\\n", n, m);
#pragma omp parallel for
    for (int i = 0; i < n + m; i++) x[i % 10] = 1;
}
"""
OPTIONS = """\
static struct option table[] = {
    {"size", required_argument, NULL, 's'}, {"rows", required_argument, 0, 'r'},
    {"fast", no_argument, &fast, 7}, {"verbose", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
"""
# What reads the arguments, and which of them the program understands as numbers.
STYLES = {
    "positions": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5;"
    " int m = 3; if (argc > 2) m = (int)atol(argv[2]); work(n, m); return 0; }",
    "strtol": "int main(int argc, char *argv[]) { char *end; int n = 5, m = 3;"
    " if (argc >= 2) { n = strtol(argv[1], &end, 0); if (*end != 0) m = 40; }"
    " if (argc >= 3) m += strtoul(argv[2], NULL, 10); work(n, m); return 0; }",
    "reals": "int main(int argc, char **argv) { double f = argc > 1 ? strtod(argv[1], 0) : 1.5;"
    " int n = f * 10; int m = argc > 2 ? (int)(atof(argv[2]) / 2) : 1; work(n, m); return 0; }",
    "pointers to functions": "struct kind { int (*rows)(int); int (*twice)(int); };"
    " static int plain(int k) { return k; } static int doubled(int k) { return 2 * k; }"
    " int main(int argc, char **argv) { struct kind kind = {.rows = plain};"
    " int (*first)(int) = &doubled; int n = 5, m = 3; kind.twice = first;"
    " if (argc > 1) n = kind.twice(atoi(argv[1])); if (argc > 2) { kind.rows = doubled;"
    " m = (*kind.rows)(atoi(argv[2])); } work(n, m); return 0; }",
    "steps in time": "static int m = 1; static void step(void) { m = 7; }"
    " int main(int argc, char **argv) { int n = 5, s; for (s = 0; s < 150; s++) step();"
    " if (argc > 1) n = atoi(argv[1]) + s; work(n, m); return 0; }",
    "a step that matters": "int main(int argc, char **argv) { int n = 5, m = 3;"
    " for (int s = 0; s < 150; s++) if (s == 100) m = argc; if (argc > 1) n = atoi(argv[1]);"
    " work(n, m); return 0; }",
    "a table first used in a long loop": "static int a(int k) { return k + 1; }"
    " static int b(int k) { return 2 * k; } struct step { const char *name; int (*made)(int); };"
    ' static const struct step steps[] = {{"a", a}, {"b", b}}; static int rows = 4, grid[1000];'
    " int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5, m = 0;"
    " for (int t = 0; t < 100000; t++) { for (int k = 0; k < 2; k++) grid[k] = steps[k].made(t);"
    " if (t % 10 == 0) grid[0] = rows; } m = steps[1].made(rows); work(n, m); return 0; }",
    "a step seen through a pointer": "int main(int argc, char **argv) { int n = 5, m = 3, s;"
    " int *p = &s; for (s = 0; s < 150; s++) m = *p > 100 ? 9 : m;"
    " if (argc > 1) n = atoi(argv[1]); work(n, m); return 0; }",
    "options that go on": "int main(int argc, char **argv) { int n = 5, m = 3;"
    ' for (int s = 0; s < 9; s++) { int c = getopt(argc, argv, "s:r:v");'
    " if (c == 's') n = atoi(optarg); if (c == 'r') m = atoi(optarg); }"
    " work(n, m); return 0; }",
    "a long loop that is left": "int main(int argc, char **argv) { int n = 5, i;"
    " for (i = 0; i < 100000; i++) if (i == 5) break; if (argc > 1) n = atoi(argv[1]);"
    " work(n, i); return 0; }",
    "a long loop that counts itself": "int main(int argc, char **argv) { int n = 5, m = 3;"
    " for (int i = 0; i < 100000; i++) { i += 9999; m++; } if (argc > 1) n = atoi(argv[1]);"
    " work(n, m); return 0; }",
    "sscanf": "int main(int argc, char **argv) { int n = 1, m = 2;"
    ' if (argc > 1 && sscanf(argv[1], "%d", &n) != 1) n = 77;'
    ' if (argc > 2) sscanf(argv[2], "%dx%d", &n, &m); work(n, m); return 0; }',
    "pairs": "int main(int argc, char **argv) { int n = 5, m = 3, i;"
    ' for (i = 1; i < argc; i++) { if (!strcmp(argv[i], "-s") && i + 1 < argc)'
    ' n = atoi(argv[++i]); else if (strcmp(argv[i], "-r") == 0) { i++; if (i < argc)'
    " m = atoi(argv[i]); } } work(n, m); return 0; }",
    "joined": "int main(int argc, char **argv) { int n = 5, m = 3;"
    ' for (int i = 1; i < argc; ++i) { if (strncmp(argv[i], "--size=", 7) == 0)'
    " n = atoi(argv[i] + 7); else if (argv[i][0] == '-' && argv[i][1] == 'r')"
    " m = atoi(&argv[i][2]); } work(n, m); return 0; }",
    "moving": "int main(int argc, char **argv) { int n = 5, m = 3;"
    " while (*++argv) { char *p = *argv; if (*p++ != '-') continue; switch (*p) {"
    " case 's': n = atoi(p + 1); break; case 'v': n++; case 'w': m++; break;"
    " default: m = 9; } } work(n, m); return 0; }",
    "getopt": "int main(int argc, char **argv) { int n = 5, m = 3, c;"
    ' while ((c = getopt(argc, argv, "s:r:vo::")) != -1) switch (c) {'
    " case 's': n = atoi(optarg); break; case 'r': m = atoi(optarg); break;"
    " case 'v': m++; break; case 'o': n = optarg ? atoi(optarg) : 99; break; default: m = 50; }"
    " if (optind < argc) n += atoi(argv[optind]); work(n, m); return 0; }",
    "getopt_long": "static int fast; int main(int argc, char **argv) {" + OPTIONS
    + "int n = 5, m = 3, c, at = 0;"
    ' while ((c = getopt_long(argc, argv, "s:r:v", table, &at)) != -1) { switch (c) {'
    " case 0: m += at; break; case 's': n = atoi(optarg); break;"
    " case 'r': m = atoi(optarg); break; case 'v': n *= 2; break; default: m = 50; } }"
    " if (optind < argc) n += strtol(argv[optind], 0, 10); work(n + fast, m); return 0; }",
    "getopt_long at file level": "static int fast; "
    + OPTIONS
    + "int main(int argc, char **argv) { int n = 5, m = 3, c;"
    ' while ((c = getopt_long(argc, argv, "s:r:v", table, NULL)) != -1) { switch (c) {'
    " case 's': n = atoi(optarg); break; case 'r': m = atoi(optarg); break;"
    " case 'v': n *= 2; break; default: m = 50; } } work(n + fast, m); return 0; }",
    "unsigned": "int main(int argc, char **argv) { unsigned n = argc > 1 ? atoi(argv[1]) : 5;"
    " unsigned long m = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;"
    " int k = n - 8 > 100; m = m % 1000; if (n < 2u - 4) k += 2; work(k, m); return 0; }",
    "counted": "int main(int argc, char **argv) { int n = 1, m = 2, at = 9;"
    ' if (argc > 1) m = 10 * sscanf(argv[1], "%d%n", &n, &at) + at;'
    " work(n, m); return 0; }",
    "helper": "struct config { int n; struct { long m; } deep; };"
    " static int number(const char *text) { return atoi(text); }"
    " static void parse(int argc, char **argv, struct config *c) { c->n = 5; c->deep.m = 3;"
    ' for (int i = 1; i + 1 < argc; i += 2) { if (!strcmp(argv[i], "-s"))'
    " c->n = number(argv[i + 1]); else c->deep.m = number(argv[i + 1]); } }"
    " int main(int argc, char **argv) { struct config c, d; parse(argc, argv, &c); d = c;"
    " work(d.n, d.deep.m); return 0; }",
    "initial list": "struct grid { int nx, ny; double *u; }; struct mesh { struct grid fine;"
    " int levels; }; static void smooth(const struct grid *g) { work(g->nx, g->ny); }"
    " int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5;"
    " struct grid g = {n, n / 2, x}; g.ny += argc > 2 ? atoi(argv[2]) : 3;"
    " struct mesh m = {{g.nx, g.ny, x}, 2}; struct grid h = m.fine; smooth(&h); return 0; }",
    "named members": "typedef struct { int nx; double h; int ny; } grid;"
    " int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5;"
    " grid g = {.ny = n, .nx = 3}; if (argc > 2) g = (grid){.nx = atoi(argv[2]), .ny = g.ny};"
    " grid list[2] = {{7, 0.5, 9}, g}; work(list[1].nx + list[0].nx, g.ny); return 0; }",
    "returned struct": "struct grid { int nx, ny; }; static struct grid make(int n, int m)"
    " { struct grid g; g.nx = n; g.ny = m; return g; } static struct grid twice(struct grid g)"
    " { if (g.nx < 9) return (struct grid){2 * g.nx, g.ny}; g.nx *= 3; return g; }"
    " int main(int argc, char **argv) { struct grid g = make(argc > 1 ? atoi(argv[1]) : 5, 4), h;"
    " h = twice(twice(g)); struct grid list[2] = {g, make(h.nx, 7)};"
    " work(list[1].nx, list[0].ny + list[1].ny); return 0; }",
    "global": "int rows = 4; static int cols; static int get(char **list, int at, int or_else)"
    " { return list[at] ? atoi(list[at]) : or_else; }"
    " int main(int argc, char **argv) { cols = 3; if (argc > 2) rows = get(argv, 2, 1);"
    " if (argc > 1) cols = get(argv, 1, 1); for (int t = 0; t < 3; t++) work(rows, cols);"
    " return 0; }",
    "scaled": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5, m = 1;"
    " char *unit = argc > 1 ? strchr(argv[1], 'k') : NULL; if (unit != NULL) n *= 1024;"
    " while (m < n && m < 1000000) m *= 2; work(n, m); return 0; }",
    "heap": "struct box { int n, dims[2]; }; int main(int argc, char **argv)"
    " { struct box *b = malloc(sizeof *b); b->n = 2; b->dims[0] = b->dims[1] = 1;"
    " for (int d = 0; d < 2 && d + 1 < argc; d++) b->dims[d] = atoi(argv[d + 1]);"
    " work(b->dims[0] * b->n, b->dims[1]); free(b); return 0; }",
    "checked": "static void usage(void) { puts(\"usage\"); exit(2); }"
    " int main(int argc, char **argv) { int n, m = 3; if (argc < 2) usage(); n = atoi(argv[1]);"
    " if (n <= 0) { usage(); } if (argc == 3) m = atoi(argv[2]); else if (argc > 3) return 1;"
    " work(n, m); return 0; }",
    "after long loops": "static double y[1000]; int main(int argc, char **argv) {"
    " int n = argc > 1 ? atoi(argv[1]) : 5, m = 0; for (int t = 0; t < 50; t++)"
    " for (int i = 0; i < 1000; i++) for (int j = 0; j < 40; j++) y[i] += j;"
    " for (int i = 0; i < 1000; i++) if (y[i] > 3) m = m < 7 ? m + 1 : m;"
    " work(n, m); return 0; }",
    # The first iteration of the outermost loop shows that it takes too long, before it ends.
    "after a deep nest": "static int y[30]; int main(int argc, char **argv) {"
    " int n = argc > 1 ? atoi(argv[1]) : 5, m = 0, at = 0; for (int i = 0; i < 30; i++) {"
    " if (i > 0) m = 1; for (int j = 0; j < 30; j++) for (int k = 0; k < 30; k++)"
    " { y[k] = y[i] + j + at; at++; } if (at > 9000) n++; } work(n, m + at % 7); return 0; }",
    "appended": "int main(int argc, char **argv) { char text[40]; strcpy(text, argc > 1 ? argv[1]"
    ' : "3"); int n = atoi(text); strcat(text, "0"); int m = atoi(text); work(n, m); return 0; }',
    "either way": "static int pick(void) { if (rand()) return 7; return 5; }"
    " static void set(int *n) { if (rand()) return; *n = 5; }"
    " int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 1, m = pick(); set(&n);"
    " work(n, m); return 0; }",
    "either case": "static int pick(void) { switch (rand() > 0) { case 1: return 7; } return 5; }"
    " int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 1, m = pick();"
    " for (int k = 0; k < 3; k++) { switch (rand() > 0) { case 1: continue; } n++; }"
    " switch (argc) { case 2: if (rand()) break; n = 4; } work(n, m); return 0; }",
    "perhaps": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 1, m = 2;"
    " if (!rand() && (n = 50)) m = 3; rand() ? (m = 50) : 0; work(n, m); return 0; }",
    "some element": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5;"
    " int h[2] = {n, 3}; h[rand() > 0]++; work(n, h[1]); return 0; }",
    "behind pointers": "static int n = 3, m = 4; static void set(void) { n = 50; }"
    " static void deep(int d) { if (d > 0) { m++; deep(d - 1); } }"
    " int main(int argc, char **argv) { void (*f)(void) = set; if (argc > 1) n = atoi(argv[1]);"
    " if (argc > 1) m = n; deep(4); f(); work(n, m); return 0; }",
    "some of two": "int main(int argc, char **argv) { int n = 3, m = argc;"
    " int *p = rand() ? &n : &m; *p = 9; work(n, m); return 0; }",
    "set in a call": "static int n = 3; static void more(void) { n++; }"
    " int main(int argc, char **argv) { int m = argc; for (int i = 0; i < 1000; i++)"
    " { if (getpid() == i) break; more(); }"
    " work(n, m); return 0; }",
    "huge": "int main(int argc, char **argv) { __int128 x = 3;"
    " int n = argc > 1 ? atoi(argv[1]) : 1;"
    " for (int i = 0; i < 14; i++) x *= x; double d = x; work(n, d > 1 ? 4 : 4); return 0; }",
    # What only the run itself knows has to stay unknown, and nothing else.
    "environment": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 5;"
    ' int m = 3; if (getenv("HOME") != NULL) m = 8; work(n, m); return 0; }',
    "input": "int main(int argc, char **argv) { int n = 4, m = 1; FILE *in = fopen(argv[0], \"r\");"
    " if (in) { n = fgetc(in); fclose(in); } if (argc > 1) m = atoi(argv[1]); work(n, m);"
    " return 0; }",
    "loop of unknown length": "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1])"
    " : 5, m = 3; for (int i = 0; i < getpid() % 7; i++) m++; work(n, m); return 0; }",
    "jump": "int main(int argc, char **argv) { int n = 5, m = 3; if (argc < 2) goto run;"
    " n = atoi(argv[1]); run: work(n, m); return 0; }",
}  # fmt: skip
HIDDEN = {
    "environment": "m", "input": "n", "loop of unknown length": "m", "jump": "nm",
    "after long loops": "m", "after a deep nest": "nm", "a long loop that counts itself": "m",
    "appended": "m", "either way": "nm", "either case": "nm",
    "perhaps": "nm", "behind pointers": "nm", "some of two": "nm", "set in a call": "nm",
    "some element": "m", "huge": "nm",
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The programs, each compiled when it is first asked for."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("programs")
    texts = {style: HEAD + text for style, text in STYLES.items()}
    return Programs(folder, texts, ("gcc", "-w", "-D_GNU_SOURCE"), ".c")


@pytest.mark.parametrize(
    "frontend", ["libclang", pytest.param("pycparser", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("style", further_slow(8, STYLES))
def test_what_is_said_is_what_the_program_prints(
    programs: Programs, style: str, frontend: str
) -> None:
    programs.check(style, frontend, hidden=HIDDEN.get(style, ""))


CASES = [
    (["pairs", "-s", "60"], []),
    (["pairs", "-s", "60", "-q"], []),  # it is compared with, by which it is read
    (["positions", "1", "2", "3"], ["no code that can be executed reads the argument 3"]),
    (["checked"], ["with these arguments the program ends"]),
    (["checked", "-3", "2000"], ["with these arguments the program ends"]),
    (["jump", "1"], []),
    (["jump"], ["a goto is not supported"]),
]


@pytest.mark.parametrize(("words", "said"), CASES)
def test_what_is_not_followed_is_said(
    programs: Programs, words: list[str], said: list[str]
) -> None:
    _, remarks = said_of(programs.built(words[0]), words[1:], "libclang")
    assert len(remarks) == len(said)
    assert all(part in line for part, line in zip(said, remarks, strict=True))


def test_a_function_that_is_not_seen_is_said(tmp_path: Path) -> None:
    source = tmp_path / "hidden.c"
    source.write_text(
        HEAD + "void parse(int, char **, int *); int main(int argc, char **argv)"
        "{ int n = 4, m = atoi(argv[1]); parse(argc, argv, &n); work(n, m); }"
    )
    known, remarks = said_of(source, ["9"], "libclang")
    assert known == {"m": 9}
    assert [line.split(": ", 1)[1] for line in remarks] == [
        "what parse() takes from the arguments is unknown"
    ]


def test_a_variable_of_an_inner_block_is_another(tmp_path: Path) -> None:
    source = tmp_path / "inner.c"
    source.write_text(
        "#include <stdlib.h>\nstatic double x[100];\nint main(int argc, char **argv) {\n"
        "int n = atoi(argv[1]);\n{ int n = 5; x[n] = n; }\n#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) x[i] = 1;\n}\n"
    )
    assert said_of(source, ["12"], "libclang")[0] == {"n": 12}
