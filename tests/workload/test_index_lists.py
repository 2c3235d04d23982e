"""Tables of indices that follow the loop: what shows them, what hides them, and what is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.ir import Region
from regionpredict.pipeline import analyse
from regionpredict.workload.loop_nest import ReferenceGroup
from regionpredict.workload.nest_lowering import loop_nest

DECLARED = "int n, double *restrict a, double *restrict b, int *restrict row, int (*mesh)[8]"


def facts(folder: Path, *bodies: str, **given: int) -> tuple[RegionFacts, ...]:
    """The facts of loops over i in one function."""
    path = folder / "lists.c"
    loops = "\n".join(
        f"#pragma omp parallel for\nfor (int i = 0; i < n; i++) {{ {body} }}" for body in bodies
    )
    path.write_text(f"void kernel({DECLARED}) {{\n{loops}\n}}\n")
    return analyse(requests_for([str(path)]), {"n": 100, **given}).facts


def region(folder: Path, *bodies: str) -> Region:
    return facts(folder, *bodies)[0].region


def group_of_a(folder: Path, *bodies: str, **given: int) -> ReferenceGroup:
    first = facts(folder, *bodies, **given)[0]
    nest = loop_nest(first.region, first.bindings.values)
    assert nest is not None
    return next(group for group in nest.groups() if group.array == "a")


@pytest.mark.parametrize(
    ("body", "lists"),
    [
        ("a[row[i]] = b[i];", (("row", 1),)),  # a selection: threads store to different places
        ("b[i] = a[row[i]];", ()),
        ("a[row[i]] += b[i];", ()),  # a histogram may do so
        ("double t[9]; t[row[i]] = 1; b[i] = t[3];", ()),  # each thread has its own
        ("\n#pragma omp atomic write\na[row[i]] = 1;", ()),
        ("b[i] = a[row[8*i]] + a[row[8*i+3]];", (("row", 8),)),  # neighbours of an element
        ("for (int c = 0; c < 8; c++) b[i] += a[row[8*i+c]];", (("row", 8),)),
        ("b[i] = a[row[8*i]];", ()),  # one entry of eight: a list with a stride?
        ("b[i] = a[mesh[i][0]] + a[mesh[i][5]];", (("mesh", 2),)),
        ("if (b[i] > 0) a[row[i]] = 1;", (("row", 1),)),
    ],
)
def test_what_shows_a_list(tmp_path: Path, body: str, lists: tuple[tuple[str, int], ...]) -> None:
    assert region(tmp_path, body).index_lists == lists


def test_a_list_is_one_in_the_whole_function(tmp_path: Path) -> None:
    assert region(tmp_path, "b[i] = a[row[i]];", "a[row[i]] = b[i];").index_lists == (("row", 1),)


@pytest.mark.parametrize(
    ("body", "slopes"),
    [
        ("a[row[i]] = b[i];", {"i": 8.0}),
        ("a[3 * row[i] + 1] = b[i];", {"i": 24.0}),
        ("b[i] = a[row[8*i]] + a[row[8*i+3]];", {"i": 8.0}),  # one further element a row
        ("b[i] = a[mesh[i][0]] + a[mesh[i][5]];", {"i": 8.0}),
    ],
)
def test_a_list_is_a_stream(tmp_path: Path, body: str, slopes: dict[str, float]) -> None:
    found = group_of_a(tmp_path, body)
    assert (found.irregular, found.slopes) == (False, slopes)
    assert found.offsets == ((8.0,) if "+ 1]" in body else (0.0,))


def test_the_order_that_is_given(tmp_path: Path) -> None:
    body = "b[i] = a[row[i]];"
    assert group_of_a(tmp_path, body).irregular
    found = group_of_a(tmp_path, body, **{"row[+1]": 3})
    assert (found.irregular, found.slopes) == (False, {"i": 24.0})
    with pytest.raises(UsageError, match="row"):
        facts(tmp_path, body, **{"rows[+1]": 1})
