/* gemver: a rank-2 update and two products with the updated matrix:
 *     A := A + u1 v1^T + u2 v2^T
 *     x := x + beta A^T y + z
 *     w := w + alpha A x */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int n, double A[n][n], double u1[n], double v1[n], double u2[n],
                       double v2[n], double w[n], double x[n], double y[n], double z[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        u1[i] = (double)i / n;
        u2[i] = (i + 1.0) / n / 2.0;
        v1[i] = (i + 1.0) / n / 4.0;
        v2[i] = (i + 1.0) / n / 6.0;
        y[i] = (i + 1.0) / n / 8.0;
        z[i] = (i + 1.0) / n / 9.0;
        x[i] = 0.0;
        w[i] = 0.0;
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
    }
}

static void kernel_gemver(int n, double alpha, double beta, double A[n][n], double u1[n],
                          double v1[n], double u2[n], double v2[n], double w[n], double x[n],
                          double y[n], double z[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += beta * A[j][i] * y[j];

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        x[i] += z[i];

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += alpha * A[i][j] * x[j];
}

int main(int argc, char **argv)
{
    int n = N;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *u1 = sample_allocate(n, sizeof(double));
    double *v1 = sample_allocate(n, sizeof(double));
    double *u2 = sample_allocate(n, sizeof(double));
    double *v2 = sample_allocate(n, sizeof(double));
    double *w = sample_allocate(n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    double *y = sample_allocate(n, sizeof(double));
    double *z = sample_allocate(n, sizeof(double));
    init_array(n, A, u1, v1, u2, v2, w, x, y, z);

    double start = sample_seconds();
    kernel_gemver(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z);
    double seconds = sample_seconds() - start;

    sample_live_out("x", x, n);
    sample_live_out("w", w, n);
    sample_finish(seconds);
    free(A);
    free(u1);
    free(v1);
    free(u2);
    free(v2);
    free(w);
    free(x);
    free(y);
    free(z);
    return 0;
}
