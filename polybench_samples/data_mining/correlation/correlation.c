/* correlation: the matrix of Pearson's coefficients between the m columns
 * (variables) of a table with n rows (observations). The table is brought to
 * mean 0 and norm 1 by column; the products of its columns are the result.
 *
 * The last region works on a triangle: the first rows of corr cost most. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"
#include <math.h>

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

static void kernel_correlation(int n, int m, double data[n][m], double corr[m][m],
                               double mean[m], double stddev[m])
{
    double smallest = 0.1;
    double root = sqrt(n);

#pragma omp parallel for schedule(static)
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }

#pragma omp parallel for schedule(static)
    for (int j = 0; j < m; j++) {
        stddev[j] = 0.0;
        for (int i = 0; i < n; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] = sqrt(stddev[j] / n);
        /* A column that hardly varies would be divided by almost nothing. */
        stddev[j] = stddev[j] <= smallest ? 1.0 : stddev[j];
    }

#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = (data[i][j] - mean[j]) / (root * stddev[j]);

#pragma omp parallel for schedule(static)
    for (int j = 0; j < m; j++) {
        corr[j][j] = 1.0;
        for (int k = j + 1; k < m; k++) {
            corr[j][k] = 0.0;
            for (int i = 0; i < n; i++)
                corr[j][k] += data[i][j] * data[i][k];
            corr[k][j] = corr[j][k];
        }
    }
}

int main(int argc, char **argv)
{
    int n = N;
    int m = M;
    sample_options(argc, argv);

    double (*data)[m] = sample_allocate((size_t)n * m, sizeof(double));
    double (*corr)[m] = sample_allocate((size_t)m * m, sizeof(double));
    double *mean = sample_allocate(m, sizeof(double));
    double *stddev = sample_allocate(m, sizeof(double));
    init_array(n, m, data);

    double start = sample_seconds();
    kernel_correlation(n, m, data, corr, mean, stddev);
    double seconds = sample_seconds() - start;

    sample_live_out("corr", &corr[0][0], (size_t)m * m);
    sample_finish(seconds);
    free(data);
    free(corr);
    free(mean);
    free(stddev);
    return 0;
}
