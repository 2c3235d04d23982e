/* short_region: a loop over a few elements, as a region of its own, again and
 * again.
 *
 * Shows the cost of opening and closing a region: the work of one turn is
 * smaller than that, so one thread is best. The control does the same work in
 * one long region. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

/* The size does not follow CACHE_BYTES: being small is the point. */
#ifndef N
#define N DATASET_FIXED(16, 64, 64, 256, 256)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(50, 1000, 100000, 100000, 1000000)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = i % 5 + 1;
    }
}

static void kernel_short_region(int repetitions, int n, double a[n], double b[n])
{
    for (int r = 0; r < repetitions; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            a[i] += b[i];
    }
}

static void control_one_region(int repetitions, int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r < repetitions; r++)
            a[i] += b[i];
}

int main(int argc, char **argv)
{
    int repetitions = REPETITIONS;
    int n = N;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    init_array(n, a, b);

    double start = sample_seconds();
    kernel_short_region(repetitions, n, a, b);
    double seconds = sample_seconds() - start;
    sample_live_out("a", a, n);

    start = sample_seconds();
    control_one_region(repetitions, n, a, b);
    double control = sample_seconds() - start;

    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && a[i] == i + 2.0 * repetitions * (i % 5 + 1);
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(a);
    free(b);
    return 0;
}
