/* cholesky: A = L L^T of a symmetric positive definite matrix, column by
 * column; L takes the place of the lower triangle, the upper one stays.
 *
 * The pivot of a column hangs on all columns before it, so the columns come one
 * after the other; the elements below the pivot are independent. The matrix is
 * diagonally dominant, hence well conditioned. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"
#include <math.h>

#ifndef N
#define N DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int n, double A[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + j) % 11) / 11.0;
        A[i][i] += n;
    }
}

static void kernel_cholesky(int n, double A[n][n])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            A[j][j] -= A[j][k] * A[j][k];
        A[j][j] = sqrt(A[j][j]);

#pragma omp parallel for schedule(static)
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    init_array(n, A);

    double start = sample_seconds();
    kernel_cholesky(n, A);
    double seconds = sample_seconds() - start;

    sample_live_out("A", &A[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(A);
    return 0;
}
