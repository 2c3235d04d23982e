#include "stockham.h"

#include <math.h>

/* root[k] = exp(2 pi i k/NMAX), the half circle that every transform length strides through. */
static double root_re[NMAX / 2];
static double root_im[NMAX / 2];

void stockham_prepare(void)
{
    const double angle = 2.0 * acos(-1.0) / NMAX;
    const int region = npb_region("roots");

    npb_region_start(region);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < NMAX / 2; k++) {
        root_re[k] = cos(angle * k);
        root_im[k] = sin(angle * k);
    }
    npb_region_stop(region);
}

/*
 * One radix-2 stage, decimation in frequency: `pairs` butterflies at distance `pairs * group`
 * on groups of `group` neighbouring points. Writing the two results `group` apart is what puts
 * the last stage's output into natural order, without a bit reversal.
 */
static void stage(int pairs, int group, double sign, const point_block *from, point_block *to)
{
    const int step = NMAX / (2 * pairs); /* between the roots that this stage uses */

    for (int p = 0; p < pairs; p++) {
        const double w_re = root_re[p * step];
        const double w_im = sign * root_im[p * step];
        const point_block *low = from + p * group;
        const point_block *high = low + pairs * group;
        point_block *sum = to + 2 * p * group;
        point_block *turned = sum + group;

        for (int g = 0; g < group; g++) {
            for (int b = 0; b < FFTBLOCK; b++) {
                const double d_re = low[g].re[b] - high[g].re[b];
                const double d_im = low[g].im[b] - high[g].im[b];
                sum[g].re[b] = low[g].re[b] + high[g].re[b];
                sum[g].im[b] = low[g].im[b] + high[g].im[b];
                turned[g].re[b] = w_re * d_re - w_im * d_im;
                turned[g].im[b] = w_re * d_im + w_im * d_re;
            }
        }
    }
}

const point_block *stockham(int n, double sign, point_block *x, point_block *y)
{
    point_block *from = x;
    point_block *to = y;

    for (int pairs = n / 2, group = 1; pairs >= 1; pairs /= 2, group *= 2) {
        stage(pairs, group, sign, from, to);
        point_block *written = to;
        to = from;
        from = written;
    }
    return from;
}
