"""Extra-P's default modelling, called in this process, for benchmarks to hold ours against.

`make bench-fit` makes an environment with it, of the dependency group `rival`. It wants an older
numpy than the package's other dependencies come with, so it is not in the group `test`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import time
import warnings
from collections.abc import Sequence
from typing import Any, Protocol


class Measured(Protocol):
    """Repetitions at points, one tuple of parameters each."""

    @property
    def points(self) -> Sequence[tuple[float, ...]]:
        """`n` points."""

    @property
    def values(self) -> Sequence[Sequence[float]]:
        """`n` lists of repetitions."""


class ExtraP:
    """Extra-P's default modelling, through its Python interface."""

    def __init__(self) -> None:
        import extrap
        from extrap.entities.callpath import Callpath
        from extrap.entities.coordinate import Coordinate
        from extrap.entities.experiment import Experiment
        from extrap.entities.measurement import Measurement
        from extrap.entities.metric import Metric
        from extrap.entities.parameter import Parameter
        from extrap.modelers.model_generator import ModelGenerator

        self.version = extrap.__version__
        self.parts = (Experiment, Parameter, Coordinate, Callpath, Metric, Measurement)
        self.generator = ModelGenerator
        logging.disable(logging.CRITICAL)

    def model(self, samples: Sequence[Measured]) -> tuple[list[Any], float]:
        """Functions of samples that share their points, and the seconds of processor time."""
        experiment_type, parameter, coordinate, callpath, metric_type, measurement = self.parts
        experiment = experiment_type()
        for k in range(len(samples[0].points[0])):
            experiment.add_parameter(parameter("pqr"[k]))
        places = [coordinate(*p) for p in samples[0].points]
        for place in places:
            experiment.add_coordinate(place)
        metric = metric_type("time")
        experiment.add_metric(metric)
        for k, sample in enumerate(samples):
            path = callpath(f"c{k}")
            experiment.add_callpath(path)
            for place, values in zip(places, sample.values, strict=True):
                experiment.add_measurement(measurement(place, path, metric, values))
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            generator = self.generator(experiment)
            start = time.process_time()
            generator.model_all()
            spent = time.process_time() - start
        models = experiment.modelers[-1].models
        functions = [
            models[callpath(f"c{k}"), metric].hypothesis.function for k in range(len(samples))
        ]
        return functions, spent

    @staticmethod
    def terms(function: Any) -> list[Any]:
        """The terms of a function, as `FittedModel.terms` has them."""
        result = []
        for term in getattr(function, "compound_terms", []):
            pairs = getattr(term, "parameter_term_pairs", [(0, term)])
            powers = {}
            for index, part in pairs:
                power = {"polynomial": 0.0, "logarithm": 0.0}
                for simple in part.simple_terms:
                    power[simple.term_type] = float(simple.exponent)
                powers[index] = (power["polynomial"], power["logarithm"])
            result.append((term.coefficient, powers))
        return result

    def all(self, samples: Sequence[Measured]) -> list[Any]:
        """Functions of samples with any points."""
        groups: dict[Any, list[int]] = {}
        for k, sample in enumerate(samples):
            groups.setdefault(tuple(sample.points), []).append(k)
        result: list[Any] = [None] * len(samples)
        for members in groups.values():
            for k, function in zip(
                members, self.model([samples[m] for m in members])[0], strict=True
            ):
                result[k] = function
        return result
