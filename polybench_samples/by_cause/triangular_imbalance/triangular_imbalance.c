/* triangular_imbalance: y := L x with L lower triangular, rows shared out in
 * equal blocks.
 *
 * Shows load imbalance: row i costs i + 1 products, so of t threads the last has
 * 2 t - 1 times the work of the first, and the region runs at about half of the
 * speed that it could. The control deals the rows out one at a time. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 20000)
#endif

static void init_array(int n, double L[n][n], double x[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        x[i] = i % 9 + 1;
        for (int j = 0; j <= i; j++)
            L[i][j] = (i + 2 * j) % 13;
    }
}

static void kernel_triangular_imbalance(int n, double L[n][n], double x[n], double y[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j <= i; j++)
            sum += L[i][j] * x[j];
        y[i] = sum;
    }
}

static void control_interleaved(int n, double L[n][n], double x[n], double y[n])
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j <= i; j++)
            sum += L[i][j] * x[j];
        y[i] = sum;
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*L)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    double *y = sample_allocate(n, sizeof(double));
    double *other = sample_allocate(n, sizeof(double));
    init_array(n, L, x);

    double start = sample_seconds();
    kernel_triangular_imbalance(n, L, x, y);
    double seconds = sample_seconds() - start;

    start = sample_seconds();
    control_interleaved(n, L, x, other);
    double control = sample_seconds() - start;

    /* Every number is a small integer, so the sums are exact. */
    sample_live_out("y", y, n);
    int held = 1;
    for (int i = 0; i < n; i++) {
        long long exact = 0;
        for (int j = 0; j <= i; j++)
            exact += (i + 2 * j) % 13 * (j % 9 + 1);
        held = held && y[i] == (double)exact && other[i] == y[i];
    }
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(L);
    free(x);
    free(y);
    free(other);
    return 0;
}
