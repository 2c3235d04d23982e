/* fdtd-apml: one update of the magnetic field in a three-dimensional finite
 * difference time domain scheme with an anisotropic perfectly matched layer.
 *
 * In the layer, B_z and H_z differ. With profiles s of the losses along each
 * axis, s_minus = 1 - s and s_plus = 1 + s (both 1 where nothing is lost),
 *     B_z' = (ym / yp) B_z - (ch / yp) (curl E)_z
 *     H_z' = (xm / xp) H_z + mui (zp / xp) B_z' - mui (zm / xp) B_z.
 * The grid has cz layers of (cym + 1) x (cxm + 1) points; on the far sides the
 * field beyond the grid comes from ey_edge and ex_edge. All points are
 * independent; the first region does all rows but the far one, the second the
 * far rows. */
#define WORKING_SET_ARRAYS 4
#define WORKING_SET_RANK 3
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef CZ
#define CZ DATASET_SIZE(32, 64, 256, 512, 1000)
#endif
#ifndef CYM
#define CYM DATASET_SIZE(32, 64, 256, 512, 1000)
#endif
#ifndef CXM
#define CXM DATASET_SIZE(32, 64, 256, 512, 1000)
#endif

/* minus and plus along one axis: no loss in the middle, growing to the ends. */
static void init_profile(int n, double minus[n], double plus[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        double place = (2.0 * i - n + 1.0) / n;
        double loss = 0.25 * place * place * place * place;
        minus[i] = 1.0 - loss;
        plus[i] = 1.0 + loss;
    }
}

static void init_array(int cz, int cym, int cxm, double ex[cz][cym + 1][cxm + 1],
                       double ey[cz][cym + 1][cxm + 1], double bz[cz][cym + 1][cxm + 1],
                       double hz[cz][cym + 1][cxm + 1], double ex_edge[cz][cxm + 1],
                       double ey_edge[cz][cym + 1])
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < cz; z++) {
        for (int y = 0; y <= cym; y++) {
            for (int x = 0; x <= cxm; x++) {
                ex[z][y][x] = ((z + 2 * y + 3 * x) % 13) / 13.0;
                ey[z][y][x] = ((3 * z + y + 2 * x) % 17) / 17.0;
                bz[z][y][x] = ((z + y + x) % 11) / 11.0;
                hz[z][y][x] = ((2 * z + 3 * y + x) % 19) / 19.0;
            }
        }
    }

#pragma omp parallel for schedule(static)
    for (int z = 0; z < cz; z++) {
        for (int x = 0; x <= cxm; x++)
            ex_edge[z][x] = ((z + 5 * x) % 7) / 7.0;
        for (int y = 0; y <= cym; y++)
            ey_edge[z][y] = ((5 * z + y) % 7) / 7.0;
    }
}

static void kernel_fdtd_apml(int cz, int cym, int cxm, double mui, double ch,
                             double ex[cz][cym + 1][cxm + 1], double ey[cz][cym + 1][cxm + 1],
                             double bz[cz][cym + 1][cxm + 1], double hz[cz][cym + 1][cxm + 1],
                             double ex_edge[cz][cxm + 1], double ey_edge[cz][cym + 1],
                             double zm[cz], double zp[cz], double ym[cym + 1],
                             double yp[cym + 1], double xm[cxm + 1], double xp[cxm + 1])
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < cz; z++) {
        for (int y = 0; y < cym; y++) {
            for (int x = 0; x < cxm; x++) {
                double curl = ex[z][y][x] - ex[z][y + 1][x] + ey[z][y][x + 1] - ey[z][y][x];
                double next = ym[y] / yp[y] * bz[z][y][x] - ch / yp[y] * curl;
                hz[z][y][x] = xm[x] / xp[x] * hz[z][y][x] + mui * zp[z] / xp[x] * next
                              - mui * zm[z] / xp[x] * bz[z][y][x];
                bz[z][y][x] = next;
            }
            double curl = ex[z][y][cxm] - ex[z][y + 1][cxm] + ey_edge[z][y] - ey[z][y][cxm];
            double next = ym[y] / yp[y] * bz[z][y][cxm] - ch / yp[y] * curl;
            hz[z][y][cxm] = xm[cxm] / xp[cxm] * hz[z][y][cxm] + mui * zp[z] / xp[cxm] * next
                            - mui * zm[z] / xp[cxm] * bz[z][y][cxm];
            bz[z][y][cxm] = next;
        }
    }

