"""Random but valid traces: programs of work, messages and collectives, carried out by a clock."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regionpredict.trace import EventTrace, TraceBuilder

Step = tuple[str, Any]


@dataclass
class Program:
    """Steps that all ranks go through in one order, so that no two wait for each other."""

    ranks: int
    steps: list[Step]
    groups: list[tuple[int, ...]] = field(default_factory=list)


def random_program(seed: int) -> Program:
    """A few dozen steps on 2 to 5 ranks; sub-communicators too."""
    draw = random.Random(seed)
    ranks = draw.randint(2, 5)
    groups = [tuple(range(ranks))]
    if ranks > 2:
        groups.append(tuple(sorted(draw.sample(range(ranks), draw.randint(2, ranks - 1)))))
    steps: list[Step] = []
    for _ in range(draw.randint(5, 40)):
        kind = draw.choice(
            ["work"] * 4 + ["eager", "synchronous", "requests", "exchange", "barrier", "allreduce"]
            + ["bcast", "reduce"]
        )  # fmt: skip
        if kind == "work":
            steps.append(
                (kind, (draw.randrange(ranks), draw.choice("abc"), draw.randint(1, 9_000)))
            )
        elif kind in ("eager", "synchronous", "requests"):
            sender, receiver = draw.sample(range(ranks), 2)
            steps.append((kind, (sender, receiver, draw.randint(0, 2), draw.randint(1, 3_000))))
        elif kind == "exchange":
            steps.append((kind, (draw.randint(1, 2_000),)))
        else:
            group = draw.randrange(len(groups))
            steps.append((kind, (group, draw.choice(groups[group]), draw.randint(1, 500))))
    return Program(ranks, steps, groups)


def carried_out(
    program: Program,
    rename: tuple[int, ...] | None = None,
    shift: int = 0,
    pieces: int = 1,
    finalize: bool = True,
    skews: Sequence[int] = (0,),
) -> EventTrace:
    """The trace, in nanoseconds: with ranks renamed, times shifted, or work entered in pieces.

    `skews` (below 800, repeated over the ranks) move MPI_Init and lengthen what is around it.
    """
    clock = _Clock(program, rename or tuple(range(program.ranks)), shift, pieces)
    clock.skews = [skews[rank % len(skews)] for rank in range(program.ranks)]
    for rank in range(program.ranks):
        clock.begin(rank)
    for kind, values in program.steps:
        getattr(clock, kind)(*values)
    if finalize:
        clock.end()
    return clock.build.build("random")


class _Clock:
    """Each rank's time; the calls take what they take, and waits come from the program."""

    def __init__(self, program: Program, names: tuple[int, ...], shift: int, pieces: int) -> None:
        self.names = names
        self.shift = shift
        self.pieces = pieces
        self.ranks = program.ranks
        self.now = [100 + 13 * rank for rank in range(program.ranks)]
        self.build = TraceBuilder(program.ranks)
        self.groups = [
            self.build.communicator(f"group {at}", sorted(names[rank] for rank in group))
            for at, group in enumerate(program.groups)
        ]
        self.members = program.groups
        self.posted = 0
        self.skews = [0] * program.ranks

    def at(self, ticks: int) -> float:
        return (ticks + self.shift) / 1e9

    def enter(self, rank: int, ticks: int, name: str) -> None:
        self.build.enter(self.names[rank], self.at(ticks), name)

    def leave(self, rank: int, ticks: int) -> None:
        self.build.leave(self.names[rank], self.at(ticks))

    def begin(self, rank: int) -> None:
        skew = self.skews[rank]
        self.enter(rank, self.now[rank] - 10 * skew, "main")
        self.enter(rank, self.now[rank] + 5 + skew, "MPI_Init")
        self.now[rank] = 1_000 + 3 * rank
        self.leave(rank, self.now[rank])

    def end(self) -> None:
        last = max(self.now)
        for rank in range(self.ranks):
            self.enter(rank, self.now[rank] + 7, "MPI_Finalize")
            self.leave(rank, last + 50 + rank)
            self.leave(rank, last + 70 + 10 * self.skews[rank])

    def work(self, rank: int, name: str, ticks: int) -> None:
        begin = self.now[rank]
        for piece in range(self.pieces):
            self.enter(rank, begin + ticks * piece // self.pieces, f"work {name}")
            self.leave(rank, begin + ticks * (piece + 1) // self.pieces)
        self.now[rank] = begin + ticks

    def eager(self, sender: int, receiver: int, tag: int, ticks: int) -> None:
        begin = self.send(sender, "MPI_Send", receiver, tag, self.now[sender] + ticks)
        self.receive(receiver, sender, tag, begin, ticks)

    def synchronous(self, sender: int, receiver: int, tag: int, ticks: int) -> None:
        ready = max(self.now[sender], self.now[receiver])
        begin = self.send(sender, "MPI_Ssend", receiver, tag, ready + ticks)
        self.receive(receiver, sender, tag, begin, ticks)

    def send(self, sender: int, call: str, receiver: int, tag: int, done: int) -> int:
        begin = self.now[sender]
        self.enter(sender, begin, call)
        self.build.send(self.names[sender], self.at(begin), self.names[receiver], tag, 8)
        self.leave(sender, done)
        self.now[sender] = done
        return begin

    def receive(self, receiver: int, sender: int, tag: int, sent: int, ticks: int) -> None:
        begin = self.now[receiver]
        done = max(begin, sent) + ticks
        self.enter(receiver, begin, "MPI_Recv")
        self.build.receive(self.names[receiver], self.at(done), self.names[sender], tag, 8)
        self.leave(receiver, done + 1)
        self.now[receiver] = done + 1

    def requests(self, sender: int, receiver: int, tag: int, ticks: int) -> None:
        posted = self.irecv(receiver)
        begin, sent = self.isend(sender, receiver, tag)
        self.work(receiver, "d", ticks)
        self.work(sender, "d", ticks // 2)
        done = max(self.now[receiver], begin) + 20
        self.enter(receiver, self.now[receiver], "MPI_Wait")
        self.build.receive_complete(
            self.names[receiver], self.at(done), self.names[sender], posted[1], tag, 8
        )
        self.leave(receiver, done + 1)
        self.now[receiver] = done + 1
        finished = max(self.now[sender], posted[0]) + 15
        self.enter(sender, self.now[sender], "MPI_Waitall")
        self.build.send_complete(self.names[sender], self.at(finished), sent)
        self.leave(sender, finished + 1)
        self.now[sender] = finished + 1

    def irecv(self, rank: int) -> tuple[int, int]:
        begin = self.now[rank]
        self.posted += 1
        self.enter(rank, begin, "MPI_Irecv")
        self.build.receive_request(self.names[rank], self.at(begin + 1), self.posted)
        self.leave(rank, begin + 2)
        self.now[rank] = begin + 2
        return begin, self.posted

    def isend(self, sender: int, receiver: int, tag: int) -> tuple[int, int]:
        begin = self.now[sender]
        self.posted += 1
        self.enter(sender, begin, "MPI_Isend")
        self.build.send_request(
            self.names[sender], self.at(begin + 1), self.names[receiver], self.posted, tag, 8
        )
        self.leave(sender, begin + 3)
        self.now[sender] = begin + 3
        return begin, self.posted

    def exchange(self, ticks: int) -> None:
        """Each rank with both neighbours, completed in one call."""
        posted = [[self.irecv(rank) for _ in range(2)] for rank in range(self.ranks)]
        sent = [
            [self.isend(rank, (rank + step) % self.ranks, 7) for step in (1, -1)]
            for rank in range(self.ranks)
        ]
        for rank in range(self.ranks):
            self.work(rank, "e", ticks * (rank + 1) // 2 + 1)
        begins = list(self.now)
        for rank in range(self.ranks):
            left, right = (rank - 1) % self.ranks, (rank + 1) % self.ranks
            from_left, from_right = sent[left][0], sent[right][1]
            done = max(begins[rank], from_left[0], from_right[0]) + 10
            self.enter(rank, begins[rank], "MPI_Waitall")
            for source, (_, request) in zip((left, right), posted[rank], strict=True):
                self.build.receive_complete(
                    self.names[rank], self.at(done), self.names[source], request, 7, 8
                )
            for _, request in sent[rank]:
                self.build.send_complete(self.names[rank], self.at(done + 1), request)
            self.leave(rank, done + 2)
            self.now[rank] = done + 2

    def together(self, call: str, group: int, root: int, ticks: int) -> None:
        members = self.members[group]
        enters = {rank: self.now[rank] for rank in members}
        latest = max(enters.values())
        for rank in members:
            done = latest
            if call == "MPI_Bcast":
                done = max(enters[rank], enters[root])
            elif call == "MPI_Reduce" and rank != root:
                done = enters[rank]
            done += ticks + rank
            self.enter(rank, enters[rank], call)
            self.build.collective(
                self.names[rank],
                self.at(done),
                self.names[root] if call in ("MPI_Bcast", "MPI_Reduce") else -1,
                within=self.groups[group],
            )
            self.leave(rank, done + 1)
            self.now[rank] = done + 1

    def barrier(self, group: int, root: int, ticks: int) -> None:
        self.together("MPI_Barrier", group, root, ticks)

    def allreduce(self, group: int, root: int, ticks: int) -> None:
        self.together("MPI_Allreduce", group, root, ticks)

    def bcast(self, group: int, root: int, ticks: int) -> None:
        self.together("MPI_Bcast", group, root, ticks)

    def reduce(self, group: int, root: int, ticks: int) -> None:
        self.together("MPI_Reduce", group, root, ticks)
