/* reg_detect: detection of regularity. Over the upper triangle of a grid of
 * maxgrid x maxgrid tangents, sums of length equal samples are formed, and then
 * added up along the diagonals; niter times.
 *
 * The grid is tiny (2 to 12 rows), so every region is short, and the triangle
 * makes it uneven. */
#define WORKING_SET_RANK 1
#define WORKING_SET_ARRAYS (2 * MAXGRID * MAXGRID)
#define WORKING_SET_ELEMENT 4
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef NITER
#define NITER DATASET_FIXED(10, 100, 10000, 1000, 10000)
#endif
#ifndef LENGTH
#define LENGTH DATASET_SIZE(32, 50, 64, 500, 500)
#endif
#ifndef MAXGRID
#define MAXGRID DATASET_FIXED(2, 6, 6, 12, 12)
#endif

static void init_array(int maxgrid, int sum_tang[maxgrid][maxgrid], int mean[maxgrid][maxgrid],
                       int path[maxgrid][maxgrid])
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < maxgrid; j++) {
        for (int i = 0; i < maxgrid; i++) {
            sum_tang[j][i] = (i + 1) * (j + 1);
            mean[j][i] = (i - j) / maxgrid;
            path[j][i] = i * (j - 1) / maxgrid;
        }
    }
}

static void kernel_reg_detect(int niter, int maxgrid, int length,
                              int sum_tang[maxgrid][maxgrid], int mean[maxgrid][maxgrid],
                              int path[maxgrid][maxgrid], int diff[maxgrid][maxgrid][length],
                              int sum_diff[maxgrid][maxgrid][length])
{
    for (int t = 0; t < niter; t++) {
#pragma omp parallel for schedule(static)
        for (int j = 0; j < maxgrid; j++)
            for (int i = j; i < maxgrid; i++)
                for (int s = 0; s < length; s++)
                    diff[j][i][s] = sum_tang[j][i];

#pragma omp parallel for schedule(static)
        for (int j = 0; j < maxgrid; j++) {
            for (int i = j; i < maxgrid; i++) {
                sum_diff[j][i][0] = diff[j][i][0];
                for (int s = 1; s < length; s++)
                    sum_diff[j][i][s] = sum_diff[j][i][s - 1] + diff[j][i][s];
                mean[j][i] = sum_diff[j][i][length - 1];
            }
        }

#pragma omp parallel for schedule(static)
        for (int i = 0; i < maxgrid; i++)
            path[0][i] = mean[0][i];

        for (int j = 1; j < maxgrid; j++) {
#pragma omp parallel for schedule(static)
            for (int i = j; i < maxgrid; i++)
                path[j][i] = path[j - 1][i - 1] + mean[j][i];
        }
    }
}

int main(int argc, char **argv)
{
    int niter = NITER;
    int length = LENGTH;
    int maxgrid = MAXGRID;
    sample_options(argc, argv);

    size_t cells = (size_t)maxgrid * maxgrid;
    int(*sum_tang)[maxgrid] = sample_allocate(cells, sizeof(int));
    int(*mean)[maxgrid] = sample_allocate(cells, sizeof(int));
    int(*path)[maxgrid] = sample_allocate(cells, sizeof(int));
    int(*diff)[maxgrid][length] = sample_allocate(cells * length, sizeof(int));
    int(*sum_diff)[maxgrid][length] = sample_allocate(cells * length, sizeof(int));
    init_array(maxgrid, sum_tang, mean, path);

    double start = sample_seconds();
    kernel_reg_detect(niter, maxgrid, length, sum_tang, mean, path, diff, sum_diff);
    double seconds = sample_seconds() - start;

    sample_live_out_int("path", &path[0][0], cells);
    sample_finish(seconds);
    free(sum_tang);
    free(mean);
    free(path);
    free(diff);
    free(sum_diff);
    return 0;
}
