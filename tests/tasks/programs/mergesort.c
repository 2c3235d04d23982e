/* Sorts N numbers: the halves of more than CUTOFF numbers are two tasks, and merging them is done
   by who waits for them. usage: mergesort N [CUTOFF] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long cutoff = 1024;

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort(int *values, int *space, long n)
{
    long half = n / 2, left = 0, right = half, to = 0;
    if (n <= cutoff) {
        qsort(values, (size_t)n, sizeof *values, ascending);
        return;
    }
#pragma omp task
    sort(values, space, half);
#pragma omp task
    sort(values + half, space + half, n - half);
#pragma omp taskwait
    while (left < half && right < n)
        space[to++] = values[right] < values[left] ? values[right++] : values[left++];
    while (left < half)
        space[to++] = values[left++];
    while (right < n)
        space[to++] = values[right++];
    memcpy(values, space, (size_t)n * sizeof *values);
}

int main(int count, char **words)
{
    long n = count > 1 ? atol(words[1]) : 100000;
    int *values = malloc((size_t)n * sizeof *values), *space = malloc((size_t)n * sizeof *space);
    unsigned int next = 12345;
    if (count > 2)
        cutoff = atol(words[2]);
    for (long i = 0; i < n; i++) {
        next = next * 1103515245u + 12345u;
        values[i] = (int)(next >> 8 & 0xffff);
    }
#pragma omp parallel
#pragma omp single
    sort(values, space, n);
    for (long i = 1; i < n; i++)
        if (values[i] < values[i - 1])
            return 1;
    printf("%d\n", values[n / 2]);
    free(values);
    free(space);
    return 0;
}
