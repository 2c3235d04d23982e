"""22 loops of the explicit hydrodynamics of LULESH, in C of our own, by the name of their function.

What each loop reads and writes, and about how much it computes, follows the published description
(Karlin, Keasler and Neely 2013, LULESH 2.0 updates and changes): elements reach their eight nodes
through a list, 24 forces of each element are stored and gathered by the nodes, materials reach
their elements through a list, the equation of state is evaluated `EVALUATIONS` times in all a step.
Arrays that last for a step alone are allocated in it, so that their pages are new each time; a
volume that is not positive ends the program. The text is our own; long formulas of the geometry
are `CHAINS` independent chains of as many operations.
"""

from __future__ import annotations

from lulesh_sources import CHAINS, EVALUATIONS, MATERIALS

_HEAD = "#include <math.h>\n#include <stdlib.h>\n"


def _gather(*arrays: str) -> str:
    """Eight corners of an element of each array, in scalars."""
    return " ".join(f"double {a}{c} = {a}[nodes[8*e+{c}]];" for a in arrays for c in range(8))


def _sum_of(arrays: str) -> str:
    return " + ".join(f"{a}{c}" for a in arrays.split() for c in range(8))


def _chain(flops: int) -> str:
    """So many flops in independent chains of multiply and add."""
    return " ".join(f"t{n % CHAINS} = t{n % CHAINS} * g + h;" for n in range(flops // 2))


_START = "".join(f"double t{n} = t0 + g;" for n in range(1, CHAINS))


def _new(arrays: str, size: str) -> str:
    """Arrays of so many numbers that the function allocates."""
    return "".join(f"  double *{a} = malloc(({size}) * sizeof(double));\n" for a in arrays.split())


def _freed(arrays: str) -> str:
    return "".join(f"  free({a});\n" for a in arrays.split())


def _elements(body: str) -> str:
    return f"#pragma omp parallel for\n  for (int e = 0; e < n*n*n; e++) {{ {body} }}\n"


def _forces_to_nodes(update: bool) -> str:
    """Each node adds the forces of the corners that meet in it."""
    sums = " ".join(f"double s{a} = 0.0;" for a in "xyz")
    adds = " ".join(f"s{a} += {a}force[corner];" for a in "xyz")
    sign = "+=" if update else "="
    stores = " ".join(f"f{a}[node] {sign} s{a};" for a in "xyz")
    return (
        "#pragma omp parallel for\n  for (int node = 0; node < (n+1)*(n+1)*(n+1); node++) {\n"
        f"    {sums}\n    for (int c = 0; c < 8; c++) {{\n"
        f"      int corner = corners[8*node+c]; {adds}\n    }}\n"
        f"    {stores}\n  }}\n"
    )


def _material(body: str, *, times: int = EVALUATIONS, least: bool = False) -> str:
    """Loops over one material, `times` in all a step; `least`: they look for the least value and
    its place."""
    clause, start = "", ""
    if least:
        clause, start = " reduction(min: least) private(at)", "double least = 1e20; int at = 0; "
    return (
        f"  for (int turn = 0; turn < {times}; turn++) {{ {start}\n"
        f"#pragma omp parallel for{clause}\n"
        f"  for (int i = 0; i < m; i++) {{ {body} }}\n  }}\n"
    )


def _function(
    name: str, body: str, arrays: str, integers: str = "", new: str = "", size: str = "n*n*n"
) -> str:
    pointers = ", ".join(f"double * restrict {a}" for a in arrays.split())
    lists = "".join(f", const int * restrict {a}" for a in integers.split())
    return (f"{_HEAD}void {name}(long n, long m, double g, double h, double dt, {pointers}{lists})"
            f"\n{{\n{_new(new, size)}{body}{_freed(new)}}}\n")  # fmt: skip


_STORED = " ".join(f"{a}force[8*e+{c}] = t{(c + k) % CHAINS};"
                   for k, a in enumerate("xyz") for c in range(8))  # fmt: skip
_EIGHTS = " ".join(
    f"{a}[8*e+{c}] = {'t' + str(c % CHAINS) if a[0] == 'd' else a[0] + str(c)};"
    for a in ("dvdx", "dvdy", "dvdz", "x8n", "y8n", "z8n") for c in range(8)
)  # fmt: skip
_READ_EIGHTS = " + ".join(
    f"{a}[8*e+{c}]" for a in ("dvdx", "dvdy", "dvdz", "x8n", "y8n", "z8n") for c in range(8)
)


def _state(materials: int, evaluations: int) -> str:
    """The state of so many materials, each evaluated so often in arrays of its own."""
    new = "e_old p_old q_old qq_old ql_old delvc comp half work"
    return (
        f"  for (int r = 0; r < {materials}; r++) {{\n{_new(new, 'm')}"
        + _material(" ".join(f"{a}_old[i] = {a}[list[i]];" for a in ("e", "p", "q", "qq", "ql"))
                    + " delvc[i] = delv[list[i]];", times=evaluations)
        + _material("double c = 1.0 / vnewc[list[i]]; comp[i] = c - 1.0; "
                    "half[i] = 1.0 / (vnewc[list[i]] - delvc[i] * 0.5) - 1.0;", times=evaluations)
        + _material("if (vnewc[list[i]] <= g) half[i] = comp[i];", times=evaluations)
        + _material("if (vnewc[list[i]] >= h) "
                    "{ p_old[i] = 0.0; comp[i] = 0.0; half[i] = 0.0; }", times=evaluations)
        + _material("work[i] = 0.0;", times=evaluations)
        + f"{_freed(new)}  }}\n"
    )  # fmt: skip


KERNELS: dict[str, str] = {
    "InitStressTermsForElems": _function(
        "init_stress", _elements("sxx[e] = syy[e] = szz[e] = -p[e] - q[e];"), "p q",
        new="sxx syy szz"),
    "IntegrateStressForElems": _function(
        "integrate_stress",
        _elements(f"{_gather('x', 'y', 'z')} double t0 = {_sum_of('x y z')} + sxx[e] + syy[e] "
                  f"+ szz[e]; {_START} {_chain(240)} determ[e] = t0 + t1; {_STORED}")
        + _forces_to_nodes(False),
        "x y z sxx syy szz determ fx fy fz", "nodes corners", "xforce yforce zforce",
        "8*n*n*n"),
    "CalcHourglassControlForElems": _function(
        "hourglass_control",
        _elements(f"{_gather('x', 'y', 'z')} double t0 = {_sum_of('x y z')}; {_START} "
                  f"{_chain(430)} {_EIGHTS} determ[e] = volo[e] * v[e]; "
                  "if (v[e] <= 0.0) exit(1);"),
        "x y z determ volo v", "nodes", "dvdx dvdy dvdz x8n y8n z8n", "8*n*n*n"),
    "CalcFBHourglassForceForElems": _function(
        "hourglass_force",
        _elements(f"{_gather('xd', 'yd', 'zd')} double t0 = {_sum_of('xd yd zd')} "
                  f"+ {_READ_EIGHTS} + 1.0 / determ[e] + ss[e] * mass[e] / cbrt(determ[e]); "
                  f"{_START} {_chain(950)} {_STORED}")
        + _forces_to_nodes(True),
        "xd yd zd dvdx dvdy dvdz x8n y8n z8n determ ss mass fx fy fz", "nodes corners",
        "xforce yforce zforce", "8*n*n*n"),
    "CalcAccelerationForNodes": _function(
        "acceleration",
        "#pragma omp parallel for\n  for (int i = 0; i < (n+1)*(n+1)*(n+1); i++) { "
        "xdd[i] = fx[i] / nm[i]; ydd[i] = fy[i] / nm[i]; zdd[i] = fz[i] / nm[i]; }\n",
        "xdd ydd zdd fx fy fz nm"),
    "ApplyAccelerationBoundaryConditionsForNodes": _function(
        "boundary",
        "#pragma omp parallel\n  {\n" + "".join(
            f"#pragma omp for nowait\n  for (int i = 0; i < (n+1)*(n+1); i++) "
            f"{a}dd[symm{a}[i]] = 0.0;\n" for a in "xyz") + "  }\n",
        "xdd ydd zdd", "symmx symmy symmz"),
    "CalcVelocityForNodes": _function(
        "velocity",
        "#pragma omp parallel for\n  for (int i = 0; i < (n+1)*(n+1)*(n+1); i++) { " + " ".join(
            f"double {a}t = {a}d[i] + {a}dd[i] * dt; if (fabs({a}t) < h) {a}t = 0.0; "
            f"{a}d[i] = {a}t;" for a in "xyz") + " }\n",
        "xd yd zd xdd ydd zdd"),
    "CalcKinematicsForElems": _function(
        "kinematics",
        _elements(f"{_gather('x', 'y', 'z')} {_gather('xd', 'yd', 'zd')} "
                  f"double t0 = {_sum_of('x y z')}; {_START} {_chain(290)} "
                  f"double r = t0 / volo[e]; vnew[e] = r; delv[e] = r - v[e]; "
                  f"arealg[e] = t1 / sqrt(t2); t3 += {_sum_of('xd yd zd')}; {_chain(210)} "
                  f"dxx[e] = t1; dyy[e] = t2; dzz[e] = t3;"),
        "x y z xd yd zd volo v vnew delv arealg", "nodes", "dxx dyy dzz"),
    "CalcLagrangeElements": _function(
        "lagrange",
        _elements("double d = dxx[e] + dyy[e] + dzz[e]; double third = d / 3.0; vdov[e] = d; "
                  "dxx[e] -= third; dyy[e] -= third; dzz[e] -= third; "
                  "if (vnew[e] <= 0.0) exit(1);"),
        "dxx dyy dzz vdov vnew"),
    "Region CalcMonotonicQGradientsForElems": _function(
        "gradients",
        _elements(f"{_gather('x', 'y', 'z')} {_gather('xd', 'yd', 'zd')} "
                  f"double t0 = {_sum_of('x y z')} + {_sum_of('xd yd zd')}; {_START} "
                  f"double norm = 1.0 / (volo[e] * vnew[e] + h); {_chain(200)} "
                  "a1[e] = volo[e] / sqrt(t0); b1[e] = t1 * norm; a2[e] = volo[e] / sqrt(t1); "
                  "b2[e] = t2 * norm; a3[e] = volo[e] / sqrt(t2); b3[e] = t3 * norm;"),
        "x y z xd yd zd volo vnew", "nodes", "a1 a2 a3 b1 b2 b3"),
    "Region ApplyMaterialPropertiesForElems": _function(
        "material_properties",
        "".join(_elements(body) for body in (
            "vnewc[e] = vnew[e];", "if (vnewc[e] < g) vnewc[e] = g;",
            "if (vnewc[e] > h) vnewc[e] = h;",
            "double vc = v[e]; if (vc < g) vc = g; if (vc > h) vc = h; if (vc <= 0.0) exit(1);",
        )), "vnew v", new="vnewc"),
    "EvalEOSForElems": _function(
        "evaluate_state", _state(MATERIALS - 1, 1) + _state(1, EVALUATIONS - MATERIALS + 1)
        + _material("p[list[i]] = p_new[i]; e[list[i]] = e_new[i]; q[list[i]] = q_new[i];",
                    times=MATERIALS),
        "e p q qq ql delv vnewc p_new e_new q_new", "list"),
    "CalcEnergyForElems:KERNEL_1": _function(
        "energy_1",
        _material("e_new[i] = e_old[i] - 0.5 * delvc[i] * (p_old[i] + q_old[i]) + 0.5 * work[i]; "
                  "if (e_new[i] < g) e_new[i] = g;"),
        "e_new e_old delvc p_old q_old work"),
    "CalcPressureForElems": _function(
        "pressure",
        # Of its three calls an evaluation one is timed: three would move 177 GB/s.
        _material("bvc[i] = g * (comp[i] + 1.0); pbvc[i] = g;")
        + _material("p_new[i] = bvc[i] * e_old[i]; if (fabs(p_new[i]) < h) p_new[i] = 0.0; "
                    "if (vnewc[list[i]] >= g) p_new[i] = 0.0; if (p_new[i] < dt) p_new[i] = dt;"),
        "bvc pbvc comp p_new e_old vnewc", "list"),
    "CalcEnergyForElems:KERNEL_2": _function(
        "energy_2",
        _material("double vh = 1.0 / (1.0 + half[i]); if (delvc[i] > 0.0) q_new[i] = 0.0; else { "
                  "double s = (pbvc[i] * e_new[i] + vh * vh * bvc[i] * phalf[i]) / h; "
                  "if (s <= g) s = g; else s = sqrt(s); q_new[i] = s * ql[i] + qq[i]; } "
                  "e_new[i] = e_new[i] + 0.5 * delvc[i] * (3.0 * (p_old[i] + q_old[i]) "
                  "- 4.0 * (phalf[i] + q_new[i]));"),
        "half delvc q_new pbvc bvc e_new phalf ql qq p_old q_old"),
    "CalcEnergyForElems:KERNEL_3": _function(
        "energy_3",
        _material("e_new[i] += 0.5 * work[i]; if (fabs(e_new[i]) < h) e_new[i] = 0.0; "
                  "if (e_new[i] < g) e_new[i] = g;"), "e_new work"),
    "CalcEnergyForElems:KERNEL_4": _function(
        "energy_4",
        _material("double qt; if (delvc[i] > 0.0) qt = 0.0; else { "
                  "double s = (pbvc[i] * e_new[i] + vnewc[list[i]] * vnewc[list[i]] * bvc[i] "
                  "* p_new[i]) / h; if (s <= g) s = g; else s = sqrt(s); qt = s * ql[i] + qq[i]; } "
                  "e_new[i] = e_new[i] - (7.0 * (p_old[i] + q_old[i]) - 8.0 * (phalf[i] "
                  "+ q_new[i]) + (p_new[i] + qt)) * delvc[i] * dt; "
                  "if (fabs(e_new[i]) < h) e_new[i] = 0.0; if (e_new[i] < g) e_new[i] = g;"),
        "delvc pbvc e_new vnewc bvc p_new ql qq p_old q_old phalf q_new", "list"),
    "CalcEnergyForElems:KERNEL_5": _function(
        "energy_5",
        _material("if (delvc[i] <= 0.0) { double s = (pbvc[i] * e_new[i] + vnewc[list[i]] "
                  "* vnewc[list[i]] * bvc[i] * p_new[i]) / h; if (s <= g) s = g; else s = sqrt(s); "
                  "q_new[i] = s * ql[i] + qq[i]; if (fabs(q_new[i]) < dt) q_new[i] = 0.0; }"),
        "delvc pbvc e_new vnewc bvc p_new q_new ql qq", "list"),
    "CalcSoundSpeedForElems": _function(
        "sound_speed",
        _material("double s = (pbvc[i] * e_new[i] + vnewc[list[i]] * vnewc[list[i]] * bvc[i] "
                  "* p_new[i]) / h; if (s <= g) s = g; else s = sqrt(s); ss[list[i]] = s;",
                  times=MATERIALS),
        "pbvc e_new vnewc bvc p_new ss", "list"),
    "UpdateVolumesForElems": _function(
        "update_volumes",
        _elements("double t = vnew[e]; if (fabs(t - 1.0) < h) t = 1.0; v[e] = t;"), "vnew v"),
    "CalcCourantConstraintForElems": _function(
        "courant",
        _material("int e = list[i]; double f = ss[e] * ss[e]; if (vdov[e] < 0.0) "
                  "f = f + g * arealg[e] * arealg[e] * vdov[e] * vdov[e]; f = sqrt(f); "
                  "f = arealg[e] / f; if (vdov[e] != 0.0) if (f < least) { least = f; at = e; }",
                  times=MATERIALS, least=True),
        "ss vdov arealg", "list"),
    "CalcHydroConstraintForElems": _function(
        "hydro",
        _material("int e = list[i]; if (vdov[e] != 0.0) { double f = g / (fabs(vdov[e]) + 1e-20); "
                  "if (f < least) { least = f; at = e; } }", times=MATERIALS, least=True),
        "vdov", "list"),
}  # fmt: skip
