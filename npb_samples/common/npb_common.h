/*
 * What the four NAS kernels of this folder share: wall-clock timers per region, the check of
 * computed norms against reference figures, the printed summary, and the NAS random numbers.
 *
 * The kernels include this header but never <omp.h>: every call of the OpenMP runtime is in
 * npb_common.c, so that a source analyser can read the kernels without an OpenMP installation.
 */
#ifndef NPB_COMMON_H
#define NPB_COMMON_H

#include "npb_class.h"

/* Seconds since some fixed moment (omp_get_wtime). */
double npb_wtime(void);

/* Largest number of threads that the next parallel region may have. */
int npb_max_threads(void);

/*
 * Region timers. A region is registered once, at start-up, outside of parallel regions:
 *     rhs_timer = npb_region("compute_rhs");
 *     ...
 *     npb_region_start(rhs_timer);   work   npb_region_stop(rhs_timer);
 * These functions are for the initial thread outside of worksharing loops.
 * npb_region ends the program with status 2 when more than NPB_MAX_REGIONS are asked for.
 */
#define NPB_MAX_REGIONS 64
int npb_region(const char *name);
void npb_region_start(int region);
void npb_region_stop(int region);
/* Starts the region's timer, calls `work`, stops the timer. */
void npb_region_run(int region, void (*work)(void));
/* Forgets calls and seconds of all regions (after the untimed warm-up step). */
void npb_regions_clear(void);
/* Prints one line for each region: name, calls, seconds, share of the sum of all regions. */
void npb_regions_print(void);

/*
 * Compares `count` computed values with their reference figures: relative difference at most
 * `epsilon`. Prints each pair; returns 1 if all agree, else 0 (also for NaN).
 */
int npb_compare(const char *what, const double *computed, const double *reference, int count,
                double epsilon);

/*
 * Prints the summary of a run (program, class, grid, steps, threads, seconds, Mop/s), the table
 * of the regions and, last, 'Verification: SUCCESSFUL' or 'Verification: FAILED'.
 * `operations` is the number of floating-point operations of the timed part, in units of 1e6;
 * zero or less prints no rate. Returns main's exit status: 0 if verified, else 1.
 */
int npb_finish(const char *program, int nx, int ny, int nz, int steps, double seconds,
               double operations, int verified);

/*
 * NAS random numbers (RNR-94-007, sec. 2.3): x_{k+1} = a x_k mod 2^46, value x_k / 2^46.
 * npb_randlc advances *x by one step and returns the new value in (0, 1).
 * npb_randlc_fill writes the next `count` values to `values` and advances *x as far.
 * npb_randlc_power returns a^exponent mod 2^46: multiplying a seed by it skips `exponent` steps.
 */
#define NPB_RANDOM_MULTIPLIER 1220703125.0 /* 5^13 */
#define NPB_RANDOM_SEED 314159265.0
double npb_randlc(double *x, double a);
void npb_randlc_fill(int count, double *x, double a, double *values);
double npb_randlc_power(double a, long exponent);

#endif
