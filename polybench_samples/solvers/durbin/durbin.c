/* durbin: the Yule-Walker equations T y = -r with T a symmetric Toeplitz matrix
 * whose first row is (1, r[0], r[1], ...), by the recursion of Levinson and
 * Durbin. Row k of the table y is the solution of order k + 1.
 *
 * The orders come one after the other; within one, the sum and the new row are
 * parallel. r falls off so fast that T is diagonally dominant. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int n, double r[n], double y[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        r[i] = 0.25 / ((i + 1.0) * (i + 1.0));

    /* By columns, as the rows of the table are shared out below. */
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            y[k][i] = 0.0;
}

static void kernel_durbin(int n, double r[n], double y[n][n], double out[n])
{
    double alpha = -r[0];
    double beta = 1.0;
    y[0][0] = alpha;

    for (int k = 1; k < n; k++) {
        double sum = r[k];
        beta *= 1.0 - alpha * alpha;

#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int i = 0; i < k; i++)
            sum += r[k - 1 - i] * y[k - 1][i];
        alpha = -sum / beta;

#pragma omp parallel for schedule(static)
        for (int i = 0; i < k; i++)
            y[k][i] = y[k - 1][i] + alpha * y[k - 1][k - 1 - i];
        y[k][k] = alpha;
    }

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        out[i] = y[n - 1][i];
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double *r = sample_allocate(n, sizeof(double));
    double (*y)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *out = sample_allocate(n, sizeof(double));
    init_array(n, r, y);

    double start = sample_seconds();
    kernel_durbin(n, r, y, out);
    double seconds = sample_seconds() - start;

    sample_live_out("out", out, n);
    sample_finish(seconds);
    free(r);
    free(y);
    free(out);
    return 0;
}
