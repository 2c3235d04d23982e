/*
 * BT's right-hand side: time step * (spatial operator of u + forcing). The three directions are
 * one worksharing loop each. xi and eta share out planes of constant zeta; zeta shares out planes
 * of constant eta, because its damping treats the planes beside the boundary apart.
 */
#include "fields.h"

#include "cfd_model.h"

#define LAST (PROBLEM_SIZE - 2) /* the last inner grid index */

double rho_inverse[PROBLEM_SIZE][PADDED][PADDED];
double velocity_xi[PROBLEM_SIZE][PADDED][PADDED];
double velocity_eta[PROBLEM_SIZE][PADDED][PADDED];
double velocity_zeta[PROBLEM_SIZE][PADDED][PADDED];
double kinetic[PROBLEM_SIZE][PADDED][PADDED];
double kinetic_mass[PROBLEM_SIZE][PADDED][PADDED];

/* next - 2 here + previous */
static inline double second(double next, double here, double previous)
{
    return next - 2.0 * here + previous;
}

void compute_rhs(void)
{
#pragma omp parallel
    {
        /* velocities and kinetic energies from the conserved quantities */
#pragma omp for
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++) {
                    double inverse = 1.0 / u[k][j][i][0];
                    rho_inverse[k][j][i] = inverse;
                    velocity_xi[k][j][i] = u[k][j][i][1] * inverse;
                    velocity_eta[k][j][i] = u[k][j][i][2] * inverse;
                    velocity_zeta[k][j][i] = u[k][j][i][3] * inverse;
                    kinetic[k][j][i] =
                        0.5 * inverse *
                        (u[k][j][i][1] * u[k][j][i][1] + u[k][j][i][2] * u[k][j][i][2] +
                         u[k][j][i][3] * u[k][j][i][3]);
                    kinetic_mass[k][j][i] = kinetic[k][j][i] * inverse;
                }

#pragma omp for
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++)
                    for (int m = 0; m < 5; m++)
                        rhs[k][j][i][m] = forcing[k][j][i][m];

        /* along xi: convection, viscous terms, second-order dissipation; then the damping */
#pragma omp for
        for (int k = 1; k < PROBLEM_SIZE - 1; k++) {
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                    double next = velocity_xi[k][j][i+1];
                    double here = velocity_xi[k][j][i];
                    double previous = velocity_xi[k][j][i-1];
                    double enthalpy_next = K1 * u[k][j][i+1][4] - K2 * kinetic[k][j][i+1];
                    double enthalpy_previous = K1 * u[k][j][i-1][4] - K2 * kinetic[k][j][i-1];
                    double pressure_next = K2 * (u[k][j][i+1][4] - kinetic[k][j][i+1]);
                    double pressure_previous = K2 * (u[k][j][i-1][4] - kinetic[k][j][i-1]);

                    rhs[k][j][i][0] +=
                        DIFFUSION_XI * second(u[k][j][i+1][0], u[k][j][i][0], u[k][j][i-1][0]) -
                        FIRST_DIFFERENCE * (u[k][j][i+1][1] - u[k][j][i-1][1]);
                    rhs[k][j][i][1] +=
                        DIFFUSION_XI * second(u[k][j][i+1][1], u[k][j][i][1], u[k][j][i-1][1]) +
                        VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                        FIRST_DIFFERENCE * (u[k][j][i+1][1] * next + pressure_next -
                                            u[k][j][i-1][1] * previous - pressure_previous);
                    rhs[k][j][i][2] +=
                        DIFFUSION_XI * second(u[k][j][i+1][2], u[k][j][i][2], u[k][j][i-1][2]) +
                        VISCOSITY * second(velocity_eta[k][j][i+1], velocity_eta[k][j][i],
                                           velocity_eta[k][j][i-1]) -
                        FIRST_DIFFERENCE * (u[k][j][i+1][2] * next - u[k][j][i-1][2] * previous);
                    rhs[k][j][i][3] +=
                        DIFFUSION_XI * second(u[k][j][i+1][3], u[k][j][i][3], u[k][j][i-1][3]) +
                        VISCOSITY * second(velocity_zeta[k][j][i+1], velocity_zeta[k][j][i],
                                           velocity_zeta[k][j][i-1]) -
                        FIRST_DIFFERENCE * (u[k][j][i+1][3] * next - u[k][j][i-1][3] * previous);
                    rhs[k][j][i][4] +=
                        DIFFUSION_XI * second(u[k][j][i+1][4], u[k][j][i][4], u[k][j][i-1][4]) +
                        VISCOUS_KINETIC * second(kinetic_mass[k][j][i+1], kinetic_mass[k][j][i],
                                                 kinetic_mass[k][j][i-1]) +
                        VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                        VISCOUS_HEAT * second(u[k][j][i+1][4] * rho_inverse[k][j][i+1],
                                              u[k][j][i][4] * rho_inverse[k][j][i],
                                              u[k][j][i-1][4] * rho_inverse[k][j][i-1]) -
                        FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
                }

            for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
                for (int m = 0; m < 5; m++) {
                    rhs[k][j][1][m] -=
                        DAMPING * (5.0 * u[k][j][1][m] - 4.0 * u[k][j][2][m] + u[k][j][3][m]);
                    rhs[k][j][2][m] -=
                        DAMPING * (-4.0 * u[k][j][1][m] + 6.0 * u[k][j][2][m] -
                                   4.0 * u[k][j][3][m] + u[k][j][4][m]);
                }
                for (int i = 3; i < PROBLEM_SIZE - 3; i++)
                    for (int m = 0; m < 5; m++)
                        rhs[k][j][i][m] -=
                            DAMPING * (u[k][j][i-2][m] - 4.0 * u[k][j][i-1][m] +
                                       6.0 * u[k][j][i][m] - 4.0 * u[k][j][i+1][m] +
                                       u[k][j][i+2][m]);
                for (int m = 0; m < 5; m++) {
                    rhs[k][j][LAST-1][m] -=
                        DAMPING * (u[k][j][LAST-3][m] - 4.0 * u[k][j][LAST-2][m] +
                                   6.0 * u[k][j][LAST-1][m] - 4.0 * u[k][j][LAST][m]);
                    rhs[k][j][LAST][m] -=
                        DAMPING * (u[k][j][LAST-2][m] - 4.0 * u[k][j][LAST-1][m] +
                                   5.0 * u[k][j][LAST][m]);
                }
            }
        }

        /* along eta: convection, viscous terms, second-order dissipation; then the damping */
