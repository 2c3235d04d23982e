"""`regionpredict.api.predict` beside the command line, which says the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from regionpredict.api.predictions import Hints, predict
from regionpredict.errors import InputError, UsageError
from regionpredict.machine import load
from regionpredict.report.hints import schema

CODE = """\
void scale(int n, double *a)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = W * a[i];
}
void copy(int n, double *a, double *b)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "a.c"
    path.write_text(CODE)
    return path


@pytest.fixture(scope="module")
def hints(file: Path) -> Hints:
    return predict(file, "dunnington", sizes={"n": 4_000_000}, defines={"W": 2.0})


def from_the_command_line(file: Path, form: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", str(file), "-m", "dunnington", "--set",
         "n=4000000", "-D", "W=2.0", "--format", form],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_document_is_that_of_the_command(file: Path, hints: Hints) -> None:
    told = json.loads(from_the_command_line(file, "json"))
    assert {**json.loads(hints.to_json()), "request": None} == {**told, "request": None}
    jsonschema.Draft202012Validator(schema("hints-1")).validate(hints.to_dict())


def test_it_prints_the_table_of_the_command(file: Path, hints: Hints) -> None:
    assert str(hints) == from_the_command_line(file, "table")


def test_a_region_is_found_by_index_function_and_place(file: Path, hints: Hints) -> None:
    assert [one.function for one in hints] == ["scale", "copy"]
    assert hints["copy"] == hints[1] == hints[-1] == hints["a.c:8"] == hints[f"{file}:8"]
    assert hints[:1] == [hints[0]]
    with pytest.raises(InputError, match=r"no loop is 'x'; choose one of .*a\.c:3, .*a\.c:8"):
        hints["x"]


def test_what_a_region_says(hints: Hints) -> None:
    copy = hints["copy"]
    assert (copy.iterations, copy.bytes) == (4_000_000, 64_000_000)
    assert copy.packages == -(-(copy.threads or 0) // 6)
    assert copy.speedup == copy.curve[copy.threads or 0]
    assert list(copy.curve) == list(copy.band) == list(range(1, 25))
    assert all(low <= copy.curve[n] <= high for n, (low, high) in copy.band.items())


def test_the_density_model_has_no_curve(file: Path) -> None:
    scored = predict([file], load("dunnington"), sizes={"n": 10**7}, defines={"W": 1},
                     model="density")  # fmt: skip
    assert scored["copy"].curve == {}
    assert scored["copy"].speedup is None
    assert scored["copy"].seconds is None
    assert scored["copy"].packages is not None


def test_a_notebook_gets_a_table_whose_text_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "a&b.c").write_text(CODE)
    html = predict(tmp_path / "a&b.c", "dunnington", defines={"W": 1})._repr_html_()
    assert html.count("<tr>") == 3
    assert "a&amp;b.c:3" in html
    assert "a&b" not in html


def test_a_frame_has_a_row_a_region(hints: Hints) -> None:
    pytest.importorskip("pandas")
    frame = hints.to_frame()
    assert list(frame["function"]) == ["scale", "copy"]
    assert frame["packages"].tolist() == [one.packages for one in hints]


def test_the_arguments_of_a_program_are_its_sizes(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "#include <stdlib.h>\nint main(int argc, char **argv) {\n  int n = atoi(argv[1]);\n"
        "  double *a = malloc(n * sizeof *a);\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = i;\n}\n"
    )
    hints = predict(tmp_path / "f.c", "dunnington", arguments=["5000000"])
    (region,) = hints.to_dict()["regions"]
    assert region["sizes_from"] == "given"
    assert predict(tmp_path / "f.c", "dunnington").to_dict()["regions"][0]["sizes_from"] == "large"


def test_wrong_calls(file: Path) -> None:
    with pytest.raises(UsageError, match="--set m: no region depends on it"):
        predict(file, "dunnington", sizes={"m": 3})
    with pytest.raises(InputError, match="no such file or folder"):
        predict(file / "x", "dunnington")
    with pytest.raises(InputError, match="dunington"):
        predict(file, "dunington")


def test_what_a_shell_of_python_shows_is_one_line(hints: Hints) -> None:
    assert repr(hints) == "<Hints: 2 regions on dunnington>"
    shown = repr(hints["scale"])
    assert shown.startswith("<RegionHint ") and shown.endswith(">")
    assert "scale: " in shown and "\n" not in shown
