/* ludcmp: solves A x = b by A = L U (L with ones on its diagonal, no pivots)
 * and forward and backward substitution.
 *
 * Step i makes row i of U and column i of L, each a set of independent inner
 * products. The substitutions go from one unknown to the next; what is parallel
 * in them is the one inner product of an unknown, a reduction. The diagonal
 * dominates. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int n, double A[n][n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        b[i] = 4.0 + (i + 1.0) / n / 2.0;
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
        A[i][i] += n;
    }
}

static void kernel_ludcmp(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    for (int i = 0; i < n; i++) {
#pragma omp parallel for schedule(static)
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];

#pragma omp parallel for schedule(static)
        for (int j = i + 1; j < n; j++) {
            for (int k = 0; k < i; k++)
                A[j][i] -= A[j][k] * A[k][i];
            A[j][i] /= A[i][i];
        }
    }

    for (int i = 0; i < n; i++) {
        double sum = 0.0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int j = 0; j < i; j++)
            sum += A[i][j] * y[j];
        y[i] = b[i] - sum;
    }

    for (int i = n - 1; i >= 0; i--) {
        double sum = 0.0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int j = i + 1; j < n; j++)
            sum += A[i][j] * x[j];
        x[i] = (y[i] - sum) / A[i][i];
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    double *y = sample_allocate(n, sizeof(double));
    init_array(n, A, b);

    double start = sample_seconds();
    kernel_ludcmp(n, A, b, x, y);
    double seconds = sample_seconds() - start;

    sample_live_out("x", x, n);
    sample_finish(seconds);
    free(A);
    free(b);
    free(x);
    free(y);
    return 0;
}
