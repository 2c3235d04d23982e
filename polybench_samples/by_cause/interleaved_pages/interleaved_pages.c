/* interleaved_pages: a vector update on pages that were dealt out to the threads
 * in turn.
 *
 * Shows interleaved pages, as numactl --interleave=all puts them: each thread
 * finds its part's pages in all NUMA domains, most of them far, and all threads
 * together use all memories from the first package on. The control does the same
 * on vectors whose pages lie with the threads that work on them. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(2048, 100000, 10000000, 40000000, 160000000)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(3, 10, 10, 10, 10)
#endif

static void init_in_turn(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static, 512)
    for (int i = 0; i < n; i++) {
        a[i] = i % 1024;
        b[i] = i % 256;
    }
}

static void init_in_parts(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i % 1024;
        b[i] = i % 256;
    }
}

static void kernel_interleaved_pages(int repetitions, int n, double a[n], double b[n])
{
    for (int r = 0; r < repetitions; r++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            a[i] += b[i];
    }
}

int main(int argc, char **argv)
{
    int repetitions = REPETITIONS;
    int n = N;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    init_in_turn(n, a, b);
    double start = sample_seconds();
    kernel_interleaved_pages(repetitions, n, a, b);
    double seconds = sample_seconds() - start;

    double *near_a = sample_allocate(n, sizeof(double));
    double *near_b = sample_allocate(n, sizeof(double));
    init_in_parts(n, near_a, near_b);
    start = sample_seconds();
    kernel_interleaved_pages(repetitions, n, near_a, near_b);
    double control = sample_seconds() - start;

    sample_live_out("a", a, n);
    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && a[i] == i % 1024 + (double)repetitions * (i % 256) && near_a[i] == a[i];
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(a);
    free(b);
    free(near_a);
    free(near_b);
    return 0;
}
