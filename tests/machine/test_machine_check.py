"""`check` finds what was broken on purpose, and leaves a sound model alone."""

from __future__ import annotations

import pytest

from regionpredict.errors import InputError
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
        ("cores: 1, latency: 4", "line: 96, cores: 1, latency: 4", "error", "caches[0].line"),
        ("cores: 1, latency: 4", "line: 128, cores: 1, latency: 4", "warning", "caches[0].line"),
        ("latency: 90 ns", "latency: 90 ns\n  page: 5000", "error", "memory.page"),
        ("latency: 90 ns", "latency: 90 ns\n  page: 32", "error", "memory.page"),
        # copy reads the line that it writes: 36 GB/s that the program counts are 54 of traffic
        ("    load:", "    copy: {1: 9, 8: 36}\n    load:", "warning", "processor.write_allocate"),
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
        ("processor: {issue_width: 17}\n", "processor.issue_width"),
        ("processor: {outstanding_misses: 1000}\n", "processor.outstanding_misses"),
        ("processor: {vector_registers: 256}\n", "processor.vector_registers"),
        ("processor: {issue_width: 3}\n", "processor.integer_pipes"),
        ("processor: {load_bytes_per_cycle: 32}\n", "processor.load_bytes_per_cycle"),
    ],
)
def test_costs_out_of_proportion_are_warned_of(extra, key):
    assert key in [name for name, _ in found(SOUND + extra, "warning")]


@pytest.mark.parametrize(
    ("extra", "key"),
    [
        ("{fp_pipes: 5}", "fp_pipes"),  # two that add and two that multiply are four at most
        ("{fp_pipes: 1}", "fp_pipes"),  # and two at least, where both do both
        ("{memory_operations_per_cycle: 4}", "memory_operations_per_cycle"),
        ("{memory_operations_per_cycle: 1}", "memory_operations_per_cycle"),
        ("{write_allocate: 1.5}", "write_allocate"),
        ("{prefetch_block: 5000}", "prefetch_block"),
    ],
)
def test_a_core_that_contradicts_itself_is_an_error(extra, key):
    assert f"processor.{key}" in [
        name for name, _ in found(f"{SOUND}processor: {extra}\n", "error")
    ]


def test_lines_that_are_not_read_first_move_no_more_than_the_peak():
    text = SOUND.replace("    load:", "    copy: {1: 9, 8: 36}\n    load:")
    claimed = found(f"{text}processor: {{write_allocate: 0}}\n", "warning")
    assert "processor.write_allocate" not in [name for name, _ in claimed]


def test_errors_come_first():
    text = SOUND.replace("latency: 12", "latency: 2").replace("8: 44", "8: 20")
    ranks = [("error", "warning", "note").index(f.severity) for f in check(read(text, "m"))]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{1: 11, 4: 40, 8: 44}", "{1: 1e-6, 8: 44}", "memory.bandwidth.load.1: 1e+03 B/s"),
        ("{1: 11, 4: 40, 8: 44}", "{1: 11, 8: 1e-300}", "memory.bandwidth.load.8: 1e-291 B/s"),
        ("bytes_per_cycle: 64", "bytes_per_cycle: 1e-300", "1e-300 B/cycle"),
        ("peak: 51.2", "peak: 1e-9", "memory.peak: 1 B/s"),
    ],
)
def test_a_bandwidth_next_to_nothing_is_a_wrong_file(old: str, new: str, told: str) -> None:
    with pytest.raises(InputError, match="is less than any core has") as caught:
        read(SOUND.replace(old, new), "m")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    read(SOUND.replace("{1: 11, 4: 40, 8: 44}", "{1: 1 MB/s, 8: 44}"), "m")
