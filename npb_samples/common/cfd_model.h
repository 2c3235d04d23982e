/*
 * The model problem that BT and SP share: RNR-94-007, sec. 3 (constants k1..k5,
 * dissipation d_xi, d_eta, d_zeta, the exact solution's polynomial and its table C_{m,n}).
 *
 * A program defines PROBLEM_SIZE (grid points in each of the three directions) before it includes
 * this header. The components of a state are 0: density, 1..3: momentum along xi, eta, zeta,
 * 4: total energy. All lengths are those of the unit cube.
 */
#ifndef CFD_MODEL_H
#define CFD_MODEL_H

#define K1 1.4 /* ratio of specific heats, gamma */
#define K2 0.4 /* gamma - 1 */
#define K3 0.1
#define K4 1.0
#define K5 1.4

/* Central differences on the grid with spacing 1/(PROBLEM_SIZE - 1): d/dx is FIRST_DIFFERENCE
 * times (next - previous), d2/dx2 is SECOND_DIFFERENCE times (next - 2 here + previous). */
#define FIRST_DIFFERENCE ((PROBLEM_SIZE - 1) / 2.0)
#define SECOND_DIFFERENCE ((double)(PROBLEM_SIZE - 1) * (PROBLEM_SIZE - 1))

/* Second-order dissipation, the same for all five components, and its factor with the grid's. */
#define DISSIPATION_XI 0.75
#define DISSIPATION_ETA 0.75
#define DISSIPATION_ZETA 1.0
#define DIFFUSION_XI (DISSIPATION_XI * SECOND_DIFFERENCE)
#define DIFFUSION_ETA (DISSIPATION_ETA * SECOND_DIFFERENCE)
#define DIFFUSION_ZETA (DISSIPATION_ZETA * SECOND_DIFFERENCE)

/* Fourth-order dissipation: a quarter of the largest second-order coefficient. */
#define DAMPING (0.25 * DISSIPATION_ZETA)

/* Viscous terms, as factors of second differences of velocities and specific energies. */
#define VISCOSITY (K3 * K4 * SECOND_DIFFERENCE)
#define VISCOUS_NORMAL (4.0 / 3.0)
#define VISCOUS_KINETIC (VISCOSITY * (1.0 - K1 * K5))
#define VISCOUS_SQUARE (VISCOSITY / 6.0)
#define VISCOUS_HEAT (VISCOSITY * K1 * K5)

