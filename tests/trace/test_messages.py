"""The communication matrix and message sizes, by hand."""

from __future__ import annotations

from dataclasses import replace

from regionpredict.report.messages import messages_document
from regionpredict.report.rendered import rendered
from regionpredict.trace import EventTrace, TraceBuilder
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.messages import Messages, Pair, SizeClass, messages_of


def _trace(ranks: int = 2) -> EventTrace:
    """Rank 0 sends 0, 1, 2, 3 and 1024 bytes to the last rank, which sends 7 back, unreceived."""
    build = TraceBuilder(ranks)
    last = ranks - 1
    for rank in range(ranks):
        build.enter(rank, 0, "main")
    for number, size in enumerate((0, 1, 2, 3, 1024)):
        for rank, call in ((0, "MPI_Send"), (last, "MPI_Recv")):
            build.enter(rank, number, call)
            if rank:
                build.receive(rank, number + 0.5, 0, size=size)
            else:
                build.send(0, number, last, size=size)
            build.leave(rank, number + 0.5)
    build.enter(last, 6, "MPI_Send")
    build.send(last, 6, 0, size=7)
    build.leave(last, 7)
    for rank in range(ranks):
        build.leave(rank, 8)
    return build.build("pair")


def test_pairs_and_sizes(kernels: Kernels) -> None:
    trace = _trace()
    found = messages_of(trace, match_operations(trace, kernels))
    assert found == Messages(
        ranks=(0, 1),
        pairs=(Pair(0, 1, 5, 1030), Pair(1, 0, 1, 7)),
        sizes=(
            SizeClass(0, 0, 1, 0), SizeClass(1, 1, 1, 1), SizeClass(2, 3, 2, 5),
            SizeClass(4, 7, 1, 7), SizeClass(1024, 2047, 1, 1024),
        ),
        unmatched=1,
    )  # fmt: skip
    assert (found.count, found.bytes) == (6, 1037)
    assert rendered(messages_document(found, trace, 1), "csv").splitlines() == [
        "sender,receiver,messages,bytes", "0,1,5,1030", "1,0,1,7"
    ]  # fmt: skip
    table = rendered(messages_document(found, trace, top=1), "table").splitlines()
    assert table[:6] == [
        "pair: 6 messages, 1 KiB, on 2 ranks", "",
        "Data from the rank of the row to the rank of the column",
        "     0      1",
        "0    -  1 KiB", "1  7 B      -",
    ]  # fmt: skip
    assert "... and 1 more; --top 2 shows all" in table
    assert " ".join(table[-1].split()) == "1 KiB to 2 KiB 1 16.7 % 1 KiB 98.7 %"


def test_a_page_has_the_matrix_of_the_selected_ranks(kernels: Kernels) -> None:
    trace = _trace()
    found = replace(
        messages_of(trace, match_operations(trace, kernels)),
        ranks=(3, 8), pairs=(Pair(3, 8, 5, 1536), Pair(8, 3, 1, 512)),
    )  # fmt: skip
    document = messages_document(found, trace, 9)
    data, counts = next(s for s in document.sections if s.title == "Matrix").blocks
    assert (data["rows"], data["unit"]) == ([["", 1536.0], [512.0, ""]], "B")
    assert (counts["rows"], counts["names"]) == ([["", 5.0], [1.0, ""]], ["3", "8"])


def test_many_ranks_have_no_matrix_and_silence_is_told(kernels: Kernels) -> None:
    trace = _trace(20)
    found = messages_of(trace, match_operations(trace, kernels))
    assert "the rank of the column" not in rendered(messages_document(found, trace, 9), "table")
    build = TraceBuilder(1)
    build.enter(0, 0, "main")
    build.leave(0, 1)
    alone = build.build("alone")
    found = messages_of(alone, match_operations(alone, kernels))
    assert "No rank sends a message to another." in rendered(
        messages_document(found, alone, 9), "table"
    )
