"""Caliper's own format: profiles written by hand after its grammar, and broken ones."""

import sys

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.input import read

pytest.importorskip("caliperreader")

# Properties: 276 nested, 64 and 65 a value stored in records, 12 and 524 of the whole run.
HEAD = """\
__rec=node,id=20,attr=10,data=276,parent=3
__rec=node,id=21,attr=8,data=region,parent=20
__rec=node,id=22,attr=10,data=65,parent=5
__rec=node,id=23,attr=8,data=time,parent=22
__rec=node,id=24,attr=10,data=65,parent=1
__rec=node,id=25,attr=8,data=mpi.rank,parent=24
__rec=node,id=26,attr=10,data=524,parent=3
__rec=node,id=27,attr=8,data=mpi.world.size,parent=26
__rec=node,id=30,attr=21,data=main
__rec=node,id=31,attr=21,data=solve\\,fast,parent=30
"""


def profile(p):
    """Two ranks: `main` takes 3 s, `main->solve,fast` p^2 s on rank 0 and 2 more on rank 1."""
    return (
        HEAD
        + f"__rec=node,id=40,attr=27,data={p}\n"
        + "".join(
            f"__rec=ctx,ref={node},attr=23=25,data={value + rank * extra}={rank}\n"
            for node, value, extra in ((30, 3, 0), (31, p * p, 2))
            for rank in (0, 1)
        )
        + "__rec=ctx,attr=23,data=100\n__rec=globals,ref=40\n"
    )


def test_a_folder_of_profiles(tmp_path):
    for p in (2, 4, 8, 16, 32):
        (tmp_path / f"run{p}.cali").write_text(profile(p))
    found = {(s.callpath, s.metric): s for s in read(tmp_path).series}
    assert set(found) == {("main", "time"), ("main->solve,fast", "time")}
    solve = found["main->solve,fast", "time"]
    assert solve.parameters == ("mpi.world.size",)
    assert dict(zip(solve.points, solve.values, strict=True)) == {
        (float(p),): pytest.approx([p * p + 1]) for p in (2, 4, 8, 16, 32)
    }


@pytest.mark.parametrize(
    "broken",
    [
        "__rec=node\n",
        "__rec=ctx,ref=9999\n",
        HEAD + "__rec=ctx,ref=31,attr=99,data=1\n",
    ],
)
def test_what_caliper_did_not_write_is_one_line(tmp_path, broken):
    (tmp_path / "a.cali").write_text(broken)
    with pytest.raises(InputError, match=r"cali-query|no measurements"):
        read(tmp_path / "a.cali")


@pytest.mark.parametrize("parents", [(50, 50), (51, 50)])
def test_a_circle_of_nodes_is_refused(tmp_path, parents):
    first, second = parents
    text = f"{HEAD}__rec=node,id=50,attr=21,data=a,parent={first}\n"
    text += f"__rec=node,id=51,attr=21,data=b,parent={second}\n"
    text += f"__rec=node,id=50,attr=21,data=a,parent={first}\n__rec=ctx,ref=51,attr=23,data=1\n"
    (tmp_path / "a.cali").write_text(text)
    with pytest.raises(InputError, match="its own ancestor"):
        read(tmp_path / "a.cali")


def test_without_the_package_the_remedy_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "caliperreader", None)
    (tmp_path / "a.cali").write_text(profile(2))
    with pytest.raises(InputError, match="caliper-reader") as caught:
        read(tmp_path / "a.cali")
    assert "regionpredict[caliper]" in str(caught.value.remedy)
