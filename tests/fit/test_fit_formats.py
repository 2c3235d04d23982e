"""One experiment in every format gives the same series; wrong files give one line each."""

from __future__ import annotations

import csv
import io
import json
import struct
import tarfile
import zlib

import pytest
from click.testing import CliRunner

from regionpredict.cli.fit import command
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.input import read
from regionpredict.fit.input.csv_table import read_csv
from regionpredict.fit.input.extrap_text import parse_text
from regionpredict.fit.output.measured_series import (
    measurements_csv,
    measurements_extrap_json,
    measurements_extrap_text,
)

POINTS = [2.0, 4.0, 8.0, 16.0, 32.0]
TRUTH = {"main": lambda p: 3 + 2 * p, "main->solve": lambda p: 5 + 0.5 * p * p}


def rows():
    return [(c, p, f(p) + r / 8) for c, f in TRUTH.items() for p in POINTS for r in range(2)]


def as_text():
    lines = ["PARAMETER p", "POINTS " + " ".join(f"{p:g}" for p in POINTS)]
    for c, f in TRUTH.items():
        lines += [f"REGION {c}", "METRIC time"]
        lines += [f"DATA {f(p)} {f(p) + 0.125}" for p in POINTS]
    return "\n".join(lines) + "\n"


def as_short_json():
    found = {
        c: {"time": [{"point": [p], "values": [f(p), f(p) + 0.125]} for p in POINTS]}
        for c, f in TRUTH.items()
    }
    return json.dumps({"parameters": ["p"], "measurements": found})


def as_legacy_json():
    names = list(TRUTH)
    return json.dumps(
        {
            "parameters": [{"id": 1, "name": "p"}],
            "metrics": [{"id": 1, "name": "time"}],
            "callpaths": [{"id": k + 1, "name": c} for k, c in enumerate(names)],
            "coordinates": [
                {
                    "id": k + 1,
                    "parameter_value_pairs": [{"parameter_id": 1, "parameter_value": str(p)}],
                }
                for k, p in enumerate(POINTS)
            ],
            "measurements": [
                {
                    "id": k,
                    "coordinate_id": POINTS.index(p) + 1,
                    "callpath_id": names.index(c) + 1,
                    "metric_id": 1,
                    "value": v,
                }
                for k, (c, p, v) in enumerate(rows())
            ],
        },
        indent=1,
    )


def as_json_lines():
    return "\n".join(
        json.dumps({"params": {"p": p}, "callpath": c, "metric": "time", "value": v})
        for c, p, v in rows()
    )


def as_talpas():
    return "\n".join(
        json.dumps({"parameters": {"p": p}, "callpath": c, "metric": "time", "value": v}).replace(
            ",", ";"
        )
        for c, p, v in rows()
    )


def as_csv():
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["region", "p", "rep", "time"])
    writer.writerows((c, p, k, v) for k, (c, p, v) in enumerate(rows()))
    return out.getvalue()


FORMS = {
    "a.txt": as_text,
    "b.json": as_short_json,
    "c.json": as_legacy_json,
    "d.jsonl": as_json_lines,
    "e.txt": as_talpas,
    "f.csv": as_csv,
    "g.dat": as_json_lines,
}


def expected():
    return {c: {(p,): [f(p), f(p) + 0.125] for p in POINTS} for c, f in TRUTH.items()}


def found_in(experiment):
    return {
        s.callpath: {p: list(v) for p, v in zip(s.points, s.values, strict=True)}
        for s in experiment.series
    }


@pytest.mark.parametrize("name", FORMS)
def test_every_format_holds_the_same_measurements(tmp_path, name):
    path = tmp_path / name
    path.write_text(FORMS[name]())
    experiment = read(path)
    assert found_in(experiment) == expected()
    assert {s.metric for s in experiment.series} == {"time"}
    assert {s.parameters for s in experiment.series} == {("p",)}


@pytest.mark.parametrize(
    ("writer", "name"),
    [
        (measurements_csv, "x.csv"),
        (measurements_extrap_text, "x.txt"),
        (measurements_extrap_json, "x.json"),
    ],
)
def test_what_is_written_can_be_read_back(tmp_path, writer, name):
    first = parse_text(as_text().splitlines())
    (tmp_path / name).write_text(writer(first))
    assert found_in(read(tmp_path / name)) == found_in(first)


