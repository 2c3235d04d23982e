/* atax: y := A^T (A x), with A of nx rows and ny columns.
 * The second region walks down the columns of A: each thread owns elements of
 * y, so no sum has to be shared between threads. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef NX
#define NX DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif
#ifndef NY
#define NY DATASET_SIZE(32, 500, 4000, 8000, 100000)
#endif

static void init_array(int nx, int ny, double A[nx][ny], double x[ny])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;

#pragma omp parallel for schedule(static)
    for (int j = 0; j < ny; j++)
        x[j] = 1.0 + (double)j / ny;
}

static void kernel_atax(int nx, int ny, double A[nx][ny], double x[ny], double y[ny],
                        double tmp[nx])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < nx; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < ny; j++)
            tmp[i] += A[i][j] * x[j];
    }

#pragma omp parallel for schedule(static)
    for (int j = 0; j < ny; j++) {
        y[j] = 0.0;
        for (int i = 0; i < nx; i++)
            y[j] += A[i][j] * tmp[i];
    }
}

int main(int argc, char **argv)
{
    int nx = NX;
    int ny = NY;
    sample_options(argc, argv);

    double (*A)[ny] = sample_allocate((size_t)nx * ny, sizeof(double));
    double *x = sample_allocate(ny, sizeof(double));
    double *y = sample_allocate(ny, sizeof(double));
    double *tmp = sample_allocate(nx, sizeof(double));
    init_array(nx, ny, A, x);

    double start = sample_seconds();
    kernel_atax(nx, ny, A, x, y, tmp);
    double seconds = sample_seconds() - start;

    sample_live_out("y", y, ny);
    sample_finish(seconds);
    free(A);
    free(x);
    free(y);
    free(tmp);
    return 0;
}
