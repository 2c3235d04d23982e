/* seidel-2d: Gauss-Seidel relaxation in place: every inner point of an n x n
 * grid, row by row, becomes the mean of itself and its eight neighbours.
 *
 * A point needs the new values of the row above up to one column to the right,
 * and of its own row to the left. All points with the same 2 i + j are therefore
 * independent, and these wavefronts, one after the other, give exactly what the
 * order by rows gives. */
#define WORKING_SET_ARRAYS 1
#define WORKING_SET_RANK 2
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TSTEPS
#define TSTEPS DATASET_FIXED(2, 10, 20, 20, 100)
#endif
#ifndef N
#define N DATASET_SIZE(32, 500, 1000, 2000, 4000)
#endif

static void init_array(int n, double A[n][n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = ((i + 2 * j) % 13) / 13.0;
}

static void kernel_seidel_2d(int tsteps, int n, double A[n][n])
{
    for (int t = 0; t < tsteps; t++) {
        for (int wave = 3; wave <= 3 * n - 6; wave++) {
            /* Column wave - 2 i has to lie between 1 and n - 2. */
            int first = wave < n ? 1 : (wave - n + 3) / 2;
            int last = wave < 2 * n - 3 ? (wave - 1) / 2 : n - 2;

#pragma omp parallel for schedule(static)
            for (int i = first; i <= last; i++)
                A[i][wave - 2 * i]
                    = (A[i - 1][wave - 2 * i - 1] + A[i - 1][wave - 2 * i]
                       + A[i - 1][wave - 2 * i + 1] + A[i][wave - 2 * i - 1] + A[i][wave - 2 * i]
                       + A[i][wave - 2 * i + 1] + A[i + 1][wave - 2 * i - 1]
                       + A[i + 1][wave - 2 * i] + A[i + 1][wave - 2 * i + 1])
                      / 9.0;
        }
    }
}

int main(int argc, char **argv)
{
    int tsteps = TSTEPS;
    int n = N;
    sample_options(argc, argv);

    double (*A)[n] = sample_allocate((size_t)n * n, sizeof(double));
    init_array(n, A);

    double start = sample_seconds();
    kernel_seidel_2d(tsteps, n, A);
    double seconds = sample_seconds() - start;

    sample_live_out("A", &A[0][0], (size_t)n * n);
    sample_finish(seconds);
    free(A);
    return 0;
}
