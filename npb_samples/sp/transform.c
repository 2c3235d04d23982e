/*
 * SP's changes of variables between the diagonalised factors, point by point. With T the matrix of
 * right eigenvectors of a direction's convective Jacobian, the implicit step is
 *     T_xi D_xi (T_xi^-1 T_eta) D_eta (T_eta^-1 T_zeta) D_zeta T_zeta^-1 update = rhs
 * (RNR-94-007, sec. 3), and the four functions multiply rhs by, in turn, T_xi^-1,
 * (T_xi^-1 T_eta)^-1, (T_eta^-1 T_zeta)^-1 and T_zeta. The middle two do not depend on the state.
 * The names are those under which the literature knows these four steps.
 */
#include "fields.h"

#include "cfd_model.h"

#define SQRT_HALF 0.70710678118654752440

void txinvr(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double mass = rho_inverse[k][j][i];
                double sound = sound_speed[k][j][i];
                double density = rhs[0][k][j][i];
                double pressure = K2 * (kinetic_mass[k][j][i] * density -
                                        velocity_xi[k][j][i] * rhs[1][k][j][i] -
                                        velocity_eta[k][j][i] * rhs[2][k][j][i] -
                                        velocity_zeta[k][j][i] * rhs[3][k][j][i] +
                                        rhs[4][k][j][i]);
                double along_xi = mass * (rhs[1][k][j][i] - velocity_xi[k][j][i] * density);
                double along_eta = mass * (rhs[2][k][j][i] - velocity_eta[k][j][i] * density);
                double along_zeta = mass * (rhs[3][k][j][i] - velocity_zeta[k][j][i] * density);
                double acoustic = mass * pressure / sound;

                rhs[0][k][j][i] = density - pressure / (sound * sound);
                rhs[1][k][j][i] = along_zeta;
                rhs[2][k][j][i] = -along_eta;
                rhs[3][k][j][i] = SQRT_HALF * (acoustic + along_xi);
                rhs[4][k][j][i] = SQRT_HALF * (acoustic - along_xi);
            }
}

void ninvr(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double entropy = rhs[0][k][j][i];
                double turned = SQRT_HALF * rhs[2][k][j][i];
                double difference = SQRT_HALF * (rhs[3][k][j][i] - rhs[4][k][j][i]);
                double mean = 0.5 * (rhs[3][k][j][i] + rhs[4][k][j][i]);
                rhs[0][k][j][i] = -rhs[1][k][j][i];
                rhs[1][k][j][i] = entropy;
                rhs[2][k][j][i] = difference;
                rhs[3][k][j][i] = mean - turned;
                rhs[4][k][j][i] = mean + turned;
            }
}

void pinvr(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double entropy = rhs[1][k][j][i];
                double turned = SQRT_HALF * rhs[0][k][j][i];
                double difference = SQRT_HALF * (rhs[3][k][j][i] - rhs[4][k][j][i]);
                double mean = 0.5 * (rhs[3][k][j][i] + rhs[4][k][j][i]);
                rhs[0][k][j][i] = difference;
                rhs[1][k][j][i] = -rhs[2][k][j][i];
                rhs[2][k][j][i] = entropy;
                rhs[3][k][j][i] = mean - turned;
                rhs[4][k][j][i] = mean + turned;
            }
}

void tzetar(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                double rho = u[0][k][j][i];
                double sound = sound_speed[k][j][i];
                double weighted = SQRT_HALF * rho * (rhs[3][k][j][i] + rhs[4][k][j][i]);
                double density = rhs[2][k][j][i] + weighted / sound;
                double along = SQRT_HALF * rho * (rhs[3][k][j][i] - rhs[4][k][j][i]);
                double across_xi = -rho * rhs[1][k][j][i];
                double across_eta = rho * rhs[0][k][j][i];

                rhs[0][k][j][i] = density;
                rhs[1][k][j][i] = across_xi + velocity_xi[k][j][i] * density;
                rhs[2][k][j][i] = across_eta + velocity_eta[k][j][i] * density;
                rhs[3][k][j][i] = along + velocity_zeta[k][j][i] * density;
                rhs[4][k][j][i] = velocity_xi[k][j][i] * across_xi +
                                  velocity_eta[k][j][i] * across_eta +
                                  velocity_zeta[k][j][i] * along +
                                  kinetic_mass[k][j][i] * density + sound * weighted / K2;
            }
}
