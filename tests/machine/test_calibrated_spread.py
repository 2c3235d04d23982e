"""What calibration says of how sure its figures are, and what predictions make of that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.machine import load, unconverged_figures
from regionpredict.machine.calibrate.figures import figures
from regionpredict.machine.calibrate.plan import (
    FORESEEN,
    OPERATIONS,
    UNFORESEEN,
)
from regionpredict.machine.calibrate.samples import student_t
from regionpredict.machine.calibrate.spread import spreads
from regionpredict.machine.check import check
from regionpredict.machine.detect.topology import CacheShape, Topology
from regionpredict.machine.writer import Figures, write

ROOT = Path(__file__).resolve().parents[2]
NODE = Topology(
    "Made Up", "a test", 1, 2, 1, 1,
    (CacheShape(1, 32768, 64, 8, 1), CacheShape(3, 8 << 20, 64, 16, 2)), threads=(0, 1),
)  # fmt: skip


def around(value: float, share: float) -> list[float]:
    """Five samples whose mean and median are the value, and two of which are a share off."""
    return [value * (1 - share), value, value, value, value * (1 + share)]


def half(share: float) -> float:
    """Half of the 95 % interval of the mean of `around`, over the mean: by hand."""
    deviation = share * (2 / 4) ** 0.5  # two squares of `share`, by n - 1
    return float(student_t(4) * deviation / 5**0.5)


def test_the_spread_of_a_single_figure_is_its_interval() -> None:
    found = spreads(NODE, {"clock": around(0.5, 0.1), "latency/0": around(90, 0.02)})
    assert found == {"node.clock": pytest.approx(half(0.1)), "memory.latency": pytest.approx(
        half(0.02))}  # fmt: skip


def test_of_a_table_the_widest_point_by_the_largest_value() -> None:
    """What is next to nothing on one thread may be any part of nothing."""
    found = spreads(
        NODE, {"openmp/reduction/1": around(0.1, 0.9), "openmp/reduction/2": around(100, 0.1)}
    )
    assert found == {"openmp.reduction": pytest.approx(half(0.1))}


def test_levels_are_named_by_their_place_in_the_file() -> None:
    samples = {f"{kind}/3{rest}": around(10, 0.1) for kind, rest in (
        ("latency", ""), ("bandwidth", "/load/1"), ("capacity", "/65536"))}  # fmt: skip
    samples["bandwidth/0/copy/2"] = around(10, 0.1)
    samples["operation/exp/latency"] = [3.0]  # one sample has no interval
    found = spreads(NODE, samples)
    assert set(found) == {
        "caches[1].latency", "caches[1].bandwidth.load", "caches[1].size", "memory.bandwidth.copy",
        "operations.exp.latency",
    }  # fmt: skip
    assert found["operations.exp.latency"] == pytest.approx(9.99)


def test_the_latency_factor_is_how_many_lines_are_asked_for() -> None:
    samples = {"clock": [0.5] * 5, FORESEEN: around(12, 0.1), UNFORESEEN: around(40, 0.2)}
    made = figures(NODE, (), samples)
    assert made.latency_factor == pytest.approx(0.3)
    assert made.spread["density.latency_factor"] == pytest.approx(half(0.1) + half(0.2))
    quick = figures(NODE, (), {**samples, UNFORESEEN: [10.0] * 5})
    assert quick.latency_factor == 1.0  # no more than a streaming one
    assert figures(NODE, (), {"clock": [0.5] * 5}).latency_factor is None


def test_a_chain_of_library_calls_is_no_faster_than_calls_side_by_side() -> None:
    samples = {"clock": [0.5] * 5}
    for kind, latency, throughput in (("fmod", 3.0, 4.0), ("exp", 8.0, 4.0), ("fp_add", 1.0, 2.0)):
        samples[f"operation/{kind}/latency"] = [latency] * 5
        samples[f"operation/{kind}/throughput"] = [throughput] * 5
    made = figures(NODE, (), samples)
    assert made.operations == {"fmod": (8, 8), "exp": (16, 8), "fp_add": (2, 4)}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    spread = {
        "memory.latency": 0.2, "operations.exp.latency": 0.04, "openmp.barrier": 0.06,
        "processor.page_walk_factor": 0.03,
    }  # fmt: skip
    operations = dict.fromkeys(OPERATIONS, (8.0, 4.0))
    path = tmp_path / "m.yaml"
    measured = Figures(
        clock_hz=2e9, latency={0: 200.0}, operations=operations,
        openmp={"barrier": {1: 50.0, 2: 600.0}}, latency_factor=0.25,
        processor={"page_walk_factor": 2.5, "tlb_entries": 4096.0}, spread=spread,
    )  # fmt: skip
    path.write_text(write(NODE, "m", measured))
    machine = load(str(path))
    assert machine.spread == spread
    assert [one.key for one in unconverged_figures(machine)] == ["memory.latency", "openmp.barrier"]
    assert [one.key for one in check(machine) if "did not converge" in one.message] == [
        "memory.latency", "openmp.barrier"
    ]  # fmt: skip
    factor = machine.density.latency_factor
    assert (factor.value, factor.evidence) == (0.25, "measured")
    walk = machine.processor.page_walk_factor
    assert (walk.value, walk.evidence) == (2.5, "measured")
    assert machine.processor.tlb_entries.whole == 4096
    read, latency = (machine.density.miss["read", name] for name in ("streaming", "latency"))
    assert latency.value == pytest.approx(read.value / 4)
    left_out = {key for key in machine.defaulted if key.startswith("operations.")}
    assert left_out == set()  # all kinds are measured


@pytest.mark.parametrize(
    ("text", "said"),
    [("  memory.latency: -1\n", "memory.latency"), ("  latency: 0.1\n", "'latency' in spread"),
     ("  memory.latency: wide\n", "memory.latency")],
)  # fmt: skip
def test_wrong_entries(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m") + "spread:\n" + text)
    with pytest.raises(InputError, match=r"m\.yaml:\d+: ") as caught:
        load(str(path))
    assert said in str(caught.value)


def test_an_assumed_figure_did_not_have_to_settle(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(write(NODE, "m") + "spread:\n  memory.latency: 0.5\n  memory.link: 0.5\n")
    assert unconverged_figures(load(str(path))) == ()


def test_every_prediction_says_what_did_not_settle(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        "double a[100000];\nvoid f(void)\n{\n#pragma omp parallel for\n"
        "    for (int i = 0; i < 100000; i++) a[i] = 2 * a[i];\n}\n"
    )
    sure = write(NODE, "m", Figures(clock_hz=2e9, latency={0: 200.0}))
    (tmp_path / "sure.yaml").write_text(sure)
    (tmp_path / "m.yaml").write_text(sure + "spread:\n  memory.latency: 0.2\n  node.clock: 3\n")

    def run(*words: str) -> str:
        line = [sys.executable, "-m", "regionpredict", *words]
        settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "c")}
        return subprocess.run(
            line, cwd=tmp_path, env=settings, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    said = (
        "2 figures of m did not converge: node.clock (over ±100 %), memory.latency (±20 %); "
        "recalibrate on an idle host"
    )
    for model in ("saturation", "density"):
        for words in (("predict", "p.c"), ("explain", "p.c:4")):
            options = ("--model", model)
            assert said in " ".join(run(*words, "-m", "m.yaml", *options).split())
            assert "did not converge" not in run(*words, "-m", "sure.yaml", *options)
        hints = json.loads(run("predict", "p.c", "-m", "m.yaml", "--model", model, "--format",
                               "json"))  # fmt: skip
        assert hints["machine"]["unsettled"] == [
            {"figure": "node.clock", "spread": 3.0}, {"figure": "memory.latency", "spread": 0.2}
        ]  # fmt: skip


def test_a_figure_that_decides_and_did_not_settle_is_listed_and_makes_no_surer(
    tmp_path: Path,
) -> None:
    """As an assumed one: only where it decides."""
    (tmp_path / "p.c").write_text(
        "double a[8000000], b[8000000], c[8000000], d[400000];\n"
        "void stream(void) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < 8000000; i++) a[i] = b[i] + 3.0 * c[i];\n}\n"
        "void work(void) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < 400000; i++)\n"
        "    for (int k = 0; k < 1000; k++) d[i] = 0.5 * d[i] + 1.0;\n}\n"
    )
    sure = (ROOT / "machines" / "skylake-gold-6148.yaml").read_text()
    spread = "\nspread:\n  memory.bandwidth.triad: 0.4\n  memory.bandwidth.copy: 0.04\n"
    (tmp_path / "sure.yaml").write_text(sure)
    (tmp_path / "unsure.yaml").write_text(sure + spread)

    def predicted(machine: str, *words: str) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "c")}
        line = [sys.executable, "-m", "regionpredict", *words, "-m", machine]
        return subprocess.run(
            line, cwd=tmp_path, env=settings, check=True, capture_output=True, text=True
        )

    told = "memory.bandwidth.triad did not converge (±40 %)"
    documents = [
        json.loads(predicted(name, "predict", "p.c", "--format", "json").stdout)
        for name in ("sure.yaml", "unsure.yaml")
    ]
    for kind in ("regions", "teams"):
        (stream, work), (doubted, same) = (document[kind] for document in documents)
        assert stream["confidence"] >= doubted["confidence"] == 0.9
        assert told in doubted["assumed"] and told not in stream["assumed"]
        assert doubted["threads"] == stream["threads"], "the figure itself is the same"
        assert (same["confidence"], same["assumed"]) == (work["confidence"], work["assumed"])
    table = predicted("unsure.yaml", "predict", "p.c").stdout
    assert f"    {told}\n" in table
    assert f"  assumed: {told}\n" in predicted("unsure.yaml", "explain", "p.c:3").stdout
