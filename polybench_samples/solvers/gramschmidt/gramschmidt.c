/* gramschmidt: A = Q R by the modified Gram-Schmidt process; A and Q are
 * ni x nj with ni >= nj, R is nj x nj and upper triangular.
 *
 * Column k has to be finished before it can be taken out of the later ones;
 * those are independent. A[i][j] = 1 / (1 + (i - j)^2) is well conditioned at
 * any size: as a Toeplitz matrix its values lie between pi / sinh(pi) and
 * pi / tanh(pi). */
#define WORKING_SET_ARRAYS 3
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"
#include <math.h>

#ifndef NI
#define NI DATASET_SIZE(32, 128, 512, 2000, 4000)
#endif
#ifndef NJ
#define NJ DATASET_SIZE(32, 128, 512, 2000, 4000)
#endif

static void init_array(int ni, int nj, double A[ni][nj], double R[nj][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            A[i][j] = 1.0 / (1 + (i - j) * (i - j));

#pragma omp parallel for schedule(static)
    for (int i = 0; i < nj; i++)
        for (int j = 0; j < nj; j++)
            R[i][j] = 0.0;
}

static void kernel_gramschmidt(int ni, int nj, double A[ni][nj], double R[nj][nj],
                               double Q[ni][nj])
{
    for (int k = 0; k < nj; k++) {
        double square = 0.0;

#pragma omp parallel for schedule(static) reduction(+ : square)
        for (int i = 0; i < ni; i++)
            square += A[i][k] * A[i][k];
        R[k][k] = sqrt(square);

#pragma omp parallel for schedule(static)
        for (int i = 0; i < ni; i++)
            Q[i][k] = A[i][k] / R[k][k];

#pragma omp parallel for schedule(static)
        for (int j = k + 1; j < nj; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < ni; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < ni; i++)
                A[i][j] -= Q[i][k] * R[k][j];
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    sample_options(argc, argv);

    double (*A)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    double (*R)[nj] = sample_allocate((size_t)nj * nj, sizeof(double));
    double (*Q)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    init_array(ni, nj, A, R);

    double start = sample_seconds();
    kernel_gramschmidt(ni, nj, A, R, Q);
    double seconds = sample_seconds() - start;

    sample_live_out("R", &R[0][0], (size_t)nj * nj);
    sample_live_out("Q", &Q[0][0], (size_t)ni * nj);
    sample_finish(seconds);
    free(A);
    free(R);
    free(Q);
    return 0;
}
