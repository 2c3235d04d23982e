/* floyd-warshall: the lengths of the shortest paths between all pairs of n
 * nodes; step k allows node k on the way.
 *
 * Row k does not change in step k, but its owner would write it (with the
 * values it has) while others read it. Hence the step works with a copy. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int n, double path[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            path[i][j] = 1.0 + (7 * i + 11 * j + i * j % 19) % 101;
        path[i][i] = 0.0;
    }
}

static void kernel_floyd_warshall(int n, double path[n][n], double from[n])
{
    for (int k = 0; k < n; k++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < n; j++)
            from[j] = path[k][j];

#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double through = path[i][k] + from[j];
                path[i][j] = path[i][j] < through ? path[i][j] : through;
            }
        }
    }
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double (*path)[n] = sample_allocate((size_t)n * n, sizeof(double));
    double *from = sample_allocate(n, sizeof(double));
    init_array(n, path);

    double start = sample_seconds();
    kernel_floyd_warshall(n, path, from);
    double seconds = sample_seconds() - start;

    sample_live_out("path", &path[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(path);
    free(from);
    return 0;
}
