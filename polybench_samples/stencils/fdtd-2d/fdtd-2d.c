/* fdtd-2d: Maxwell's equations in two dimensions by finite differences in the
 * time domain (Yee's scheme): the electric field (ex, ey) and the magnetic
 * field hz take turns, and a source drives the edge ey[0][.]. */
#define WORKING_SET_ARRAYS 3
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TMAX
#define TMAX DATASET_FIXED(2, 10, 50, 50, 100)
#endif
#ifndef NX
#define NX DATASET_SIZE(32, 500, 1000, 2000, 4000)
#endif
#ifndef NY
#define NY DATASET_SIZE(32, 500, 1000, 2000, 4000)
#endif

static void init_array(int tmax, int nx, int ny, double ex[nx][ny], double ey[nx][ny],
                       double hz[nx][ny], double source[tmax])
{
#pragma omp parallel for schedule(static)
    for (int t = 0; t < tmax; t++)
        source[t] = t + 1.0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < nx; i++) {
        for (int j = 0; j < ny; j++) {
            ex[i][j] = ((i + 2 * j) % 13) / 13.0;
            ey[i][j] = ((3 * i + j) % 17) / 17.0;
            hz[i][j] = ((i + j) % 11) / 11.0;
        }
    }
}

static void kernel_fdtd_2d(int tmax, int nx, int ny, double ex[nx][ny], double ey[nx][ny],
                           double hz[nx][ny], double source[tmax])
{
    for (int t = 0; t < tmax; t++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < ny; j++)
            ey[0][j] = source[t];

#pragma omp parallel for schedule(static)
        for (int i = 1; i < nx; i++)
            for (int j = 0; j < ny; j++)
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);

#pragma omp parallel for schedule(static)
        for (int i = 0; i < nx; i++)
            for (int j = 1; j < ny; j++)
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);

#pragma omp parallel for schedule(static)
        for (int i = 0; i < nx - 1; i++)
            for (int j = 0; j < ny - 1; j++)
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

int main(int argc, char **argv)
{
    int tmax = TMAX;
    int nx = NX;
    int ny = NY;
    sample_options(argc, argv);

    double (*ex)[ny] = sample_allocate((size_t)nx * ny, sizeof(double));
    double (*ey)[ny] = sample_allocate((size_t)nx * ny, sizeof(double));
    double (*hz)[ny] = sample_allocate((size_t)nx * ny, sizeof(double));
    double *source = sample_allocate(tmax, sizeof(double));
    init_array(tmax, nx, ny, ex, ey, hz, source);

    double start = sample_seconds();
    kernel_fdtd_2d(tmax, nx, ny, ex, ey, hz, source);
    double seconds = sample_seconds() - start;

    sample_live_out("ex", &ex[0][0], (size_t)nx * ny);
    sample_live_out("ey", &ey[0][0], (size_t)nx * ny);
    sample_live_out("hz", &hz[0][0], (size_t)nx * ny);
    sample_finish(seconds);
    free(ex);
    free(ey);
    free(hz);
    free(source);
    return 0;
}
