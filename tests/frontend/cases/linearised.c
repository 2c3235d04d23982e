/* regions: 2 */
#define AT(i, j) a[(i) * n + (j)]
#define SWAP(x, y) do { double t = (x); (x) = (y); (y) = t; } while (0)
void kernel(int n, double *a, double *b) {
    int i, j;
#pragma omp parallel for private(j)
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            AT(i, j) = AT(j, i) - b[i * n + j];
#pragma omp parallel for
    for (int k = 0; k < n * n; k++)
        SWAP(a[k], b[k]);
}
