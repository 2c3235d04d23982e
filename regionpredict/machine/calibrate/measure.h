/* What the microbenchmarks share: a clock, pinning, memory, and one sample a line. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MOST_CPUS 1024

/* Seconds since some moment. */
static inline double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Bind the calling thread to one cpu; a refusal is not an error (containers refuse). */
static inline void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* Read "0,2,4" into cpus; returns how many. */
static inline int read_cpus(const char *text, int *cpus) {
    int count = 0;
    while (*text != '\0' && count < MOST_CPUS) {
        char *end;
        cpus[count++] = (int)strtol(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
        if (end == text && *end != '\0') break;
    }
    return count;
}

/* Memory at a page's begin, on huge pages where the system gives them. */
static inline void *memory(size_t bytes) {
    void *block = NULL;
    if (posix_memalign(&block, (size_t)1 << 21, bytes) != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

/* Memory on the system's own pages, touched. */
static inline void *small_pages(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
#ifdef MADV_NOHUGEPAGE
    (void)madvise(block, bytes, MADV_NOHUGEPAGE);
#endif
    memset(block, 1, bytes);
    return block;
}

/* Print one sample. */
static inline void sample(double value) {
    printf("%.9g\n", value);
    fflush(stdout);
}
