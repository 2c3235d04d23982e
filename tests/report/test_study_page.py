"""The first line of a study, from verdicts by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regionpredict.measure.records import Campaign, Host, Run
from regionpredict.report.study_page import JudgedModel, study_document
from tests.report.test_result_pages import comparison

HOST = Host("node", "a processor", 1, 2, 1, 1)
RUN = Run(2, 0, False, 1.0, "now", 0.0, "p", "gcc", "libgomp", ())
MOST = (
    "The saturation model has the most right hints, 50.0 % (1 of 2). A right hint is the fewest "
    "within 10 %."
)


@pytest.mark.parametrize(
    ("right", "line"),
    [
        ((None, True, False), MOST),
        ((None, False, False), "No model gave a right hint."),
        ((None, None, None), "No hint was judged."),
    ],
)
def test_the_first_line_names_the_best_model_if_there_is_one(
    right: tuple[bool | None, ...], line: str
) -> None:
    known = comparison()
    one = [replace(verdict, right=None) for verdict in known.verdicts]
    other = [replace(verdict, right=a) for verdict, a in zip(known.verdicts, right, strict=True)]
    judged = [
        JudgedModel(replace(known, verdicts=tuple(verdicts)), model, "")
        for model, verdicts in (("density", one), ("saturation", other))
    ]
    document = study_document(Campaign(("./p",), HOST, {}, "2026-01-01", (RUN,)), judged, [])
    assert document.lead[0] == line
