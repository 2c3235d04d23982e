/* covariance: the covariance matrix of the m columns (variables) of a table
 * with n rows (observations), with n - 1 degrees of freedom.
 *
 * The last region works on a triangle: the first rows of cov cost most. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(32, 500, 1000, 2000, 4000)
#endif
#ifndef M
#define M DATASET_SIZE(32, 500, 1000, 2000, 4000)
#endif

static void init_array(int n, int m, double data[n][m])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = ((3 * i + 7 * j + i * j % 5) % 23) / 23.0;
}

static void kernel_covariance(int n, int m, double data[n][m], double cov[m][m],
                              double mean[m])
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] -= mean[j];

#pragma omp parallel for schedule(static)
    for (int j = 0; j < m; j++) {
        for (int k = j; k < m; k++) {
            cov[j][k] = 0.0;
            for (int i = 0; i < n; i++)
                cov[j][k] += data[i][j] * data[i][k];
            cov[j][k] /= n - 1.0;
            cov[k][j] = cov[j][k];
        }
    }
}

int main(int argc, char **argv)
{
    int n = N;
    int m = M;
    sample_options(argc, argv);

    double (*data)[m] = sample_allocate((size_t)n * m, sizeof(double));
    double (*cov)[m] = sample_allocate((size_t)m * m, sizeof(double));
    double *mean = sample_allocate(m, sizeof(double));
    init_array(n, m, data);

    double start = sample_seconds();
    kernel_covariance(n, m, data, cov, mean);
    double seconds = sample_seconds() - start;

    sample_live_out("cov", &cov[0][0], (size_t)m * m);
    sample_finish(seconds);
    free(data);
    free(cov);
    free(mean);
    return 0;
}
