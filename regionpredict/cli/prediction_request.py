"""Stores the options of a prediction in its hints, so that it can be repeated at other sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from regionpredict.cli.curve_options import CurveOptions
from regionpredict.cli.source_options import run_analysis, sizes_of
from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import InputError
from regionpredict.json_records import Record
from regionpredict.measure.hints_document import WHAT, read_hints_document

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.measure.hints_file import Hints
    from regionpredict.measure.recording import RecordedRegion, Recording
    from regionpredict.pipeline import Analysis, Predictions

_Choice = TypeVar("_Choice", bound=str)
_REMEDY = "predict again with this version of regionpredict, --format json"


@dataclass(frozen=True, slots=True)
class PredictionRequest:
    """The options of one `regionpredict predict` that affect its hints.

    `given` are the sizes of --set and --sizes, as NAME=VALUE. `sizes_from` is the file of a
    recorded run, and `arguments` the value of --args. `machine_file` is a path, and `within` a
    percentage. Defaults are those of the command line.
    """

    paths: tuple[str, ...]
    defines: tuple[str, ...]
    includes: tuple[str, ...]
    standard: str
    given: tuple[str, ...]
    frontend: str | None
    machine_file: str
    model: str
    sizes_from: str | None = None
    arguments: str | None = None
    combination: str = "relative-difference"
    statement_weight: str = "equal"
    miss_weight: str = "reference"
    threads: tuple[int, ...] = ()
    first_touch: str | None = None
    pages: str | None = None
    binding: str = "close"
    runtime: str | None = None
    within: Annotated[float, 0.0, 100.0] = 5.0
    excludes: tuple[str, ...] = ()

    @property
    def curve(self) -> CurveOptions:
        """Returns the options of the model."""
        return CurveOptions(*(getattr(self, name) for name in CurveOptions._fields))

    def document(self) -> dict[str, Any]:
        """Returns the request as an entry of a hints file."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(own) if isinstance(own, tuple) else own for name, own in values.items()}


def given_sizes(given: Sequence[str], file: str | None) -> tuple[str, ...]:
    """Returns the values of --set and --sizes, in the form of --set."""
    from regionpredict.sizes.share_texts import text_of

    values, _ = sizes_of(given, file)
    return tuple(f"{name}={text_of(value)}" for name, value in values.items())


def read_request(path: Path) -> PredictionRequest:
    """Reads the prediction request in a hints file. Raises InputError if it is missing."""
    from regionpredict.measure.hints_file import binding_of
    from regionpredict.predict import COMBINATIONS, MISS_WEIGHTS, STATEMENT_WEIGHTS

    document = read_hints_document(path)
    with input_errors_while_reading(path, WHAT, _REMEDY):
        if document.value.get("request") is None:
            raise InputError(
                "does not contain the options of the prediction", remedy=_REMEDY, path=str(path)
            )  # fmt: skip
        asked = document.inner("request")
        return asked.fill(
            PredictionRequest,
            frontend=asked.text("frontend") if asked.given("frontend") else None,
            combination=_known_choice(asked, "combination", COMBINATIONS),
            statement_weight=_known_choice(asked, "statement_weight", STATEMENT_WEIGHTS),
            miss_weight=_known_choice(asked, "miss_weight", MISS_WEIGHTS),
            threads=asked.whole_numbers("threads", 1) if asked.items("threads") else (),
            first_touch=_choice_or_none(asked, "first_touch", ("parallel", "serial")),
            binding=binding_of(asked),
            runtime=_choice_or_none(asked, "runtime", ("gcc", "llvm")),
        )


def _known_choice(record: Record, key: str, known: Sequence[_Choice]) -> _Choice:
    """Returns one of the known choices. Old files have the first."""
    if key not in record.value:
        return known[0]
    configured = record.text(key)
    for choice in known:
        if configured == choice:
            return choice
    raise record.error(key, f"is none of {', '.join(known)}")


def _choice_or_none(record: Record, key: str, known: Sequence[str]) -> str | None:
    return _known_choice(record, key, known) if record.given(key) else None


def hints_at_measured_sizes(hints: Path, measurements: Sequence[Path]) -> Hints:
    """Returns the hints for the sizes of recorded runs. See `predict_recorded_sizes`."""
    from regionpredict.compare.calibration_samples import hints_of

    result = predict_recorded_sizes(hints, measurements)
    return replace(hints_of(result.predictions, result.machine, result.teams), path=str(hints))


def predict_recorded_sizes(
    hints: Path, measurements: Sequence[Path], threads: Sequence[int] = ()
) -> Predictions:
    """Predicts the recorded sizes, from the current sources. With `threads`, the prediction is for
    these numbers of threads.

    Recorded sizes replace those of --set, and common macros of all measured regions those of -D.
    Raises InputError if sources or the machine file are missing, or differ from the measured ones.
    """
    from regionpredict.machine.shipped import load_file
    from regionpredict.measure.recording import read_recording, together

    request = read_request(hints)
    recorded = together([read_recording(path) for path in measurements])
    asked = replace(_at_sizes_of(request, recorded), threads=tuple(threads) or request.threads)
    machine = load_file(Path(asked.machine_file), asked.machine_file)
    return repeated(asked, machine, recorded=recorded)


def repeated(
    request: PredictionRequest, machine: Machine, *, recorded: Recording | None = None,
    analysis: Analysis | None = None, advised: bool = False,
) -> Predictions:  # fmt: skip
    """Predicts the request on a machine, from the current sources or from their `analysis`. Source
    changes are tried if `advised`.
    """
    machine = request.curve.on(machine)
    if analysis is None:
        analysis = run_analysis(
            request.paths, request.defines, request.includes, request.standard, request.given,
            request.frontend, None, timings=False, recorded=recorded,
            sizes_from=request.sizes_from, arguments=request.arguments,
            flows=request.curve.flows, excludes=request.excludes,
        )  # fmt: skip
    return request.curve.predict(analysis, machine, advised=advised)


def _at_sizes_of(request: PredictionRequest, recorded: Recording) -> PredictionRequest:
    """Returns the request without the recorded sizes, and with the macros of the run."""
    measured = (*recorded.regions, *recorded.teams)
    names = {name for region in measured for name in region.sizes}
    given = tuple(pair for pair in request.given if not _is_recorded(pair, names))
    return replace(request, given=given, defines=as_built(request.defines, recorded))


def as_built(defines: Sequence[str], recorded: Recording) -> tuple[str, ...]:
    """Returns the macros of -D, updated with the common macros of all measured regions."""
    macros = _common_macros((*recorded.regions, *recorded.teams))
    kept = tuple(define for define in defines if define.partition("=")[0] not in macros)
    return (*kept, *(f"{name}={value}" for name, value in sorted(macros.items())))


def _is_recorded(pair: str, names: set[str]) -> bool:
    """Whether a NAME=VALUE of --set is for a recorded name, or sets the trip count of a loop."""
    from regionpredict.sizes.share_texts import share_of_text

    name, _, value = (part.strip() for part in pair.rpartition("="))
    if share_of_text(name, value) is not None:
        return False  # recordings do not contain shares of conditions
    inside = name.rpartition(":")[2]
    return name in names or inside in names or inside.isdigit()


def _common_macros(regions: Sequence[RecordedRegion]) -> Mapping[str, str]:
    """Returns the macros common to all measured regions."""
    if not regions:
        return {}
    common = frozenset.intersection(*(region.macros for region in regions))
    pairs = (word.removeprefix("-D").partition("=") for word in common if word.startswith("-D"))
    return {name: value if equals else "1" for name, equals, value in pairs}