/* RNR-94-007, table of C_{m,n}: [component][constant, then xi, eta, zeta to the powers 1..4]. */
static const double exact_coefficient[5][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

/* The coordinate, from 0 to 1, of a grid index. */
static inline double coordinate(int index) { return (double)index / (PROBLEM_SIZE - 1); }

/* One component of the exact solution: the constant and one quartic in each coordinate. */
static inline double exact_component(int m, double xi, double eta, double zeta)
{
    const double *c = exact_coefficient[m];
    return c[0] + xi * (c[1] + xi * (c[4] + xi * (c[7] + xi * c[10]))) +
           eta * (c[2] + eta * (c[5] + eta * (c[8] + eta * c[11]))) +
           zeta * (c[3] + zeta * (c[6] + zeta * (c[9] + zeta * c[12])));
}

/* The initial guess inside the cube: the exact values on the six faces, blended between each pair
 * of opposite faces and joined over the three directions (transfinite interpolation). */
static inline double blended_component(int m, double xi, double eta, double zeta)
{
    double along_xi = xi * exact_component(m, 1.0, eta, zeta) +
                      (1.0 - xi) * exact_component(m, 0.0, eta, zeta);
    double along_eta = eta * exact_component(m, xi, 1.0, zeta) +
                       (1.0 - eta) * exact_component(m, xi, 0.0, zeta);
    double along_zeta = zeta * exact_component(m, xi, eta, 1.0) +
                        (1.0 - zeta) * exact_component(m, xi, eta, 0.0);
    return along_xi + along_eta + along_zeta - along_xi * along_eta - along_xi * along_zeta -
           along_eta * along_zeta + along_xi * along_eta * along_zeta;
}

/*
 * The spatial operator of one direction along one grid line: convection, viscous terms, second-
 * and fourth-order dissipation. `normal` is the component of the momentum along the line (1..3),
 * `diffusion` one of DIFFUSION_*. Writes out[1 .. PROBLEM_SIZE-2]; the line's ends are boundary.
 * Used on exact states, where forcing = -operator makes the exact solution stationary.
 */
static inline void line_operator(int normal, double diffusion,
                                 double state[PROBLEM_SIZE][5],
                                 double out[PROBLEM_SIZE][5])
{
    double convected[PROBLEM_SIZE][5]; /* the convective flux */
    double velocity[PROBLEM_SIZE][3];
    double kinetic[PROBLEM_SIZE]; /* |v|^2 */
    double energy[PROBLEM_SIZE];  /* total energy per mass */

    for (int p = 0; p < PROBLEM_SIZE; p++) {
        double inverse = 1.0 / state[p][0];
        for (int a = 0; a < 3; a++)
            velocity[p][a] = state[p][a + 1] * inverse;
        kinetic[p] = velocity[p][0] * velocity[p][0] + velocity[p][1] * velocity[p][1] +
                     velocity[p][2] * velocity[p][2];
        energy[p] = state[p][4] * inverse;
        double through = velocity[p][normal - 1];
        double pressure = K2 * (state[p][4] - 0.5 * state[p][0] * kinetic[p]);
        convected[p][0] = state[p][normal];
        for (int a = 1; a < 4; a++)
            convected[p][a] = state[p][a] * through + (a == normal ? pressure : 0.0);
        convected[p][4] = (state[p][4] + pressure) * through;
    }

    for (int p = 1; p < PROBLEM_SIZE - 1; p++) {
        for (int m = 0; m < 5; m++)
            out[p][m] =
                diffusion * (state[p + 1][m] - 2.0 * state[p][m] + state[p - 1][m]) -
                FIRST_DIFFERENCE * (convected[p + 1][m] - convected[p - 1][m]);
        for (int a = 0; a < 3; a++)
            out[p][a + 1] +=
                VISCOSITY * (a + 1 == normal ? VISCOUS_NORMAL : 1.0) *
                (velocity[p + 1][a] - 2.0 * velocity[p][a] + velocity[p - 1][a]);
        double next = velocity[p + 1][normal - 1];
        double here = velocity[p][normal - 1];
        double previous = velocity[p - 1][normal - 1];
        out[p][4] += 0.5 * VISCOUS_KINETIC *
                         (kinetic[p + 1] - 2.0 * kinetic[p] + kinetic[p - 1]) +
                     VISCOUS_SQUARE * (next * next - 2.0 * here * here + previous * previous) +
                     VISCOUS_HEAT * (energy[p + 1] - 2.0 * energy[p] + energy[p - 1]);
    }

    /* The fourth difference, with the one-sided forms of the two points beside each end. */
    for (int m = 0; m < 5; m++) {
        const int last = PROBLEM_SIZE - 2;
        out[1][m] -= DAMPING * (5.0 * state[1][m] - 4.0 * state[2][m] + state[3][m]);
        out[2][m] -= DAMPING * (-4.0 * state[1][m] + 6.0 * state[2][m] - 4.0 * state[3][m] +
                                state[4][m]);
        for (int p = 3; p < PROBLEM_SIZE - 3; p++)
            out[p][m] -= DAMPING * (state[p - 2][m] - 4.0 * state[p - 1][m] +
                                    6.0 * state[p][m] - 4.0 * state[p + 1][m] +
                                    state[p + 2][m]);
        out[last - 1][m] -= DAMPING * (state[last - 3][m] - 4.0 * state[last - 2][m] +
                                       6.0 * state[last - 1][m] - 4.0 * state[last][m]);
        out[last][m] -= DAMPING * (state[last - 2][m] - 4.0 * state[last - 1][m] +
                                   5.0 * state[last][m]);
    }
}

#endif
