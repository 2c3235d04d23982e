/* jacobi-1d: relaxation with the mean of a point and its two neighbours, from A
 * into B and back, on the inner points of a line of n. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TSTEPS
#define TSTEPS DATASET_FIXED(2, 10, 100, 1000, 1000)
#endif
#ifndef N
#define N DATASET_SIZE(500, 1000, 10000, 100000, 1000000)
#endif

static void init_array(int n, double A[n], double B[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        A[i] = (3 * (i % 101) + 2) % 17 / 17.0;
        B[i] = 0.0;
    }
}

static void kernel_jacobi_1d(int tsteps, int n, double A[n], double B[n])
{
    for (int t = 0; t < tsteps; t++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0;

#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            A[i] = B[i];
    }
}

int main(int argc, char **argv)
{
    int tsteps = TSTEPS;
    int n = N;
    sample_options(argc, argv);

    double *A = sample_allocate(n, sizeof(double));
    double *B = sample_allocate(n, sizeof(double));
    init_array(n, A, B);

    double start = sample_seconds();
    kernel_jacobi_1d(tsteps, n, A, B);
    double seconds = sample_seconds() - start;

    sample_live_out("A", A, n);
    sample_finish(seconds);
    free(A);
    free(B);
    return 0;
}
