/* regions: 6 */
void kernel(int n, double *a) {
    int i;
#pragma omp parallel \
    for schedule(static) \
        private(i)
    for (i = 0; i < n; i++)
        a[i] = 1;
// #pragma omp parallel for
/*
#pragma omp parallel for
*/
#if 0
#pragma omp parallel for
#endif
#ifndef _OPENMP
#pragma omp parallel for
#elif _OPENMP > 200800
    #  pragma   omp   parallel   for   /* why */ reduction(+ : i) // how
#endif
#pragma GCC ivdep

    /* a comment between */
    for (i = 0; i < n; i++)
        a[i] = 2;
#pragma omp parallel
    {
#pragma omp for nowait
        for (i = 0; i < n; i++)
            a[i] = 3;
#pragma omp barrier
#pragma omp for
        for (i = 0; i < n; i++)
#pragma omp simd
            for (int j = 0; j < n; j++)
                a[j] = 4;
    }
    if (n > 10)
#pragma omp parallel for if (n > 100)
        for (i = 0; i < n; i++)
            a[i] = 5;
    else {
#pragma unroll
#pragma omp parallel for
        for (i = 0; i < n; i++) {
#pragma omp critical(one)
            a[0] += i;
#pragma omp ordered
        }
    }
}
