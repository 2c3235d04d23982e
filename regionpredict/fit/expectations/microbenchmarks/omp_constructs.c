/* Times of OpenMP constructs on the threads this process is given.
 *
 * All threads start a construct at the same moment, set some time ahead (window-based
 * synchronisation); each takes its own time, and the maximum over the threads is one result.
 * A repetition that a thread came late to is thrown away and the window doubled. Where that
 * never ends, as with more threads than cores, late ones are taken, and standard error says so.
 *
 * Usage: omp_constructs REPETITIONS
 * Output, comma-separated: callpath,metric,p,value   (value in seconds)
 */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 4096, WARM_UP = 10, CHUNKS_PER_THREAD = 16, MOST_RETRIES = 200 };

/* Each thread writes its time into a cache line of its own. */
typedef struct { double seconds; int late; char pad[112]; } slot;
static slot slots[MAX_THREADS];
static double sink[MAX_THREADS * 16];
static double shared_sum;
static long shared_count;
static int crowded; /* the threads do not start together, however long the window */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits for the common start; says whether this thread was late. */
static int wait_until(double start)
{
    if (now() > start) return 1;
    while (now() < start) { if (crowded) sched_yield(); }
    return 0;
}

static void body(int thread) { sink[thread * 16] += 1.0; }

static void run_barrier(void)
{
#pragma omp barrier
}

static void run_for_static(void)
{
    int n = omp_get_num_threads();
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; i++) body(i);
}

static void run_for_dynamic(void)
{
    int n = CHUNKS_PER_THREAD * omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < n; i++) body(omp_get_thread_num());
}

static void run_reduction(void)
{
    int n = omp_get_num_threads();
#pragma omp for schedule(static) reduction(+ : shared_sum)
    for (int i = 0; i < n; i++) shared_sum += (double)i;
}

static void run_critical(void)
{
#pragma omp critical
    shared_count++;
}

static void run_atomic(void)
{
#pragma omp atomic
    shared_count++;
}

static void run_task(void)
{
#pragma omp single nowait
    {
        int n = omp_get_num_threads();
        for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
            body(omp_get_thread_num() + 0 * i);
        }
    }
#pragma omp barrier
}

/* A construct inside a parallel region: the maximum over its threads, or -1 if one was late. */
static double time_inside(void (*construct)(void), double window)
{
    double start = 0.0;
#pragma omp parallel shared(start)
    {
        int me = omp_get_thread_num();
#pragma omp barrier
#pragma omp single
        start = now() + window;
        slots[me].late = wait_until(start);
        double begun = now();
        construct();
        slots[me].seconds = now() - begun;
    }
    double most = 0.0;
    for (int t = 0; t < omp_get_max_threads() && t < MAX_THREADS; t++) {
        if (slots[t].late && !crowded) return -1.0;
        if (slots[t].seconds > most) most = slots[t].seconds;
    }
    return most;
}

static double time_parallel(void)
{
    double begun = now();
#pragma omp parallel
    body(omp_get_thread_num());
    return now() - begun;
}

static double time_firstprivate(void)
{
    double block[64];
    for (int i = 0; i < 64; i++) block[i] = (double)i;
    double begun = now();
#pragma omp parallel firstprivate(block)
    {
        int me = omp_get_thread_num();
        block[me % 64] += 1.0;
        sink[me * 16] += block[(me + 1) % 64];
    }
    return now() - begun;
}

static void report(const char *name, double seconds)
{
    printf("%s,time,%d,%.9e\n", name, omp_get_max_threads(), seconds);
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 50;
    static const struct { const char *name; void (*construct)(void); } inside[] = {
        {"barrier", run_barrier},       {"for_static", run_for_static},
        {"for_dynamic", run_for_dynamic}, {"reduction", run_reduction},
        {"critical", run_critical},     {"atomic", run_atomic},
        {"task", run_task},
    };
    if (repetitions < 1 || omp_get_max_threads() > MAX_THREADS) {
        fprintf(stderr, "omp_constructs: give 1 repetition or more, %d threads or fewer\n",
                MAX_THREADS);
        return 2;
    }
    omp_set_dynamic(0);
    for (int r = -WARM_UP; r < repetitions; r++) {
        double plain = time_parallel();
        double copied = time_firstprivate();
        if (r >= 0) {
            report("parallel", plain);
            report("firstprivate", copied);
        }
    }
    for (size_t k = 0; k < sizeof inside / sizeof inside[0]; k++) {
        double window = 20e-6;
        int retries = 0;
        for (int r = -WARM_UP; r < repetitions;) {
            double seconds = time_inside(inside[k].construct, window);
            if (seconds < 0.0) {
                if (window < 2e-3) window *= 2.0;
                if (++retries > MOST_RETRIES && !crowded) {
                    crowded = 1;
                    fprintf(stderr, "%d threads do not start together: their times contain "
                                    "waiting; use no more threads than cores\n",
                            omp_get_max_threads());
                }
                continue;
            }
            if (r >= 0) report(inside[k].name, seconds);
            r++;
        }
    }
    return sink[0] + shared_sum + (double)shared_count < 0.0;
}
