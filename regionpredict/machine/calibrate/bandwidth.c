/* Streaming bandwidth: bandwidth SAMPLES SECONDS CPUS BYTES KERNEL [HOME]
 *
 * Each thread, bound to its cpu of CPUS (0,1,2), sweeps arrays of its own, BYTES in all for one
 * thread, which it has touched first: from the cpu of HOME in its place, where that is given, so
 * that the pages lie there. A sample is the best of three turns, in GB/s of all threads,
 * counting what the program loads and stores (8 bytes for each access, no write-allocate). */
#include "measure.h"
#include <omp.h>

#define BLOCK 32 /* arrays are whole blocks of so many elements */

enum { LOAD, COPY, UPDATE, TRIAD, DAXPY };
static const char *const NAMES[] = {"load", "copy", "update", "triad", "daxpy"};
static const int ARRAYS[] = {1, 2, 1, 4, 2};
static const int ACCESSES[] = {1, 2, 2, 4, 3};

static double load(const double *restrict a, long n) {
    const double *b = a + n / 4, *c = a + n / 2, *d = a + n / 2 + n / 4;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0; /* four sums, none waits for another */
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (long i = 0; i < n / 4; i++) {
        s0 += a[i];
        s1 += b[i];
        s2 += c[i];
        s3 += d[i];
    }
    return s0 + s1 + s2 + s3;
}

static void copy(double *restrict a, const double *restrict b, long n) {
#pragma omp simd
    for (long i = 0; i < n; i++) a[i] = b[i];
}

static void update(double *restrict a, double s, long n) {
#pragma omp simd
    for (long i = 0; i < n; i++) a[i] = s * a[i];
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c,
                  const double *restrict d, long n) {
#pragma omp simd
    for (long i = 0; i < n; i++) a[i] = b[i] + c[i] * d[i];
}

static void daxpy(double *restrict a, const double *restrict b, double s, long n) {
#pragma omp simd
    for (long i = 0; i < n; i++) a[i] = a[i] + s * b[i];
}

static double sweep(int kernel, double *const *x, long n, double s) {
    switch (kernel) {
    case LOAD: return load(x[0], n);
    case COPY: copy(x[0], x[1], n); break;
    case UPDATE: update(x[0], s, n); break;
    case TRIAD: triad(x[0], x[1], x[2], x[3], n); break;
    default: daxpy(x[0], x[1], s, n); break;
    }
    return x[0][n / 2];
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) return 2;
    int samples = atoi(argv[1]), cpus[MOST_CPUS], home[MOST_CPUS];
    double until = 0, seconds = atof(argv[2]);
    int threads = read_cpus(argv[3], cpus);
    int kernel = 0;
    while (kernel < 5 && strcmp(NAMES[kernel], argv[5]) != 0) kernel++;
    if (kernel == 5 || threads < 1) return 2;
    if (read_cpus(argc == 7 ? argv[6] : argv[3], home) != threads) return 2;
    long n = (long)(strtoull(argv[4], NULL, 10) / sizeof(double) / (unsigned)ARRAYS[kernel]);
    n -= n % BLOCK;
    if (n < BLOCK) n = BLOCK;
    double used = 0, begin = 0, spent = 0;
    long turns = 1;
    int more = 1, taken = -1; /* samples so far; -1 while the number of turns is sought */
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : used)
    {
        pin(home[omp_get_thread_num()]);
        double *x[4];
        for (int k = 0; k < ARRAYS[kernel]; k++) {
            x[k] = memory((size_t)n * sizeof(double) + 4096 * (size_t)(k + 1));
            x[k] += 72 * k; /* off one another's cache sets */
            for (long i = 0; i < n; i++) x[k][i] = 1.0;
        }
        pin(cpus[omp_get_thread_num()]);
        double s = 1.0 + 1e-16 * n; /* 1, but the compiler cannot know */
        while (more) {
            double best = 1e30;
            int turns_now = taken < 0 ? 1 : 3;
            for (int turn = 0; turn < turns_now; turn++) {
#pragma omp barrier
#pragma omp master
                begin = now();
                for (long t = 0; t < turns; t++) used += sweep(kernel, x, n, s);
#pragma omp barrier
#pragma omp master
                {
                    spent = now() - begin;
                    if (spent < best) best = spent;
                }
            }
#pragma omp barrier
#pragma omp master
            {
                if (taken < 0 && best < 3e-3) {
                    turns *= 2; /* find how many turns take 3 ms */
                } else {
                    double moved = 8.0 * ACCESSES[kernel] * (double)n * (double)turns * threads;
                    if (taken >= 0) sample(1e-9 * moved / best);
                    else until = now() + seconds;
                    taken++;
                    if (taken >= samples || (taken > 0 && now() >= until)) more = 0;
                }
            }
#pragma omp barrier
        }
    }
    return used == 0.5; /* never, but the sums are used */
}