def test_names_add_no_lines_and_no_formulas(tmp_path):
    """A name with a line of data in it, and a parameter that a spreadsheet would execute."""
    text = "callpath,metric,=a b(),value\n" + "".join(
        f'"f\nDATA 9",@sum,{p},{p}\n' for p in (1, 2, 4, 8, 16)
    )
    (tmp_path / "x.csv").write_text(text)
    (series,) = read(tmp_path / "x.csv").series
    assert (series.callpath, series.parameters) == ("f\nDATA 9", ("=a b()",))
    first = read(tmp_path / "x.csv")
    lines = measurements_extrap_text(first).splitlines()
    assert lines[0] == "PARAMETER =a_b()"
    assert lines[2:5] == ["REGION f\\nDATA 9", "METRIC @sum", "DATA 1.0"]
    assert measurements_csv(first).splitlines()[0] == "callpath,metric,'=a b(),value"


def test_the_text_format_of_the_source():
    """Shudler 2018, fig. 2.3."""
    text = """
POINTS 8 16 32

EXPERIMENT Time/MPI_Recv
DATA 0.283169 0.285326 0.289267
DATA 0.458113 0.473634 0.449258
DATA 0.608647 0.598367 0.620311
"""
    (series,) = parse_text(text.splitlines()).series
    assert (series.metric, series.callpath) == ("Time", "MPI_Recv")
    assert series.points == ((8.0,), (16.0,), (32.0,))
    assert series.values[1] == [0.458113, 0.473634, 0.449258]


def test_points_of_two_parameters():
    text = [
        "PARAMETER p n",
        "POINTS (2 10) ( 4 10 ) (2 20)",
        "REGION a",
        "DATA 1",
        "DATA 2",
        "DATA 3",
    ]
    (series,) = parse_text(text).series
    assert series.points == ((2.0, 10.0), (4.0, 10.0), (2.0, 20.0))


