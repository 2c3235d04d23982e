/* regions: 3 */
#include <math.h>
double unseen(double);
static inline double square(double x) { return x * x; }
static int least(int a, int b) { return a < b ? a : b; }
static void smooth(double *row, int n, double w) {
    for (int j = 1; j < n - 1; j++)
        row[j] = w * (row[j - 1] + row[j + 1]);
}
static void each(double **rows, int from, int to, int n) {
    int i;
#pragma omp parallel for
    for (i = from; i < to; i++)
        smooth(rows[i], n, 0.5);
}
static double deep(const double *a, int i) { return square(a[i]) + unseen(a[i + 1]); }
void kernel(int n, double *a, double (*f)(double), double (*table[2])(double), double **rows) {
#pragma omp parallel for
    for (int i = 0; i < least(n, 100); i++)
        a[i] = sqrt(square(a[i])) + fabs(sin(a[i])) + fmax(a[i], 1.0) + deep(a, i) + (square)(2);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = f(a[i]) + (*f)(1.0) + table[i % 2](a[i]) + implicit(i);
    each(rows, 0, 64, 128);
}
