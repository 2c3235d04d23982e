"""The pytest plug-in, run by pytest in a folder of its own; the micro-benchmark, compiled."""

from __future__ import annotations

import shutil
from importlib.metadata import entry_points

import pytest

from regionpredict.errors import InputError
from regionpredict.fit.expectations.growth import parse
from regionpredict.fit.expectations.run_microbenchmark import MPI, OPENMP, run_microbenchmark

pytest_plugins = ["pytester"]

TESTS = """
POINTS = [10, 20, 40, 80, 160]

def test_right(expect_growth):
    expect_growth("n^2", POINTS, [[3 + n * n] for n in POINTS])

def test_wrong(expect_growth):
    expect_growth("log n", POINTS, [[3 + n * n] for n in POINTS])

def test_file(expect_file):
    expect_file("e.yaml")
"""


def test_two_lines_in_a_projects_own_tests(pytester):
    pytester.makepyfile(TESTS)
    (pytester.path / "e.yaml").write_text("expectations:\n  - {callpath: a, expect: p, model: p}\n")
    # Where the package is installed with its entry point, naming the plug-in again is an error.
    known = {entry.value for entry in entry_points(group="pytest11")}
    named = () if "regionpredict.pytest_plugin" in known else ("-p", "regionpredict.pytest_plugin")
    result = pytester.runpytest_subprocess(*named)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*expected O(log(n)), found *n^2*diverges by O(n^2/log(n))*"])


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_openmp_constructs_are_measured():
    experiment = run_microbenchmark(OPENMP, [1], repetitions=4)
    names = [
        "parallel",
        "firstprivate",
        "barrier",
        "for_static",
        "for_dynamic",
        "reduction",
        "critical",
        "atomic",
        "task",
    ]
    measured = {s.callpath: s for s in experiment.series}
    said = " ".join(problem.message for problem in experiment.problems)
    for name in names:
        count = len(measured[name].values[0]) if name in measured else 0
        assert count == 4 or f"{name} on 1 threads" in said
    for series in experiment.series:
        assert series.points == ((1.0,),)
        assert all(0 < v < 1 for v in series.values[0])


def fake_compiler(folder, *lines):
    """A command that is called as a compiler, and makes a program that runs these lines."""
    made = folder / "cc.sh"
    program = "\n".join(("#!/bin/sh", *lines))
    made.write_text(f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat > "$2" <<'END'
{program}
END
chmod +x "$2"
""")
    made.chmod(0o755)
    return str(made)


def test_what_a_micro_benchmark_says_is_a_problem(tmp_path):
    compiler = fake_compiler(
        tmp_path, "echo atomic,time,1,5e-9",
        "echo 'omp_constructs: barrier was left out' >&2", "echo 'libgomp: chatter' >&2",
    )  # fmt: skip
    experiment = run_microbenchmark(OPENMP, [1], compiler=compiler)
    assert [problem.message for problem in experiment.problems] == ["barrier was left out"]


def test_a_micro_benchmark_that_measures_nothing_is_an_error(tmp_path):
    compiler = fake_compiler(tmp_path, "echo 'omp_constructs: all was left out' >&2")
    with pytest.raises(InputError, match=r"measured nothing on 2 threads .*: all was left out"):
        run_microbenchmark(OPENMP, [2], compiler=compiler)


def test_a_micro_benchmark_that_prints_something_else_is_an_error(tmp_path):
    compiler = fake_compiler(tmp_path, "echo hello")
    with pytest.raises(InputError, match="not a line of measurements"):
        run_microbenchmark(OPENMP, [1], compiler=compiler)


def test_a_missing_compiler_is_one_line():
    with pytest.raises(InputError, match="'no-such-compiler' was not found"):
        run_microbenchmark(MPI, [2], compiler="no-such-compiler")


def test_a_failing_compiler_says_why(tmp_path):
    if shutil.which("false") is None:
        pytest.skip("needs the command false")
    with pytest.raises(InputError, match="failed: it printed no message"):
        run_microbenchmark(OPENMP, [1], compiler="false")


def test_the_parameter_is_the_expectations():
    assert parse("n log n")[1] == "n"
