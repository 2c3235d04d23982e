"""Wrong input gets one line on standard error with place and remedy, and exit code 1 or 2.

Code 1: the input failed; code 2: the command was used wrongly. Never a traceback, and nothing
half-written.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Outcome, call

GOOD = """void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 0.0;
}
"""
MACHINE = """name: small
description: two packages of two cores
source: made up for this test
evidence: assumed
node: {packages: 2, cores_per_package: 2, clock: 1 GHz}
caches:
  - {level: 1, size: 32 KiB, cores: 1}
memory:
  bandwidth:
    load: {1: 4, 2: 6}
"""

Call = Callable[..., Outcome]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Calls the command in a folder with a good source, `good.c`, and machine, `small.yaml`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.c").write_text(GOOD)
    (tmp_path / "small.yaml").write_text(MACHINE)
    return lambda *words: call(monkeypatch, capsys, *words)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\1\2\3")
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def refused(outcome: Outcome, code: int, *named: str) -> None:
    """One line, with every word of `named` in it, and no result."""
    lines = outcome.err.splitlines()
    assert outcome.code == code, outcome
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("regionpredict: ")
    for word in named:
        assert word in lines[0], (word, lines[0])
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


def test_the_good_source_and_machine_are_good(run: Call) -> None:
    outcome = run("predict", "good.c", "-m", "./small.yaml")
    assert outcome.code == 0
    assert "1 loop: 1 predicted\nOrigin of sizes: assumed large\n" in outcome.out


@pytest.mark.parametrize("command", [["predict", "-m", "dunnington"], ["analyze"]])
def test_no_such_file(run: Call, command: list[str]) -> None:
    refused(run(*command, "absent.c"), 1, "absent.c", "no such file", "check the path")


def test_no_such_file_beside_a_good_one(run: Call) -> None:
    refused(run("analyze", "good.c", "absent.c"), 1, "absent.c")


def test_a_binary(run: Call, tmp_path: Path) -> None:
    (tmp_path / "a.out").write_bytes(b"\x7fELF\2\1\1" + bytes(200))
    refused(run("analyze", "a.out"), 1, "a.out", "not a C")


def test_a_binary_called_c(run: Call, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_bytes(b"\x7fELF\2\1\1" + bytes(200))
    refused(run("analyze", "program.c"), 1, "program.c", "not a text file")


def test_a_picture_called_c(run: Call, tmp_path: Path) -> None:
    (tmp_path / "picture.c").write_bytes(png())
    refused(run("predict", "picture.c", "-m", "dunnington"), 1, "picture.c")


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_prose_called_c(run: Call, tmp_path: Path, frontend: str) -> None:
    (tmp_path / "prose.c").write_text("Once upon a time, there was a loop; it ran in parallel.\n")
    refused(run("analyze", "prose.c", "--frontend", frontend), 1, "prose.c:1")


def test_bad_bytes_in_a_comment_do_no_harm(run: Call, tmp_path: Path) -> None:
    (tmp_path / "latin.c").write_bytes(b"/* S\xe4ule */\n" + GOOD.encode())
    outcome = run("analyze", "latin.c", "--format", "json")
    assert outcome.code == 0
    assert [r["line"] for r in json.loads(outcome.out)["regions"]] == [3]


def test_an_empty_file_is_no_error(run: Call, tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("")
    outcome = run("analyze", "empty.c")
    assert outcome.code == 0
    assert outcome.err == "note: no OpenMP worksharing loop found\n"


@pytest.mark.parametrize(
    "loops, said", [(1, "removes the only OpenMP loop"), (3, "removes all 3 OpenMP loops")]
)
def test_loops_that_are_all_left_out_are_not_none(
    run: Call, tmp_path: Path, loops: int, said: str
) -> None:
    (tmp_path / "off.c").write_text(f"#ifdef PARALLEL\n{GOOD * loops}#endif\n")
    for words in (("analyze", "off.c"), ("predict", "off.c", "-m", "dunnington")):
        outcome = run(*words)
        assert outcome.code == 0
        assert "-D PARALLEL" in outcome.err
        note = f"note: the preprocessor {said}: add the -D that RP006 names"
        assert outcome.err.splitlines()[-1] == note
        assert outcome.out.splitlines()[-1] == "0 loops"


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_a_missing_header_is_named_and_the_rest_is_read(
    run: Call, tmp_path: Path, frontend: str
) -> None:
    (tmp_path / "needs.c").write_text('#include "generated_config.h"\n' + GOOD)
    outcome = run("predict", "needs.c", "-m", "dunnington", "--frontend", frontend)
    assert outcome.code == 0
    assert "1 loop: 1 predicted\nOrigin of sizes: assumed large\n" in outcome.out
    (line,) = [one for one in outcome.err.splitlines() if "generated_config.h" in one]
    assert line.startswith("needs.c:1") and "-I" in line
    assert "Traceback" not in outcome.err


def test_an_empty_folder(run: Call, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    refused(run("analyze", "nothing"), 1, "nothing", ".c")


def test_a_broken_compilation_database(run: Call, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text('[{"file": "good.c",\n  oops}]')
    refused(run("analyze", "compile_commands.json"), 1, "compile_commands.json:2")
    (tmp_path / "compile_commands.json").write_text('{"file": "good.c"}')
    refused(run("analyze", "compile_commands.json"), 1, "compile_commands.json", "list")
    (tmp_path / "compile_commands.json").write_text('[{"file": "gone.c", "directory": "."}]')
    refused(run("analyze", "compile_commands.json"), 1, "compile_commands.json")


def test_a_compilation_database_of_strange_entries(run: Call, tmp_path: Path) -> None:
    """Wrong types inside an entry are wrong input, not a crash."""
    entry = {"file": "good.c", "directory": str(tmp_path), "command": "cc 'unclosed good.c"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    refused(run("analyze", "compile_commands.json"), 1, "compile_commands.json")
    entry = {"file": 7, "directory": str(tmp_path), "arguments": ["cc", "good.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    refused(run("analyze", "compile_commands.json"), 1, "compile_commands.json")


def test_a_machine_file_with_a_wrong_key(run: Call, tmp_path: Path) -> None:
    wrong = MACHINE.replace("cores_per_package", "coers_per_package")
    (tmp_path / "wrong.yaml").write_text(wrong)
    outcome = run("predict", "good.c", "-m", "./wrong.yaml")
    refused(outcome, 1, "wrong.yaml:5", "coers_per_package", "cores_per_package'")


@pytest.mark.parametrize("number", ["9" * 5000, "\u00b2"], ids=["long", "superscript"])
@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize("clause", ["num_threads(%s)", "schedule(static, %s)"])
def test_a_clause_with_a_number_that_is_none(
    run: Call, tmp_path: Path, clause: str, frontend: str, number: str
) -> None:
    text = GOOD.replace("parallel for", f"parallel for {clause % number}")
    (tmp_path / "odd.c").write_text(text)
    outcome = run("predict", "odd.c", "-m", "dunnington", "--frontend", frontend)
    assert outcome.code == 0
    assert "\n1 loop: 1 predicted\n" in outcome.out


def test_memory_that_is_not_enough(
    run: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("regionpredict.cli.machines.write_result", fail)
    refused(run("machines", "list"), 1, "not enough memory; give a smaller input")


def test_an_unknown_machine(run: Call) -> None:
    refused(run("predict", "good.c", "-m", "dunington"), 1, "dunington", "dunnington")


def test_no_machine(run: Call) -> None:
    refused(run("predict", "good.c"), 2, "-m")


def test_set_of_an_unknown_name(run: Call) -> None:
    refused(run("analyze", "good.c", "--set", "nn=4"), 2, "--set nn", "'n'")


def test_set_of_a_macro(run: Call, tmp_path: Path) -> None:
    (tmp_path / "macro.c").write_text("#define SIZE 40\n" + GOOD.replace("i < n", "i < SIZE"))
    refused(run("analyze", "macro.c", "--set", "SIZE=4"), 2, "--set SIZE", "-D SIZE=VALUE")


@pytest.mark.parametrize("pair", ["n", "n=", "n=many", "n=1.5"])
def test_set_of_no_integer(run: Call, pair: str) -> None:
    refused(run("analyze", "good.c", "--set", pair), 2, f"--set {pair}", "--set n=4000")


def test_define_of_no_name(run: Call) -> None:
    refused(run("analyze", "good.c", "-D", "4=x"), 2, "-D 4=x", "NAME")


def test_an_unknown_stage(run: Call) -> None:
    refused(run("analyze", "good.c", "--dump", "thoughts"), 2, "thoughts", "program")


def test_a_stage_that_needs_a_machine(run: Call) -> None:
    refused(run("analyze", "good.c", "--dump", "prediction"), 2, "predict -m MACHINE")


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "good.c", "-m", "dunnington", "--model", "guess"],
        ["predict", "good.c", "-m", "dunnington", "--format", "poem"],
        ["analyze", "good.c", "--frontend", "gcc"],
        ["analyze", "good.c", "-j", "0"],
        ["analyze", "good.c", "--nonsense"],
        ["analyze"],
        ["forecast", "good.c"],
    ],
)
def test_wrong_calls(run: Call, words: list[str]) -> None:
    refused(run(*words), 2, "--help")


def test_an_output_that_cannot_be_written(run: Call, tmp_path: Path) -> None:
    for target in ("no/such/folder/hints.json", "."):
        outcome = run("predict", "good.c", "-m", "dunnington", "-o", target)
        refused(outcome, 1, target, "-o FILE")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.c", "small.yaml"]


def test_a_failing_run_leaves_an_older_output_alone(run: Call, tmp_path: Path) -> None:
    old = tmp_path / "hints.json"
    old.write_text("precious")
    refused(run("predict", "absent.c", "-m", "dunnington", "-o", "hints.json"), 1, "absent.c")
    assert old.read_text() == "precious"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (["explain", "good.c:3", "-m", "dunnington"], 0, ()),
        (["explain", "good.c:1", "-m", "dunnington"], 1, ("good.c:1", "lines 2-3")),
        (["explain", "good.c:4", "-m", "dunnington"], 1, ("good.c:4", "2")),
        (["explain", "good.c:400", "-m", "dunnington"], 1, ("good.c:400", "2")),
        (["explain", "good.c", "-m", "dunnington"], 2, ("good.c", "RP101")),
        (["explain", "good.c:2"], 2, ("-m",)),
        (["explain", "absent.c:2", "-m", "dunnington"], 1, ("absent.c",)),
        (["explain", "RP999"], 2, ("RP999", "RP101")),
    ],
)
def test_explain(run: Call, words: list[str], code: int, named: tuple[str, ...]) -> None:
    outcome = run(*words)
    if code:
        refused(outcome, code, *named)
    else:
        assert outcome.code == 0 and "Hint:" in outcome.out


def test_json_on_standard_output_is_nothing_but_json(run: Call, tmp_path: Path) -> None:
    (tmp_path / "needs.c").write_text('#include "absent.h"\n' + GOOD)
    outcome = run("predict", "needs.c", "-m", "dunnington", "--format", "json", "--timings")
    assert outcome.code == 0 and outcome.err
    assert json.loads(outcome.out)["schema"] == "regionpredict/hints/1"


def test_a_file_that_fails_takes_no_other_down(run: Call, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.c").write_text(GOOD)
    (folder / "b.c").write_bytes(png())
    (folder / "c.c").write_text("}} not C {{\n")
    (folder / "d.c").write_text(GOOD)
    (folder / "gone.c").symlink_to("nowhere.c")
    outcome = run("analyze", "many", "--format", "json")
    assert outcome.code == 0
    files = [Path(region["file"]).name for region in json.loads(outcome.out)["regions"]]
    assert files == ["a.c", "d.c"]
    assert "Traceback" not in outcome.err
    for name in ("b.c", "c.c", "gone.c"):
        assert name in outcome.err, "what was left out is named"


def test_as_a_program_of_its_own(tmp_path: Path) -> None:
    """The same through a real process: code, streams, and no traceback."""
    source = tmp_path / "good.c"
    source.write_text(GOOD)
    command = [sys.executable, "-c", "from regionpredict.cli.main import main; main()"]
    root = Path(__file__).resolve().parents[2]
    fine = subprocess.run(
        [*command, "predict", str(source), "-m", "clovertown", "--format", "csv"],
        capture_output=True, text=True, timeout=600, cwd=root, check=False,
    )  # fmt: skip
    assert fine.returncode == 0 and len(fine.stdout.splitlines()) == 2
    wrong = subprocess.run(
        [*command, "predict", str(source), "-m", "nowhere.yaml"],
        capture_output=True, text=True, timeout=600, cwd=root, check=False,
    )  # fmt: skip
    assert wrong.returncode == 1
    assert len(wrong.stderr.splitlines()) == 1 and "nowhere.yaml" in wrong.stderr


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['regionpredict', '--help']\n"
        "from regionpredict.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'sklearn', 'yaml', 'clang', 'pycparser', 'pcpp'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=root,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "predict" in done.stdout
