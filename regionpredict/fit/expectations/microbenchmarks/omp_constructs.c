/* Overheads of OpenMP constructs on the threads this process is given.
 *
 * A construct is shorter than the clock's resolution, so it is repeated inside one timing until
 * that takes TARGET seconds, and what the same repetitions take without the construct is
 * subtracted: the method of the EPCC micro-benchmarks (Bull 1999, "Measuring synchronisation and
 * scheduling overheads in OpenMP", sec. 2).
 *
 * All threads start the repetitions at the same moment, set some time ahead (window-based
 * synchronisation); each takes its own time, and the maximum over the threads is one result.
 * A repetition that a thread came late to is thrown away and the window doubled. Where that
 * never ends, as with more threads than cores, late ones are taken, and standard error says so.
 * Results that are not above the reference are left out, and standard error says so too.
 *
 * Usage: omp_constructs REPETITIONS
 * Output, comma-separated: callpath,metric,p,value   (value in seconds, of one construct)
 */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 4096, WARM_UP = 3, CHUNKS_PER_THREAD = 16, MOST_RETRIES = 200,
       REFERENCES = 15, MOST_INSIDE = 1 << 20 };
static const double TARGET = 500e-6; /* seconds: thousands of times the clock's resolution */

/* Each thread writes its time into a cache line of its own. */
typedef struct { double seconds; int late; char pad[112]; } slot;
static slot slots[MAX_THREADS];
static double sink[MAX_THREADS * 16];
static double shared_sum;
static long shared_count;
static volatile long own_count[MAX_THREADS * 16];
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

/* Memory is said to change, or the compiler would take repetitions together. */
#define REPEATED __asm__ volatile("" ::: "memory")

static void body(int thread) { sink[thread * 16] += 1.0; REPEATED; }

/* What a thread does without the construct: nothing, its body once, or its chunks. */
static void alone_nothing(int me) { (void)me; REPEATED; }
static void alone_body(int me) { body(me); }
static void alone_chunks(int me) { for (int i = 0; i < CHUNKS_PER_THREAD; i++) body(me); }
static void alone_count(int me) { own_count[me * 16]++; }

static void run_barrier(int me)
{
    (void)me;
#pragma omp barrier
}

static void run_for_static(int me)
{
    int n = omp_get_num_threads();
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; i++) body(me + 0 * i);
}

static void run_for_dynamic(int me)
{
    int n = CHUNKS_PER_THREAD * omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < n; i++) body(me + 0 * i);
}

static void run_reduction(int me)
{
    (void)me;
    int n = omp_get_num_threads();
#pragma omp for schedule(static) reduction(+ : shared_sum)
    for (int i = 0; i < n; i++) shared_sum += (double)i;
    REPEATED;
}

static void run_critical(int me)
{
    (void)me;
#pragma omp critical
    shared_count++;
}

static void run_atomic(int me)
{
    (void)me;
#pragma omp atomic
    shared_count++;
}

static void run_task(int me)
{
    (void)me;
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

/* `inside` repetitions in a parallel region: the maximum over its threads, or -1 if one was late. */
static double time_inside(void (*construct)(int), int inside, double window)
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
        for (int i = 0; i < inside; i++) construct(me);
        slots[me].seconds = now() - begun;
    }
    double most = 0.0;
    for (int t = 0; t < omp_get_max_threads() && t < MAX_THREADS; t++) {
        if (slots[t].late && !crowded) return -1.0;
        if (slots[t].seconds > most) most = slots[t].seconds;
    }
    return most;
}

static void open_parallel(void)
{
#pragma omp parallel
    body(omp_get_thread_num());
}

static void open_firstprivate(void)
{
    double block[64];
    for (int i = 0; i < 64; i++) block[i] = (double)i;
    REPEATED;
#pragma omp parallel firstprivate(block)
    {
        int me = omp_get_thread_num();
        block[me % 64] += 1.0;
        sink[me * 16] += block[(me + 1) % 64];
    }
}

static void open_nothing(void) { body(0); }

/* `inside` parallel regions one after the other, as their first thread sees them. */
static double time_opened(void (*construct)(void), int inside)
{
    double begun = now();
    for (int i = 0; i < inside; i++) construct();
    return now() - begun;
}

/* One kind of measurement: a construct inside a region, or one that opens a region. */
typedef struct {
    const char *name;
    void (*construct)(int), (*alone)(int);
    void (*open)(void);
} measured;

static double once(const measured *m, int reference, int inside, double *window)
{
    if (m->open) return time_opened(reference ? open_nothing : m->open, inside);
    for (int retries = 0;;) {
        double seconds = time_inside(reference ? m->alone : m->construct, inside, *window);
        if (seconds >= 0.0) return seconds;
        if (*window < 2e-3) *window *= 2.0;
        if (++retries > MOST_RETRIES && !crowded) {
            crowded = 1;
            fprintf(stderr, "omp_constructs: %d threads do not start together: their times "
                            "contain waiting; use no more threads than cores\n",
                    omp_get_max_threads());
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const measured *m, int repetitions)
{
    double window = 20e-6, reference[REFERENCES];
    int inside = 1, left_out = 0;
    for (int r = 0; r < WARM_UP; r++) once(m, 0, inside, &window);
    while (inside < MOST_INSIDE && once(m, 0, inside, &window) < TARGET) inside *= 2;
    for (int r = 0; r < REFERENCES; r++) reference[r] = once(m, 1, inside, &window);
    qsort(reference, REFERENCES, sizeof reference[0], ascending);
    for (int r = 0; r < repetitions; r++) {
        double seconds = once(m, 0, inside, &window) - reference[REFERENCES / 2];
        if (seconds <= 0.0) left_out++;
        else printf("%s,time,%d,%.9e\n", m->name, omp_get_max_threads(), seconds / inside);
    }
    if (left_out)
        fprintf(stderr, "omp_constructs: %s on %d threads: %d of %d repetitions took no longer "
                        "than without it (%.2g s) and are left out\n",
                m->name, omp_get_max_threads(), left_out, repetitions,
                reference[REFERENCES / 2] / inside);
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 50;
    static const measured all[] = {
        {"parallel", 0, 0, open_parallel},
        {"firstprivate", 0, 0, open_firstprivate},
        {"barrier", run_barrier, alone_nothing, 0},
        {"for_static", run_for_static, alone_body, 0},
        {"for_dynamic", run_for_dynamic, alone_chunks, 0},
        {"reduction", run_reduction, alone_body, 0},
        {"critical", run_critical, alone_count, 0},
        {"atomic", run_atomic, alone_count, 0},
        {"task", run_task, alone_body, 0},
    };
    if (repetitions < 1 || omp_get_max_threads() > MAX_THREADS) {
        fprintf(stderr, "omp_constructs: give 1 repetition or more, %d threads or fewer\n",
                MAX_THREADS);
        return 2;
    }
    omp_set_dynamic(0);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) measure(&all[k], repetitions);
    return sink[0] + shared_sum + (double)shared_count < 0.0;
}
