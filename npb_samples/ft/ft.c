/*
 * FT: a three-dimensional diffusion equation solved by FFT, NAS Parallel Benchmarks (Bailey et
 * al., report RNR-94-007, sec. 2.3.4), written from the specification. The random initial state
 * is transformed once; each step multiplies it by a Gaussian and transforms it back:
 *     u0 = FFT(state);  every step: u0 *= twiddle, u1 = inverse FFT(u0), checksum of u1.
 */
#include "ft_params.h"
#include "ft_reference.h"
#include "stockham.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    double re;
    double im;
} dcomplex;

static dcomplex u0[NZ][NY][NXP];
static dcomplex u1[NZ][NY][NXP];
static double twiddle[NZ][NY][NXP];

static struct {
    int touch, twiddle, initial, evolve, fft_x, fft_y, fft_z, checksum;
} timer;

static void register_timers(void)
{
    timer.touch = npb_region("touch_arrays");
    timer.twiddle = npb_region("fill_twiddle");
    timer.initial = npb_region("initial_state");
    timer.evolve = npb_region("evolve");
    timer.fft_x = npb_region("fft_x");
    timer.fft_y = npb_region("fft_y");
    timer.fft_z = npb_region("fft_z");
    timer.checksum = npb_region("checksum");
}

/* First touch by the threads that will work on the planes, before the clock starts. */
static void touch_arrays(void)
{
    npb_region_start(timer.touch);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NXP; i++) {
                u0[k][j][i].re = 0.0;
                u0[k][j][i].im = 0.0;
                u1[k][j][i].re = 0.0;
                u1[k][j][i].im = 0.0;
                twiddle[k][j][i] = 0.0;
            }
        }
    }
    npb_region_stop(timer.touch);
}

/* The wave number of index i of n, in -n/2 .. n/2-1. */
static int wave_number(int i, int n) { return i < n / 2 ? i : i - n; }

/* exp(-4 alpha pi^2 |k|^2): what one step leaves of each wave. */
static void fill_twiddle(void)
{
    const double pi = acos(-1.0);
    const double decay = -4.0 * FT_ALPHA * pi * pi;

    npb_region_start(timer.twiddle);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            const int wz = wave_number(k, NZ);
            const int wy = wave_number(j, NY);
            for (int i = 0; i < NX; i++) {
                const int wx = wave_number(i, NX);
                twiddle[k][j][i] = exp(decay * (double)(wx * wx + wy * wy + wz * wz));
            }
        }
    }
    npb_region_stop(timer.twiddle);
}

/*
 * Random numbers, two for each point in storage order. A plane's first seed follows from the
 * plane's number alone, so that planes fill in parallel with the serial sequence's values.
 */
static void initial_state(void)
{
    npb_region_start(timer.initial);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < NZ; k++) {
        const double jump = npb_randlc_power(NPB_RANDOM_MULTIPLIER, 2L * NX * NY * k);
        double seed = FT_SEED;
        double row[2 * NX];

        npb_randlc(&seed, jump);
        for (int j = 0; j < NY; j++) {
            npb_randlc_fill(2 * NX, &seed, NPB_RANDOM_MULTIPLIER, row);
            for (int i = 0; i < NX; i++) {
                u0[k][j][i].re = row[2 * i];
                u0[k][j][i].im = row[2 * i + 1];
            }
        }
    }
    npb_region_stop(timer.initial);
}

/* One step in wave space; u1 gets the copy that the inverse transform overwrites. */
static void evolve(void)
{
    npb_region_start(timer.evolve);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NX; i++) {
                u0[k][j][i].re *= twiddle[k][j][i];
                u0[k][j][i].im *= twiddle[k][j][i];
                u1[k][j][i].re = u0[k][j][i].re;
                u1[k][j][i].im = u0[k][j][i].im;
            }
        }
    }
    npb_region_stop(timer.evolve);
}

/* Transforms every line along x, FFTBLOCK neighbouring lines at a time. */
static void fft_x(double sign, dcomplex field[NZ][NY][NXP])
{
    npb_region_start(timer.fft_x);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int jb = 0; jb < NY; jb += FFTBLOCK) {
            point_block x[NX], y[NX];
            for (int b = 0; b < FFTBLOCK; b++) {
                for (int i = 0; i < NX; i++) {
                    x[i].re[b] = field[k][jb + b][i].re;
                    x[i].im[b] = field[k][jb + b][i].im;
                }
            }
            const point_block *line = stockham(NX, sign, x, y);
            for (int b = 0; b < FFTBLOCK; b++) {
                for (int i = 0; i < NX; i++) {
                    field[k][jb + b][i].re = line[i].re[b];
                    field[k][jb + b][i].im = line[i].im[b];
                }
            }
        }
    }
    npb_region_stop(timer.fft_x);
}

