"""New pages, and lines that other cores hold: seconds by hand from a machine's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.history.first_writes import simulate_first_writes
from regionpredict.analysis.history.last_writes import histories_of_regions
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, region_workload
from regionpredict.predict.saturation.page_faults_and_coherence import DataTransfers, TransferTime

MACHINE = """
name: plain
sources: {test: "round numbers"}
node: {source: test, packages: 1, cores_per_package: 4, clock: 1 GHz}
caches:
  - {source: test, level: 1, size: 32 KiB, cores: 1}
  - {source: test, level: 2, size: 64 MiB, cores: 1}
memory: {source: test, bandwidth: {load: {1: 10, 4: 20}}}
openmp:
  source: test
  first_touch: {1: 1000, 2: 1500, 4: 2000}
  line_transfer: {1: 0.1, 2: 50, 4: 60}
  bulk_transfer: {1: 0.1, 2: 10, 4: 12}
  atomic: {1: 20, 2: 200, 4: 400}
"""
N = 1 << 17  # doubles: 1 MiB, 256 pages, 16384 lines
LOOP = "#pragma omp parallel for {clauses}\n  for (int i = 0; i < n; i++) {body}\n"
FIRST = 256  # half of the first cache, in lines


def costs(
    tmp_path: Path, *loops: str, threads: int = 2, machine_text: str = MACHINE
) -> list[TransferTime]:
    """The costs of each of some loops that run one after the other, once."""
    body = "".join(LOOP.format(clauses="", body=loop) if "#" not in loop else loop
                   for loop in loops)  # fmt: skip
    path = tmp_path / "program.c"
    path.write_text(
        f"#include <stdlib.h>\nint main(void) {{\n  int n = {N};\n"
        f"  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);\n{body}"
        "  return 0;\n}\n"
    )
    file = tmp_path / "plain.yaml"
    file.write_text(machine_text)
    machine = load(file)
    analysis = analyse(requests_for([str(path)]), {})
    pasts = histories_of_regions(analysis.program, simulate_first_writes(analysis.program.flows))
    found = []
    for facts, history in zip(analysis.facts, pasts, strict=True):
        workload = region_workload(facts, machine, history=history)
        assert workload.execution is not None
        counter = workload.traffic_of(workload.execution.work)
        made = DataTransfers(workload, workload.execution, counter, machine)
        found.append(made.at(threads))
    return found


def moved(lines: float) -> float:
    """Seconds for lines on two threads, 50 cycles a line at first, then 10, at 1 GHz."""
    return (50 * min(lines, FIRST) + 10 * max(0.0, lines - FIRST)) / 1e9


def test_each_thread_takes_the_faults_of_its_pages(tmp_path: Path) -> None:
    first, second = costs(tmp_path, "a[i] = 1.0;", "a[i] += 1.0;")
    assert first.pages == pytest.approx(256 / 2 * 1500e-9, rel=0.01)
    assert second.pages == 0.0
    (alone,) = costs(tmp_path, "a[i] = 1.0;", threads=1)
    assert alone.pages == pytest.approx(256 * 1000e-9, rel=0.01)
    assert (alone.exchange, alone.lines) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("cache", "threads", "each"),
    [
        ("16 MiB", 1, 1000),  # 1 MiB is a sixteenth of it
        ("512 KiB", 1, 4000),  # twice as much
        ("1 MiB", 1, 3400),  # four of the five doublings between both
        ("128 KiB", 1, 4000),
        ("512 KiB", 2, 3900),  # two such caches, a MiB together: four fifths from 1500 to 4500
    ],
)
def test_pages_of_much_new_memory_take_longer(
    tmp_path: Path, cache: str, threads: int, each: float
) -> None:
    machine = MACHINE.replace("size: 64 MiB", f"size: {cache}")
    beyond = "  first_touch_beyond: {1: 4000, 2: 4500, 4: 5000}\n"
    (cost,) = costs(tmp_path, "a[i] = 1.0;", threads=threads, machine_text=machine + beyond)
    assert cost.pages == pytest.approx(256 / threads * each * 1e-9, rel=0.01)


def test_who_deals_out_alike_moves_nothing(tmp_path: Path) -> None:
    assert [one.lines for one in costs(tmp_path, "a[i] = 1.0;", "b[i] = a[i];")] == [0.0, 0.0]


def test_who_reads_backwards_finds_half_with_the_other(tmp_path: Path) -> None:
    _, back = costs(tmp_path, "a[i] = 1.0;", "b[i] = a[n - 1 - i];")
    # of the 8192 lines of one thread half are with the other
    assert back.lines == pytest.approx(moved(4096), rel=0.01)


def test_what_has_been_fetched_is_there(tmp_path: Path) -> None:
    *_, again = costs(tmp_path, "a[i] = 1.0;", "b[i] = a[n - 1 - i];", "b[i] += a[n - 1 - i];")
    assert again.lines == 0.0


def test_what_others_have_read_is_theirs_to_give_up(tmp_path: Path) -> None:
    *_, write = costs(tmp_path, "a[i] = 1.0;", "b[i] = a[n - 1 - i];", "a[i] += 1.0;")
    assert write.lines == pytest.approx(moved(4096), rel=0.01)


def test_false_sharing_moves_every_line(tmp_path: Path) -> None:
    cyclic = LOOP.format(clauses="schedule(static, 1)", body="a[i] = 1.0;")
    (found,) = costs(tmp_path, cyclic)
    assert found.lines == pytest.approx(moved(16384), rel=0.01)
    blocks = LOOP.format(clauses="schedule(static, 8)", body="a[i] = 1.0;")  # a line each
    (found,) = costs(tmp_path, blocks)
    assert found.lines == 0.0


def test_a_chance_schedule_finds_half_with_the_other(tmp_path: Path) -> None:
    dynamic = LOOP.format(clauses="schedule(dynamic, 64)", body="b[i] = a[i];")
    _, found = costs(tmp_path, "a[i] = 1.0;", dynamic)
    assert found.lines == pytest.approx(moved(4096), rel=0.01)


def test_a_few_lines_belong_to_the_synchronisation(tmp_path: Path) -> None:
    short = "#pragma omp parallel for\n  for (int i = 0; i < 1024; i++) {}\n"
    loops = (short.format("a[i] = 1.0;"), short.format("b[i] = a[1023 - i];"))
    _, found = costs(tmp_path, *loops)
    # 1024 doubles are 128 lines: half of one thread's 64, at 50 cycles; and b's border line there
    # and back, at 200
    assert found.exchange == pytest.approx(32 * 50e-9 + 2 * 200e-9, rel=0.03)
    assert found.lines == 0.0


def test_one_thread_alone_waits_for_nobody(tmp_path: Path) -> None:
    _, back = costs(tmp_path, "a[i] = 1.0;", "b[i] = a[n - 1 - i];", threads=1)
    assert back.lines == 0.0