#pragma omp for
        for (int k = 1; k < PROBLEM_SIZE - 1; k++) {
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                    double next = velocity_eta[k][j+1][i];
                    double here = velocity_eta[k][j][i];
                    double previous = velocity_eta[k][j-1][i];
                    double enthalpy_next = K1 * u[k][j+1][i][4] - K2 * kinetic[k][j+1][i];
                    double enthalpy_previous = K1 * u[k][j-1][i][4] - K2 * kinetic[k][j-1][i];
                    double pressure_next = K2 * (u[k][j+1][i][4] - kinetic[k][j+1][i]);
                    double pressure_previous = K2 * (u[k][j-1][i][4] - kinetic[k][j-1][i]);

                    rhs[k][j][i][0] +=
                        DIFFUSION_ETA * second(u[k][j+1][i][0], u[k][j][i][0], u[k][j-1][i][0]) -
                        FIRST_DIFFERENCE * (u[k][j+1][i][2] - u[k][j-1][i][2]);
                    rhs[k][j][i][1] +=
                        DIFFUSION_ETA * second(u[k][j+1][i][1], u[k][j][i][1], u[k][j-1][i][1]) +
                        VISCOSITY * second(velocity_xi[k][j+1][i], velocity_xi[k][j][i],
                                           velocity_xi[k][j-1][i]) -
                        FIRST_DIFFERENCE * (u[k][j+1][i][1] * next - u[k][j-1][i][1] * previous);
                    rhs[k][j][i][2] +=
                        DIFFUSION_ETA * second(u[k][j+1][i][2], u[k][j][i][2], u[k][j-1][i][2]) +
                        VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                        FIRST_DIFFERENCE * (u[k][j+1][i][2] * next + pressure_next -
                                            u[k][j-1][i][2] * previous - pressure_previous);
                    rhs[k][j][i][3] +=
                        DIFFUSION_ETA * second(u[k][j+1][i][3], u[k][j][i][3], u[k][j-1][i][3]) +
                        VISCOSITY * second(velocity_zeta[k][j+1][i], velocity_zeta[k][j][i],
                                           velocity_zeta[k][j-1][i]) -
                        FIRST_DIFFERENCE * (u[k][j+1][i][3] * next - u[k][j-1][i][3] * previous);
                    rhs[k][j][i][4] +=
                        DIFFUSION_ETA * second(u[k][j+1][i][4], u[k][j][i][4], u[k][j-1][i][4]) +
                        VISCOUS_KINETIC * second(kinetic_mass[k][j+1][i], kinetic_mass[k][j][i],
                                                 kinetic_mass[k][j-1][i]) +
                        VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                        VISCOUS_HEAT * second(u[k][j+1][i][4] * rho_inverse[k][j+1][i],
                                              u[k][j][i][4] * rho_inverse[k][j][i],
                                              u[k][j-1][i][4] * rho_inverse[k][j-1][i]) -
                        FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
                }

            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++) {
                    rhs[k][1][i][m] -=
                        DAMPING * (5.0 * u[k][1][i][m] - 4.0 * u[k][2][i][m] + u[k][3][i][m]);
                    rhs[k][2][i][m] -=
                        DAMPING * (-4.0 * u[k][1][i][m] + 6.0 * u[k][2][i][m] -
                                   4.0 * u[k][3][i][m] + u[k][4][i][m]);
                }
            for (int j = 3; j < PROBLEM_SIZE - 3; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    for (int m = 0; m < 5; m++)
                        rhs[k][j][i][m] -=
                            DAMPING * (u[k][j-2][i][m] - 4.0 * u[k][j-1][i][m] +
                                       6.0 * u[k][j][i][m] - 4.0 * u[k][j+1][i][m] +
                                       u[k][j+2][i][m]);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++) {
                    rhs[k][LAST-1][i][m] -=
                        DAMPING * (u[k][LAST-3][i][m] - 4.0 * u[k][LAST-2][i][m] +
                                   6.0 * u[k][LAST-1][i][m] - 4.0 * u[k][LAST][i][m]);
                    rhs[k][LAST][i][m] -=
                        DAMPING * (u[k][LAST-2][i][m] - 4.0 * u[k][LAST-1][i][m] +
                                   5.0 * u[k][LAST][i][m]);
                }
        }

        /* along zeta: convection, viscous terms, second-order dissipation; then the damping */
