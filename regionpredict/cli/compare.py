"""`regionpredict compare`: compares predictions with measurements."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.campaign import disturbed_text, runs_for_a_page, without_disturbed
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.prediction_request import hints_at_measured_sizes
from regionpredict.cli.source_texts import source_texts
from regionpredict.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regionpredict.compare.term_models import TermModel
    from regionpredict.compare.verdicts import Comparison
    from regionpredict.measure.records import Campaign
    from regionpredict.report.document import Document

_OF_VERDICTS = ("tolerance", "criterion", "at_measured_sizes", "min_success", "plot")


@click.command("compare")
@click.argument("hints", type=click.Path(path_type=Path))
@click.argument("measurements", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="PERCENT",
    help="Slowdown relative to the best time that still counts as right.",
)
@click.option(
    "--criterion",
    type=click.Choice(["best", "utilisation"]),
    default="best",
    show_default=True,
    help="Definition of a right hint.",
)
@click.option(
    "--statistic",
    type=click.Choice(["median", "least"]),
    default="median",
    show_default=True,
    help="Statistic of the times of the runs.",
)
@click.option(
    "--with-disturbed",
    is_flag=True,
    help="Also use runs during which other processes kept the host busy.",
)
@click.option(
    "--other-machine",
    is_flag=True,
    help="Accept hints for a machine other than the measured one.",
)
@click.option(
    "--at-measured-sizes",
    is_flag=True,
    help="Predict again with the measured sizes. Needs the sources.",
)
@click.option(
    "--by-size",
    is_flag=True,
    help="Fit the prediction's terms to all of MEASUREMENTS, one size per file.",
)
@click.option(
    "--min-success",
    type=click.FloatRange(0, 100),
    default=None,
    metavar="PERCENT",
    help="Exit code 1 below this success rate.",
)
@plot_option("the scatter of score against utilization")
@click.option(
    "--drawing",
    type=click.Choice(["areas", "speedups"]),
    default=None,
    help="Kind of plot. speedups: predicted against measured.  [default: areas]",
)
@result_options("table json csv html")
def command(
    hints: Path, measurements: tuple[Path, ...], *, tolerance: float, criterion: str,
    statistic: str, with_disturbed: bool, other_machine: bool, at_measured_sizes: bool,
    by_size: bool, min_success: float | None, plot: Path | None, drawing: str | None, form: str,
    output: str | None,
) -> None:  # fmt: skip
    """Judge the hints in HINTS by the times in MEASUREMENTS.

    HINTS is output of regionpredict predict --format json, and MEASUREMENTS of regionpredict
    measure. Several files of one host are combined.
    """
    from regionpredict.compare.empirical import fitted_laws
    from regionpredict.compare.success import success
    from regionpredict.compare.verdicts import compare
    from regionpredict.measure.hints_file import read_hints
    from regionpredict.measure.store import read_campaign
    from regionpredict.measure.summary import summarise, summarise_teams
    from regionpredict.report.comparison import comparison_document
    from regionpredict.report.term_models import term_models_document

    if plot is None:
        refuse_options(click.get_current_context(), ("drawing",), "needs --plot FILE")
    if by_size:
        refuse_options(
            click.get_current_context(), _OF_VERDICTS, "cannot be combined with --by-size"
        )
    given = read_hints(hints)  # read first, so that an invalid file is reported at once
    campaigns = [read_campaign(path) for path in measurements]
    for path, campaign in zip(measurements[1:], campaigns[1:], strict=True):
        if campaign.host != campaigns[0].host:
            raise InputError(
                f"measured on {campaign.host.name}, {measurements[0]} on {campaigns[0].host.name}",
                remedy="compare each host's measurements alone", path=str(path),
            )  # fmt: skip
    if not any(campaign.measured for campaign in campaigns):
        raise InputError(
            "it contains no run", remedy="measure again with --resume", path=str(measurements[0])
        )
    kept = "all" if with_disturbed else "some" if form == "html" else "quiet"
    campaigns, refused = _judged_runs(campaigns, measurements, kept)
    disturbed = _lines_on_disturbed_runs(campaigns, measurements)
    if by_size:
        for line in disturbed:
            click.echo(f"note: {line}; they count nevertheless", err=True)
        models = _models_by_size(
            hints, measurements, campaigns, statistic, other_machine=other_machine
        )
        _write_document(term_models_document(models), form, output, refused)
        return
    summaries = [summary for campaign in campaigns for summary in summarise(campaign)]
    result = compare(
        hints_at_measured_sizes(hints, measurements) if at_measured_sizes else given,
        summaries,
        tolerance=tolerance / 100,
        criterion=criterion,
        statistic=statistic,
        host=campaigns[0].host,
        other_machine=other_machine,
        teams=[summary for campaign in campaigns for summary in summarise_teams(campaign)],
    )
    result = replace(result, disturbed=disturbed)
    laws = fitted_laws(result, campaigns)
    if plot is not None:
        write_plot(plot, _comparison_figure(result, drawing))
    _write_document(comparison_document(result, laws, source_texts), form, output, refused)
    share = success(result).share
    if min_success is not None and (share is None or 100 * share < min_success):
        reached = "nothing was judged" if share is None else f"{100 * share:.1f} %"
        click.echo(
            f"regionpredict: success {reached}, below --min-success {min_success:g}", err=True
        )
        sys.exit(1)


def _judged_runs(
    campaigns: Sequence[Campaign], paths: Sequence[Path], selection: str
) -> tuple[list[Campaign], InputError | None]:
    """Selects the runs that count. `selection` is `all`, `quiet`, or `some`: per file the quiet
    runs if there are any, else all. Also returns the error to raise after the page is written.
    """
    if selection == "all":
        return list(campaigns), None
    files = list(zip(campaigns, paths, strict=True))
    if selection == "quiet":
        return [without_disturbed(campaign, path) for campaign, path in files], None
    known = [runs_for_a_page(campaign, path) for campaign, path in files]
    refused = next((error for _, error in known if error is not None), None)
    return [campaign for campaign, _ in known], refused


def _write_document(
    document: Document, form: str, output: str | None, later_error: InputError | None
) -> None:  # fmt: skip
    """Writes the result. Then raises the error that did not prevent the page, if there is one."""
    from regionpredict.report.rendered import rendered

    write_result(rendered(document, form), output)
    if later_error is not None:
        raise later_error


def _lines_on_disturbed_runs(
    campaigns: Sequence[Campaign], paths: Sequence[Path]
) -> tuple[str, ...]:
    """Returns a line for each file with disturbed runs. If there are several files, each line names
    its file.
    """
    several = len(paths) > 1
    return tuple(
        f"{path}: {disturbed}" if several else disturbed
        for path, campaign in zip(paths, campaigns, strict=True)
        if (disturbed := disturbed_text(campaign))
    )


def _comparison_figure(result: Comparison, drawing: str | None) -> Figure:
    from regionpredict.report.plots.drawn import figure_of
    from regionpredict.report.verdict_scatter import speedup_scatter, utilisation_scatter

    return figure_of((speedup_scatter if drawing == "speedups" else utilisation_scatter)(result))


def _models_by_size(
    hints: Path, measurements: Sequence[Path], campaigns: Sequence[Campaign], statistic: str,
    *, other_machine: bool,
) -> list[TermModel]:  # fmt: skip
    """Fits a model to each region that was measured with at least two sizes."""
    from regionpredict.cli.prediction_request import predict_recorded_sizes
    from regionpredict.compare.calibration_samples import gather_samples, hints_of
    from regionpredict.compare.comparable import check_machine
    from regionpredict.compare.term_models import SizedTime, sized_times, term_model
    from regionpredict.measure.summary import summarise

    times: dict[str, list[SizedTime]] = {}
    for path, campaign in zip(measurements, campaigns, strict=True):
        result = predict_recorded_sizes(hints, [path], campaign.threads)
        own = hints_of(result.predictions, result.machine)
        check_machine(replace(own, path=str(hints)), campaign.host, other_machine=other_machine)
        samples = gather_samples(result.predictions, own, summarise(campaign), statistic=statistic)
        for region, known in sized_times(result.predictions, samples).items():
            times.setdefault(region, []).extend(known)
    models = [model for region, known in times.items() if (model := term_model(region, known))]
    if not models:
        raise InputError(
            "no region was measured with two sizes",
            path=str(measurements[-1]),
            remedy="measure the program with other sizes, each into a separate file",
        )
    return models
