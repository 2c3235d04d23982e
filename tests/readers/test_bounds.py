"""What an input may cost: past a bound there is one line, soon."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from regionpredict.documents import (
    MOST_DEPTH,
    compose_yaml,
    load_yaml,
    parse_json,
    parse_xml,
    read_bytes,
    read_text,
)
from regionpredict.errors import InputError, one_line
from regionpredict.fit.input.cube_profiles import read_profile
from regionpredict.fit.input.tar_members import TarMembers

ROOT = Path(__file__).resolve().parents[2]
BILLION = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)
)


def refused(text: str, load=load_yaml) -> str:
    with pytest.raises(InputError) as caught:
        load(text, "x", "mend it")
    return str(caught.value)


@pytest.mark.parametrize("load", [load_yaml, compose_yaml])
def test_yaml_is_counted_with_its_aliases(load) -> None:
    assert refused(BILLION, load).startswith("x:6: more than 200000 values")
    assert "contains itself" in refused("a: &a [*a]", load)
    assert "nested lists and" in refused("[" * 100_000, load)
    assert "nested lists and" in refused("- " * 100_000, load)
    assert "a number of 1000000 digits" in refused("a: " + "9" * 1_000_000, load)
    assert "longer than 4 MiB" in refused("#" * (5 << 20), load)


def test_values_that_are_none_are_refused_by_yaml() -> None:
    assert refused("a: 2001-02-31").startswith("x: not YAML")
    assert load_yaml("a: &a [1, 2]\nb: *a", "x", "") == {"a": [1, 2], "b": [1, 2]}


def test_json_has_a_depth_and_digits() -> None:
    deepest = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert parse_json(deepest, "x", "") is not None
    assert "nested lists and" in refused(f"[{deepest}]", parse_json)
    assert "nested lists and" in refused("[" * 1_000_000, parse_json)
    assert "digits" in refused("9" * 1_000_000, parse_json)
    # Brackets inside of texts are none.
    assert parse_json('"' + "[" * 1000 + '\\""', "x", "") == "[" * 1000 + '"'


def test_xml_defines_no_entities_and_has_a_depth() -> None:
    for text in (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', b"<a>" * 1000, b"", b"<a>"):
        with pytest.raises(InputError):
            parse_xml(text, "x", "")
    assert parse_xml(b'<!DOCTYPE a SYSTEM "a.dtd"><a><b/></a>', "x", "").tag == "a"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"x" * 11)
    (tmp_path / "bytes").write_bytes(b"a\n\xff")
    for path, said in (
        (Path("/dev/zero"), "not a regular file"), (tmp_path / "pipe", "not a regular file"),
        (tmp_path, "is a folder"), (tmp_path / "none", "No such file"),
        (Path("a\0b"), "not a file name"), (Path("x" * 5000), "File name too long"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=said):
            read_bytes(path, "")
    with pytest.raises(InputError, match="longer than"):
        read_bytes(tmp_path / "big", "", most=10)
    assert read_bytes(tmp_path / "big", "", most=11) == b"x" * 11
    with pytest.raises(InputError, match=":2: not a text file"):
        read_text(tmp_path / "bytes", "")


def test_errors_are_one_line_whatever_is_in_them() -> None:
    error = InputError("a\r\nb", remedy="c\x1b[0m", path="d\ne\udce9", line=3)
    assert str(error) == "d\\ne\\xe9:3: a\\r\\nb; c\\x1b[0m"
    assert one_line("plain café") == "plain café"


def test_tar_members_are_those_of_the_standard_library(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    content = {"anchor.xml": b"<a/>", "0.data": b"x" * 1300, "empty": b""}
    with tarfile.open(path, "w") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with path.open("rb") as stream:
        members = TarMembers(stream, path, 1 << 20)
        assert {name: members.read(name) for name in content} == content
        assert "none" not in members
    with path.open("rb") as stream, pytest.raises(InputError, match="longer than"):
        TarMembers(stream, path, 1000).read("0.data")


def test_a_call_tree_with_a_circle_ends(tmp_path: Path) -> None:
    """Two calls of one number: a walk over the tree would never end."""
    anchor = (
        b'<cube><program><cnode id="0" calleeId="0"><cnode id="0" calleeId="0"/></cnode>'
        b"</program></cube>"
    )
    path = tmp_path / "p.cubex"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("anchor.xml")
        info.size = len(anchor)
        archive.addfile(info, io.BytesIO(anchor))
    with pytest.raises(InputError, match="not a readable Cube4 profile"):
        list(read_profile(path))


def test_a_billion_nodes_take_no_memory(tmp_path: Path) -> None:
    """Through a process that may take 1 GiB: the file would need seven."""
    (tmp_path / "m.yaml").write_text(BILLION)
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
        "from regionpredict.cli.main import program; program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "machines", "show", str(tmp_path / "m.yaml")],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "more than 200000 values" in done.stderr


HINT = (
    '{{"schema": "regionpredict/hints/1", "model": "saturation", "machine": {{"name": "m", '
    '"packages": 1, "cores_per_package": 4}}, "regions": [{{"id": "f.c:3", "file": "f.c", '
    '"line": 3, "function": "f", "status": "predicted", "packages": 1, "threads": {threads}, '
    '"score": null, "bottleneck": null, "confidence": 1, "borderline": false, "speedup": [], '
    '"assumed": []}}]}}'
)


@pytest.mark.parametrize("threads", ["-4", '"x"', "0", "2.5", "1e999", "true", "[]", "9" * 30])
def test_run_takes_no_hint_that_is_none(tmp_path: Path, threads: str) -> None:
    (tmp_path / "h.json").write_text(HINT.format(threads=threads))
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "run", "--hints", "h.json", "--", "true"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "'regions[0].threads' is" in done.stderr
