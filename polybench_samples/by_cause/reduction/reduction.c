/* reduction: the inner product of two long vectors.
 *
 * Shows a reduction: every thread sums on its own, and the partial sums are
 * joined at the end of the region. Like stream_triad, it lives on bandwidth, but
 * it writes nothing. The summands are small integers, so the sum is exact in
 * every order. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(1000, 100000, 10000000, 40000000, 160000000)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
}

static double kernel_reduction(int n, double a[n], double b[n])
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    init_array(n, a, b);

    double start = sample_seconds();
    double sum = kernel_reduction(n, a, b);
    double seconds = sample_seconds() - start;

    sample_live_out("sum", &sum, 1);
    long long exact = 0;
    for (int i = 0; i < n; i++)
        exact += i % 7 * (i % 5);
    sample_check(sum == (double)exact);
    sample_finish(seconds);
    free(a);
    free(b);
    return 0;
}
