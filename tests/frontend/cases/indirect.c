/* regions: 2 */
void kernel(int n, const int *restrict row, const int *column, const double *value, double *x,
            double *y) {
    int i, k;
#pragma omp parallel for private(k) schedule(guided)
    for (i = 0; i < n; i++) {
        y[i] = 0;
        for (k = row[i]; k < row[i + 1]; k++)
            y[i] += value[k] * x[column[k]];
    }
#pragma omp parallel for
    for (i = 0; i < n; i++)
#pragma omp atomic
        y[column[i]] += 1;
}
