/*
 * The two triangular solves of one SSOR step of LU (report, sec. 3.4.3): (D + omega L) and then
 * (I + omega D^-1 U), where D, L and U are the 5 x 5 blocks of the linearised operator.
 *
 * A point depends on its three neighbours towards the sweep's start. Rows along xi whose indices
 * satisfy j + k = wave therefore depend only on the row of the wave before, and on themselves:
 * each wave is one worksharing loop over its rows, a row is swept serially, and the barrier at
 * the end of a wave is the only synchronisation.
 */
#include "lu.h"

/*
 * Blocks of the rows of one wave, indexed [k][i] (j = wave - k): the coupling of a point with
 * itself, and with its neighbour along zeta, eta, xi. Entries that are zero at every point keep
 * their initial zero and are never written.
 */
static double centre[NZ][NX][NCOMP][NCOMP];
static double along_zeta[NZ][NX][NCOMP][NCOMP];
static double along_eta[NZ][NX][NCOMP][NCOMP];
static double along_xi[NZ][NX][NCOMP][NCOMP];

static struct {
    int lower_blocks, lower_solve, upper_blocks, upper_solve;
} timer;

void register_sweep_timers(void)
{
    timer.lower_blocks = npb_region("lower_blocks");
    timer.lower_solve = npb_region("lower_solve");
    timer.upper_blocks = npb_region("upper_blocks");
    timer.upper_solve = npb_region("upper_solve");
}

/* Rows of a wave: k from first_row to last_row, j = wave - k, both in the interior. */
static int first_row(int wave) { return wave - (NY - 2) > 1 ? wave - (NY - 2) : 1; }
static int last_row(int wave) { return wave - 1 < NZ - 2 ? wave - 1 : NZ - 2; }

/*
 * Fills the blocks of a wave from the Jacobians of the convective and viscous fluxes. `side` is
 * 1 for the lower solve, whose neighbours are k - 1, j - 1, i - 1, and -1 for the upper solve.
 * The loop ends without a barrier: the solve that follows has the same schedule and trip count,
 * so each thread solves the rows whose blocks it made (OpenMP 3.0, sec. 2.5.1).
 */
