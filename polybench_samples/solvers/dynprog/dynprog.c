/* dynprog: dynamic programming over intervals,
 *     c[i][j] = W[i][j] + sum over i < k < j of (c[i][k] + c[k][j]),
 * repeated tsteps times; out adds up c[0][length - 1]. Unsigned arithmetic,
 * modulo 2^32, so that every order of the additions gives the same result.
 *
 * An interval needs all shorter ones inside it, so the intervals come by their
 * width; those of one width (a diagonal of c) are independent. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 2
#define WORKING_SET_ELEMENT 4
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef TSTEPS
#define TSTEPS DATASET_FIXED(10, 100, 10000, 1000, 10000)
#endif
#ifndef LENGTH
#define LENGTH DATASET_SIZE(32, 50, 50, 500, 500)
#endif

static void init_array(int length, unsigned c[length][length], unsigned W[length][length])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < length; i++) {
        for (int j = 0; j < length; j++) {
            c[i][j] = 0;
            W[i][j] = (3 * i + 5 * j) % 7 + 1;
        }
    }
}

static unsigned kernel_dynprog(int tsteps, int length, unsigned c[length][length],
                               unsigned W[length][length])
{
    unsigned out = 0;
    for (int t = 0; t < tsteps; t++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < length; i++)
            for (int j = 0; j < length; j++)
                c[i][j] = 0;

        for (int width = 1; width < length; width++) {
#pragma omp parallel for schedule(static)
            for (int i = 0; i < length - width; i++) {
                c[i][i + width] = W[i][i + width];
                for (int k = i + 1; k < i + width; k++)
                    c[i][i + width] += c[i][k] + c[k][i + width];
            }
        }
        out += c[0][length - 1];
    }
    return out;
}

int main(int argc, char **argv)
{
    int tsteps = TSTEPS;
    int length = LENGTH;
    sample_options(argc, argv);

    unsigned(*c)[length] = sample_allocate((size_t)length * length, sizeof(unsigned));
    unsigned(*W)[length] = sample_allocate((size_t)length * length, sizeof(unsigned));
    init_array(length, c, W);

    double start = sample_seconds();
    unsigned out = kernel_dynprog(tsteps, length, c, W);
    double seconds = sample_seconds() - start;

    sample_live_out_unsigned("out", &out, 1);
    sample_live_out_unsigned("c", &c[0][0], (size_t)length * length);
    sample_finish(seconds);
    free(c);
    free(W);
    return 0;
}
