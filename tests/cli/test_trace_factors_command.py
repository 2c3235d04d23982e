"""`regionpredict trace factors` as a process: streams, exit codes, JSON, plot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from regionpredict.report.hints import schema

pytestmark = pytest.mark.compiler


def write_run(
    folder: Path, ranks: int, counters: bool = True, function: str = "MPI_Barrier", cut: int = 0
) -> str:
    """4 rounds: of 16 us of work a round, each rank has its share, and then waits 1 us more.

    Rank 0 has a tenth of its share on top. `cut` ranks are announced but have no records.
    """
    everyone = "1:1," * (ranks + cut)
    lines = [f"#Paraver (01/02/2020 at 10:11):0_ns:1({ranks}):1:{ranks + cut}({everyone[:-1]}),0"]
    share, slow = 16000 // ranks, 16000 // ranks // 10
    now = 0
    for _ in range(4):
        end = now + share + slow + 1000
        for rank in range(ranks):
            work = now + share + (slow if rank == 0 else 0)
            place = f"1:1:{rank + 1}:1"
            counted = f":42000050:{2 * (work - now)}:42000059:{work - now}" if counters else ""
            lines += [
                f"1:{place}:{now}:{work}:1",
                f"1:{place}:{work}:{end}:5",
                f"2:{place}:{work}:50000002:8{counted}",
                f"2:{place}:{end}:50000002:0",
            ]
        now = end
    name = f"run{ranks}{'' if counters else 'x'}{function[4:8]}{cut or ''}.prv"
    (folder / name).write_text("\n".join(lines) + "\n")
    (folder / name.replace(".prv", ".pcf")).write_text(
        f"EVENT_TYPE\n9 50000002 MPI Collective Comm\nVALUES\n8 {function}\n0 Outside MPI\n\n"
        "EVENT_TYPE\n7 42000050 PAPI_TOT_INS [a]\n7 42000059 PAPI_TOT_CYC [b]\n"
    )
    return name


def factors(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", "factors", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_json_of_three_runs(tmp_path: Path) -> None:
    names = [write_run(tmp_path, ranks) for ranks in (1, 2, 4)]
    done = factors(tmp_path, *names, "--extrapolate", "64", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("factors-1")).validate(data)
    assert data["scaling"] == "strong"
    for run in data["runs"]:
        ranks = run["ranks"]
        share = 16000 / ranks
        useful = 16000 + share / 10  # of all, a round
        assert run["load_balance"] == pytest.approx(useful / ranks / (1.1 * share))
        assert run["serialisation"] == 1
        assert run["transfer"] == pytest.approx(1.1 * share / (1.1 * share + 1000))
        assert run["runtime_s"] == pytest.approx(4e-9 * (1.1 * share + 1000))
        assert run["computation_scalability"] == pytest.approx(17600 / useful)
        assert run["ipc"] == 2
        assert run["frequency_hz"] == pytest.approx(1e9)
    assert [point["ranks"] for point in data["extrapolation"]] == [8, 16, 32, 64]
    assert set(data["models"]) == {
        "load_balance", "serialisation", "transfer", "computation_scalability"
    }  # fmt: skip
    # 1/Trf = 1 + 1000 p / 17600: on Amdahl's law without error
    model = data["models"]["transfer"]
    assert model["law"] == "amdahl-efficiency"
    last = data["extrapolation"][-1]
    assert last["transfer"] == pytest.approx(1 / (1 + 64000 / 17600))
    assert last["low"]["transfer"] <= last["transfer"] <= last["high"]["transfer"]
    assert last["dominating"] == "transfer"


def test_a_table_and_a_plot(tmp_path: Path) -> None:
    names = [write_run(tmp_path, ranks) for ranks in (1, 2, 4)]
    done = factors(tmp_path, *names, "--extrapolate", "1e6", "--plot", "f.svg")
    assert (done.returncode, done.stderr) == (0, "written: f.svg\n")
    assert "Strong scaling: the total work grows as P^" in done.stdout
    assert "Ser is 'reference'" in done.stdout
    assert "1000000" in done.stdout
    drawn = (tmp_path / "f.svg").read_text()
    assert drawn.count('<g id="band">') == 4  # a band for each line


def test_a_single_run_is_a_line(tmp_path: Path) -> None:
    name = write_run(tmp_path, 2)
    done = factors(tmp_path, name)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "one run: factors, but no scalability and no extrapolation" in done.stderr
    done = factors(tmp_path, name, "--extrapolate", "100")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("regionpredict: a single size cannot be extrapolated; give runs")


def test_a_missing_counter_is_a_line(tmp_path: Path) -> None:
    names = [write_run(tmp_path, 1), write_run(tmp_path, 2, counters=False)]
    done = factors(tmp_path, *names, "--format", "json")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "run2xBarr: no counters of instructions and cycles" in done.stderr
    data = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("factors-1")).validate(data)
    assert data["runs"][1]["ipc_scalability"] is None
    done = factors(tmp_path, *names, "--frequency", "1e9", "--latency", "0")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "run2xBarr: has no counter of cycles (PAPI_TOT_CYC)" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run1Barr.prv", "run2Allr.prv"], 1, "are runs of different programs"),
        (["run2Barr2.prv"], 1, "4 ranks announced, 2 with events; the first without events is 2"),
        (["none.prv"], 1, "none.prv: cannot be read"),
        (["run1Barr.prv", "--serialisation", "x"], 1, "unknown definition of serialisation 'x'"),
        (["run1Barr.prv", "--law", "transfer"], 2, "'transfer' is not FACTOR=LAW"),
        (["run1Barr.prv", "--law", "transfer=pipeline"], 2, "--law needs --extrapolate"),
        (["run1Barr.prv", "--frequency", "1e9"], 2, "so it needs a network"),
        (["run1Barr.prv", "--mark", "step"], 2, "--mark is for iterations"),
        (["run1Barr.prv", "--extrapolate", "0"], 2, "--extrapolate"),
        (["none.prv", "none.csv", "--ranks", "0"], 2, "--ranks changes nothing of"),
        ([], 2, "Missing argument"),
    ],
)
def test_wrong_input_is_one_line(tmp_path: Path, words: list[str], code: int, message: str) -> None:
    write_run(tmp_path, 1)
    write_run(tmp_path, 2, function="MPI_Allreduce")
    write_run(tmp_path, 2, cut=2)
    done = factors(tmp_path, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_iterations_and_nominal_values(tmp_path: Path) -> None:
    names = [write_run(tmp_path, ranks) for ranks in (1, 2)]
    done = factors(tmp_path, *names, "--phase", "iterations", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [run["iterations"]["count"] for run in runs] == [3, 3]
    assert runs[1]["runtime_s"] == pytest.approx(3e-9 * (8800 + 1000))
    done = factors(tmp_path, *names, "--latency", "1e-7", "--format", "json")
    runs = json.loads(done.stdout)["runs"]
    # a barrier of two takes one message's latency, one of one rank nothing
    assert runs[0]["runtime_s"] == pytest.approx(4e-9 * 17600)
    assert runs[1]["runtime_s"] == pytest.approx(4e-9 * (8800 + 100))


def test_help_needs_no_numpy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['regionpredict', 'trace', '--help']\n"
        "from regionpredict.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "False"
    assert "factors" in done.stdout


def test_hints_that_are_none_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", "factors", "none.otf2",
         "--hints", str(tmp_path / "h.json")],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "not a hints file" in done.stderr
    assert done.stderr.count("\n") == 1


TRIANGLE = """
double a[3000][3000], x[3000], y[3000];
int main(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 3000; i++)
        for (int j = 0; j < i; j++)
            y[i] += a[i][j] * x[j];
    return 0;
}
"""


def test_the_sources_beside_what_their_regions_measured(tmp_path: Path) -> None:
    """One team of two whose region is a triangle: the second half of the rows has 3/4 of it."""
    pytest.importorskip("otf2")
    if shutil.which("clang-19") is None:
        pytest.skip("needs clang")
    (tmp_path / "f.c").write_text(TRIANGLE)
    program, trace = tmp_path / "f", tmp_path / "run" / "traces.otf2"
    build = ["clang-19", "-O1", "-g", "-fopenmp", str(tmp_path / "f.c"), "-o", str(program)]
    record = [sys.executable, "-m", "regionpredict", "trace", "record", "-o", str(tmp_path / "run")]
    for line in (build, [*record, "--", str(program)]):
        subprocess.run(
            line, check=True, timeout=600, capture_output=True,
            env={**os.environ, "OMP_NUM_THREADS": "2"},
        )  # fmt: skip
    given = (str(trace), "--source", "f.c", "-m", "skylake-gold-6148")
    done = factors(tmp_path, *given, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("factors-1")).validate(document)
    (row,) = document["runs"][0]["parallel_regions"]
    assert (row["threads"], row["line"]) == (2, 5)
    assert row["predicted_load_balance"] == pytest.approx(2 / 3, abs=0.001)
    # two cores of 20 on one memory: what is lost is the balance, and OpenMP's own cost
    assert 0.6 < row["predicted_efficiency"] <= row["predicted_load_balance"] + 0.01
    table = factors(tmp_path, *given)
    assert "predicted LB" in table.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "host"), "-m has no effect without --source"),
        (("--set", "n=4"), "--set has no effect without --source"),
        (("--source", "f.c", "--hints", "h.json"), "--hints cannot be used with --source"),
    ],
)
def test_options_of_sources_alone(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = factors(tmp_path, "none.otf2", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_part_of_each_run_is_extrapolated(tmp_path: Path) -> None:
    """The call path of the whole program is the whole run; a region of MPI alone is useless."""
    names = [write_run(tmp_path, ranks) for ranks in (1, 2, 4)]
    words = ("--extrapolate", "8", "--format", "json")
    whole = json.loads(factors(tmp_path, *names, *words).stdout)
    done = factors(tmp_path, *names, "--time", "-1", *words)
    assert json.loads(done.stdout)["extrapolation"] == whole["extrapolation"]
    done = factors(tmp_path, names[1], "--phase", "MPI_Barrier")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no process computes anything outside MPI" in done.stderr
    done = factors(tmp_path, names[1], "--call-path", "main/x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no call path 'main/x'" in done.stderr


def test_tables_take_the_place_of_traces(tmp_path: Path) -> None:
    (tmp_path / "pop.csv").write_text(
        "Number of processes;1;2;4\nLoad balance;100;95;90\nCommunication efficiency;100;98;96\n"
        "Runtime (us);4000000;2150000;1160000\n"
    )
    done = factors(tmp_path, "pop.csv", "--extrapolate", "8", "--format", "json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("factors-1")).validate(data)
    assert [run["ranks"] for run in data["runs"]] == [1, 2, 4]
    assert data["runs"][2]["parallel"] == pytest.approx(0.9 * 0.96)
    assert data["extrapolation"][0]["communication"] < 0.96
    assert factors(tmp_path, "pop.csv", "--format", "html", "--plot", "f.svg").returncode == 0
    done = factors(tmp_path, "pop.csv", "--ranks", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--ranks changes nothing of pop.csv" in done.stderr


def test_the_laws_fit_into_80_columns(tmp_path: Path) -> None:
    (tmp_path / "pop.csv").write_text(
        "Number of processes,1,2,4,8\nLoad balance,1,0.99,0.97,0.94\nSerialisation,1,1,1,1\n"
        "Transfer,1,0.999,0.995,0.99\nRuntime (s),8,4.2,2.3,1.3\n"
    )
    lines = factors(tmp_path, "pop.csv", "--extrapolate", "1024").stdout.splitlines()
    head, *laws = lines[lines.index("Laws of the factors") + 1 :]
    assert head.split() == ["factor", "weight", "law", "p", "processes", "off", "by"]
    assert ["serialisation", "100", "%", "constant", "1", "0.00"] in map(str.split, laws)
    assert max(map(len, lines)) <= 80
