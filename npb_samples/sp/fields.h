/*
 * SP's arrays and the parts of its time step. Indices are [component][zeta][eta][xi]: each
 * component is a grid of its own.
 */
#ifndef SP_FIELDS_H
#define SP_FIELDS_H

#include "problem.h"

extern double u[5][PROBLEM_SIZE][PADDED][PADDED];       /* the state */
extern double rhs[5][PROBLEM_SIZE][PADDED][PADDED];     /* right-hand side, then update */
extern double forcing[5][PROBLEM_SIZE][PADDED][PADDED]; /* makes the exact solution stationary */

/* Derived from u by rhs_derive. */
extern double rho_inverse[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_xi[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_eta[PROBLEM_SIZE][PADDED][PADDED];
extern double velocity_zeta[PROBLEM_SIZE][PADDED][PADDED];
extern double kinetic[PROBLEM_SIZE][PADDED][PADDED];      /* rho |v|^2 / 2 */
extern double kinetic_mass[PROBLEM_SIZE][PADDED][PADDED]; /* |v|^2 / 2 */
extern double sound_speed[PROBLEM_SIZE][PADDED][PADDED];

/* initial.c: u inside, blended from the exact boundary values; u on pairs of faces */
void initialise_inside(void);
void initialise_west_east(void);
void initialise_south_north(void);
void initialise_bottom_top(void);

/* forcing.c: the exact solution's operator, subtracted direction by direction */
void forcing_clear(void);
void forcing_xi(void);
void forcing_eta(void);
void forcing_zeta(void);

/* rhs.c: in this order they make rhs */
void rhs_derive(void);
void rhs_start(void);
void rhs_xi(void);
void damp_xi(void);
void rhs_eta(void);
void damp_eta(void);
void rhs_zeta(void);
void damp_zeta(void);
void rhs_scale(void);

/* transform.c: rhs from one set of characteristic variables to the next */
void txinvr(void); /* conserved -> characteristic along xi */
void ninvr(void);  /* along xi -> along eta */
void pinvr(void);  /* along eta -> along zeta */
void tzetar(void); /* along zeta -> conserved */

/* solve.c: one diagonalised factor of the implicit operator each */
void prepare_damping(void); /* once, before the first of them */
void x_solve(void);
void y_solve(void);
void z_solve(void);

void add(void); /* sp.c: u += rhs inside */

/* verify.c */
void error_norm(double rms[5]);    /* of u against the exact solution */
void residual_norm(double rms[5]); /* of rhs */
int verify(void);                  /* of u and the rhs made from it; 1 if both norms agree */

#endif
