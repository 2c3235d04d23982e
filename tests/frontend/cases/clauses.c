/* regions: 2 */
#define SHARED(...) shared(__VA_ARGS__)
#ifdef NEVER
#define EXTRA nowait
#else
#define EXTRA ordered
#endif
void kernel(int n, double *a, double *b) {
    double s = 0, t = 1;
    int i;
#pragma omp parallel for default(none) SHARED(a, b, n) private(i) firstprivate(t) EXTRA \
    reduction(+ : s) lastprivate(i) schedule(monotonic : dynamic, 2 * 4) num_threads(n > 4 ? 4 : 1)
    for (i = 0; i < n; i++) {
        s += a[i] * t;
#pragma omp ordered
        b[i] = s;
    }
#pragma omp target teams distribute parallel for map(tofrom : a[0 : n])
    for (i = 0; i < n; i++)
        a[i] = 0;
}
