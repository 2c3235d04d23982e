/*
 * SP's implicit step. Each factor of the approximate factorisation is diagonalised, so that along
 * a grid line every component is a scalar pentadiagonal system of its own. Components 0..2 travel
 * with the flow, 3 and 4 with the flow plus and minus the speed of sound. All lines of a plane
 * are eliminated side by side: [position along the line][which line].
 */
#include "fields.h"

#include "cfd_model.h"

#define LAST (PROBLEM_SIZE - 2)
#define CONVECTION (TIME_STEP * FIRST_DIFFERENCE)
#define CONDUCTION (TIME_STEP * SECOND_DIFFERENCE)
/* Of the viscous terms' eigenvalues, per 1/rho, the largest: that of heat, as K1 K5 > 4/3 > 1. */
#define LARGEST_VISCOUS (K1 * K5 * K3 * K4)

/* What is added to the flow's velocity to give the wave's that carries a component. */
static const double sound_sign[5] = {0.0, 0.0, 0.0, 1.0, -1.0};

/* [position][-2 .. +2]: time step * weight of the fourth difference at each inner position. */
static double damping[PROBLEM_SIZE][5];

void prepare_damping(void)
{
    const double weight[5] = {1.0, -4.0, 6.0, -4.0, 1.0};
    for (int p = 1; p <= LAST; p++)
        for (int o = 0; o < 5; o++)
            damping[p][o] = p + o - 2 < 1 || p + o - 2 > LAST ? 0.0
                                                             : TIME_STEP * DAMPING * weight[o];
    damping[1][2] = TIME_STEP * DAMPING * 5.0;
    damping[LAST][2] = TIME_STEP * DAMPING * 5.0;
}

/*
 * Factors the pentadiagonal systems of one family of waves, in place of every inner row p of each
 * line: below[p] multiplies row p-1 after row p-2 was eliminated, inverse[p] is 1 / pivot,
 * above[p] and above2[p] are the normalised entries right of the pivot. Rows 0 and PROBLEM_SIZE-1
 * are boundary: identity, with a zero right-hand side.
 */
static inline void factor_plane(double sign, double flow[PROBLEM_SIZE][PROBLEM_SIZE],
                                double sound[PROBLEM_SIZE][PROBLEM_SIZE],
                                double radius[PROBLEM_SIZE][PROBLEM_SIZE],
                                double below[PROBLEM_SIZE][PROBLEM_SIZE],
                                double inverse[PROBLEM_SIZE][PROBLEM_SIZE],
                                double above[PROBLEM_SIZE][PROBLEM_SIZE],
                                double above2[PROBLEM_SIZE][PROBLEM_SIZE])
{
    for (int q = 1; q <= LAST; q++) {
        above[0][q] = 0.0;
        above2[0][q] = 0.0;
    }
    for (int p = 1; p <= LAST; p++) {
        const int before = p > 1 ? p - 2 : 0; /* row 1 has no second row below: weight 0 */
        const double far = damping[p][0];
        for (int q = 1; q <= LAST; q++) {
            double lower = damping[p][1] - CONVECTION * (flow[p-1][q] + sign * sound[p-1][q]) -
                           CONDUCTION * radius[p-1][q];
            double diagonal = 1.0 + damping[p][2] + 2.0 * CONDUCTION * radius[p][q];
            double upper = damping[p][3] + CONVECTION * (flow[p+1][q] + sign * sound[p+1][q]) -
                           CONDUCTION * radius[p+1][q];
            below[p][q] = lower - far * above[before][q];
            inverse[p][q] =
                1.0 / (diagonal - far * above2[before][q] - below[p][q] * above[p-1][q]);
            above[p][q] = (upper - below[p][q] * above2[p-1][q]) * inverse[p][q];
            above2[p][q] = damping[p][4] * inverse[p][q];
        }
    }
}

/* Forward and backward substitution of one component on the factors; rows 0 and PROBLEM_SIZE-1
 * of `update` are zero and stay so. */
static inline void substitute_plane(double update[PROBLEM_SIZE][PROBLEM_SIZE],
                                    double below[PROBLEM_SIZE][PROBLEM_SIZE],
                                    double inverse[PROBLEM_SIZE][PROBLEM_SIZE],
                                    double above[PROBLEM_SIZE][PROBLEM_SIZE],
                                    double above2[PROBLEM_SIZE][PROBLEM_SIZE])
{
    for (int q = 1; q <= LAST; q++)
        update[1][q] *= inverse[1][q];
    for (int p = 2; p <= LAST; p++)
        for (int q = 1; q <= LAST; q++)
            update[p][q] = (update[p][q] - damping[p][0] * update[p-2][q] -
                            below[p][q] * update[p-1][q]) *
                           inverse[p][q];
    for (int p = LAST - 1; p > 0; p--)
        for (int q = 1; q <= LAST; q++)
            update[p][q] -= above[p][q] * update[p+1][q] + above2[p][q] * update[p+2][q];
}

