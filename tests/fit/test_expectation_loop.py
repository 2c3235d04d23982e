"""Expectations as a loop: propose, check, predict; what the measurements cannot decide."""

import csv
import json
import math
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from regionpredict.cli.expect import command
from regionpredict.errors import InputError, UsageError
from regionpredict.fit import fit
from regionpredict.fit.expectations.expectation_file import check_file
from regionpredict.fit.expectations.run_microbenchmark import OPENMP, run_microbenchmark
from regionpredict.fit.expectations.search_spaces import exponent_sets, space_of
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.report.expectations import expectations_document
from regionpredict.report.rendered import rendered

POINTS = [2**k for k in range(1, 8)]


def table(path, **series):
    rows = ["p,callpath,time"]
    for p in POINTS:
        for name, function in series.items():
            rows += [f"{p},{name},{function(p) * (1 + 0.01 * r)!r}" for r in (-1, 0, 1)]
    path.write_text("\n".join(rows) + "\n")


def expect(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def baseline(tmp_path):
    measured = tmp_path / "measured.csv"
    table(measured, solve=lambda p: 2 + 0.3 * p * math.log2(p), io=lambda p: 5 + 0.5 * p)
    done = expect(measured, "--propose", "-o", tmp_path / "baseline.yaml")
    assert done.exit_code == 0, done.output
    return tmp_path / "baseline.yaml"


def test_proposed_expectations_are_those_of_today_and_hold_today(baseline):
    data = yaml.safe_load(baseline.read_text())
    assert data["measurements"] == "measured.csv"
    assert {e["callpath"]: e["expect"] for e in data["expectations"]} == {
        "solve": "p*log(p)",
        "io": "p",
    }
    assert expect(baseline).exit_code == 0


def test_a_baseline_fails_when_the_growth_changes(baseline, tmp_path):
    later = tmp_path / "later.csv"
    table(later, solve=lambda p: 2 + 0.3 * p * p, io=lambda p: 5 + 0.5 * p)
    done = expect(baseline, "--measurements", later)
    assert done.exit_code == 1
    assert "failed: solve: expected O(p*log(p)), found O(p^2)" in done.output


def test_proposals_of_a_file_become_its_expectations(tmp_path):
    table(tmp_path / "m.csv", solve=lambda p: 2 + 0.3 * p * p, io=lambda p: 5 + 0.5 * p)
    path = tmp_path / "some.yaml"
    path.write_text(
        "measurements: m.csv\nsteps: 1\nexpectations:\n"
        "- {callpath: io, expect: log p}\n- {callpath: solve, deviation: log p}\n"
    )
    done = expect(path, "--propose")
    data = yaml.safe_load(done.output)
    assert data["expectations"] == [
        {"callpath": "io", "expect": "log p"},
        {"callpath": "solve", "deviation": "log p", "expect": "p^2"},
    ]
    assert data["steps"] == 1


def test_models_that_hold_are_evaluated_at_the_target_scale(baseline):
    done = expect(baseline, "--predict", "p=1e6", "--format", "json")
    predictions = {p["callpath"]: p for p in json.loads(done.output)["predictions"]}
    truth = 2 + 0.3 * 1e6 * math.log2(1e6)
    assert predictions["solve"]["value"] == pytest.approx(truth, rel=0.05)
    assert predictions["solve"]["low"] <= truth <= predictions["solve"]["high"]


def test_a_prediction_names_the_parameter(baseline):
    assert isinstance(expect(baseline, "--predict", "n=100").exception, UsageError)


def test_the_table_and_json_have_adjusted_r2(baseline):
    assert "adj. R2" in expect(baseline).output
    assert [
        v["adjusted_r2"] > 0.99
        for v in json.loads(expect(baseline, "--format", "json").output)["verdicts"]
    ] == [True, True]


def test_measurements_without_a_formula_are_inconclusive(tmp_path):
    table(tmp_path / "m.csv", f=lambda p: 1 + 4 * (int(math.log2(p)) % 2))
    (tmp_path / "e.yaml").write_text("measurements: m.csv\nexpectations: [{expect: p}]\n")
    values = [[5.0 if k % 2 else 1.0] * 3 for k in range(len(POINTS))]
    assert fit(POINTS, values).law == "none"
    exact = tmp_path / "exact.csv"
    exact.write_text(
        "p,time\n" + "".join(f"{p},{v[0]}\n" * 3 for p, v in zip(POINTS, values, strict=True))
    )
    done = expect(tmp_path / "e.yaml", "--measurements", exact, "--format", "json")
    assert done.exit_code == 3
    report = json.loads(done.output)
    assert (report["passed"], report["inconclusive"]) == (False, True)
    assert report["verdicts"][0]["match"] == "inconclusive"


WAITING = """#!/bin/sh
printf 'all:\\n' > /dev/null
cat > "$3" <<'END'
#!/bin/sh
for r in 1 2 3 4; do echo "barrier,time,$OMP_NUM_THREADS,1e-6"; done
echo "omp_constructs: 2 threads do not start together: their times contain waiting" >&2
END
chmod +x "$3"
"""


def test_a_run_whose_times_contain_waiting_is_inconclusive(tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text(WAITING.replace('"$3"', '"$2"').replace("$2", "$3"))
    compiler.chmod(0o755)
    kept = str(tmp_path / "kept.csv")
    done = expect("openmp", "--run", "1,2,4,8,16", "--compiler", str(compiler), "--keep", kept)
    assert "contain waiting" in done.output
    again = expect("openmp", "--measurements", kept)
    assert "1 of 9 expectations is inconclusive, 8 are not checked" in again.output
    header, *rows = csv.reader(Path(kept).read_text().splitlines())
    assert header[-1] == "disturbed_by"
    assert {row[-1].partition(":")[0] for row in rows} == {"the times contain waiting"}
    [row] = [line.split() for line in done.output.splitlines() if line.startswith("barrier ")]
    assert row[1] == "O(log(p))"  # shown without a verdict, too
    assert "1 of 9 expectations is inconclusive, 8 are not checked" in done.output
    report = check_file_of_run(compiler)
    [barrier] = [check for check in report.checks if check.callpath == "barrier"]
    assert (barrier.inconclusive != "", barrier.failed, barrier.passed) == (True, False, False)


def check_file_of_run(compiler):
    from regionpredict.fit.expectations.shipped_files import expectation_path

    experiment = run_microbenchmark(OPENMP, [1, 2, 4, 8, 16], compiler=str(compiler))
    assert experiment.disturbed
    return check_file(expectation_path("openmp"), experiment)


def test_a_run_on_too_few_numbers_is_refused_before_it_runs():
    done = expect("openmp", "--run", "1,2,4,2,1")
    assert isinstance(done.exception, UsageError)
    assert "the expectations need 5 different numbers" in str(done.exception)


def test_measurements_that_are_inconclusive_for_one_reason_share_a_line(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("expectations:\n- {callpath: f, expect: p}\n- {callpath: g, expect: p}\n")
    builder = SeriesBuilder(("p",))
    for name in "fg":
        for value in (1.0, 2.0, 4.0, 8.0, 16.0):
            builder.add(name, "time", (value,), (value,))
    report = check_file(file, Experiment(builder.series(), (), "the host was busy"))
    text = rendered(expectations_document(report), "table")
    assert text.startswith("Inconclusive: 2 of 2 expectations are inconclusive\n")
    assert text.count("the host was busy") == 1
    assert "inconclusive: f, g: the host was busy" in text


SCATTERED = """#!/bin/sh
cat > "$3" <<END
#!/bin/sh
echo run >> {log}
for v in 1 {far} 1 {far}; do echo "f,time,\\$OMP_NUM_THREADS,\\$v"; done
END
chmod +x "$3"
"""


@pytest.mark.parametrize(
    ("far", "rounds", "problems"),
    # 4, 8, 12, 16, 20 values half of which are 1.02 or 3: the half-width over the mean is at
    # first 1.96 * 0.0115 / 2 / 1.01 = 0.011, or 0.57 at first and 0.22 after five rounds.
    [("1.02", 1, 0), ("3", 5, 1)],
)
def test_runs_are_repeated_until_their_means_are_precise(tmp_path, far, rounds, problems):
    log = tmp_path / "log"
    compiler = tmp_path / "compiler"
    compiler.write_text(SCATTERED.format(log=log, far=far))
    compiler.chmod(0o755)
    experiment = run_microbenchmark(OPENMP, [1], compiler=str(compiler), precision=0.05)
    assert len(log.read_text().split()) == rounds
    assert len(experiment.series[0].values[0]) == 4 * rounds
    assert len(experiment.problems) == problems
    assert all("1 of 1 means on 1 have" in problem.message for problem in experiment.problems)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("steps: 9223372036854775808", "steps: '9223372036854775808' is not a whole number"),
        ("steps: -1", "from 0 to 6"),
        ("min_points: 1", "from 2 to"),
        ("min_points: 1e30", "not a whole number"),
        ("max_terms: true", "from 1 to 8"),
    ],
)
def test_numbers_of_a_file_have_bounds(tmp_path, line, said):
    path = tmp_path / "e.yaml"
    path.write_text(f"{line}\nexpectations: [{{expect: p, model: p}}]\n")
    with pytest.raises(InputError) as error:
        check_file(path)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("keys", "model"),
    [
        ("terms: [k^3*2^k]", "3 + 0.5*k^3*2^k"),
        ("search: k^3*2^k", "3 + 0.5*k^3*2^k"),
    ],
)
def test_a_file_says_where_to_search(tmp_path, keys, model):
    (tmp_path / "m.csv").write_text(
        "k,time\n" + "".join(f"{k},{3 + 0.5 * k**3 * 2**k}\n" for k in range(1, 11))
    )
    path = tmp_path / "e.yaml"
    path.write_text(f"measurements: m.csv\n{keys}\nexpectations: [{{expect: k}}]\n")
    [check] = check_file(path).checks
    assert check.model == model


