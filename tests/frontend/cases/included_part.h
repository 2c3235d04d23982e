#ifndef INCLUDED_PART_H
#define INCLUDED_PART_H
static inline void helper(int n, double *a) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = -a[i];
}
#endif
