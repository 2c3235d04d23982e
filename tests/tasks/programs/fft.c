/* The discrete Fourier transform of N values, a power of two, by halves (even and odd places), each
   a task above CUTOFF values. usage: fft N [CUTOFF] */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static long cutoff = 64;
static const double pi = 3.14159265358979323846;

static void transform(double complex *to, const double complex *from, long n, long stride)
{
    long half = n / 2;
    if (n == 1) {
        to[0] = from[0];
        return;
    }
    if (n > cutoff) {
#pragma omp task
        transform(to, from, half, 2 * stride);
#pragma omp task
        transform(to + half, from + stride, half, 2 * stride);
#pragma omp taskwait
    } else {
        transform(to, from, half, 2 * stride);
        transform(to + half, from + stride, half, 2 * stride);
    }
    for (long k = 0; k < half; k++) {
        double complex even = to[k];
        double complex odd = to[k + half] * cexp(-2.0 * I * pi * (double)k / (double)n);
        to[k] = even + odd;
        to[k + half] = even - odd;
    }
}

int main(int count, char **words)
{
    long n = count > 1 ? atol(words[1]) : 4096;
    double complex *from = malloc((size_t)n * sizeof *from), *to = malloc((size_t)n * sizeof *to);
    int wrong = 0;
    if (count > 2)
        cutoff = atol(words[2]);
    for (long i = 0; i < n; i++)
        from[i] = (double)(i * 7 % 17) + I * (double)(i % 5);
#pragma omp parallel
#pragma omp single
    transform(to, from, n, 1);
    for (long k = 0; k < n; k += n / 4) {
        double complex sum = 0.0;
        for (long i = 0; i < n; i++)
            sum += from[i] * cexp(-2.0 * I * pi * (double)(i * k % n) / (double)n);
        wrong += cabs(sum - to[k]) > 1e-9 * (double)n * (double)n;
    }
    printf("%g\n", creal(to[0]));
    free(from);
    free(to);
    return wrong;
}