def test_exponents_are_lists_or_ranges():
    assert exponent_sets("0..1..1/4,2:1") == ([0.0, 0.25, 0.5, 0.75, 1.0, 2.0], [1.0])
    space = space_of("0..3..1/4:0..2")
    assert space is not None
    assert len(space.terms) == 38
    for text in ("1", "1:", "a:b", "1/0:1", "0:0", "0..9e9:1", "3..0:1", "0..1..0:1"):
        with pytest.raises(InputError):
            exponent_sets(text)


def test_three_terms_are_found_where_three_are_asked_for():
    points = [2**k for k in range(1, 12)]
    values = [[10 + 3 * math.log2(p) + 0.5 * p + 0.001 * p * p] for p in points]
    model = fit(points, values, max_terms=3)
    assert model.formula() == "10 + 0.001*p^2 + 0.5*p + 3*log2(p)"


def test_a_proposal_from_disturbed_measurements_says_so(tmp_path):
    """The repetitions at the largest size differ by half of their mean."""
    path = tmp_path / "runs.csv"
    rows = [(n, n * 1e-6 * factor) for n in (2, 4, 8, 16) for factor in (1.0, 1.001, 0.999)]
    rows += [(32, 160e-6), (32, 161e-6), (32, 32e-6)]
    path.write_text("n,time\n" + "".join(f"{n},{time}\n" for n, time in rows))
    done = expect(path, "--propose", "-o", tmp_path / "baseline.yaml")
    assert done.exit_code == 0
    assert "note: time: " in done.output
    assert "measure again on a quiet host before you rely on this baseline" in done.output
    checked = expect(tmp_path / "baseline.yaml")
    assert (checked.exit_code, "inconclusive: " in checked.output) == (3, True)


def test_a_proposal_from_clean_measurements_has_no_doubts(tmp_path):
    table(tmp_path / "m.csv", solve=lambda p: 2 + 0.3 * p * p, io=lambda p: 5 + 0.5 * p)
    done = expect(tmp_path / "m.csv", "--propose", "-o", tmp_path / "baseline.yaml")
    assert "note:" not in done.output
