/* LU decomposition without pivoting of BLOCKS x BLOCKS blocks of order ORDER, many of which are
   empty and stay without a task until something is put into them; ordered by dependences.
   usage: sparse_lu BLOCKS [ORDER] */
#include "blocks.h"

#include <stdio.h>

static int order = 16;

/* Which blocks there are at the beginning. */
static int present(int i, int j)
{
    return i == j || (i + 2 * j) % 3 == 0 || i == j + 1 || j == i + 1;
}

static void decompose(double *a)
{
    for (int k = 0; k < order; k++)
        for (int i = k + 1; i < order; i++) {
            a[i * order + k] /= a[k * order + k];
            for (int j = k + 1; j < order; j++)
                a[i * order + j] -= a[i * order + k] * a[k * order + j];
        }
}

static void to_the_right(double *b, const double *lu)
{
    for (int k = 0; k < order; k++)
        for (int i = k + 1; i < order; i++)
            for (int j = 0; j < order; j++)
                b[i * order + j] -= lu[i * order + k] * b[k * order + j];
}

static void below(double *b, const double *lu)
{
    for (int i = 0; i < order; i++)
        for (int k = 0; k < order; k++) {
            b[i * order + k] /= lu[k * order + k];
            for (int j = k + 1; j < order; j++)
                b[i * order + j] -= b[i * order + k] * lu[k * order + j];
        }
}

static double entry(double **blocks_of, int blocks, int row, int column)
{
    const double *block = blocks_of[row / order * blocks + column / order];
    return block ? block[row % order * order + column % order] : 0.0;
}

int main(int count, char **words)
{
    int blocks = count > 1 ? atoi(words[1]) : 5, n, wrong = 0;
    double **a, **lu;
    if (count > 2)
        order = atoi(words[2]);
    n = blocks * order;
    a = calloc((size_t)(blocks * blocks), sizeof *a);
    lu = calloc((size_t)(blocks * blocks), sizeof *lu);
    for (int b = 0; b < blocks * blocks; b++) {
        if (!present(b / blocks, b % blocks))
            continue;
        a[b] = new_block(order);
        lu[b] = new_block(order);
        for (int i = 0; i < order; i++)
            for (int j = 0; j < order; j++)
                a[b][i * order + j] = lu[b][i * order + j] =
                    b / blocks == b % blocks && i == j ? 4.0 * n : 1.0 / (1.0 + i + j + b);
    }
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < blocks; k++) {
        double *diagonal = lu[k * blocks + k];
#pragma omp task depend(inout : diagonal[0])
        decompose(diagonal);
        for (int j = k + 1; j < blocks; j++) {
            double *block = lu[k * blocks + j];
            if (block) {
#pragma omp task depend(in : diagonal[0]) depend(inout : block[0])
                to_the_right(block, diagonal);
            }
        }
        for (int i = k + 1; i < blocks; i++) {
            double *block = lu[i * blocks + k];
            if (block) {
#pragma omp task depend(in : diagonal[0]) depend(inout : block[0])
                below(block, diagonal);
            }
        }
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++) {
                double *x = lu[i * blocks + k], *y = lu[k * blocks + j], *to;
                if (!x || !y)
                    continue;
                if (!lu[i * blocks + j])
                    lu[i * blocks + j] = new_block(order);
                to = lu[i * blocks + j];
#pragma omp task depend(in : x[0], y[0]) depend(inout : to[0])
                subtract_product(to, x, y, order, 0);
            }
    }
    for (int row = 0; row < n; row += order / 2 + 1)
        for (int column = 0; column < n; column += order / 2 + 1) {
            double sum = row <= column ? entry(lu, blocks, row, column) : 0.0;
            for (int k = 0; k < row && k <= column; k++)
                sum += entry(lu, blocks, row, k) * entry(lu, blocks, k, column);
            wrong += fabs(sum - entry(a, blocks, row, column)) > 1e-9 * n;
        }
    printf("%g\n", lu[0][0]);
    return wrong;
}
