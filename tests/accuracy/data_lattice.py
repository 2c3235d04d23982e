"""Four-dimensional lattice loops over 3 x 3 complex matrices, on one package and on two.

`n` is the lattice's edge. Multiply and conjugate multiply take two matrices of a site to a third;
the plaquette multiplies four links around each of the six faces of a site and adds the real traces;
a half staple is a product of three. Real and imaginary parts are the last dimension.
"""

from __future__ import annotations

from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code

ONE, TWO = 64, 128
INDEX = "xyzt"
_SITE = "".join(f"[{v}]" for v in INDEX)


def _product(out: str, left: str, right: str, *, conjugate: bool = False) -> str:
    """out[r][s] = sum over m of left[r][m] right[m][s], in local or lattice arrays.

    `conjugate`: of the complex conjugate of right[m][s].
    """
    minus, plus = ("+", "-") if conjugate else ("-", "+")
    ar, ai, br, bi = (
        f"{left}[r][m][0]", f"{left}[r][m][1]", f"{right}[m][s][0]", f"{right}[m][s][1]"
    )  # fmt: skip
    return (
        "for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) { double re = 0.0, im = 0.0; "
        f"for (int m = 0; m < 3; m++) {{ re += {ar} * {br} {minus} {ai} * {bi}; "
        f"im += {ai} * {br} {plus} {ar} * {bi}; }} "
        f"{out}[r][s][0] = re; {out}[r][s][1] = im; }}"
    )


def _loops(body: str, reduction: str = "") -> str:
    loops = " ".join(f"for (int {v} = 0; {v} < n; {v}++)" for v in INDEX)
    return (f"#pragma omp parallel for collapse(2) schedule(static, 1){reduction}\n  {loops} {{\n"
            f"    {body}\n  }}\n")  # fmt: skip


def _neighbour(axis: int) -> str:
    """The site one further along an axis (the border's wrap is left out)."""
    return "".join(f"[{v}+1]" if at == axis else f"[{v}]" for at, v in enumerate(INDEX))


def multiply(*, conjugate: bool) -> str:
    """c = a b at every site; with `conjugate` the second matrix is the adjoint."""
    arrays = ", ".join(f"double {a}[n][n][n][n][3][3][2]" for a in "abc")
    body = _product(f"c{_SITE}", f"a{_SITE}", f"b{_SITE}", conjugate=conjugate)
    return f"void multiply(int n, {arrays})\n{{\n{_loops(body)}}}\n"


def half_staple() -> str:
    """s = u v w at every site: three links around a corner."""
    arrays = ", ".join(f"double {a}[n+1][n+1][n+1][n+1][3][3][2]" for a in "uvwp")
    inner = _product("half", f"u{_SITE}", f"v{_neighbour(0)}")
    outer = _product(f"p{_SITE}", "half", f"w{_SITE}", conjugate=True)
    return (
        f"void staple(int n, {arrays})\n{{\n{_loops(f'double half[3][3][2]; {inner} {outer}')}}}\n"
    )


def plaquette() -> str:
    """The sum over sites and the six pairs of directions of the trace of four links' product."""
    arrays = ", ".join(f"double u{d}[n+1][n+1][n+1][n+1][3][3][2]" for d in range(4))
    steps = []
    for first in range(4):
        for second in range(first):
            there = _product("there", f"u{first}{_SITE}", f"u{second}{_neighbour(first)}")
            back = _product("back", f"u{second}{_SITE}", f"u{first}{_neighbour(second)}")
            trace = (
                "for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) "
                "sum += there[r][s][0] * back[r][s][0] + there[r][s][1] * back[r][s][1];"
            )
            steps.append(f"{{ double there[3][3][2], back[3][3][2]; {there} {back} {trace} }}")
    loops = _loops("\n    ".join(steps), " reduction(+:sum)")
    return f"double plaquette(int n, {arrays})\n{{\n  double sum = 0.0;\n{loops}  return sum;\n}}\n"


def _text(kernel: str) -> str:
    name = kernel.split("/")[1]
    if name.startswith("Plaquette"):
        return plaquette()
    if name == "HalfStaple":
        return half_staple()
    return multiply(conjugate=name.startswith("conj"))


def read(path: Path) -> DataSet:
    """One or two packages for each pair of kernel and lattice; times in units of one over GB/s."""
    cases = tuple(
        Case(
            f"{row['kernel']} {row['n']}",
            Code(_text(row["kernel"]), sizes=(("n", int(row["n"])),)),
            "epyc-7742",
            {ONE: 1.0 / float(row["GBps_one_package"]), TWO: 1.0 / float(row["GBps_two"])},
        )
        for row in rows(path)
        if row["machine"] == "dual_epyc2_7742_gcc"
    )
    return DataSet(
        "lattice loops", "one or two packages of 64, loops over 3 x 3 matrices",
        "mdrange_packages.csv (exalqft/su3_stream_mdrange)", cases, "packages", "out", "nothing",
        saturates=False,
    )  # fmt: skip
