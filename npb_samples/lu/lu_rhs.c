/*
 * The spatial operator of LU (report, sec. 3.3): differences of the convective fluxes, of the
 * viscous fluxes, second-difference diffusion and fourth-difference dissipation. Every direction
 * works line by line: it derives the convective flux and the primitive values of each point of
 * the line once, then the viscous flux at each face between neighbours, and adds the differences.
 */
#include "lu.h"

static struct {
    int fluxes_xi, fluxes_eta, fluxes_zeta, start;
} timer;

void register_rhs_timers(void)
{
    timer.fluxes_xi = npb_region("add_fluxes_xi");
    timer.fluxes_eta = npb_region("add_fluxes_eta");
    timer.fluxes_zeta = npb_region("add_fluxes_zeta");
    timer.start = npb_region("start_residual");
}

void add_fluxes_xi(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP])
{
    npb_region_start(timer.fluxes_xi);
#pragma omp parallel for schedule(static)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            double flux[NX][NCOMP]; /* convective, at points */
            double face[NX][NCOMP]; /* viscous, between i - 1 and i; component 0 has none */
            double v[NX][3];        /* velocity */
            double square[NX];      /* of the velocity */
            double energy[NX];      /* total, per mass */

            for (int i = 0; i < NX; i++) {
                const double inverse = 1.0 / q[k][j][i][0];
                v[i][0] = q[k][j][i][1] * inverse;
                v[i][1] = q[k][j][i][2] * inverse;
                v[i][2] = q[k][j][i][3] * inverse;
                energy[i] = q[k][j][i][4] * inverse;
                square[i] = v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
                const double pressure = C2 * (q[k][j][i][4] - 0.5 * square[i] * q[k][j][i][0]);
                flux[i][0] = q[k][j][i][1];
                flux[i][1] = q[k][j][i][1] * v[i][0] + pressure;
                flux[i][2] = q[k][j][i][2] * v[i][0];
                flux[i][3] = q[k][j][i][3] * v[i][0];
                flux[i][4] = (q[k][j][i][4] + pressure) * v[i][0];
            }
            for (int i = 1; i < NX; i++) {
                face[i][1] = (4.0 / 3.0) * TX3 * (v[i][0] - v[i - 1][0]);
                face[i][2] = TX3 * (v[i][1] - v[i - 1][1]);
                face[i][3] = TX3 * (v[i][2] - v[i - 1][2]);
                face[i][4] =
                    TX3 * (0.5 * (1.0 - C1 * C5) * (square[i] - square[i - 1]) +
                           (v[i][0] * v[i][0] - v[i - 1][0] * v[i - 1][0]) / 6.0 +
                           C1 * C5 * (energy[i] - energy[i - 1]));
            }
            for (int i = 1; i < NX - 1; i++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] +=
                        DX * TX1 * (q[k][j][i - 1][m] - 2.0 * q[k][j][i][m] + q[k][j][i + 1][m]) -
                        TX2 * (flux[i + 1][m] - flux[i - 1][m]);
                }
                for (int m = 1; m < NCOMP; m++)
                    out[k][j][i][m] += VISCOSITY * TX3 * (face[i + 1][m] - face[i][m]);
            }
            for (int m = 0; m < NCOMP; m++) {
                out[k][j][1][m] -= DISSIPATION * (5.0 * q[k][j][1][m] - 4.0 * q[k][j][2][m] +
                                                 q[k][j][3][m]);
                out[k][j][2][m] -= DISSIPATION * (-4.0 * q[k][j][1][m] + 6.0 * q[k][j][2][m] -
                                                 4.0 * q[k][j][3][m] + q[k][j][4][m]);
            }
            for (int i = 3; i < NX - 3; i++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] -=
                        DISSIPATION * (q[k][j][i - 2][m] - 4.0 * q[k][j][i - 1][m] +
                                       6.0 * q[k][j][i][m] -
                                       4.0 * q[k][j][i + 1][m] + q[k][j][i + 2][m]);
                }
            }
            for (int m = 0; m < NCOMP; m++) {
                out[k][j][NX - 3][m] -=
                    DISSIPATION * (q[k][j][NX - 5][m] - 4.0 * q[k][j][NX - 4][m] +
                                   6.0 * q[k][j][NX - 3][m] - 4.0 * q[k][j][NX - 2][m]);
                out[k][j][NX - 2][m] -=
                    DISSIPATION * (q[k][j][NX - 4][m] - 4.0 * q[k][j][NX - 3][m] +
                                   5.0 * q[k][j][NX - 2][m]);
            }
        }
    }
    npb_region_stop(timer.fluxes_xi);
}

