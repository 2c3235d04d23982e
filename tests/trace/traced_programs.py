"""Small programs with known factors, as traces; times in seconds."""

from __future__ import annotations

from regionpredict.trace import EventTrace, Paradigm, Region, Role, TraceBuilder


def doubled(n: int, k: int, wait: float = 0.0) -> EventTrace:
    """k of n ranks do double work, then a barrier, which takes `wait` seconds more."""
    build = TraceBuilder(n)
    for rank in range(n):
        work = 2.0 if rank < k else 1.0
        build.enter(rank, 0.0, "main")
        build.enter(rank, work, "MPI_Barrier")
        build.collective(rank, 2.0 + wait)
        build.leave(rank, 2.0 + wait)
        build.leave(rank, 2.0 + wait)
    return build.build(f"doubled {k} of {n}")


def chain(n: int) -> EventTrace:
    """Each rank waits for the one before, works a second, and tells the next."""
    build = TraceBuilder(n)
    for rank in range(n):
        build.enter(rank, 0.0, "main")
        if rank:
            build.enter(rank, 0.0, "MPI_Recv")
            build.receive(rank, float(rank), rank - 1, size=8)
            build.leave(rank, float(rank))
        if rank + 1 < n:
            build.enter(rank, rank + 1.0, "MPI_Send")
            build.send(rank, rank + 1.0, rank + 1, size=8)
            build.leave(rank, rank + 1.0)
        build.leave(rank, rank + 1.0)
    return build.build(f"chain {n}")


def exchange(n: int, compute: float, transfer: float, rounds: int = 3) -> EventTrace:
    """Rounds of equal work and an exchange round a ring that costs `transfer` seconds."""
    build = TraceBuilder(n)
    for rank in range(n):
        build.enter(rank, 0.0, "main")
        for number in range(rounds):
            begin = number * (compute + transfer) + compute
            build.enter(rank, begin, "MPI_Sendrecv")
            build.send(rank, begin, (rank + 1) % n, size=1000)
            build.receive(rank, begin + transfer, (rank - 1) % n, size=1000)
            build.leave(rank, begin + transfer)
        build.leave(rank, rounds * (compute + transfer))
    return build.build(f"exchange {n}")


def _team(n: int) -> TraceBuilder:
    build = TraceBuilder(1)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.region(Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.region(Region("critical", Paradigm.OPENMP, Role.LOCK))
    return build


def team_doubled(n: int, k: int, serial: float = 0.0) -> EventTrace:
    """A serial part, then a construct in which k of n threads do double work."""
    build = _team(n)
    build.enter(0, 0.0, "main")
    build.fork(0, serial, n)
    for thread in range(n):
        place = (0, thread)
        work = 2.0 if thread < k else 1.0
        build.enter(place, serial, "parallel")
        build.enter(place, serial + work, "barrier")
        build.leave(place, serial + 2.0)
        build.leave(place, serial + 2.0)
    build.join(0, serial + 2.0)
    build.leave(0, serial + 2.0)
    return build.build(f"team {k} of {n}")


def team_chain(n: int) -> EventTrace:
    """All threads do their second of work under one lock, in order of their numbers."""
    build = _team(n)
    build.enter(0, 0.0, "main")
    build.fork(0, 0.0, n)
    for thread in range(n):
        place = (0, thread)
        build.enter(place, 0.0, "parallel")
        build.enter(place, 0.0, "critical")
        build.lock(place, float(thread), 7, acquire=True)
        build.lock(place, thread + 1.0, 7, acquire=False)
        build.leave(place, thread + 1.0)
        build.enter(place, thread + 1.0, "barrier")
        build.leave(place, float(n))
        build.leave(place, float(n))
    build.join(0, float(n))
    build.leave(0, float(n))
    return build.build(f"team chain {n}")
