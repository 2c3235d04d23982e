/* Norms, the surface integral of the pressure, and the verification of LU. */
#include "lu.h"
#include "lu_reference.h"

#include <math.h>

#define EPSILON 1.0e-8

static struct {
    int residual, error, surface_zeta, surface_eta, surface_xi;
} timer;

void register_check_timers(void)
{
    timer.residual = npb_region("residual_norm");
    timer.error = npb_region("error_norm");
    timer.surface_zeta = npb_region("surface_zeta");
    timer.surface_eta = npb_region("surface_eta");
    timer.surface_xi = npb_region("surface_xi");
}

static void root_mean_square(const double sums[NCOMP], double norm[NCOMP])
{
    const double points = (double)(NX - 2) * (NY - 2) * (NZ - 2);
    for (int m = 0; m < NCOMP; m++)
        norm[m] = sqrt(sums[m] / points);
}

void residual_norm(double norm[NCOMP])
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0;

    npb_region_start(timer.residual);
#pragma omp parallel for schedule(static) reduction(+ : s0, s1, s2, s3, s4)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            for (int i = 1; i < NX - 1; i++) {
                s0 += residual[k][j][i][0] * residual[k][j][i][0];
                s1 += residual[k][j][i][1] * residual[k][j][i][1];
                s2 += residual[k][j][i][2] * residual[k][j][i][2];
                s3 += residual[k][j][i][3] * residual[k][j][i][3];
                s4 += residual[k][j][i][4] * residual[k][j][i][4];
            }
        }
    }
    npb_region_stop(timer.residual);
    root_mean_square((const double[NCOMP]){s0, s1, s2, s3, s4}, norm);
}

void error_norm(double norm[NCOMP])
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0;

    npb_region_start(timer.error);
#pragma omp parallel for schedule(static) reduction(+ : s0, s1, s2, s3, s4)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            for (int i = 1; i < NX - 1; i++) {
                double exact[NCOMP];
                exact_solution(i, j, k, exact);
                s0 += (exact[0] - u[k][j][i][0]) * (exact[0] - u[k][j][i][0]);
                s1 += (exact[1] - u[k][j][i][1]) * (exact[1] - u[k][j][i][1]);
                s2 += (exact[2] - u[k][j][i][2]) * (exact[2] - u[k][j][i][2]);
                s3 += (exact[3] - u[k][j][i][3]) * (exact[3] - u[k][j][i][3]);
                s4 += (exact[4] - u[k][j][i][4]) * (exact[4] - u[k][j][i][4]);
            }
        }
    }
    npb_region_stop(timer.error);
    root_mean_square((const double[NCOMP]){s0, s1, s2, s3, s4}, norm);
}

static double pressure(const double q[NCOMP])
{
    return C2 * (q[4] - 0.5 * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / q[0]);
}

/* Faces of the box that the pressure is integrated over, as grid indices. */
#define I_FIRST 1
#define I_LAST (NX - 2)
#define J_FIRST 1
#define J_LAST (NY - 3)
#define K_FIRST 2
#define K_LAST (NZ - 2)

/* Weight of a grid line in the trapezoidal rule, without the factor 1/2. */
static double weight(int index, int first, int last)
{
    return index == first || index == last ? 1.0 : 2.0;
}

/* Trapezoidal rule on the six faces of the box; the report's integral is a quarter of the sum. */
double surface_integral(void)
{
    double zeta = 0.0;
    double eta = 0.0;
    double xi = 0.0;

    npb_region_start(timer.surface_zeta);
#pragma omp parallel for schedule(static) reduction(+ : zeta)
    for (int j = J_FIRST; j <= J_LAST; j++) {
        for (int i = I_FIRST; i <= I_LAST; i++) {
            zeta += weight(j, J_FIRST, J_LAST) * weight(i, I_FIRST, I_LAST) *
                    (pressure(u[K_FIRST][j][i]) + pressure(u[K_LAST][j][i]));
        }
    }
    npb_region_stop(timer.surface_zeta);

    npb_region_start(timer.surface_eta);
#pragma omp parallel for schedule(static) reduction(+ : eta)
    for (int k = K_FIRST; k <= K_LAST; k++) {
        for (int i = I_FIRST; i <= I_LAST; i++) {
            eta += weight(k, K_FIRST, K_LAST) * weight(i, I_FIRST, I_LAST) *
                   (pressure(u[k][J_FIRST][i]) + pressure(u[k][J_LAST][i]));
        }
    }
    npb_region_stop(timer.surface_eta);

    npb_region_start(timer.surface_xi);
#pragma omp parallel for schedule(static) reduction(+ : xi)
    for (int k = K_FIRST; k <= K_LAST; k++) {
        for (int j = J_FIRST; j <= J_LAST; j++) {
            xi += weight(k, K_FIRST, K_LAST) * weight(j, J_FIRST, J_LAST) *
                  (pressure(u[k][j][I_FIRST]) + pressure(u[k][j][I_LAST]));
        }
    }
    npb_region_stop(timer.surface_xi);

    return 0.25 * (zeta / (TX3 * TY3) + eta / (TX3 * TZ3) + xi / (TY3 * TZ3));
}

int verify(const double residual_rms[NCOMP], const double error_rms[NCOMP], double surface)
{
    int agreed = npb_compare("Norms of the residual", residual_rms, reference_residual, NCOMP,
                             EPSILON);
    agreed &= npb_compare("Norms of the error", error_rms, reference_error, NCOMP, EPSILON);
    agreed &= npb_compare("Surface integral", &surface, &reference_surface, 1, EPSILON);
    return agreed;
}
