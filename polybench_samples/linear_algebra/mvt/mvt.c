/* mvt: x1 := x1 + A y1 and x2 := x2 + A^T y2, with A of n x n.
 * The first region walks along the rows of A, the second down its columns. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int n, double A[n][n], double x1[n], double x2[n], double y1[n],
                       double y2[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        x1[i] = (double)i / n;
        x2[i] = (i + 1.0) / n;
        y1[i] = (i + 3.0) / n;
        y2[i] = (i + 4.0) / n;
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
    }
}

static void kernel_mvt(int n, double A[n][n], double x1[n], double x2[n], double y1[n],
                       double y2[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += A[i][j] * y1[j];

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += A[j][i] * y2[j];
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *x1 = sample_allocate(n, sizeof(double));
    double *x2 = sample_allocate(n, sizeof(double));
    double *y1 = sample_allocate(n, sizeof(double));
    double *y2 = sample_allocate(n, sizeof(double));
    init_array(n, A, x1, x2, y1, y2);

    double start = sample_seconds();
    kernel_mvt(n, A, x1, x2, y1, y2);
    double seconds = sample_seconds() - start;

    sample_live_out("x1", x1, n);
    sample_live_out("x2", x2, n);
    sample_finish(seconds);
    free(A);
    free(x1);
    free(x2);
    free(y1);
    free(y2);
    return 0;
}
