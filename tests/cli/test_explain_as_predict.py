"""`explain` takes what `predict` takes, and gives the same hint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import call

ROOT = Path(__file__).resolve().parents[2]
NPB = ROOT / "npb_samples"
POLYBENCH = ROOT / "polybench_samples"
KERNELS = {
    "ft": ([NPB / "ft", NPB / "common"], ["-I", str(NPB / "common"), "-D", "CLASS_W"]),
    "lu": ([NPB / "lu", NPB / "common"], ["-I", str(NPB / "common"), "-D", "CLASS_S"]),
    "2mm": ([POLYBENCH / "linear_algebra" / "2mm"], ["--set", "nl=30"]),
    "jacobi-2d": ([POLYBENCH / "stencils" / "jacobi-2d"], []),
}
WHOLE = ("ft", "lu")  # programs
_MOST = 4


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(name, marks=[pytest.mark.slow] if name in WHOLE else []) for name in KERNELS],
)
def test_the_hint_is_that_of_the_prediction(
    kernel: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders, options = KERNELS[kernel]
    words = [*map(str, folders), "-m", "dunnington", *options]
    done = call(monkeypatch, capsys, "predict", *words, "--format", "json")
    assert done.code == 0, done.err
    regions = json.loads(done.out)["regions"]
    chosen = regions[:: max(1, len(regions) // _MOST)]
    assert chosen
    for region in chosen:
        told = call(monkeypatch, capsys, "explain", f"{region['file']}:{region['line']}", *words)
        assert told.code == 0, told.err
        [hint] = [line for line in told.out.splitlines() if line.startswith("Hint: ")]
        lines = told.out.splitlines()
        after = lines[lines.index(hint) + 1]
        assert after.startswith("  at the assumed sizes; otherwise ") == bool(region["range"])
        packages, threads = (int(part.split()[0]) for part in hint[6:].split(", ")[:2])
        assert (packages, threads) == (region["packages"], region["threads"])
        assert f"{round(region['confidence'] * 100)} % confidence" in hint


def test_a_compilation_database_and_sizes_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.c").write_text(
        "double a[100000];\nvoid f(int m) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < N + m; i++) a[i] = 1;\n}\n"
    )
    (tmp_path / "sizes.yaml").write_text("small:\n  m: 5\n")
    database = tmp_path / "compile_commands.json"
    database.write_text(json.dumps([
        {"directory": str(tmp_path), "file": "f.c", "command": "cc -DN=700 -fopenmp -c f.c"}
    ]))  # fmt: skip
    words = [str(database), "-m", "dunnington", "--sizes", f"{tmp_path}/sizes.yaml:small"]
    told = call(monkeypatch, capsys, "explain", f"{tmp_path}/f.c:3", *words)
    assert (told.code, told.err) == (0, "")
    assert "Iterations shared among the threads: m + 700 = 705" in told.out


def test_a_file_that_is_not_among_the_paths_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.c").write_text(
        "double a[9];\nvoid f(void) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < 9; i++) a[i] = 1;\n}\n"
    )
    told = call(monkeypatch, capsys, "explain", "other.c:3", str(tmp_path), "-m", "dunnington")
    assert (told.code, told.out) == (1, "")
    assert told.err == (
        "regionpredict: other.c:3: no region in this file; check its path and its -D and -I; "
        "regionpredict predict lists all regions\n"
    )
