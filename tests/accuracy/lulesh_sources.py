"""A hydrodynamics step of LULESH's shape: few heavy loops over elements and nodes, and hundreds of
short ones over the materials' elements (Karlin, Keasler and Neely 2013, LULESH 2.0 updates).

Arrays and flops of each loop follow the published structure (eight corners an element, 24 forces,
11 materials of equal size and cost, as the measured runs had them (`-b 0 -c 0`), of which one is
evaluated ten times a step and the others once); the text is our own. What lasts for a step alone is
allocated in it. On one thread LULESH adds the forces to the nodes at once; on more each element
stores its 24 and a second loop gathers them: the speedup is over the former.
"""

from __future__ import annotations

import re

MATERIALS = 11
EVALUATIONS = 10 * 1 + 1 * 10  # of all materials, a step
FORCES = ("f", "dv", "c8")
STEP_ARRAYS = ("s1", "s2", "s3", *FORCES, "dxx", "dyy", "dzz", "g1", "g2", "g3", "h1", "h2", "h3")
"""Stresses, forces and coordinates of corners, strains and gradients: what each step allocates."""
CHAINS = 24
"""Formulas are worked out for eight corners of three components each, side by side."""


def _corners(array: str) -> list[str]:
    return [
        f"{array}[k{'+1' if a else ''}][j{'+1' if b else ''}][i{'+1' if c else ''}]"
        for a in (0, 1) for b in (0, 1) for c in (0, 1)
    ]  # fmt: skip


def _work(flops: int) -> str:
    """So many flops in independent chains of multiply and add, each on a value of its own."""
    return "".join(f"t{n % CHAINS} = t{n % CHAINS} * g + h; " for n in range(flops // 2))


def _element_loop(reads: list[str], writes: list[str], flops: int) -> str:
    gather = " + ".join(reads)
    stores = " ".join(f"{one} = t{n % CHAINS};" for n, one in enumerate(writes))
    others = "".join(f"double t{n} = t0 + g; " for n in range(1, CHAINS))
    left = max(0, flops - len(reads))
    return (
        "#pragma omp parallel for\n"
        "for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {\n"
        f"  double t0 = {gather}; {others}{_work(left)}{stores}\n}}\n"
    )


def _fields(name: str, count: int) -> list[str]:
    return [f"{name}[k][j][i][{c}]" for c in range(count)]


def _points(*names: str) -> list[str]:
    return [f"{name}[k][j][i]" for name in names]


def lulesh_source(*, alone: bool = False) -> str:
    """One step, all its parallel loops; `alone`: as one thread runs it, forces added at once."""
    place = [c for a in "xyz" for c in _corners(a)]
    speed = [c for a in ("xd", "yd", "zd") for c in _corners(a)]
    forces = _points("fx", "fy", "fz") if alone else _fields("f", 24)
    gather = [] if alone else [_element_loop(_fields("f", 24), _points("fx", "fy", "fz"), 24)]
    again = [_element_loop([*_fields("f", 24), *_points("fx", "fy", "fz")],
                           _points("fx", "fy", "fz"), 24)]  # fmt: skip
    heavy = [
        _element_loop(_points("p", "q"), _points("s1", "s2", "s3"), 6),
        _element_loop([*place, *_points("s1", "s2", "s3")], forces, 280),
        *gather,
        _element_loop([*place, *_points("v", "volo")],
                      [*_fields("dv", 24), *_fields("c8", 24)], 450),
        _element_loop([*_fields("dv", 24), *_fields("c8", 24), *speed, *_points("ss", "mass")],
                      forces, 1050),
        *([] if alone else again),
        _element_loop(_points("fx", "fy", "fz", "nm"), _points("ax", "ay", "az"), 6),
        _element_loop(_points("ax", "ay", "az", "xd", "yd", "zd"), _points("xd", "yd", "zd"), 9),
        _element_loop(_points("xd", "yd", "zd", "x", "y", "z"), _points("x", "y", "z"), 6),
        _element_loop([*place, *speed, *_points("volo", "v")],
                      _points("vnew", "delv", "arealg", "dxx", "dyy", "dzz"), 500),
        _element_loop(_points("dxx", "dyy", "dzz", "vnew"),
                      _points("vdov", "dxx", "dyy", "dzz"), 6),
        _element_loop([*place, *speed, *_points("vnew", "volo")],
                      _points("g1", "g2", "g3", "h1", "h2", "h3"), 230),
        _element_loop(_points("g1", "g2", "g3", "h1", "h2", "h3", "vdov", "volo", "vnew", "mass"),
                      _points("qq", "ql"), 60),
        _element_loop(_points("vnew"), _points("v"), 2),
    ]  # fmt: skip
    short = [
        ("e", "delv", "p"), ("q", "comp", "e"), ("qq", "ql", "comp"), ("vnew", "comp", "half"),
        ("comp", "bvc", "e"), ("bvc", "e", "p"), ("e", "half", "q"), ("e", "qq", "e"),
        ("comp", "bvc", "p"), ("e", "p", "q"), ("p", "ss", "e"), ("e", "q", "p"), ("q", "p", "q"),
    ]  # fmt: skip
    names = sorted({a for loop in short for a in loop})
    cubes = sorted({w.split("[")[0] for loop in heavy for w in _words(loop)})
    own = [a for a in STEP_ARRAYS if a in cubes]
    new = "".join(_allocated(a, "[24]" if a in FORCES else "") for a in own)
    arguments = [f"double {a}[n+1][n+1][n+1]" for a in cubes if a not in own]
    arguments += [f"double m_{a}[m]" for a in names]
    light = "".join(
        f"#pragma omp parallel for\nfor (int e = 0; e < m; e++) {{ "
        f"double t0 = m_{a}[e] + m_{b}[e]; {'t0 = t0 * g + h; ' * 4}m_{c}[e] = t0; }}\n"
        for a, b, c in short
    )
    return (
        "#include <stdlib.h>\n"
        f"void step(int n, int m, double g, double h, {', '.join(arguments)})\n{{\n{new}"
        + "".join(heavy)
        + f"for (int turn = 0; turn < {EVALUATIONS}; turn++) {{\n{light}}}\n"
        + "".join(f"free({a});\n" for a in own)
        + "}\n"
    )


def _allocated(array: str, fields: str) -> str:
    """A declaration of an array over the mesh that lasts for the step."""
    return (
        f"double (*{array})[n+1][n+1]{fields} = malloc((n+1) * sizeof(double[n+1][n+1]{fields}));\n"
    )


def _words(loop: str) -> list[str]:
    return list(re.findall(r"\b[a-z]\w*(?=\[)", loop))
