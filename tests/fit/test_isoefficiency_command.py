"""`regionpredict isoefficiency`: published formulas and tables, solved for n or p."""

import json
import math
import random

import pytest
from click.testing import CliRunner

from regionpredict.cli.isoefficiency import command
from regionpredict.errors import InputError, UsageError
from regionpredict.fit.laws.published_formula import published_formula


def solve(*arguments):
    done = CliRunner().invoke(command, [*map(str, arguments), "--format", "json"])
    if done.exception is not None:
        raise done.exception
    return json.loads(done.output)


# Shudler 2018, table 5.3: the input size for p = 60 and an efficiency of 0.8. Printed coefficients
# have three digits, so solutions differ from the printed ones by what rounding makes of them.
@pytest.mark.parametrize(
    ("formula", "size", "tolerance"),
    [
        ("1.55 - 1.02*p^0.25 + 4.59e-2*p^0.25*log(n)", 83600, 0.001),
        ("min{1, (2.29 + 2.35e-3*n)*p^-1}", 19500, 0.01),
        ("1.09 - 0.51*sqrt(p) + 3.11e-2*sqrt(p)*log(n)", 37718, 0.01),
        # Printed is 1,200, which no coefficient that rounds to 0.25 gives; (48 / 0.25)^(4/3) is:
        ("min{1, (0.25*n^0.75)*p^-1}", 1107.65, 1e-5),
    ],
)
def test_published_sizes_come_out(formula, size, tolerance):
    [solution] = solve("--formula", formula, "--at", "p=60")["solutions"]
    assert solution["value"] == pytest.approx(size, rel=tolerance)


def test_sizes_and_processors_have_separators():
    """The efficiency is n / (2^21 p). Given sizes are exact, and answers have four digits."""
    words = ["--at", "p=4", "--at", "n=4194304", "--efficiency", "0.5"]
    formula = "min{1, 4.76837158203125e-7*n*p^-1}"
    lines = CliRunner().invoke(command, ["--formula", formula, *words]).output.splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["p", "=", "4", "n", "=", "4,194,000", "-"],
        ["n", "=", "4,194,304", "p", "=", "4", "-"],
    ]


def test_the_two_questions_are_inverse():
    formula = "1.55 - 1.02*p^0.25 + 4.59e-2*p^0.25*log(n)"
    [size] = solve("--formula", formula, "--at", "p=60")["solutions"]
    [threads] = solve("--formula", formula, "--at", f"n={size['value']!r}")["solutions"]
    assert threads["value"] == pytest.approx(60, rel=1e-6)


def efficiency(p, n):
    return 1.05 - 0.3 * p**0.5 + 0.022 * p**0.5 * math.log2(n) if p > 1 else 1.0


@pytest.mark.parametrize("kind", ["time", "efficiency"])
def test_a_table_is_solved_with_a_band(tmp_path, kind):
    rng = random.Random(5)
    rows = [f"p,n,{kind}"]
    for n in (1000, 2000, 4000, 8000, 16000):
        for p in (1, 2, 4, 8, 16, 32):
            value = efficiency(p, n)
            value = value if kind == "efficiency" else n * 1e-3 / (p * value)
            if p > 1 or kind == "time":
                rows.append(f"{p},{n},{value * rng.gauss(1, 0.002)}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows) + "\n")
    size, threads = solve(path, "--at", "p=60", "--at", "n=8000")["solutions"]
    exact = 2 ** ((0.8 - 1.05 + 0.3 * 60**0.5) / (0.022 * 60**0.5))
    assert size["value"] == pytest.approx(exact, rel=0.05)
    assert size["low"] <= size["value"] <= size["high"]
    exact = ((1.05 - 0.8) / (0.3 - 0.022 * math.log2(8000))) ** 2
    assert threads["value"] == pytest.approx(exact, rel=0.15)
    assert threads["low"] <= threads["value"] <= threads["high"]


@pytest.mark.parametrize(
    "text", ["__import__('os')", "p.real", "x + 1", "9" * 5000, "p if n else 1", "min(p)", "", "("]
)
def test_only_arithmetic_is_a_formula(text):
    with pytest.raises(InputError):
        published_formula(text)


@pytest.mark.parametrize("text", ["(0-8)^0.5 + p*0", "1/0*p", "9^9^9^9 + p", "log(0*n)"])
def test_a_formula_without_a_value_is_nan(text):
    assert math.isnan(published_formula(text)(2, 3))


@pytest.mark.parametrize(
    "arguments", [[], ["--formula", "1/p"], ["--formula", "1/p", "--at", "q=3"], ["--at", "p=3"]]
)
def test_wrong_use_is_refused(arguments):
    with pytest.raises(UsageError):
        solve(*arguments)


def _table(folder, kind, value):
    rows = [f"p,n,{kind}"]
    rows += [f"{p},{n},{value(p, n)}" for n in (1000, 2000, 4000, 8000, 16000)
             for p in (1, 2, 4, 8, 16)]  # fmt: skip
    path = folder / "table.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_answers_far_beyond_the_measured_range_are_withheld(tmp_path):
    path = _table(tmp_path, "time", lambda p, n: 1e-6 * n / p + 2e-5 * math.log2(p))
    near, far = solve(path, "--at", "p=32", "--at", "n=1e6")["solutions"]
    assert near["value"] is not None
    assert near["withheld"] == ""
    assert (far["value"], far["low"], far["high"]) == (None, None, None)
    assert far["withheld"] == "p is more than 32 times the largest measured one"
    done = CliRunner().invoke(command, [str(path), "--at", "n=1e6"])
    assert "p for n = 1,000,000 is withheld: p is more than 32 times" in done.output


def test_an_efficiency_that_grows_with_processors_gives_no_answer(tmp_path):
    grown = _table(tmp_path, "efficiency", lambda p, n: 0.2 + 0.1 * math.log2(p) + 1e-6 * n)
    [solution] = solve(grown, "--at", "p=100", "--efficiency", "0.9")["solutions"]
    assert solution["value"] is None
    assert "grows with p" in solution["withheld"]
