/* What OpenMP's constructs cost: openmp SAMPLES SECONDS CPUS KIND
 *
 * One thread on each of CPUS (0,1,2). KIND: fork_join, an empty parallel region; barrier; reduction,
 * what a scalar reduction adds to a region; dynamic_chunk, atomic, critical, between two of them on
 * one thread while all threads do nothing else. A sample is the least of three turns, in ns. */
#include "measure.h"
#include <omp.h>

static int threads, cpus[MOST_CPUS];
static volatile double sink;

static void bind_all(void) {
#pragma omp parallel num_threads(threads)
    pin(cpus[omp_get_thread_num()]);
}

static double fork_join(long n) {
    double begin = now();
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(threads)
        __asm__ volatile("" ::: "memory");
    }
    return (now() - begin) / (double)n;
}

static double region_with_sum(long n) {
    double begin = now(), sum = 0;
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            __asm__ volatile("" ::: "memory");
            sum += 1;
        }
    }
    double spent = now() - begin;
    sink = sum;
    return spent / (double)n;
}

static double barrier(long n) {
    double begin = 0, spent = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp master
        begin = now();
        for (long i = 0; i < n; i++) {
#pragma omp barrier
        }
#pragma omp master
        spent = now() - begin;
    }
    return spent / (double)n;
}

static double dynamic_chunk(long n) {
    double begin = now();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (long i = 0; i < n * threads; i++) __asm__ volatile("" ::: "memory");
    return (now() - begin) / (double)n;
}

static double atomic(long n) {
    long count = 0;
    double begin = now();
#pragma omp parallel num_threads(threads)
    for (long i = 0; i < n; i++) {
#pragma omp atomic
        count += 1;
    }
    double spent = now() - begin;
    sink = (double)count;
    return spent / (double)n;
}

static double critical(long n) {
    long count = 0;
    double begin = now();
#pragma omp parallel num_threads(threads)
    for (long i = 0; i < n; i++) {
#pragma omp critical
        count += 1;
    }
    double spent = now() - begin;
    sink = (double)count;
    return spent / (double)n;
}

typedef double (*construct)(long);

static double best_of(construct run, long n) {
    double best = 1e30;
    for (int turn = 0; turn < 3; turn++) {
        double spent = run(n);
        if (spent < best) best = spent;
    }
    return best;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"fork_join", "barrier", "reduction",
                                        "dynamic_chunk", "atomic", "critical"};
    static const construct runs[] = {fork_join, barrier, region_with_sum,
                                     dynamic_chunk, atomic, critical};
    if (argc != 5) return 2;
    int samples = atoi(argv[1]), kind = 0;
    threads = read_cpus(argv[3], cpus);
    while (kind < 6 && strcmp(names[kind], argv[4]) != 0) kind++;
    if (kind == 6 || threads < 1) return 2;
    omp_set_dynamic(0);
    bind_all();
    construct run = runs[kind];
    long n = 16;
    while (best_of(run, n) * (double)n < 2e-3 && n < (1L << 24)) n *= 2;
    double until = now() + atof(argv[2]);
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double spent = best_of(run, n);
        if (kind == 2) spent -= best_of(fork_join, n);
        if (kind > 2) spent -= best_of(fork_join, 64) / (double)n;
        sample(1e9 * (spent > 0 ? spent : 1e-10));
    }
    return 0;
}
