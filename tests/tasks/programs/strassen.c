/* Multiplies two matrices of order N, a power of two, by Strassen's seven products of half the
   order, each a task where the order is above CUTOFF. usage: strassen N [CUTOFF] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int cutoff = 32;

static void add(double *to, const double *a, const double *b, double sign, int n, int stride)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[i * n + j] = a[i * stride + j] + (b ? sign * b[i * stride + j] : 0.0);
}

static void multiply(double *c, const double *a, const double *b, int n)
{
    int h = n / 2;
    size_t part = (size_t)h * (size_t)h;
    const double *a11, *a12, *a21, *a22, *b11, *b12, *b21, *b22;
    double *space, *left[7], *right[7], *product[7];
    if (n <= cutoff) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++)
                    sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
        return;
    }
    a11 = a, a12 = a + h, a21 = a + h * n, a22 = a + h * n + h;
    b11 = b, b12 = b + h, b21 = b + h * n, b22 = b + h * n + h;
    space = malloc(21 * part * sizeof *space);
    for (int i = 0; i < 7; i++) {
        left[i] = space + 3 * (size_t)i * part;
        right[i] = left[i] + part;
        product[i] = right[i] + part;
    }
    {
        const double *la[] = {a11, a21, a11, a22, a11, a21, a12};
        const double *lb[] = {a22, a22, NULL, NULL, a12, a11, a22};
        const double *ra[] = {b11, b11, b12, b21, b22, b11, b21};
        const double *rb[] = {b22, NULL, b22, b11, NULL, b12, b22};
        const double ls[] = {1, 1, 1, 1, 1, -1, -1}, rs[] = {1, 1, -1, -1, 1, 1, 1};
        for (int i = 0; i < 7; i++) {
            double *l = left[i], *r = right[i], *p = product[i];
            const double *x = la[i], *y = lb[i], *u = ra[i], *v = rb[i];
            double s = ls[i], t = rs[i];
#pragma omp task
            {
                add(l, x, y, s, h, n);
                add(r, u, v, t, h, n);
                multiply(p, l, r, h);
            }
        }
    }
#pragma omp taskwait
    for (int i = 0; i < h; i++)
        for (int j = 0; j < h; j++) {
            int k = i * h + j;
            double m1 = product[0][k], m2 = product[1][k], m3 = product[2][k], m4 = product[3][k];
            double m5 = product[4][k], m6 = product[5][k], m7 = product[6][k];
            c[i * n + j] = m1 + m4 - m5 + m7;
            c[i * n + j + h] = m3 + m5;
            c[(i + h) * n + j] = m2 + m4;
            c[(i + h) * n + j + h] = m1 - m2 + m3 + m6;
        }
    free(space);
}

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 128, wrong = 0;
    size_t all = (size_t)n * (size_t)n;
    double *a = malloc(all * sizeof *a), *b = malloc(all * sizeof *b), *c = malloc(all * sizeof *c);
    if (count > 2)
        cutoff = atoi(words[2]);
    for (size_t i = 0; i < all; i++) {
        a[i] = (double)(i * 7 % 11) - 5.0;
        b[i] = (double)(i * 5 % 13) - 6.0;
    }
#pragma omp parallel
#pragma omp single
    multiply(c, a, b, n);
    for (int i = 0; i < n; i += n / 4) {
        double sum = 0.0;
        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * b[k * n + i];
        wrong += fabs(sum - c[i * n + i]) > 1e-6 * (1.0 + fabs(sum));
    }
    printf("%g\n", c[0]);
    free(a);
    free(b);
    free(c);
    return wrong;
}
