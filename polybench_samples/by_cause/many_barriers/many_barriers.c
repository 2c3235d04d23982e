/* many_barriers: one parallel region with two short worksharing loops, taken in
 * turn many times; each turns the vector round and adds one.
 *
 * Shows the cost of barriers alone, since no region is opened in between: every
 * loop reads what other threads wrote in the loop before. Without the barriers
 * the result would be wrong. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

/* The size does not follow CACHE_BYTES: being small is the point. */
#ifndef N
#define N DATASET_FIXED(64, 256, 1024, 1024, 1024)
#endif
#ifndef PHASES
#define PHASES DATASET_FIXED(25, 1000, 100000, 100000, 1000000)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 0.0;
    }
}

static void kernel_many_barriers(int phases, int n, double a[n], double b[n])
{
#pragma omp parallel
    {
        for (int phase = 0; phase < phases; phase++) {
#pragma omp for schedule(static)
            for (int i = 0; i < n; i++)
                b[i] = a[n - 1 - i] + 1.0;

#pragma omp for schedule(static)
            for (int i = 0; i < n; i++)
                a[i] = b[n - 1 - i] + 1.0;
        }
    }
}

int main(int argc, char **argv)
{
    int phases = PHASES;
    int n = N;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    init_array(n, a, b);

    double start = sample_seconds();
    kernel_many_barriers(phases, n, a, b);
    double seconds = sample_seconds() - start;

    sample_live_out("a", a, n);
    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && a[i] == i + 2.0 * phases;
    sample_check(held);
    sample_finish(seconds);
    free(a);
    free(b);
    return 0;
}
