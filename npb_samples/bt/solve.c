/*
 * BT's implicit step: (I - dt L_xi)(I - dt L_eta)(I - dt L_zeta) update = rhs, one factor at a
 * time. Each line of grid points is a block-tridiagonal system of its own; the lines of a plane
 * belong to one thread.
 */
#include "fields.h"

#include "block5.h"

void x_solve(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
            double flux[PROBLEM_SIZE][5][5];
            double viscous[PROBLEM_SIZE][5][5];
            double update[PROBLEM_SIZE][5];
            for (int i = 0; i < PROBLEM_SIZE; i++) {
                double velocity[3] = {velocity_xi[k][j][i], velocity_eta[k][j][i],
                                      velocity_zeta[k][j][i]};
                point_jacobians(1, velocity, rho_inverse[k][j][i],
                                u[k][j][i][4] * rho_inverse[k][j][i], kinetic_mass[k][j][i],
                                flux[i], viscous[i]);
                for (int m = 0; m < 5; m++)
                    update[i][m] = rhs[k][j][i][m];
            }
            solve_line(DIFFUSION_XI, flux, viscous, update);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++)
                    rhs[k][j][i][m] = update[i][m];
        }
}

void y_solve(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
            double flux[PROBLEM_SIZE][5][5];
            double viscous[PROBLEM_SIZE][5][5];
            double update[PROBLEM_SIZE][5];
            for (int j = 0; j < PROBLEM_SIZE; j++) {
                double velocity[3] = {velocity_xi[k][j][i], velocity_eta[k][j][i],
                                      velocity_zeta[k][j][i]};
                point_jacobians(2, velocity, rho_inverse[k][j][i],
                                u[k][j][i][4] * rho_inverse[k][j][i], kinetic_mass[k][j][i],
                                flux[j], viscous[j]);
                for (int m = 0; m < 5; m++)
                    update[j][m] = rhs[k][j][i][m];
            }
            solve_line(DIFFUSION_ETA, flux, viscous, update);
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int m = 0; m < 5; m++)
                    rhs[k][j][i][m] = update[j][m];
        }
}

void z_solve(void)
{
#pragma omp parallel for
    for (int j = 1; j < PROBLEM_SIZE - 1; j++)
        for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
            double flux[PROBLEM_SIZE][5][5];
            double viscous[PROBLEM_SIZE][5][5];
            double update[PROBLEM_SIZE][5];
            for (int k = 0; k < PROBLEM_SIZE; k++) {
                double velocity[3] = {velocity_xi[k][j][i], velocity_eta[k][j][i],
                                      velocity_zeta[k][j][i]};
                point_jacobians(3, velocity, rho_inverse[k][j][i],
                                u[k][j][i][4] * rho_inverse[k][j][i], kinetic_mass[k][j][i],
                                flux[k], viscous[k]);
                for (int m = 0; m < 5; m++)
                    update[k][m] = rhs[k][j][i][m];
            }
            solve_line(DIFFUSION_ZETA, flux, viscous, update);
            for (int k = 1; k < PROBLEM_SIZE - 1; k++)
                for (int m = 0; m < 5; m++)
                    rhs[k][j][i][m] = update[k][m];
        }
}
