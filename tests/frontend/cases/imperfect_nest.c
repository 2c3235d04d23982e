/* regions: 1 */
void kernel(int n, int m, double a[n][m], double *sum) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int j = 0; j < m; j++)
            s += a[i][j];
        sum[i] = s;
        for (int j = 0; j < m; j += 1) {
            a[i][j] /= s;
        }
    }
}
