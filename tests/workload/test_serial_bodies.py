"""A region taken apart: every statement is in one part, in its order and with its loops."""

from __future__ import annotations

from dataclasses import replace

from nest_texts import facts_of, workload_in

from regionpredict.ir import Loop, Region
from regionpredict.workload.serial_bodies import Selection, SerialKind, parts_of

LOOPS = """for (int i = 0; i < n; i++) {
  a[0] = i;
#pragma omp critical
  { a[1] = i; for (int j = 0; j < 5; j++) a[2] = j; }
  for (int j = 0; j < 3; j++) {
    a[3] = j;
#pragma omp critical
    a[4] = j;
  }
  if (i % 2) {
#pragma omp critical
    a[5] = i;
    a[6] = i;
  } else a[7] = i;
#pragma omp ordered
  { a[8] = i;
#pragma omp critical
    a[9] = i;
  }
  for (int k = 0; k < 2; k++) a[10] = k;
}"""
DECLARED = "int n, double *a"


def lowered() -> tuple[Region, Selection, dict[SerialKind, Selection]]:
    region = facts_of(LOOPS, DECLARED, "ordered", n=9).region
    assert region.nest is not None
    return region, *parts_of(region.nest)


def elements(region: Region, nest: Loop) -> list[tuple[int, str]]:
    """(element stored, loops around it) of each statement that stores one, in order."""
    own = replace(region, nest=nest)
    return [
        (int(write.subscripts[0].constant), "".join(loop.variable[0] for loop in loops))
        for statement, loops in own.statements()
        for write in statement.accesses
    ]  # fmt: skip


def texts(region: Region, selection: Selection) -> None:
    """The numbers of a selection are those of its statements in the region."""
    every = [statement for statement, _ in region.statements()]
    own = [s for s, _ in replace(region, nest=selection.nest).statements()]
    assert [every[number] for number in selection.statements] == own


def test_each_kind_has_its_statements_and_their_loops() -> None:
    region, at_once, serial = lowered()
    assert list(serial) == [SerialKind("critical"), SerialKind("ordered")]
    assert elements(region, at_once.nest) == [
        (0, "i"), (3, "ij"), (6, "i"), (7, "i"), (10, "ik")
    ]  # fmt: skip
    assert elements(region, serial[SerialKind("critical")].nest) == [
        (1, "i"), (2, "ij"), (4, "ij"), (5, "i")
    ]  # fmt: skip
    # The critical section in the ordered one is a part of it.
    assert elements(region, serial[SerialKind("ordered")].nest) == [(8, "i"), (9, "i")]


def test_every_statement_is_in_one_part() -> None:
    region, at_once, serial = lowered()
    numbers = [*at_once.statements, *(n for part in serial.values() for n in part.statements)]
    assert sorted(numbers) == list(range(len(list(region.statements()))))
    for part in (at_once, *serial.values()):
        texts(region, part)


def test_a_region_without_serial_bodies_is_itself() -> None:
    loops = """for (int i = 0; i < n; i++) {
#pragma omp atomic
      a[0] += 1;
      if (i) a[i] = 1; else a[i] = 2;
      for (int j = 0; j < n; j++) a[j] = 3;
    }"""
    region = facts_of(loops, DECLARED, n=9).region
    assert region.nest is not None
    at_once, serial = parts_of(region.nest)
    assert at_once.nest is region.nest and serial == {}
    assert at_once.statements == tuple(range(len(list(region.statements()))))


def test_an_empty_serial_body_is_none() -> None:
    loops = "for (int i = 0; i < n; i++) {\n#pragma omp critical\n{ }\na[i] = 1; }"
    region = facts_of(loops, DECLARED, n=9).region
    assert region.nest is not None
    assert parts_of(region.nest)[1] == {}


def test_empty_constructs_still_count() -> None:
    """What is done at once keeps the criticals, emptied: their entering is counted there."""
    made = workload_in(LOOPS, DECLARED, "ordered", n=10)
    assert made.execution is not None
    execution = made.execution
    # 1 and 3 in each iteration, half a one under the branch; the one inside `ordered` is gone.
    assert execution.synchronisation.by_construct == {"critical": 10 + 30 + 5, "ordered": 10}
    assert [(one.kind, one.visits) for one in execution.serial] == [
        ("critical", 45), ("ordered", 10)
    ]  # fmt: skip


def test_serial_loops_keep_only_what_is_in_them() -> None:
    """The loop over k has nothing serial: it is in no serial part; nor has it lost anything."""
    _, at_once, serial = lowered()
    loops = {kind.kind: "".join(_variables(part.nest)) for kind, part in serial.items()}
    assert loops == {"critical": "ijj", "ordered": "i"}
    assert "".join(_variables(at_once.nest)) == "ijk"


def _variables(loop: Loop) -> list[str]:
    names = [loop.variable[0]]
    for node in loop.body:
        if isinstance(node, Loop):
            names += _variables(node)
    return names


def test_masters_and_singles_are_one_kind() -> None:
    loops = """for (int i = 0; i < n; i++) {
#pragma omp master
  a[0] = 1;
#pragma omp single
  a[1] = 2;
#pragma omp masked
  a[2] = 2;
}"""
    region = facts_of(loops, DECLARED, n=9).region
    assert region.nest is not None
    at_once, serial = parts_of(region.nest)
    assert list(serial) == [SerialKind("single")] and at_once.statements == ()
    assert elements(region, serial[SerialKind("single")].nest) == [(0, "i"), (1, "i"), (2, "i")]


def test_sections_of_other_locks_are_other_kinds() -> None:
    loops = """for (int i = 0; i < n; i++) {
#pragma omp critical(one)
  a[0] = 1;
#pragma omp critical(other)
  a[1] = 2;
#pragma omp critical(one)
  a[2] = 2;
}"""
    region = facts_of(loops, DECLARED, n=9).region
    assert region.nest is not None
    _, serial = parts_of(region.nest)
    one, other = SerialKind("critical", "one"), SerialKind("critical", "other")
    assert list(serial) == [one, other]
    assert [len(serial[kind].statements) for kind in (one, other)] == [2, 1]