void x_solve(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++) {
        double flow[PROBLEM_SIZE][PROBLEM_SIZE];
        double sound[PROBLEM_SIZE][PROBLEM_SIZE];
        double radius[PROBLEM_SIZE][PROBLEM_SIZE];
        double update[PROBLEM_SIZE][PROBLEM_SIZE];
        double below[PROBLEM_SIZE][PROBLEM_SIZE];
        double inverse[PROBLEM_SIZE][PROBLEM_SIZE];
        double above[PROBLEM_SIZE][PROBLEM_SIZE];
        double above2[PROBLEM_SIZE][PROBLEM_SIZE];

        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 0; i < PROBLEM_SIZE; i++) {
                flow[i][j] = velocity_xi[k][j][i];
                sound[i][j] = sound_speed[k][j][i];
                radius[i][j] = DISSIPATION_XI + LARGEST_VISCOUS * rho_inverse[k][j][i];
            }

        for (int m = 0; m < 5; m++) {
            if (m == 0 || m > 2) /* 1 and 2 have the factors of 0 */
                factor_plane(sound_sign[m], flow, sound, radius, below, inverse, above, above2);
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++)
                    update[i][j] = rhs[m][k][j][i];
            substitute_plane(update, below, inverse, above, above2);
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] = update[i][j];
        }
    }
}

void y_solve(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++) {
        double flow[PROBLEM_SIZE][PROBLEM_SIZE];
        double sound[PROBLEM_SIZE][PROBLEM_SIZE];
        double radius[PROBLEM_SIZE][PROBLEM_SIZE];
        double update[PROBLEM_SIZE][PROBLEM_SIZE];
        double below[PROBLEM_SIZE][PROBLEM_SIZE];
        double inverse[PROBLEM_SIZE][PROBLEM_SIZE];
        double above[PROBLEM_SIZE][PROBLEM_SIZE];
        double above2[PROBLEM_SIZE][PROBLEM_SIZE];

        for (int j = 0; j < PROBLEM_SIZE; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                flow[j][i] = velocity_eta[k][j][i];
                sound[j][i] = sound_speed[k][j][i];
                radius[j][i] = DISSIPATION_ETA + LARGEST_VISCOUS * rho_inverse[k][j][i];
            }

        for (int m = 0; m < 5; m++) {
            if (m == 0 || m > 2) /* 1 and 2 have the factors of 0 */
                factor_plane(sound_sign[m], flow, sound, radius, below, inverse, above, above2);
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    update[j][i] = rhs[m][k][j][i];
            substitute_plane(update, below, inverse, above, above2);
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] = update[j][i];
        }
    }
}

void z_solve(void)
{
#pragma omp parallel for
    for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
        double flow[PROBLEM_SIZE][PROBLEM_SIZE];
        double sound[PROBLEM_SIZE][PROBLEM_SIZE];
        double radius[PROBLEM_SIZE][PROBLEM_SIZE];
        double update[PROBLEM_SIZE][PROBLEM_SIZE];
        double below[PROBLEM_SIZE][PROBLEM_SIZE];
        double inverse[PROBLEM_SIZE][PROBLEM_SIZE];
        double above[PROBLEM_SIZE][PROBLEM_SIZE];
        double above2[PROBLEM_SIZE][PROBLEM_SIZE];

        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
                flow[k][i] = velocity_zeta[k][j][i];
                sound[k][i] = sound_speed[k][j][i];
                radius[k][i] = DISSIPATION_ZETA + LARGEST_VISCOUS * rho_inverse[k][j][i];
            }

        for (int m = 0; m < 5; m++) {
            if (m == 0 || m > 2) /* 1 and 2 have the factors of 0 */
                factor_plane(sound_sign[m], flow, sound, radius, below, inverse, above, above2);
            for (int k = 0; k < PROBLEM_SIZE; k++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    update[k][i] = rhs[m][k][j][i];
            substitute_plane(update, below, inverse, above, above2);
            for (int k = 1; k < PROBLEM_SIZE - 1; k++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    rhs[m][k][j][i] = update[k][i];
        }
    }
}
