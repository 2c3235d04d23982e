/* Timers, checks, printed results and random numbers of the NAS kernels; see npb_common.h. */
#include "npb_common.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    const char *name;
    long calls;
    double seconds;
    double started;
} regions[NPB_MAX_REGIONS];
static int region_count = 0;

double npb_wtime(void) { return omp_get_wtime(); }

int npb_max_threads(void) { return omp_get_max_threads(); }

int npb_region(const char *name)
{
    if (region_count == NPB_MAX_REGIONS) {
        fprintf(stderr, "npb_region: more than %d regions; raise NPB_MAX_REGIONS\n",
                NPB_MAX_REGIONS);
        exit(2);
    }
    regions[region_count].name = name;
    return region_count++;
}

void npb_region_start(int region) { regions[region].started = omp_get_wtime(); }

void npb_region_stop(int region)
{
    regions[region].seconds += omp_get_wtime() - regions[region].started;
    regions[region].calls += 1;
}

void npb_region_run(int region, void (*work)(void))
{
    npb_region_start(region);
    work();
    npb_region_stop(region);
}

void npb_regions_clear(void)
{
    for (int r = 0; r < region_count; r++) {
        regions[r].calls = 0;
        regions[r].seconds = 0.0;
    }
}

void npb_regions_print(void)
{
    double sum = 0.0;
    for (int r = 0; r < region_count; r++)
        sum += regions[r].seconds;
    printf("%-24s %10s %12s %7s\n", "Region", "Calls", "Seconds", "Share");
    for (int r = 0; r < region_count; r++)
        printf("%-24s %10ld %12.6f %6.1f%%\n", regions[r].name, regions[r].calls,
               regions[r].seconds, sum > 0.0 ? 100.0 * regions[r].seconds / sum : 0.0);
}

int npb_compare(const char *what, const double *computed, const double *reference, int count,
                double epsilon)
{
    int agreed = 1;
    printf("%s (relative difference at most %.1e)\n", what, epsilon);
    for (int m = 0; m < count; m++) {
        double scale = reference[m] != 0.0 ? fabs(reference[m]) : 1.0;
        double difference = fabs(computed[m] - reference[m]) / scale;
        int close = difference <= epsilon; /* false for NaN */
        printf("  %d  computed %.16e  reference %.16e  difference %.2e%s\n", m + 1, computed[m],
               reference[m], difference, close ? "" : "  DIFFERS");
        agreed = agreed && close;
    }
    return agreed;
}

int npb_finish(const char *program, int nx, int ny, int nz, int steps, double seconds,
               double operations, int verified)
{
    printf("%s class %c, grid %d x %d x %d, %d steps, %d threads\n", program, NPB_CLASS, nx, ny,
           nz, steps, npb_max_threads());
    printf("Time: %.6f s\n", seconds);
    if (operations > 0.0 && seconds > 0.0)
        printf("Rate: %.1f Mop/s\n", operations / seconds);
    npb_regions_print();
    printf("Verification: %s\n", verified ? "SUCCESSFUL" : "FAILED");
    return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* a x mod 2^46 for integers held exactly in doubles; 46-bit products exceed 53 bits, so the
 * product is taken in 64-bit unsigned arithmetic, where wrapping keeps the low 46 bits right. */
static double multiply_mod46(double a, double x)
{
    const unsigned long long mask = (1ULL << 46) - 1ULL;
    return (double)(((unsigned long long)a * (unsigned long long)x) & mask);
}

double npb_randlc(double *x, double a)
{
    *x = multiply_mod46(a, *x);
    return *x * 0x1p-46;
}

void npb_randlc_fill(int count, double *x, double a, double *values)
{
    double seed = *x;
    for (int i = 0; i < count; i++) {
        seed = multiply_mod46(a, seed);
        values[i] = seed * 0x1p-46;
    }
    *x = seed;
}

double npb_randlc_power(double a, long exponent)
{
    double power = 1.0;
    double square = a;
    for (long e = exponent; e > 0; e /= 2) {
        if (e % 2 == 1)
            power = multiply_mod46(power, square);
        square = multiply_mod46(square, square);
    }
    return power;
}
