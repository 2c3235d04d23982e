/* trmm: B := alpha A^T B in place, with A unit lower triangular (ni x ni, its
 * diagonal taken as ones and not read) and B of ni x nj.
 *
 * Within a column of B the rows come in ascending order, because row i needs
 * the later rows as they were; the columns are independent, so they are shared
 * out, and every thread walks down its columns. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef NI
#define NI DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif
#ifndef NJ
#define NJ DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int ni, int nj, double A[ni][ni], double B[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < ni; k++)
            A[i][k] = ((i + 2 * k) % 13) / 13.0;

#pragma omp parallel for schedule(static)
    for (int j = 0; j < nj; j++)
        for (int i = 0; i < ni; i++)
            B[i][j] = ((3 * i + j) % 17) / 17.0;
}

static void kernel_trmm(int ni, int nj, double alpha, double A[ni][ni], double B[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < nj; j++) {
        for (int i = 0; i < ni; i++) {
            for (int k = i + 1; k < ni; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] *= alpha;
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    double alpha = 1.5;
    sample_options(argc, argv);

    double (*A)[ni] = sample_allocate((size_t)ni * ni, sizeof(double));
    double (*B)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    init_array(ni, nj, A, B);

    double start = sample_seconds();
    kernel_trmm(ni, nj, alpha, A, B);
    double seconds = sample_seconds() - start;

    sample_live_out("B", &B[0][0], (size_t)ni * nj);
    sample_finish(seconds);
    free(A);
    free(B);
    return 0;
}
