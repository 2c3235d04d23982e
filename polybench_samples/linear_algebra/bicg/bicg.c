/* bicg: q := A p and s := A^T r, the two products in a step of the biconjugate
 * gradient method; A has nx rows and ny columns. */
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

static void init_array(int nx, int ny, double A[nx][ny], double p[ny], double r[nx])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < nx; i++) {
        r[i] = 1.0 + (double)i / nx;
        for (int j = 0; j < ny; j++)
            A[i][j] = ((2 * i + 3 * j) % 17) / 17.0;
    }

#pragma omp parallel for schedule(static)
    for (int j = 0; j < ny; j++)
        p[j] = 2.0 - (double)j / ny;
}

static void kernel_bicg(int nx, int ny, double A[nx][ny], double s[ny], double q[nx],
                        double p[ny], double r[nx])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < nx; i++) {
        q[i] = 0.0;
        for (int j = 0; j < ny; j++)
            q[i] += A[i][j] * p[j];
    }

#pragma omp parallel for schedule(static)
    for (int j = 0; j < ny; j++) {
        s[j] = 0.0;
        for (int i = 0; i < nx; i++)
            s[j] += A[i][j] * r[i];
    }
}

int main(int argc, char **argv)
{
    int nx = NX;
    int ny = NY;
    sample_options(argc, argv);

    double (*A)[ny] = sample_allocate((size_t)nx * ny, sizeof(double));
    double *s = sample_allocate(ny, sizeof(double));
    double *q = sample_allocate(nx, sizeof(double));
    double *p = sample_allocate(ny, sizeof(double));
    double *r = sample_allocate(nx, sizeof(double));
    init_array(nx, ny, A, p, r);

    double start = sample_seconds();
    kernel_bicg(nx, ny, A, s, q, p, r);
    double seconds = sample_seconds() - start;

    sample_live_out("s", s, ny);
    sample_live_out("q", q, nx);
    sample_finish(seconds);
    free(A);
    free(s);
    free(q);
    free(p);
    free(r);
    return 0;
}
