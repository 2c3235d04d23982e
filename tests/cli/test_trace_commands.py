"""`regionpredict trace` as a process: exit codes, what is printed where."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import jsonschema
import pytest
from command_line import call

from regionpredict.report.hints import schema
from regionpredict.trace.profile import Balance

pytest.importorskip("otf2")
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from synthetic_trace import write_archive

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.compiler


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("cli") / "ring", 3, 20)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", *words],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "metric"),
    [("waits", "wait_nxn"), ("delays", "delay_short.wait_nxn"), ("critical-path", "critical_path")],
)
def test_json_is_as_fixed(archive: Path, command: str, metric: str) -> None:
    done = run(command, str(archive), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("trace-1")).validate(result)
    records = [record for record in result["records"] if record["metric"] == metric]
    assert set(records[0]) == {"metric", "callpath", "location", "value", "unit"}
    assert records[0]["callpath"].startswith("main/step") or metric == "critical_path"
    assert {record["location"] for record in records} <= {0, 1, 2}
    assert sum(record["value"] for record in records) == pytest.approx(result["totals"][metric])
    assert all(balance["holds"] for balance in result["conservation"])
    assert result["findings"] == []


@pytest.mark.parametrize("command", ["waits", "delays", "critical-path"])
def test_a_violated_sum_ends_the_command_with_3(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """The results are written with a warning, and the line says which sum it is."""
    unequal = property(lambda balance: balance.left == balance.right + 1)
    monkeypatch.setattr(Balance, "holds", unequal)
    done = call(monkeypatch, capsys, "trace", command, str(archive))
    assert done.code == 3
    assert done.out.startswith("Do not rely on these results")
    first = done.err.splitlines()[0]
    assert first.startswith("regionpredict: traces.otf2: the sides of a sum differ")
    assert re.search(r"= .+: [\d.e-]+ s and [\d.e-]+ s$", first)


def test_metric_leaves_out_other_counts(archive: Path) -> None:
    done = run("waits", str(archive), "--format", "json", "--metric", "late_sender")
    result = json.loads(done.stdout)
    assert set(result["counts"]) == set(result["totals"]) == {"late_sender"}


def test_the_folder_does_as_well_as_the_anchor(archive: Path) -> None:
    assert run("waits", str(archive)).stdout == run("waits", str(archive.parent)).stdout


def test_csv_has_a_row_each_record(archive: Path) -> None:
    done = run("delays", str(archive), "--format", "csv", "--metric", "delay_short.wait_nxn")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert done.returncode == 0
    assert {row["metric"] for row in rows} == {"delay_short.wait_nxn"}
    assert all(row["source"] == "ring.c:10" for row in rows)


def test_the_first_lines_say_how_much_of_the_run_is_waiting(archive: Path) -> None:
    """The ring of 20 iterations of 20 us begins after 100.01 us and ends 1.01 us after the last."""
    totals = json.loads(run("waits", str(archive), "--format", "json").stdout)["totals"]
    waited = sum(totals.get(name, 0.0) for name in WAITS)
    share = f"{waited / (3 * 501.02e-6):.0%}".replace("%", " %")
    for command in ("waits", "delays"):
        second, first = run(command, str(archive)).stdout.splitlines()[:2]
        assert first.startswith("traces.otf2: 3 locations on 3 ranks, ")
        assert first.endswith(" events, run time 501 µs")
        assert second == (
            f"Waiting: {share} of the time of all locations, {waited * 1e6:.3g} µs in sum."
        )


WAITS = ("late_sender", "late_receiver", "wait_nxn", "wait_finalize")


def test_sums_that_hold_have_one_value_in_a_suitable_unit(archive: Path) -> None:
    printed = run("delays", str(archive)).stdout
    sums = [line for line in printed.splitlines() if " = " in line]
    assert sums
    assert all(re.search(r"  [0-9.]{1,5} [mµ]s on both sides$", line) for line in sums)
    assert not re.search(r"[0-9]{6,} s", printed)


def test_table_and_file(archive: Path, tmp_path: Path) -> None:
    done = run("critical-path", str(archive), "-o", str(tmp_path / "path.txt"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "written:" in done.stderr
    text = (tmp_path / "path.txt").read_text()
    assert "path = from its start to its end" in text


@pytest.mark.parametrize("command", ["waits", "delays", "critical-path", "imbalance", "what-if"])
def test_tables_stay_within_80_columns(archive: Path, command: str) -> None:
    done = run(command, str(archive))
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


def test_wrong_input_is_one_line(tmp_path: Path) -> None:
    done = run("waits", str(tmp_path / "none.otf2"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "none.otf2" in done.stderr


def test_wrong_metric_is_a_wrong_call(archive: Path) -> None:
    done = run("waits", str(archive), "--metric", "late")
    assert done.returncode == 2
    assert "there is no metric 'late'" in done.stderr


def test_damage_is_told_and_the_rest_analysed(archive: Path, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "cut"
    shutil.copytree(archive.parent, folder)
    (folder / "traces" / "2.evt").unlink()
    done = run("waits", str(folder), "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["findings"]
    assert "regionpredict: note: location 2:" in done.stderr
    assert "Traceback" not in done.stderr


def test_export_is_a_timeline_with_the_path(archive: Path) -> None:
    done = run("export", str(archive))
    assert (done.returncode, done.stderr) == (0, "")
    events = json.loads(done.stdout)["traceEvents"]
    regions = [event for event in events if event["ph"] == "X" and event["cat"] != "critical path"]
    assert len([event for event in regions if event["name"] == "work"]) == 3 * 20
    assert len([event for event in events if event["ph"] == "s"]) == 3 * 20
    path = sorted(
        (event for event in events if event["ph"] == "X" and event["cat"] == "critical path"),
        key=lambda event: event["ts"],
    )
    assert path
    assert all(event["dur"] >= 0 for event in regions + path)
    totals = json.loads(run("waits", str(archive), "--format", "json").stdout)["totals"]
    late = [event for event in events if event.get("cat") == "wait"]
    assert {event["name"] for event in late} <= set(totals)
    for name in ("late_sender", "wait_barrier"):
        waited = sum(event["dur"] for event in late if event["name"] == name)
        assert waited == pytest.approx(1e6 * totals.get(name, 0.0), abs=0.01 * len(late))
    assert any(event["args"]["waits for"] for event in late)


def test_what_if_ranks_by_gain(archive: Path, tmp_path: Path) -> None:
    done = run("what-if", str(archive), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("what-if-1")).validate(result)
    changes = result["changes"]
    assert changes
    assert [c["gain_s"] for c in changes] == sorted((c["gain_s"] for c in changes), reverse=True)
    assert all(c["runtime_s"] + c["gain_s"] == pytest.approx(result["runtime_s"]) for c in changes)
    delays = json.loads(run("delays", str(archive), "--format", "json").stdout)["records"]
    first = changes[0]["callpath"]
    assert changes[0]["delay_cost_s"] == pytest.approx(
        sum(r["value"] for r in delays if r["callpath"] == first and r["metric"][:5] == "delay")
    )
    table = run("what-if", str(archive), "--callpath", first).stdout
    assert first in table
    assert max(map(len, table.splitlines())) <= 90
    rows = list(csv.DictReader(io.StringIO(run("what-if", str(archive), "--format", "csv").stdout)))
    assert [row["callpath"] for row in rows] == [c["callpath"] for c in changes]


def test_export_for_cube_by_the_name_of_the_file(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "run.cubex"
    done = run("export", str(archive), "-o", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    assert f"written: {target}" in done.stderr
    with tarfile.open(target) as parts:
        assert {"anchor.xml", "0.index", "0.data"} <= set(parts.getnames())
    done = run("export", str(archive), "--format", "cube")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give -o FILE.cubex" in done.stderr


def test_messages_by_pair_and_size(archive: Path) -> None:
    done = run("messages", str(archive), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("messages-1")).validate(result)
    sums = [sum(row["messages"] for row in result[key]) for key in ("pairs", "sizes")]
    assert sums == [result["messages"]] * 2
    assert result["messages"] > 0
    rows = list(
        csv.DictReader(io.StringIO(run("messages", str(archive), "--format", "csv").stdout))
    )
    assert len(rows) == len(result["pairs"])
    assert "the rank of the column" in run("messages", str(archive)).stdout
    done = run("messages", str(archive), "--correct-clocks")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave --correct-clocks out" in done.stderr


def test_what_if_of_an_unknown_call_path(archive: Path) -> None:
    done = run("what-if", str(archive), "--callpath", "main/none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no call path 'main/none'" in done.stderr


def test_imbalance_by_call_path(archive: Path) -> None:
    done = run("imbalance", str(archive), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("imbalance-1")).validate(result)
    impacts = [row["runtime_impact_s"] for row in result["callpaths"]]
    assert impacts == sorted(impacts, reverse=True)
    for row in (result["whole"], *result["callpaths"]):
        mine = [
            record["value"]
            for record in result["records"]
            if (record["callpath"], record["metric"]) == (row["callpath"], "workload_deviation")
        ]
        assert len(mine) == 3
        assert max(mine) == pytest.approx(row["runtime_impact_s"])
        assert row["allocation_impact_s"] == pytest.approx(3 * row["runtime_impact_s"])
    assert result["iterations"]["count"] > 10
    table = run("imbalance", str(archive), "--top", "2").stdout
    assert "I_t = " in table
    assert "more; --top " in table
    assert max(map(len, table.splitlines())) <= 90


def test_imbalance_with_an_unknown_mark(archive: Path) -> None:
    done = run("imbalance", str(archive), "--mark", "nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert "enters 'nothing' 0 times" in done.stderr


def test_a_part_is_chosen(archive: Path) -> None:
    done = run("waits", str(archive), "--ranks", "0,1", "--time", "1e-4-3e-4", "--format", "json")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert {record["location"] for record in result["records"]} == {0, 1}
    messages = [finding["message"] for finding in result["findings"]]
    assert any("outside the selection" in message for message in messages)


@pytest.mark.parametrize(
    "words", [("--ranks", "1-0"), ("--ranks", "x"), ("--time", "2-1"), ("--time", "-")]
)
def test_a_part_that_is_not_understood(archive: Path, words: tuple[str, str]) -> None:
    done = run("waits", str(archive), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert words[0] in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_store_tells_what_the_archive_does(archive: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    store = tmp_path / "store"
    done = run("convert", str(archive), "-o", str(store))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"written: {store}\n"
    for words in ([], ["--ranks", "1-2", "--time", "1e-4-4e-4"]):
        for command in ("waits", "delays", "critical-path"):
            told = [
                run(command, str(path), "--format", "json", *words) for path in (archive, store)
            ]
            assert told[0].returncode == 0
            assert (told[0].stdout, told[0].stderr) == (told[1].stdout, told[1].stderr)
    again = run("convert", str(archive), "-o", str(store))
    assert (again.returncode, again.stdout) == (1, "")
    assert "is there already" in again.stderr
    apart = run("waits", str(store), "-j", "2")
    assert (apart.returncode, apart.stderr.count("\n")) == (2, 1)


def test_clocks_are_told_of_and_corrected(archive: Path) -> None:
    done = run("waits", str(archive), "--correct-clocks", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["clock_violations"] == []
    assert done.stdout == run("waits", str(archive), "--format", "json").stdout


def test_without_the_writer_the_program_is_not_run(tmp_path: Path) -> None:
    """A long run is not lost for want of a package."""
    (tmp_path / "otf2.py").write_text("raise ImportError('not here')\n")
    record = [sys.executable, "-m", "regionpredict", "trace", "record", "-o", "trace", "--"]
    done = subprocess.run(
        [*record, "touch", "ran"], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=600, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
    )  # fmt: skip
    assert done.returncode == 1 and "writing OTF2 needs the package otf2" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "ran").exists() and not (tmp_path / "trace").exists()


@pytest.mark.parametrize(("words", "size"), [((), 100 << 20), (("--limit", "0"), 0)])
def test_recorders_get_a_limit(tmp_path: Path, words: tuple[str, ...], size: int) -> None:
    pytest.importorskip("otf2")
    program = ["sh", "-c", 'echo "$REGIONPREDICT_TRACE_LIMIT" > limit']
    subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", "record", *words, "--", *program],
        cwd=tmp_path, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert int((tmp_path / "limit").read_text()) == size


@pytest.mark.parametrize("group", ["trace", "tasks", "machines", "cache"])
def test_a_group_by_itself_prints_its_help(group: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", group], capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    shown = done.stdout + done.stderr  # click before 8.2 prints it as --help does
    assert shown.startswith(f"Usage: regionpredict {group} ")
    assert f"see 'regionpredict {group} --help'" not in shown