void add_fluxes_eta(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP])
{
    npb_region_start(timer.fluxes_eta);
#pragma omp parallel for schedule(static)
    for (int k = 1; k < NZ - 1; k++) {
        for (int i = 1; i < NX - 1; i++) {
            double flux[NY][NCOMP]; /* convective, at points */
            double face[NY][NCOMP]; /* viscous, between j - 1 and j; component 0 has none */
            double v[NY][3];        /* velocity */
            double square[NY];      /* of the velocity */
            double energy[NY];      /* total, per mass */

            for (int j = 0; j < NY; j++) {
                const double inverse = 1.0 / q[k][j][i][0];
                v[j][0] = q[k][j][i][1] * inverse;
                v[j][1] = q[k][j][i][2] * inverse;
                v[j][2] = q[k][j][i][3] * inverse;
                energy[j] = q[k][j][i][4] * inverse;
                square[j] = v[j][0] * v[j][0] + v[j][1] * v[j][1] + v[j][2] * v[j][2];
                const double pressure = C2 * (q[k][j][i][4] - 0.5 * square[j] * q[k][j][i][0]);
                flux[j][0] = q[k][j][i][2];
                flux[j][1] = q[k][j][i][1] * v[j][1];
                flux[j][2] = q[k][j][i][2] * v[j][1] + pressure;
                flux[j][3] = q[k][j][i][3] * v[j][1];
                flux[j][4] = (q[k][j][i][4] + pressure) * v[j][1];
            }
            for (int j = 1; j < NY; j++) {
                face[j][1] = TY3 * (v[j][0] - v[j - 1][0]);
                face[j][2] = (4.0 / 3.0) * TY3 * (v[j][1] - v[j - 1][1]);
                face[j][3] = TY3 * (v[j][2] - v[j - 1][2]);
                face[j][4] =
                    TY3 * (0.5 * (1.0 - C1 * C5) * (square[j] - square[j - 1]) +
                           (v[j][1] * v[j][1] - v[j - 1][1] * v[j - 1][1]) / 6.0 +
                           C1 * C5 * (energy[j] - energy[j - 1]));
            }
            for (int j = 1; j < NY - 1; j++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] +=
                        DY * TY1 * (q[k][j - 1][i][m] - 2.0 * q[k][j][i][m] + q[k][j + 1][i][m]) -
                        TY2 * (flux[j + 1][m] - flux[j - 1][m]);
                }
                for (int m = 1; m < NCOMP; m++)
                    out[k][j][i][m] += VISCOSITY * TY3 * (face[j + 1][m] - face[j][m]);
            }
            for (int m = 0; m < NCOMP; m++) {
                out[k][1][i][m] -= DISSIPATION * (5.0 * q[k][1][i][m] - 4.0 * q[k][2][i][m] +
                                                 q[k][3][i][m]);
                out[k][2][i][m] -= DISSIPATION * (-4.0 * q[k][1][i][m] + 6.0 * q[k][2][i][m] -
                                                 4.0 * q[k][3][i][m] + q[k][4][i][m]);
            }
            for (int j = 3; j < NY - 3; j++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] -=
                        DISSIPATION * (q[k][j - 2][i][m] - 4.0 * q[k][j - 1][i][m] +
                                       6.0 * q[k][j][i][m] -
                                       4.0 * q[k][j + 1][i][m] + q[k][j + 2][i][m]);
                }
            }
            for (int m = 0; m < NCOMP; m++) {
                out[k][NY - 3][i][m] -=
                    DISSIPATION * (q[k][NY - 5][i][m] - 4.0 * q[k][NY - 4][i][m] +
                                   6.0 * q[k][NY - 3][i][m] - 4.0 * q[k][NY - 2][i][m]);
                out[k][NY - 2][i][m] -=
                    DISSIPATION * (q[k][NY - 4][i][m] - 4.0 * q[k][NY - 3][i][m] +
                                   5.0 * q[k][NY - 2][i][m]);
            }
        }
    }
    npb_region_stop(timer.fluxes_eta);
}