/* Transforms every line along y. */
static void fft_y(double sign, dcomplex field[NZ][NY][NXP])
{
    npb_region_start(timer.fft_y);
#pragma omp parallel for collapse(2) schedule(static)
    for (int k = 0; k < NZ; k++) {
        for (int ib = 0; ib < NX; ib += FFTBLOCK) {
            point_block x[NY], y[NY];
            for (int j = 0; j < NY; j++) {
                for (int b = 0; b < FFTBLOCK; b++) {
                    x[j].re[b] = field[k][j][ib + b].re;
                    x[j].im[b] = field[k][j][ib + b].im;
                }
            }
            const point_block *line = stockham(NY, sign, x, y);
            for (int j = 0; j < NY; j++) {
                for (int b = 0; b < FFTBLOCK; b++) {
                    field[k][j][ib + b].re = line[j].re[b];
                    field[k][j][ib + b].im = line[j].im[b];
                }
            }
        }
    }
    npb_region_stop(timer.fft_y);
}

/* Transforms every line along z; the lines of one j are a plane of x and z. */
static void fft_z(double sign, dcomplex field[NZ][NY][NXP])
{
    npb_region_start(timer.fft_z);
#pragma omp parallel for collapse(2) schedule(static)
    for (int j = 0; j < NY; j++) {
        for (int ib = 0; ib < NX; ib += FFTBLOCK) {
            point_block x[NZ], y[NZ];
            for (int k = 0; k < NZ; k++) {
                for (int b = 0; b < FFTBLOCK; b++) {
                    x[k].re[b] = field[k][j][ib + b].re;
                    x[k].im[b] = field[k][j][ib + b].im;
                }
            }
            const point_block *line = stockham(NZ, sign, x, y);
            for (int k = 0; k < NZ; k++) {
                for (int b = 0; b < FFTBLOCK; b++) {
                    field[k][j][ib + b].re = line[k].re[b];
                    field[k][j][ib + b].im = line[k].im[b];
                }
            }
        }
    }
    npb_region_stop(timer.fft_z);
}

static void forward_transform(void)
{
    fft_x(-1.0, u0);
    fft_y(-1.0, u0);
    fft_z(-1.0, u0);
}

/* Unscaled; the checksum divides by the number of points. */
static void inverse_transform(void)
{
    fft_z(1.0, u1);
    fft_y(1.0, u1);
    fft_x(1.0, u1);
}

/* The mean over the points (q mod NX, 3q mod NY, 5q mod NZ), q = 1 .. CHECKSUM_POINTS. */
static void checksum(double sum[2])
{
    const double points = (double)NX * NY * NZ;
    double re = 0.0;
    double im = 0.0;

    npb_region_start(timer.checksum);
#pragma omp parallel for schedule(static) reduction(+ : re, im)
    for (int q = 1; q <= CHECKSUM_POINTS; q++) {
        re += u1[5 * q % NZ][3 * q % NY][q % NX].re;
        im += u1[5 * q % NZ][3 * q % NY][q % NX].im;
    }
    npb_region_stop(timer.checksum);
    sum[0] = re / points;
    sum[1] = im / points;
}

/* Nominal count in units of 1e6: 5 n log2(n) for each transform, two products for each evolve. */
static double operations(void)
{
    const double points = (double)NX * NY * NZ;
    return 1.0e-6 * points * (5.0 * log2(points) * (STEPS + 1) + 2.0 * STEPS);
}

int main(void)
{
    double sums[STEPS][2];
    int verified = 1;

    register_timers();
    stockham_prepare();
    touch_arrays();

    const double started = npb_wtime();
    fill_twiddle();
    initial_state();
    forward_transform();
    for (int step = 0; step < STEPS; step++) {
        evolve();
        inverse_transform();
        checksum(sums[step]);
    }
    const double seconds = npb_wtime() - started;

    for (int step = 0; step < STEPS; step++) {
        char what[32];
        snprintf(what, sizeof what, "Checksum after step %d", step + 1);
        verified &= npb_compare(what, sums[step], reference_checksum[step], 2, FT_EPSILON);
    }
    return npb_finish("FT", NX, NY, NZ, STEPS, seconds, operations(), verified);
}
