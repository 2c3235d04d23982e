"""Fits laws of thread scaling to run times, speedups and efficiencies over the number of threads
`p`.

Each law is a sum with few coefficients, equal to the run time or to the reciprocal of an efficiency
or speedup. Therefore, linear least squares solves each law:

* Amdahl: ``T = T1 * (s + (1 - s)/p)``, with overhead ``c*log2(p)`` or ``c*p``;
* the universal scalability law: ``T = T1 * (1 + sigma*(p-1) + kappa*p*(p-1)) / p``;
* saturation: ``T = max(a/p, c)``, linear speedup up to a ceiling;
* Amdahl's efficiency, ``a / (f + (1-f)*p)`` (Rosas 2014, eq. 5), whose reciprocal is linear
  in `p`;
* the same with a loss that grows more slowly than `p`: with its logarithm (message trees), or with
  its square or cube root (the surface of a process's part in two or three dimensions);
* the pipeline, ``a*p / ((1-f) + f*(2p-1))`` (Rosas 2014, eq. 6), whose reciprocal is linear in
  ``1/p``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.quality import Candidate, Monomial
from regionpredict.fit.model.terms import INVERSE, FloatArray, Term, evaluate_term

_LOG: Term = (0.0, 1.0)
_LINEAR: Term = (1.0, 0.0)
_ROOT: Term = (0.5, 0.0)
_CUBE_ROOT: Term = (1.0 / 3.0, 0.0)


@dataclass(frozen=True, slots=True)
class Law:
    """A law of scaling. `terms` are its terms without the constant, and `reciprocal` means that
    their sum is the reciprocal of the value.

    `signed` means that coefficients may be negative, and `saturates` that the law has a ceiling.
    """

    terms: tuple[Term, ...]
    reciprocal: bool = False
    signed: bool = False
    saturates: bool = False


LAWS: dict[str, Law] = {
    "amdahl": Law((INVERSE,)),
    "amdahl-log": Law((INVERSE, _LOG)),
    "amdahl-linear": Law((INVERSE, _LINEAR)),
    "usl": Law((INVERSE, _LINEAR)),
    "saturation": Law((INVERSE,), saturates=True),
    "amdahl-speedup": Law((INVERSE,), reciprocal=True),
    "usl-speedup": Law((INVERSE, _LINEAR), reciprocal=True),
    "saturation-speedup": Law((INVERSE,), reciprocal=True, saturates=True),
    "amdahl-efficiency": Law((_LINEAR,), reciprocal=True),
    "logarithmic-efficiency": Law((_LOG,), reciprocal=True),
    "root-efficiency": Law((_ROOT,), reciprocal=True),
    "cube-root-efficiency": Law((_CUBE_ROOT,), reciprocal=True),
    "pipeline": Law((INVERSE,), reciprocal=True, signed=True),
    "constant": Law(()),
}
"""The laws by name, for the argument `law` of `fit`."""

THREAD_LAWS = ("constant", "amdahl", "amdahl-log", "amdahl-linear", "saturation")
"""The laws of run times that `threads` selects from."""

EFFICIENCY_LAWS = ("constant", "amdahl-efficiency", "pipeline")
"""The laws of efficiencies that `efficiency` selects from (Rosas 2014, sec. 1.3)."""


def law_of(terms: Sequence[tuple[float, Monomial]]) -> str:
    """Returns the name of the law for a sum of terms: a variant of Amdahl's law if the sum contains
    `1/p`, otherwise `pmnf`.

    >>> law_of([(9.0, {0: (-1.0, 0.0)})]), law_of([(1.0, {0: (1.0, 0.0)})])
    ('amdahl', 'pmnf')
    """
    for _, monomial in terms:
        if INVERSE in monomial.values():
            break
    else:
        return "pmnf"
    growing = [term for coefficient, m in terms for term in m.values() if coefficient > 0]
    if INVERSE not in growing or len(growing) != len(terms):
        return "pmnf"
    overhead = tuple(term for term in growing if term != INVERSE)
    return {(): "amdahl", (_LOG,): "amdahl-log", (_LINEAR,): "amdahl-linear"}.get(overhead, "pmnf")


def nonnegative_least_squares(
    columns: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """Solves a weighted least-squares problem with nonnegative coefficients. `columns` has shape
    `(n, k)` with small k.

    The solution is exact, since all subsets of the columns are tried.
    """
    count = columns.shape[1]
    root = np.sqrt(weights)
    scaled, target = columns * root[:, None], y * root
    best, least = np.zeros(count), float((target * target).sum())
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            picked = scaled[:, chosen]
            length = np.sqrt((picked * picked).sum(0))
            if not length.all():
                continue
            solution = np.linalg.lstsq(picked / length, target, rcond=None)[0] / length
            residual = target - picked @ solution
            cost = float(residual @ residual)
            if (solution >= 0).all() and cost < least * (1 - 1e-12):
                least = cost
                best = np.zeros(count)
                best[list(chosen)] = solution
    return best


def fit_law(
    name: str, points: FloatArray, observations: Observations, parameters: tuple[str, ...]
) -> FittedModel:
    """Fits the law `name` to values over `p`. The names `threads` and `efficiency` select the best
    law of a group.

    `points` has shape `(n, 1)`. Raises `InputError` for an unknown name, and for points or values
    that are not positive if the law requires it.
    """
    groups = {"threads": THREAD_LAWS, "efficiency": EFFICIENCY_LAWS}
    if name in groups:
        fits = [_fit_named_law(law, points, observations, parameters) for law in groups[name]]
        scores = [
            _model_score(model, LAWS[law]) for model, law in zip(fits, groups[name], strict=True)
        ]
        return fits[int(np.argmin(scores))]
    if name not in LAWS:
        raise InputError(
            f"unknown law '{name}'", remedy=f"use one of {', '.join((*LAWS, *groups, 'pmnf'))}"
        )
    return _fit_named_law(name, points, observations, parameters)


def _fit_named_law(
    name: str, points: FloatArray, observations: Observations, parameters: tuple[str, ...]
) -> FittedModel:
    law = LAWS[name]
    varying = [k for k in range(points.shape[1]) if len(np.unique(points[:, k])) > 1] or [0]
    index = varying[0]
    p = points[:, index]
    if law.terms and p.min() <= 0:
        raise InputError(
            f"the law '{name}' has no value at {parameters[index]} = {p.min():g}",
            remedy="give positive numbers of threads",
        )
    if (law.reciprocal or law.terms) and not observations.relative:
        raise InputError(
            f"the law '{name}' needs positive values", remedy="leave out zero and negative ones"
        )
    y, weights = observations.y, observations.weights
    if law.reciprocal:
        y, weights = 1.0 / y, weights * y**4
    columns = np.stack([np.ones(len(p)), *(evaluate_term(term, p) for term in law.terms)], axis=1)
    ceiling = None
    if law.saturates:
        slope, ceiling = _fit_saturation(p, y, weights)
        coefficients = np.array([0.0, slope])
    elif law.signed:
        root = np.sqrt(weights)
        coefficients = np.linalg.lstsq(columns * root[:, None], y * root, rcond=None)[0]
    else:
        coefficients = nonnegative_least_squares(columns, y, weights)
    terms: list[tuple[float, Monomial]] = [
        (float(c), {index: term})
        for c, term in zip(coefficients[1:], law.terms, strict=True)
        if c != 0
    ]
    monomials = tuple(m for _, m in terms)
    return FittedModel(
        constant=float(coefficients[0]),
        terms=terms,
        law="pmnf" if name == "constant" else name,
        parameters=parameters,
        points=points,
        observations=observations,
        reciprocal=law.reciprocal,
        ceiling=ceiling,
        law_parameters=_law_parameters(name, coefficients, ceiling),
        rivals=lambda: [Candidate(monomials, 0.0)],
    )


def _fit_saturation(p: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Returns the slope `a` and the ceiling `c` of the best fit of ``max(a/p, c)``, by trying all
    positions of the knee.
    """
    order = np.argsort(p)
    p, y, weights = p[order], y[order], weights[order]
    inverse = 1.0 / p
    best = (np.inf, 1.0, 0.0)
    for knee in range(1, len(p) + 1):
        w, x, z = weights[:knee], inverse[:knee], y[:knee]
        slope = float((w * x * z).sum() / (w * x * x).sum())
        tail = weights[knee:]
        level = float((tail * y[knee:]).sum() / tail.sum()) if knee < len(p) else 0.0
        modelled = np.maximum(slope * inverse, level)
        cost = float((weights * (y - modelled) ** 2).sum())
        if cost < best[0]:
            best = (cost, slope, level)
    return best[1], best[2]


