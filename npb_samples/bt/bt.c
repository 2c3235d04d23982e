/*
 * BT: the compressible Navier-Stokes equations on a cube, stepped in time with an approximately
 * factored implicit scheme whose factors are block-tridiagonal (RNR-94-007, sec. 3).
 * Exit status 0 if the result verifies, else 1.
 */
#include "fields.h"

#include "npb_common.h"

double u[PROBLEM_SIZE][PADDED][PADDED][5];
double rhs[PROBLEM_SIZE][PADDED][PADDED][5];
double forcing[PROBLEM_SIZE][PADDED][PADDED][5];

static int initialise_timer, forcing_timer, rhs_timer, x_timer, y_timer, z_timer, add_timer;

void add(void)
{
#pragma omp parallel for collapse(2)
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++)
                    u[k][j][i][m] += rhs[k][j][i][m];
}

static void set_up(void)
{
    npb_region_run(initialise_timer, initialise);
    npb_region_run(forcing_timer, exact_rhs);
}

static void step(void)
{
    npb_region_run(rhs_timer, compute_rhs);
    npb_region_run(x_timer, x_solve);
    npb_region_run(y_timer, y_solve);
    npb_region_run(z_timer, z_solve);
    npb_region_run(add_timer, add);
}

int main(void)
{
    initialise_timer = npb_region("initialise");
    forcing_timer = npb_region("exact_rhs");
    rhs_timer = npb_region("compute_rhs");
    x_timer = npb_region("x_solve");
    y_timer = npb_region("y_solve");
    z_timer = npb_region("z_solve");
    add_timer = npb_region("add");

    /* One step brings every page and the threads into being; then everything starts afresh. */
    set_up();
    step();
    npb_regions_clear();
    set_up();

    double start = npb_wtime();
    for (int s = 0; s < TIME_STEPS; s++)
        step();
    double seconds = npb_wtime() - start;

    /* The nominal operation count that NAS uses to state rates for BT, a cubic in the size. */
    const double n = PROBLEM_SIZE;
    double operations =
        1.0e-6 * TIME_STEPS * (3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n);
    return npb_finish("BT", PROBLEM_SIZE, PROBLEM_SIZE, PROBLEM_SIZE, TIME_STEPS, seconds,
                      operations, verify());
}
