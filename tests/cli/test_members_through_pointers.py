"""A member by its own name and through a pointer to it is one size, given in either spelling."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

HEAD = """\
struct field { int n; double *a; };
struct sim { struct field u; };
void ask(struct field *f, const char *name);
"""
LOOP = "#pragma omp parallel for\n  for (int i = 0; i < {0}n; i++) {0}a[i] *= 2.0;\n"
CALLEE = HEAD + f"void smooth(struct field *f) {{\n{LOOP.format('f->')}}}\n"


def _main(body: str) -> str:
    return f"int main(int argc, char **argv) {{\n{body}  return 0;\n}}\n"


OWN = CALLEE + _main(f"  struct field f;\n  ask(&f, argv[1]);\n{LOOP.format('f.')}  smooth(&f);\n")
NESTED = (
    CALLEE
    + "void step(struct sim *sim) {\n  struct field *g = &sim->u;\n"
    + LOOP.format("sim->u.") + LOOP.format("g->") + "  smooth(g);\n}\n"
    + _main("  struct sim s;\n  ask(&s.u, argv[1]);\n  step(&s);\n")
)  # fmt: skip
ELEMENTS = CALLEE + _main(
    "  struct field t[4];\n  for (int k = 0; k < 4; k++) ask(&t[k], argv[k]);\n"
    "  for (int k = 0; k < 4; k++) smooth(&t[k]);\n  for (int k = 0; k < 4; k++) {\n"
    + LOOP.format("t[k].") + "  }\n"
)  # fmt: skip
POINTERS = CALLEE + "struct field *made(const char *name);\n" + _main(
    "  struct field *dom[4];\n  for (int k = 0; k < 4; k++) dom[k] = made(argv[k]);\n"
    + LOOP.format("dom[0]->") + "  smooth(dom[0]);\n"
)  # fmt: skip
GLOBAL = (
    HEAD + "static struct field *grid;\nvoid smooth(void) {\n" + LOOP.format("grid->") + "}\n"
    + _main("  struct field f;\n  grid = &f;\n  ask(&f, argv[1]);\n" + LOOP.format("f.")
            + "  smooth();\n")
)  # fmt: skip
SCANNED = CALLEE + _main(
    f'  struct field f;\n  scanf("%d", &f.n);\n{LOOP.format("f.")}  smooth(&f);\n'
)


def _ran(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    for number, part in enumerate(text.split("//file\n")):
        (folder / f"f{number}.c").write_text(part)
    command, *rest = words
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", command, ".", "-m", "dunnington", *rest],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def _asked(folder: Path, text: str) -> list[str]:
    done = _ran(folder, text, "sizes", "--format", "json")
    assert done.returncode == 0, done.stderr
    return [size["name"] for size in json.loads(done.stdout)["unbound"]]


def _trips(folder: Path, text: str, *given: str) -> list[int | None]:
    done = _ran(folder, text, "predict", "--format", "json", *given)
    assert done.returncode == 0, done.stderr
    return [region["iterations"].get("value") for region in json.loads(done.stdout)["regions"]]


@pytest.mark.parametrize(
    ("text", "asked", "spellings"),
    further_slow(
        1,
        [
            (OWN, "main:f.n", ["f.n", "f->n", "main:f.n", "smooth:f->n"]),
            (NESTED, "s.u.n", ["s.u.n", "sim->u.n", "g->n", "f->n", "main:s.u.n"]),
            (ELEMENTS, "t[i].n", ["t[k].n", "f->n", "main:t[k].n"]),
            (POINTERS, "dom[0]->n", ["dom[0]->n", "f->n"]),
            (GLOBAL, "f.n", ["f.n", "grid->n", "smooth:grid->n"]),
            (SCANNED, "main:f.n", ["f.n", "f->n"]),
        ],
    ),
    ids=["own", "nested", "elements", "pointers", "global", "scanned"],
)
def test_one_size_is_asked_for_and_given_by_any_of_its_names(
    tmp_path: Path, text: str, asked: str, spellings: list[str]
) -> None:
    assert _asked(tmp_path, text) == [asked]
    for name in (asked, *spellings):
        assert set(_trips(tmp_path, text, "--set", f"{name}=500")) == {500}, name


def test_so_it_is_across_files_and_in_a_file_of_sizes(tmp_path: Path) -> None:
    text = CALLEE + "//file\n" + HEAD + "void smooth(struct field *f);\n" + OWN[len(CALLEE) :]
    assert _asked(tmp_path, text) == ["main:f.n"]
    for name in ("f.n", "f->n", "main:f.n"):
        (tmp_path / "sizes.yaml").write_text(f'"{name}": 70\n')
        assert _trips(tmp_path, text, "--sizes", "sizes.yaml") == [70, 70], name


def test_two_values_for_its_two_names_are_refused(tmp_path: Path) -> None:
    done = _ran(tmp_path, OWN, "predict", "--set", "f.n=500", "--set", "f->n=400")
    assert (done.returncode, done.stdout) == (2, "")
    said = "f->n and main:f.n are the same size in smooth(), and are given 400 and 500"
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "body",
    further_slow(2, [
        pytest.param("  struct field a, b;\n  ask(&a, argv[1]); ask(&b, argv[2]);\n"
                     + LOOP.format("a.") + "  smooth(&a); smooth(&b);\n", id="two objects"),
        pytest.param("  struct field a;\n  a.n = atoi(argv[1]);\n" + LOOP.format("a.")
                     + "  a.n /= 2;\n  smooth(&a);\n", id="changed in between"),
        pytest.param("  struct field a;\n  a.n = atoi(argv[1]);\n" + LOOP.format("a.")
                     + "  a.n = atoi(argv[2]);\n  smooth(&a);\n", id="set again"),
        pytest.param("  struct field a, b, *p = &a;\n  ask(&a, argv[1]); ask(&b, argv[2]);\n"
                     + LOOP.format("a.") + "  smooth(p);\n  p = &b;\n  smooth(p);\n",
                     id="a pointer that moves"),
        pytest.param("  struct field a, *p = next(&a);\n  ask(&a, argv[1]);\n"
                     + LOOP.format("a.") + "  for (; p; p = next(p)) smooth(p);\n", id="a list"),
    ]),
)  # fmt: skip
def test_what_may_be_two_sizes_stays_two(tmp_path: Path, body: str) -> None:
    text = CALLEE + "struct field *next(struct field *f);\n" + _main(body)
    assert set(_asked(tmp_path, text)) == {"a.n", "f->n"}
