/* The pseudo-time loop of LU and its main program; see lu.h. */
#include "lu.h"

double u[NZ][NY][NXP][NCOMP];
double residual[NZ][NY][NXP][NCOMP];
double forcing[NZ][NY][NXP][NCOMP];

static struct {
    int scale, update;
} timer;

static void register_timers(void)
{
    register_setup_timers();
    register_rhs_timers();
    timer.scale = npb_region("scale_residual");
    register_sweep_timers();
    timer.update = npb_region("update_solution");
    register_check_timers();
}

static void scale_residual(void)
{
    npb_region_start(timer.scale);
#pragma omp parallel for schedule(static)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            for (int i = 1; i < NX - 1; i++) {
                for (int m = 0; m < NCOMP; m++)
                    residual[k][j][i][m] *= STEP_SIZE;
            }
        }
    }
    npb_region_stop(timer.scale);
}

static void update_solution(void)
{
    const double relaxation = 1.0 / (OMEGA * (2.0 - OMEGA));

    npb_region_start(timer.update);
#pragma omp parallel for schedule(static)
    for (int k = 1; k < NZ - 1; k++) {
        for (int j = 1; j < NY - 1; j++) {
            for (int i = 1; i < NX - 1; i++) {
                for (int m = 0; m < NCOMP; m++)
                    u[k][j][i][m] += relaxation * residual[k][j][i][m];
            }
        }
    }
    npb_region_stop(timer.update);
}

int main(void)
{
    double residual_rms[NCOMP];
    double error_rms[NCOMP];

    register_timers();
    set_boundary_values();
    set_initial_values();
    compute_forcing();
    compute_residual();

    const double started = npb_wtime();
    for (int step = 0; step < STEPS; step++) {
        scale_residual();
        lower_sweep();
        upper_sweep();
        update_solution();
        compute_residual();
    }
    const double seconds = npb_wtime() - started;

    residual_norm(residual_rms);
    error_norm(error_rms);
    const int verified = verify(residual_rms, error_rms, surface_integral());
    return npb_finish("LU", NX, NY, NZ, STEPS, seconds, 0.0, verified);
}
