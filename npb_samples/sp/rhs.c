/*
 * SP's right-hand side: time step * (spatial operator of u + forcing), one parallel region for
 * each part: derived quantities, forcing, then in each direction the second-order terms and the
 * fourth-order damping, then the factor.
 */
#include "fields.h"

#include "cfd_model.h"

#include <math.h>

#define LAST (PROBLEM_SIZE - 2) /* the last inner grid index */

double rho_inverse[PROBLEM_SIZE][PADDED][PADDED];
double velocity_xi[PROBLEM_SIZE][PADDED][PADDED];
double velocity_eta[PROBLEM_SIZE][PADDED][PADDED];
double velocity_zeta[PROBLEM_SIZE][PADDED][PADDED];
double kinetic[PROBLEM_SIZE][PADDED][PADDED];
double kinetic_mass[PROBLEM_SIZE][PADDED][PADDED];
double sound_speed[PROBLEM_SIZE][PADDED][PADDED];

/* next - 2 here + previous */
static inline double second(double next, double here, double previous)
{
    return next - 2.0 * here + previous;
}

void rhs_derive(void)
{
#pragma omp parallel for
    for (int k = 0; k < PROBLEM_SIZE; k++)
        for (int j = 0; j < PROBLEM_SIZE; j++)
            for (int i = 0; i < PROBLEM_SIZE; i++) {
                double inverse = 1.0 / u[0][k][j][i];
                rho_inverse[k][j][i] = inverse;
                velocity_xi[k][j][i] = u[1][k][j][i] * inverse;
                velocity_eta[k][j][i] = u[2][k][j][i] * inverse;
                velocity_zeta[k][j][i] = u[3][k][j][i] * inverse;
                kinetic[k][j][i] =
                    0.5 * inverse *
                    (u[1][k][j][i] * u[1][k][j][i] + u[2][k][j][i] * u[2][k][j][i] +
                     u[3][k][j][i] * u[3][k][j][i]);
                kinetic_mass[k][j][i] = kinetic[k][j][i] * inverse;
                sound_speed[k][j][i] =
                    sqrt(K1 * K2 * inverse * (u[4][k][j][i] - kinetic[k][j][i]));
            }
}

void rhs_start(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++)
                    rhs[m][k][j][i] = forcing[m][k][j][i];
}

void rhs_xi(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double next = velocity_xi[k][j][i+1];
                double here = velocity_xi[k][j][i];
                double previous = velocity_xi[k][j][i-1];
                double enthalpy_next = K1 * u[4][k][j][i+1] - K2 * kinetic[k][j][i+1];
                double enthalpy_previous = K1 * u[4][k][j][i-1] - K2 * kinetic[k][j][i-1];
                double pressure_next = K2 * (u[4][k][j][i+1] - kinetic[k][j][i+1]);
                double pressure_previous = K2 * (u[4][k][j][i-1] - kinetic[k][j][i-1]);

                rhs[0][k][j][i] +=
                    DIFFUSION_XI * second(u[0][k][j][i+1], u[0][k][j][i], u[0][k][j][i-1]) -
                    FIRST_DIFFERENCE * (u[1][k][j][i+1] - u[1][k][j][i-1]);
                rhs[1][k][j][i] +=
                    DIFFUSION_XI * second(u[1][k][j][i+1], u[1][k][j][i], u[1][k][j][i-1]) +
                    VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                    FIRST_DIFFERENCE * (u[1][k][j][i+1] * next + pressure_next -
                                        u[1][k][j][i-1] * previous - pressure_previous);
                rhs[2][k][j][i] +=
                    DIFFUSION_XI * second(u[2][k][j][i+1], u[2][k][j][i], u[2][k][j][i-1]) +
                    VISCOSITY * second(velocity_eta[k][j][i+1], velocity_eta[k][j][i],
                                       velocity_eta[k][j][i-1]) -
                    FIRST_DIFFERENCE * (u[2][k][j][i+1] * next - u[2][k][j][i-1] * previous);
                rhs[3][k][j][i] +=
                    DIFFUSION_XI * second(u[3][k][j][i+1], u[3][k][j][i], u[3][k][j][i-1]) +
                    VISCOSITY * second(velocity_zeta[k][j][i+1], velocity_zeta[k][j][i],
                                       velocity_zeta[k][j][i-1]) -
                    FIRST_DIFFERENCE * (u[3][k][j][i+1] * next - u[3][k][j][i-1] * previous);
                rhs[4][k][j][i] +=
                    DIFFUSION_XI * second(u[4][k][j][i+1], u[4][k][j][i], u[4][k][j][i-1]) +
                    VISCOUS_KINETIC * second(kinetic_mass[k][j][i+1], kinetic_mass[k][j][i],
                                             kinetic_mass[k][j][i-1]) +
                    VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                    VISCOUS_HEAT * second(u[4][k][j][i+1] * rho_inverse[k][j][i+1],
                                          u[4][k][j][i] * rho_inverse[k][j][i],
                                          u[4][k][j][i-1] * rho_inverse[k][j][i-1]) -
                    FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
            }
}

