/* The exact solution, boundary and initial values, and the forcing term of LU. */
#include "lu.h"

/*
 * Coefficients of the exact solution (report, table of sec. 3.3): for each component the
 * constant, then the coefficients of xi, eta, zeta for the first to the fourth power.
 */
static const double coefficient[NCOMP][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

static struct {
    int boundary_zeta, boundary_eta, boundary_xi, initial, exact;
} timer;

void register_setup_timers(void)
{
    timer.boundary_zeta = npb_region("boundary_zeta");
    timer.boundary_eta = npb_region("boundary_eta");
    timer.boundary_xi = npb_region("boundary_xi");
    timer.initial = npb_region("set_initial_values");
    timer.exact = npb_region("fill_exact");
}

/* c1 x + c2 x^2 + c3 x^3 + c4 x^4, the coefficients three apart in the table. */
static double quartic(const double *c, double x)
{
    return x * (c[0] + x * (c[3] + x * (c[6] + x * c[9])));
}

void exact_solution(int i, int j, int k, double value[NCOMP])
{
    const double xi = (double)i / (NX - 1);
    const double eta = (double)j / (NY - 1);
    const double zeta = (double)k / (NZ - 1);

    for (int m = 0; m < NCOMP; m++)
        value[m] = coefficient[m][0] + quartic(&coefficient[m][1], xi) +
                   quartic(&coefficient[m][2], eta) + quartic(&coefficient[m][3], zeta);
}

/* The exact solution on the six faces, two opposite faces in each loop. */
void set_boundary_values(void)
{
    npb_region_start(timer.boundary_zeta);
#pragma omp parallel for schedule(static)
    for (int j = 0; j < NY; j++) {
        for (int i = 0; i < NX; i++) {
            double low[NCOMP], high[NCOMP];
            exact_solution(i, j, 0, low);
            exact_solution(i, j, NZ - 1, high);
            for (int m = 0; m < NCOMP; m++) {
                u[0][j][i][m] = low[m];
                u[NZ - 1][j][i][m] = high[m];
            }
        }
    }
    npb_region_stop(timer.boundary_zeta);

    npb_region_start(timer.boundary_eta);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int i = 0; i < NX; i++) {
            double low[NCOMP], high[NCOMP];
            exact_solution(i, 0, k, low);
            exact_solution(i, NY - 1, k, high);
            for (int m = 0; m < NCOMP; m++) {
                u[k][0][i][m] = low[m];
                u[k][NY - 1][i][m] = high[m];
            }
        }
    }
    npb_region_stop(timer.boundary_eta);

    npb_region_start(timer.boundary_xi);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            double low[NCOMP], high[NCOMP];
            exact_solution(0, j, k, low);
            exact_solution(NX - 1, j, k, high);
            for (int m = 0; m < NCOMP; m++) {
                u[k][j][0][m] = low[m];
                u[k][j][NX - 1][m] = high[m];
            }
        }
    }
    npb_region_stop(timer.boundary_xi);
}

/*
 * The interior by transfinite interpolation of the boundary values: with P, Q, R the linear
 * interpolants along the three lines through a point, P + Q + R - PQ - QR - RP + PQR.
 */
void set_initial_values(void)
{
    npb_region_start(timer.initial);
#pragma omp parallel for schedule(static)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            for (int i = 1; i < NX - 1; i++) {
                const double xi = (double)i / (NX - 1);
                const double eta = (double)j / (NY - 1);
                const double zeta = (double)k / (NZ - 1);
                for (int m = 0; m < NCOMP; m++) {
                    const double p = (1.0 - xi) * u[k][j][0][m] + xi * u[k][j][NX - 1][m];
                    const double q = (1.0 - eta) * u[k][0][i][m] + eta * u[k][NY - 1][i][m];
                    const double r = (1.0 - zeta) * u[0][j][i][m] + zeta * u[NZ - 1][j][i][m];
                    u[k][j][i][m] = p + q + r - p * q - q * r - r * p + p * q * r;
                }
            }
        }
    }
    npb_region_stop(timer.initial);
}

/* The operator applied to the exact solution, which waits in `residual` meanwhile. */
void compute_forcing(void)
{
    npb_region_start(timer.exact);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NX; i++) {
                double exact[NCOMP];
                exact_solution(i, j, k, exact);
                for (int m = 0; m < NCOMP; m++) {
                    residual[k][j][i][m] = exact[m];
                    forcing[k][j][i][m] = 0.0;
                }
            }
        }
    }
    npb_region_stop(timer.exact);
    add_fluxes_xi(residual, forcing);
    add_fluxes_eta(residual, forcing);
    add_fluxes_zeta(residual, forcing);
}
