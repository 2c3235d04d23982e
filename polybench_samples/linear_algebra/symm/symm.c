/* symm: C := alpha A B + beta C with A symmetric (ni x ni), of which only the
 * lower triangle is read; B and C are ni x nj.
 *
 * Every element of C gathers its own sum, above the diagonal of A from the
 * mirrored element; nothing is scattered, so rows of C are independent. */
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

static void init_array(int ni, int nj, double C[ni][nj], double A[ni][ni], double B[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            C[i][j] = ((i + j) % 11) / 11.0;
            B[i][j] = ((3 * i + j) % 17) / 17.0;
        }
        for (int k = 0; k < ni; k++)
            A[i][k] = ((i + 2 * k) % 13) / 13.0;
    }
}

static void kernel_symm(int ni, int nj, double alpha, double beta, double C[ni][nj],
                        double A[ni][ni], double B[ni][nj])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            double sum = A[i][i] * B[i][j];
            for (int k = 0; k < i; k++)
                sum += A[i][k] * B[k][j];
            for (int k = i + 1; k < ni; k++)
                sum += A[k][i] * B[k][j];
            C[i][j] = alpha * sum + beta * C[i][j];
        }
    }
}

int main(int argc, char **argv)
{
    int ni = NI;
    int nj = NJ;
    double alpha = 1.5;
    double beta = 1.25;
    sample_options(argc, argv);

    double (*C)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    double (*A)[ni] = sample_allocate((size_t)ni * ni, sizeof(double));
    double (*B)[nj] = sample_allocate((size_t)ni * nj, sizeof(double));
    init_array(ni, nj, C, A, B);

    double start = sample_seconds();
    kernel_symm(ni, nj, alpha, beta, C, A, B);
    double seconds = sample_seconds() - start;

    sample_live_out("C", &C[0][0], (size_t)ni * nj);
    sample_finish(seconds);
    free(C);
    free(A);
    free(B);
    return 0;
}