void damp_xi(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
                rhs[m][k][j][1] -=
                    DAMPING * (5.0 * u[m][k][j][1] - 4.0 * u[m][k][j][2] + u[m][k][j][3]);
                rhs[m][k][j][2] -=
                    DAMPING * (-4.0 * u[m][k][j][1] + 6.0 * u[m][k][j][2] - 4.0 * u[m][k][j][3] +
                               u[m][k][j][4]);
                for (int i = 3; i < PROBLEM_SIZE - 3; i++)
                    rhs[m][k][j][i] -=
                        DAMPING * (u[m][k][j][i-2] - 4.0 * u[m][k][j][i-1] + 6.0 * u[m][k][j][i] -
                                   4.0 * u[m][k][j][i+1] + u[m][k][j][i+2]);
                rhs[m][k][j][LAST-1] -=
                    DAMPING * (u[m][k][j][LAST-3] - 4.0 * u[m][k][j][LAST-2] +
                               6.0 * u[m][k][j][LAST-1] - 4.0 * u[m][k][j][LAST]);
                rhs[m][k][j][LAST] -=
                    DAMPING * (u[m][k][j][LAST-2] - 4.0 * u[m][k][j][LAST-1] +
                               5.0 * u[m][k][j][LAST]);
            }
}

void rhs_eta(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double next = velocity_eta[k][j+1][i];
                double here = velocity_eta[k][j][i];
                double previous = velocity_eta[k][j-1][i];
                double enthalpy_next = K1 * u[4][k][j+1][i] - K2 * kinetic[k][j+1][i];
                double enthalpy_previous = K1 * u[4][k][j-1][i] - K2 * kinetic[k][j-1][i];
                double pressure_next = K2 * (u[4][k][j+1][i] - kinetic[k][j+1][i]);
                double pressure_previous = K2 * (u[4][k][j-1][i] - kinetic[k][j-1][i]);

                rhs[0][k][j][i] +=
                    DIFFUSION_ETA * second(u[0][k][j+1][i], u[0][k][j][i], u[0][k][j-1][i]) -
                    FIRST_DIFFERENCE * (u[2][k][j+1][i] - u[2][k][j-1][i]);
                rhs[1][k][j][i] +=
                    DIFFUSION_ETA * second(u[1][k][j+1][i], u[1][k][j][i], u[1][k][j-1][i]) +
                    VISCOSITY * second(velocity_xi[k][j+1][i], velocity_xi[k][j][i],
                                       velocity_xi[k][j-1][i]) -
                    FIRST_DIFFERENCE * (u[1][k][j+1][i] * next - u[1][k][j-1][i] * previous);
                rhs[2][k][j][i] +=
                    DIFFUSION_ETA * second(u[2][k][j+1][i], u[2][k][j][i], u[2][k][j-1][i]) +
                    VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                    FIRST_DIFFERENCE * (u[2][k][j+1][i] * next + pressure_next -
                                        u[2][k][j-1][i] * previous - pressure_previous);
                rhs[3][k][j][i] +=
                    DIFFUSION_ETA * second(u[3][k][j+1][i], u[3][k][j][i], u[3][k][j-1][i]) +
                    VISCOSITY * second(velocity_zeta[k][j+1][i], velocity_zeta[k][j][i],
                                       velocity_zeta[k][j-1][i]) -
                    FIRST_DIFFERENCE * (u[3][k][j+1][i] * next - u[3][k][j-1][i] * previous);
                rhs[4][k][j][i] +=
                    DIFFUSION_ETA * second(u[4][k][j+1][i], u[4][k][j][i], u[4][k][j-1][i]) +
                    VISCOUS_KINETIC * second(kinetic_mass[k][j+1][i], kinetic_mass[k][j][i],
                                             kinetic_mass[k][j-1][i]) +
                    VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                    VISCOUS_HEAT * second(u[4][k][j+1][i] * rho_inverse[k][j+1][i],
                                          u[4][k][j][i] * rho_inverse[k][j][i],
                                          u[4][k][j-1][i] * rho_inverse[k][j-1][i]) -
                    FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
            }
}

void damp_eta(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++) {
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                rhs[m][k][1][i] -=
                    DAMPING * (5.0 * u[m][k][1][i] - 4.0 * u[m][k][2][i] + u[m][k][3][i]);
                rhs[m][k][2][i] -=
                    DAMPING * (-4.0 * u[m][k][1][i] + 6.0 * u[m][k][2][i] - 4.0 * u[m][k][3][i] +
                               u[m][k][4][i]);
            }
            for (int j = 3; j < PROBLEM_SIZE - 3; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] -=
                        DAMPING * (u[m][k][j-2][i] - 4.0 * u[m][k][j-1][i] + 6.0 * u[m][k][j][i] -
                                   4.0 * u[m][k][j+1][i] + u[m][k][j+2][i]);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                rhs[m][k][LAST-1][i] -=
                    DAMPING * (u[m][k][LAST-3][i] - 4.0 * u[m][k][LAST-2][i] +
                               6.0 * u[m][k][LAST-1][i] - 4.0 * u[m][k][LAST][i]);
                rhs[m][k][LAST][i] -=
                    DAMPING * (u[m][k][LAST-2][i] - 4.0 * u[m][k][LAST-1][i] +
                               5.0 * u[m][k][LAST][i]);
            }
        }
}

