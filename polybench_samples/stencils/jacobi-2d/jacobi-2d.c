/* jacobi-2d: relaxation with the mean of a point and its four neighbours, from
 * A into B and back, on the inner points of an n x n grid. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TSTEPS
#define TSTEPS DATASET_FIXED(2, 10, 20, 20, 100)
#endif
#ifndef N
#define N DATASET_SIZE(32, 250, 1000, 2000, 4000)
#endif

static void init_array(int n, double A[n][n], double B[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
            B[i][j] = 0.0;
        }
    }
}

static void kernel_jacobi_2d(int tsteps, int n, double A[n][n], double B[n][n])
{
    for (int t = 0; t < tsteps; t++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);

#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = B[i][j];
    }
}

int main(int argc, char **argv)
{
    int tsteps = TSTEPS;
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double (*B)[n] = sample_allocate((size_t)n * n, sizeof(double));
    init_array(n, A, B);

    double start = sample_seconds();
    kernel_jacobi_2d(tsteps, n, A, B);
    double seconds = sample_seconds() - start;

    sample_live_out("A", &A[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(A);
    free(B);
    return 0;
}
