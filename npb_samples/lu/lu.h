/*
 * LU: the compressible Navier-Stokes equations, linearised and solved by symmetric successive
 * over-relaxation (SSOR), NAS Parallel Benchmarks (Bailey et al., report RNR-94-007, sec. 3.3 to
 * 3.6), written from the specification. Sizes, constants and the arrays that all files share.
 *
 * Fields are indexed [k][j][i][m]: k along zeta, j along eta, i along xi, m the component
 * (density, three momenta, energy). The boundary is held; the interior is 1 .. N-2.
 */
#ifndef LU_H
#define LU_H

#include "npb_common.h"

/* Grid points in a direction, pseudo-time steps, and the step size. */
#if defined(CLASS_S)
#define N 12
#define STEPS 50
#define STEP_SIZE 0.5
#elif defined(CLASS_W)
#define N 33
#define STEPS 300
#define STEP_SIZE 1.5e-3
#elif defined(CLASS_A)
#define N 64
#define STEPS 250
#define STEP_SIZE 2.0
#elif defined(CLASS_B)
#define N 102
#define STEPS 250
#define STEP_SIZE 2.0
#else
#define N 162
#define STEPS 250
#define STEP_SIZE 2.0
#endif

/* -DGRID_POINTS=40 -DGRID_STEPS=4 takes another grid, and as many steps: verification must fail. */
#ifdef GRID_POINTS
#undef N
#define N GRID_POINTS
#endif
#ifdef GRID_STEPS
#undef STEPS
#define STEPS GRID_STEPS
#endif

#define NX N
#define NY N
#define NZ N

/* Row length: odd, so that rows a power of two apart do not share cache sets. */
#define NXP (NX / 2 * 2 + 1)
#define NCOMP 5

/* Over-relaxation factor. Overriding it with -DOMEGA=VALUE makes the verification fail. */
#ifndef OMEGA
#define OMEGA 1.2
#endif

/* Gas constants: C1 = gamma, C2 = gamma - 1, C3 C4 the viscosity, C5 from the Prandtl number. */
#define C1 1.40
#define C2 0.40
#define C3 0.10
#define C4 1.00
#define C5 1.40
#define VISCOSITY (C3 * C4)
#define CONDUCTION (C1 * C3 * C4 * C5)

/* Grid spacing enters as 1/h^2, 1/(2h) and 1/h; all directions are of unit length. */
#define TX1 ((double)(NX - 1) * (NX - 1))
#define TX2 ((double)(NX - 1) / 2.0)
#define TX3 ((double)(NX - 1))
#define TY1 ((double)(NY - 1) * (NY - 1))
#define TY2 ((double)(NY - 1) / 2.0)
#define TY3 ((double)(NY - 1))
#define TZ1 ((double)(NZ - 1) * (NZ - 1))
#define TZ2 ((double)(NZ - 1) / 2.0)
#define TZ3 ((double)(NZ - 1))

/* Second-difference diffusion in each direction (equal for all components), and the
 * coefficient of the fourth-difference dissipation: a quarter of the largest of them. */
#define DX 0.75
#define DY 0.75
#define DZ 1.00
#define DISSIPATION 0.25

extern double u[NZ][NY][NXP][NCOMP];       /* the solution */
extern double residual[NZ][NY][NXP][NCOMP]; /* steady-state residual, then the correction */
extern double forcing[NZ][NY][NXP][NCOMP];  /* makes the exact solution a steady state */

/* lu_setup.c: the exact solution (a polynomial) at a grid point; start values; forcing. */
void register_setup_timers(void);
void exact_solution(int i, int j, int k, double value[NCOMP]);
void set_boundary_values(void);
void set_initial_values(void);
void compute_forcing(void);

/* lu_rhs.c: the discretised spatial operator, added to `out` one direction at a time. */
void register_rhs_timers(void);
void add_fluxes_xi(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP]);
void add_fluxes_eta(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP]);
void add_fluxes_zeta(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP]);
/* residual = operator(u) - forcing */
void compute_residual(void);

/* lu_sweep.c: the lower and the upper triangular solve of one SSOR step, on `residual`. */
void register_sweep_timers(void);
void lower_sweep(void);
void upper_sweep(void);

/* lu_check.c: root mean squares over the interior, surface integral, reference figures. */
void register_check_timers(void);
void residual_norm(double norm[NCOMP]);
void error_norm(double norm[NCOMP]);
double surface_integral(void);
/* Prints computed and reference figures; 1 if all agree to 1e-8, else 0. */
int verify(const double residual_rms[NCOMP], const double error_rms[NCOMP], double surface);

#endif