def _profile(path, values, *, packed, inclusive, kind="FLOAT"):
    """A Cube4 archive: main calls solve and io, solve calls kernel; two locations."""
    sums = "INCLUSIVE" if inclusive else "EXCLUSIVE"
    anchor = f"""<?xml version="1.0"?><cube version="4.0"><metrics>
<metric id="0" type="{sums}"><disp_name>Time</disp_name><uniq_name>time</uniq_name>
<dtype>{kind}</dtype><uom>sec</uom></metric></metrics><program>
<region id="0"><name>main</name></region><region id="1"><name>solve</name></region>
<region id="2"><name>kernel</name></region><region id="3"><name>io</name></region>
<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"><cnode id="2" calleeId="2"/></cnode>
<cnode id="3" calleeId="3"/></cnode></program></cube>""".encode()
    # Exclusive values are stored depth first, inclusive ones with all children together.
    order = ["main", "solve", "io", "kernel"] if inclusive else ["main", "solve", "kernel", "io"]
    index = b"CUBEX.INDEX" + struct.pack("<ihbi4i", 1, 0, 0, 4, 0, 1, 2, 3)
    code = "<2d" if kind == "FLOAT" else "<2Q"
    raw = b"".join(struct.pack(code, *values[name]) for name in order)
    data = b"CUBEX.DATA" + raw
    if packed:
        halves = [zlib.compress(raw[:32]), zlib.compress(raw[32:])]
        heads = struct.pack("<6q", 0, 0, len(halves[0]), 32, len(halves[0]), len(halves[1]))
        data = b"ZCUBEX.DATA" + struct.pack("<q", 2) + heads + b"".join(halves)
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w") as archive:
        for name, content in (("anchor.xml", anchor), ("0.index", index), ("0.data", data)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.mark.parametrize("packed", [False, True])
def test_cube_folders(tmp_path, packed):
    for p in POINTS:
        for r in (1, 2):
            own = {"main": 1.0, "solve": p, "kernel": p * p, "io": 4.0}
            inclusive = r == 2
            if inclusive:
                own = {"kernel": p * p, "io": 4.0, "solve": p + p * p, "main": 5.0 + p + p * p}
            # The second location took 2 longer in everything exclusive: solve has 4 more then.
            extra = (
                {"main": 8, "solve": 4, "kernel": 2, "io": 2}
                if inclusive
                else dict.fromkeys(own, 2)
            )
            values = {name: (v, v + extra[name]) for name, v in own.items()}
            _profile(
                tmp_path / f"run.p{p:g}.n100.r{r}" / "profile.cubex",
                values,
                packed=packed,
                inclusive=inclusive,
            )
    experiment = read(tmp_path)
    found = found_in(experiment)
    assert {s.parameters for s in experiment.series} == {("p",)}
    assert found["main->solve->kernel"] == {(p,): [p * p + 1] * 2 for p in POINTS}
    assert found["main->solve"] == {(p,): [p + 1] * 2 for p in POINTS}
    assert found["main"] == {(p,): [2.0] * 2 for p in POINTS}
    assert found["main->io"] == {(p,): [5.0] * 2 for p in POINTS}


def test_folders_may_have_a_postfix_behind_the_repetition(tmp_path):
    for p in POINTS:
        for r in (1, 2):
            for kind, factor in (("weak", 1), ("strong", 3)):
                own = dict.fromkeys(("main", "solve", "kernel", "io"), (factor * p, 1.0))
                name = f"ms2_p{p:g}_r{r}_{kind}"
                _profile(tmp_path / name / "profile.cubex", own, packed=False, inclusive=False)
    experiment = read(tmp_path)
    found = found_in(experiment)
    assert {s.parameters for s in experiment.series} == {("p",)}
    assert {path.split("->")[0] for path in found} == {"weak", "strong"}
    assert found["weak->main"] != found["strong->main"]
    assert all(len(values) == 2 for points in found.values() for values in points.values())


def test_headers_of_cube_4_8_have_wrong_checksums(tmp_path):
    path = tmp_path / "run.p2.r1" / "profile.cubex"
    own = dict.fromkeys(("main", "solve", "kernel", "io"), (2.0, 4.0))
    _profile(path, own, packed=False, inclusive=False)
    content = bytearray(path.read_bytes())
    content[148:156] = b"013071\0\0"
    path.write_bytes(content)
    assert set(map(str, found_in(read(tmp_path)).values())) == {"{(2.0,): [3.0]}"}


def test_counters_below_zero_leave_differences_right(tmp_path):
    path = tmp_path / "run.p2.r1" / "profile.cubex"
    inclusive = {"kernel": -2, "io": 4, "solve": 3, "main": 17}
    values = {name: (value % 2**64,) * 2 for name, value in inclusive.items()}
    _profile(path, values, packed=False, inclusive=True, kind="UINT64")
    found = found_in(read(tmp_path))
    assert {name: points[2.0,] for name, points in found.items()} == {
        "main": [10.0], "main->solve": [5.0], "main->solve->kernel": [-2.0], "main->io": [4.0]
    }  # fmt: skip


def test_a_broken_profile_is_a_problem_of_its_own(tmp_path):
    for p in POINTS:
        own = dict.fromkeys(("main", "solve", "kernel", "io"), (p, p))
        _profile(tmp_path / f"run.p{p:g}.r1" / "profile.cubex", own, packed=False, inclusive=False)
    (tmp_path / "run.p2.r1" / "profile.cubex").write_bytes(b"no archive")
    experiment = read(tmp_path)
    assert [s.points for s in experiment.series] == [((4.0,), (8.0,), (16.0,), (32.0,))] * 4 or len(
        experiment.series[0].points
    ) == 4
    assert "profile.cubex" in str(experiment.problems[0])


BAD = """PARAMETER p
POINTS 2 4 8 16 32
METRIC time
REGION whole
DATA 1 1
DATA 2 2
DATA 3 3
DATA 4 4
DATA 5 5
REGION nan_and_ragged
DATA 4 nan
DATA 4 4 4
DATA 4
DATA 4 4
DATA 4 4
REGION missing_point
DATA 3
DATA 5
DATA 9
DATA 17
REGION word
DATA 1
DATA two
DATA 3
DATA 4
DATA 5
REGION too_many
DATA 1
DATA 1
DATA 1
DATA 1
DATA 1
DATA 1
"""


def test_series_that_fail_alike_are_one_problem(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("POINTS 1 2\n" + "".join(f"REGION {k}\nDATA 1\nDATA 2\n" for k in range(3)))
    result = CliRunner().invoke(command, [str(path)])
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert f"{path}:2: 0 and 2 other series: 2 different points" in line


def test_bad_series_fail_alone_with_their_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(BAD)
    result = CliRunner().invoke(command, [str(path), "--format", "json"])
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["schema"] == "regionpredict/models/1"
    assert [m["callpath"] for m in data["models"]] == ["whole", "nan_and_ragged"]
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert f"{path}:16: missing_point, time: 4 different points" in result.stderr
    assert f"{path}:23: 'two' is not a number" in result.stderr
    assert f"{path}:33: more DATA lines than the 5 POINTS" in result.stderr
    assert all(";" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "", "empty"),
        ("a.txt", "POINTS 1 2\nHELLO 3\n", "a.txt:2: unknown keyword 'HELLO'"),
        ("a.txt", "PARAMETER p\nPOINTS 1 x\n", "a.txt:2: a point is not a number"),
        ("a.txt", "PARAMETER p n\nPOINTS 1 2\n", "a.txt:2: a point has 1 numbers"),
        ("a.json", '{"parameters": ["p"]}', "'measurements' is missing"),
        ("a.json", '{"parameters": [', "a.json:1:"),
        ("a.csv", "region,p,time\n", "no rows"),
        ("a.csv", "region,p,joules\na,1,2\n", "no column of values"),
        ("a.jsonl", "{}\n", "'params' is missing"),
        ("a.bin", "\0\1", "unknown keyword"),
    ],
)
def test_wrong_files_are_one_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.remedy