void rhs_zeta(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double next = velocity_zeta[k+1][j][i];
                double here = velocity_zeta[k][j][i];
                double previous = velocity_zeta[k-1][j][i];
                double enthalpy_next = K1 * u[4][k+1][j][i] - K2 * kinetic[k+1][j][i];
                double enthalpy_previous = K1 * u[4][k-1][j][i] - K2 * kinetic[k-1][j][i];
                double pressure_next = K2 * (u[4][k+1][j][i] - kinetic[k+1][j][i]);
                double pressure_previous = K2 * (u[4][k-1][j][i] - kinetic[k-1][j][i]);

                rhs[0][k][j][i] +=
                    DIFFUSION_ZETA * second(u[0][k+1][j][i], u[0][k][j][i], u[0][k-1][j][i]) -
                    FIRST_DIFFERENCE * (u[3][k+1][j][i] - u[3][k-1][j][i]);
                rhs[1][k][j][i] +=
                    DIFFUSION_ZETA * second(u[1][k+1][j][i], u[1][k][j][i], u[1][k-1][j][i]) +
                    VISCOSITY * second(velocity_xi[k+1][j][i], velocity_xi[k][j][i],
                                       velocity_xi[k-1][j][i]) -
                    FIRST_DIFFERENCE * (u[1][k+1][j][i] * next - u[1][k-1][j][i] * previous);
                rhs[2][k][j][i] +=
                    DIFFUSION_ZETA * second(u[2][k+1][j][i], u[2][k][j][i], u[2][k-1][j][i]) +
                    VISCOSITY * second(velocity_eta[k+1][j][i], velocity_eta[k][j][i],
                                       velocity_eta[k-1][j][i]) -
                    FIRST_DIFFERENCE * (u[2][k+1][j][i] * next - u[2][k-1][j][i] * previous);
                rhs[3][k][j][i] +=
                    DIFFUSION_ZETA * second(u[3][k+1][j][i], u[3][k][j][i], u[3][k-1][j][i]) +
                    VISCOSITY * VISCOUS_NORMAL * second(next, here, previous) -
                    FIRST_DIFFERENCE * (u[3][k+1][j][i] * next + pressure_next -
                                        u[3][k-1][j][i] * previous - pressure_previous);
                rhs[4][k][j][i] +=
                    DIFFUSION_ZETA * second(u[4][k+1][j][i], u[4][k][j][i], u[4][k-1][j][i]) +
                    VISCOUS_KINETIC * second(kinetic_mass[k+1][j][i], kinetic_mass[k][j][i],
                                             kinetic_mass[k-1][j][i]) +
                    VISCOUS_SQUARE * second(next * next, here * here, previous * previous) +
                    VISCOUS_HEAT * second(u[4][k+1][j][i] * rho_inverse[k+1][j][i],
                                          u[4][k][j][i] * rho_inverse[k][j][i],
                                          u[4][k-1][j][i] * rho_inverse[k-1][j][i]) -
                    FIRST_DIFFERENCE * (enthalpy_next * next - enthalpy_previous * previous);
            }
}

void damp_zeta(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                rhs[m][1][j][i] -=
                    DAMPING * (5.0 * u[m][1][j][i] - 4.0 * u[m][2][j][i] + u[m][3][j][i]);
                rhs[m][2][j][i] -=
                    DAMPING * (-4.0 * u[m][1][j][i] + 6.0 * u[m][2][j][i] - 4.0 * u[m][3][j][i] +
                               u[m][4][j][i]);
            }
            for (int k = 3; k < PROBLEM_SIZE - 3; k++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] -=
                        DAMPING * (u[m][k-2][j][i] - 4.0 * u[m][k-1][j][i] + 6.0 * u[m][k][j][i] -
                                   4.0 * u[m][k+1][j][i] + u[m][k+2][j][i]);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                rhs[m][LAST-1][j][i] -=
                    DAMPING * (u[m][LAST-3][j][i] - 4.0 * u[m][LAST-2][j][i] +
                               6.0 * u[m][LAST-1][j][i] - 4.0 * u[m][LAST][j][i]);
                rhs[m][LAST][j][i] -=
                    DAMPING * (u[m][LAST-2][j][i] - 4.0 * u[m][LAST-1][j][i] +
                               5.0 * u[m][LAST][j][i]);
            }
        }
}

void rhs_scale(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] *= TIME_STEP;
}
