/* regions: 2 */
static void inner(int ni, int nj, double a[ni][nj], double b[static nj]) {
    int half = nj / 2, late;
    late = half + 1;
#pragma omp parallel for
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < late; j++)
            a[i][j] = b[j];
}
static void outer(int n, double *m) {
    const int rows = 4 * n;
    inner(rows, n, (double(*)[n])m, m);
}
int main(void) {
    static double memory[400 * 100];
    int n = 100, steps = 10;
    for (int t = 0; t < steps; t++) {
        outer(n, memory);
#pragma omp parallel for
        for (int i = t; i < n; i++)
            memory[i] = t;
    }
    return 0;
}
