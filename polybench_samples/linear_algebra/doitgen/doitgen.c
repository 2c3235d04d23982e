/* doitgen: every row A[r][q][.] of a three-dimensional array is multiplied by
 * the matrix C4, as in multiresolution analysis: A[r][q] := A[r][q] C4. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 3
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef NR
#define NR DATASET_SIZE(10, 32, 128, 256, 1000)
#endif
#ifndef NQ
#define NQ DATASET_SIZE(10, 32, 128, 256, 1000)
#endif
#ifndef NP
#define NP DATASET_SIZE(10, 32, 128, 256, 1000)
#endif

static void init_array(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np])
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++)
            for (int p = 0; p < np; p++)
                A[r][q][p] = ((r + 2 * q + 3 * p) % 13) / 13.0;

#pragma omp parallel for schedule(static)
    for (int s = 0; s < np; s++)
        for (int p = 0; p < np; p++)
            C4[s][p] = ((5 * s + p) % 17) / 17.0;
}

static void kernel_doitgen(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np],
                           double sum[nr][nq][np])
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int r = 0; r < nr; r++) {
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[r][q][p] = 0.0;
                for (int s = 0; s < np; s++)
                    sum[r][q][p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = sum[r][q][p];
        }
    }
}

int main(int argc, char **argv)
{
    int nr = NR;
    int nq = NQ;
    int np = NP;
    sample_options(argc, argv);

    double (*A)[nq][np] = sample_allocate((size_t)nr * nq * np, sizeof(double));
    double (*C4)[np] = sample_allocate((size_t)np * np, sizeof(double));
    double (*sum)[nq][np] = sample_allocate((size_t)nr * nq * np, sizeof(double));
    init_array(nr, nq, np, A, C4);

    double start = sample_seconds();
    kernel_doitgen(nr, nq, np, A, C4, sum);
    double seconds = sample_seconds() - start;

    sample_live_out("A", &A[0][0][0], (size_t)nr * nq * np);
    sample_finish(seconds);
    free(A);
    free(C4);
    free(sum);
    return 0;
}
