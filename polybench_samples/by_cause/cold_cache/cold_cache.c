/* cold_cache: a short vector update, with a sweep over a long vector before each.
 *
 * Shows a cold cache: the short vectors would fit the second cache, but the
 * sweep drives them out, so each update fetches them from memory again. The
 * control does the same updates one after the other. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

/* The short vectors do not follow CACHE_BYTES: fitting a cache is the point. */
#ifndef N
#define N DATASET_FIXED(100, 16000, 16000, 16000, 16000)
#endif
#ifndef M
#define M DATASET_SIZE(1000, 100000, 10000000, 40000000, 160000000)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(3, 10, 10, 10, 10)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i % 1024;
        b[i] = i % 256;
    }
}

static void init_long(int m, double swept[m])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < m; i++)
        swept[i] = i % 2;
}

static void sweep(int m, double swept[m])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < m; i++)
        swept[i] += 1.0;
}

static void kernel_cold_cache(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        a[i] += b[i];
}

int main(int argc, char **argv)
{
    int repetitions = REPETITIONS;
    int n = N;
    int m = M;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    double *swept = sample_allocate(m, sizeof(double));
    init_array(n, a, b);
    init_long(m, swept);

    double seconds = 0.0;
    for (int r = 0; r < repetitions; r++) {
        sweep(m, swept);
        double start = sample_seconds();
        kernel_cold_cache(n, a, b);
        seconds += sample_seconds() - start;
    }
    kernel_cold_cache(n, a, b);
    double start = sample_seconds();
    for (int r = 0; r < repetitions; r++)
        kernel_cold_cache(n, a, b);
    double control = sample_seconds() - start;

    sample_live_out("a", a, n);
    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && a[i] == i % 1024 + (2.0 * repetitions + 1.0) * (i % 256);
    for (int i = 0; i < m; i++)
        held = held && swept[i] == i % 2 + (double)repetitions;
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(a);
    free(b);
    free(swept);
    return 0;
}
