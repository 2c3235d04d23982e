/* Runs a task graph whose nodes only let time pass, as OpenMP tasks.
   usage: task_replay GRAPH REPETITIONS; prints for each repetition its seconds and the most seconds
   of it in which one of the threads had no processor.

   GRAPH: two 64-bit numbers, nodes n and edges m; n times in ns; n + 1 places where the edges of a
   node begin; m targets; m flags, 1 where the target goes on in the same task. A node whose
   predecessors have ended is a task of its own, made by who ended last, or goes on in that one. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t nodes, edges, *nanoseconds, *starts, *targets, *goes_on;
static int64_t *missing, *waiting;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Processor time of this thread. Threads that wait spin: what is missing, others have taken. */
static int64_t used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pass(int64_t time)
{
    int64_t end;
    if (time <= 0)
        return;
    end = now() + time;
    while (now() < end) {
    }
}

static void run(int64_t node)
{
    while (node >= 0) {
        int64_t next = -1;
        pass(nanoseconds[node]);
        for (int64_t e = starts[node]; e < starts[node + 1]; e++) {
            int64_t target = targets[e];
            if (__atomic_sub_fetch(&waiting[target], 1, __ATOMIC_ACQ_REL))
                continue;
            if (goes_on[e] && next < 0) {
                next = target;
                continue;
            }
#pragma omp task firstprivate(target) untied
            run(target);
        }
        node = next;
    }
}

static int64_t *numbers(FILE *file, int64_t count)
{
    int64_t *values = malloc((size_t)(count + 1) * sizeof *values);
    if (!values || (int64_t)fread(values, sizeof *values, (size_t)count, file) != count)
        exit(3);
    return values;
}

int main(int count, char **words)
{
    FILE *file = count > 2 ? fopen(words[1], "rb") : NULL;
    int64_t *sizes;
    int repetitions;
    if (!file)
        return 2;
    repetitions = atoi(words[2]);
    sizes = numbers(file, 2);
    nodes = sizes[0], edges = sizes[1];
    nanoseconds = numbers(file, nodes);
    starts = numbers(file, nodes + 1);
    targets = numbers(file, edges);
    goes_on = numbers(file, edges);
    missing = calloc((size_t)nodes + 1, sizeof *missing);
    waiting = calloc((size_t)nodes + 1, sizeof *waiting);
    if (!missing || !waiting)
        return 3;
    for (int64_t e = 0; e < edges; e++)
        missing[targets[e]]++;
    for (int i = 0; i < repetitions; i++) {
        int64_t began = 0, ended = 0, taken = 0;
        for (int64_t v = 0; v < nodes; v++)
            waiting[v] = missing[v];
#pragma omp parallel reduction(max : taken)
        {
            int64_t at, processor;
#pragma omp barrier
            at = now(), processor = used();
#pragma omp single
            {
                began = now();
#pragma omp taskgroup
                for (int64_t v = 0; v < nodes; v++)
                    if (!missing[v]) {
#pragma omp task firstprivate(v) untied
                        run(v);
                    }
                ended = now();
            }
            taken = now() - at - (used() - processor);
        }
        printf("%.9f %.9f\n", (double)(ended - began) / 1e9, (double)taken / 1e9);
        fflush(stdout); /* who reads may end this at any time */
    }
    return 0;
}