def test_missing_file():
    with pytest.raises(InputError, match="no such file"):
        read("nowhere.txt")


def test_unknown_metric_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(as_text())
    result = CliRunner().invoke(command, [str(path), "--metric", "energy"])
    assert isinstance(result.exception, InputError)
    assert "there is no metric 'energy'; there are time" in str(result.exception)


def test_models_are_ranked_by_growth_and_predicted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(as_text())
    result = CliRunner().invoke(command, [str(path), "--predict", "p=64"])
    assert result.exit_code == 0
    assert result.output.index("main->solve") < result.output.index("main  ")
    result = CliRunner().invoke(command, [str(path), "--predict", "p=64", "--format", "json"])
    data = json.loads(result.output)
    values = {one["callpath"]: one["value"] for one in data["predictions"]}
    assert values["main"] == pytest.approx(131.06, rel=1e-2)
    assert values["main->solve"] == pytest.approx(2053.06, rel=1e-2)
    for one in data["predictions"]:
        assert one["low"] <= one["value"] <= one["high"]
    solve = next(m for m in data["models"] if m["callpath"] == "main->solve")
    assert [t["powers"] for t in solve["terms"]] == [{"p": [2.0, 0.0]}]


@pytest.mark.parametrize(
    "form", ["csv", "latex", "python", "extrap-text", "extrap-json", "data-csv"]
)
def test_other_outputs(tmp_path, form):
    path = tmp_path / "a.txt"
    path.write_text(as_text())
    result = CliRunner().invoke(command, [str(path), "--format", form])
    assert result.exit_code == 0
    assert "main->solve" in result.output


def test_names_that_a_spreadsheet_would_run_come_back_as_they_were(tmp_path):
    """In the file they begin with an apostrophe; numbers, negative ones too, do not."""
    points = ((1.0,), (2.0,))
    names = ("=main", "@main", "-main", "'main'")
    written = Experiment(
        tuple(Series(name, "+time", ("p",), points, ((-1.0,), (2.0,))) for name in names)
    )
    text = measurements_csv(written)
    assert "'=main,'+time,1.0,-1.0\n" in text
    (tmp_path / "x.csv").write_text(text)
    read_back = read_csv(tmp_path / "x.csv")
    assert {(series.callpath, series.metric) for series in read_back.series} == {
        (name, "+time") for name in names
    }
