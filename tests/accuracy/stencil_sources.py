"""Writes the stencils of a scaling table as C from their description, `3D/r1/homogeneous/...`."""

from __future__ import annotations

from itertools import product

Offset = tuple[int, ...]


def stencil_source(name: str) -> str:
    """C text of `dimension/radius/weighting/kind/coefficients/type`, sizes as the variable N.

    homogeneous: one coefficient for all points; heterogeneous: one a point; isotropic: one a
    distance; point-symmetric: one a mirrored pair. Variable coefficients are arrays W[k].
    """
    dimension, radius, weighting, kind, coefficients, real = name.split("/")
    dims, reach = int(dimension[0]), int(radius[1:])
    offsets = [o for o in product(range(-reach, reach + 1), repeat=dims) if _inside(o, kind)]
    classes: dict[object, list[Offset]] = {}
    for offset in offsets:
        classes.setdefault(_class(offset, weighting), []).append(offset)
    index = "kji"[-dims:]
    terms = []
    for number, members in enumerate(classes.values()):
        points = " + ".join(_element("a", o, index) for o in members)
        weight = (
            f"c{number}"
            if coefficients == "constant"
            else _element(f"W[{number}]", (0,) * dims, index)
        )
        terms.append(f"{weight} * ({points})")
    return _program(terms, len(classes), coefficients, real, dims, reach, index)


def _inside(offset: Offset, kind: str) -> bool:
    return kind == "box" or sum(o != 0 for o in offset) <= 1


def _class(offset: Offset, weighting: str) -> object:
    if weighting == "homogeneous":
        return 0
    if weighting == "isotropic":
        return sum(abs(o) for o in offset)
    if weighting == "point-symmetric":
        return max(offset, tuple(-o for o in offset))
    return offset


def _element(array: str, offset: Offset, index: str) -> str:
    return array + "".join(
        f"[{i}{o:+d}]" if o else f"[{i}]" for i, o in zip(index, offset, strict=True)
    )


def _program(
    terms: list[str], weights: int, coefficients: str, real: str, dims: int, reach: int, index: str
) -> str:
    extents = "[N]" * dims
    arguments = [f"{real} a{extents}", f"{real} b{extents}"]
    if coefficients == "constant":
        arguments += [f"{real} c{n}" for n in range(weights)]
    else:
        arguments.append(f"{real} W[{weights}]{extents}")
    loops = " ".join(f"for (int {i} = {reach}; {i} < N - {reach}; {i}++)" for i in index)
    left = _element("b", (0,) * dims, index)
    return (
        f"void sweep(int N, {', '.join(arguments)})\n{{\n"
        "#pragma omp parallel for schedule(static)\n"
        f"  {loops}\n    {left} = {' + '.join(terms)};\n}}\n"
    )
