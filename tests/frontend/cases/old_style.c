/* regions: 1 */
extern int printf();
int total;
kernel(a, n)
    double *a;
    int n;
{
    register int i;
#pragma omp parallel for
    for (i = 0; i < n; i++)
        a[i] = i;
    return printf("%d\n", n);
}
