/* 3mm: G := (A B) (C D), three matrix products.
 * A is ni x nk, B is nk x nj, C is nj x nm, D is nm x nl; E = A B, F = C D. */
#define WORKING_SET_ARRAYS 7
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
#ifndef NM
#define NM DATASET_SIZE(32, 128, 1024, 2000, 4000)
#endif

static void init_array(int ni, int nj, int nk, int nl, int nm, double A[ni][nk],
                       double B[nk][nj], double C[nj][nm], double D[nm][nl])
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
        for (int m = 0; m < nm; m++)
            C[j][m] = ((j + 5 * m) % 19) / 19.0;

#pragma omp parallel for schedule(static)
    for (int m = 0; m < nm; m++)
        for (int l = 0; l < nl; l++)
            D[m][l] = ((2 * m + 3 * l) % 11) / 11.0;
}

static void kernel_3mm(int ni, int nj, int nk, int nl, int nm, double E[ni][nj],
                       double A[ni][nk], double B[nk][nj], double F[nj][nl],
                       double C[nj][nm], double D[nm][nl], double G[ni][nl])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            E[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    }

#pragma omp parallel for schedule(static)
    for (int j = 0; j < nj; j++) {
        for (int l = 0; l < nl; l++) {
            F[j][l] = 0.0;
            for (int m = 0; m < nm; m++)
                F[j][l] += C[j][m] * D[m][l];
        }
    }

#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int l = 0; l < nl; l++) {
            G[i][l] = 0.0;
            for (int j = 0; j < nj; j++)
                G[i][l] += E[i][j] * F[j][l];
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    int nk = NK;
    int nl = NL;
    int nm = NM;
    sample_options(argc, argv);

    double (*A)[nk] = sample_allocate((size_t)ni * nk, sizeof(double));
    double (*B)[nj] = sample_allocate((size_t)nk * nj, sizeof(double));
    double (*C)[nm] = sample_allocate((size_t)nj * nm, sizeof(double));
    double (*D)[nl] = sample_allocate((size_t)nm * nl, sizeof(double));
    double (*E)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    double (*F)[nl] = sample_allocate((size_t)nj * nl, sizeof(double));
    double (*G)[nl] = sample_allocate((size_t)ni * nl, sizeof(double));
    init_array(ni, nj, nk, nl, nm, A, B, C, D);

    double start = sample_seconds();
    kernel_3mm(ni, nj, nk, nl, nm, E, A, B, F, C, D, G);
    double seconds = sample_seconds() - start;

    sample_live_out("G", &G[0][0], (size_t)ni * nl);
    sample_finish(seconds);
    free(A);
    free(B);
    free(C);
    free(D);
    free(E);
    free(F);
    free(G);
    return 0;
}
