/* stream_triad: a := b + s c over long vectors.
 *
 * Shows memory bandwidth: two operations for 24 bytes (32 with the line that a
 * write brings in first). Threads help until the memory of a package gives no
 * more; from then on only another package does. */
#define WORKING_SET_ARRAYS 3
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(1000, 100000, 10000000, 40000000, 160000000)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(3, 10, 10, 10, 10)
#endif

static void init_array(int n, double a[n], double b[n], double c[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = 0.0;
        b[i] = i % 1024;
        c[i] = i % 256;
    }
}

static void kernel_stream_triad(int repetitions, int n, double s, double a[n], double b[n],
                                double c[n])
{
    for (int r = 0; r < repetitions; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
    }
}

int main(int argc, char **argv)
{
    int repetitions = REPETITIONS;
    int n = N;
    double s = 3.0;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    double *c = sample_allocate(n, sizeof(double));
    init_array(n, a, b, c);

    double start = sample_seconds();
    kernel_stream_triad(repetitions, n, s, a, b, c);
    double seconds = sample_seconds() - start;

    sample_live_out("a", a, n);
    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && a[i] == i % 1024 + 3.0 * (i % 256);
    sample_check(held);
    sample_finish(seconds);
    free(a);
    free(b);
    free(c);
    return 0;
}
