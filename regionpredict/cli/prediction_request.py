"""What a prediction was asked for, kept in its hints, to be made anew at other sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regionpredict.cli.curve_options import RunOptions
from regionpredict.cli.source_options import run_analysis
from regionpredict.documents import read_text, reading
from regionpredict.errors import InputError
from regionpredict.json_records import Record, json_record

if TYPE_CHECKING:
    from regionpredict.machine import Binding, Machine
    from regionpredict.measure.hints_file import Hints
    from regionpredict.measure.recording import RecordedRegion, Recording
    from regionpredict.pipeline import Analysis, Predictions

_REMEDY = "predict again with this version of regionpredict, --format json"


@dataclass(frozen=True, slots=True)
class PredictionRequest:
    """The options of one `regionpredict predict` that decide its hints.

    `given` are the sizes of --set and --sizes, as NAME=VALUE; `machine_file` is a path; `within` a
    percentage.
    """

    paths: tuple[str, ...]
    defines: tuple[str, ...]
    includes: tuple[str, ...]
    standard: str
    given: tuple[str, ...]
    frontend: str | None
    machine_file: str
    model: str
    combination: str
    threads: tuple[int, ...]
    first_touch: str | None
    pages: str | None
    binding: Binding
    runtime: str | None
    within: float
    excludes: tuple[str, ...] = ()

    @property
    def run(self) -> RunOptions:
        """How the program will be run."""
        return RunOptions(self.first_touch, self.pages, self.binding, self.runtime)

    def document(self) -> dict[str, Any]:
        """As it stands in a hints file."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def read_request(path: Path) -> PredictionRequest:
    """The request in a hints file; raises InputError where there is none."""
    with reading(path, "a hints file", _REMEDY):
        document = json_record(read_text(path, _REMEDY), "a hints file", path, _REMEDY)
        if "request" not in document.value:
            raise InputError(
                "does not say what was asked for", remedy=_REMEDY, path=str(path)
            )  # fmt: skip
        asked = document.inner("request")
        return PredictionRequest(
            paths=asked.texts("paths"),
            defines=asked.texts("defines"),
            includes=asked.texts("includes"),
            standard=asked.text("standard"),
            given=asked.texts("given"),
            frontend=_or_none(asked, "frontend"),
            machine_file=asked.text("machine_file"),
            model=asked.text("model"),
            combination=asked.text("combination"),
            threads=asked.wholes("threads", 1) if asked.items("threads") else (),
            first_touch=_or_none(asked, "first_touch"),
            pages=_or_none(asked, "pages") if "pages" in asked.value else None,
            binding=_binding(asked),
            runtime=_or_none(asked, "runtime") if "runtime" in asked.value else None,
            within=asked.number("within", 0.0, 100.0),
            excludes=asked.texts("excludes") if "excludes" in asked.value else (),
        )


def _binding(asked: Record) -> Binding:
    """Close in files of before."""
    from regionpredict.machine import BINDINGS

    if "binding" not in asked.value:
        return "close"
    told = asked.text("binding")
    for known in BINDINGS:
        if told == known:
            return known
    raise asked.error("binding", f"is none of {', '.join(BINDINGS)}")


def _or_none(record: Record, key: str) -> str | None:
    return None if record.is_null(key) else record.text(key)


def hints_at_measured_sizes(hints: Path, measurements: Sequence[Path]) -> Hints:
    """The hints as they are for the sizes that runs recorded; see `predicted_anew`."""
    from regionpredict.compare.calibration_samples import hints_of

    result = predicted_anew(hints, measurements)
    return replace(hints_of(result.predictions, result.machine), path=str(hints))


def predicted_anew(
    hints: Path, measurements: Sequence[Path], threads: Sequence[int] = ()
) -> Predictions:
    """What the hints were asked for, at the sizes that runs recorded, from the sources as they are
    now; with `threads`, on these.

    What was recorded takes the place of what --set gave, and macros that all measured regions were
    built with that of -D. Raises InputError where sources or machine file are gone, or not those
    that were measured.
    """
    from regionpredict.machine.shipped import load_file
    from regionpredict.measure.recording import Recording, read_recording

    request = read_request(hints)
    recordings = [read_recording(path) for path in measurements]
    recorded = Recording(
        recordings[0].path, tuple(region for one in recordings for region in one.regions)
    )
    asked = replace(_at_sizes_of(request, recorded), threads=tuple(threads) or request.threads)
    machine = load_file(Path(asked.machine_file), asked.machine_file)
    return repeated(asked, machine, recorded=recorded)


def repeated(
    request: PredictionRequest, machine: Machine, *, recorded: Recording | None = None,
    analysis: Analysis | None = None,
) -> Predictions:  # fmt: skip
    """What the request asks for on a machine, from the sources as they are now, or from an
    `analysis` of them."""
    from regionpredict.pipeline import predict

    machine = request.run.on(machine)
    if analysis is None:
        analysis = run_analysis(
            request.paths, request.defines, request.includes, request.standard, request.given,
            request.frontend, None, timings=False, recorded=recorded,
            flows=request.model == "saturation" and request.run.flows, excludes=request.excludes,
        )  # fmt: skip
    return predict(
        analysis, machine, request.model, request.combination, threads=request.threads,
        pages=request.run.placement(machine), within=request.within / 100,
    )  # fmt: skip


def _at_sizes_of(request: PredictionRequest, recorded: Recording) -> PredictionRequest:
    """The request without the sizes that the run tells itself, and with the macros it had."""
    names = {name for region in recorded.regions for name in region.sizes}
    given = tuple(pair for pair in request.given if not _is_recorded(pair, names))
    macros = _common_macros(recorded.regions)
    kept = tuple(one for one in request.defines if one.partition("=")[0] not in macros)
    defines = (*kept, *(f"{name}={value}" for name, value in sorted(macros.items())))
    return replace(request, given=given, defines=defines)


def _is_recorded(pair: str, names: set[str]) -> bool:
    """Whether a NAME=VALUE of --set is of a name that was recorded, or gives a loop's trips."""
    name = pair.rpartition("=")[0].strip()
    inside = name.rpartition(":")[2]
    return name in names or inside in names or inside.isdigit()


def _common_macros(regions: Sequence[RecordedRegion]) -> Mapping[str, str]:
    """The macros that every measured region was built with."""
    if not regions:
        return {}
    common = frozenset.intersection(*(region.macros for region in regions))
    pairs = (word.removeprefix("-D").partition("=") for word in common if word.startswith("-D"))
    return {name: value if equals else "1" for name, equals, value in pairs}
