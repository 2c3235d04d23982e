"""`check` finds what was broken on purpose, and leaves a sound model alone."""

from __future__ import annotations

import pytest

from regionpredict.machine.check import check
from regionpredict.machine.reader import read

SOUND = """\
name: sound
source: a made up data sheet
node: {packages: 2, cores_per_package: 8, clock: 2 GHz, simd: 256}
caches:
  - {level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 4, bytes_per_cycle: 64}
  - {level: 2, size: 256 KiB, ways: 8, cores: 1, latency: 12, bytes_per_cycle: 32}
  - {level: 3, size: 16 MiB, ways: 16, cores: 8, latency: 40, bytes_per_cycle: 16}
memory:
  latency: 90 ns
  peak: 51.2
  bandwidth:
    load: {1: 11, 4: 40, 8: 44}
"""


def found(text: str, severity: str) -> list[tuple[str, str]]:
    return [(f.key, f.message) for f in check(read(text, "m")) if f.severity == severity]


def test_a_sound_model_has_neither_errors_nor_warnings():
    assert found(SOUND, "error") == []
    assert found(SOUND, "warning") == []


def test_what_was_left_out_is_noted():
    keys = [key for key, _ in found(SOUND, "note")]
    assert {"operations.fp_add", "openmp.barrier", "memory.bandwidth.copy"} <= set(keys)


@pytest.mark.parametrize(
    ("old", "new", "severity", "key"),
    [
        ("latency: 12", "latency: 4", "error", "caches[1].latency"),
        ("latency: 40", "latency: 11", "error", "caches[2].latency"),
        ("latency: 90 ns", "latency: 39", "error", "memory.latency"),
        ("size: 256 KiB", "size: 16 KiB", "error", "caches[1].size"),
        ("cores: 1, latency: 4", "cores: 2, latency: 4", "error", "caches[1].cores"),
        ("peak: 51.2", "peak: 43", "error", "memory.bandwidth.load"),
        ("4: 40, 8: 44", "4: 40, 8: 30", "warning", "memory.bandwidth.load"),
        ("4: 40, 8: 44", "4: 60, 8: 61", "warning", "memory.bandwidth.load"),
        ("cores: 8, latency: 40", "cores: 3, latency: 40", "warning", "caches[2].cores"),
        ("size: 32 KiB, ways: 8", "size: 32 KiB, ways: 7", "warning", "caches[0].ways"),
        ("cycle: 32}", "cycle: 100}", "warning", "caches[1].bytes_per_cycle"),
        ("4: 40, 8: 44", "4: 40", "note", "memory.bandwidth.load"),
        ("  peak: 51.2\n", "", "note", "memory.peak"),
        ("peak: 51.2", "peak: {assumed: 51.2, source: no idea}", "note", "memory.peak"),
    ],
)
def test_what_was_broken_is_found(old, new, severity, key):
    text = SOUND.replace(old, new)
    assert text != SOUND
    assert key in [name for name, _ in found(text, severity)]


@pytest.mark.parametrize(
    ("extra", "key"),
    [
        ("operations: {fp_add: {latency: 3, throughput: 4}}\n", "operations.fp_add"),
        ("operations: {fp_add: {latency: 30}}\n", "operations.fp_div"),
        ("openmp: {barrier: {1: 900, 16: 100}}\n", "openmp.barrier"),
        ("openmp: {barrier: {1: 9, 16: 900}, fork_join: {1: 9, 16: 800}}\n", "openmp.fork_join"),
        ("density: {miss: {read_latency: 99}}\n", "density.miss.read_latency"),
        ("density: {miss: {write_streaming: 1}}\n", "density.miss.write_streaming"),
    ],
)
def test_costs_out_of_proportion_are_warned_of(extra, key):
    assert key in [name for name, _ in found(SOUND + extra, "warning")]


def test_errors_come_first():
    text = SOUND.replace("latency: 12", "latency: 2").replace("8: 44", "8: 20")
    ranks = [("error", "warning", "note").index(f.severity) for f in check(read(text, "m"))]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0