void add_fluxes_zeta(double q[NZ][NY][NXP][NCOMP], double out[NZ][NY][NXP][NCOMP])
{
    npb_region_start(timer.fluxes_zeta);
#pragma omp parallel for schedule(static)
    for (int j = 1; j < NY - 1; j++) {
        for (int i = 1; i < NX - 1; i++) {
            double flux[NZ][NCOMP]; /* convective, at points */
            double face[NZ][NCOMP]; /* viscous, between k - 1 and k; component 0 has none */
            double v[NZ][3];        /* velocity */
            double square[NZ];      /* of the velocity */
            double energy[NZ];      /* total, per mass */

            for (int k = 0; k < NZ; k++) {
                const double inverse = 1.0 / q[k][j][i][0];
                v[k][0] = q[k][j][i][1] * inverse;
                v[k][1] = q[k][j][i][2] * inverse;
                v[k][2] = q[k][j][i][3] * inverse;
                energy[k] = q[k][j][i][4] * inverse;
                square[k] = v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2];
                const double pressure = C2 * (q[k][j][i][4] - 0.5 * square[k] * q[k][j][i][0]);
                flux[k][0] = q[k][j][i][3];
                flux[k][1] = q[k][j][i][1] * v[k][2];
                flux[k][2] = q[k][j][i][2] * v[k][2];
                flux[k][3] = q[k][j][i][3] * v[k][2] + pressure;
                flux[k][4] = (q[k][j][i][4] + pressure) * v[k][2];
            }
            for (int k = 1; k < NZ; k++) {
                face[k][1] = TZ3 * (v[k][0] - v[k - 1][0]);
                face[k][2] = TZ3 * (v[k][1] - v[k - 1][1]);
                face[k][3] = (4.0 / 3.0) * TZ3 * (v[k][2] - v[k - 1][2]);
                face[k][4] =
                    TZ3 * (0.5 * (1.0 - C1 * C5) * (square[k] - square[k - 1]) +
                           (v[k][2] * v[k][2] - v[k - 1][2] * v[k - 1][2]) / 6.0 +
                           C1 * C5 * (energy[k] - energy[k - 1]));
            }
            for (int k = 1; k < NZ - 1; k++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] +=
                        DZ * TZ1 * (q[k - 1][j][i][m] - 2.0 * q[k][j][i][m] + q[k + 1][j][i][m]) -
                        TZ2 * (flux[k + 1][m] - flux[k - 1][m]);
                }
                for (int m = 1; m < NCOMP; m++)
                    out[k][j][i][m] += VISCOSITY * TZ3 * (face[k + 1][m] - face[k][m]);
            }
            for (int m = 0; m < NCOMP; m++) {
                out[1][j][i][m] -= DISSIPATION * (5.0 * q[1][j][i][m] - 4.0 * q[2][j][i][m] +
                                                 q[3][j][i][m]);
                out[2][j][i][m] -= DISSIPATION * (-4.0 * q[1][j][i][m] + 6.0 * q[2][j][i][m] -
                                                 4.0 * q[3][j][i][m] + q[4][j][i][m]);
            }
            for (int k = 3; k < NZ - 3; k++) {
                for (int m = 0; m < NCOMP; m++) {
                    out[k][j][i][m] -=
                        DISSIPATION * (q[k - 2][j][i][m] - 4.0 * q[k - 1][j][i][m] +
                                       6.0 * q[k][j][i][m] -
                                       4.0 * q[k + 1][j][i][m] + q[k + 2][j][i][m]);
                }
            }
            for (int m = 0; m < NCOMP; m++) {
                out[NZ - 3][j][i][m] -=
                    DISSIPATION * (q[NZ - 5][j][i][m] - 4.0 * q[NZ - 4][j][i][m] +
                                   6.0 * q[NZ - 3][j][i][m] - 4.0 * q[NZ - 2][j][i][m]);
                out[NZ - 2][j][i][m] -=
                    DISSIPATION * (q[NZ - 4][j][i][m] - 4.0 * q[NZ - 3][j][i][m] +
                                   5.0 * q[NZ - 2][j][i][m]);
            }
        }
    }
    npb_region_stop(timer.fluxes_zeta);
}

void compute_residual(void)
{
    npb_region_start(timer.start);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NX; i++) {
                for (int m = 0; m < NCOMP; m++)
                    residual[k][j][i][m] = -forcing[k][j][i][m];
            }
        }
    }
    npb_region_stop(timer.start);
    add_fluxes_xi(u, residual);
    add_fluxes_eta(u, residual);
    add_fluxes_zeta(u, residual);
}
