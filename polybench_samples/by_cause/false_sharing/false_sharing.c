/* false_sharing: neighbouring elements of one vector are updated by different
 * threads, again and again.
 *
 * Shows cache lines going back and forth: no element is shared, yet eight of
 * them share a line. The control gives every thread one block. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

/* The size does not follow CACHE_BYTES: the vectors have to stay in cache. */
#ifndef N
#define N DATASET_FIXED(100, 4096, 16384, 16384, 16384)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(10, 100, 2000, 10000, 100000)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = i % 5 + 1;
    }
}

static void kernel_false_sharing(int repetitions, int n, double a[n], double b[n])
{
    for (int r = 0; r < repetitions; r++) {
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < n; i++)
            a[i] += b[i];
    }
}

static void control_blocks(int repetitions, int n, double a[n], double b[n])
{
    for (int r = 0; r < repetitions; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            a[i] += b[i];
    }
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
    kernel_false_sharing(repetitions, n, a, b);
    double seconds = sample_seconds() - start;
    sample_live_out("a", a, n);

    start = sample_seconds();
    control_blocks(repetitions, n, a, b);
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