static void make_blocks(int wave, int side)
{
    const int first = first_row(wave);
    const int last = last_row(wave);

#pragma omp for schedule(static) nowait
    for (int k = first; k <= last; k++) {
        const int j = wave - k;
        for (int i = 1; i < NX - 1; i++) {
            { /* the point itself */
                const double rho1 = 1.0 / u[k][j][i][0];
                const double vx = u[k][j][i][1] * rho1;
                const double vy = u[k][j][i][2] * rho1;
                const double vz = u[k][j][i][3] * rho1;
                const double energy = u[k][j][i][4] * rho1;
                const double step = 2.0 * STEP_SIZE * rho1;
                const double shear = step * VISCOSITY * (TX1 + TY1 + TZ1);
                const double normal_x = shear + step * VISCOSITY * TX1 / 3.0;
                const double normal_y = shear + step * VISCOSITY * TY1 / 3.0;
                const double normal_z = shear + step * VISCOSITY * TZ1 / 3.0;
                const double heat = step * CONDUCTION * (TX1 + TY1 + TZ1);
                const double damping = 1.0 + 2.0 * STEP_SIZE * (TX1 * DX + TY1 * DY + TZ1 * DZ);

                centre[k][i][0][0] = damping;
                centre[k][i][1][0] = -normal_x * vx;
                centre[k][i][1][1] = damping + normal_x;
                centre[k][i][2][0] = -normal_y * vy;
                centre[k][i][2][2] = damping + normal_y;
                centre[k][i][3][0] = -normal_z * vz;
                centre[k][i][3][3] = damping + normal_z;
                centre[k][i][4][0] = (heat - normal_x) * vx * vx + (heat - normal_y) * vy * vy +
                                     (heat - normal_z) * vz * vz - heat * energy;
                centre[k][i][4][1] = (normal_x - heat) * vx;
                centre[k][i][4][2] = (normal_y - heat) * vy;
                centre[k][i][4][3] = (normal_z - heat) * vz;
                centre[k][i][4][4] = damping + heat;
            }
            { /* the neighbour along zeta */
                const double rho1 = 1.0 / u[k - side][j][i][0];
                const double vx = u[k - side][j][i][1] * rho1;
                const double vy = u[k - side][j][i][2] * rho1;
                const double vz = u[k - side][j][i][3] * rho1;
                const double energy = u[k - side][j][i][4] * rho1;
                const double square = vx * vx + vy * vy + vz * vz;
                const double carry = -side * STEP_SIZE * TZ2;
                const double shear = STEP_SIZE * TZ1 * VISCOSITY * rho1;
                const double normal = (4.0 / 3.0) * shear;
                const double heat = STEP_SIZE * TZ1 * CONDUCTION * rho1;
                const double damping = STEP_SIZE * TZ1 * DZ;

                along_zeta[k][i][0][0] = -damping;
                along_zeta[k][i][0][3] = carry;
                along_zeta[k][i][1][0] = -carry * vx * vz + shear * vx;
                along_zeta[k][i][1][1] = carry * vz - shear - damping;
                along_zeta[k][i][1][3] = carry * vx;
                along_zeta[k][i][2][0] = -carry * vy * vz + shear * vy;
                along_zeta[k][i][2][2] = carry * vz - shear - damping;
                along_zeta[k][i][2][3] = carry * vy;
                along_zeta[k][i][3][0] = carry * (0.5 * C2 * square - vz * vz) + normal * vz;
                along_zeta[k][i][3][1] = -carry * C2 * vx;
                along_zeta[k][i][3][2] = -carry * C2 * vy;
                along_zeta[k][i][3][3] = carry * (2.0 - C2) * vz - normal - damping;
                along_zeta[k][i][3][4] = carry * C2;
                along_zeta[k][i][4][0] =
                    carry * (C2 * square - C1 * energy) * vz + (normal - heat) * vz * vz +
                    (shear - heat) * (vx * vx + vy * vy) + heat * energy;
                along_zeta[k][i][4][1] = -carry * C2 * vx * vz - (shear - heat) * vx;
                along_zeta[k][i][4][2] = -carry * C2 * vy * vz - (shear - heat) * vy;
                along_zeta[k][i][4][3] =
                    carry * (C1 * energy - C2 * (0.5 * square + vz * vz)) - (normal - heat) * vz;
                along_zeta[k][i][4][4] = carry * C1 * vz - heat - damping;
            }
            { /* the neighbour along eta */
                const double rho1 = 1.0 / u[k][j - side][i][0];
                const double vx = u[k][j - side][i][1] * rho1;
                const double vy = u[k][j - side][i][2] * rho1;
                const double vz = u[k][j - side][i][3] * rho1;
                const double energy = u[k][j - side][i][4] * rho1;
                const double square = vx * vx + vy * vy + vz * vz;
                const double carry = -side * STEP_SIZE * TY2;
                const double shear = STEP_SIZE * TY1 * VISCOSITY * rho1;
                const double normal = (4.0 / 3.0) * shear;
                const double heat = STEP_SIZE * TY1 * CONDUCTION * rho1;
                const double damping = STEP_SIZE * TY1 * DY;

                along_eta[k][i][0][0] = -damping;
                along_eta[k][i][0][2] = carry;
                along_eta[k][i][1][0] = -carry * vx * vy + shear * vx;
                along_eta[k][i][1][1] = carry * vy - shear - damping;
                along_eta[k][i][1][2] = carry * vx;
                along_eta[k][i][2][0] = carry * (0.5 * C2 * square - vy * vy) + normal * vy;
                along_eta[k][i][2][1] = -carry * C2 * vx;
                along_eta[k][i][2][2] = carry * (2.0 - C2) * vy - normal - damping;
                along_eta[k][i][2][3] = -carry * C2 * vz;
                along_eta[k][i][2][4] = carry * C2;
                along_eta[k][i][3][0] = -carry * vz * vy + shear * vz;
                along_eta[k][i][3][2] = carry * vz;
                along_eta[k][i][3][3] = carry * vy - shear - damping;
                along_eta[k][i][4][0] =
                    carry * (C2 * square - C1 * energy) * vy + (normal - heat) * vy * vy +
                    (shear - heat) * (vx * vx + vz * vz) + heat * energy;
                along_eta[k][i][4][1] = -carry * C2 * vx * vy - (shear - heat) * vx;
                along_eta[k][i][4][2] =
                    carry * (C1 * energy - C2 * (0.5 * square + vy * vy)) - (normal - heat) * vy;
                along_eta[k][i][4][3] = -carry * C2 * vz * vy - (shear - heat) * vz;
                along_eta[k][i][4][4] = carry * C1 * vy - heat - damping;
            }
            { /* the neighbour along xi */
                const double rho1 = 1.0 / u[k][j][i - side][0];
                const double vx = u[k][j][i - side][1] * rho1;
                const double vy = u[k][j][i - side][2] * rho1;
                const double vz = u[k][j][i - side][3] * rho1;
                const double energy = u[k][j][i - side][4] * rho1;
                const double square = vx * vx + vy * vy + vz * vz;
                const double carry = -side * STEP_SIZE * TX2;
                const double shear = STEP_SIZE * TX1 * VISCOSITY * rho1;
                const double normal = (4.0 / 3.0) * shear;
                const double heat = STEP_SIZE * TX1 * CONDUCTION * rho1;
                const double damping = STEP_SIZE * TX1 * DX;

                along_xi[k][i][0][0] = -damping;
                along_xi[k][i][0][1] = carry;
                along_xi[k][i][1][0] = carry * (0.5 * C2 * square - vx * vx) + normal * vx;
                along_xi[k][i][1][1] = carry * (2.0 - C2) * vx - normal - damping;
                along_xi[k][i][1][2] = -carry * C2 * vy;
                along_xi[k][i][1][3] = -carry * C2 * vz;
                along_xi[k][i][1][4] = carry * C2;
                along_xi[k][i][2][0] = -carry * vy * vx + shear * vy;
                along_xi[k][i][2][1] = carry * vy;
                along_xi[k][i][2][2] = carry * vx - shear - damping;
                along_xi[k][i][3][0] = -carry * vz * vx + shear * vz;
                along_xi[k][i][3][1] = carry * vz;
                along_xi[k][i][3][3] = carry * vx - shear - damping;
                along_xi[k][i][4][0] =
                    carry * (C2 * square - C1 * energy) * vx + (normal - heat) * vx * vx +
                    (shear - heat) * (vy * vy + vz * vz) + heat * energy;
                along_xi[k][i][4][1] =
                    carry * (C1 * energy - C2 * (0.5 * square + vx * vx)) - (normal - heat) * vx;
                along_xi[k][i][4][2] = -carry * C2 * vy * vx - (shear - heat) * vy;
                along_xi[k][i][4][3] = -carry * C2 * vz * vx - (shear - heat) * vz;
                along_xi[k][i][4][4] = carry * C1 * vx - heat - damping;
            }
        }
    }
}

