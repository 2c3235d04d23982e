/* gesummv: y := alpha A x + beta B x, with A and B of n x n. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int n, double A[n][n], double B[n][n], double x[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 + (double)i / n;
        for (int j = 0; j < n; j++) {
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
            B[i][j] = ((3 * i + j) % 17) / 17.0;
        }
    }
}

static void kernel_gesummv(int n, double alpha, double beta, double A[n][n], double B[n][n],
                           double tmp[n], double x[n], double y[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (int j = 0; j < n; j++) {
            tmp[i] += A[i][j] * x[j];
            y[i] += B[i][j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

int main(int argc, char **argv)
{
    int n = N;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double (*B)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *tmp = sample_allocate(n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    double *y = sample_allocate(n, sizeof(double));
    init_array(n, A, B, x);

    double start = sample_seconds();
    kernel_gesummv(n, alpha, beta, A, B, tmp, x, y);
    double seconds = sample_seconds() - start;

    sample_live_out("y", y, n);
    sample_finish(seconds);
    free(A);
    free(B);
    free(tmp);
    free(x);
    free(y);
    return 0;
}
