"""The call tree: values add up, however deep, and what dominates is what takes most itself."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.cli.fit import command
from regionpredict.errors import InputError
from regionpredict.fit.call_tree import call_trees
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.search.experiment_models import ModelSet, model_experiment

POINTS = (2.0, 4.0, 8.0, 16.0, 32.0)


def modelled(functions, metric="time"):
    """Models of exact values, by call path."""
    series = tuple(
        Series(callpath, metric, ("p",), tuple((p,) for p in POINTS), tuple([f(p)] for p in POINTS))
        for callpath, f in functions.items()
    )
    return model_experiment(Experiment(series))


OWN = {
    "main": lambda p: 5.0,
    "main->sort": lambda p: 1 + p,
    "main->sort->swap": lambda p: p * p,
    "main->io": lambda p: 7.0,
}
WITH_CALLEES = {
    "main": lambda p: 13 + p + p * p,
    "main->sort": lambda p: 1 + p + p * p,
    "main->sort->swap": lambda p: p * p,
    "main->io": lambda p: 7.0,
}


def by_path(tree, values):
    return {call.callpath: row.tolist() for call, row in zip(tree.calls, values, strict=True)}


def test_inclusive_values_are_those_of_all_that_is_called():
    (tree,) = call_trees(modelled(OWN))
    places = np.array([[64.0], [1000.0]])
    assert [call.depth for call in tree.calls] == [0, 1, 2, 1]
    assert by_path(tree, tree.inclusive(places)) == {
        name: pytest.approx([f(64.0), f(1000.0)]) for name, f in WITH_CALLEES.items()
    }
    assert by_path(tree, tree.exclusive(places)) == {
        name: pytest.approx([f(64.0), f(1000.0)]) for name, f in OWN.items()
    }


def test_exclusive_values_where_inclusive_ones_were_measured():
    (tree,) = call_trees(modelled(WITH_CALLEES), "inclusive")
    places = np.array([[64.0]])
    found = by_path(tree, tree.exclusive(places))
    assert found == {name: pytest.approx([f(64.0)], rel=1e-6) for name, f in OWN.items()}
    assert by_path(tree, tree.inclusive(places))["main"] == pytest.approx([13 + 64 + 64 * 64])


def test_a_caller_without_measurements_is_what_it_calls():
    for measured in ("exclusive", "inclusive"):
        (tree,) = call_trees(modelled({"a->b": lambda p: p, "a->c": lambda p: 3.0}), measured)
        assert tree.calls[0].callpath == "a"
        assert tree.calls[0].model is None
        assert tree.inclusive(np.array([[10.0]]))[0] == pytest.approx([13.0])
        assert tree.exclusive(np.array([[10.0]]))[0] == pytest.approx([0.0])


def test_growth_is_that_of_the_fastest_callee():
    (tree,) = call_trees(modelled(OWN))
    found = {c.callpath: g for c, g in zip(tree.calls, tree.growths(), strict=True)}
    assert found == {
        "main": {0: (2.0, 0.0)},
        "main->sort": {0: (2.0, 0.0)},
        "main->sort->swap": {0: (2.0, 0.0)},
        "main->io": {},
    }


def test_each_metric_has_a_tree():
    both = ModelSet((*modelled(OWN).models, *modelled({"main": lambda p: p}, "flops").models))
    assert [tree.metric for tree in call_trees(both)] == ["time", "flops"]


def test_no_model_no_tree():
    with pytest.raises(InputError, match="no model, so no call tree"):
        call_trees(ModelSet(()))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10**6))
def test_shares_add_up_to_one_and_inclusive_to_the_root(count, seed):
    """In any tree, and in any order of the file."""
    chance = random.Random(seed)
    paths = ["a"]
    while len(paths) < count:
        paths.append(f"{chance.choice(paths)}->f{len(paths)}")
    chance.shuffle(paths)
    (base,) = modelled({"x": lambda p: 3 + 2 * p}).models
    names = ("time", ("p",))
    models = ModelSet(tuple((base[0].__class__(path, *names, *series_of(base)), base[1])
                            for path in paths))  # fmt: skip
    (tree,) = call_trees(models)
    places = np.array([[3.0], [1e6]])
    assert tree.shares(places).sum(0) == pytest.approx([1.0, 1.0])
    assert tree.inclusive(places)[0] == pytest.approx(tree.exclusive(places).sum(0))
    for call in tree.calls:
        assert (
            call.parent is None
            or tree.calls[call.parent].callpath == (call.callpath.rsplit("->", 1)[0])
        )


def series_of(item):
    return item[0].points, item[0].values


def test_a_very_deep_tree():
    path = "->".join(["f"] * 3000)
    (tree,) = call_trees(modelled({path: lambda p: p}))
    assert len(tree.calls) == 3000
    assert tree.inclusive(np.array([[10.0]]))[0] == pytest.approx([10.0])
    assert tree.growths()[0] == {0: (1.0, 0.0)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.txt"
    lines = ["PARAMETER p", "POINTS 2 4 8 16 32", "METRIC time"]
    for callpath, f in OWN.items():
        lines += [f"REGION {callpath}", *(f"DATA {f(p)}" for p in POINTS)]
    path.write_text("\n".join(lines))
    return str(path)


def printed(*words):
    result = CliRunner().invoke(command, list(words))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_table_says_what_dominates(file):
    text = printed(file, "--tree", "--predict", "p=10", "--predict", "p=1e6")
    lines = text.splitlines()
    assert lines[0] == "time over p"
    starts = [line[: len(line) - len(line.lstrip())] + line.split()[0] for line in lines[2:6]]
    assert starts == ["main", "  sort", "    swap", "  io"]
    # At 10: 5 + 11 + 100 + 7 = 123, of which swap has 81 %.
    assert lines[-2] == "Most is spent in main->sort->swap at p = 10: 81 % of 123"
    assert lines[-1] == "Most is spent in main->sort->swap at p = 1e+06: 100 % of 1e+12"


def test_the_tree_is_filtered_and_sorted(file):
    kept = [line.split()[0] for line in printed(file, "--tree", "--filter", "io").splitlines()[2:]]
    assert kept == ["main", "io"]
    for at, first in (("p=1", "io"), ("p=32", "sort")):  # with callees: 3 and 1057, io always 7
        lines = printed(file, "--tree", "--sort", "value", "--predict", at).splitlines()
        assert lines[3].split()[0] == first
    named = printed(file, "--tree", "--sort", "name").splitlines()[2:6]
    assert [line.split()[0] for line in named] == ["main", "io", "sort", "swap"]


def test_the_tree_as_json(file):
    data = json.loads(printed(file, "--tree", "--predict", "p=10", "--format", "json"))
    assert data["schema"] == "regionpredict/models/1"
    calls = {call["callpath"]: call for call in data["call_tree"]}
    assert set(calls) == set(OWN)
    sort = calls["main->sort"]
    assert (sort["depth"], sort["growth"], sort["measured"]) == (1, "p^2", "exclusive")
    (at,) = sort["at"]
    assert at["point"] == {"p": 10.0}
    assert at["exclusive"] == pytest.approx(11.0)
    assert at["inclusive"] == pytest.approx(111.0)
    assert at["share"] == pytest.approx(11 / 123)


def test_models_are_filtered_and_sorted_too(file):
    def listed(*words):
        return [one["callpath"] for one in json.loads(printed(file, "--format", "json", *words))[
            "models"
        ]]  # fmt: skip

    assert listed("--sort", "file") == list(OWN)
    assert listed("--sort", "name") == sorted(OWN)
    assert listed()[0] == "main->sort->swap"
    assert listed("--filter", "s*") == ["main->sort->swap", "main->sort"]
    assert listed("--sort", "value", "--predict", "p=2") == [
        "main->io", "main", "main->sort->swap", "main->sort"
    ]  # fmt: skip


def test_a_pattern_that_matches_nothing_is_an_error(file):
    result = CliRunner().invoke(command, [file, "--filter", "nothing*"])
    assert isinstance(result.exception, InputError)
    assert "no call path matches 'nothing*'" in str(result.exception)


def test_a_series_without_a_call_path_is_a_call_of_its_own(tmp_path):
    """A plain table has one series, of no call path."""
    import subprocess
    import sys

    table = tmp_path / "t.csv"
    table.write_text("p,time\n1,1\n2,2\n4,4\n8,8\n16,16\n")
    line = [sys.executable, "-m", "regionpredict", "fit", str(table), "--tree"]
    shown = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-1].split() == ["-", "1*p", "p"]
    drawn = subprocess.run(
        [*line[:-1], "--plot", str(tmp_path / "s.svg"), "--drawing", "shares"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert drawn.returncode == 0, drawn.stderr
    refused = subprocess.run(
        [*line, "--format", "csv"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "it is a table, JSON or HTML" in refused.stderr
