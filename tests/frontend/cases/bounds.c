/* regions: 2 */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void kernel(int n, int block, double a[n][n]) {
    for (int bi = 0; bi < n; bi += block) {
#pragma omp parallel for
        for (int i = bi; i < MIN(bi + block, n); i++)
            for (int j = MAX(0, i - 1); j <= i; j++)
                a[i][j] = a[j][i];
    }
#pragma omp parallel for
    for (int i = 0; i < n >> 1; i++)
        for (int j = i & ~7; j < (n | 1) - (i ^ 3) % 5; j++)
            a[i][j] = -a[j][i];
}
