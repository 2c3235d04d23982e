/* adi: the heat equation on an n x n grid with zero edges, by the alternating
 * direction implicit method of Peaceman and Rachford. A time step solves a
 * tridiagonal system along every row (u into v) and then one along every column
 * (v into u), by Thomas's algorithm with the coefficients p and q.
 *
 * Within a line the elimination is a chain; the lines are independent. The
 * systems are diagonally dominant for every rate. */
#define WORKING_SET_ARRAYS 4
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TSTEPS
#define TSTEPS DATASET_FIXED(2, 10, 50, 50, 100)
#endif
#ifndef N
#define N DATASET_SIZE(32, 500, 1024, 2000, 4000)
#endif

static void init_array(int n, double u[n][n], double v[n][n], double p[n][n], double q[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            u[i][j] = 0.0;
            v[i][j] = 0.0;
            p[i][j] = 0.0;
            q[i][j] = 0.0;
        }
    }

    /* The edges stay zero. */
#pragma omp parallel for schedule(static)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            u[i][j] = 1.0 + ((i + 2 * j) % 13) / 13.0;
}

static void kernel_adi(int tsteps, int n, double rate, double u[n][n], double v[n][n],
                       double p[n][n], double q[n][n])
{
    for (int t = 0; t < tsteps; t++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++) {
                double pivot = 1.0 + 2.0 * rate - rate * p[i][j - 1];
                double right = rate * (u[i - 1][j] + u[i + 1][j]) + (1.0 - 2.0 * rate) * u[i][j];
                p[i][j] = rate / pivot;
                q[i][j] = (right + rate * q[i][j - 1]) / pivot;
            }
            for (int j = n - 2; j >= 1; j--)
                v[i][j] = p[i][j] * v[i][j + 1] + q[i][j];
        }

#pragma omp parallel for schedule(static)
        for (int j = 1; j < n - 1; j++) {
            for (int i = 1; i < n - 1; i++) {
                double pivot = 1.0 + 2.0 * rate - rate * p[i - 1][j];
                double right = rate * (v[i][j - 1] + v[i][j + 1]) + (1.0 - 2.0 * rate) * v[i][j];
                p[i][j] = rate / pivot;
                q[i][j] = (right + rate * q[i - 1][j]) / pivot;
            }
            for (int i = n - 2; i >= 1; i--)
                u[i][j] = p[i][j] * u[i + 1][j] + q[i][j];
        }
    }
}

int main(int argc, char **argv)
{
    int tsteps = TSTEPS;
    int n = N;
    double rate = 0.75;
    sample_options(argc, argv);

    double (*u)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double (*v)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double (*p)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double (*q)[n] = sample_allocate((size_t)n * n, sizeof(double));
    init_array(n, u, v, p, q);

    double start = sample_seconds();
    kernel_adi(tsteps, n, rate, u, v, p, q);
    double seconds = sample_seconds() - start;

    sample_live_out("u", &u[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(u);
    free(v);
    free(p);
    free(q);
    return 0;
}
