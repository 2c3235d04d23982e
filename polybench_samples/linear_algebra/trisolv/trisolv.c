/* trisolv: solves A x = c with A lower triangular, by forward substitution.
 *
 * In the order by columns: once x[j] is known, it is taken out of all later
 * equations at once, and those are independent. The steps over j cannot be:
 * each needs the one before. The diagonal dominates. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int n, double A[n][n], double c[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        c[i] = 1.0 + (double)i / n;
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
        A[i][i] += n;
    }
}

static void kernel_trisolv(int n, double A[n][n], double x[n], double c[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        x[i] = c[i];

    for (int j = 0; j < n; j++) {
        x[j] /= A[j][j];

#pragma omp parallel for schedule(static)
        for (int i = j + 1; i < n; i++)
            x[i] -= A[i][j] * x[j];
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    double *c = sample_allocate(n, sizeof(double));
    init_array(n, A, c);

    double start = sample_seconds();
    kernel_trisolv(n, A, x, c);
    double seconds = sample_seconds() - start;

    sample_live_out("x", x, n);
    sample_finish(seconds);
    free(A);
    free(x);
    free(c);
    return 0;
}
