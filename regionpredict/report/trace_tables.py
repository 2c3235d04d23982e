"""Makes the tables of a trace's results: kinds of waits and delays, regions, and call paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from regionpredict.report.document import Cell, Column, Table
from regionpredict.report.metric_names import WAITS, metric_name, wait_name
from regionpredict.report.quantities import show_percent, show_seconds
from regionpredict.trace import Location
from regionpredict.trace.profile import SECONDS, Balance, Record, RegionTotal, TraceResult

_WAIT_TIMES = (
    *(wait.metric for wait in WAITS), "late_sender_wo", "nxn_completion", "barrier_completion",
)  # fmt: skip
_PATH = (
    "critical_path", "critical_imbalance", "impact_imbalance", "impact_intra", "impact_inter",
    "path_activities", "off_path_activities",
)  # fmt: skip
_PROPAGATION = ("wait_direct", "wait_indirect", "wait_propagating", "wait_terminal")
_DIGITS = 6  # of times in the run
_SHORT, _LONG = "delay_short.", "delay_long."


def kind_tables(result: TraceResult, metric: str | None, whole_s: float) -> list[Table]:
    """Returns sums over all call paths and locations.

    Shares are of `whole_s`, the time of all locations. With `metric`, only the sum of this metric.
    """
    if metric is not None:
        unit = next((one.unit for one in result.records if one.metric == metric), "")
        total = (amount(result.totals[metric], unit), result.totals[metric])
        row = [metric_name(metric), total, result.counts.get(metric)]
        columns = [Column("Metric"), Column("Total", str), Column("Instances", str, unknown="")]
        return [Table("Total", columns, [row])]
    if "critical_path" in result.totals:
        return [_sum_table("Critical path", "Metric", result, _PATH, whole_s)]
    if any(name.startswith((_SHORT, _LONG)) for name in result.totals):
        return [_delay_kinds(result), _propagation_table(result)]
    return [_sum_table("Wait states", "Wait state", result, _WAIT_TIMES, whole_s)]


def _sum_table(
    title: str, first: str, result: TraceResult, metrics: Sequence[str], whole_s: float
) -> Table:
    rows: list[list[Cell]] = [
        [metric_name(name), result.totals[name], result.totals[name] / whole_s if whole_s else None,
         result.counts.get(name)]
        for name in metrics if name in result.totals
    ]  # fmt: skip
    columns = [
        Column(first), Column("Time", show_seconds), Column("% of time", _percent_text),
        Column("Instances", str, unknown="", optional=True),
    ]  # fmt: skip
    return Table(title, columns, rows, legend=["% of time: of the time of all locations."])


def _delay_kinds(result: TraceResult) -> Table:
    rows: list[list[Cell]] = []
    for wait, name in WAITS.items():
        short, long = (result.totals.get(f"{p}{wait.metric}", 0.0) for p in (_SHORT, _LONG))
        if short or long:
            rows.append([name, short + long, short, long])
    columns = [
        Column("Wait state"),
        Column("Cost", show_seconds), Column("Short-term", show_seconds),
        Column("Long-term", show_seconds),
    ]  # fmt: skip
    return Table("Delays by the waits that they cause", columns, rows, legend=[
        "Cost: the time that others wait because of it. Short-term: directly. Long-term: through "
        "waits of locations between them."
    ])  # fmt: skip


def _propagation_table(result: TraceResult) -> Table:
    """Returns waits by cause and effect: all, and late senders and receivers separately."""
    rows: list[list[Cell]] = []
    for suffix, name in (("", "all"), (".late_sender", ""), (".late_receiver", "")):
        values = [result.totals.get(metric + suffix, 0.0) for metric in _PROPAGATION]
        if any(values):
            rows.append([name or wait_name(suffix[1:]), *values])
    titles = ("Direct", "Indirect", "Propagating", "Terminal")
    columns = [Column("Wait state"), *(Column(title, show_seconds) for title in titles)]
    return Table("Waits by cause and effect", columns, rows, legend=[
        "Direct and indirect: caused by delays, or by earlier waits. Propagating and terminal: "
        "cause later waits, or none."
    ])  # fmt: skip


def flat_table(regions: Sequence[RegionTotal], whole_s: float, top: int) -> Table:
    """Returns the flat profile: exclusive time, visits and waits of each region on all call paths.
    Shares are of `whole_s`, the time of all locations.
    """
    rows: list[list[Cell]] = [
        [one.region, one.kind, one.seconds, one.seconds / whole_s, one.visits or None,
         one.seconds / one.visits if one.visits else None, one.waiting_s or None,
         one.instructions_per_cycle]
        for one in regions if one.seconds
    ]  # fmt: skip
    columns = [
        Column("Region", cut=True), Column("Kind", choice=True, minor=True),
        Column("Time", show_seconds), Column("% of time", _percent_text, bar=True),
        Column("Visits", str, minor=True),
        Column("Per visit", show_seconds, minor=True), Column("Waiting", show_seconds, unknown=""),
        Column("IPC", "{:.2f}".format, unknown="", minor=True, optional=True),
    ]  # fmt: skip
    legend = ["IPC: instructions per cycle."] if any(row[-1] for row in rows) else []
    return Table("Flat profile, without callees", columns, rows, top=top, legend=legend)


def path_table(result: TraceResult, metric: str | None, top: int) -> Table:
    """Returns call paths, largest values first, with the location of the largest part."""
    if metric is None and "critical_path" in result.totals:
        return _on_path(result, top)
    if metric is None and any(name.startswith((_SHORT, _LONG)) for name in result.totals):
        return _delay_table(result, top)
    names = _WAIT_TIMES if metric is None else (metric,)
    rows: list[list[Cell]] = []
    for name in names:
        unit = next((one.unit for one in result.records if one.metric == name), "")
        for path, (total, most) in _sum_by_path(result, name.__eq__).items():
            shown = (amount(total, unit), total)
            rows.append(
                [metric_name(name), path, shown, _location_name(most), _source_line(result, path)]
            )
    rows.sort(key=lambda row: (-row[2][1], str(row[0]), str(row[1])))  # type: ignore[index,operator]
    columns = [
        Column("Wait state" if metric is None else "Metric", choice=True),
        Column("Call path", cut=True), Column("Sum", str), *_PLACE,
    ]  # fmt: skip
    return Table("Call paths", columns, rows, top=top)


_PLACE = (Column("Most on"), Column("Source", optional=True))


def _delay_table(result: TraceResult, top: int) -> Table:
    costs = _sum_by_path(result, lambda name: name.startswith((_SHORT, _LONG)))
    short = _sum_by_path(result, lambda name: name.startswith(_SHORT))
    kinds = {
        name: _sum_by_path(result, (f"{_SHORT}{wait.metric}", f"{_LONG}{wait.metric}").__contains__)
        for wait, name in WAITS.items()
    }
    rows: list[list[Cell]] = []
    for path, (total, most) in sorted(costs.items(), key=lambda item: (-item[1][0], item[0])):
        direct = short.get(path, (0.0, None))[0]
        kind = max(kinds, key=lambda name: kinds[name].get(path, (0.0, None))[0])
        rows.append([path, total, direct, max(total - direct, 0.0), kind, _location_name(most),
                     _source_line(result, path)])  # fmt: skip
    columns = [
        Column("Call path", cut=True), Column("Cost", show_seconds),
        Column("Short-term", show_seconds, minor=True),
        Column("Long-term", show_seconds, minor=True, only="page"),
        Column("Mostly", choice=True), *_PLACE,
    ]  # fmt: skip
    return Table("Call paths whose delays make others wait", columns, rows, top=top)


def _on_path(result: TraceResult, top: int) -> Table:
    length = result.totals["critical_path"]
    path, excess, impact = (_sum_by_path(result, name.__eq__) for name in _PATH[:3])
    rows: list[list[Cell]] = []
    for name in sorted({*path, *impact}, key=lambda n: (-path.get(n, _NOTHING)[0], n)):
        total, most = path.get(name, _NOTHING)
        rows.append([
            name, total, total / length, excess.get(name, _NOTHING)[0] or None,
            impact.get(name, _NOTHING)[0] or None, _location_name(most), _source_line(result, name),
        ])  # fmt: skip
    columns = [
        Column("Call path", cut=True), Column("On path", show_seconds),
        Column("% of path", _percent_text, bar=True), Column("Excess", show_seconds, unknown=""),
        Column("Impact", show_seconds, unknown=""), *_PLACE,
    ]  # fmt: skip
    return Table("Call paths on the critical path", columns, rows, top=top, legend=[
        "Excess (critical imbalance): additional time on the path, compared with an average "
        "location. Impact: the time that other locations are idle because of it."
    ])  # fmt: skip


_NOTHING: tuple[float, Location | None] = (0.0, None)


def largest(result: TraceResult) -> str:
    """Describes the call path that costs others the most time. Empty if none does."""
    delays = _sum_by_path(result, lambda name: name.startswith((_SHORT, _LONG)))
    impact = _sum_by_path(result, "impact_imbalance".__eq__)
    for costs, says in ((delays, "makes others wait most"), (impact, "keeps others idle most")):
        path = max(sorted(costs), key=lambda name: costs[name][0], default=None)
        if path is not None:
            return f"{path} {says}: {show_seconds(costs[path][0])} in sum."
    return ""


def _sum_by_path(
    result: TraceResult, wanted: Callable[[str], bool]
) -> Mapping[str, tuple[float, Location | None]]:
    """Returns sums of metrics by call path, with the location of the largest part."""
    parts: dict[str, dict[Location | None, float]] = {}
    for record in result.records:
        if wanted(record.metric):
            own = parts.setdefault(record.callpath, {})
            own[record.location] = own.get(record.location, 0.0) + record.value
    return {path: (sum(own.values()), max(own, key=lambda at: own[at]))
            for path, own in parts.items()}  # fmt: skip


def _source_line(result: TraceResult, callpath: str) -> str:
    """Returns file and line of a call path, unless its name has the line (Paraver)."""
    source = result.sources.get(callpath, "").rpartition("/")[2]
    line = source.rpartition(":")[2]
    return "" if f":{line}" in callpath else source


def worst_table(result: TraceResult, metric: str | None) -> Table:
    """Returns the worst instance of each kind of wait, the waiting location, and its cause."""
    rows: list[list[Cell]] = []
    for instance in result.worst:
        if metric in (None, instance.metric):
            first, others = str(instance.waiting[0]), len(instance.waiting) - 1
            rows.append([
                metric_name(instance.metric), instance.callpath, instance.seconds, instance.time_s,
                f"{first} and {others} more" if others else first, _location_name(instance.late),
                instance.late_callpath or "",
            ])  # fmt: skip
    columns = [
        Column("Wait state", choice=True), Column("Call path", cut=True),
        Column("Wait", show_seconds),
        Column("Until", lambda seconds: show_seconds(seconds, _DIGITS), minor=True),
        Column("Waiting", minor=True), Column("Waits for", short="For"),
        Column("Late in", minor=True, only="page"),
    ]  # fmt: skip
    return Table("Worst instances", columns, rows)


def sum_facts(balance: Balance) -> list[tuple[str, str]]:
    """Returns the two sides of a sum, and its parts that exceed rounding errors."""
    if balance.holds:
        sides = f"{show_seconds(balance.left)} on both sides"
    else:
        left, right = (_quantity_text(side, SECONDS) for side in (balance.left, balance.right))
        sides = f"{left} and {right}: does not hold"
    rounding = 1e-9 * max(abs(balance.left), 1e-3)
    parts = [
        (f"  {name}", show_seconds(value))
        for name, value in balance.parts.items()
        if abs(value) > rounding
    ]
    return [(balance.name, sides), *parts]


def chosen_records(result: TraceResult, metric: str | None) -> Iterator[Record]:
    """Returns the records of one metric, or all records."""
    return (record for record in result.records if metric in (None, record.metric))


def _percent_text(share: float) -> str:
    return show_percent(share).removesuffix(" %")


def _location_name(location: Location | None) -> str:
    return "" if location is None else str(location)


def amount(value: float, unit: str) -> str:
    """Formats a value with its unit. Times get a suitable unit."""
    return show_seconds(value) if unit == SECONDS else _quantity_text(value, unit)


def _quantity_text(value: float, unit: str) -> str:
    return f"{value:.9g} {unit}".rstrip()
