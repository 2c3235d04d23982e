"""A pytest plug-in for tests of a project's scaling behavior.

```python
def test_sort_scales(expect_growth):
    expect_growth("n log n", points=[1000, 2000, 4000, 8000, 16000], values=measure_sort())

def test_the_library(expect_file):
    expect_file("expectations.yaml")
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def expect_growth() -> Callable[..., Any]:
    """A function `(expectation, points, values, **options)` that fails the test on a mismatch.

    `points` are numbers of one parameter, `values` lists of repetitions; `deviation`, `better`,
    `statistic` and `min_points` are as in an expectation file. Returns the verdict.
    """
    from regionpredict.fit.expectations.growth import parse  # noqa: PLC0415
    from regionpredict.fit.expectations.verdict import fit_expected, growth_of, judge_growth  # noqa: PLC0415

    def check(
        expectation: str,
        points: Sequence[Any],
        values: Sequence[Sequence[float]],
        *,
        deviation: str | None = None,
        better: Any = "deviation",
        statistic: Any = "mean",
        min_points: int = 5,
    ) -> Any:
        __tracebackhide__ = True
        expected, name = parse(expectation)
        model = fit_expected(
            expected, points, values, statistic=statistic, parameters=(name,), min_points=min_points
        )
        verdict = judge_growth(expected, growth_of(model), deviation=deviation, better=better)
        if not verdict.passed:
            pytest.fail(
                f"expected O({verdict.expected.text(name)}), found {model}: diverges by "
                f"O({verdict.divergence.text(name)}), allowed O({verdict.deviation.text(name)})",
                pytrace=False,
            )
        return verdict

    return check


@pytest.fixture
def expect_file(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function `(path, measurements=None)` that fails the test if an expectation fails.

    Paths are relative to the test's file. Returns the report.
    """
    from regionpredict.errors import InputError  # noqa: PLC0415
    from regionpredict.fit.expectations.expectation_file import check_file  # noqa: PLC0415
    from regionpredict.report.expectations import expectations_document  # noqa: PLC0415
    from regionpredict.report.rendered import rendered  # noqa: PLC0415

    def check(path: str | Path, measurements: str | Path | None = None) -> Any:
        __tracebackhide__ = True
        folder = Path(str(request.path)).parent
        try:
            report = check_file(
                folder / path, folder / measurements if measurements is not None else None
            )
        except InputError as error:
            pytest.fail(str(error), pytrace=False)
        if not report.passed:
            pytest.fail(rendered(expectations_document(report), "text"), pytrace=False)
        return report

    return check
