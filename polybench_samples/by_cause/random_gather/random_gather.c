/* random_gather: y[i] := y[i] + x[index[i]] with a shuffled index.
 *
 * Shows irregular access: nearly every element of x comes from another line, so
 * the region waits on the latency of memory, not on its bandwidth, and more
 * threads help for longer. The control has an index in order. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(1000, 100000, 10000000, 40000000, 160000000)
#endif

static void init_array(int n, double y[n], double x[n], int index[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        y[i] = i % 10;
        x[i] = i % 1000;
        index[i] = i;
    }
}

/* The shuffle of Fisher and Yates; serial, because every exchange builds on the
 * ones before. */
static void shuffle(int n, int index[n])
{
    unsigned long long state = 42;
    for (int i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        int other = (int)((state >> 33) % (unsigned long long)(i + 1));
        int kept = index[i];
        index[i] = index[other];
        index[other] = kept;
    }
}

static void kernel_random_gather(int n, double y[n], double x[n], int index[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        y[i] += x[index[i]];
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double *y = sample_allocate(n, sizeof(double));
    double *x = sample_allocate(n, sizeof(double));
    int *index = sample_allocate(n, sizeof(int));
    init_array(n, y, x, index);

    /* First in order: the control. */
    double start = sample_seconds();
    kernel_random_gather(n, y, x, index);
    double control = sample_seconds() - start;

    shuffle(n, index);
    start = sample_seconds();
    kernel_random_gather(n, y, x, index);
    double seconds = sample_seconds() - start;

    sample_live_out("y", y, n);
    int held = 1;
    for (int i = 0; i < n; i++)
        held = held && y[i] == i % 10 + i % 1000 + index[i] % 1000;
    sample_check(held);
    sample_control(control);
    sample_finish(seconds);
    free(y);
    free(x);
    free(index);
    return 0;
}
