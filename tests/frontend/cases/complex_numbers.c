/* regions: 1 */
#include <complex.h>
void kernel(int n, double complex *z, float complex *f, double *out) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        z[i] = z[i] * z[i] + 2.0;
        f[i] += conjf(f[i]);
        out[i] = creal(z[i]) + cabs(z[i]);
    }
}