#pragma omp parallel for schedule(static)
    for (int z = 0; z < cz; z++) {
        for (int x = 0; x < cxm; x++) {
            double curl = ex[z][cym][x] - ex_edge[z][x] + ey[z][cym][x + 1] - ey[z][cym][x];
            double next = ym[cym] / yp[cym] * bz[z][cym][x] - ch / yp[cym] * curl;
            hz[z][cym][x] = xm[x] / xp[x] * hz[z][cym][x] + mui * zp[z] / xp[x] * next
                            - mui * zm[z] / xp[x] * bz[z][cym][x];
            bz[z][cym][x] = next;
        }
        double curl = ex[z][cym][cxm] - ex_edge[z][cxm] + ey_edge[z][cym] - ey[z][cym][cxm];
        double next = ym[cym] / yp[cym] * bz[z][cym][cxm] - ch / yp[cym] * curl;
        hz[z][cym][cxm] = xm[cxm] / xp[cxm] * hz[z][cym][cxm] + mui * zp[z] / xp[cxm] * next
                          - mui * zm[z] / xp[cxm] * bz[z][cym][cxm];
        bz[z][cym][cxm] = next;
    }
}

int main(int argc, char **argv)
{
    int cz = CZ;
    int cym = CYM;
    int cxm = CXM;
    double mui = 0.5;
    double ch = 0.3;
    sample_options(argc, argv);

    size_t cells = (size_t)cz * (cym + 1) * (cxm + 1);
    double (*ex)[cym + 1][cxm + 1] = sample_allocate(cells, sizeof(double));
    double (*ey)[cym + 1][cxm + 1] = sample_allocate(cells, sizeof(double));
    double (*bz)[cym + 1][cxm + 1] = sample_allocate(cells, sizeof(double));
    double (*hz)[cym + 1][cxm + 1] = sample_allocate(cells, sizeof(double));
    double (*ex_edge)[cxm + 1] = sample_allocate((size_t)cz * (cxm + 1), sizeof(double));
    double (*ey_edge)[cym + 1] = sample_allocate((size_t)cz * (cym + 1), sizeof(double));
    double *zm = sample_allocate(cz, sizeof(double));
    double *zp = sample_allocate(cz, sizeof(double));
    double *ym = sample_allocate(cym + 1, sizeof(double));
    double *yp = sample_allocate(cym + 1, sizeof(double));
    double *xm = sample_allocate(cxm + 1, sizeof(double));
    double *xp = sample_allocate(cxm + 1, sizeof(double));
    init_array(cz, cym, cxm, ex, ey, bz, hz, ex_edge, ey_edge);
    init_profile(cz, zm, zp);
    init_profile(cym + 1, ym, yp);
    init_profile(cxm + 1, xm, xp);

    double start = sample_seconds();
    kernel_fdtd_apml(cz, cym, cxm, mui, ch, ex, ey, bz, hz, ex_edge, ey_edge, zm, zp, ym, yp, xm,
                     xp);
    double seconds = sample_seconds() - start;

    sample_live_out("bz", &bz[0][0][0], cells);
    sample_live_out("hz", &hz[0][0][0], cells);
    sample_finish(seconds);
    free(ex);
    free(ey);
    free(bz);
    free(hz);
    free(ex_edge);
    free(ey_edge);
    free(zm);
    free(zp);
    free(ym);
    free(yp);
    free(xm);
    free(xp);
    return 0;
}
