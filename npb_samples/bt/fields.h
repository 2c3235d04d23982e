/*
 * BT's arrays and the parts of its time step. Indices are [zeta][eta][xi][component]: the five
 * components of a grid point lie together.
 */
#ifndef BT_FIELDS_H
#define BT_FIELDS_H

#include "problem.h"

extern double u[PROBLEM_SIZE][PADDED][PADDED][5];       /* the state */
extern double rhs[PROBLEM_SIZE][PADDED][PADDED][5];     /* right-hand side, then update */
extern double forcing[PROBLEM_SIZE][PADDED][PADDED][5]; /* makes the exact solution stationary */

/* Derived from u by compute_rhs. */
extern double rho_inverse[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_xi[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_eta[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_zeta[PROBLEM_SIZE][PADDED][PADDED];
extern double kinetic[PROBLEM_SIZE][PADDED][PADDED];      /* rho |v|^2 / 2 */
extern double kinetic_mass[PROBLEM_SIZE][PADDED][PADDED]; /* |v|^2 / 2 */

void initialise(void);   /* initial.c: u, blended from the exact boundary values */
void exact_rhs(void);    /* forcing.c: forcing */
void compute_rhs(void);  /* rhs.c: rhs = time step * (operator(u) + forcing) */
void x_solve(void);      /* solve.c: one factor of the implicit operator each */
void y_solve(void);
void z_solve(void);
void add(void);          /* bt.c: u += rhs inside */

void error_norm(double rms[5]);    /* verify.c: of u against the exact solution */
void residual_norm(double rms[5]); /* verify.c: of rhs */
int verify(void);                  /* verify.c: 1 if both agree with the class's figures */

#endif
