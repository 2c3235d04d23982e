/* gemm: C := alpha A B + beta C, a general matrix product.
 * A is ni x nk, B is nk x nj, C is ni x nj. Rows of C are independent. */
#define WORKING_SET_ARRAYS 3
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef NI
#define NI DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif
#ifndef NJ
#define NJ DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif
#ifndef NK
#define NK DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int ni, int nj, int nk, double C[ni][nj], double A[ni][nk], double B[nk][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            C[i][j] = ((i + j) % 11) / 11.0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            A[i][k] = ((i + 2 * k) % 13) / 13.0;

#pragma omp parallel for schedule(static)
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = ((3 * k + j) % 17) / 17.0;
}

static void kernel_gemm(int ni, int nj, int nk, double alpha, double beta,
                        double C[ni][nj], double A[ni][nk], double B[nk][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < nk; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    int nk = NK;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*C)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    double (*A)[nk] = sample_allocate((size_t)ni * nk, sizeof(double));
    double (*B)[nj] = sample_allocate((size_t)nk * nj, sizeof(double));
    init_array(ni, nj, nk, C, A, B);

    double start = sample_seconds();
    kernel_gemm(ni, nj, nk, alpha, beta, C, A, B);
    double seconds = sample_seconds() - start;

    sample_live_out("C", &C[0][0], (size_t)ni * nj);
    sample_finish(seconds);
    free(C);
    free(A);
    free(B);
    return 0;
}
