"""A store in Parquet: the same trace as was written, and parts of it the same as parts of that."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from further_cases import further_slow
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program
from test_per_rank_reading import same

from regionpredict.errors import InputError
from regionpredict.trace import Counter, EventTrace, Finding, ProcessGrid, TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.trace.selection import Selection, select_part

pytest.importorskip("pyarrow")
from regionpredict.trace import parquet_store
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.parquet_store import Store, is_store, write_store
from regionpredict.trace.store_by_rank import convert_otf2

FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small traces have many."""
    monkeypatch.setattr(parquet_store, "GROUP", 30)


def _trace(seed: int) -> EventTrace:
    trace = carried_out(random_program(seed))
    rows = np.arange(3, len(trace), 5)
    return replace(
        trace,
        counters=(Counter("PAPI_TOT_INS", rows, rows * 3), Counter("other", rows[:2], rows[:2])),
        findings=(Finding("something", "1", 2),),
        grids=(ProcessGrid("grid", (2, 1), (True, False), {0: (0, 0), 1: (1, 0)}),),
    )


@given(st.integers(0, 1_000_000))
@FEW
def test_all_is_read_back(
    kernels: Kernels, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    trace = _trace(seed)
    matches = match_operations(trace, kernels)
    folder = tmp_path_factory.mktemp("store") / "trace"
    assert not is_store(folder)
    write_store(trace, matches, folder)
    assert is_store(folder)
    again = Store(folder).read(Selection())
    assert same(again[0], trace)
    assert same(again[1], matches)


@given(st.integers(0, 1_000_000), st.floats(0, 1), st.floats(0, 1), st.booleans(), st.data())
@FEW
def test_a_part_is_that_part_of_the_trace(
    kernels: Kernels,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    first: float,
    last: float,
    by_path: bool,
    data: st.DataObject,
) -> None:
    trace = _trace(seed)
    matches = match_operations(trace, kernels)
    folder = tmp_path_factory.mktemp("store") / "trace"
    write_store(trace, matches, folder)
    end = int(trace.time.max()) / trace.ticks_per_second
    ranks = frozenset(data.draw(st.sets(st.sampled_from(trace.ranks), min_size=1)))
    low, high = min(first, last) * end, max(first, last) * end
    selection = Selection(ranks, (low, high + 1e-9), "main" if by_path else None)
    try:
        whole = select_part(trace, matches, selection, kernels)
    except InputError:  # before any region began
        with pytest.raises(InputError, match="there is no call path 'main'"):
            select_part(*Store(folder).read(selection), selection, kernels)
        return
    part = select_part(*Store(folder).read(selection), selection, kernels)
    for name in ("time", "kind", "region", "starts", "operations", "findings", "counters"):
        assert same(getattr(part[0], name), getattr(whole[0], name)), name
    assert same(part[1], whole[1])
    for tell in (wait_states, delay_costs, critical_path):
        told = [tell(analyse(*(piece[0], kernels, piece[1]))) for piece in (part, whole)]
        assert told[0] == told[1]


def test_a_call_path_that_is_not_in_the_span(kernels: Kernels, tmp_path: Path) -> None:
    """Rank 1 begins at 0.5 s: what is read of a store tells nothing of it, nor does the trace."""
    build = TraceBuilder(2)
    for rank, begin in ((0, 0.0), (1, 0.5)):
        build.enter(rank, begin, "main")
        build.leave(rank, 1.0)
    trace = build.build()
    matches = match_operations(trace, kernels)
    write_store(trace, matches, tmp_path / "trace")
    selection = Selection(frozenset({1}), (0.0, 0.1), "main")
    for part in ((trace, matches), Store(tmp_path / "trace").read(selection)):
        with pytest.raises(InputError, match="no call path 'main'; no data at these ranks"):
            select_part(*part, selection, kernels)


def test_only_what_is_asked_for_is_read(kernels: Kernels, tmp_path: Path) -> None:
    programs = (carried_out(random_program(seed)) for seed in range(50))
    trace = next(program for program in programs if len(program) > 300)
    write_store(trace, match_operations(trace, kernels), tmp_path / "trace")
    store = Store(tmp_path / "trace")
    rows = [
        rows
        for location, rows in store.columns(["time"], Selection(ranks=frozenset({1})))
        if location.rank == 1
    ]
    mine = trace.time[trace.starts[1] : trace.starts[2]]
    assert np.array_equal(np.concatenate([row["time"] for row in rows]), mine)
    assert all(set(row) == {"time"} and len(row["time"]) <= 30 for row in rows)
    end = int(trace.time.max()) / trace.ticks_per_second
    some = sum(len(r["time"]) for _, r in store.columns(["time"], Selection(time_s=(0, end / 10))))
    assert 0 < some < len(trace)


def test_damage_is_one_line(kernels: Kernels, tmp_path: Path) -> None:
    trace = carried_out(random_program(5))
    folder = tmp_path / "trace"
    write_store(trace, match_operations(trace, kernels), folder)
    (folder / "events.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"events\.parquet: not an undamaged store"):
        Store(folder).read(Selection())
    (folder / "trace.json").write_text("{}")
    with pytest.raises(InputError, match="not an undamaged store of a trace"):
        Store(folder)


@pytest.mark.parametrize(
    "name",
    further_slow(2, ["trace.json", "events.parquet", "operations.parquet", "counters.parquet"]),
)
def test_a_damaged_store_is_read_as_it_was_or_refused(
    kernels: Kernels, tmp_path: Path, name: str
) -> None:
    trace = _trace(5)
    folder = tmp_path / "trace"
    write_store(trace, match_operations(trace, kernels), folder)
    whole = Store(folder).read(Selection())
    text = (folder / name).read_bytes()
    draw = random.Random(name)
    refused = 0
    for _ in range(150):
        damaged = bytearray(text)
        if draw.random() < 0.2:
            del damaged[draw.randrange(len(damaged)) :]
        else:
            damaged[draw.randrange(len(damaged))] ^= draw.randrange(1, 256)
        (folder / name).write_bytes(damaged)
        try:
            assert same(Store(folder).read(Selection()), whole)
        except InputError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("damaged", [False, True])
def test_rank_by_rank_the_same_store(kernels: Kernels, tmp_path: Path, damaged: bool) -> None:
    pytest.importorskip("otf2")
    from archives import write_archive

    anchor = write_archive(tmp_path / "ring", 5, 40)
    if damaged:
        (anchor.parent / "traces" / "2.evt").unlink()
    trace = read_otf2(anchor, kernels)
    write_store(trace, match_operations(trace, kernels), tmp_path / "whole")
    convert_otf2(anchor, tmp_path / "by_rank", kernels)
    texts = [(tmp_path / name / "trace.json").read_text() for name in ("whole", "by_rank")]
    assert json.loads(texts[0]) == json.loads(texts[1])
    stores = [Store(tmp_path / name).read(Selection()) for name in ("whole", "by_rank")]
    assert same(stores[0], stores[1])
    assert damaged == bool(stores[0][1].findings)


def test_rank_by_rank_of_no_archive(kernels: Kernels, tmp_path: Path) -> None:
    pytest.importorskip("otf2")
    with pytest.raises(InputError, match="no anchor file"):
        convert_otf2(tmp_path, tmp_path / "store", kernels)
    assert not (tmp_path / "store").exists()
