/* Factors a symmetric positive definite matrix of BLOCKS x BLOCKS blocks of order ORDER into L times
   its transpose; tasks on blocks, ordered by what they read and write.
   usage: cholesky BLOCKS [ORDER] */
#include "blocks.h"

#include <stdio.h>

static int order = 16;

static void factor(double *a)
{
    for (int k = 0; k < order; k++) {
        for (int j = 0; j < k; j++)
            a[k * order + k] -= a[k * order + j] * a[k * order + j];
        a[k * order + k] = sqrt(a[k * order + k]);
        for (int i = k + 1; i < order; i++) {
            for (int j = 0; j < k; j++)
                a[i * order + k] -= a[i * order + j] * a[k * order + j];
            a[i * order + k] /= a[k * order + k];
        }
    }
    for (int i = 0; i < order; i++)
        for (int j = i + 1; j < order; j++)
            a[i * order + j] = 0.0;
}

static void solve(double *b, const double *l)
{
    for (int i = 0; i < order; i++)
        for (int k = 0; k < order; k++) {
            for (int j = 0; j < k; j++)
                b[i * order + k] -= b[i * order + j] * l[k * order + j];
            b[i * order + k] /= l[k * order + k];
        }
}

int main(int count, char **words)
{
    int blocks = count > 1 ? atoi(words[1]) : 4, n, wrong = 0;
    double **a, **l;
    if (count > 2)
        order = atoi(words[2]);
    n = blocks * order;
    a = calloc((size_t)(blocks * blocks), sizeof *a);
    l = calloc((size_t)(blocks * blocks), sizeof *l);
    for (int b = 0; b < blocks * blocks; b++) {
        a[b] = new_block(order);
        l[b] = new_block(order);
        for (int i = 0; i < order; i++)
            for (int j = 0; j < order; j++) {
                int row = b / blocks * order + i, column = b % blocks * order + j;
                a[b][i * order + j] = l[b][i * order + j] =
                    row == column ? 2.0 * n : 1.0 / (1.0 + abs(row - column));
            }
    }
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < blocks; k++) {
        double *diagonal = l[k * blocks + k];
#pragma omp task depend(inout : diagonal[0])
        factor(diagonal);
        for (int i = k + 1; i < blocks; i++) {
            double *below = l[i * blocks + k];
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0])
            solve(below, diagonal);
        }
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j <= i; j++) {
                double *to = l[i * blocks + j], *x = l[i * blocks + k], *y = l[j * blocks + k];
#pragma omp task depend(in : x[0], y[0]) depend(inout : to[0])
                subtract_product(to, x, y, order, 1);
            }
    }
    for (int row = 0; row < n; row += order / 2 + 1)
        for (int column = 0; column <= row; column += order / 2 + 1) {
            double sum = 0.0;
            for (int k = 0; k <= column; k++)
                sum += l[row / order * blocks + k / order][row % order * order + k % order] *
                       l[column / order * blocks + k / order][column % order * order + k % order];
            wrong += fabs(sum - a[row / order * blocks + column / order]
                                 [row % order * order + column % order]) > 1e-9 * n;
        }
    printf("%g\n", l[0][0]);
    return wrong;
}
