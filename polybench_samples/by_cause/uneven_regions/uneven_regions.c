/* uneven_regions: four regions of one program that want different numbers of cores.
 *
 * Shows what a hint for each region is good for (Chatzopoulos 2012, ch. 3): `compute`
 * gains from every core, `stream` until the memory gives no more, `blocks` as long as
 * each block has a second-level cache to itself, and `few` from none at all. One number
 * of threads for the whole program is wrong for some of them; and where threads lie
 * decides, too: next to each other, far apart, or one to each second-level cache first. */
#define WORKING_SET_ARRAYS 3
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(1000, 100000, 7680000, 30720000, 122880000)
#endif
#ifndef ELEMENTS
#define ELEMENTS DATASET_FIXED(40, 4000, 40000, 160000, 640000)
#endif
/* A block is to fit a second-level cache, two are not. */
#ifndef BLOCK
#define BLOCK DATASET_FIXED(50, 10000, 160000, 160000, 160000)
#endif
#ifndef REPETITIONS
#define REPETITIONS DATASET_FIXED(2, 5, 10, 10, 10)
#endif

static void init_array(int n, double a[n], double b[n], double c[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = 0.0;
        b[i] = i % 1024;
        c[i] = i % 256;
    }
}

static void init_compute(int elements, double x[elements])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < elements; i++)
        x[i] = i % 32;
}

/* Arithmetic alone. */
static void kernel_compute(int elements, double x[elements])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < elements; i++)
        for (int s = 0; s < 100; s++)
            x[i] = 0.5 * x[i] + 1.0;
}

/* Memory alone. */
static void kernel_stream(int n, double scale, double a[n], double b[n], double c[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        a[i] = b[i] + scale * c[i];
}

/* What stream has left, block by block, ten times over each. */
static void kernel_blocks(int blocks, int block, double v[blocks][block])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < blocks; i++)
        for (int s = 0; s < 10; s++)
            for (int j = 0; j < block; j++)
                v[i][j] = 0.5 * v[i][j] + 1.0;
}

/* Less work than a team costs. */
static void kernel_few(double d[8])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 8; i++)
        d[i] = d[i] + 1.0;
}

int main(int argc, char **argv)
{
    int repetitions = REPETITIONS;
    int n = N;
    int elements = ELEMENTS;
    int block = BLOCK;
    int blocks = n / block;
    double scale = 3.0;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    double *c = sample_allocate(n, sizeof(double));
    double *x = sample_allocate(elements, sizeof(double));
    double(*v)[block] = (double(*)[block])a;
    double d[8] = {0.0};
    init_array(n, a, b, c);
    init_compute(elements, x);

    double start = sample_seconds();
    for (int r = 0; r < repetitions; r++) {
        kernel_compute(elements, x);
        kernel_stream(n, scale, a, b, c);
        kernel_blocks(blocks, block, v);
        kernel_few(d);
    }
    double seconds = sample_seconds() - start;

    sample_live_out("a", a, n);
    sample_live_out("x", x, elements);
    sample_live_out("d", d, 8);
    int held = 1;
    for (int i = 0; i < blocks * block; i++) { /* ten times a -> a/2 + 1, nearer to 2 */
        double expected = 2.0 + (i % 1024 + 3.0 * (i % 256) - 2.0) / 1024.0;
        held = held && a[i] - expected < 1e-9 && expected - a[i] < 1e-9;
    }
    for (int i = 0; i < 8; i++)
        held = held && d[i] == repetitions;
    sample_check(held);
    sample_finish(seconds);
    free(a);
    free(b);
    free(c);
    free(x);
    return 0;
}
