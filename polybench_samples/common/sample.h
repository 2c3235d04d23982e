/* What every sample's main() needs: memory, time, and one way to show results.
 *
 * A sample prints
 *     checksum 1.234567890123e+05
 *     time 0.012345 s
 * (those under by_cause also "check ok", and some "control 0.001234 s") and,
 * with --dump, before them every live-out array, one value a line:
 *     array C 1024
 *     0.058823529411764705
 *     ...
 */
#ifndef SAMPLES_SAMPLE_H
#define SAMPLES_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Declared here, not included, so that a reader of the source who has no
 * OpenMP header can still parse the samples. */
#ifdef _OPENMP
extern double omp_get_wtime(void);
#endif

static int sample_dumps = 0;
static double sample_checksum = 0.0;

/* Reads the command line: nothing, or --dump. */
static inline void sample_options(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--dump") == 0) {
        sample_dumps = 1;
    } else if (argc > 1) {
        fprintf(stderr, "%s: unknown argument '%s'; use --dump or nothing\n", argv[0], argv[1]);
        exit(2);
    }
}

/* Memory for count elements of size bytes; not touched, so that the first
 * writer decides on which NUMA domain its pages lie. */
static inline void *sample_allocate(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu elements of %zu bytes; choose a smaller data set\n",
                count, size);
        exit(1);
    }
    return memory;
}

/* Seconds of wall time since some fixed moment. */
static inline double sample_seconds(void)
{
#ifdef _OPENMP
    return omp_get_wtime();
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

/* Takes one value into the checksum. The weight goes with the position, so
 * that two exchanged values change the sum. */
static inline void sample_value(size_t position, double value)
{
    sample_checksum += value * (1.0 + (double)(position % 8) / 8.0);
    if (sample_dumps)
        printf("%.17g\n", value);
}

static inline void sample_live_out(const char *name, const double *values, size_t count)
{
    if (sample_dumps)
        printf("array %s %zu\n", name, count);
    for (size_t position = 0; position < count; position++)
        sample_value(position, values[position]);
}

static inline void sample_live_out_int(const char *name, const int *values, size_t count)
{
    if (sample_dumps)
        printf("array %s %zu\n", name, count);
    for (size_t position = 0; position < count; position++)
        sample_value(position, values[position]);
}

static inline void sample_live_out_unsigned(const char *name, const unsigned *values, size_t count)
{
    if (sample_dumps)
        printf("array %s %zu\n", name, count);
    for (size_t position = 0; position < count; position++)
        sample_value(position, values[position]);
}

/* Says whether a sample's own check of its result held; a failed one ends it. */
static inline void sample_check(int held)
{
    printf("check %s\n", held ? "ok" : "FAILED");
    if (!held)
        exit(1);
}

/* The time of the same work without the effect that a sample shows. */
static inline void sample_control(double seconds)
{
    printf("control %.6f s\n", seconds);
}

/* The last lines of every sample's output. */
static inline void sample_finish(double seconds)
{
    printf("checksum %.12e\n", sample_checksum);
    printf("time %.6f s\n", seconds);
}

#endif
