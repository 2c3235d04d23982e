/* hardware_threads: each element goes through many steps, each of which waits for
 * the one before.
 *
 * Shows what a second hardware thread of a core is good for: a chain of dependent
 * operations leaves most of the core idle, and another thread's chain fills it.
 * The control takes the same steps for several elements at once, which fill the
 * core by themselves: there a second thread finds nothing to do. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

/* The size does not follow CACHE_BYTES: the data stay in the first caches. */
#ifndef N
#define N DATASET_FIXED(16, 64, 256, 512, 1024)
#endif
#ifndef STEPS
#define STEPS DATASET_FIXED(50, 1000, 10000, 40000, 100000)
#endif

static void init_array(int n, double a[n][8])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int l = 0; l < 8; l++)
            a[i][l] = (i + l) % 64;
}

static void kernel_hardware_threads(int steps, int n, double a[n][8])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int l = 0; l < 8; l++)
            for (int s = 0; s < steps; s++)
                a[i][l] = 0.5 * a[i][l] + 1.0;
}

static void control_independent(int steps, int n, double a[n][8])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int s = 0; s < steps; s++)
            for (int l = 0; l < 8; l++)
                a[i][l] = 0.5 * a[i][l] + 1.0;
}

int main(int argc, char **argv)
{
    int steps = STEPS;
    int n = N;
    sample_options(argc, argv);

    double(*a)[8] = sample_allocate(n * 8, sizeof(double));
    double(*same)[8] = sample_allocate(n * 8, sizeof(double));
    init_array(n, a);
    init_array(n, same);

    double start = sample_seconds();
    kernel_hardware_threads(steps, n, a);
    double seconds = sample_seconds() - start;

    start = sample_seconds();
    control_independent(steps, n, same);
    double control = sample_seconds() - start;

    sample_live_out("a", &a[0][0], n * 8);
    int held = 1;
    for (int i = 0; i < n; i++)
        for (int l = 0; l < 8; l++)
            held = held && a[i][l] == same[i][l];
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(a);
    free(same);
    return 0;
}
