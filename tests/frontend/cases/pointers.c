/* regions: 4 */
void kernel(double *first, double *last, float *f, int n, double (*rows)[20]) {
#pragma omp parallel for
    for (double *p = first; p < last; p++)
        *p = *p * 2.0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double *q = first + i * 20, *const r = &rows[i][0];
        for (int j = 0; j < 20; j++)
            *q++ += *(r + j) - rows[i][j];
    }
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        *(f + i) = (*rows)[i] + 0[f];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        ((double(*)[n])first)[i][0] = ((double(*)[40])last)[0][i];
}
