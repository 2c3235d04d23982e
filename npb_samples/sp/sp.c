/*
 * SP: the compressible Navier-Stokes equations on a cube, stepped in time with an approximately
 * factored implicit scheme whose factors are diagonalised into scalar pentadiagonal systems
 * (RNR-94-007, sec. 3). Exit status 0 if the result verifies, else 1.
 */
#include "fields.h"

#include "npb_common.h"

double u[5][PROBLEM_SIZE][PADDED][PADDED];
double rhs[5][PROBLEM_SIZE][PADDED][PADDED];
double forcing[5][PROBLEM_SIZE][PADDED][PADDED];

/* One parallel region of the program, in the order of its first run. */
struct region {
    const char *name;
    void (*work)(void);
    int timer;
};

static struct region set_up_regions[] = {
    {"initialise_inside", initialise_inside, 0},
    {"initialise_west_east", initialise_west_east, 0},
    {"initialise_south_north", initialise_south_north, 0},
    {"initialise_bottom_top", initialise_bottom_top, 0},
    {"forcing_clear", forcing_clear, 0},
    {"forcing_xi", forcing_xi, 0},
    {"forcing_eta", forcing_eta, 0},
    {"forcing_zeta", forcing_zeta, 0},
};

static struct region rhs_regions[] = {
    {"rhs_derive", rhs_derive, 0}, {"rhs_start", rhs_start, 0}, {"rhs_xi", rhs_xi, 0},
    {"damp_xi", damp_xi, 0},       {"rhs_eta", rhs_eta, 0},     {"damp_eta", damp_eta, 0},
    {"rhs_zeta", rhs_zeta, 0},     {"damp_zeta", damp_zeta, 0}, {"rhs_scale", rhs_scale, 0},
};

static struct region solve_regions[] = {
    {"txinvr", txinvr, 0}, {"x_solve", x_solve, 0}, {"ninvr", ninvr, 0},   {"y_solve", y_solve, 0},
    {"pinvr", pinvr, 0},   {"z_solve", z_solve, 0}, {"tzetar", tzetar, 0}, {"add", add, 0},
};

#define COUNT(regions) ((int)(sizeof(regions) / sizeof((regions)[0])))

void add(void)
{
#pragma omp parallel for collapse(3)
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    u[m][k][j][i] += rhs[m][k][j][i];
}

static void name_timers(struct region *regions, int count)
{
    for (int r = 0; r < count; r++)
        regions[r].timer = npb_region(regions[r].name);
}

static void run_all(const struct region *regions, int count)
{
    for (int r = 0; r < count; r++)
        npb_region_run(regions[r].timer, regions[r].work);
}

static void set_up(void) { run_all(set_up_regions, COUNT(set_up_regions)); }

static void step(void)
{
    run_all(rhs_regions, COUNT(rhs_regions));
    run_all(solve_regions, COUNT(solve_regions));
}

int main(void)
{
    name_timers(set_up_regions, COUNT(set_up_regions));
    name_timers(rhs_regions, COUNT(rhs_regions));
    name_timers(solve_regions, COUNT(solve_regions));
    prepare_damping();

    /* One step brings every page and the threads into being; then everything starts afresh. */
    set_up();
    step();
    npb_regions_clear();
    set_up();

    double start = npb_wtime();
    for (int s = 0; s < TIME_STEPS; s++)
        step();
    double seconds = npb_wtime() - start;

    /* The nominal operation count that NAS uses to state rates for SP, a cubic in the size. */
    const double n = PROBLEM_SIZE;
    double operations = 1.0e-6 * TIME_STEPS *
                        (881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4);

    /* The residual of the final state; not timed. */
    for (int r = 0; r < COUNT(rhs_regions); r++)
        rhs_regions[r].work();
    return npb_finish("SP", PROBLEM_SIZE, PROBLEM_SIZE, PROBLEM_SIZE, TIME_STEPS, seconds,
                      operations, verify());
}
