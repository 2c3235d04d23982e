/*
 * Block-tridiagonal lines with 5 x 5 blocks: the Jacobians of one grid point and the elimination
 * along one line.
 */
#ifndef BT_BLOCK5_H
#define BT_BLOCK5_H

#include "problem.h"

#include "cfd_model.h"

/*
 * Jacobians, at one grid point, of the flux through a plane whose normal is momentum component
 * `normal` (1..3): `flux` of the convective flux, `viscous` of the viscous one.
 * v: velocities; mass: 1/rho; energy: total energy per mass; kinetic: |v|^2 / 2.
 */
static inline void point_jacobians(int normal, const double v[3], double mass, double energy,
                                   double kinetic, double flux[5][5], double viscous[5][5])
{
    const double through = v[normal - 1];
    const double shear = K3 * K4;
    const double heat = K1 * K3 * K4 * K5;

    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 5; column++) {
            flux[row][column] = 0.0;
            viscous[row][column] = 0.0;
        }

    flux[0][normal] = 1.0;
    for (int a = 1; a < 4; a++) {
        flux[a][0] = -v[a - 1] * through;
        flux[a][a] += through;
        flux[a][normal] += v[a - 1];
        flux[normal][a] -= K2 * v[a - 1];
        flux[4][a] = -K2 * v[a - 1] * through;
    }
    flux[normal][0] += K2 * kinetic;
    flux[normal][4] = K2;
    flux[4][0] = (2.0 * K2 * kinetic - K1 * energy) * through;
    flux[4][normal] += K1 * energy - K2 * kinetic;
    flux[4][4] = K1 * through;

    viscous[4][0] = -heat * energy;
    for (int a = 1; a < 4; a++) {
        const double stress = a == normal ? VISCOUS_NORMAL * shear : shear;
        viscous[a][0] = -stress * mass * v[a - 1];
        viscous[a][a] = stress * mass;
        viscous[4][0] -= (stress - heat) * v[a - 1] * v[a - 1];
        viscous[4][a] = (stress - heat) * mass * v[a - 1];
    }
    viscous[4][0] *= mass;
    viscous[4][4] = heat * mass;
}

/* vector -= matrix * other */
static inline void subtract_product(double vector[5], double matrix[5][5], const double other[5])
{
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 5; column++)
            vector[row] -= matrix[row][column] * other[column];
}

/* target -= left * right */
static inline void subtract_block_product(double target[5][5], double left[5][5],
                                          double right[5][5])
{
    for (int row = 0; row < 5; row++)
        for (int inner = 0; inner < 5; inner++)
            for (int column = 0; column < 5; column++)
                target[row][column] -= left[row][inner] * right[inner][column];
}

/*
 * Gauss-Jordan elimination of `pivot` on the block and the vector beside it:
 * block := pivot^-1 block, vector := pivot^-1 vector. Destroys pivot. No row is exchanged: the
 * implicit operator's diagonal blocks are dominated by their own diagonal.
 */
static inline void eliminate_pivot(double pivot[5][5], double block[5][5], double vector[5])
{
    for (int p = 0; p < 5; p++) {
        const double scale = 1.0 / pivot[p][p];
        for (int column = p + 1; column < 5; column++)
            pivot[p][column] *= scale;
        for (int column = 0; column < 5; column++)
            block[p][column] *= scale;
        vector[p] *= scale;
        for (int row = 0; row < 5; row++) {
            if (row == p)
                continue;
            const double factor = pivot[row][p];
            for (int column = p + 1; column < 5; column++)
                pivot[row][column] -= factor * pivot[p][column];
            for (int column = 0; column < 5; column++)
                block[row][column] -= factor * block[p][column];
            vector[row] -= factor * vector[p];
        }
    }
}

/*
 * Solves one line of the factor I - dt (d/dx of the Jacobians + dissipation): `update` holds the
 * right-hand side and becomes the solution. `diffusion` is one of DIFFUSION_*. The two ends are
 * boundary points whose update is zero.
 */
static inline void solve_line(double diffusion, double flux[PROBLEM_SIZE][5][5],
                              double viscous[PROBLEM_SIZE][5][5], double update[PROBLEM_SIZE][5])
{
    const double convection = TIME_STEP * FIRST_DIFFERENCE;
    const double conduction = TIME_STEP * SECOND_DIFFERENCE;
    const double dissipation = TIME_STEP * diffusion;
    double upper[PROBLEM_SIZE][5][5]; /* the blocks right of the diagonal, after elimination */

    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 5; column++)
            upper[0][row][column] = 0.0;

    for (int p = 1; p < PROBLEM_SIZE - 1; p++) {
        double lower[5][5];
        double diagonal[5][5];
        for (int row = 0; row < 5; row++) {
            for (int column = 0; column < 5; column++) {
                lower[row][column] = -convection * flux[p - 1][row][column] -
                                     conduction * viscous[p - 1][row][column];
                diagonal[row][column] = 2.0 * conduction * viscous[p][row][column];
                upper[p][row][column] = convection * flux[p + 1][row][column] -
                                        conduction * viscous[p + 1][row][column];
            }
            lower[row][row] -= dissipation;
            diagonal[row][row] += 1.0 + 2.0 * dissipation;
            upper[p][row][row] -= dissipation;
        }
        subtract_product(update[p], lower, update[p - 1]);
        subtract_block_product(diagonal, lower, upper[p - 1]);
        eliminate_pivot(diagonal, upper[p], update[p]);
    }

    for (int p = PROBLEM_SIZE - 2; p > 0; p--)
        subtract_product(update[p], upper[p], update[p + 1]);
}

#endif
