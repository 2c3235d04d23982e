"""Programs that read their sizes from a file: predicted with the numbers that the program reads.

The expected size is what the program itself prints, compiled and run beside the same file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double *a;
int n = 3;
static int parse(FILE *f)
{
    char line[80], word[80];
    %s
    return 0;
}
int main(int argc, char **argv)
{
    FILE *f = fopen(argc > 1 ? argv[1] : "input.dat", "r");
    if (f) {
        parse(f);
        fclose(f);
    }
    a = malloc(n * sizeof *a);
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1.0;
    printf("%%d", n);
}
"""
INPUT = """# a comment of a few words
grid 40 x 25
rows = 700
 columns=12
last 96"""
READERS = {
    "lines": """int k = 0;
    while (fgets(line, sizeof line, f)) if (line[0] != '#') k++;
    n = 10 * k + feof(f);""",
    "scanned lines": """int x, y;
    while (fgets(line, 80, f) != NULL) if (sscanf(line, "grid %d x %d", &x, &y) == 2) n = x * y;""",
    "short lines": "int k = 0; while (fgets(line, 8, f)) k++; n = k;",
    "tokens": """while (fgets(line, 80, f)) {
        char *key = strtok(line, " =\\n");
        if (key && strcmp(key, "columns") == 0) n = atoi(strtok(NULL, " =\\n"));
    }""",
    "words": """while (fscanf(f, "%s", word) == 1)
        if (!strcmp(word, "rows")) { fscanf(f, " = %d", &n); break; }""",
    "to the end": """int v = 0;
    while (fgetc(f) != '\\n');
    while (!feof(f)) if (fscanf(f, "%d", &v) == 1) n += v; else fgetc(f);""",
    "characters": """int c, k = 0;
    while ((c = getc(f)) != EOF) k += c >= '0' && c <= '9';
    n = k;""",
    "twice": """int k = 0;
    while (fgets(line, 80, f)) k++;
    rewind(f);
    for (int i = 1; i < k; i++) fgets(line, 80, f);
    fscanf(f, "%s %d", word, &n);""",
    "allocated lines": """char *own = NULL; size_t size = 0; int k = 0;
    while (getline(&own, &size, f) != -1) k += strlen(own);
    n = k;""",
    "copied name": """char *name = malloc(20);
    strncpy(name, "input.dat", 20);
    FILE *again = fopen(name, "r");
    fgets(line, 80, again);
    fscanf(again, "%s%d", word, &n);""",
}

STREAMS = """#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
double *a;
int n = 3;
static void parse()
{
    std::string word, line;
    int k = 0;
    %s
}
int main()
{
    parse();
    a = (double *)malloc(n * sizeof *a);
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1.0;
    printf("%%d", n);
}
"""
STREAM_READERS = {
    "lines": """std::ifstream in("input.dat");
    while (std::getline(in, line)) k++;
    n = 10 * k + in.eof() + 2 * in.fail() + 4 * in.good();""",
    "values": """std::ifstream in("input.dat");
    double x = 0; long y = 0;
    std::getline(in, line);
    if (in >> word >> x >> word >> y) n = int(x) * y;""",
    "words": """std::ifstream in("input.dat");
    while (in >> word) if (word == "rows") { in >> word >> n; break; }""",
    "to the end": """std::ifstream in("input.dat");
    std::string last;
    while (!in.eof()) { in >> word; if (word == "last") in >> n; k++; }
    n += k;""",
    "opened later": """std::ifstream in;
    std::string name = "input.dat";
    in.open(name);
    if (!in.is_open()) return;
    std::getline(in, line);
    in >> word >> n;""",
    "missing": """std::ifstream in("other.dat");
    if (in.is_open()) n = 1;
    if (!in) n = 21;
    in >> n;""",
    "after a failure": """std::ifstream in("input.dat");
    int v = 8;
    in >> v;
    std::string held = "kept";
    std::getline(in, held);
    if (held == "kept") n = 60;""",
    "a number that is none": """std::ifstream in("input.dat");
    int v = 8;
    in >> v;
    if (!in) n = 50;""",
}


def _predicted(folder: Path, *words: str, path: str = "") -> tuple[int | None, str]:
    """The iterations of the program's only loop, and what is printed beside them."""
    line = [sys.executable, "-m", "regionpredict", "predict", path or str(folder), "-m",
            "dunnington", "--format", "json", *words]  # fmt: skip
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / ".cache")}
    settings.pop("REGIONPREDICT_CACHE", None)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    done = subprocess.run(
        line, capture_output=True, text=True, cwd=elsewhere, env=settings, check=True
    )
    (region,) = json.loads(done.stdout)["regions"]
    count: int | None = region["iterations"]["value"]
    return count, done.stderr


def _compiled_and_run(folder: Path, compiler: str, source: str) -> int:
    """What the program prints."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} to run the program")
    program = str(folder / "program")
    line = [compiler, "-w", "-D_GNU_SOURCE", source, "-o", program]
    subprocess.run(line, cwd=folder, check=True)
    return int(subprocess.run([program], cwd=folder, capture_output=True, check=True).stdout)


@pytest.mark.compiler
@pytest.mark.parametrize("reader", further_slow(6, READERS))
def test_a_size_from_a_file_is_the_one_that_the_program_reads(tmp_path: Path, reader: str) -> None:
    (tmp_path / "main.c").write_text(PROGRAM % READERS[reader])
    (tmp_path / "input.dat").write_text(INPUT)
    count, notes = _predicted(tmp_path)
    assert count == _compiled_and_run(tmp_path, "gcc", "main.c") != 3
    assert f"note: the program reads {tmp_path}/input.dat" in notes.splitlines()


@pytest.mark.compiler
@pytest.mark.parametrize("reader", further_slow(2, STREAM_READERS))
def test_streams_of_cplusplus_read_what_the_program_reads(tmp_path: Path, reader: str) -> None:
    (tmp_path / "main.cpp").write_text(STREAMS % STREAM_READERS[reader])
    (tmp_path / "input.dat").write_text(INPUT)
    count, _ = _predicted(tmp_path)
    assert count == _compiled_and_run(tmp_path, "g++", "main.cpp") != 3


def test_an_edited_or_new_file_gives_a_new_answer(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM % 'fscanf(f, "%d", &n);')
    assert _predicted(tmp_path) == (3, "")
    for text in ("500", "600"):
        (tmp_path / "input.dat").write_text(text)
        for _ in range(2):  # the second answer may come from the cache
            count, notes = _predicted(tmp_path)
            assert count == int(text)
        assert "the program reads" in notes


def test_the_file_may_be_in_the_root_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / "src" / "main.c").write_text(PROGRAM % 'fscanf(f, "%d", &n);')
    (tmp_path / "input.dat").write_text("81")
    assert _predicted(tmp_path)[0] == 81


def test_an_argument_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM % 'fscanf(f, "%d", &n);')
    (tmp_path / "other.dat").write_text("77")
    assert _predicted(tmp_path, "--args", "other.dat")[0] == 77
    assert _predicted(tmp_path, "--args", str(tmp_path / "other.dat"))[0] == 77


@pytest.mark.parametrize("data", [b"5\0\0", b"", b"7" * (1 << 17)])
def test_data_that_are_no_parameters_leave_the_size_unknown(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "main.c").write_text(PROGRAM % 'fscanf(f, "%d", &n);')
    (tmp_path / "input.dat").write_bytes(data)
    assert _predicted(tmp_path) == (None, "")
    (tmp_path / "input.dat").write_bytes(b"44")
    assert _predicted(tmp_path)[0] == 44
