/* regions: 9 */
void kernel(int n, unsigned u, long l, int *a, int lo) {
    int i, step = 3;
#pragma omp parallel for
    for (i = n - 1; i >= 0; i--)
        a[i] = i;
#pragma omp parallel for
    for (i = 0; i < n; i += 2)
        a[i] = i;
#pragma omp parallel for
    for (i = lo; n > i; i = i + step)
        a[i] = i;
#pragma omp parallel for
    for (i = 0; i != n; ++i)
        a[i] = i;
#pragma omp parallel for
    for (unsigned k = u; k-- > 0;)
        a[k] = 1;
#pragma omp parallel for
    for (long k = 1; k <= l; k++)
        a[k - 1] = 1;
#pragma omp parallel for
    for (i = 0; i < (n < lo ? n : lo); i++)
        a[i] = 0;
#pragma omp parallel for
    for (i = 0, step = 1; i + 1 < n; i += 1)
        a[i] = step;
    for (;;) {
#pragma omp parallel for
        for (i = n / 2; i > lo * 2; i -= 4)
            a[i] = 0;
        break;
    }
}