/* x = matrix^-1 x by Gaussian elimination; without pivots, the diagonal dominates the blocks. */
static void solve_block(double matrix[NCOMP][NCOMP], double x[NCOMP])
{
    for (int p = 0; p < NCOMP; p++) {
        const double inverse = 1.0 / matrix[p][p];
        for (int r = p + 1; r < NCOMP; r++) {
            const double factor = matrix[r][p] * inverse;
            for (int c = p + 1; c < NCOMP; c++)
                matrix[r][c] -= factor * matrix[p][c];
            x[r] -= factor * x[p];
        }
    }
    for (int p = NCOMP - 1; p >= 0; p--) {
        for (int c = p + 1; c < NCOMP; c++)
            x[p] -= matrix[p][c] * x[c];
        x[p] /= matrix[p][p];
    }
}

/* One wave of the forward substitution: residual = D^-1 (residual - omega L residual). */
static void lower_solve(int wave)
{
    const int first = first_row(wave);
    const int last = last_row(wave);

#pragma omp for schedule(static)
    for (int k = first; k <= last; k++) {
        const int j = wave - k;
        for (int i = 1; i < NX - 1; i++) {
            double matrix[NCOMP][NCOMP];
            double x[NCOMP];
            for (int m = 0; m < NCOMP; m++) {
                double sum = 0.0;
                for (int n = 0; n < NCOMP; n++) {
                    sum += along_zeta[k][i][m][n] * residual[k - 1][j][i][n] +
                           along_eta[k][i][m][n] * residual[k][j - 1][i][n] +
                           along_xi[k][i][m][n] * residual[k][j][i - 1][n];
                    matrix[m][n] = centre[k][i][m][n];
                }
                x[m] = residual[k][j][i][m] - OMEGA * sum;
            }
            solve_block(matrix, x);
            for (int m = 0; m < NCOMP; m++)
                residual[k][j][i][m] = x[m];
        }
    }
}

/* One wave of the back substitution: residual -= omega D^-1 U residual. */
static void upper_solve(int wave)
{
    const int first = first_row(wave);
    const int last = last_row(wave);

#pragma omp for schedule(static)
    for (int k = first; k <= last; k++) {
        const int j = wave - k;
        for (int i = NX - 2; i >= 1; i--) {
            double matrix[NCOMP][NCOMP];
            double x[NCOMP];
            for (int m = 0; m < NCOMP; m++) {
                double sum = 0.0;
                for (int n = 0; n < NCOMP; n++) {
                    sum += along_zeta[k][i][m][n] * residual[k + 1][j][i][n] +
                           along_eta[k][i][m][n] * residual[k][j + 1][i][n] +
                           along_xi[k][i][m][n] * residual[k][j][i + 1][n];
                    matrix[m][n] = centre[k][i][m][n];
                }
                x[m] = OMEGA * sum;
            }
            solve_block(matrix, x);
            for (int m = 0; m < NCOMP; m++)
                residual[k][j][i][m] -= x[m];
        }
    }
}

void lower_sweep(void)
{
#pragma omp parallel
    for (int wave = 2; wave <= NY + NZ - 4; wave++) {
#pragma omp master
        npb_region_start(timer.lower_blocks);
        make_blocks(wave, 1);
#pragma omp master
        {
            npb_region_stop(timer.lower_blocks);
            npb_region_start(timer.lower_solve);
        }
        lower_solve(wave);
#pragma omp master
        npb_region_stop(timer.lower_solve);
    }
}

void upper_sweep(void)
{
#pragma omp parallel
    for (int wave = NY + NZ - 4; wave >= 2; wave--) {
#pragma omp master
        npb_region_start(timer.upper_blocks);
        make_blocks(wave, -1);
#pragma omp master
        {
            npb_region_stop(timer.upper_blocks);
            npb_region_start(timer.upper_solve);
        }
        upper_solve(wave);
#pragma omp master
        npb_region_stop(timer.upper_solve);
    }
}
