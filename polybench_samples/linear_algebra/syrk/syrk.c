/* syrk: C := alpha A A^T + beta C, a symmetric rank-k update.
 * A is ni x nj; all of the symmetric C (ni x ni) is computed. */
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

static void init_array(int ni, int nj, double C[ni][ni], double A[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < ni; j++)
            C[i][j] = ((i + j) % 11) / 11.0;
        for (int k = 0; k < nj; k++)
            A[i][k] = ((i + 2 * k) % 13) / 13.0;
    }
}

static void kernel_syrk(int ni, int nj, double alpha, double beta, double C[ni][ni],
                        double A[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < ni; j++)
            C[i][j] *= beta;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < ni; j++)
            for (int k = 0; k < nj; k++)
                C[i][j] += alpha * A[i][k] * A[j][k];
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*C)[ni] = sample_allocate((size_t)ni * ni, sizeof(double));
    double (*A)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    init_array(ni, nj, C, A);

    double start = sample_seconds();
    kernel_syrk(ni, nj, alpha, beta, C, A);
    double seconds = sample_seconds() - start;

    sample_live_out("C", &C[0][0], (size_t)ni * ni);
    sample_finish(seconds);
    free(C);
    free(A);
    return 0;
}
