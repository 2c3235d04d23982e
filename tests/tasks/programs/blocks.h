/* Operations on square blocks of doubles, row by row. */
#include <math.h>
#include <stdlib.h>

static double *new_block(int n)
{
    return calloc((size_t)n * (size_t)n, sizeof(double));
}

/* c -= a * b, or a * transposed b */
static inline void subtract_product(double *c, const double *a, const double *b, int n,
                                    int transposed)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * (transposed ? b[j * n + k] : b[k * n + j]);
            c[i * n + j] -= sum;
        }
}