def _model_score(model: FittedModel, law: Law) -> float:
    """Returns minus twice the log-likelihood plus a penalty for the number of coefficients. Smaller
    is better.
    """
    observations = model.observations
    residual = observations.y - model.predict_many(model.points)
    squares = observations.within + float((observations.weights * residual**2).sum()) + 1e-6
    used = 1 + len(law.terms) + law.saturates - (law.saturates and not law.reciprocal)
    return float((observations.dof + len(observations.y) - 1) * np.log(squares) + 4.0 * used)


def _law_parameters(name: str, c: FloatArray, ceiling: float | None) -> dict[str, float]:
    """Converts the coefficients to the parameters in the law's publication."""
    if name.startswith("amdahl") and not name.endswith("efficiency"):
        whole = float(c[0] + c[1])
        serial = float(c[0]) / whole if whole > 0 else float("nan")
        overhead = {"overhead": float(c[2])} if len(c) > 2 else {}
        return {"t1": whole, "serial_fraction": serial, **overhead}
    if name.startswith("usl"):
        whole = float(c.sum())
        kappa = float(c[2]) / whole if whole > 0 else float("nan")
        sigma = float(c[0]) / whole + kappa if whole > 0 else float("nan")
        return {"t1": whole, "sigma": sigma, "kappa": kappa}
    if name.startswith("saturation") and ceiling is not None:
        knee = float(c[1]) / ceiling if ceiling > 0 else float("inf")
        return {"t1": float(c[1]), "ceiling": ceiling, "knee": knee}
    if name == "amdahl-efficiency":
        # 1/y = f/a + (1-f)/a * p
        whole = float(c[0] + c[1])
        return {"a": 1.0 / whole, "f": float(c[0]) / whole}
    if name == "pipeline":
        # 1/y = 2f/a + (1-2f)/a / p
        whole = float(c[0] + c[1])
        return {"a": 1.0 / whole, "f": 0.5 * float(c[0]) / whole}
    return {}
