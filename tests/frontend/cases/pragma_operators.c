/* regions: 5 */
#define PRAGMA(x) _Pragma(#x)
#define PARALLEL _Pragma("omp parallel for")
#define FOR(i, n) PRAGMA(omp parallel for schedule(static)) for (int i = 0; i < (n); i++)
#define SCHEDULE schedule(dynamic, CHUNK)
#define CHUNK 16
void kernel(int n, double *a) {
    PARALLEL
    for (int i = 0; i < n; i++)
        a[i] = 1;
    PRAGMA(omp parallel for collapse(1))
    for (int i = 0; i < n; i++)
        a[i] = 2;
    _Pragma("omp parallel for num_threads(4)") for (int i = 0; i < n; i++) a[i] = 3;
    FOR(k, n)
        a[k] = 4;
#pragma omp parallel for SCHEDULE
    for (int i = 0; i < n; i++)
        a[i] = 5;
}
