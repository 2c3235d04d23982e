"""Regions in one list across files: the table of `--sort` and `--top`.

time  gain  pk thr  limited by        conf  where
61 %   9.2x  1  10  imbalance         57 %  bt/solve.c:12 x_solve
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.predict import Prediction
from regionpredict.report.names import common_folder, cut
from regionpredict.report.page_width import PAGE_WIDTH
from regionpredict.report.program_summary import wrong_mark
from regionpredict.report.quantities import show_bytes, show_times
from regionpredict.report.teams_table import guess_mark, seats_mark
from regionpredict.report.view import gain_of

_NAME = 12  # minimum columns for a function next to a long path


def ranked_rows(
    predictions: Sequence[Prediction], times: Mapping[str, float], whole: float, model: str,
    *, data: bool,
) -> list[str]:  # fmt: skip
    """The table's lines. `times` are seconds by region, and `whole` is their sum. With `data`,
    bytes replace the share of the time.
    """
    folder = common_folder([prediction.facts.region.span.file for prediction in predictions])
    choice = "  gain  pk thr  " if model == "saturation" else "  score  pkgs "
    head = f"{'data' if data else 'time':>9}{choice}{'limited by':<16}  conf  where"
    lines = [f"Below {folder}:"] if len(folder) > 1 else []
    lines.append(head)
    for prediction in predictions:
        share = times.get(prediction.facts.region.id)
        first = show_bytes(prediction.working_set_bytes) if data else _share(share, whole)
        row = f"{first:>9}{_result(prediction, model)}"
        region = prediction.facts.region
        place = f"{region.span.file[len(folder) :]}:{region.span.line}"
        lines.append(row + _where(place, region.function, PAGE_WIDTH - len(row)))
    return lines


def _share(seconds: float | None, whole: float) -> str:
    return "?" if seconds is None or not whole else f"{100 * seconds / whole:.1f} %"


def _result(prediction: Prediction, model: str) -> str:
    partial = "?" if prediction.status == "partial" else ""
    marks = f"{guess_mark(prediction) + partial + wrong_mark(prediction.diagnostics):<2}"
    if prediction.threads is None:
        return (
            f"{'no hint':^{15 if model == 'saturation' else 14}}{prediction.status:<16} {'':4}   "
        )
    mark = "~" if prediction.borderline else " "
    gain = gain_of(prediction)
    if gain is not None:
        seats = f"{prediction.threads:>4}{seats_mark(prediction)}"
        choice = f"{show_times(gain):>5}x{mark}{prediction.packages:>2}{seats} "
    else:
        choice = f"{prediction.score or 0.0:5.2f} {mark}{prediction.packages:>3}    "
    return f"{choice}{prediction.bottleneck or '':<16} {100 * prediction.confidence:3.0f} %{marks}"


def _where(place: str, function: str, width: int) -> str:
    """`gemm.c:41 kernel_gemm`. Long text is shortened in the middle, but the line number is
    kept.
    """
    room = max(width - min(len(function), _NAME) - 1, width // 2)
    short = cut(place, room, room // 3)
    left = width - len(short) - 1
    return f"{short} {cut(function, left, left // 2)}"
