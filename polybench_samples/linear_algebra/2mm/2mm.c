/* 2mm: D := (alpha A B) C + beta D, two matrix products in a row.
 * A is ni x nk, B is nk x nj, C is nj x nl, D is ni x nl; tmp = alpha A B. */
#define WORKING_SET_ARRAYS 5
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
#ifndef NL
#define NL DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int ni, int nj, int nk, int nl, double A[ni][nk], double B[nk][nj],
                       double C[nj][nl], double D[ni][nl])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            A[i][k] = ((i + 2 * k) % 13) / 13.0;

#pragma omp parallel for schedule(static)
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = ((3 * k + j) % 17) / 17.0;

#pragma omp parallel for schedule(static)
    for (int j = 0; j < nj; j++)
        for (int l = 0; l < nl; l++)
            C[j][l] = ((j + 5 * l) % 19) / 19.0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int l = 0; l < nl; l++)
            D[i][l] = ((i + l) % 11) / 11.0;
}

static void kernel_2mm(int ni, int nj, int nk, int nl, double alpha, double beta,
                       double tmp[ni][nj], double A[ni][nk], double B[nk][nj],
                       double C[nj][nl], double D[ni][nl])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            tmp[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    }

#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int l = 0; l < nl; l++) {
            D[i][l] *= beta;
            for (int j = 0; j < nj; j++)
                D[i][l] += tmp[i][j] * C[j][l];
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    int nk = NK;
    int nl = NL;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*tmp)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    double (*A)[nk] = sample_allocate((size_t)ni * nk, sizeof(double));
    double (*B)[nj] = sample_allocate((size_t)nk * nj, sizeof(double));
    double (*C)[nl] = sample_allocate((size_t)nj * nl, sizeof(double));
    double (*D)[nl] = sample_allocate((size_t)ni * nl, sizeof(double));
    init_array(ni, nj, nk, nl, A, B, C, D);

    double start = sample_seconds();
    kernel_2mm(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D);
    double seconds = sample_seconds() - start;

    sample_live_out("D", &D[0][0], (size_t)ni * nl);
    sample_finish(seconds);
    free(tmp);
    free(A);
    free(B);
    free(C);
    free(D);
    return 0;
}