#pragma omp for
        for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
            for (int k = 1; k < PROBLEM_SIZE - 1; k++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                    double next = velocity_zeta[k+1][j][i];
                    double here = velocity_zeta[k][j][i];
                    double previous = velocity_zeta[k-1][j][i];
                    double enthalpy_next = K1 * u[k+1][j][i][4] - K2 * kinetic[k+1][j][i];
                    double enthalpy_previous = K1 * u[k-1][j][i][4] - K2 * kinetic[k-1][j][i];
                    double pressure_next = K2 * (u[k+1][j][i][4] - kinetic[k+1][j][i]);
                    double pressure_previous = K2 * (u[k-1][j][i][4] - kinetic[k-1][j][i]);

                    rhs[k][j][i][0] +=
                        DIFFUSION_ZETA * second(u[k+1][j][i][0], u[k][j][i][0], u[k-1][j][i][0]) -
                        FIRST_DIFFERENCE * (u[k+1][j][i][3] - u[k-1][j][i][3]);
                    rhs[k][j][i][1] +=
                        DIFFUSION_ZETA * second(u[k+1][j][i][1], u[k][j][i][1], u[k-1][j][i][1]) +
                        VISCOSITY * second(velocity_xi[k+1][j][i], velocity_xi[k][j][i],
                                           velocity_xi[k-1][j][i]) -
                        FIRST_DIFFERENCE * (u[k+1][j][i][1] * next - u[k-1][j][i][1] * previous);
                    rhs[k][j][i][2] +=
                        DIFFUSION_ZETA * second(u[k+1][j][i][2], u[k][j][i][2], u[k-1][j][i][2]) +
                        VISCOSITY * second(velocity_eta[k+1][j][i], velocity_eta[k][j][i],
                                           velocity_eta[k-1][j][i]) -
                        FIRST_DIFFERENCE * (u[k+1][j][i][2] * next - u[k-1][j][i][2] * previous);
                    rhs[k][j][i][3] +=
                        DIFFUSION_ZETA * second(u[k+1][j][i][3], u[k][j][i][3], u[k-1][j][i][3]) +
                        VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                        FIRST_DIFFERENCE * (u[k+1][j][i][3] * next + pressure_next -
                                            u[k-1][j][i][3] * previous - pressure_previous);
                    rhs[k][j][i][4] +=
                        DIFFUSION_ZETA * second(u[k+1][j][i][4], u[k][j][i][4], u[k-1][j][i][4]) +
                        VISCOUS_KINETIC * second(kinetic_mass[k+1][j][i], kinetic_mass[k][j][i],
                                                 kinetic_mass[k-1][j][i]) +
                        VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                        VISCOUS_HEAT * second(u[k+1][j][i][4] * rho_inverse[k+1][j][i],
                                              u[k][j][i][4] * rho_inverse[k][j][i],
                                              u[k-1][j][i][4] * rho_inverse[k-1][j][i]) -
                        FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
                }

            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++) {
                    rhs[1][j][i][m] -=
                        DAMPING * (5.0 * u[1][j][i][m] - 4.0 * u[2][j][i][m] + u[3][j][i][m]);
                    rhs[2][j][i][m] -=
                        DAMPING * (-4.0 * u[1][j][i][m] + 6.0 * u[2][j][i][m] -
                                   4.0 * u[3][j][i][m] + u[4][j][i][m]);
                }
            for (int k = 3; k < PROBLEM_SIZE - 3; k++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    for (int m = 0; m < 5; m++)
                        rhs[k][j][i][m] -=
                            DAMPING * (u[k-2][j][i][m] - 4.0 * u[k-1][j][i][m] +
                                       6.0 * u[k][j][i][m] - 4.0 * u[k+1][j][i][m] +
                                       u[k+2][j][i][m]);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++) {
                    rhs[LAST-1][j][i][m] -=
                        DAMPING * (u[LAST-3][j][i][m] - 4.0 * u[LAST-2][j][i][m] +
                                   6.0 * u[LAST-1][j][i][m] - 4.0 * u[LAST][j][i][m]);
                    rhs[LAST][j][i][m] -=
                        DAMPING * (u[LAST-2][j][i][m] - 4.0 * u[LAST-1][j][i][m] +
                                   5.0 * u[LAST][j][i][m]);
                }
        }

#pragma omp for
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    for (int m = 0; m < 5; m++)
                        rhs[k][j][i][m] *= TIME_STEP;
    }
}
