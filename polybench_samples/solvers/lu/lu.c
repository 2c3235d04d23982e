/* lu: A := L U in place without pivoting, L lower triangular and U upper
 * triangular with ones on its diagonal (Crout's form).
 *
 * The matrix is diagonally dominant, so no pivots are needed. Step k works on
 * what is right of and below the pivot: the regions shrink as k grows. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int n, double A[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
        A[i][i] += n;
    }
}

static void kernel_lu(int n, double A[n][n])
{
    for (int k = 0; k < n; k++) {
#pragma omp parallel for schedule(static)
        for (int j = k + 1; j < n; j++)
            A[k][j] /= A[k][k];

#pragma omp parallel for schedule(static)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    init_array(n, A);

    double start = sample_seconds();
    kernel_lu(n, A);
    double seconds = sample_seconds() - start;

    sample_live_out("A", &A[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(A);
    return 0;
}
