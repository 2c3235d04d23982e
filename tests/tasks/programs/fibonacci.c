/* Fibonacci numbers by their definition: each call above the cutoff is two tasks.
   usage: fibonacci N [CUTOFF], tasks for n > CUTOFF (1) */
#include <stdio.h>
#include <stdlib.h>

static int cutoff = 1;

static long fibonacci(int n)
{
    long first, second;
    if (n < 2)
        return n;
    if (n <= cutoff)
        return fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(first) firstprivate(n)
    first = fibonacci(n - 1);
#pragma omp task shared(second) firstprivate(n)
    second = fibonacci(n - 2);
#pragma omp taskwait
    return first + second;
}

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 20;
    long result = 0, before = 0, next = 1;
    if (count > 2)
        cutoff = atoi(words[2]);
#pragma omp parallel
#pragma omp single
    result = fibonacci(n);
    for (int i = 0; i < n; i++) {
        long sum = before + next;
        before = next;
        next = sum;
    }
    printf("%ld\n", result);
    return result != before;
}
